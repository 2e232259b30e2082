"""Segments of rows in which forecasts are wrong: found on one half of the rows, measured on the other."""
