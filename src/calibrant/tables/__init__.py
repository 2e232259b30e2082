"""Tables in and out: which column is what, rows as arrays, files and frames."""
