"""simdup.fingerprint.collected: columns of facts about texts, also when Ctrl-C comes meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from simdup.fingerprint import collected as room
from simdup.fingerprint.collected import Collected
from simdup.fingerprint.sketch import of_each


@pytest.fixture
def three():
    """Three texts in two parts: their numbers, rows and sketches."""
    made = Collected(np.empty(0, np.int64), np.empty((0, 1), np.uint8), is_sketched=True)
    made.add(of_each([np.array([7], np.uint32)]), np.array([0]), np.array([[1]], np.uint8))
    values = [np.array([8, 9], np.uint32), np.array([], np.uint32)]
    made.add(of_each(values), np.array([1, 2]), np.array([[2], [3]], np.uint8))
    return made


def test_columns_and_sketches_come_back_in_any_order(three):
    numbers, rows = three.columns()

    assert (numbers.tolist(), rows.tolist()) == ([0, 1, 2], [[1], [2], [3]])
    sketches = three.sketches(np.array([2, 1, 0]))
    assert [each.tolist() for each in sketches] == [[], [8, 9], [7]]


def test_a_part_that_ctrl_c_cut_short_is_left_out(three):
    with pytest.raises(ValueError, match="zip"):
        three.add(None, np.array([3]))

    assert [each.tolist() for each in three.columns()] == [[0, 1, 2], [[1], [2], [3]]]


def test_columns_can_be_asked_for_again_after_ctrl_c(three, monkeypatch):
    real, joined = np.concatenate, []

    def interrupted(parts):
        if joined:
            raise KeyboardInterrupt
        joined.append(1)
        return real(parts)

    with monkeypatch.context() as patched:
        patched.setattr(room.np, "concatenate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            three.columns()

    assert [each.tolist() for each in three.columns()] == [[0, 1, 2], [[1], [2], [3]]]
