"""Calibration of point predictions."""
