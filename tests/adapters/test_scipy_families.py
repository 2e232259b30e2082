"""Families of SciPy's own test list: right, or refused in one line, and quick.

The slowest of them and some others; ``python -m experiments.scipy_families`` tries all.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant.adapters import as_distribution
from experiments.scipy_families import SECONDS, families, tried

ONCE_BROKEN = {
    "argus", "dlaplace", "dpareto_lognorm", "exponnorm", "foldnorm", "genhyperbolic", "geninvgauss", "geom",
    "hypergeom", "invgauss", "kappa4", "levy_l", "logser", "mielke", "ncf", "nchypergeom_fisher", "norminvgauss",
    "planck", "poisson", "recipinvgauss", "rel_breitwigner", "semicircular", "skewnorm", "vonmises", "wald", "zipf",
}  # fmt: skip
CASES = [case for number, case in enumerate(families()) if case[0] in ONCE_BROKEN or number % 6 == 0]


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)])
def test_right_or_refused(case):
    verdict = tried(*case)
    assert not verdict.wrong
    assert verdict.seconds < SECONDS
    assert "\n" not in verdict.refused
    assert verdict.refused == "" or case[0] in ("levy_stable", "kstwo", "ksone", "studentized_range", "poisson_binom")


@pytest.mark.parametrize(
    ("frozen", "message"),
    [
        (stats.studentized_range(3, [10, 12]), "cannot use scipy's studentized_range: SciPy takes 10 ms"),
        (stats.poisson_binom([0.2, 0.6]) if hasattr(stats, "poisson_binom") else None, "one law's, not one per row"),
    ],
)
def test_refusals_in_one_line(frozen, message):
    if frozen is None:
        pytest.skip("SciPy before 1.15 has no such family")
    with pytest.raises(TypeError, match=message):
        as_distribution(frozen)


def test_slow_families_keep_their_quantiles():
    law = as_distribution(stats.levy_stable(1.8, [-0.5, 0.0]))
    y = law.ppf([0.3, 0.8])
    np.testing.assert_allclose(law.cdf(y), [0.3, 0.8], rtol=1e-7)
    assert law.mean().tolist() == [0.0, 0.0] and law.std().tolist() == [np.inf, np.inf]
    with pytest.raises(ValueError, match="about a millisecond for each probability of levy_stable: too slow"):
        law.crps(y)
