"""Boosted trees on the features beside class scores."""
