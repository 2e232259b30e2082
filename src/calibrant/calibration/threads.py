"""One thread for linear algebra on small matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # comes with scikit-learn


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Context in which BLAS uses one thread: the matrices of a fit are small, and threads would wait for each other.

    It also makes sums, and so fits, the same on every machine with one BLAS.
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]
