"""The page as it is written: its data, and that it neither runs nor requests anything else."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.resources import files

import pytest
from reports import Scripts, texts_in

from simdup.corpus.flaws import Fault
from simdup.corpus.scan import member_texts, scan_rows
from simdup.evaluation.metrics import Recommended
from simdup.findings.identical import with_sets
from simdup.findings.noise import BY_NAME
from simdup.index.records import Answer, Searched
from simdup.progress import silent
from simdup.recipe import Recipe
from simdup.records import (
    Candidates,
    Document,
    FolderPair,
    Group,
    Interval,
    Kind,
    Match,
    Member,
    Reason,
    ScanResult,
    Skipped,
    Source,
    Stats,
    Version,
)
from simdup.report import accuracy
from simdup.report.page import LANGUAGES, LARGEST_PAGE, frame, groups, rows
from simdup.report.page.answers import render_answers
from simdup.report.page.render import render
from simdup.report.page.rows import render_rows
from simdup.settings import OWN_SHARE, SIMILARITY, Settings
from simdup.text.noise import NUMBERS, REDIRECTION
from tests.report.test_accuracy import KINDS, evaluation, row

WORDS = Recipe("words")
HOSTILE = "</script><script>alert(1)</script><!--\u202e\x1b\"'&"


def member(
    path, kind=Kind.NEAR, similarity=0.8, *, distance=20, own_share=None, size=100, **fields
):
    """A member of a group; `fields` are those of its document."""
    source = Source(path, size, 1_700_000_000 * 10**9, 0, 0, 0)
    document = Document(source, "utf-8", 1.0, 0, 40, b"", b"", b"")._replace(**fields)
    return Member(document, bytes(32), kind, distance, similarity, own_share)


def group(number, *paths, kind=Kind.NEAR, **fields):
    first, *others = paths
    members = (
        member(first, Kind.IDENTICAL_BYTES, 1.0, **fields),
        *(member(path, kind, **fields) for path in others),
    )
    return Group(number, kind, 20, members)


def result(*groups, skipped=(), **fields):
    return ScanResult(
        fields.pop("settings", Settings()), (), None, groups, skipped, None,
        Stats(9, 8, 1234, 0.5), **fields,
    )  # fmt: skip


def page_of(found, language="en", read=None, day=None):
    texts = None
    if read is not None:
        every = found.groups + found.patterns
        texts = [(each.id, [partial(read, m.document) for m in each.members]) for each in every]
    return "\n".join(render(found, language, texts, day=day)) + "\n"


def data_of(page):
    return json.loads(Scripts(page).found["data"])


def texts_of(page, number):
    return texts_in(Scripts(page).found, number)


def answers_page(*questions, **options):
    """The page of questions, each with the documents found for it; the file `gone` is estimated."""
    answers, unread, gone = [], options.pop("unread", 0), options.pop("gone", "")
    for name, *found in questions:
        documents = (member(path).document for path in found)
        matches = (Match(each, Kind.NEAR, 9, 0.8, each.path != gone) for each in documents)
        answers.append(Answer(name, tuple(matches), unread=unread))
    texts = [[partial(str, f"the text of {each}") for each in question] for question in questions]
    searched = Searched(Settings(), 30, options.pop("top", None), options.pop("k", 80), 80, 0.9)
    shown = {"language": "en", "texts": texts} | options
    return "\n".join(render_answers("lib.simdup", answers, searched, (), **shown))


def corpus_page(folder, *texts, ids=None, field="text", **options):
    """The page of a corpus with these texts as rows."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({field: text}) + "\n" for text in texts), "utf-8")
    found = scan_rows(path, text_field=field)
    named = None if ids is None else [ids[row] for row in found.groups.members.tolist()]
    with member_texts(found, options.pop("most", 10**6)) as read:
        shown = {"language": "en", "read": read} | options
        return "\n".join(render_rows(found, named, silent, **shown))


def similar(number, *ends):
    """Texts that are alike, each with another end."""
    words = " ".join(f"w{number}x{place}" for place in range(40))
    return [f"{words} {end}" for end in ends]


