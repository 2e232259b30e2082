"""Conformal calibration beside crepes and MAPIE: the same numbers where the method is the same, and widths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.model_selection import KFold, LeaveOneOut

from calibrant import CalibratedRegressor, ConformalCalibrator, ConformalSets, Normal, Quantiles, StackCalibrator
from calibrant.classification.conformal_sets import adaptive_scores
from calibrant.numerics.ranked_scores import RankedScores
from experiments.cells import claim

C, SAME = 0.9, 1e-12
N = 57  # rows kept aside; (1 - c)(n + 1) is no whole number, which crepes rounds down to one less
DRAWS, TRAIN, KEPT, TEST = 5, 1000, 1000, 5000
NARROWER = 0.05
AFRESH, AGAIN = range(100, 120), range(200, 240)  # draws that nothing was chosen on, named before they were looked at
PEERS = ("crepes, normalised", "MAPIE, conformalised quantiles")
NARROWEST, EVEN, SEEING = "stack, by densities", "stack", "stack that sees features"

Pair = tuple[np.ndarray, np.ndarray]


def lacking() -> str | None:
    """A line that says which of the two is not installed."""
    names = [name for name in ("crepes", "mapie") if find_spec(name) is None]
    return f"SKIP  {' and '.join(names)} not installed: pip install 'calibrant[bench]'" if names else None


# ---- the same numbers ----
def peers() -> Iterator[str]:
    """The largest difference for each method."""
    line = lacking()
    if line is not None:
        yield line
        return
    for kind in (_crepes, _mapie_split, _mapie_cross, _mapie_classes):
        for name, (ours, theirs) in kind():
            off = float(np.max(np.abs(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float))))
            yield claim(off <= SAME, f"{name}: largest difference {off:.2g}")


def _crepes() -> Iterator[tuple[str, Pair]]:
    from crepes import ConformalPredictiveSystem, ConformalRegressor

    rng = np.random.default_rng(0)
    mu, sigma, groups = rng.normal(size=2 * N), np.exp(0.5 * rng.normal(size=2 * N)), rng.integers(0, 2, 2 * N)
    y = mu + sigma * rng.standard_t(4, 2 * N)
    old, new = slice(None, N), slice(N, None)
    r, at, given = y[old] - mu[old], mu[new], (mu[old], sigma[old])
    plain = ConformalCalibrator().fit(mu[old], y[old]).transform(at).interval(C)
    yield "crepes, standard", (plain, ConformalRegressor().fit(r).predict_int(at, confidence=C))
    theirs = ConformalRegressor().fit(r, sigmas=sigma[old]).predict_int(at, sigmas=sigma[new], confidence=C)
    law = ConformalCalibrator().fit(given, y[old]).transform((at, sigma[new]))
    yield "crepes, normalised", (law.interval(C), theirs)
    regressor = ConformalRegressor().fit(r, sigmas=sigma[old], bins=groups[old])
    theirs = regressor.predict_int(at, sigmas=sigma[new], bins=groups[new], confidence=C)
    mine = ConformalCalibrator(by="groups").fit(given, y[old], groups=groups[old])
    yield "crepes, Mondrian", (mine.transform((at, sigma[new]), groups=groups[new]).interval(C), theirs)
    system = ConformalPredictiveSystem().fit(r, sigmas=sigma[old])
    signed = ConformalCalibrator(score="signed", map="step").fit(given, y[old]).transform((at, sigma[new]))
    yield "crepes, predictive system", (signed.interval(C), system.predict_int(at, sigmas=sigma[new], confidence=C))


def _mapie_split() -> Iterator[tuple[str, Pair]]:
    from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor

    rng = np.random.default_rng(1)
    X = rng.normal(size=(3 * N, 2))
    y = X[:, 0] + np.exp(0.5 * X[:, 1]) * rng.normal(size=3 * N)
    train, old, new = slice(None, N), slice(N, 2 * N), slice(2 * N, None)
    model = LinearRegression().fit(X[train], y[train])
    split = SplitConformalRegressor(model, confidence_level=C, prefit=True).conformalize(X[old], y[old])
    ours = ConformalCalibrator().fit(model.predict(X[old]), y[old]).transform(model.predict(X[new])).interval(C)
    yield "MAPIE, split", (ours, split.predict_interval(X[new])[1][:, :, 0])
    levels = [0.05, 0.95, 0.5]
    models = [QuantileRegressor(quantile=q, alpha=0.01).fit(X[train], y[train]) for q in levels]
    cqr = ConformalizedQuantileRegressor(models, confidence_level=C, prefit=True).conformalize(X[old], y[old])
    laws = [Quantiles(levels, np.column_stack([m.predict(X[rows]) for m in models])) for rows in (old, new)]
    ours = ConformalCalibrator(score="cqr").fit(laws[0], y[old]).transform(laws[1]).interval(C)
    theirs = cqr.predict_interval(X[new], symmetric_correction=True)[1][:, :, 0]
    yield "MAPIE, conformalised quantiles", (ours, theirs)


def _mapie_cross() -> Iterator[tuple[str, Pair]]:
    from mapie.regression import CrossConformalRegressor

    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 2))
    y, new = X[:, 0] + rng.normal(size=N), rng.normal(size=(20, 2))
    for name, cv in (("CV+", KFold(5)), ("jackknife+", LeaveOneOut())):
        cross = CrossConformalRegressor(LinearRegression(), confidence_level=C, method="plus", cv=cv)
        theirs = cross.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0]
        model = CalibratedRegressor(LinearRegression(), ConformalCalibrator(), cv=cv, ensemble=True).fit(X, y)
        yield f"MAPIE, {name}", (model.predict_interval(new, C), theirs)


def _mapie_classes() -> Iterator[tuple[str, Pair]]:
    from mapie.classification import SplitConformalClassifier

    rng = np.random.default_rng(3)
    X = rng.normal(size=(6 * N, 3))
    y = np.argmax(X + rng.gumbel(size=X.shape), axis=1)
    train, old, new = slice(None, N), slice(N, 3 * N), slice(3 * N, None)
    model = LogisticRegression().fit(X[train], y[train])
    p, at = model.predict_proba(X[old]), model.predict_proba(X[new])
    for score in ("lac", "aps"):
        split = SplitConformalClassifier(
            model, confidence_level=C, conformity_score=score, prefit=True, random_state=4
        ).conformalize(X[old], y[old])
        if score == "lac":
            ours = ConformalSets().fit(p, y[old]).predict_sets(at, C)
            yield "MAPIE, LAC", (ours, split.predict_set(X[new])[1][:, :, 0])
            continue
        how = {"include_last_label": "randomized"}  # their draws are those of one seed, in the fit and after it
        u, v = (1 - np.random.RandomState(4).uniform(size=len(rows)) for rows in (p, at))
        mine = adaptive_scores(p, u)[np.arange(len(p)), y[old]]
        ours = adaptive_scores(at, v) <= RankedScores.of(mine).reaching(C)
        yield "MAPIE, APS", (ours, split.predict_set(X[new], conformity_score_params=how)[1][:, :, 0])


# ---- widths ----
def rows(rng: np.random.Generator, n: int) -> Pair:
    """Features, and outcomes whose deviation is in proportion to their mean, with the tails of t with 5 degrees."""
    X = rng.uniform(size=(n, 5))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, mean + 0.2 * mean * rng.standard_t(5, n)


def _forest(model: RandomForestRegressor, X: np.ndarray) -> Pair:
    """Mean and deviation of the trees."""
    trees = np.array([tree.predict(X) for tree in model.estimators_])
    return trees.mean(axis=0), np.maximum(trees.std(axis=0), 1e-6)


def _intervals(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Intervals of the test rows by each method, and their outcomes."""
    from crepes import ConformalRegressor
    from mapie.regression import ConformalizedQuantileRegressor

    rng = np.random.default_rng(seed)
    (X, y), (old, old_y), (new, new_y) = (rows(rng, n) for n in (TRAIN, KEPT, TEST))
    forest = RandomForestRegressor(200, random_state=seed).fit(X, y)
    (mu, sigma), (at, spread) = _forest(forest, old), _forest(forest, new)
    given = (Normal(mu, sigma), old_y), Normal(at, spread)
    out = {NARROWEST: _around(ConformalCalibrator(StackCalibrator(), score="density"), *given)}
    out[EVEN] = _around(ConformalCalibrator(StackCalibrator()), *given)
    out[SEEING] = _around(ConformalCalibrator(StackCalibrator(features=True)), *given, (old, new))
    crepes = ConformalRegressor().fit(old_y - mu, sigmas=sigma)
    out[PEERS[0]] = crepes.predict_int(at, sigmas=spread, confidence=C)
    levels = (0.05, 0.95, 0.5)
    models = [GradientBoostingRegressor(loss="quantile", alpha=q, random_state=seed).fit(X, y) for q in levels]
    cqr = ConformalizedQuantileRegressor(models, confidence_level=C, prefit=True).conformalize(old, old_y)
    out[PEERS[1]] = cqr.predict_interval(new)[1][:, :, 0]
    return out, new_y


