"""Laws given by numbers: samples, quantiles, masses of cells."""
