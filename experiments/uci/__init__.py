"""Standard splits for probabilistic regression: calibrated models beside boosters of distributions."""
