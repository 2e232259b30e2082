"""Table 1: six sets, two linear bases, every calibrator of whole distributions."""
