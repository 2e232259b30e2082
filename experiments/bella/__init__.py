"""The taxonomy chapter of Bella et al. (2010): its methods and measures side by side, its table 2 put to the test."""
