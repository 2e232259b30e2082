"""Numerical methods that laws, maps and links share: tails, roots, brackets, minima, blocks, look-up."""
