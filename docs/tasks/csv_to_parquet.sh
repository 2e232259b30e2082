$ calibrant fit forecasts.csv -o sales.calibrant
$ calibrant apply sales.calibrant new.csv --coverage 0.9 --levels 0.5 -o calibrated.parquet
$ calibrant report forecasts.csv -o report.html
