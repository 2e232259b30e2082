"""Mixtures of laws."""
