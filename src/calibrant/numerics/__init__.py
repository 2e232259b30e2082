"""Numerical methods that laws, maps and links share: tails, roots, minima, look-up."""
