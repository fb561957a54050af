"""simdup.findings.versions: chains of versions, and groups that only look like it."""

from __future__ import annotations

import os
import random
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simdup
from simdup import Document, Group, Kind, Member, Settings, Source
from simdup.findings import versions
from simdup.findings.versions import (
    MOST_VERSIONS,
    Names,
    ages_of,
    names_of,
    stems_of,
    with_versions,
)
from simdup.match.verify import exact_similarities
from simdup.recipe import Recipe
from tests.makers import html_page

DAY = 86_400

# Names are put together from these.
PARTS_OF_NAMES = ["a", "V", "3", "10", ".", ".txt", ".gz", "_", " - ", "\n", "Final", "copy", "稿"]
PARTS_OF_NAMES += ["第三版", "2024-01-05", "2024年3月", "ﬁ", "（１）", "\x85", "\u2028", "\udcff"]


@pytest.fixture
def store():
    with closing(simdup.Store(Path(os.environ["SIMDUP_CACHE"]), warn=pytest.fail)) as store:
        yield store


@pytest.fixture
def texts(folder):
    """`texts({name: changes})`: writes texts of 200 words, of which so many were replaced."""

    def writing(named, *, folder_name="in", subject="t", age=0):
        for place, (name, changes) in enumerate(named.items()):
            path = folder / folder_name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            words = (f"{subject}{i}{'x' if i < changes else ''}" for i in range(200))
            path.write_text(" ".join(words), "utf-8")
            time = 1_700_000_000 + (place * age)
            os.utime(path, (time, time))

    return writing


def chains(*paths, **options):
    """The names of each chain, oldest first."""
    found = simdup.scan(paths or "in", **options)
    return [
        [os.path.basename(each.path) for each in group.versions]
        for group in found.groups
        if group.versions
    ]


def test_copies_in_another_format_and_in_a_backup_are_folded_into_their_version(texts):
    texts({"offer draft.txt": 0, "offer v2.txt": 10, "offer final.txt": 20})
    texts({"offer v2.txt": 10}, folder_name="in/backup")
    for name in ("offer draft", "offer v2", "offer final"):
        words = Path("in", f"{name}.txt").read_text("utf-8")
        Path("in", f"{name}.html").write_bytes(html_page(f"{words} made by a printer"))

    (group,) = simdup.scan("in").groups

    assert len(group.members) == 7
    assert [os.path.splitext(os.path.basename(each.path))[0] for each in group.versions] == [
        *("offer draft", "offer v2", "offer final")
    ]
    assert "offer final" in group.members[0].document.path


# Names


def name_of(path):
    (name,) = names_of([path])
    return name


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("contract v1.docx", "contract v2.docx"),
        ("contract-v9.docx", "contract-V10.docx"),
        ("contract v1.9.docx", "contract v1.10.docx"),
        ("contract.docx", "contract-final.docx"),
        ("contract v7.docx", "contract_final.docx"),
        ("contract final.docx", "contract final2.docx"),
        ("contract final.docx", "contract final final.docx"),
        ("contract draft3.docx", "contract v1.docx"),
        ("contract draft3.docx", "contract draft4.docx"),
        ("old contract.docx", "contract.docx"),
        ("contract.docx", "contract (revised).docx"),
        ("contract 1.docx", "contract 2.docx"),
        ("contract 2024-03-01.docx", "contract 2024-04-01.docx"),
        ("20231231 contract.docx", "20240101_contract.docx"),
        ("contract 31.12.2023.docx", "contract 1.1.2024.docx"),
        ("合同第2版.docx", "合同第3版.docx"),
        ("合同第九版.docx", "合同第十二版.docx"),
        ("合同初稿.docx", "合同终稿.docx"),
        ("合同二稿.docx", "合同三稿.docx"),
        ("会议纪要2024年3月1日.txt", "会议纪要2024年12月1日.txt"),
        ("会议纪要征求意见稿.txt", "会议纪要最终版.txt"),
        ("Mietvertrag Entwurf.docx", "Mietvertrag endgültig.docx"),
        ("lettre_brouillon.odt", "lettre_définitif.odt"),
        ("contrato borrador.docx", "contrato firmado.docx"),
        ("契約書_改訂.docx", "契約書_最終版.docx"),
        ("lease.docx", "lease (signed).docx"),
    ],
)
def test_names_tell_which_is_newer(older, newer):
    one, other = name_of(f"a/{older}"), name_of(f"b/c/{newer}")

    assert one.stem == other.stem
    assert one.mark < other.mark


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("contract.docx", "contract - copy.docx"),
        ("contract.docx", "contract (1).docx"),
        ("Contract.docx", "Copy of contract.pdf"),
        ("contract.docx", "contract backup 2.docx"),
        ("合同.docx", "合同副本.docx"),
        ("data.csv", "data.csv.gz"),
        ("contract 20240131.docx", "contract 31.1.2024.docx"),
        ("合同2024-01-31.docx", "合同2024年1月31日.docx"),
    ],
)
def test_copies_have_the_name_of_the_same_version(one, other):
    assert name_of(one) == name_of(other)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("overdraft.txt", "overdraft"),
        ("reversion.txt", "reversion"),
        ("renewed.txt", "renewed"),
        ("新闻.txt", "新闻"),
        ("v.txt", "v"),
        ("base16enc.c", "base16enc"),
        (".profile", "profile"),
        ("", ""),
    ],
)
def test_words_that_only_contain_a_mark_are_names(name, stem):
    assert name_of(name) == (stem, ((), (), 0, ()))


