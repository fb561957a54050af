"""simdup.clean.terms: under which consents one file may be removed for another one."""

from __future__ import annotations

from itertools import product

import pytest

from simdup.clean.plan import Act, Consents
from simdup.clean.refusals import Consent, Refusal, Why
from simdup.clean.terms import Alike, Sort, Terms, alike_of, sort_of, terms
from simdup.records import Document, Kind, Source, Unread

PLAIN = Sort()
DOCX = Sort(is_plain=False, is_text=False)
PDF = DOCX._replace(is_for_print=True)
NEWEST = DOCX._replace(is_newest=True)

TEXT, FORMATS, NEAR = Consent.TEXT, Consent.FORMATS, Consent.NEAR


def document(text="t", encoding="utf-8", words=b"w" * 32, **fields):
    given = {"damaged": 0, "features": 900, "doubt": None} | fields
    return Document(
        Source("/a", 9, 0, 0, 1, 1), encoding, 1.0, bytes_digest=text.encode(),
        text_digest=text.encode(), features_digest=b"", words_digest=words, **given,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("file", "keep", "alike", "kind", "needs"),
    [
        (PLAIN, PLAIN, Alike.BYTES, Kind.IDENTICAL_BYTES, ()),
        (PLAIN, PLAIN, Alike.TEXT, Kind.IDENTICAL_TEXT, (TEXT,)),
        (PLAIN._replace(is_plain=False), PLAIN, Alike.TEXT, Kind.IDENTICAL_TEXT, (FORMATS,)),
        (DOCX, PLAIN, Alike.WORDS, Kind.SAME_WORDS, (FORMATS,)),
        (PDF, DOCX, Alike.WORDS, Kind.SAME_WORDS, (FORMATS,)),
        (DOCX, PDF, Alike.WORDS, Kind.SAME_WORDS, (FORMATS, Consent.HAND)),
        (NEWEST, DOCX, Alike.WORDS, Kind.SAME_WORDS, (FORMATS, Consent.NEWEST)),
        (NEWEST, NEWEST, Alike.WORDS, Kind.SAME_WORDS, (FORMATS,)),
        (PLAIN, PLAIN, Alike.WORDS, Kind.NEAR, (NEAR,)),
        (PLAIN, PLAIN, Alike.OTHER, Kind.NEAR, (NEAR,)),
        (PLAIN, DOCX, Alike.OTHER, Kind.NEAR, (FORMATS, NEAR)),
        (NEWEST, DOCX, Alike.OTHER, Kind.NEAR, (FORMATS, Consent.NEWEST, NEAR)),
        (DOCX, PDF, Alike.OTHER, Kind.NEAR, (FORMATS, NEAR, Consent.HAND)),
        (DOCX, PDF._replace(is_newest=True), Alike.OTHER, Kind.NEAR, (FORMATS, NEAR)),
    ],
)
def test_what_a_file_needs_to_be_removed_follows_from_both(file, keep, alike, kind, needs):
    assert terms(file, keep, alike, has_other_content=False) == Terms(kind, needs)


@pytest.mark.parametrize(
    ("file", "alike", "refusal"),
    [
        (PLAIN._replace(is_certain=False), Alike.TEXT, Refusal.UNCERTAIN),
        (DOCX._replace(is_certain=False), Alike.WORDS, Refusal.UNCERTAIN),
        (PLAIN._replace(is_short=True), Alike.OTHER, Refusal.SHORT),
        (PLAIN._replace(is_related=True), Alike.OTHER, Refusal.RELATED),
        (PLAIN, Alike.FOLDED, Refusal.NEAR_OTHER_CONTENT),
    ],
)
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_doubt_about_one_of_two_files_keeps_both(file, alike, refusal, is_kept):
    pair = (DOCX, file) if is_kept else (file, DOCX)

    asked = terms(*pair, alike, has_other_content=False)

    assert (asked.needs, asked.refusal) == ((), refusal)
    assert asked.lacking(Consents(text=True, formats=True, near=0.5, hand=True)) is refusal


