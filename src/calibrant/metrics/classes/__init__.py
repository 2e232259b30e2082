"""Measures of class probabilities and of predicted labels."""