@pytest.mark.parametrize("name", ["{}", "v{}", "final 第{}版", "a.{}.txt"])
def test_a_number_may_have_more_digits_than_python_reads(name):
    digits = "7" * 5000

    assert name_of(name.format(digits)) == name_of(name.format(digits[:1000]))


@given(st.lists(st.lists(st.sampled_from(PARTS_OF_NAMES)).map("".join)))
def test_stems_of_names_together_are_those_of_each_name(names):
    alone = [name_of(f"folder/{name}") for name in names]

    assert stems_of(names) == [each.stem for each in alone]
    assert names_of(f"folder/{name}" for name in names) == alone


# Chains


def test_versions_are_ordered_by_their_names_whatever_their_times(texts):
    texts({"contract final.txt": 90, "contract v4.txt": 60}, age=DAY)
    texts({"contract v2.txt": 10, "contract v1.txt": 0}, age=DAY)

    assert chains() == [[f"contract {each}.txt" for each in ("v1", "v2", "v4", "final")]]


def test_what_changed_is_one_minus_the_exact_similarity_of_neighbours(texts, folder):
    """The representative is like each member; neighbours have to be compared besides."""
    names = [f"contract v{number}.txt" for number in range(1, 8)]
    texts(dict(zip(names, (0, 9, 12, 30, 45, 70, 80), strict=True)))

    (group,) = simdup.scan("in").groups

    written = [(folder / "in" / name).read_text() for name in names]
    i = list(range(6))
    alike = exact_similarities(written, i, [each + 1 for each in i], Recipe())
    first, *others = [each.changed for each in group.versions]
    assert first is None
    assert others == pytest.approx([1 - each for each in alike], abs=1e-12)
    assert [os.path.basename(each.path) for each in group.versions] == names


@pytest.mark.usefixtures("matched_again", "settled")
def test_a_second_scan_knows_what_changed_without_reading(texts, store, monkeypatch):
    texts({f"contract v{number}.txt": number * 9 for number in range(6)})
    first = simdup.scan("in", store=store)
    monkeypatch.setattr(
        "simdup.files.group_files._RereadDocuments.features", lambda *_: pytest.fail("read")
    )

    assert simdup.scan("in", store=store).groups == first.groups
    assert first.groups[0].versions


def test_copies_of_a_version_are_in_the_chain_once(texts):
    texts({"contract v1.txt": 0, "contract v2.txt": 30, "contract v3.txt": 60})
    texts({"contract v2.txt": 30, "contract v2 (copy).txt": 30}, folder_name="in/backup")
    texts({"unnamed.txt": 60}, folder_name="in/backup")

    assert chains() == [["contract v1.txt", "contract v2.txt", "contract v3.txt"]]


def test_the_number_of_a_copy_is_no_version(texts):
    texts({"contract v1.txt": 0, "contract final.txt": 60})
    texts({"contract final (1).txt": 60, "contract 9.txt": 0}, folder_name="in/downloads")

    assert chains() == [["contract v1.txt", "contract final.txt"]]


