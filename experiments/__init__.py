"""Experiments on real data and on the papers' tables; run from the repository root, none of it is installed."""
