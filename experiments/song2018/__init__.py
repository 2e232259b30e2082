"""Figure 6: log likelihood against the number of thresholds, and figures 3 to 5 on the toy set."""
