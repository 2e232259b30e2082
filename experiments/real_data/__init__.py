"""Does the default calibrator help on real data? Every regression set, three bases, twenty splits, before and after."""
