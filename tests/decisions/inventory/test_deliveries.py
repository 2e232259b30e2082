"""Deliveries that a plan tells apart: from the order on, until they join others or leave."""

from __future__ import annotations

import numpy as np

from calibrant.decisions.inventory.deliveries import deliveries, held, pooled, there


def expiries(pools):
    return [[each.expires for each in pool] for pool in pools]


def test_one_by_one():
    all_ = deliveries(np.array([[3.0, 0.0], [0.0, 0.0]]), [0, 1, 2], days=4, lead_time=1, shelf_life=2)
    assert expiries(held(all_, 0)) == [[0]] and expiries(there(all_, 0)) == [[0], [2]]
    assert expiries(held(all_, 1)) == [[2]] and expiries(there(all_, 1)) == [[2], [3]]
    assert expiries(held(all_, 3)) == [[3], [4]]


def test_orders_that_come_too_late_are_left_out():
    assert len(deliveries(np.zeros((1, 3)), [0, 1, 2], days=3, lead_time=2, shelf_life=2)) == 1


def test_those_that_leave_together_are_one_once_they_have_come():
    all_ = pooled(deliveries(np.ones((1, 5)), range(4), days=9, lead_time=2, shelf_life=4), 2)
    assert [each.leaves for each in all_] == [0, 2, 2, 4, 4, 6, 6, 8, 8]
    assert expiries(held(all_, 0)) == [[0], [1, 2], [3], [4]]  # the last is on its way
    assert expiries(there(all_, 0)) == [[0], [1, 2], [3], [4], [5]]
    assert expiries(held(all_, 1)) == [[1, 2], [3, 4], [5]]
    assert expiries(held(all_, 3)) == [[3, 4], [5, 6], [7]]
