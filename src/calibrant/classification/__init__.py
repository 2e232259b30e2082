"""Classifiers: decisions that match the real proportions, probabilities that come true."""
