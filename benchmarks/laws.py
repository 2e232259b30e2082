"""CRPS of laws with closed forms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant.distributions import GEV, GPD, Beta, Censored, Logistic, Normal, SkewNormal, StudentT, Truncated

from .timing import Line, cpu_seconds


def lines(n: int = 100_000) -> Iterator[Line]:
    """Ours, laws made and checked, against scoringrules with NumPy."""
    import scoringrules as sr

    rng = np.random.default_rng(0)
    loc, scale, y = rng.normal(0, 1, n), rng.uniform(0.5, 2, n), rng.normal(0, 2, n)
    low, high, df, shape = loc - 1.2 * scale, loc + 2 * scale, rng.uniform(3, 9, n), rng.uniform(0.05, 0.3, n)
    a, b = rng.uniform(1, 5, (2, n))
    share, above = rng.uniform(0, 1, n), loc + scale * rng.exponential(1, n)
    cases = {
        "truncated normal": (
            lambda: Truncated(Normal(loc, scale), low, high).crps(y), lambda: sr.crps_tnormal(y, loc, scale, low, high)
        ),
        "truncated logistic": (
            lambda: Truncated(Logistic(loc, scale), low, high).crps(y),
            lambda: sr.crps_tlogistic(y, loc, scale, low, high),
        ),
        "truncated t": (
            lambda: Truncated(StudentT(loc, scale, df), low, high).crps(y),
            lambda: sr.crps_tt(y, df, loc, scale, low, high),
        ),
        "censored normal": (
            lambda: Censored(Normal(loc, scale), low, high).crps(y), lambda: sr.crps_cnormal(y, loc, scale, low, high)
        ),
        "censored logistic": (
            lambda: Censored(Logistic(loc, scale), low, high).crps(y),
            lambda: sr.crps_clogistic(y, loc, scale, low, high),
        ),
        "censored t": (
            lambda: Censored(StudentT(loc, scale, df), low, high).crps(y),
            lambda: sr.crps_ct(y, df, loc, scale, low, high),
        ),
        "beta": (lambda: Beta(a, b).crps(share), lambda: sr.crps_beta(share, a, b)),
        "GEV": (lambda: GEV(loc, scale, shape).crps(y), lambda: sr.crps_gev(y, shape, loc, scale)),
        "GPD": (lambda: GPD(loc, scale, shape).crps(above), lambda: sr.crps_gpd(above, shape, loc, scale)),
    }  # fmt: skip
    for name, (ours, theirs) in cases.items():
        yield Line(f"CRPS of {n:.0e} {name} laws", cpu_seconds(ours), "scoringrules", cpu_seconds(theirs), 10.0)
    ours = cpu_seconds(lambda: SkewNormal(loc, scale, shape).crps(y))
    yield Line(f"CRPS of {n:.0e} skew-normal laws", ours, "normal", cpu_seconds(lambda: Normal(loc, scale).crps(y)))
    law = Truncated(Normal(loc, scale), low, high)
    ours = cpu_seconds(lambda: (law.mean(), law.std(), law.crps(y)))
    yield Line(f"mean, std and CRPS of {n:.0e} truncated normal laws", ours, "CRPS", cpu_seconds(lambda: law.crps(y)))