def _around(way: Any, given: tuple[Normal, np.ndarray], new: Normal, features: Pair | None = None) -> np.ndarray:
    seen, beside = ({}, {}) if features is None else ({"X": each} for each in features)
    return way.fit(*given, **seen).transform(new, **beside).interval(C)


def widths() -> Iterator[str]:
    """Mean width of the stack's intervals over the others', and the shares that they hold."""
    line = lacking()
    if line is not None:
        yield line
        return
    mean = _means(_widths(range(DRAWS)))
    yield from _narrower(mean, (EVEN, NARROWEST))
    for name, (width, share, equal, *quarters) in mean.items():
        told = ", ".join(f"{quarter:.2f}" for quarter in quarters)
        yield (
            f"      {name}: width {width:.2f}, coverage {share:.3f} (by quarters of widths {told}), width where it is "
            f"{C:g} {equal:.2f}"
        )


def widths_afresh(draws: range = AFRESH) -> Iterator[str]:
    """The same on draws that nothing was chosen on: by densities, and where the stack sees the features too."""
    line = lacking()
    if line is not None:
        yield line
        return
    found = _widths(draws)
    mean = _means(found)
    yield from _narrower(mean, (NARROWEST, SEEING), f" on draws {draws[0]} to {draws[-1]}")
    for way in (NARROWEST, SEEING):
        each = [100 * (1 - found[way][:, 2] / found[name][:, 2]) for name in PEERS]
        told = [f"{less.mean():.1f} ± {less.std(ddof=1) / len(less) ** 0.5:.1f} % than {name}" for less, name in
                zip(each, PEERS, strict=True)]  # fmt: skip
        yield f"      around the {way}, draw by draw: narrower by {', '.join(told)}"
    even = [f"{name} {_less(mean, EVEN, name):.1f} %" for name in PEERS]
    yield f"      by ranks of scores, which are even, from forecasts alone: narrower than {', than '.join(even)}"


