"""Segments where forecasts are wrong: found, measured, told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant
from calibrant import GroupedCalibrator, Normal, Poisson, ScaleCalibrator, find_segments, metrics
from calibrant.select.segments.measured import law_fault
from experiments.segments import of_classes, of_laws

N = 3000


def shop(rng, rows=N):
    frame = pd.DataFrame(
        {
            "price": rng.gamma(3.0, 4.0, rows),
            "month": rng.integers(1, 13, rows),
            "flag": rng.integers(0, 2, rows),
            "region": rng.choice(["north", "south", "east"], rows),
            "age": np.where(rng.random(rows) < 0.15, np.nan, rng.uniform(18, 80, rows)),
        }
    )
    return frame, rng.normal(size=rows), rng.normal(size=rows)


def test_hidden_segment_is_found_first():
    assert of_laws(0, True).is_first and of_classes(0, True).is_first


def test_nothing_is_shown_where_nothing_is_wrong(rng):
    shown = 0
    for _ in range(6):
        X, mean, noise = shop(rng, 1000)
        p = rng.random(1000)
        shown += len(find_segments(mean + noise, Normal(mean, 1.0), X)) > 0
        shown += len(find_segments(rng.random(1000) < p, p, X)) > 0
    assert shown <= 1


def test_a_fault_of_all_rows_is_told_once(rng):
    X, mean, noise = shop(rng)
    found = find_segments(mean + 2 * noise, Normal(mean, 1.0), X)
    assert [(each.name, each.kind) for each in found] == [("all rows", "width")]
    assert found[0].conditions == () and found[0].contains(X).all() and found[0].share == 1.0


@pytest.mark.parametrize(
    ("wrong", "kind", "name"),
    [
        (lambda X: X["month"] == 12, "bias", "month = 12"),
        (lambda X: X["age"].isna(), "width", "age is missing"),
        (lambda X: X["region"] == "south", "width", "region = south"),
        (lambda X: (X["age"] > 30) & (X["age"] <= 45), "width", "< age <="),
        (lambda X: X["price"] > 18, "bias", "price > 1"),
    ],
)
def test_conditions_in_words(wrong, kind, name, rng):
    X, mean, noise = shop(rng)
    rows = wrong(X).to_numpy()
    y = mean + (noise + rows if kind == "bias" else np.where(rows, 2.0, 1.0) * noise)
    found = find_segments(y, Normal(mean, 1.0), X)
    assert name in found[0].name and found[0].kind == kind
    inside = found[0].contains(X)
    assert (inside & rows).sum() >= 0.8 * (inside | rows).sum()
    assert ("too low" if kind == "bias" else "times too narrow") in found[0].fault


@pytest.mark.parametrize("ratio", [0.5, 0.949, 0.95, 0.97, 0.996, 1.0, 1.004, 1.006, 1.04, 1.099, 1.11, 2.04])
def test_a_width_is_never_wrong_by_a_factor_of_one(ratio):
    said = law_fault("width", ratio)
    if said == "of the right width":
        assert abs(np.log(ratio)) < 0.005
        return
    times, side = said.split(" times too ")
    assert float(times) == pytest.approx(max(ratio, 1 / ratio), rel=0.03) and float(times) > 1
    assert side == ("narrow" if ratio > 1 else "wide")


def test_numbers_are_those_of_the_other_half(rng):
    X, mean, noise = shop(rng)
    rows = (X["region"] == "south").to_numpy()
    law, y = Normal(mean, 1.0), mean + np.where(rows, 2.0, 1.0) * noise
    one = find_segments(y, law, X, random_state=5)[0]
    half = np.sort(np.array_split(np.random.default_rng(5).permutation(N), 2)[1])
    mine = half[rows[half]]
    assert one.name == "region = south" and one.rows == len(mine) and one.share == pytest.approx(len(mine) / len(half))
    z = np.sort(y[mine] - mean[mine])
    low, high = (z[int(np.ceil(level * len(z))) - 1] for level in (0.158655, 0.841345))
    assert one.estimate.value == pytest.approx((high - low) / 2)
    assert one.observed.value == pytest.approx(metrics.coverage(y[mine], law[mine], coverage=0.9))
    p, n = one.observed.value, len(mine)  # Wilson (1927)
    centre, reach = p + 1.6449**2 / (2 * n), 1.6449 * np.sqrt(p * (1 - p) / n + 1.6449**2 / (4 * n * n))
    assert one.observed.low == pytest.approx((centre - reach) / (1 + 1.6449**2 / n), rel=1e-4)
    assert one.promised == 0.9 and one.adjusted <= 0.05
    assert one.p_value <= one.adjusted <= one.p_value * 8 * sum(1 / k for k in range(1, 9))


def test_two_faults_are_two_segments(rng):
    X, mean, noise = shop(rng, 6000)
    high = ((X["flag"] == 1) & (X["price"] > 15)).to_numpy()
    y = mean + np.where(X["age"].isna(), 0.5, 1.0) * noise - 0.8 * high
    found = find_segments(y, Normal(mean, 1.0), X)
    assert {each.kind for each in found} == {"bias", "width"} and len(found) == 2
    assert any(each.name == "age is missing" and "too wide" in each.fault for each in found)
    assert any("flag = 1" in each.name and "too high" in each.fault for each in found)
    gains = [each.gain for each in found]
    assert gains == sorted(gains, reverse=True)


def test_three_conditions(rng):
    X, mean, noise = shop(rng, 6000)
    rows = ((X["age"] > 40) & (X["flag"] == 1) & (X["region"] == "east")).to_numpy()
    y = mean + np.where(rows, 2.5, 1.0) * noise
    found = find_segments(y, Normal(mean, 1.0), X, 3)
    assert {each.name for each in found[0].conditions} == {"age", "flag", "region"}
    assert len(find_segments(y, Normal(mean, 1.0), X, 1)[0].conditions) <= 1


def test_outcomes_on_atoms(rng):
    X, _, _ = shop(rng)
    rate = np.exp(rng.normal(0, 0.7, N))
    assert not len(find_segments(rng.poisson(rate), Poisson(rate), X))
    y = rng.poisson(np.where(X["region"] == "south", 1.6 * rate, rate))
    found = find_segments(y, Poisson(rate), X)
    assert found[0].name == "region = south" and found[0].kind == "bias" and "too low" in found[0].fault


def test_impossible_outcomes_count_as_far(rng):
    X, _, noise = shop(rng)
    law = calibrant.Histogram(np.array([-1.0, 0.0, 1.0]), np.full((N, 2), 0.5))
    assert len(find_segments(3 * noise, law, X)) >= 1


def test_classes(rng):
    X, _, _ = shop(rng)
    p = rng.beta(2, 2, N)
    y = np.where(rng.random(N) < np.where(X["region"] == "south", 0.6 * p, p), "yes", "no")
    one = find_segments(y, p, X)[0]
    assert one.name == "region = south" and one.kind == "bias" and "points too high" in one.fault
    assert one.observed.value - one.promised == pytest.approx(one.estimate.value)
    unsure = rng.random(N) < np.where(X["flag"] == 1, 0.5 + 0.3 * (p - 0.5), p)
    one = find_segments(unsure, np.column_stack([1 - p, p]), X)[0]
    assert one.name == "flag = 1" and one.kind == "confidence" and "overconfident" in one.fault
    P = rng.dirichlet([2, 1, 1], N)
    truth = np.where((X["flag"] == 1).to_numpy()[:, None], 1 / 3, P)
    labels = (rng.random(N)[:, None] > np.cumsum(truth, axis=1)[:, :-1]).sum(axis=1)
    assert find_segments(labels, P, X)[0].name == "flag = 1"


def test_tables_of_any_kind(rng):
    X, mean, noise = shop(rng)
    y = mean + np.where(X["region"] == "south", 2.0, 1.0) * noise
    expected = find_segments(y, Normal(mean, 1.0), X)
    assert expected[0].name == "region = south"
    forms = [pl.from_pandas(X), X.astype({"region": "category"}), X.astype({"age": "float32"})]
    for form in forms:
        found = find_segments(pd.Series(y), (mean, np.ones(N)), form)
        assert [each.name for each in found] == [each.name for each in expected]
        np.testing.assert_array_equal(found[0].contains(form), expected[0].contains(X))
    lists = find_segments(y.tolist(), Normal(mean, 1.0), X.to_numpy(dtype=object).tolist())
    assert lists[0].name == "x3 = south"
    other = X[["region", "flag", "age", "month", "price"]].head(5)
    np.testing.assert_array_equal(expected[0].contains(other), other["region"] == "south")


def test_weights_are_rows(rng):
    X, mean, noise = shop(rng)
    y = mean + np.where(X["region"] == "south", 2.0, 1.0) * noise
    weight = rng.integers(0, 3, N)
    one = find_segments(y, Normal(mean, 1.0), X, sample_weight=weight)[0]
    assert one.name == "region = south"
    assert one.rows == pytest.approx(weight[X["region"] == "south"].sum() / 2, rel=0.1)
    y[weight == 0] = 1e9  # as if they were not there
    again = find_segments(y, Normal(mean, 1.0), X, sample_weight=weight)[0]
    assert again.estimate == one.estimate


def test_rows_without_outcome_are_left_out(rng):
    X, mean, noise = shop(rng)
    y = mean + 2 * noise
    y[:100] = np.nan
    with pytest.warns(UserWarning, match="100 of 3000 rows have no outcome"):
        found = find_segments(y, Normal(mean, 1.0), X)
    assert found.rows == 1450


def test_the_table(rng):
    X, mean, noise = shop(rng)
    found = find_segments(mean + np.where(X["region"] == "south", 2.0, 1.0) * noise, Normal(mean, 1.0), X)
    frame = found.to_frame()
    assert frame["segment"].tolist() == ["region = south"] and frame["kind"].tolist() == ["width"]
    assert frame.loc[0, "low"] < frame.loc[0, "estimate"] < frame.loc[0, "high"]
    text = str(found)
    assert text.splitlines()[0].split("  ")[0] == "segment" and text.splitlines()[0].endswith("came  adjusted p")
    assert "times too narrow" in text and "false discoveries at most 0.05" in text and repr(found) == text
    assert str(found[0]).startswith("region = south: ") and found[:1] == found.found
    none = find_segments(mean + noise, Normal(mean, 1.0), X, fdr=0.001)
    assert len(none) == 0 and str(none).startswith("No segment") and len(none.to_frame()) == 0
    assert none.to_frame().columns.tolist() == frame.columns.tolist()


def test_the_same_again(rng):
    X, mean, noise = shop(rng)
    y = mean + np.where(X["flag"] == 1, 1.5, 1.0) * noise
    one, other = (find_segments(y, Normal(mean, 1.0), X) for _ in range(2))
    assert one.to_frame().equals(other.to_frame())


def test_few_rows_and_columns_that_say_nothing(rng):
    assert not len(find_segments([0.0, 1.0, 2.0], Normal([0.0, 1.0, 2.0], 1.0), [[1.0], [2.0], [3.0]]))
    X = pd.DataFrame({"same": np.ones(400), "gone": [None] * 400, "each": [f"id{k}" for k in range(400)]})
    found = find_segments(3 * rng.normal(size=400), Normal(np.zeros(400), 1.0), X)
    assert [each.name for each in found] == ["all rows"]


def test_errors(rng):
    X, mean, noise = shop(rng, 50)
    law = Normal(mean, 1.0)
    with pytest.raises(ValueError, match="`X` must have one row per forecast; got 49 for 50 forecasts"):
        find_segments(noise, law, X.head(49))
    with pytest.raises(ValueError, match="`max_conditions` must be a whole number of at least 1; got 0"):
        find_segments(noise, law, X, 0)
    with pytest.raises(ValueError, match="`fdr` must be strictly between 0 and 1"):
        find_segments(noise, law, X, fdr=5)
    with pytest.raises(ValueError, match="`min_rows` must be a whole number of at least 2"):
        find_segments(noise, law, X, min_rows=1)
    with pytest.raises(TypeError, match="Arguments in the wrong order"):
        find_segments(law, noise, X)
    with pytest.raises(ValueError, match="at least two rows"):
        find_segments([1.0], Normal([0.0], 1.0), [[1.0]])


def test_segments_get_a_scale_of_their_own(rng):
    X, mean, noise = shop(rng, 4000)
    south, winter = X["region"] == "south", X["month"] == 12
    y = mean + np.where(south, 2.0, np.where(winter, 3.0, 1.0)) * noise
    law = Normal(mean, 1.0)
    found = find_segments(y, law, X)
    groups = found.labels(X)
    assert groups[south.to_numpy()].tolist() == ["region = south"] * int(south.sum())
    assert "elsewhere" in groups and set(groups) <= {"elsewhere", *(each.name for each in found)}
    first = found.labels(pl.from_pandas(X))
    assert np.array_equal(first, groups)
    made = GroupedCalibrator(ScaleCalibrator()).fit(law, y, groups=groups).transform(law, groups=groups)
    assert made.std()[south].mean() == pytest.approx(2.0, abs=0.1)
    assert made.std()[~south & ~winter].mean() == pytest.approx(1.0, abs=0.1)
