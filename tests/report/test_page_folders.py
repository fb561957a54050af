"""Pairs of folders, as a page shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simdup.records import FolderPair, Group, Kind
from simdup.report.page.folders import folder_pairs
from simdup.report.page.groups import Names
from tests.report.test_page import member, result

PAIR = FolderPair("docs/stick", "docs/office", 5, 9, 3, 2, 1, "docs/office", (1, 2, 3))


def pair_of(kind, name, number):
    """A file of the stick and the file at the same place in the office, which are of this kind."""
    digests = {
        Kind.IDENTICAL_BYTES: {"bytes_digest": b"b" * 16, "text_digest": b"t" * 16},
        Kind.SAME_WORDS: {"words_digest": b"w" * 16},
        Kind.NEAR: {},
    }[kind]
    unlike = kind is not Kind.IDENTICAL_BYTES
    one, other = (
        member(
            f"docs/{folder}/{name}",
            **({"bytes_digest": folder.encode(), "text_digest": folder.encode()} if unlike else {}),
            **digests,
        )
        for folder in ("office", "stick")
    )
    return Group(number, kind, 0, (one, other))


def found(*, has_all_documents=True):
    groups = (
        pair_of(Kind.IDENTICAL_BYTES, "2025/a.txt", 1),
        pair_of(Kind.SAME_WORDS, "2025/b.txt", 2),
        pair_of(Kind.NEAR, "c.txt", 3),
    )
    documents = [each.document for group in groups for each in group.members]
    if has_all_documents:
        documents += [member(f"docs/stick/talks/{name}").document for name in "de"]
        documents += [member(f"docs/office/{name}").document for name in "fghijk"]
    return replace(result(*groups, folders=(PAIR,)), documents=tuple(documents))


def test_the_files_of_a_folder_are_counted_by_subfolder_and_kind_and_add_up():
    ((_, rows, *_),) = folder_pairs(found(), Names("docs/"))

    assert rows == [["2025", 1, 1, 0, 0], ["", 0, 0, 1, 0], ["talks", 0, 0, 0, 2]]
    assert sum(sum(counts) for _, *counts in rows) == PAIR.files


def test_both_folders_have_their_files_bytes_and_last_change():
    ((folders, *_),) = folder_pairs(found(), Names("docs/"))

    assert folders == [["stick", 5, 500, 1_700_000_000], ["office", 9, 900, 1_700_000_000]]


def test_only_files_with_the_same_bytes_are_copies_and_the_others_remain():
    ((_, _, copies, remaining, remains, *more),) = folder_pairs(found(), Names("docs/"))

    assert copies == [(0, 1, 0)]
    assert remaining == [
        ["2025/b.txt", 1, 1], ["c.txt", 2, 2], ["talks/d", 3, None], ["talks/e", 3, None],
    ]  # fmt: skip
    assert remains == 4
    assert more == [1, "office", [1, 2, 3]]


@pytest.mark.parametrize("has_groups", [True, False])
def test_files_that_a_saved_result_does_not_list_are_counted(has_groups):
    saved = found(has_all_documents=False)
    saved = saved if has_groups else replace(saved, groups=(), documents=())
    ((folders, rows, _, _, remains, *_),) = folder_pairs(saved, Names("docs/"))

    assert sum(sum(counts) for _, *counts in rows) == PAIR.files
    assert [name for name, *_ in rows][-1] is None
    assert folders[0] == ["stick", 5, None, None]
    assert remains == PAIR.files - rows[0][1]
