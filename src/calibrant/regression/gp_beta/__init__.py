"""GP-Beta calibration."""
