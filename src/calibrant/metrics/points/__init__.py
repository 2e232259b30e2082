"""Measures of point predictions."""