def test_the_file_without_a_number_is_the_oldest_unless_it_was_written_last(texts):
    texts({"contract.txt": 0, "contract v2.txt": 30})
    assert chains() == [["contract.txt", "contract v2.txt"]]

    texts({"contract v2.txt": 30, "contract.txt": 0}, age=DAY)
    assert chains() == [["contract v2.txt", "contract.txt"]]


def test_times_tell_versions_of_one_name(texts):
    texts({"b/contract.txt": 0, "a/contract.txt": 20, "c/contract.txt": 30}, age=DAY)

    (group,) = simdup.scan("in").groups

    assert [each.path[:5] for each in group.versions] == ["in/b/", "in/a/", "in/c/"]


def test_dates_and_numbers_tell_versions_of_one_document(texts):
    texts({"plan 2024-03-01.txt": 10, "plan 2023-12-31.txt": 0, "plan 2024-03-09.txt": 15})
    texts({"form 2.txt": 10, "form 1.txt": 0}, subject="f")

    assert sorted(chains()) == [
        ["form 1.txt", "form 2.txt"],
        ["plan 2023-12-31.txt", "plan 2024-03-01.txt", "plan 2024-03-09.txt"],
    ]


@pytest.mark.parametrize(
    "named",
    [
        {"Lease_2022.txt": 0, "Lease_2023.txt": 4, "Lease_2024.txt": 8},
        {"2024-01/plan.txt": 0, "2024-02/plan.txt": 4, "2024-03/plan.txt": 8},
        {"plan 2024-03 v1.txt": 0, "plan 2024-04 v2.txt": 4},
        {"plan 2024 draft.txt": 0, "plan 2024 final.txt": 4},
        {"plan.txt": 0, "backup 2023-11/plan.txt": 4},
        {"2024/plan 1.txt": 0, "2024/plan 2.txt": 4},
    ],
    ids=", ".join,
)
def test_periods_in_names_are_no_objection_to_three_near_texts_or_beside_words(texts, named):
    texts(named, age=DAY)

    (found,) = chains()
    assert len(found) == len(named)


# Groups that are no chain


@pytest.mark.parametrize(
    "named",
    [
        {"contract.txt": 0, "letter.txt": 30},
        {"contract v1.txt": 0, "contract v2.txt": 20, "letter.txt": 30},
        {"contract v1.txt": 0, "contract v2.txt": 0},  # identical
        {"plan 2024-03-01.txt": 0, "plan 7.txt": 10, "plan 8 2024.txt": 20},
        {"a/plan.txt": 0, "b/plan.txt": 10},  # written at once
        {"a/1.txt": 0, "b/2.txt": 10},  # no name, in two folders
    ],
    ids=", ".join,
)
def test_other_names_are_no_chain(texts, named):
    texts(named)

    assert simdup.scan("in").groups
    assert chains() == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("statement-2025-03", "statement-2025-04"),
        ("statement 05-Jan-2024", "statement 06-Jan-2024"),
        ("statement 24-01-05", "statement 24-01-06"),
        ("statement 05.01.24", "statement 06.01.24"),
        ("statement FY23", "statement FY24"),
        ("plan SS23", "plan WS23"),
        ("notes term 1", "notes term 2"),
        ("报表 第一期", "报表 第二期"),
        ("報告 令和5年", "報告 令和6年"),
        ("statement 2025-3", "statement 2025-4"),
        ("minutes 2024-03-01", "minutes 2024-03-15"),
        ("minutes 1.3.2024", "minutes 15.3.2024"),
        ("minutes 3 March", "minutes 5 March"),
        ("minutes March", "minutes April"),
        ("Abrechnung 03.2024", "Abrechnung 04.2024"),
        ("report 2024", "report 2025"),
        ("report Q1 2025", "report Q2 2025"),
        ("report 1Q25", "report 4Q24"),
        ("1. Quartal", "2. Quartal"),
        ("KW12", "KW13"),
        ("notes W9", "notes W10"),
        ("对账单2025年3月", "对账单2025年4月"),
        ("报告三月", "报告四月"),
        ("周报第12周", "周报第13周"),
        ("第1季度", "第2季度"),
        ("invoice 1001", "invoice 1002"),
        ("statement 2025-01 final", "statement 2025-02 final"),
        ("2025-01/statement", "2025-02/statement"),
        ("2025/01/statement", "2025/02/statement"),
        ("Januar/Abrechnung", "Februar/Abrechnung"),
        ("mars/relevé", "août/relevé"),
        ("三月/对账单", "四月/对账单"),
    ],
)
def test_two_texts_with_other_periods_have_no_history(texts, one, other):
    texts({f"{one}.txt": 0, f"{other}.txt": 2}, age=DAY)

    assert simdup.scan("in").groups
    assert chains() == []


