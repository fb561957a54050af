"""`simdup query` as a user sees it: what it finds, how it is reported, how it exits."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from conftest import alike
from reports import data_in, texts

from simdup.fingerprint.simhash import fingerprint_texts
from simdup.index import query as answers
from simdup.recipe import Recipe

pytestmark = pytest.mark.slow

any_name = pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes only UTF-8 names")
FORMATS = ["text", "json", "jsonl", "csv"]


def at(name):
    return os.path.abspath(name)


@pytest.fixture
def built(run, write, simplified):
    """An index of a text, its edited copy, another one, and a Chinese one in GBK."""
    write("in/a", alike(1))
    write("in/b", alike(1, edits=6))
    write("in/c", alike(2))
    write("in/zh", simplified.encode("gbk"))
    assert run("index", "build", "x", "in", "-q").code == 0
    return "x"


@pytest.fixture
def asked(run, built):
    """`asked(*arguments)`: the JSON of a query, and its exit code."""

    def asking(*arguments, code=0):
        ended = run("query", built, *arguments, "--format", "json")
        assert ended.code == code, ended.err
        return json.loads(ended.out.decode("utf-8"))

    return asking


def found(answer):
    return [os.path.relpath(each["path"]) for each in answer["matches"]]


def hexadecimal(text, bits=256):
    return fingerprint_texts([text], Recipe(bits=bits)).rows[0].tobytes().hex()


# What is found


def test_a_session_worked_by_hand(run, built, write):
    write("q", alike(1))

    ended = run("query", built, "q", "--text", "nothing like it")

    assert ended.code == 0
    first, copy, edited, second = ended.out.decode().splitlines()
    assert (first, second) == ("q: 2 documents", "nothing like it: nothing")
    assert copy.split() == ["100", "%", "bytes", "utf-8", "349", "B", at("in/a")]
    assert edited.startswith("   8")
    assert edited.split()[1:] == ["%", "utf-8", "349", "B", at("in/b")]
    assert ended.err == b"2 documents found for 1 of 2 questions, among 4\n"
    verbose = run("query", built, "q", "--verbose").out.decode().splitlines()[2]
    assert verbose.split()[3:] == ["bits", *edited.split()[2:]]


def test_exits_with_0_if_something_is_found_1_if_nothing_2_on_errors(run, built, write):
    for name, content in {"q": alike(1), "other": alike(9), "empty": ""}.items():
        write(name, content)
    codes = {
        "q": 0, "q other": 0, "other": 1, "--text no": 1, "--text ?!": 2, "q gone": 2,
        "other gone": 2, "empty": 2, "in": 2,
    }  # fmt: skip

    for arguments, code in codes.items():
        ended = run("query", built, *arguments.split())

        assert ended.code == code
        assert (b"simdup: '" in ended.err) == (code == 2)


def test_an_estimate_is_marked(run, built, write):
    write("q", alike(1))
    os.utime("in/b", ns=(1, 1))

    lines = run("query", built, "q").out.decode().splitlines()

    assert [line.split()[0].startswith("~") for line in lines[1:]] == [False, True]


def test_thresholds_and_top_decide_what_is_found(asked):
    names = {
        "": "a b", "-s 0.95": "a", "-s 0.1": "a b", "-k 0": "a", "-k 100": "a b", "--top 1": "a",
        "--no-verify": "a b", "--top 4 -s 0.5": "a b", "--top 1 -k 100": "a", "--bits 64": "a b",
        "--bits 64 -k 0": "a", "--top 4": "a b c zh", "--top 4 --bits 64": "a b c zh",
        "--top 4 --no-verify": "a b c zh",
    }  # fmt: skip

    for options, expected in names.items():
        (answer,) = asked("--text", alike(1), *options.split())["answers"]

        assert found(answer)[:2] == [f"in/{name}" for name in expected.split()][:2], options
        assert sorted(found(answer)) == [f"in/{name}" for name in expected.split()]
        if "--no-verify" in options:
            assert {each["exact"] for each in answer["matches"][1:]} == {False}


def test_a_search_that_is_narrowed_says_so(run, built, monkeypatch):
    monkeypatch.setattr(answers, "MOST_BY_CHANCE", 1e-6)

    _, narrowed = run("query", built, "--text", alike(1)).err.decode().splitlines()
    nearest = run("query", built, "--text", alike(1), "--top", "2").err.decode().splitlines()

    assert narrowed.startswith("searched within ")
    assert narrowed.endswith("(an index with more --bits avoids this)")
    assert len(nearest) == 1


# What is asked


def test_stdin_may_be_in_any_encoding(simdup, built, simplified):
    for codec, kind in (("gbk", b"bytes"), ("utf-16", b"text"), ("utf-8", b"text")):
        ended = simdup("query", built, "-", input=simplified.encode(codec))

        question, match = ended.stdout.splitlines()
        assert (ended.returncode, question) == (0, b"-: 1 document")
        assert match.split()[:3] == [b"100", b"%", kind]
        assert match.endswith(b"in/zh")


def test_a_question_that_finds_nothing_is_told_of_parts(simdup, built):
    said = b"a quotation is found with --parts, in an index built with --parts\n"

    assert simdup("query", built, "-", input=b"no text has these words").stderr.endswith(said)
    assert said not in simdup("query", built, "--fingerprint", "0f" * 16).stderr


def test_stdin_is_in_the_encoding_that_the_index_names(simdup, run, write, simplified):
    data = simplified[:40].encode("gbk")
    write("in/zh", data)
    run("index", "build", "x", "in", "--encoding", "big5")

    ended = simdup("query", "x", "-", input=data)

    assert ended.returncode == 0
    assert b"100 %  bytes big5 " in ended.stdout


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bytes(99), b"simdup: '-': binary (NUL bytes)\n"),
        (b"", b"simdup: '-': empty (0 bytes)\n"),
        (b"PK\3\4 mimetypeapplication/epub+zip", b"simdup: '-': no text extracted"),
    ],
)
def test_stdin_is_read_as_a_file_is(simdup, built, write, data, said):
    write("q", alike(1))

    ended = simdup("query", built, "-", "q", input=data)

    assert ended.returncode == 2
    assert ended.stderr.startswith(said)
    assert ended.stderr.count(b"\n") == 2
    assert ended.stdout.startswith(b"q: 2 documents\n")


def test_stdin_may_be_a_web_page_or_a_copy_of_an_indexed_file(simdup, built):
    page = f"<html><body><p>{alike(1)}</p></body></html>".encode()

    os.mkdir("temporary")
    here = {"TMPDIR": os.path.abspath("temporary")}

    assert b"100 %" in simdup("query", built, "-", input=page, environment=here).stdout
    same = simdup("query", built, "-", input=Path("in/zh").read_bytes(), environment=here)
    assert b"100 %  bytes " in same.stdout
    assert os.listdir("temporary") == []


def test_an_identical_file_comes_before_one_with_an_equal_fingerprint(asked, write):
    write("in/0", alike(1).upper())
    write("q", alike(1))

    (answer,) = asked("q", "--top", "1")["answers"]

    assert found(answer) == ["in/a"]


def test_questions_of_all_kinds_are_answered_in_one_call(simdup, built, write):
    write("q", alike(1))
    print_ = hexadecimal(alike(2))

    ended = simdup(
        *("query", built, "q", "-", "--text", alike(2), "--text", "none"),
        *("--fingerprint", print_, "--fingerprint", print_.upper(), "--format", "jsonl"),
        input=alike(1, edits=6).encode(),
    )

    header, *lines = map(json.loads, ended.stdout.decode().splitlines())
    assert (ended.returncode, header["type"]) == (0, "query")
    asked = [(line["question"], found(line)[:1]) for line in lines]
    assert asked == [
        ("q", ["in/a"]),
        ("-", ["in/b"]),
        (alike(2), ["in/c"]),
        ("none", []),
        (print_, ["in/c"]),
        (print_, ["in/c"]),
    ]
    assert ended.stderr == b"7 documents found for 5 of 6 questions, among 4\n"


def test_a_long_text_is_cut_in_the_report_and_whole_in_the_json(run, built, asked):
    lines = run("query", built, "--text", alike(1)).out.decode().splitlines()

    assert len(lines[0]) < 80
    assert lines[0].endswith("…: 2 documents")
    assert asked("--text", alike(1))["answers"][0]["question"] == alike(1)


# How it is reported


def test_json_has_every_field(asked, write):
    write("q", alike(1))

    report = asked("q", "gone", code=2)

    assert list(report)[-4:] == ["settings", "search", "answers", "skipped"]
    assert list(report["search"]) == ["documents", "top", "k", "wanted", "recall"]
    assert {"schema_version", "tool", "version"} < {*report}
    (answer,) = report["answers"]
    assert list(answer) == ["question", "matches"]
    assert list(answer["matches"][1])[-9:] == [
        *("kind", "distance", "similarity", "contained", "exact", "set", "set_kind"),
        *("other_unread", "other_signs"),
    ]
    assert answer["matches"][0]["kind"] == "identical bytes"
    assert report["skipped"] == [
        {"path": "gone", "reason": "not found", "detail": "No such file or directory"}
    ]


def test_copies_among_the_answers_are_sets_in_every_format(run, write):
    edited = alike(1, edits=3)
    for name, content in {
        "a": alike(1), "b": edited, "c": edited, "d": edited.encode("utf-16"), "e": alike(9),
    }.items():  # fmt: skip
        write(f"docs/{name}", content)
    write("q", alike(1))
    assert run("index", "build", "copies", "docs", "-q").code == 0
    query = ("query", "copies", "q", "q", "-q")

    lines = run(*query).out.decode().splitlines()
    first, second = json.loads(run(*query, "--format", "json").out)["answers"]
    rows = list(csv.DictReader(io.StringIO(run(*query, "--format", "csv").out.decode())))

    assert lines[2].startswith("  3 documents with the same text, 2 of them identical, ")
    assert lines[2].endswith(" % of it in each")
    assert [line.split()[:2] for line in lines[4:6]] == [["same", "bytes"], ["same", "text"]]
    expected = [("a", None, None), ("b", 1, "text"), ("c", 1, "text"), ("d", 1, "text")]
    for answer in (first, second):
        found = [(m["path"][-1], m["set"], m["set_kind"]) for m in answer["matches"]]
        # A document that two questions find is listed twice, and its set is one.
        assert [each[0] for each in found] == list("abcd")
        assert found[1:] == expected[1:]
    assert [row["set_kind"] for row in rows[1:4]] == ["text"] * 3
    assert (rows[0]["question"], rows[0]["kind"], rows[0]["exact"]) == ("q", "identical bytes", "1")
    assert (rows[0]["path"], rows[0]["similarity"]) == (at("docs/a"), "1.000000")
    digests = [row["byte_digest"] for row in rows[1:4]]
    assert digests[0] == digests[1] != digests[2]


def test_the_nth_of_names_alone_answers_the_nth_question(simdup, built, write):
    write("q", alike(1))
    write("empty", "")

    ended = simdup("query", built, "-0", "gone", "-", "empty", "q", input=alike(2).encode())

    names = [os.fsencode(at(f"in/{name}")) for name in "abc"]
    assert ended.stdout == b"\0".join([b"", names[2], b"", b"", *names[:2], b"", b""])


@pytest.mark.parametrize("form", [*FORMATS, "-0"])
def test_an_answer_may_go_into_a_file(run, built, form):
    asked = ("query", built, "--text", alike(1), *(["-0"] if form == "-0" else ["--format", form]))
    shown, ended = run(*asked), run(*asked, "--output", "out")

    assert (ended.code, ended.out, ended.err) == (0, b"", shown.err)
    assert Path("out").read_bytes() == shown.out


@any_name
def test_names_of_any_bytes_come_back(run, write):
    for number, name in enumerate((b"\xff\x1b[31m", b"a\nb", "钟".encode("gbk"), b" -q")):
        write(b"in/" + name, alike(number))
        write(name, alike(number))
        run("index", "build", f"x{number}", "in", "-q")

        zero = run("query", f"x{number}", "-q", "-0", "--", name)
        ended = run("query", f"x{number}", "-q", "--format", "json", "--", name)
        text = run("query", f"x{number}", "--", name, name + b"gone")

        (answer,) = json.loads(ended.out.decode("utf-8"))["answers"]
        (match,) = answer["matches"]
        assert zero.out == os.fsencode(os.getcwd()) + b"/in/" + name + b"\0\0"
        for key, record in (("question", answer), ("path", match)):
            coded = record.get(f"{key}_base64")
            assert (b64decode(coded) if coded else record[key].encode()).endswith(name)
        said = (text.out + text.err).decode()
        assert text.code == 2
        assert all(line.isprintable() for line in said.split("\n"))


# Wrong use


# Parts


@pytest.fixture
def library(run, write):
    """An index for parts: of a book, and of a page of another one."""
    write("in/book.txt", "\n\n".join(alike(chapter) for chapter in range(9)))
    write("in/page.txt", alike(20))
    write("page.txt", alike(4))
    write("larger.txt", " ".join(map(alike, range(20, 30))))
    assert run("index", "build", "x", "in", "--parts", "-q").code == 0
    return "x"


def test_parts_of_both_kinds_are_shown_with_their_places(run, library):
    ended = run("query", library, "page.txt", "larger.txt", "--parts")

    start = len("\n\n".join(alike(chapter) for chapter in range(4))) + 2
    assert ended.out.decode().splitlines() == [
        "page.txt: 1 part",
        f"    100 % of it is in {at('in/book.txt')}, characters {start:,} to {start + 349:,}",
        "larger.txt: 1 part",
        f"    100 % of {at('in/page.txt')} is in it, characters 0 to 409",
    ]
    assert ended.err.decode().splitlines()[:2] == [
        "0 documents found for 0 of 2 questions, among 2",
        "2 parts of larger documents (at least 80.0 % in them)",
    ]
    assert ended.code == 0


def test_a_share_can_be_asked_for(run, library, write):
    write("half.txt", alike(4) + " " + alike(50))

    assert run("query", library, "half.txt", "--parts").code == 1
    assert b"49.5 % of it is in" in run("query", library, "half.txt", "--parts", "40%").out


@pytest.mark.parametrize("share", ["1.5", "0", "150%", "1.2.3"])
def test_a_number_that_is_no_share_is_told_unless_it_is_a_file(run, library, write, share):
    ended = run("query", library, "page.txt", "--parts", share)
    write(share, "some text")
    named = run("query", library, "page.txt", "--parts", share)

    assert ended.code == 2
    assert ended.err.decode().startswith(f"simdup: Invalid value for '--parts': '{share}' ")
    assert f"{share}: " in named.out.decode()


def test_programs_get_parts_in_fields_of_their_own(run, library):
    start = len("\n\n".join(alike(chapter) for chapter in range(4))) + 2
    figures = {"share": 1.0, "exact": True, "start": start, "end": start + 349}
    fields = {"path": "page.txt", "of": at("in/book.txt"), **figures}
    asked = ("query", library, "page.txt", "--parts", "--format")

    (answer,) = json.loads(run(*asked, "json").out)["answers"]
    assert (answer["matches"], answer["parts"], answer["unread"]) == ([], [fields], 0)
    (line,) = csv.DictReader(io.StringIO(run(*asked, "csv").out.decode(), newline=""))
    assert {name: value for name, value in line.items() if value} == {
        "question": "page.txt",
        "kind": "part",
        "similarity": "1.000000",
        "exact": "1",
        "path": "page.txt",
        "of": at("in/book.txt"),
        "start": str(start),
        "end": str(start + 349),
    }
    assert run("query", library, "page.txt", "--parts", "-0").out == os.fsencode(
        at("in/book.txt")
    ) + bytes(2)


def test_info_says_that_samples_are_kept(run, library):
    assert "parts      samples kept" in run("index", "info", library).out.decode()
    run("index", "build", "y", "in", "-q")
    assert "parts" not in run("index", "info", "y").out.decode()


# The page


def test_a_page_has_each_question_with_its_answers_and_all_texts(run, built, write):
    write("q", alike(1))
    os.utime("in/b", (1, 1))  # its bytes are the same

    ended = run("query", built, "q", "gone", "--text", alike(7), "--html", "p.html")

    assert ended.code == 2
    assert ended.out.startswith(b"q: 2 documents\n")
    data = data_in()
    assert [group[2][0][1] for group in data["groups"]] == ["q", alike(7)[:59] + "…"]
    (number, kind, (_, first, second), sets, *_, shares), nothing = data["groups"]
    assert (number, kind, sets) == (1, "identical bytes", [[1], [1], [1]])
    assert (first[1], second[1]) == ("a", "b")
    assert first[9:13] == ["identical bytes", 0, 1, 1]
    assert 0.8 < second[11] < 1
    assert shares == [1, 1, pytest.approx(second[11], abs=0.02)]
    assert nothing[1:4] == ["", nothing[2], [[1]]]
    assert data["places"] == ["x"]
    assert data["skips"] == {"not found": 1}
    assert [each[:2] for each in data["figures"]] == [
        *(["questions", 2], ["answered", 1], ["answers", 2], ["searched", 4], ["skipped", 1])
    ]
    # The question and its copy have one text.
    assert texts() == {
        "texts": [alike(1), alike(1, edits=6)],
        "cut": [0, 0],
        "found": [0, 0, 1],
    }
    # What differs is said of the last one, which has other facts.
    *same, edited = data["differences"]["1"]
    assert same == [None, None]
    assert (edited[0][0], edited[1][0], edited[2]) == ("w1x0", "e1x0", 6)
    assert texts(2)["texts"] == [alike(7)]


def test_a_page_has_no_text_but_what_the_index_saw(run, built, write):
    was = os.stat("in/b")
    write("in/b", alike(1, edits=6).replace("e1x0", "e1x9"))
    os.utime("in/b", ns=(was.st_atime_ns, was.st_mtime_ns))
    os.unlink("in/a")

    run("query", built, "--fingerprint", hexadecimal(alike(1)), "--html", "p.html")

    assert texts() == {
        "texts": [],
        "cut": [],
        "found": ["no text extracted", "not found", "changed while read"],
    }


def test_standard_input_is_in_the_page_and_its_copy_is_not_named(simdup, built):
    ended = simdup("query", built, "-", "--html", "p.html", "-q", input=alike(1).encode())

    assert ended.returncode == 0
    data = data_in()
    assert data["groups"][0][2][0][1] == "-"
    assert sorted(data["folders"]) == ["", at("in")]
    assert texts()["texts"][0] == alike(1)


def test_a_page_says_how_many_documents_were_too_many_to_be_read(run, library, limited, write):
    for number in range(3):
        write(f"in/{number}.txt", alike(4) + " " + alike(30 + number) + " " + alike(40 + number))
    run("index", "update", library, "-q")
    limited(part_candidates=1)
    ended = run("query", library, "page.txt", "--parts", "--html", "p.html")

    assert data_in()["unread"] == 3
    assert b"\n3 more documents may share enough too: too many to be read\n" in ended.err


def test_a_page_lists_parts_of_both_kinds(run, library):
    run("query", library, "page.txt", "larger.txt", "--parts", "--html", "p.html")

    data = data_in()
    start = len("\n\n".join(alike(chapter) for chapter in range(4))) + 2
    assert data["parts"] == [
        ["page.txt", at("in/book.txt"), 1, start, start + 349],
        [at("in/page.txt"), "larger.txt", 1, 0, 409],
    ]
    assert (data["allParts"], data["settings"]["parts"]) == (2, 0.8)
