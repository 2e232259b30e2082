"""Moments and scores of laws by integration, where there is no closed form."""
