"""What Kuleshov et al. (2018) report, on data that can be had or made."""