def test_periods_tell_no_versions_of_texts_that_are_only_related(texts):
    texts({f"report 202{number}.txt": 4 * number for number in range(3)})
    (found,) = chains()
    assert len(found) == 3

    (group,) = simdup.scan("in").groups
    (again,) = with_versions(
        [group._replace(score=0.5)],
        Names([group], [member.document for member in group.members]),
        lambda pairs: [0.95] * len(pairs),
    )
    assert again.versions == ()


@pytest.mark.parametrize("name", ["plan (1).txt", "plan - copy.txt", "plan副本.txt"])
def test_a_copy_by_name_with_other_words_is_no_version(texts, name):
    texts({"plan.txt": 0, name: 10}, age=DAY)

    assert simdup.scan("in").groups
    assert chains() == []


@pytest.mark.parametrize(
    "named",
    [
        {"chapter 1.txt": 0, "chapter 2.txt": 10},
        {"minutes 2024-03-01.txt": 0, "minutes 2024-04-01.txt": 5, "minutes 2024-06-01.txt": 10},
        {"a/readme.txt": 0, "b/readme.txt": 10},
    ],
    ids=", ".join,
)
def test_parts_of_a_series_are_no_versions(texts, named):
    """If others of the series are no near-duplicates, its numbers do not count versions."""
    texts(named, age=DAY)
    assert len(chains()) == 1

    other = next(iter(named)).replace("1", "3").replace("a/", "c/")
    texts({other: 0}, subject="other")
    assert chains() == []


def test_versions_of_a_series_that_are_hardly_similar_are_no_chain(texts):
    """Such as the list of changes of each version of a program, of which two are alike."""
    texts({"changes v1.txt": 0, "changes v2.txt": 80})
    assert len(chains()) == 1

    texts({"changes v3.txt": 0}, subject="other")
    assert simdup.scan("in").groups
    assert chains() == []
    texts({"changes v2.txt": 20})
    assert len(chains()) == 1


def test_numbers_alone_do_not_join_what_is_hardly_similar(texts):
    texts({"plan 1.txt": 0, "plan 2.txt": 80})
    assert simdup.scan("in").groups
    assert chains() == []

    texts({"plan v1.txt": 0, "plan v2.txt": 80}, folder_name="words")
    assert len(chains("words")) == 1


def test_neighbours_that_are_hardly_similar_are_no_chain(texts, folder):
    """The first and the last version are both like the second, and not like each other."""
    texts({"plan v1.txt": 0, "plan v3.txt": 0, "plan v2.txt": 0})
    words = [f"t{i}" for i in range(200)]
    (folder / "in" / "plan v1.txt").write_text(" ".join(words[:110]))
    (folder / "in" / "plan v2.txt").write_text(" ".join(words[90:]))

    (group,) = simdup.scan("in").groups

    assert len(group.members) == 3
    assert group.versions == ()


def test_a_great_many_texts_are_no_chain(texts):
    texts({f"plan v{number}.txt": number for number in range(MOST_VERSIONS)})
    (found,) = chains()
    assert len(found) == MOST_VERSIONS

    texts({"plan v999.txt": 60})
    assert chains() == []


def test_bits_alone_tell_nothing_about_changes_and_only_words_tell_versions(texts):
    texts({"plan v1.txt": 0, "plan v2.txt": 5})
    texts({"form 1.txt": 0, "form 2.txt": 5}, subject="f")

    settings = simdup.Settings(k=60)
    found = [group.versions for group in simdup.scan("in", settings).groups if group.versions]

    assert [[each.changed for each in versions] for versions in found] == [[None, None]]
    assert "plan v1" in found[0][0].path


def test_chains_do_not_depend_on_the_order_of_documents(texts):
    texts({"plan v1.txt": 0, "plan v2.txt": 20, "plan v3.txt": 40, "b/plan v2.txt": 20})
    found = simdup.scan("in")
    (group,) = found.groups
    documents = list(found.documents)
    first, *others = group.members

    for seed in range(9):
        random.Random(seed).shuffle(documents)
        random.Random(seed).shuffle(others)
        shuffled = group._replace(members=(first, *others))
        (again,) = with_versions(
            [shuffled], Names([shuffled], documents), lambda pairs: [0.8] * len(pairs)
        )
        assert [each.path for each in again.versions] == [each.path for each in group.versions]


