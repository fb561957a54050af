"""simdup.clean.narrow: plans that are larger than anybody means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simdup.clean.plan import Act, Action, FileId, Header, Plan
from simdup.clean.planning import excess
from simdup.records import Kind

FILE = FileId("/f", 1, 2, 3, 4, 5, b"b" * 16, b"t" * 16)
ACTION = Action(2, 1, FILE, Act.TRASH, FILE, Kind.IDENTICAL_BYTES, None, "")


def plan(groups, found=0):
    """A plan whose groups lose so many files, in a scan of `found` files."""
    actions = [
        replace(ACTION, group=group) for group, size in enumerate(groups, 1) for _ in range(size)
    ]
    header = Header("", "", "", (), (), found)
    return Plan(tuple(actions), (), header)


@pytest.mark.parametrize(
    ("groups", "found", "words"),
    [
        ([20], 41, ""),
        ([21], 99, "21 files of group 1 would go, more than --most 20"),
        ([1, 21], 99, "21 files of group 2 would go, more than --most 20"),
        ([1] * 1000, 2000, ""),
        ([1] * 1001, 3000, "1,001 files would go, more than --most-files 1,000"),
        ([10, 10, 10], 60, ""),
        ([10, 10, 11], 60, "31 of the 60 files of the scan would go"),
        ([10, 9], 20, ""),
        ([], 0, ""),
    ],
)
def test_a_plan_that_is_unusually_large_says_so(groups, found, words):
    assert excess(plan(groups, found)) == words


def test_the_limits_are_the_users():
    assert excess(plan([3]), most=2) == "3 files of group 1 would go, more than --most 2"
    assert excess(plan([3]), most=99, most_files=2)
    assert not excess(plan([99]), most=99, most_files=99)
