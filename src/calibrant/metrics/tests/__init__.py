"""Tests of calibrated distributions."""