def test_a_page_of_rows_lists_as_many_groups_as_it_may_and_counts_all(monkeypatch, tmp_path):
    monkeypatch.setattr(rows, "LARGEST_LIST", 900)
    texts = [text for number in range(9) for text in similar(number, "one", "two")]

    data = data_of(corpus_page(tmp_path, *texts))

    assert 3 <= len(data["groups"]) <= 6
    assert data["moreGroups"] == 9 - len(data["groups"])
    assert data["figures"][1][:2] == ["groups", 9]
    assert len(json.dumps(data["groups"], separators=(",", ":"))) < 910
    assert data["beginnings"].keys() == {str(each[0]) for each in data["groups"]}


def test_a_page_of_rows_lists_the_first_rows_of_a_large_group(monkeypatch, tmp_path):
    monkeypatch.setattr(rows, "MOST_ROWS", 4)
    many, few = similar(1, *("same" for _ in range(8)), "other"), similar(2, "one", "two", "three")

    data = data_of(corpus_page(tmp_path, *many, *few))

    assert sorted((len(each[2]), each[6], each[3]) for each in data["groups"]) == [
        (3, 0, [[1], [1], [1]]),
        (4, 5, [[1, 1, 1, 1]]),
    ]
    # Only among three texts can two be compared of which neither is the first.
    assert [bool(each[2][1][14]) for each in sorted(data["groups"], key=len)].count(True) == 1


def test_texts_of_rows_beyond_what_is_read_have_no_room(tmp_path):
    one, two = similar(1, "one", "two")

    page = corpus_page(tmp_path, one, two, one, most=len(one))

    assert texts_of(page, 1) == {"texts": [one], "cut": [0], "found": [0, 0, None]}


def test_the_beginnings_of_texts_take_bounded_room_and_are_printable(monkeypatch, tmp_path):
    texts = [f"\u202e{text}" for number in range(9) for text in similar(number, "one", "two")]
    assert set(data_of(corpus_page(tmp_path, *texts))["beginnings"]) == set("123456789")

    monkeypatch.setattr(rows, "BEGINNINGS", 300)
    found = data_of(corpus_page(tmp_path, *texts))["beginnings"]

    assert len(found) == 2
    assert all(each.startswith("\\u202ew") and len(each) == 100 for each in found.values())


def accuracy_page(*found, language="en", day=None, **fields):
    """The page of an evaluation made by hand; see tests/report/test_accuracy.py."""
    return "\n".join(accuracy.render_page(evaluation(*found, **fields), language, day))


def test_the_data_of_an_evaluation_are_those_of_json_and_names_are_printable():
    kinds = (replace(KINDS[0], kind=HOSTILE), KINDS[1])
    found = evaluation(row(), row(16, recommended=Recommended(0.99, 3, None)), kinds=kinds)

    page = accuracy_page(*found.rows, kinds=kinds)

    rows = data_of(page)["rows"]
    saved = json.loads("".join(accuracy.render_json(found, curve=True)))["rows"]
    assert [{name: each[name] for name in saved[0]} for each in rows] == [
        {name: each[name] for name in saved[0]} for each in saved
    ]
    assert rows[0]["tally"] == [pytest.approx([1 / 9] * 9)] * 2
    assert rows[0]["found"] == [[3.0, 1.5], [4.0, 300.0], [4.0, 0.0]]
    assert page.count("<script") == 2
    assert not {"\u202e", "\x1b"} & set(page)


PAGES_OF = {
    "files": lambda _, language: page_of(result(group(1, "a", "b")), language, lambda _: "text"),
    "answers": lambda _, language: answers_page(("a", "b"), language=language),
    "rows": lambda folder, language: corpus_page(folder, "a b c", "a b c", language=language),
    "accuracy": lambda _, language: accuracy_page(language=language),
}


