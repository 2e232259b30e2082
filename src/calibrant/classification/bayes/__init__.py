"""Bayes' rule: densities of scores, bins averaged over their number, decisions of least expected cost."""
