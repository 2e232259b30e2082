"""NumPy's warnings of numbers too large or too small turned off, without what ``np.errstate`` takes."""

from __future__ import annotations

from contextvars import Context

import numpy as np


def _context(**kinds: str) -> Context:
    """A context in which NumPy is silent; it keeps its error state in a context variable."""
    context = Context()
    context.run(np.seterr, **kinds)  # type: ignore[arg-type]
    return context


# ``OVERFLOWS.copy().run(function, ...)``: entering errstate takes ten microseconds or more where the cache is cold.
# A copy, for a context can be entered once at a time. For plain work on arrays: what a caller has set is not seen.
OVERFLOWS = _context(over="ignore", under="ignore")
NOT_NUMBERS = _context(over="ignore", under="ignore", invalid="ignore", divide="ignore")
