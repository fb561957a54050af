"""Files of one pattern: set aside by a scan as families, and compared among other files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from conftest import filled_form

from simdup.errors import InputError
from simdup.files import group_files
from simdup.files.compare import compare, compare_among
from simdup.files.ignored import without_ignored
from simdup.files.scan import scan
from simdup.records import Kind, Reason
from simdup.report.text import render, render_comparison
from simdup.settings import Settings
from simdup.storage.store import Store
from tests.files.test_scan import grouped, when

FORMS = 10
FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def plain(write):
    """Ten forms of one template."""
    for number in range(FORMS):
        write(f"in/{number}", filled_form(number))
    return "in"


@pytest.fixture
def forms(write, plain):
    """The same, one of them twice, and a later version of another one."""
    write("in/copy of 4", filled_form(4))
    write("in/version of 3", filled_form(3, edits=20))
    return plain


def families(result):
    return [{member.document.path for member in each.members} for each in result.patterns]


def test_forms_of_one_template_are_a_family_and_no_group(forms):
    result = scan([forms])

    assert grouped(result) == [["in/4", "in/copy of 4"], ["in/3", "in/version of 3"]]
    first, *others = result.patterns[0].members
    assert first.kind is Kind.IDENTICAL_BYTES
    assert {member.kind for member in others} == {Kind.SAME_PATTERN}
    assert result.patterns[0].kind is Kind.SAME_PATTERN
    # A text with a copy is there once; two versions are no siblings of each other.
    (family,) = families(result)
    assert "in/copy of 4" not in family
    assert {f"in/{number}" for number in range(FORMS)} - {"in/3"} <= family


def test_a_member_of_a_family_is_alike_to_its_first_by_the_figures_shown(forms):
    result = scan([forms])

    first, *others = result.patterns[0].members
    assert (first.similarity, first.own_share) == (1, 1)
    for member in others:
        found = compare_among(first.document.path, member.document.path, [forms], Settings())
        assert (member.similarity, member.own_share) == (found.similarity, found.own_share)
        assert member.distance == found.distance
        assert found.kind is None
    assert [each.similarity for each in others] == sorted(
        (each.similarity for each in others), reverse=True
    )


def test_a_member_of_a_group_has_its_own_share(forms):
    copy, version = (group.members[1] for group in scan([forms]).groups)

    assert copy.own_share == 1
    found = compare_among("in/3", "in/version of 3", [forms], Settings())
    assert version.own_share == found.own_share
    # Of 199 shingles 139 are the template's, in nine other forms, and of the others 39 are shared.
    weight = 1 / (1 + 9 / 2)
    weighted = (39 + 139 * weight) / (60 + 139 * weight)
    assert version.own_share == pytest.approx(weighted / (178 / 199), abs=0.07)


def test_without_own_shares_there_are_no_families(forms):
    bare, lenient = scan([forms], Settings(k=60)), scan([forms], Settings(own_share=0.0))

    for result in (bare, lenient):
        assert (result.patterns, result.stats.siblings) == ((), 0)
        assert {each.own_share for group in result.groups for each in group.members} == {None}
    assert sum(len(each.members) for each in lenient.groups) == FORMS + 2


def test_families_are_numbered_after_the_groups(write, forms):
    for number in range(FORMS):
        write(f"in/other {number}", filled_form(number).replace("t", "u").replace("w", "v"))
    result = scan([forms])

    assert [group.id for group in result.groups + result.patterns] == [1, 2, 3, 4]
    assert len(result.patterns) == 2


def test_the_stats_count_pairs_of_texts_that_no_group_holds(write, plain):
    assert scan([plain]).stats.siblings == FORMS * (FORMS - 1) // 2

    write("in/copy", filled_form(0))
    assert scan([plain]).stats.siblings == FORMS * (FORMS - 1) // 2


def test_texts_that_a_third_one_brought_into_one_group_are_no_siblings(write, plain):
    template = filled_form(0).partition(" w0x0")[0]
    left, right = (" ".join(f"{side}{place}" for place in range(100)) for side in "pq")
    write("in/both", f"{template} {left} {right}")
    write("in/left", f"{template} {left}")
    write("in/right", f"{template} {right}")

    result = scan([plain])

    assert grouped(result) == [["in/both", "in/left", "in/right"]]
    # Pairs of two forms, and of a form and one of the three; not the one of left and right.
    assert result.stats.siblings == FORMS * (FORMS - 1) // 2 + 3 * FORMS


def test_an_ignored_pair_is_in_no_family(plain):
    whole = scan([plain])
    first, other = (member.document for member in whole.patterns[0].members[:2])
    ignored = [(first.text_digest, other.text_digest)]

    result = scan([plain], ignored=ignored)

    assert result.stats.siblings == whole.stats.siblings - 1
    for pattern in (*result.patterns, *without_ignored(whole, ignored).patterns):
        head, *others = (member.document.path for member in pattern.members)
        assert (head, others.count(other.path)) != (first.path, 1)
        assert (head, others.count(first.path)) != (other.path, 1)


def test_a_file_that_vanished_is_in_no_family(plain):
    scanned = scan([plain])
    gone = scanned.patterns[0].members[-1].document.path
    result = scan([plain], progress=when("search", Path(gone).unlink))

    (family,) = families(result)
    assert family == families(scanned)[0] - {gone}
    assert [(each.path, each.reason) for each in result.skipped] == [(gone, Reason.VANISHED)]


def test_a_family_whose_first_file_vanished_is_left_out(plain, monkeypatch):
    first = scan([plain]).patterns[0].members[0].document.path
    real = group_files.Grouping
    without_first = lambda *about: real(*about[:2], {first}, *about[3:])  # noqa: E731
    monkeypatch.setattr(group_files, "Grouping", without_first)

    assert scan([plain]).patterns == ()


# Two files among others


def test_the_own_share_that_is_asked_for_decides(forms):
    share = compare_among("in/1", "in/2", [forms], Settings()).own_share

    for asked, kind in ((share, Kind.NEAR), (share + 1e-9, None)):
        assert compare_among("in/1", "in/2", [forms], Settings(own_share=asked)).kind is kind


def test_two_nearly_equal_forms_are_no_duplicates_among_a_third_one():
    folder = FIXTURES / "pairs" / "form" / "en-keys"
    one, other = (str(folder / f"{number}.txt") for number in (1, 2))

    alone, among = compare(one, other), compare_among(one, other, [str(folder)], Settings())

    assert alone.similarity > 0.95
    assert among.own_share == 0
    assert (alone.kind, among.kind) == (Kind.NEAR, None)
    assert next(render_comparison(among)).endswith("(same pattern: filled in from one form)")
    assert "  96.0 % alike, filled in from one form" in list(render(scan([folder]), siblings=True))


def test_files_that_are_not_similar_enough_stay_so(write, forms, english):
    write("other", english)

    found = compare_among("in/1", "other", [forms], Settings())

    assert (found.kind, found.among) == (None, FORMS + 3)


@pytest.mark.parametrize("other", ["in/4", "in/copy of 4"])
def test_one_text_is_no_sibling_of_itself(forms, other):
    found = compare_among("in/4", other, [forms], Settings(own_share=1.0))

    assert (found.kind, found.own_share) == (Kind.IDENTICAL_BYTES, 1)


def test_files_and_folders_of_any_place_are_compared_and_read_once(write, forms):
    write("more/11", filled_form(11))
    write("elsewhere", filled_form(12))

    found = compare_among("elsewhere", "in/2", [forms, "in", "more"], Settings())

    assert found.among == FORMS + 4
    assert found.kind is None


@pytest.mark.slow
def test_any_number_of_processes_finds_the_same(forms):
    one, two = (compare_among("in/1", "in/2", [forms], Settings(), jobs=jobs) for jobs in (1, 2))

    assert one == two


def test_a_folder_that_is_missing_is_refused(forms):  # noqa: ARG001  (they are compared)
    with pytest.raises(InputError, match="nowhere"):
        compare_among("in/1", "in/2", ["nowhere"], Settings())


def test_a_file_that_vanishes_meanwhile_is_refused(forms):
    with pytest.raises(InputError, match="changed while the folders were read"):
        compare_among(
            "in/1", "in/2", [forms], Settings(), progress=when("read", Path("in/2").unlink)
        )


@pytest.mark.usefixtures("matched_again", "settled")
def test_sketches_come_from_the_store_in_parts(forms, tmp_path, monkeypatch):
    monkeypatch.setattr("simdup.storage.cached.RECALLED_AT_ONCE", 5)
    with closing(Store(tmp_path / "store", pytest.fail)) as store:
        first, again = scan([forms], store=store), scan([forms], store=store)

    assert again.stats.from_store == FORMS + 2
    assert (again.groups, again.patterns) == (first.groups, first.patterns)