@pytest.mark.parametrize(
    ("alike", "refusal"),
    [(Alike.WORDS, Refusal.OTHER_CONTENT), (Alike.OTHER, Refusal.NEAR_OTHER_CONTENT)],
)
def test_other_content_beside_the_text_keeps_a_file(alike, refusal):
    assert terms(DOCX, DOCX, alike, has_other_content=True).refusal is refusal


def test_only_missing_consents_are_named():
    asked = Terms(Kind.NEAR, (FORMATS, NEAR))

    assert asked.lacking(Consents()) is Refusal.NEAR_FORMATS
    assert asked.lacking(Consents(near=0.9)) is Refusal.NEAR_DOCUMENT
    assert asked.lacking(Consents(formats=True)) is Refusal.NEAR
    assert asked.lacking(Consents(formats=True, near=0.9)) is None


def test_an_act_on_bytes_takes_identical_bytes_only():
    for kind in (Kind.IDENTICAL_TEXT, Kind.SAME_WORDS, Kind.NEAR):
        assert Terms(kind).lacking(Consents(), Act.LINK) is Refusal.BYTES_ONLY
    assert Terms(Kind.IDENTICAL_BYTES).lacking(Consents(), Act.LINK) is None


def test_terms_that_ask_for_less_come_first_and_refusals_last():
    in_order = [
        Terms(Kind.IDENTICAL_BYTES),
        Terms(Kind.IDENTICAL_TEXT, (TEXT,)),
        Terms(Kind.SAME_WORDS, (FORMATS,)),
        Terms(Kind.SAME_WORDS, (FORMATS, Consent.NEWEST)),
        Terms(Kind.NEAR, (NEAR,)),
        Terms(Kind.NEAR, (FORMATS, NEAR)),
        Terms(Kind.SAME_WORDS, (FORMATS, Consent.HAND)),
        Terms(Kind.NEAR, refusal=Refusal.SHORT),
    ]

    in_reverse = in_order[::-1]
    assert sorted(in_reverse, key=lambda each: each.order) == in_order


@pytest.mark.parametrize(
    ("fields", "alike"),
    [
        ({}, Alike.BYTES),
        ({"text": "u"}, Alike.WORDS),
        ({"text": "u", "words": b"w" * 16 + b"s" * 16}, Alike.FOLDED),
        ({"text": "u", "words": b"w" * 20 + b"s" * 8 + b"w" * 4}, Alike.OTHER),
        ({"text": "u", "words": b"v" * 32}, Alike.OTHER),
    ],
)
def test_how_alike_documents_are_is_told_by_their_digests(fields, alike):
    assert alike_of(document(), document(**fields)) is alike


def test_the_sort_of_a_document_has_all_that_decides():
    about = {"unread": (Unread("notes", 1, "0" * 16),)}

    assert sort_of(document(**about)) == PLAIN
    assert sort_of(document(encoding="pdf", features=3)) == PDF._replace(is_short=True)
    assert sort_of(document(encoding=".doc"), is_newest=True).is_certain is False


def test_reasons_are_read_back_as_they_were_written():
    for refusal, detail in product(Refusal, ("", "0.912", "a: b")):
        if refusal is not Refusal.UNKNOWN:
            why = Why(refusal, detail)
            has_words_for_both = ": " in refusal.value and detail
            assert has_words_for_both or Why.read(str(why)) == why
    assert Why.read("some reason: of later") == Why(Refusal.UNKNOWN, "some reason: of later")
    assert str(Why.read("some reason")) == "some reason"


@pytest.mark.parametrize("words", ["near: only 0.912 alike", "near: other numbers: 4 / 3"])
def test_what_earlier_plans_say_of_near_files_is_still_a_question(words):
    assert Why.read(words).refusal.is_open