@pytest.mark.parametrize(("other", "length"), [("2.txt", 2), ("/2.txt", 0)])
def test_a_file_in_the_root_folder_is_not_in_the_folder_of_relative_paths(other, length):
    one, two = (
        Document(Source(path, 10, 0, 0, 0, 0), "utf-8", 1.0, 0, 40, text, text, text)
        for path, text in (("1.txt", b"a" * 16), (other, b"b" * 16))
    )
    members = tuple(Member(each, b"", Kind.NEAR, 0, 0.9) for each in (one, two))

    group = Group(1, Kind.NEAR, 0, members)
    (group,) = with_versions([group], Names([group], [one, two]), lambda pairs: [0.9] * len(pairs))

    assert len(group.versions) == length


def test_a_file_that_changed_meanwhile_makes_no_chain(texts, folder, monkeypatch):
    """Its similarity is not known any more, and is not kept either."""
    texts({f"plan v{number}.txt": number * 9 for number in range(5)})
    tokens = Settings(Recipe(features="tokens"))
    real = versions.with_versions

    def changing(groups, names, compare):
        for number in range(5):
            (folder / "in" / f"plan v{number}.txt").write_text("something else")
        return real(groups, names, compare)

    monkeypatch.setattr(versions, "with_versions", changing)

    (group,) = simdup.scan("in", tokens).groups

    assert len(group.members) == 5
    assert group.versions == ()


def same_words(path, hour=0, text="", punctuation=""):
    """A document; all have the same words, and differ in text or punctuation."""
    source = Source(path, 9, hour * 3600 * 10**9, 0, 0, 0)
    words = b"w" * 16 + (punctuation or text).encode().ljust(16, b".")
    encoding = "docx" if path.endswith("docx") else "pdf" if path.endswith("pdf") else "utf-8"
    return Document(
        source, encoding, 1.0, 0, 900, path.encode(), (text or path).encode(), b"f",
        words_digest=words,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        *(("letter_draft.txt", "letter_final.txt"), ("plan v1.txt", "plan v2.txt")),
        *(("minutes.txt", "minutes (corrected).txt"), ("plan 2023-01.txt", "plan 2024-01.txt")),
    ],
)
@pytest.mark.parametrize("hours", [(1, 2), (2, 1)])
def test_among_the_same_words_names_tell_the_newer_version(older, newer, hours):
    pair = [same_words(older, hours[0], "a"), same_words(newer, hours[1], "b")]

    assert (ages_of(pair), ages_of(pair[::-1])) == ([1, 0], [0, 1])


def test_copies_of_a_version_are_as_new_as_it_is():
    files = [same_words("a_draft.txt", 1, "a"), same_words("a_final.txt", 2, "b")]
    files += [same_words("Downloads/x.txt", 9, "a"), same_words("a_final.docx", 3, "c")]

    assert ages_of(files) == [1, 0, 1, 0]


def test_a_number_tells_a_version_among_the_same_words_only_if_the_time_does_too():
    plain = same_words("letter.txt", 5, "a")

    assert ages_of([plain, same_words("letter 2.txt", 5, "b")]) == [0, 0]
    assert ages_of([plain, same_words("letter 2.txt", 6, "b")]) == [1, 0]
    assert ages_of([plain, same_words("letter copy.txt", 6, "b")]) == [0, 0]


def test_times_tell_versions_among_the_same_words_unless_only_the_layout_differs():
    one, other = same_words("a/x.txt", 1, "a"), same_words("b/x.txt", 2, "b")
    assert ages_of([one, other]) == [1, 0]

    layouts = [each._replace(words_digest=one.words_digest) for each in (one, other)]
    assert ages_of(layouts) == [0, 0]
    assert ages_of([one, same_words("b/y.txt", 2, "b")]) == [0, 0]


def test_copies_of_one_text_have_no_versions():
    assert ages_of([same_words("a_draft.txt", 1, "a"), same_words("a_final.txt", 2, "a")]) == [0, 0]


def test_a_word_such_as_final_is_newer_whatever_the_times_are(texts):
    texts({"lease final.txt": 6, "lease.txt": 0}, age=DAY)
    assert chains() == [["lease.txt", "lease final.txt"]]
