"""Numbers as words say them."""

from __future__ import annotations

import math


def amount(value: float) -> str:
    """Two or three digits that tell, without an exponent where people write none.

    >>> [amount(value) for value in (3.217, 0.0456, 1234.6, 12.3, 4.2e-7, 5.1e9)]
    ['3.2', '0.046', '1,235', '12', '4.2e-07', '5.1e+09']
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2g}"
    return f"{value:,.{max(0, 1 - math.floor(math.log10(abs(value))))}f}"


def times(factor: float) -> str:
    """A factor.

    >>> times(1.803), times(1.034), times(12.7)
    ('1.8×', '1.03×', '13×')
    """
    digits = 0 if factor >= 9.95 else 1 if factor >= 1.095 else 2
    return f"{factor:.{digits}f}×"


def percent(share: float, digits: int = 0) -> str:
    """A share of 1.

    >>> percent(0.567), percent(0.0123, 1)
    ('57 %', '1.2 %')
    """
    return f"{100 * share:.{digits}f} %"


def points(share: float) -> str:
    """A difference of shares, in percentage points.

    >>> points(0.0312), points(0.01)
    ('3.1 percentage points', '1.0 percentage points')
    """
    return f"{100 * share:.1f} percentage points"
