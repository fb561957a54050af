"""simdup.findings.keeper: which of several files a person would keep."""

from __future__ import annotations

import pytest

import simdup
from simdup import Document, Group, Kind, Member, Source
from simdup.findings.keeper import NS_OF_A_MINUTE, Key, Reason, keys_of, newest_of, places, ranks
from simdup.findings.marks import is_name_of_copy
from simdup.records import ScanResult, Version
from tests.makers import docx, pdf


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


def test_each_reason_has_its_field_in_a_key():
    assert [each.name.lower() for each in Reason] == [*Key._fields]


def versions(*names_and_words, chain=()):
    """A group of files, each named, with a text of its own and these words."""
    members = tuple(
        Member(
            document(name)._replace(text_digest=name.encode(), words_digest=words.encode() * 16),
            *(b"", Kind.NEAR, 0, None),
        )
        for name, words in names_and_words
    )
    return Group(1, Kind.NEAR, 0, members, versions=tuple(Version(name, None) for name in chain))


def kept(group):
    """The version of each file in its key, and which ones are the newest."""
    result = ScanResult(simdup.Settings(), (), None, (group,), (), None, None)
    (keys,) = keys_of(result)
    return [key.version for key in keys], newest_of(group, keys)


def test_an_older_version_comes_after_all_texts_with_the_newest_words():
    names = ("a_v1", "a"), ("a_v2_draft", "b"), ("a_v2_final", "b")

    (first, second, third), newest = kept(versions(*names, chain=("a_v1", "a_v2_final")))

    assert first > second > third == 0
    assert newest == [False, False, True]


def test_only_files_that_have_an_older_version_are_the_newest():
    ages, newest = kept(versions(("a_draft", "a"), ("a_final", "a"), ("b", "b")))

    assert ages == [1, 0, 0]
    assert newest == [False, True, False]


def test_a_document_is_kept_and_not_its_longer_pdf(tmp_path):
    pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    lines = [" ".join(f"word{place * 9 + word}" for word in range(9)) for place in range(20)]
    (tmp_path / "a.docx").write_bytes(docx("\n".join(lines)))
    (tmp_path / "a.pdf").write_bytes(pdf([[*lines, "Printed by the office of the parish"]]))

    (group,) = simdup.scan([str(tmp_path)]).groups

    assert group.members[0].document.path.endswith("a.docx")
    assert group.why == Reason.FOR_PRINT.value
