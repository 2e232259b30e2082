r"""Integrals over the upper tail of standard laws that are symmetric about 0: what laws cut on both sides are made of.

With :math:`S(u) = P(U > u)`: :math:`\int_u^\infty S`, :math:`\int_u^\infty S^2` and
:math:`\int_u^\infty (v-u)\,S(v)\,dv`, each relative to a tail that is common to a row, so that nothing underflows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, erfcx, ndtr, spence, stdtr

from ..._checks import Array
from ...numerics.factorials import log_half_step
from ...numerics.tails import HALF_LOG_2PI, ROOT_2, Mask
from ..base import Distribution
from ..families.logistic import Logistic
from ..families.normal import Normal
from ..families.student_t import StudentT, log_density

ROOT_PI = np.sqrt(np.pi)
SMALL = 0.02  # below, series in exp(-u) keep the digits that differences lose
_POWERS = np.arange(10)


@dataclass(frozen=True, eq=False)
class UpperTails:
    """S(u), the integrals of S and S² from u on, and of (v - u) S(v); times w, w, w² and w, a weight of the row."""

    s: Array
    first: Array
    square: Array
    second: Array


Rule = Callable[[Distribution, Array, Array], UpperTails]


def _normal(law: Distribution, u: Array, top: Array) -> UpperTails:
    """Weight exp(top² / 2)."""
    fall = np.exp(0.5 * (top - u) * (top + u))
    s = np.where(u > 0, 0.5 * erfcx(np.maximum(u, 0.0) / ROOT_2) * fall, ndtr(-u))
    wide = np.where(u > 0, 0.5 * erfcx(np.maximum(u, 0.0)) * np.square(fall), ndtr(-ROOT_2 * u))
    density = fall * np.exp(-HALF_LOG_2PI)
    first = density - u * s
    return UpperTails(s, first, s * (2 * density - u * s) - wide / ROOT_PI, 0.5 * (s - u * first))


def _logistic(law: Distribution, u: Array, top: Array) -> UpperTails:
    """Weight exp(top); x = exp(-u)."""
    x, fall = np.exp(-u), np.exp(top - u)
    small, safe = x < SMALL, np.maximum(x, SMALL)
    log = np.where(x < 1e-8, fall, fall * (np.log1p(safe) / safe))
    near = np.minimum(x, SMALL)
    log = np.where(small, fall * _series(near, 1 / (1 + _POWERS)), log)
    square = np.where(
        small, _series(near, (1 + _POWERS) / (2 + _POWERS)), (np.log1p(safe) - safe / (1 + safe)) / safe**2
    )
    second = np.where(small, _series(near, 1 / (1 + _POWERS) ** 2), -spence(1 + safe) / safe)
    return UpperTails(fall / (1 + x), log, square * np.square(fall), second * fall)


def _series(x: Array, coefficients: Array) -> Array:
    """c0 - c1 x + c2 x² and so on."""
    total = np.zeros(x.shape)
    for c in coefficients[::-1]:
        total = c - x * total
    return total


def _student(law: Distribution, u: Array, top: Array) -> UpperTails:
    """Weight 1. No first integral for df <= 1, no second for df <= 2."""
    df = law.df  # type: ignore[attr-defined]
    s = stdtr(df, -u)
    pull = np.exp(log_density(df, u)) * (df + np.square(u)) / (df - 1)
    spread = np.exp(2 * log_half_step(df / 2) - log_half_step(df - 0.5)) * 2 * np.sqrt(df) / (df - 1) / ROOT_PI
    beyond = 0.5 * betainc(df - 0.5, 0.5, df / (df + np.square(u)))
    beyond = np.where(u > 0, beyond, 1 - beyond)
    squares = df * ((df - 1) / (df - 2) * stdtr(df - 2, -u * np.sqrt(np.maximum(df - 2, 0.0) / df)) - s)
    return UpperTails(
        s, pull - u * s, s * (2 * pull - u * s) - spread * beyond, 0.5 * squares - u * pull + 0.5 * u * u * s
    )


RULES: dict[type, Rule] = {Normal: _normal, Logistic: _logistic, StudentT: _student}


def upper_tails(law: Distribution, u: Array, top: Array | float = 0.0) -> UpperTails:
    """Tails of the standard laws at u, (n,), relative to the tail at ``top`` >= 0; nothing is left beyond inf."""
    inside = u < np.inf
    with np.errstate(all="ignore"):
        tails = RULES[type(law)](law, np.where(inside, u, 1.0), np.asarray(top))
    return UpperTails(*(np.where(inside, part, 0.0) for part in vars(tails).values()))


def has_tails(law: Distribution, *, second: bool = False) -> Mask:
    """Rows whose integrals have a closed form, of second moments too where these are wanted."""
    if isinstance(law, StudentT):
        return (law.df > (2.05 if second else 1.05)) & (law.df < 1e4)
    return np.full(len(law), type(law) in RULES)
