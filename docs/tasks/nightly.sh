$ calibrant update state.calibrant past.parquet --time ds --group shop
$ calibrant update state.calibrant yesterday.parquet --time ds --group shop
$ calibrant apply state.calibrant today.parquet --coverage 0.9 -o calibrated.parquet
$ calibrant monitor history.parquet --time ds --group shop -o monitor.html --fail-on drift
