"""Names of any bytes: nothing that is written about them is refused when it is read."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import ACTS, TEXT, tree

from simdup.clean.apply import apply
from simdup.clean.journal import read_journal
from simdup.clean.plan import Act, parsed_plan, plan_lines
from simdup.clean.planning import Wishes, make_plan
from simdup.clean.protection import Protection
from simdup.clean.undo import undo
from simdup.files.scan import scan
from simdup.report.clean import render
from simdup.report.json_csv import render_json
from simdup.report.load import load

raw = st.one_of(
    st.binary(max_size=20), st.text(max_size=6).map(lambda t: t.encode("utf-8", "replace"))
)
# Not hidden, and neither a path nor no name at all.
names = raw.map(lambda name: os.fsdecode(b"n" + name.translate(None, b"\0/")))


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(names, min_size=6, max_size=6, unique=True), st.sampled_from((Act.TRASH, Act.MOVE)))
def test_a_plan_and_a_journal_with_any_names_are_read_and_undone(odd, act):
    root, one, two, file, to, journal = odd
    with TemporaryDirectory() as base, patch.dict(os.environ, {"XDG_DATA_HOME": f"{base}/data"}):
        for folder in (one, two):
            os.makedirs(os.path.join(base, root, folder))
            for number in range(3):
                path = Path(base, root, folder, f"{file}{number}")
                path.write_text(TEXT * (number + 1))
        before = tree(os.path.join(base, root))
        result = scan([os.path.join(base, root)])
        result = load("\n".join(render_json(result)).encode(), "found.json")
        protection = Protection(names=(f"{to}?",))
        made = make_plan(
            result, Wishes(protection=protection, act=act, typed=odd), odd[0], "0" * 32
        )

        read = parsed_plan([line.encode() for line in plan_lines(made)], "p")
        assert [*render(read)]
        outcome = apply(read, ACTS, journal=os.path.join(base, journal), to=os.path.join(base, to))

        assert (outcome.done, outcome.refused) == (3, [])
        assert read_journal(outcome.journal).damaged == []
        assert undo(outcome.journal, apply=True, journal=os.path.join(base, "back")).done == 3
        assert tree(os.path.join(base, root)) == before
