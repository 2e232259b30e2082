"""Speed, side by side with peers and with the floor each task has."""
