import pandas as pd

from calibrant import FrameCalibrator

cv = pd.read_parquet("cv.parquet")  # what StatsForecast(...).cross_validation(h=4, level=[90], ...) gives
forecast = pd.read_parquet("forecast.parquet")  # what .forecast(h=4, level=[90]) gives
calibrator = FrameCalibrator().fit(cv)  # each step ahead by itself
calibrated = calibrator.transform(forecast)
calibrated.to_parquet("calibrated.parquet")
width = calibrated["AutoETS-hi-90"] - calibrated["AutoETS-lo-90"]
print(width.groupby(calibrated["ds"]).mean().round(1))
