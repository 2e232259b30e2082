"""Song et al. (2019), Distribution calibration for regression."""
