"""Calibration in every segment, of classes and of laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import Normal, Poisson, metrics


def published(y, p, frame, categorical, max_depth=3, max_values=3, fewest=10):
    """ECCE in all segments, one mask at a time, as Guy et al. (2025) and their package say it: sigma and absolute."""
    order = np.argsort(p, kind="stable")
    y, p, frame = y[order], p[order], frame.iloc[order].reset_index(drop=True)
    values = []
    for name in frame:
        column = frame[name]
        if name in categorical:
            column = column.fillna("gone")
            counts = column.value_counts()
            if len(counts) > max_values:
                column = column.where(column.isin(counts.index[: max_values - 1]), "others")
            values.append([(column == value).to_numpy() for value in column.unique()])
        else:
            if column.nunique() > max_values:
                edges = column.quantile(np.linspace(0, 1, max_values + 1))
                column = pd.cut(column, bins=edges, labels=False, include_lowest=True, duplicates="drop")
            masks = [(column == value).to_numpy() for value in column.dropna().unique()]
            values.append([*masks, column.isna().to_numpy()])
    largest = 0.0
    for depth in range(max_depth + 1):
        for subset in itertools.combinations(values, depth):
            for masks in itertools.product(*subset):
                mask = np.logical_and.reduce([np.ones(len(y), dtype=bool), *masks])
                if mask.sum() < fewest:
                    continue
                steps = [0.0]
                for label, score in zip(y[mask], p[mask], strict=True):
                    steps.append(steps[-1] + (label - score) / mask.sum())
                sigma = math.sqrt(sum(q * (1 - q) for q in p[mask])) / mask.sum()
                largest = max(largest, (max(steps) - min(steps)) / sigma)
    return largest, largest * math.sqrt(np.sum(p * (1 - p))) / len(p)


def mixed_frame(rng, n=400):
    frame = pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2.0, size=n)),
            "zeros": np.where(rng.random(n) < 0.5, 0.0, rng.normal(2, 1, n) ** 2),
            "region": rng.choice(["n", "s", "e", "w", "x"], n, p=[0.4, 0.25, 0.18, 0.1, 0.07]),
            "flag": rng.integers(0, 2, n),
        }
    )
    frame.loc[rng.random(n) < 0.05, "region"] = None
    return frame


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_published_estimator(depth, rng):
    frame = mixed_frame(rng)
    p = rng.uniform(0.05, 0.95, len(frame))
    wrong = (frame["region"] == "s") & (frame["flag"] == 1)
    y = (rng.random(len(p)) < np.where(wrong, 1 - p, p)).astype(int)
    sigma, absolute = published(y, p, frame, ["region"], depth)
    assert metrics.multicalibration_error(y, p, frame, scale="sigma", max_conditions=depth) == pytest.approx(sigma)
    assert metrics.multicalibration_error(y, p, frame, max_conditions=depth) == pytest.approx(absolute)
    share = min(y.mean(), 1 - y.mean())
    relative = metrics.multicalibration_error(y, p, frame, scale="relative", max_conditions=depth)
    assert relative == pytest.approx(absolute / share)


def test_five_values_a_feature(rng):
    frame = mixed_frame(rng)
    p = rng.uniform(0.05, 0.95, len(frame))
    y = (rng.random(len(p)) < p).astype(int)
    sigma, _ = published(y, p, frame, ["region"], 2, 5)
    found = metrics.multicalibration_error(y, p, frame, scale="sigma", max_conditions=2, max_values=5)
    assert found == pytest.approx(sigma)


def test_range_by_hand():
    # 0.9, 0.9 - 0.5, 0.4 + 0.3: the range is from 0 to 0.9
    y, p = [1, 0, 1], [0.1, 0.5, 0.7]
    assert metrics.multicalibration_error(y, p) == pytest.approx(0.3)
    assert metrics.multicalibration_error(y, p, scale="sigma") == pytest.approx(0.9 / np.sqrt(0.09 + 0.25 + 0.21))


def test_usual_values_of_calibrated_forecasts(rng):
    """The range of a Brownian motion has mean 4 / sqrt(2 pi)."""
    found = []
    for _ in range(400):
        p = rng.beta(2, 2, 1000)
        found.append(metrics.multicalibration_error(rng.random(1000) < p, p, scale="sigma"))
    assert np.mean(found) == pytest.approx(4 / np.sqrt(2 * np.pi), abs=0.07)


def test_weights_and_kinds_of_tables(rng):
    frame = mixed_frame(rng, 120)
    p = np.round(rng.random(120), 2)
    y, weight = rng.integers(0, 2, 120), rng.integers(0, 4, 120)
    rows = np.repeat(np.arange(120), weight)
    weighted = metrics.multicalibration_error(y, p, frame, sample_weight=weight)
    assert weighted == pytest.approx(metrics.multicalibration_error(y[rows], p[rows], frame.iloc[rows]))
    plain = metrics.multicalibration_error(y, p, frame)
    assert metrics.multicalibration_error(y, p, pl.DataFrame(frame)) == pytest.approx(plain)
    assert metrics.multicalibration_error(y, p, frame.to_numpy(dtype=object).tolist()) == pytest.approx(plain)
    frame["region"] = frame["region"].astype("category")
    assert metrics.multicalibration_error(y.tolist(), p.tolist(), frame) == pytest.approx(plain)


def test_each_class_counts(rng):
    p = rng.dirichlet([2, 2, 2], 600)
    y = np.array([rng.choice(3, p=row) for row in p])
    X = rng.integers(0, 2, (600, 1))
    y[(X[:, 0] == 1) & (y == 2)] = 0
    each = [metrics.multicalibration_error(y == k, p[:, k], X, scale="sigma") for k in range(3)]
    assert metrics.multicalibration_error(y, p, X, scale="sigma") == pytest.approx(max(each))
    assert max(each) > 8


def test_certain_and_wrong():
    assert metrics.multicalibration_error([0, 1] * 10, [0.0, 1.0] * 10) == 0.0
    assert metrics.multicalibration_error([1, 1] * 10, [0.0, 1.0] * 10, scale="sigma") == np.inf
    assert metrics.multicalibration_error([1, 1] * 10, [0.0, 1.0] * 10) == pytest.approx(0.5)


def literal_deviation(p, X, levels, fewest=10):
    """Deviations of PITs in standard errors in all rows, by each feature and by both."""
    largest = 0.0
    for masks in itertools.product(*([None, *np.unique(column)] for column in X.T)):
        mask = np.ones(len(p), dtype=bool)
        for value, column in zip(masks, X.T, strict=True):
            mask &= True if value is None else column == value
        if (n := mask.sum()) >= fewest:
            for t in levels:
                largest = max(largest, abs(np.mean(p[mask] <= t) - t) / math.sqrt(t * (1 - t) / n))
    return largest


def test_laws_literally(rng):
    n = 300
    X = rng.integers(0, 3, (n, 2))
    law = Normal(rng.normal(size=n), 1.0)
    y = law.loc + np.where((X[:, 0] == 2) & (X[:, 1] == 0), 3.0, 1.0) * rng.normal(size=n)
    expected = literal_deviation(law.cdf(y), X, np.arange(1, 20) / 20)
    assert metrics.distribution_multicalibration_error(y, law, X) == pytest.approx(expected)
    assert metrics.distribution_multicalibration_error(y, law, X, levels=[0.5]) == pytest.approx(
        literal_deviation(law.cdf(y), X, [0.5])
    )
    weight = rng.integers(0, 3, n)
    rows = np.repeat(np.arange(n), weight)
    weighted = metrics.distribution_multicalibration_error(y, law, X, sample_weight=weight)
    assert weighted == pytest.approx(metrics.distribution_multicalibration_error(y[rows], law[rows], X[rows]))


def test_laws_that_are_calibrated_and_not(rng):
    n = 4000
    X = rng.normal(size=(n, 4))
    rate = np.exp(rng.normal(0, 0.5, n))
    assert metrics.distribution_multicalibration_error(rng.poisson(rate), Poisson(rate), X) < 5
    y = rng.poisson(np.where((X[:, 0] > 0.7) & (X[:, 1] > 0), 1.7 * rate, rate))
    assert metrics.distribution_multicalibration_error(y, Poisson(rate), X) > 5
    assert metrics.distribution_multicalibration_error(y, Poisson(rate)) < 5


def test_errors():
    y, p = [0, 1], [0.2, 0.8]
    with pytest.raises(ValueError, match="`X` must have one row per forecast; got 3 for 2 forecasts"):
        metrics.multicalibration_error(y, p, [[1.0]] * 3)
    with pytest.raises(ValueError, match="`max_values` must be a whole number of at least 2; got 1"):
        metrics.multicalibration_error(y, p, [[1.0]] * 2, max_values=1)
    with pytest.raises(ValueError, match="`scale` must be one of"):
        metrics.multicalibration_error(y, p, scale="percent")
    with pytest.raises(ValueError, match="`levels` must have one between 0 and 1"):
        metrics.distribution_multicalibration_error([0.0], Normal([0.0], 1.0), levels=1)
