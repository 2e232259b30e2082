"""Intervals and predictive distributions with a guarantee for any number of rows."""
