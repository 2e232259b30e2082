"""Every calibrator of class probabilities on real data."""