def _widths(seeds: Iterable[int]) -> dict[str, np.ndarray]:
    """What `_measured` says of each way, a row a draw."""
    found: dict[str, list[list[float]]] = {}
    for seed in seeds:
        made, y = _intervals(seed)
        for name, ends in made.items():
            found.setdefault(name, []).append(_measured(ends, y))
    return {name: np.array(each) for name, each in found.items()}


def _means(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: each.mean(axis=0) for name, each in found.items()}


def _narrower(mean: dict[str, np.ndarray], ways: Sequence[str], where: str = "") -> Iterator[str]:
    for name in PEERS:
        for way in ways:
            less = _less(mean, way, name)
            text = f"around the {way}, {less:.1f} % narrower than {name} at equal coverage{where}, 5 % wanted"
            told = f"; seeing the features too {_less(mean, SEEING, name):.1f} %" if way == EVEN else ""
            yield claim(bool(less >= 100 * NARROWER), f"{text}{told}")


def _less(mean: dict[str, np.ndarray], way: str, name: str) -> float:
    """By how much the intervals are narrower where both hold what they state, in per cent."""
    return float(100 * (1 - mean[way][2] / mean[name][2]))


def _measured(ends: np.ndarray, y: np.ndarray) -> list[float]:
    """Mean width, share held, width where that is as stated; shares held by quarters of the widths."""
    width, held = np.diff(ends)[:, 0], (ends[:, 0] <= y) & (y <= ends[:, 1])
    quarters = np.array_split(held[np.argsort(width)], 4)
    return [width.mean(), held.mean(), width.mean() * stretch(ends, y), *(part.mean() for part in quarters)]


def stretch(ends: np.ndarray, y: np.ndarray) -> float:
    """The factor about their middles with which intervals hold exactly the share that they state."""
    middle, half = ends.mean(axis=1), np.diff(ends)[:, 0] / 2
    return float(np.quantile(np.abs(y - middle) / half, C))
