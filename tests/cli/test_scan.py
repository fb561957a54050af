"""`simdup scan` as a user sees it: what is grouped, how it is reported, how it exits."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib.metadata import PackageNotFoundError

import pytest
from conftest import alike, filled_form
from reports import grouped, raw, reasons

pytestmark = pytest.mark.slow

any_name = pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes only UTF-8 names")

UNRELATED = (
    "Soak the beans overnight, drain them, and simmer with a bay leaf until soft. Fry onion, "
    "carrot and celery in olive oil, add tomatoes, then the beans and enough water to cover. "
    "After forty minutes stir in torn bread, cabbage and thyme; rest the pot before serving.\n"
)
SHORT = "one two three four five six seven eight"


def kinds(found):
    """The kind of every member but the first of the only group."""
    (group,) = found["groups"]
    return {member["path"]: member["kind"] for member in group["members"][1:]}


# What is grouped


def test_a_small_tree_worked_by_hand(run, write, simplified, english):
    write("a.txt", simplified)
    write("b-copy.txt", simplified)
    write("c-gbk.txt", simplified.encode("gbk"))
    write("d-edited.txt", simplified.replace("四十多只钟", "五十几座钟"))
    write("e.txt", english)

    ended = run("scan", ".")

    assert ended.code == 0
    lines = ended.out.decode().splitlines()
    assert lines[0].startswith("Group 1: 99 % in the kept file, 4 files, ")
    assert lines[1] == "  3 files with the same text, 2 of them identical"
    assert re.findall(r"\./\S+", "".join(lines[2:6])) == [
        "./a.txt",
        "./b-copy.txt",
        "./c-gbk.txt",
        "./d-edited.txt",
    ]
    assert [("bytes" in line, "text" in line) for line in lines[3:5]] == [
        (True, False),
        (False, True),
    ]
    assert lines[6:] == [""]


@pytest.mark.parametrize("features", ["shingles", "words"])
def test_a_copy_in_the_other_script_is_near_unless_variants_are_kept_apart(report, write, features):
    write("a.txt", "发展公司后面的面馆里，头发干了的师傅说：复习历史，才知道台风的征兆。" * 3)
    write("copy.txt", "發展公司後面的麵館裡，頭髮乾了的師傅說：複習歷史，才知道颱風的徵兆。" * 3)
    options = (".", "--features", features, "-s", "0.9")

    found = report(*options)

    assert kinds(found) == {"./copy.txt": "near"}
    copy = found["groups"][0]["members"][1]
    assert (copy["similarity"], copy["other_signs"]) == (1, ["variants of characters"])
    assert found["settings"]["recipe"]["variants"] == "Unihan 15.0.0"
    apart = report(*options, "--no-fold-variants")
    assert (apart["groups"], "variants" in apart["settings"]["recipe"]) == ([], False)


@pytest.mark.parametrize(
    ("old", "new"), [("，", "、"), ("。", "."), ("“", "「"), ("\n", "\n\n　"), ("：", ":")]
)
def test_texts_with_other_punctuation_have_the_same_words(report, write, simplified, old, new):
    write("a.txt", "“" + simplified)
    write("b.txt", ("“" + simplified).replace(old, new))

    (group,) = report(".")["groups"]

    assert group["kind"] == "same words"
    assert group["diameter"] == 0
    assert [member["distance"] for member in group["members"]] == [0, 0]
    assert [member["similarity"] for member in group["members"]] == [1, 1]


def test_a_bare_scan_reports_no_similarity_and_an_estimate(report, write, english):
    write("a", english)
    write("b", english.replace("grey seal", "white seal"))

    found = report(".", "-k", "20")

    assert found["candidates"] is None
    assert found["settings"]["verified"] is False
    assert found["settings"]["similarity"] is None
    assert found["settings"]["k"] == 20
    member = found["groups"][0]["members"][1]
    assert member["similarity"] is None
    assert 0 < member["distance"] <= 20
    assert 0.8 < member["estimate"] < 1


def test_no_verify_uses_the_distance_that_corresponds_to_the_similarity(report, write):
    write("a", UNRELATED)

    settings = report(".", "--no-verify", "--similarity", "0.8")["settings"]

    assert (settings["k"], settings["verified"], settings["similarity"]) == (52, False, None)


def test_against_finds_equal_texts_though_all_must_be_equal(report, write, simplified):
    write("new/1", simplified)
    write("old/1", simplified.replace("，", " "))

    found = report("new", "--against", "old", "--similarity", "1", "--features", "words")

    assert [set(group) for group in grouped(found)] == [{"new/1", "old/1"}]


def test_filters_reach_the_walk(report, write, english):
    for path in ("a.txt", "b.txt", "c.md", "drafts/d.txt", ".hidden.txt"):
        write(path, english)
    write("tiny.txt", SHORT)

    found = report(".", "--include", "*.txt", "--exclude", "drafts", "--min-size", "0.1kB")

    assert grouped(found) == [["./a.txt", "./b.txt"]]
    assert reasons(found) == {
        "./c.md": "excluded",
        "./drafts": "excluded",
        "./.hidden.txt": "hidden",
        "./tiny.txt": "too small",
    }
    assert grouped(report(".", "--hidden", "--max-depth", "1", "--include", ".h*")) == []


def test_gitignore_reaches_the_walk(report, write, english):
    write(".gitignore", "*.bak\n")
    write("a", english)
    write("a.bak", english)

    found = report(".", "--gitignore")

    assert found["groups"] == []
    assert reasons(found)["./a.bak"] == "git-ignored"


# Lists of files


@any_name
def test_files_from_with_null_takes_any_name(report, write, english):
    names = [b"new\nline", b"\xff\xfe.txt", b"-0"]
    for name in names:
        write(name, english)
    write("list", b"\0".join(names) + b"\0")

    (group,) = report("--files-from", "list", "-0")["groups"]

    assert {raw(member) for member in group["members"]} == set(names)


def test_files_from_reads_stdin(simdup, write, english):
    write("a", english)
    write("b", english)

    ended = simdup("scan", "--files-from", "-", "--format", "fdupes", "-q", input=b"a\nb\n")

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"a\nb\n\n", b"")


# Reports


@pytest.fixture
def forms(write):
    """Ten forms of one template, and a copy of one of them."""
    for number in range(10):
        write(f"forms/{number}", filled_form(number))
    write("forms/copy of 4", filled_form(4))


SET_ASIDE = "set aside 45 pairs of one pattern"


@pytest.mark.usefixtures("forms")
def test_siblings_are_counted_and_shown_if_they_are_asked_for(run):
    plain, shown = run("scan", "forms"), run("scan", "forms", "--siblings")

    assert plain.err.decode().splitlines()[1] == f"{SET_ASIDE} (--siblings shows them)"
    assert shown.err.decode().splitlines()[1] == SET_ASIDE
    section, groups = shown.out[: -len(plain.out)].decode(), shown.out[-len(plain.out) :]
    assert groups == plain.out
    assert plain.out.startswith(b"Group 1: identical bytes, 2 files, ")
    title, _, head, sharing, _, *others = section.splitlines()
    assert title.startswith("Filled-in forms and the like: not duplicates, ")
    assert head.startswith("Group 2: same pattern, 10 files")
    assert " alike, " in sharing
    assert " of it shared with about " in sharing
    assert [line for line in others if line.startswith("   69.8 %  ")] == others[:9]


def test_a_book_and_its_chapters_are_one_list_if_parts_are_asked_for(run, write):
    words = [f"word{place}" for place in range(1200)]
    write("in/book.txt", " ".join(words))
    for number in range(3):
        write(f"in/chapter {number}.txt", " ".join(words[number * 300 :][:300]))

    plain, parts = run("scan", "in"), run("scan", "in", "--parts")

    assert plain.out.decode().count("    100 %  ") == 3
    first, *others, end = parts.out.decode().splitlines()
    assert (first, end) == ("Parts of in/book.txt:", "")
    assert [line.split(",")[0] for line in others] == [
        f"    100 % of in/chapter {number}.txt" for number in range(3)
    ]
    assert b"needs a look: 3 parts of longer texts\n" in plain.err


@pytest.mark.usefixtures("forms")
@pytest.mark.parametrize("form", [["--format", "names"], ["--format", "fdupes"], ["-0"]])
def test_a_list_of_names_has_no_siblings(run, form):
    assert run("scan", "forms", "--siblings", *form).out == run("scan", "forms", *form).out != b""


@pytest.mark.usefixtures("forms")
def test_an_own_share_of_0_groups_siblings(run):
    ended = run("scan", "forms", "--own-share", "0")

    assert ended.out.startswith(b"Group 1: identical bytes, 2 files, ")
    assert ended.out.endswith(b"  and 9 more are related: --related\n\n")
    assert b"set aside" not in ended.err
    lenient = run("scan", "forms", "--own-share", "30%")
    assert lenient.out.startswith(b"Group 1: identical bytes, 2 files, ")


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "csv", "names", "fdupes"])
def test_a_report_of_nothing_is_one_of_its_format(run, form):
    ended = run("scan", ".", "--format", form)

    assert ended.code == 0
    if form == "json":
        assert json.loads(ended.out)["groups"] == []
    elif form == "jsonl":
        assert json.loads(ended.out)["type"] == "scan"
    elif form == "csv":
        assert ended.out.decode() == (
            "group,kind,representative,similarity,own_share,distance,size,encoding,path"
            ",set,set_kind,byte_digest,words_digest,unread,score,tier\n"
        )
    else:
        assert ended.out == b""


def test_a_chinese_name_in_another_locale_is_escaped_in_text_and_kept_in_json(
    simdup, write, english
):
    write("钟", english)
    write("表", english)
    latin = {"PYTHONIOENCODING": "latin-1"}

    text = simdup("scan", ".", "-q", environment=latin)
    whole = simdup("scan", ".", "-q", "--format", "json", environment=latin)

    assert (text.returncode, whole.returncode) == (0, 0)
    assert b"./\\u8868" in text.stdout
    assert grouped(json.loads(whole.stdout)) == [["./表", "./钟"]]


# Messages on stderr


def test_quiet_says_nothing(run, write, refused):
    write("a", SHORT)
    refused("./a")

    ended = run("scan", ".", "-q")

    assert (ended.code, ended.out, ended.err) == (3, b"", b"")


def test_of_many_warnings_the_rest_is_counted(run, write):
    write("list", "".join(f"gone{number:02}\n" for number in range(13)))

    ended = run("scan", "--files-from", "list")

    said = ended.err.decode().splitlines()
    assert ended.code == 3
    assert said[0] == "simdup: gone00: not found (No such file or directory)"
    assert said[10] == "simdup: and 3 more that could not be read"
    assert len(said) == 12


# Exits


def test_fail_on_found_exits_with_1_only_when_there_is_a_group(run, write, english):
    write("a", english)
    assert run("scan", ".", "--fail-on-found").code == 0

    write("b", english)
    assert run("scan", ".", "--fail-on-found").code == 1
    assert run("scan", ".").code == 0


def test_related_texts_are_not_found_for_the_exit_code_and_not_named(run, write, english):
    words = english.split()
    words[::8] = ["other"] * len(words[::8])
    write("a", english)
    write("b", " ".join(words))

    ended = run("scan", ".", "--fail-on-found", "--format", "names")
    assert (ended.code, ended.out) == (0, b"")
    assert b"0 groups are near (versions and copies), 1 is related: --related" in ended.err
    assert run("scan", ".", "--format", "names", "--related").out == b"./a\n./b\n\n"


def test_an_unreadable_file_exits_with_3_though_a_group_was_found(run, write, english, refused):
    for name in "abc":
        write(name, english)
    refused("./b")

    ended = run("scan", ".", "--fail-on-found", "--format", "fdupes")

    assert ended.code == 3
    assert ended.out == b"./a\n./c\n\n"
    assert ended.err.startswith(b"simdup: ./b: unreadable (Permission denied)\n")


def test_without_a_path_a_scan_reads_the_current_folder(run, write, english):
    write("a", english)
    write("b", english)

    ended = run("scan", "--format", "fdupes")

    assert (ended.code, ended.out) == (0, b"./a\n./b\n\n")


@pytest.mark.parametrize("share", ["0.8", ".8", "80", "80%", " 80 %"])
def test_a_similarity_may_be_given_in_per_cent(report, write, english, share):
    write("a", english)

    assert report(".", "-s", share)["settings"]["similarity"] == 0.8


def test_no_command_shows_help_and_exits_with_2(run):
    ended = run()

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith(b"Usage: simdup ")


def test_help_and_version_are_results(run):
    assert run("--version").out == b"simdup, version 0.1.0\n"
    assert run("--version", "scan", "missing").out == b"simdup, version 0.1.0\n"
    for arguments in (["--help"], ["-h"], ["scan", "-h"], ["compare", "--help"]):
        ended = run(*arguments)
        assert (ended.code, ended.err) == (0, b"")
        assert ended.out.startswith(b"Usage: simdup ")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_verbose_version_names_the_kernels_and_what_is_missing(run, monkeypatch, is_there):
    def without_rjieba(name):
        if name == "rjieba":
            raise PackageNotFoundError
        return "1.2.3"

    monkeypatch.setattr("simdup.versions.version", without_rjieba)
    monkeypatch.setattr("simdup.compute.compiled.is_installed", lambda: is_there)

    first, *lines = run("--verbose", "--version").out.decode().splitlines()

    kernels = "numba 1.2.3 for large work, numpy for small" if is_there else "numpy"
    assert first == "simdup, version 1.2.3"
    assert f"kernels: {kernels}" in lines
    assert "jieba 1.2.3" in lines
    assert "rjieba not installed: Chinese words by jieba (pip install 'simdup[fast]')" in lines


# Read only


def test_quiet_keeps_warnings_of_the_store_too(run, write):
    write("a", SHORT)
    write("file", "no folder")

    for arguments, lines in (((), 2), (("-q",), 0)):
        ended = run("scan", "a", "--cache", "file/store", *arguments)

        assert ended.code == 0
        assert ended.err.count(b"\n") == lines


def test_without_a_home_folder_a_scan_uses_no_store_and_no_list(run, write, english, monkeypatch):
    def unknown(number):
        raise KeyError(number)

    places = ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME")
    for name in ("HOME", "SIMDUP_CACHE", "SIMDUP_IGNORED", *(f"XDG_{place}" for place in places)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    write("in/a", english)
    write("in/b", english)

    ended, quiet, cache = run("scan", "in"), run("scan", "in", "-q"), run("cache", "info")

    warning, summary, *_ = ended.err.decode().splitlines()
    assert warning == (
        "simdup: this user has no home folder; set HOME, or name the file (--cache, --ignored);"
        " going on without the store and the list of ignored pairs"
    )
    assert (ended.code, summary[:7]) == (0, "1 group")
    assert (quiet.code, quiet.err, quiet.out) == (0, b"", ended.out)
    line = b"simdup: this user has no home folder; set HOME, or name the file\n"
    assert (cache.code, cache.err) == (2, line)
    assert (run("ignore", "list").code, run("ignore", "list").err) == (2, line)


# The groups of an index


@pytest.fixture
def tree(write, english, simplified):
    """Copies, look-alikes, short texts, in several encodings; one is binary."""
    for number in range(24):
        write(f"in/{number % 3}/{number}", alike(number // 4, edits=number % 4 * 5))
    for codec in ("gbk", "utf-8", "utf-16"):
        write(f"in/{codec}", simplified.encode(codec))
    for number in range(4):
        write(f"in/short{number}", f"only a few words here {number // 2}")
    write("in/e", english)
    write("in/copy", english)
    write("in/binary", bytes(99))
    return os.path.abspath("in")


@pytest.fixture
def built(run, tree):
    assert run("index", "build", "x", tree, "-q").code == 0
    return "x"


@pytest.mark.parametrize("form", ["text", "csv", "names", "-0"])
def test_a_scan_of_an_index_reports_the_same_as_a_scan_of_its_files(run, built, tree, form):
    shape = ["-0"] if form == "-0" else ["--format", form]

    # An index keeps no sketches, which own shares are made of.
    scanned = run("scan", tree, "--own-share", "0", *shape, "-q")
    grouped = run("scan", "--index", built, "--own-share", "0", *shape, "-q")

    assert (grouped.code, grouped.err) == (0, b"")
    assert grouped.out == scanned.out != b""


@pytest.mark.parametrize(
    "options",
    [
        ("--own-share", "0", "--linkage", "components"),
        ("--no-verify",),
        ("--bits", "64", "-k", "3"),
    ],
    ids=" ".join,
)
def test_a_scan_of_an_index_has_the_same_json_but_for_reading(report, built, tree, options):
    scanned, grouped = report(tree, *options), report("--index", built, *options)

    assert len(grouped["groups"]) > 3
    # An index knows neither the device nor the links of a file, and not always its ctime.
    for each in (m for found in (scanned, grouped) for g in found["groups"] for m in g["members"]):
        each |= {"device": None, "links": None, "ctime_ns": None}
    for part in ("settings", "groups", "candidates", "complete"):
        assert grouped.get(part) == scanned.get(part)
    assert grouped["stats"]["fingerprinted"] == grouped["stats"]["found"] == 33
    assert grouped["skipped"] == []


def test_fail_on_found_applies_to_an_index(run, built, tree):
    assert run("scan", "--index", built, "--fail-on-found").code == 1
    run("index", "remove", built, tree)
    assert run("scan", "--index", built, "--fail-on-found").code == 0


def test_an_index_of_words_is_grouped_with_its_stop_words(run, write, english):
    write("stop", "the\n")
    for name in "ab":
        write(f"in/{name}", english)
    words_of = ("--features", "words", "--stop-words", "stop")
    run("index", "build", "x", "in", *words_of)

    assert run("scan", "--index", "x").code == 2
    for options in (words_of, words_of[2:]):
        ended = run("scan", "--index", "x", *options)

        assert (ended.code, ended.out.count(b"\n")) == (0, 4)


def test_the_next_command_compares_two_files_that_differ(run, write, english):
    """Exact copies in a work tree are kept, so there is nothing to remove either."""
    write("in/.git/HEAD", english)
    for name in ("in/a.txt", "in/b.txt"):
        write(name, english)
    assert b"next: " not in run("scan", "in").err

    write("in/wide.txt", english.encode("utf-16"))
    *_, last = run("scan", "in").err.decode().splitlines()
    assert last.startswith("next: simdup compare in/")
    assert last.endswith(" in/wide.txt --diff")