@pytest.mark.parametrize("kind", PAGES_OF)
def test_a_page_allows_exactly_its_script_and_style_and_makes_no_request(kind, tmp_path):
    for language in (*LANGUAGES, None):
        page = PAGES_OF[kind](tmp_path, language)
        parsed = Scripts(page)
        policies = [value for name, value in parsed.attributes if name == "content"]
        (policy,) = (value for value in policies if "src" in value)

        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        for name in ("script", "style"):
            digest = b64encode(sha256(parsed.found[name].encode()).digest()).decode()
            assert f"{name}-src 'sha256-{digest}'" in policy
        assert not re.search(r"https?:|//\w+\.\w|url\(|@import|\bfetch\(|XMLHttp|WebSocket", page)
        names = {name for name, _ in parsed.attributes}
        assert not names & {"src", "style", "onclick", "onload"}
        links = {value for name, value in parsed.attributes if name == "href"}
        assert all(each.startswith("#") for each in links)
        assert len(page) < frame.FRAME < LARGEST_PAGE / 10
        assert data_of(page)["page"] == kind


def test_the_page_of_answers_says_how_the_index_was_searched():
    narrowed, nearest = (
        data_of(answers_page(("a", "b"), **options))
        for options in ({"k": 70}, {"k": None, "top": 3})
    )

    assert narrowed["narrowed"] == [80, 70, 0.9]
    assert narrowed["settings"]["similarity"] == SIMILARITY
    assert (narrowed["settings"]["most"], nearest["settings"]["nearest"]) == (None, 3)
    assert nearest["narrowed"] is None


def part(name):
    return files("simdup.report.page").joinpath("screen", name).read_text("utf-8")


def test_no_script_turns_a_string_into_markup():
    for name in sorted({name for scripts in frame.PAGES.values() for name in scripts}):
        text = part(f"{name}.js")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", text)
        assert len(text.splitlines()) < 400


def test_the_data_of_the_page_describe_the_result():
    found = result(
        group(1, "one/a.txt", "two/b.txt", kind=Kind.IDENTICAL_TEXT),
        group(2, "/c", "d"),
        skipped=(Skipped("e", Reason.BINARY, "PNG"), Skipped("f", Reason.UNREADABLE)),
    )
    data = data_of(page_of(found, "zh"))

    assert data["language"] == "zh"
    assert (data["found"], data["read"], data["bytes"]) == (9, 8, 1234)
    assert data["skips"] == {"binary": 1, "unreadable": 1}
    assert data["skipped"] == [["f", "unreadable", ""], ["e", "binary", "PNG"]]
    assert data["settings"]["similarity"] == SIMILARITY
    assert data["settings"]["own_share"] == OWN_SHARE
    (number, kind, members, sets, chain, *_, shares, why), second = data["groups"]
    assert (number, kind) == (1, "identical text")
    assert [data["folders"][each[0]] + "|" + each[1] for each in members] == [
        "one|a.txt",
        "two|b.txt",
    ]
    assert members[1][8:-1] == [None, "identical text", 20, 0.8, 1, None]
    assert b64decode(members[1][-1]) == bytes(32)
    assert sets == [[1], [1]]
    assert chain is None
    assert shares == [1, 0.8]  # how much is in the first
    assert why == ""
    decided = found.groups[0]._replace(
        members=tuple(
            each._replace(tier="near", near_because="name") for each in found.groups[0].members
        )
    )
    assert data_of(page_of(result(decided)))["groups"][0][-1] == "the same rare name"
    assert [data["folders"][each[0]] + "|" + each[1] for each in second[2]] == ["/|c", "|d"]


def with_copies():
    """A file, one near it, three more near it with the same text, and a copy of the first."""

    def one(path, text, content, similarity):
        digests = {"text_digest": text * 16, "bytes_digest": content * 16}
        return member(path, Kind.NEAR, similarity, **digests)

    members = (
        one("in/first.txt", b"1", b"1", 1.0),
        one("in/near.txt", b"2", b"2", 0.7),
        one("in/set-1.txt", b"3", b"3", 0.52),
        one("in/set-2.txt", b"3", b"4", 0.52),
        one("in/set-3.txt", b"3", b"3", 0.52),
        one("in/copy.txt", b"1", b"1", 1.0),
    )
    (made,), _ = with_sets([Group(1, Kind.NEAR, 20, members)])
    return made


