"""simdup.findings.keeper: which of several files a person would keep."""

from __future__ import annotations

import pytest

from simdup import Document, Source
from simdup.findings.keeper import NS_OF_A_MINUTE, places, ranks
from simdup.findings.marks import is_name_of_copy


def document(path, minute=0, archive=None):
    source = Source(path, 1, minute * NS_OF_A_MINUTE, 0, 0, 0, archive=archive)
    return Document(source, "utf-8", 1.0, 0, 9, b"", b"", b"")


def in_order(*documents):
    """The paths of the documents by rank."""
    return [documents[place].path for place in ranks(documents).argsort().tolist()]


def test_the_oldest_comes_first_and_members_of_archives_come_last():
    archive = Source("z.zip", 1, 0, 0, 0, 0)

    assert in_order(document("z/m", 1, archive), document("c", 3), document("b", 2)) == [
        *("b", "c", "z/m")
    ]


def test_of_equally_old_ones_a_copy_is_later_then_a_longer_path_then_the_path():
    paths = ["b", "c", "folder/a", "a copy", "copy/d", "é"]

    assert in_order(*map(document, paths)) == ["b", "c", "é", "folder/a", "a copy", "copy/d"]


def test_seconds_do_not_count():
    later = document("a")
    later = later._replace(source=later.source._replace(mtime_ns=NS_OF_A_MINUTE - 1))

    assert in_order(document("b"), later) == ["a", "b"]


def test_no_documents_have_no_ranks():
    assert ranks([]).tolist() == []


@pytest.mark.parametrize(
    ("name", "is_copy"),
    [
        *(("letter (1).txt", True), ("Copy of letter.txt", True), ("letter.txt~", True)),
        *(("letter.txt.bak", True), ("letter副本.txt", True), ("~letter", False)),
        *(("copyright.txt", False), ("bold.txt", False), ("letter (a).txt", False)),
        *(("日记 utf-8-sig.txt", True), ("letter_GBK.txt", True), ("gbk.txt", False)),
    ],
)
def test_a_name_says_whether_it_is_that_of_a_copy(name, is_copy):
    assert is_name_of_copy(name) == is_copy


@pytest.mark.parametrize(
    ("folder", "is_place"),
    [
        *(("old laptop", True), ("Old-PC", True), ("alter Rechner", True), ("旧电脑", True)),
        *(("ancien ordinateur", True), ("Old Testament", False), ("Oldenburg", False)),
        *(("Desktop", True), ("桌面", True), ("转码", True), ("desktop publishing", False)),
    ],
)
def test_a_folder_says_whether_it_is_a_place_for_copies(folder, is_place):
    assert any(places(f"/home/ann/{folder}/letters")) == is_place
