"""Softmax regression on log probabilities."""
