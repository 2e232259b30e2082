"""Arrays in files: texts are made of letters that exist."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.store.archive import _array, _npy


@pytest.mark.parametrize("order", ["<", ">"])
def test_letters_that_do_not_exist(order):
    texts = np.array(["ab", "ü𝄞"], dtype=f"{order}U2")
    member = _npy(texts)
    assert _array(member).tolist() == texts.tolist()
    for letter in (0x110000, 0x7FFFFFFF, 0xFFFFFFFF):
        forged = member[:-4] + np.array([letter], dtype=f"{order}u4").tobytes()
        with pytest.raises(ValueError, match="letters that do not exist"):
            _array(forged)
    assert _array(_npy(np.array([], dtype="U1"))).size == 0
