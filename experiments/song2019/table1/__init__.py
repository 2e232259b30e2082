"""Table 1: six sets, four bases, isotonic regression and GP-Beta as published, and every calibrator of ours."""
