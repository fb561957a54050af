"""simdup.findings.exports: which files were made for print from another file of their group."""

from __future__ import annotations

from math import sqrt

import pytest

from simdup.findings.exports import RUNNING, for_print, pair_key, pairs_to_compare
from simdup.findings.versions import CLEARLY_LATER_NS
from simdup.recipe import Recipe
from simdup.records import Document, Group, Kind, Member, Source

LATER = CLEARLY_LATER_NS


def member(path, features=1000, words=b"", *, similarity=None, time=0, bits=b"\0" * 32):
    form = path.rpartition(".")[2].replace("txt", "utf-8")
    digests = path.encode(), path.encode(), b""
    document = Document(
        Source(path, 9, time, 0, 0, 0), form, 1.0, 0, features, *digests,
        words_digest=(words or path.encode()).ljust(16, b"."),
    )  # fmt: skip
    return Member(document, bits, Kind.NEAR, 0, similarity)


def alike(common, one, other):
    """The similarity of texts with so many features, of which so many are common."""
    return common / sqrt(one * other)


def judged(*members, known=None, recipe=Recipe()):  # noqa: B008
    made, older = for_print(Group(1, Kind.NEAR, 0, members), known or {}, recipe)
    names = [each.document.path for each in members]
    return [
        {name for name, is_so in zip(names, which, strict=True) if is_so} for which in (made, older)
    ]


@pytest.mark.parametrize("edited", ["a.docx", "a.odt", "a.txt", "a.html"])
def test_a_pdf_with_the_same_words_was_made_from_the_file_that_can_be_edited(edited):
    pair = member(edited, words=b"w"), member("z.pdf", words=b"w")

    assert judged(*pair) == judged(*pair[::-1]) == [{"z.pdf"}, set()]


def test_formats_that_can_be_edited_and_several_pdfs_are_not_made_from_each_other():
    assert judged(member("a.docx", words=b"w"), member("a.odt", words=b"w")) == [set(), set()]
    assert judged(member("a.pdf", words=b"w"), member("b.pdf", words=b"w")) == [set(), set()]


@pytest.mark.parametrize(
    ("docx", "pdf", "common", "is_made"),
    [
        (1000, 1000, 951, True),
        (1000, 1000, 949, False),
        (1000, 1050, 1000, True),
        (1000, 1060, 1000, False),
        (100, 100 + RUNNING, 100, True),
        (100, 101 + RUNNING, 100, False),
        (100, 100 + RUNNING, 94, False),
        (200, 100, 100, False),
    ],
)
def test_almost_all_of_both_texts_stands_in_the_other_but_for_headers(docx, pdf, common, is_made):
    pair = member("a.docx", docx), member("a.pdf", pdf, similarity=alike(common, docx, pdf))

    assert judged(*pair) == [{"a.pdf"} if is_made else set(), set()]


@pytest.mark.parametrize(("docx", "pdf", "older"), [(0, LATER, "a.docx"), (LATER, 0, "a.pdf")])
def test_if_more_differs_the_one_that_was_changed_later_is_newer(docx, pdf, older):
    pair = member("a.docx", time=docx), member("a.pdf", time=pdf, similarity=0.8)

    assert judged(*pair) == [set(), {older}]


def test_times_say_nothing_of_files_with_other_names_or_about_the_same_time():
    first = member("a.docx")

    assert judged(first, member("b.pdf", time=LATER, similarity=0.8)) == [set(), set()]
    assert judged(first, member("a.pdf", time=LATER - 1, similarity=0.8)) == [set(), set()]


def test_without_a_similarity_nothing_is_said():
    first, docx, pdf = member("a.txt"), member("b.docx", similarity=1), member("b.pdf", time=LATER)

    assert judged(first, docx, pdf) == [set(), set()]
    known = {pair_key(docx.document, pdf.document): 0.99}
    assert judged(first, docx, pdf, known=known) == [{"b.pdf"}, set()]


def test_where_features_weigh_differently_the_similarity_itself_decides():
    pair = member("a.docx", 100), member("a.pdf", 200, similarity=0.95)

    assert judged(*pair, recipe=Recipe("words")) == [{"a.pdf"}, set()]


def test_only_pairs_that_may_be_alike_and_have_no_figure_are_compared():
    first = member("a.docx")
    others = member("b.docx"), member("b.pdf"), member("c.pdf", bits=b"\xff" * 32)
    group = Group(1, Kind.NEAR, 0, (first, *others))

    pairs = [tuple(each.path for each in pair) for pair in pairs_to_compare(group)]

    assert pairs == [("b.pdf", "b.docx")]
