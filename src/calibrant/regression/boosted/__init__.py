"""Boosted trees on the features beside a forecast."""
