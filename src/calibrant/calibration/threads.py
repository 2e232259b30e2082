"""One thread for linear algebra on small matrices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # comes with scikit-learn


@cache
def _libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which BLAS uses one thread: the matrices of a fit are small, and threads would wait for each other.

    It also makes sums, and so fits, the same on every machine with one BLAS.
    """
    before = [(library, library.num_threads) for library in _libraries()]
    several = [(library, threads) for library, threads in before if threads not in (None, 1)]
    for library, _ in several:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, threads in several:
            library.set_num_threads(threads)
