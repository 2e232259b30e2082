"""The 360-point example of figures 1 and 2."""
