"""Settings and fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for libraries that are loaded later
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that tests do ask for sleep while they wait
threadpool_limits(limits=1)  # for those that are loaded already: the test workers are the parallelism

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nobody looks for garbage among tests that are collected, and seldom later: they are there to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(50_000, 50, 1_000)
        gc.enable()


@pytest.fixture(autouse=True)
def floating_point_errors() -> Iterator[None]:
    """Warnings of NumPy stay warnings, which are errors here: some packages turn them off for good when loaded."""
    with np.errstate():
        yield


@pytest.fixture
def laws_only() -> Iterator[None]:
    """Fits do not look back at unseen rows, which takes longer than they do, where only their laws are looked at."""
    from calibrant.calibration.pit_watch import unwatched

    with unwatched():
        yield


@pytest.fixture
def plain_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages have no pictures, which take longer than all else, where only their words are looked at."""
    monkeypatch.setattr("calibrant.report.svg.picture", lambda *_, **__: "<figure></figure>")


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with the same numbers in every test, whatever ran before."""
    return np.random.default_rng(20180710)
