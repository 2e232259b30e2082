import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from calibrant import CalibratedRegressor, metrics

houses = pd.read_csv("houses.csv")
X, y = houses.drop(columns="price"), houses["price"]
regions = make_column_transformer((OneHotEncoder(sparse_output=False), ["region"]), remainder="passthrough")
quantiles = LGBMRegressor(objective="quantile", n_jobs=1, verbose=-1)
booster = make_pipeline(regions.set_output(transform="pandas"), quantiles)
model = CalibratedRegressor(booster, levels=[0.05, 0.25, 0.5, 0.75, 0.95], cv=5).fit(X[:1200], y[:1200])
before, after = model.predict_dist(X[1200:], calibrated=False), model.predict_dist(X[1200:])
print(metrics.summary(y[1200:], {"before": before, "after": after}))
