"""Random trees and plans: no text is ever lost, and undo gives the very same tree."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import ACTS, part, plan, tree

from simdup.clean.apply import apply
from simdup.clean.plan import Act, Plan
from simdup.clean.undo import undo

pytestmark = pytest.mark.slow

TEXTS = tuple(
    f"Page {number} of the ledger: cod, tar, rope, now and then a crate of oranges.\n" * 3
    for number in range(3)
)
FOLDERS = ("", "in", "In", "in/deep", "far")
NAMES = ("a", "A", "é.txt", "b\n.txt", "\udcff", "-rf", "x" * 240)

files = st.tuples(
    st.sampled_from(FOLDERS),
    st.sampled_from(NAMES),
    st.sampled_from(("file", "file", "file", "hard link", "symlink")),
    st.integers(0, 2),
    st.sampled_from((0o644, 0o600, 0o444)),
    st.sampled_from((1_000_000_001, 1_700_000_000_123_456_789)),
)
trees = st.lists(files, min_size=2, max_size=14, unique_by=lambda each: each[:2])
choices = st.lists(
    st.tuples(st.integers(0, 99), st.sampled_from((Act.TRASH, Act.MOVE, Act.LINK))),
    min_size=14,
    max_size=14,
)


def build(root, wanted):
    """Make a tree, and return its regular files by their text."""
    made = {}
    for folder, name, kind, text, mode, mtime_ns in wanted:
        path = root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        others = made.get(text, [])
        if kind == "symlink":
            path.symlink_to(others[0] if others else "nowhere")
            continue
        if kind == "hard link" and others:
            path.hardlink_to(others[-1])
        else:
            path.write_text(TEXTS[text])
            path.chmod(mode)
            os.utime(path, ns=(mtime_ns, mtime_ns))
        made.setdefault(text, []).append(path)
    for folder in sorted({each[0] for each in wanted}, key=len, reverse=True):
        os.utime(root / folder, ns=(5, 6_000_000_007))
    return made


def planned(root, made, chosen):
    """A plan in which one name of each text stays, and some of the others go."""
    pairs, acts, chosen = [], [], list(chosen)
    for paths in made.values():
        kept = paths[chosen[0][0] % len(paths)]
        for path in paths:
            number, act = chosen.pop()
            if path != kept and number % 4:
                pairs.append((str(kept), str(path)))
                acts.append(act)
            chosen.insert(0, (number, act))
    whole = plan(*pairs, roots=[str(root)])
    actions = (replace(each, act=act) for each, act in zip(whole.actions, acts, strict=True))
    return Plan(tuple(actions), (), whole.header)


def contents(*roots):
    """How often each text is there, under how many files; hard links count as one."""
    found = {}
    for root in roots:
        for path in Path(root).rglob("*"):
            if path.is_file() and not path.is_symlink() and path.suffix != ".trashinfo":
                found[path.stat().st_ino] = path.read_bytes()
    return Counter(found.values())


@settings(max_examples=60)
@given(trees, choices)
def test_no_text_is_lost_and_undo_gives_the_same_tree(wanted, chosen):
    with TemporaryDirectory() as folder:
        root, to, home = (Path(os.path.realpath(folder), name) for name in ("root", "to", "home"))
        root.mkdir()
        made = build(root, wanted)
        whole, before = planned(root, made, chosen), tree(root)
        with (
            patch.dict(os.environ, {"XDG_DATA_HOME": str(home)}),
            pytest.MonkeyPatch.context() as patched,
        ):
            part(patched, re.compile("/to/.*far").search)
            outcome = apply(whole, ACTS, journal=Path(folder, "journal"), to=to)
            check_kept(whole, outcome, before)
            if outcome.journal is not None:
                back = undo(outcome.journal, apply=True, journal=Path(folder, "back"))
                assert (back.done, back.refused) == (outcome.done, [])
        assert tree(root) == before
        assert not contents(to, home)


def check_kept(whole, outcome, before):
    """Every text is there under the kept name, nothing else changed, and the sum is right."""
    assert outcome.planned == outcome.done + len(outcome.refused)
    refused = {action.file.path for action, _ in outcome.refused}
    gone = {each.file.path for each in whole.actions} - refused
    for each in whole.actions:
        assert Path(each.keep.path).read_bytes() == before[each.keep.path][1][0]
        is_linked = each.act is Act.LINK and each.file.path in gone
        assert os.path.lexists(each.file.path) == (is_linked or each.file.path in refused)
    for path in set(before) - gone:
        assert os.path.lexists(path)