def with_versions():
    """A group of two versions, and one of three of which nothing is known about what changed."""
    changed = Version("in/lease v1.txt", None), Version("in/lease v2.txt", 0.123)
    unknown = (Version(path, None) for path in ("a1", "a2", "a3"))
    return (
        group(1, "in/lease v2.txt", "in/lease v1.txt")._replace(versions=changed),
        group(2, "a1", "a2", "a3")._replace(versions=tuple(unknown)),
        group(3, "b", "c"),
    )


FOLDERS = (
    FolderPair("code/old", "code/new\x1b", 512, 600, 500, 471, 9, "code/new\x1b", (1,)),
    FolderPair("a/docs", "b/docs", 4, 4, 4, 4, 0, None),
)


def family(number, *figures, folder=""):
    """Files of one pattern, by their similarity to the first and their own share."""
    first = member(f"{folder}form-0", Kind.IDENTICAL_BYTES, 1.0, own_share=1.0)
    others = (
        member(f"{folder}form-{place}", Kind.SAME_PATTERN, alike, own_share=own)
        for place, (alike, own) in enumerate(figures, 1)
    )
    return Group(number, Kind.SAME_PATTERN, 20, (first, *others))


def test_the_page_names_the_folders_of_the_scan(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    cases = {
        ("/home/ada/docs", "notes\x1b"): ["~/docs", "notes\\x1b"],
        ("/home/ada",): ["~"],
        ("/home/adam/docs",): ["/home/adam/docs"],
        (".",): ["~/papers"],
    }

    for roots, places in cases.items():
        found = replace(result(), roots=roots, base="/home/ada/papers")
        assert data_of(page_of(found))["places"] == places
    assert data_of(page_of(replace(result(), roots=None)))["places"] == []


def test_names_begin_at_the_one_folder_that_was_searched():
    pair, image = FolderPair("docs/old", "docs", 4, 4, 4, 4, 0, None), Reason.BINARY
    found = result(group(1, "docs/in/a", "docs/b"), skipped=(Skipped("docs/x", image),))

    def names(*roots):
        data = data_of(page_of(replace(found, roots=roots, folders=(pair,))))
        folders = [name for name, *_ in data["folderPairs"][0][0]]
        return [*data["folders"], data["skipped"][0][0], *folders]

    assert names("docs") == ["in", "", "x", "old", ""]
    assert names("docs", "more") == ["docs/in", "docs", "docs/x", "docs/old", "docs"]


def test_the_data_of_the_page_say_how_candidates_were_found():
    measured = Candidates(3, recall=Interval(0.985, 0.954, 1), sampled=9)
    narrowed = Candidates(3, k=5, wanted=9, at_threshold=0.25)

    told = [
        data_of(page_of(replace(result(), candidates=each)))
        for each in (None, measured, narrowed, replace(narrowed, k=9))
    ]

    assert [each["recall"] for each in told] == [None, [0.985, 0.954, 1], None, None]
    assert [each["narrowed"] for each in told] == [None, None, [9, 5, 0.25], None]


def test_the_texts_of_families_of_siblings_are_in_the_page_after_those_of_groups():
    found = replace(result(group(1, "a", "b")), patterns=(family(2, (0.62, 0.12)),))

    page = page_of(found, read=lambda document: f"text of {document.path}")

    assert texts_of(page, 1)["texts"] == ["text of a", "text of b"]
    assert texts_of(page, 2)["texts"] == ["text of form-0", "text of form-1"]
    assert data_of(page)["leftOut"] == 0


def test_without_verification_similarities_are_estimated_from_distances():
    found = result(
        Group(1, Kind.NEAR, 20, (member("a"), member("b", similarity=None))),
        settings=Settings(k=30),
    )
    data = data_of(page_of(found))

    alike, exact, *_ = data["groups"][0][2][1][-4:]
    assert 0.9 < alike < 1
    assert exact == 0
    assert data["settings"]["similarity"] is data["settings"]["own_share"] is None
    assert data["settings"]["k"] == 30


def test_hostile_names_stay_data():
    page = page_of(
        result(
            group(1, f"{HOSTILE}/a", HOSTILE, "b\udcff"), skipped=(Skipped(HOSTILE, Reason.EMPTY),)
        ),
        read=lambda _: HOSTILE,
    )
    data = data_of(page)

    assert page.count("<script") == page.count("</script") == 3
    assert not {"\u202e", "\x1b"} & set(page)
    assert (
        data["groups"][0][2][1][1]
        == r"""script><script>alert(1)</script><!--\u202e\x1b"'&""".rpartition("/")[2]
    )
    assert data["groups"][0][2][2][1] == r"b\xff"
    assert page.encode()


@pytest.mark.parametrize("text", ["", HOSTILE, "汉字\n", "a\udcff\ud800", "\0\u2028\U0001f600"])
def test_any_text_is_stored_exactly(text):
    page = page_of(result(group(1, "a", "b")), read=lambda _: text)

    assert texts_of(page, 1) == {"texts": [text], "cut": [0], "found": [0, 0]}


def test_equal_texts_are_stored_once_and_a_missing_one_has_its_reason():
    read = {"a": "x", "b": "y", "c": "x", "d": Skipped("d", Reason.CHANGED)}
    page = page_of(result(group(4, *read)), read=lambda document: read[document.path])

    assert texts_of(page, 4) == {
        "texts": ["x", "y"],
        "cut": [0, 0],
        "found": [0, 1, 0, "changed while read"],
    }


def facts_in(page):
    """For each member of the first group the facts that only the first or only it has."""
    return [each and each[:3] for each in data_of(page)["differences"]["1"]]


@pytest.mark.parametrize("has_texts", [True, False])
def test_the_page_says_what_differs_from_the_first_member_with_and_without_texts(has_texts):
    read = {"a": "due 7, 8", "b": "due 9", "c": "due 7, 8, 6", "d": "due  7, 8"}
    texts = [(1, [partial(read.get, name) for name in read])]
    page = "\n".join(render(result(group(1, *read)), "en", texts, has_texts=has_texts))

    assert facts_in(page) == [None, [["7", "8"], ["9"], 2], [[], ["6"], 1], None]
    assert data_of(page)["texts"] is has_texts
    assert data_of(page)["leftOut"] == 0
    assert ("texts-1" in Scripts(page).found) is has_texts


def test_nothing_is_said_of_what_differs_in_texts_that_are_cut(monkeypatch):
    monkeypatch.setattr(groups, "LONGEST_TEXT", 9)
    short, long = {"a": "due 7", "b": "due 8, 9 and 10"}, {"a": "due 8, 9 and 10", "b": "due 7"}
    pages = [
        page_of(result(group(1, "a", "b")), read=lambda document, texts=texts: texts[document.path])
        for texts in (short, long)
    ]

    assert facts_in(pages[0]) == [None, None]
    assert data_of(pages[1])["differences"] == {}


def test_what_differs_takes_bounded_room(monkeypatch):
    monkeypatch.setattr(groups, "NOTES", 60)
    many = [group(number, f"{number}a", f"{number}b") for number in (1, 2, 3)]

    page = page_of(result(*many), read=lambda document: f"due {document.path}")

    assert len(data_of(page)["differences"]) == 1


def test_the_places_of_a_form_are_in_the_page():
    found = replace(result(), patterns=(family(2, (0.62, 0.12), (0.5, 0.1)),))
    lines = "The berth of the boat {} is let for the season.\nThe rent is {} euros, payable in May."
    filled = {"form-0": ("Gull", "1,180.00"), "form-1": ("Teal", "940.00"), "form-2": ("Wren", "7")}

    page = page_of(found, read=lambda document: lines.format(*filled[document.path]))

    form = data_of(page)["forms"]["2"]
    assert form["rows"] == [list(values) for values in filled.values()]
    assert form["places"] == 2
    assert form["pattern"][:2] == ["The berth of the boat ", 0]


def test_a_page_without_texts_has_no_pattern_of_a_form():
    found = replace(result(), patterns=(family(2, (0.62, 0.12)),))
    texts = {"form-0": "The boat Gull pays 12 euros.", "form-1": "The boat Teal pays 14 euros."}
    reads = [(2, [partial(texts.get, name) for name in texts])]

    form = data_of("\n".join(render(found, "en", reads, has_texts=False)))["forms"]["2"]

    assert (form["rows"][1], form["pattern"]) == (["Teal", "14"], [])


def test_a_long_text_is_cut_and_marked(monkeypatch):
    monkeypatch.setattr(groups, "LONGEST_TEXT", 10)
    page = page_of(result(group(1, "a", "b")), read=lambda document: document.path * 11)

    assert texts_of(page, 1) == {"texts": ["a" * 10, "b" * 10], "cut": [1, 1], "found": [0, 1]}


def test_a_huge_group_keeps_only_its_first_texts(monkeypatch):
    monkeypatch.setattr(groups, "LONGEST_GROUP", 25)
    page = page_of(result(group(1, *"abcdef")), read=lambda document: document.path * 10)

    assert texts_of(page, 1)["found"] == [0, 1, 2, None, None, None]


def test_texts_that_do_not_fit_are_left_out_and_their_groups_counted():
    noise = "".join(map(chr, range(200, 9000)))
    found = [(1, [lambda: "text"]), (2, [lambda: noise]), (3, [lambda: "text"])]
    unread = [(number, [lambda: pytest.fail("read for nothing")]) for number in (1, 2, 3)]

    blocks, left_out = groups.text_blocks(found, 5000, lambda _number, _texts: 0)
    assert set(blocks) == {1, 3}
    assert left_out == 1
    assert groups.text_blocks(unread, 0, lambda _number, _texts: 0) == ({}, 3)


def test_a_page_stays_below_its_limit(monkeypatch):
    import random  # noqa: PLC0415

    monkeypatch.setattr(groups, "LARGEST_PAGE", 1_000_000)
    draw = random.Random(1)
    found = [group(number, f"{number}a", f"{number}b") for number in range(60)]

    page = page_of(result(*found), read=lambda _: draw.randbytes(10_000).hex())
    data = data_of(page)

    assert 500_000 < len(page.encode()) < 1_000_000
    assert 0 < data["leftOut"] < 60
    assert data["largestPage"] == 1_000_000
    assert len(Scripts(page).found) == 60 - data["leftOut"] + 3


def test_names_of_skipped_files_are_bounded_and_all_counted(monkeypatch):
    monkeypatch.setattr(groups, "MOST_SKIPPED", 3)
    data = data_of(page_of(result(skipped=tuple(Skipped(f"{n}", Reason.BINARY) for n in range(9)))))

    assert len(data["skipped"]) == 3
    assert data["skips"] == {"binary": 9}


def test_every_kind_and_reason_has_its_chinese_words():
    words = part("words.js") + part("words_rows.js")

    for each in (
        *(kind.value for kind in (*Reason, *Fault)),
        *BY_NAME,
        NUMBERS,
        REDIRECTION,
    ):
        assert re.search(rf"\b{re.escape(each)}'?: '[^a-z]", words), each


def test_every_word_of_the_page_is_used():
    scripts = {name for scripts in frame.PAGES.values() for name in scripts}
    told = {name for name in scripts if name.startswith("words")}
    used = "".join(part(f"{name}.js") for name in scripts - told)
    used += "".join(part(name) for name in ("page.html", "groups.html", "accuracy.html"))
    used += "".join(re.findall(r"\bt\('\w+'\)", "".join(part(f"{name}.js") for name in told)))
    for name in told:
        for key in re.findall(r"^  (\w+): \[", part(f"{name}.js"), re.MULTILINE):
            assert re.search(rf"""['"]{key}['"]""", used), key
