"""Calibrators of several classes that are made of calibrators of two."""
