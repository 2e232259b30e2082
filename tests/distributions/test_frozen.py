"""A law stays what it was, whatever happens later to the arrays that it was made of."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from calibrant import Normal, StudentT, as_distribution
from calibrant._checks import own_array
from tests.common.examples import LAWS


@pytest.mark.parametrize("name", LAWS)
def test_arrays_that_are_written_to_later_change_no_law(name, rng):
    example = LAWS[name](rng)
    names = [given for given in inspect.signature(type(example).__init__).parameters if given != "self"]
    given = {name: getattr(example, name) for name in names}
    given = {name: v() if inspect.ismethod(v) else v for name, v in given.items()}  # NegativeBinomial.mean
    given = {name: np.array(v) if isinstance(v, np.ndarray) and v.dtype.kind == "f" else v for name, v in given.items()}
    law = type(example)(**given)
    before = law.quantiles([0.1, 0.5, 0.9])
    for value in given.values():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            value[...] = 99.0
    assert_array_equal(law.quantiles([0.1, 0.5, 0.9]), before)


def test_arrays_of_other_libraries_and_views():
    frame = pd.DataFrame({"mean": [0.0, 1.0], "std": [1.0, 1.0]})
    column, table, masked = pd.Series([0.0, 1.0]), np.array([[0.0], [1.0]]), np.ma.array([0.0, 1.0])
    whole = np.array([0.0, 5.0, 1.0])
    read_only = whole[::2]
    read_only.flags.writeable = False  # but what it is a view of can be written to
    laws = [as_distribution(frame), *(Normal(loc, 1.0) for loc in (column, table, masked, read_only))]
    laws += [as_distribution(stats.norm(whole[::2])), as_distribution((whole[::2], 1.0))]
    frame.loc[:, "mean"] = 99.0
    column.iloc[:] = 99.0
    table[:], masked[:], whole[:] = 99.0, 99.0, 99.0
    for law in laws:
        assert law.median().tolist() == [0.0, 1.0]


def test_nothing_is_copied_twice(rng):
    law = StudentT(rng.normal(size=5), 1.0, 4.0)
    again = StudentT(law.loc, law.scale, law.df)
    for name in ("loc", "scale", "df"):
        assert np.shares_memory(getattr(law, name), getattr(again, name))
        assert np.shares_memory(getattr(law[1:3], name), getattr(law, name))
    assert law.scale.strides == (0,)  # a scalar is kept once
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    assert own_array(frozen, "loc") is frozen
    with pytest.raises(ValueError, match="read-only"):
        law.loc[0] = 99.0


def test_tensors_that_are_written_to_later_change_no_law():
    torch = pytest.importorskip("torch")
    for kind in (torch.float64, torch.float32):
        loc = torch.zeros(2, dtype=kind)
        law = Normal(loc, 1.0)
        loc[:] = 99.0
        assert law.median().tolist() == [0.0, 0.0]
