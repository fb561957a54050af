"""Random trees, scanned and cleaned by random rules: every text, or one alike, stays.

Files, folders and journals have names of any bytes: nothing that is written about them is refused
when it is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import tree

from simdup.clean.apply import apply
from simdup.clean.journal import read_journal
from simdup.clean.plan import Act, Consents, parsed_plan, plan_lines
from simdup.clean.planning import Wishes, make_plan
from simdup.clean.protection import Protection
from simdup.clean.rules import Rules, rule_of
from simdup.clean.undo import undo
from simdup.files.scan import scan
from simdup.match.verify import exact_similarities
from simdup.recipe import Recipe
from simdup.report.clean import render
from simdup.report.json_csv import render_json
from simdup.report.load import load

pytestmark = pytest.mark.slow

FLOOR = 0.8
FOLDERS = ("", "in", "in/deep", "other")

raw = st.one_of(
    st.binary(max_size=20), st.text(max_size=6).map(lambda t: t.encode("utf-8", "replace"))
)
# Not hidden, and neither a path nor no name at all.
names = raw.map(lambda name: os.fsdecode(b"n" + name.translate(None, b"\0/")))
files = st.tuples(
    st.sampled_from(FOLDERS),
    st.one_of(st.sampled_from(("a.txt", "A.txt", "b (1).txt", "c", "\udcff.txt")), names),
    st.integers(0, 2),
    st.sampled_from(("", "", "utf-16", "edited", "edited twice", "lines")),
)
trees = st.lists(files, min_size=2, max_size=10, unique_by=lambda each: each[:2])
rules = st.lists(
    st.sampled_from(
        (
            *("newest", "oldest", "longest", "largest", "deepest", "shallowest"),
            *("original-name", "first"),
        )
    ),
    max_size=3,
)
consents = st.builds(
    Consents,
    text=st.booleans(),
    formats=st.booleans(),
    near=st.sampled_from((None, FLOOR)),
    link=st.just(value=True),
    permanently=st.just(value=True),
)
acts = st.sampled_from((Act.TRASH, Act.MOVE, Act.LINK, Act.DELETE))


def text_of(number, variant):
    words = [f"w{number}x{place}" for place in range(120)]
    if variant.startswith("edited"):
        words[5] = "edited"
    if variant == "edited twice":
        words[60] = "again"
    return " ".join(words) + "\n" + "end\n"


def build(root, wanted):
    """Make a tree, and return the text of each file."""
    texts = {}
    for order, (folder, name, number, variant) in enumerate(wanted):
        path = root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts[path] = text_of(number, variant)
        data = texts[path].replace("\n", "\r\n" if variant == "lines" else "\n")
        path.write_bytes(data.encode("utf-16" if variant == "utf-16" else "utf-8"))
        os.utime(path, ns=(0, 1_700_000_000_000_000_000 + order % 3 * 10**9))
    return texts


@settings(max_examples=40)
@given(trees, rules, consents, acts, st.sampled_from((None, *FOLDERS[1:])), names)
def test_every_text_or_one_alike_stays_and_undo_gives_the_same_tree(  # noqa: PLR0917
    wanted, preferred, allowed, act, protected, odd
):
    with TemporaryDirectory() as folder:
        here = Path(os.path.realpath(folder))
        root, to, home, journal = (here / f"{odd}{n}" for n in range(4))
        root.mkdir()
        texts = build(root, wanted)
        is_protected = protected is not None and (root / protected).exists()
        protection = Protection((str(root / protected),) if is_protected else ())
        wishes = Wishes(Rules([*map(rule_of, preferred)]), protection, allowed, act, (odd,))
        result = load("\n".join(render_json(scan([root]))).encode(), odd)
        lines = plan_lines(make_plan(result, wishes, odd, "00" * 16))
        plan = parsed_plan([line.encode() for line in lines], odd)
        assert bool([*render(plan)]) >= bool(plan.actions)
        before, kept = tree(root), tree(root / (protected or ""))
        with patch.dict(os.environ, {"XDG_DATA_HOME": str(home)}):
            outcome = apply(plan, allowed, journal=journal, to=to)
            assert outcome.refused == []
            assert outcome.done == len(plan.actions)
            check_texts(texts, allowed)
            assert not is_protected or tree(root / protected) == kept
            assert outcome.journal is None or not read_journal(outcome.journal).damaged
            if outcome.journal is not None and act is not Act.DELETE:
                assert undo(outcome.journal, apply=True, journal=Path(folder, "back")).code == 0
                assert tree(root) == before


def check_texts(texts, allowed):
    """Each text that was there is still there, or one so similar as was allowed."""
    left = sorted({text for path, text in texts.items() if os.path.lexists(path)})
    for text in set(texts.values()) - set(left):
        assert allowed.near is not None
        others = np.arange(len(left))
        alike = exact_similarities([*left, text], others, others * 0 + len(left), Recipe())
        assert alike.max() >= allowed.near
