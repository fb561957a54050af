"""simdup.clean.decide: which files of one group go, decided without looking at any file."""

from __future__ import annotations

import pytest

from simdup.clean.candidates import Candidate
from simdup.clean.decide import Likeness, decide_group
from simdup.clean.plan import Consents, FileId
from simdup.clean.refusals import Refusal, Why
from simdup.clean.rules import RuleKey
from simdup.records import Document, Kind, Source

ALL = Consents(text=True, formats=True, near=0.5)


def file(place, text="t", content="", encoding="utf-8", stays=None, *, different=(), **fields):
    """A file of a group; the lower its place, the rather it is kept."""
    inode, path = ord(place), f"/{place}"
    source = Source(path, 9, 0, 0, 1, inode)
    digests = (content or place).encode(), text.encode()
    given = {"damaged": 0, "features": 900} | fields
    document = Document(
        source, encoding, 1.0, bytes_digest=digests[0], text_digest=digests[1],
        features_digest=b"", words_digest=text.encode(), **given,
    )  # fmt: skip
    content = document.words_digest, document.is_whole_text
    known = FileId(path, 1, inode, 9, 0, 0, *digests, 1, *content)
    return Candidate(
        document,
        known,
        RuleKey((inode,), ()),
        stays and Why(stays),
        path,
        different=frozenset(different),
    )


def decided(*pool, alike=None, copy_of=None, **consents):
    """What goes, for what and how; and what is left, and why."""
    values = {text.encode(): Likeness(value) for text, value in (alike or {}).items()}
    decision = decide_group(pool, values, copy_of or {}, Consents(**consents))
    gone = {
        each.file.id.path[1:]: (each.keep.id.path[1:], each.file.id.kind_with(each.keep.id))
        for each in decision.removals
    }
    return gone, {each.file.id.path[1:]: each.why.refusal for each in decision.left}


def test_copies_of_a_kept_file_go_for_it_if_its_text_is_kept_in_other_bytes_too():
    gone, left = decided(file("a"), file("b"), file("c", content="b"))

    assert gone == {"c": ("b", Kind.IDENTICAL_BYTES)}
    assert left == {"a": Refusal.PREFERRED}


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_of_several_refusals_the_one_that_the_lesser_consent_lifts_is_given(order):
    first, second = (file(place, encoding="html" if place == "a" else "utf-8") for place in order)

    _, left = decided(first, second, file("c"))

    assert left["c"] == Refusal.TEXT
    assert Refusal.WORDS in left.values()


def test_what_is_preferred_is_left_first_unless_it_goes_or_something_goes_for_it():
    one, other = file("a"), file("b", "other")

    assert list(decided(one, other)[1].items()) == [("a", Refusal.PREFERRED), ("b", Refusal.NEAR)]
    assert decided(one, other, alike={"other": 0.9}, near=0.8) == ({"b": ("a", Kind.NEAR)}, {})
    kept = file("c", content="a", stays=Refusal.PROTECTED)
    assert decided(one, other, kept) == ({"a": ("c", Kind.IDENTICAL_BYTES)}, {"b": Refusal.NEAR})


def test_a_group_of_which_one_file_or_none_is_left_is_no_group():
    assert decided() == decided(file("a")) == ({}, {})


def test_a_similar_file_goes_at_the_floor_and_not_below():
    one, other = file("a"), file("b", "other")

    assert decided(one, other, alike={"other": 0.8}, near=0.8)[0] == {"b": ("a", Kind.NEAR)}
    assert decided(one, other, alike={"other": 0.75}, near=0.8) == (
        {},
        {"a": Refusal.PREFERRED, "b": Refusal.BELOW},
    )


def test_a_similar_file_in_other_bytes_goes_too_and_is_not_left_besides():
    pool = file("a"), file("b", "other"), file("c", "other")

    gone, left = decided(*pool, alike={"other": 0.9}, near=0.8)

    assert gone == dict.fromkeys("bc", ("a", Kind.NEAR))
    assert left == {}


def test_a_similar_file_is_refused_for_the_reason_of_the_file_that_is_preferred():
    pool = file("a", encoding="html"), file("b"), file("c", "other", damaged=1)

    # No consent changes that, so none is named.
    assert decided(*pool, near=0.8)[1]["c"] == Refusal.UNCERTAIN
    assert decided(*pool, near=0.8, formats=True)[1]["c"] == Refusal.UNCERTAIN


def test_a_similar_file_that_is_protected_is_left_for_that_reason():
    pool = file("a"), file("b", "other", stays=Refusal.PROTECTED)

    assert decided(*pool, alike={"other": 0.9}, near=0.8)[1]["b"] is Refusal.PROTECTED
    assert decided(*pool)[1]["b"] is Refusal.PROTECTED


def test_a_file_stays_near_one_that_you_called_different_from_its_copy():
    copy = file("c", "other", encoding="html", different=[b"t"])
    pool = file("a"), file("b", "other"), copy

    gone, left = decided(*pool, alike={"other": 0.9}, near=0.8, formats=True)

    assert gone == {"c": ("b", Kind.SAME_WORDS)}
    assert left == {"a": Refusal.PREFERRED}
