"""What a store keeps of the groups of the last scan is bounded."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from simdup import Document, Group, Kind, Member, Source, Store
from simdup.storage import shown_groups
from simdup.storage.shown_groups import keep_groups, kept_group


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store", pytest.fail)
    yield made
    made.close()


def group(number, *texts):
    """A group with a file for each of these texts."""
    sources = [Source(f"{number}/{place}", 1, 0, 0, 0, 0) for place in range(len(texts))]
    digests = [text.to_bytes(16, "big") for text in texts]
    made = [
        Document(source, "utf-8", 1.0, 0, 9, digest, digest, digest)
        for source, digest in zip(sources, digests, strict=True)
    ]
    return Group(number, Kind.NEAR, 0, tuple(Member(each, b"", Kind.NEAR, 0, 1.0) for each in made))


def test_a_group_comes_back_with_one_file_of_each_text(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep_groups(store, [group(1, 7, 7, 8), group(2, 5, 6)])

    assert kept_group(store, 1).texts == (
        (f"{tmp_path}/1/0", f"{7:032x}"),
        (f"{tmp_path}/1/2", f"{8:032x}"),
    )
    assert kept_group(store, 3) is None


def test_the_groups_of_another_scan_are_forgotten(store):
    keep_groups(store, [group(1, 1, 2), group(2, 3, 4)])
    keep_groups(store, [group(1, 5, 6)])

    assert kept_group(store, 1).texts[0][1] == f"{5:032x}"
    assert kept_group(store, 2) is None


def test_the_groups_of_the_very_same_result_are_not_written_again(store, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1_000.5)
    keep_groups(store, [group(1, 1, 2)], "77")
    monkeypatch.setattr("time.time", lambda: 2_000.5)
    keep_groups(store, pytest.fail, "77")

    assert kept_group(store, 1) == shown_groups.KeptGroup(
        tuple((os.path.abspath(f"1/{place}"), f"{place + 1:032x}") for place in (0, 1)), 2_000.5
    )


@pytest.mark.parametrize("results", [("77", "78"), ("77", None), (None, None), (None, "77")])
def test_the_groups_of_another_result_or_an_unknown_one_are_written(store, results):
    for result in results:
        keep_groups(store, [group(1, 1, 2), group(2, 3, 4)], result)
        keep_groups(store, [group(1, 5, 6)], result and f"another {result}")

        assert kept_group(store, 1).texts[0][1] == f"{5:032x}"
        assert kept_group(store, 2) is None


@pytest.mark.parametrize(
    "damage", ["DELETE FROM groups WHERE number = 1", "UPDATE groups SET checksum = checksum + 1"]
)
def test_groups_are_written_again_after_an_entry_was_found_damaged(store, damage):
    keep_groups(store, [group(1, 1, 2)], "77")
    store.execute(damage)
    assert kept_group(store, 1) is None

    keep_groups(store, [group(1, 1, 2)], "77")

    assert kept_group(store, 1).texts[0][1] == f"{1:032x}"


def test_a_scan_that_ends_at_the_same_time_brings_no_wrong_groups(store, tmp_path, monkeypatch):
    """No other scan can write between the look at the digest and the writing."""
    keep_groups(store, [group(1, 1, 2)], "77")
    monkeypatch.setattr("simdup.storage.sqlite.PATIENCE", 0)
    real, warnings = shown_groups._entry, []  # noqa: SLF001

    def meanwhile(asked, number):
        if asked is store:
            with closing(Store(tmp_path / "store", warnings.append)) as other:
                keep_groups(other, [group(1, 5, 6)], "78")
        return real(asked, number)

    with monkeypatch.context() as patched:
        patched.setattr(shown_groups, "_entry", meanwhile)
        keep_groups(store, [group(1, 1, 2)], "77")

    assert warnings
    assert kept_group(store, 1).texts[0][1] == f"{1:032x}"


def test_the_number_of_the_entry_on_the_scan_is_that_of_no_group(store):
    keep_groups(store, [group(1, 1, 2)], "77")

    assert kept_group(store, 0) is None


def test_groups_are_written_again_where_the_entry_on_the_scan_is_damaged(store):
    keep_groups(store, [group(1, 1, 2)], "77")
    store.execute("UPDATE groups SET entry = replace(entry, '77', '78') WHERE number = 0")

    assert kept_group(store, 1).texts[0][1] == f"{1:032x}"
    keep_groups(store, [group(1, 5, 6)], "78")
    assert kept_group(store, 1).texts[0][1] == f"{5:032x}"


def test_large_groups_and_groups_beyond_the_limit_are_not_kept(store, monkeypatch):
    monkeypatch.setattr(shown_groups, "MOST_TEXTS", 3)
    monkeypatch.setattr(shown_groups, "MOST_IN_ALL", 8)
    keep_groups(store, [group(1, 1, 2, 3, 4), group(2, 5, 6, 7), group(3, 8, 9)])

    assert [kept_group(store, number) is None for number in (1, 2, 3)] == [True, False, True]


def test_a_name_that_is_not_utf8_is_kept(store):
    odd = group(1, 1, 2)
    source = Source("/a\udcff\n", 1, 0, 0, 0, 0)
    document = Document(source, "utf-8", 1.0, 0, 9, b"x" * 16, b"x" * 16, b"x" * 16)
    member = Member(document, b"", Kind.NEAR, 0, 1.0)

    keep_groups(store, [Group(1, Kind.NEAR, 0, (member, *odd.members))])

    assert kept_group(store, 1).texts[0][0] == "/a\udcff\n"
