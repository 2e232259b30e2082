"""What a map costs when nothing is wrong, and what it wins when something is: simulations with fixed seeds."""
