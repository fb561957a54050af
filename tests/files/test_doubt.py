"""Doubtful texts: they are compared, listed with the reason, and never acted on."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import makers
import pytest

from simdup.extract.cleanup import Extracted
from simdup.extract.readers import Identified, Readers
from simdup.files.scan import scan
from simdup.records import Kind
from simdup.settings import FORMATS, Limits, Settings
from simdup.text.noise import DAMAGED, LOOK_ALIKE, MANGLED, damage, is_damaged, is_mangled

CHINESE = next(text for name, text in makers.ORIGINALS.items() if name.startswith("zh"))
ENGLISH = next(text for name, text in makers.ORIGINALS.items() if name.startswith("en"))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHIFTED = str.maketrans(LETTERS, LETTERS[3:] + LETTERS[:3])


def doubts(result):
    return {Path(each.path).name: each.doubt for each in result.doubtful}


@pytest.mark.parametrize(
    ("damaged", "length", "is_doubtful"),
    [(0, 0, False), (0, 100, False), (4, 100, False), (5, 100, True), (100, 100, True)],
)
def test_one_in_twenty_characters_is_too_many(damaged, length, is_doubtful):
    assert is_damaged(damaged, length) is is_doubtful


def test_damage_of_earlier_conversions_counts_too():
    lost = "tea\ufffd\ufffdat"

    assert damage(lost) == 2
    assert damage(lost.encode().decode("gbk", "replace")) == 3
    assert damage(lost.encode().decode("cp1252")) == 6
    assert damage("tea at four, 茶") == 0


def test_a_text_full_of_replacement_characters_is_compared_and_doubtful(write, english):
    words = english.split()
    for name in "ab":
        write(f"in/{name}.txt", " ".join(f"{word}\ufffd" for word in words))
    write("in/good.txt", english)

    result = scan("in")

    assert doubts(result) == {"a.txt": DAMAGED, "b.txt": DAMAGED}
    (group,) = result.groups
    assert len(group.members) == 3
    assert {each.document.untouchable for each in group.members} == {
        None,
        "doubtful: damaged characters",
    }


def test_few_replacement_characters_are_damage_and_no_doubt(write, english):
    write("in/a.txt", english + "\ufffd" * 5)

    (document,) = scan("in").documents

    assert (document.damaged, document.doubt, document.untouchable) == (5, None, None)


def test_a_long_text_is_doubtful_too(write):
    write("in/a.txt", "tea\ufffd at four. " * 100)
    write("in/b.txt", "tea at four. \ufffd" + "and cake at five. " * 100)

    found = scan("in", Settings(limits=Limits(whole_bytes=1000)))

    assert doubts(found) == {"a.txt": DAMAGED}


@pytest.mark.parametrize("name", makers.ORIGINALS)
def test_no_original_is_mangled(name):
    assert not is_mangled(makers.ORIGINALS[name])


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3 4\n" * 99,
        "ISBN 0-306-40615-2 " * 9,
        "x\uf0b7 one bullet among many letters of a list ",
        "",
        "def is_even(number):\n    return number % 2 == 0\n" * 9,
        "ДОМ стоит у реки, и никто в нём не живёт. " * 20,
    ],
    ids=["numbers", "few letters", "a bullet", "nothing", "code", "Russian"],
)
def test_what_is_no_prose_is_not_mangled(text):
    assert not is_mangled(text)


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH.lower().translate(SHIFTED),
        "".join(chr(0xE000 + ord(each) % 999) for each in ENGLISH),
        "".join(each if each.isspace() else chr(ord(each) % 31 + 1) for each in ENGLISH),
        "".join(chr(0x4E00 + ord(each) * 7919 % 20902) for each in CHINESE if each > "\u4e00"),
    ],
    ids=["shifted letters", "private characters", "controls", "any Han"],
)
def test_what_fonts_mangle_is_seen(text):
    assert is_mangled(text)


def without_map(data):
    """A PDF whose font does not say which characters it has."""
    return data.replace(b"/ToUnicode", b"/ToUnicodX")


def with_wrong_map(data, exchange):
    """A PDF of Helvetica whose glyphs are said to be other letters."""
    names = " ".join(f"/{each.translate(exchange)}" for each in LETTERS)
    wrong = f"<< /BaseEncoding /WinAnsiEncoding /Differences [ 97 {names} ] >>".encode()
    assert b"/Encoding /WinAnsiEncoding" in data
    return data.replace(b"/Encoding /WinAnsiEncoding", b"/Encoding " + wrong)


def test_a_pdf_without_a_map_of_its_characters_is_compared_and_doubtful(write):
    pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    good = makers.printed(CHINESE)
    bad = without_map(good)
    assert bad != good
    write("in/a.pdf", bad)
    write("in/b.pdf", bad + b"\n")
    write("in/good.pdf", good)

    result = scan("in")

    assert doubts(result) == {"a.pdf": MANGLED, "b.pdf": MANGLED}
    (group,) = result.groups
    assert {each.document.untouchable for each in group.members} == {"doubtful: mangled characters"}


def test_a_pdf_with_a_wrong_map_of_its_letters_is_doubtful(write):
    pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    write("in/a.pdf", with_wrong_map(makers.printed(ENGLISH.lower()), SHIFTED))
    write("in/b.pdf", with_wrong_map(makers.printed(ENGLISH.lower()), {}))

    assert doubts(scan("in")) == {"a.pdf": MANGLED}


@pytest.mark.slow
def test_no_printed_original_is_doubtful():
    pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    as_pdf = Identified("", format="pdf")

    with closing(Readers(FORMATS)) as readers:
        found = [readers.text(as_pdf, makers.printed(text)) for text in makers.ORIGINALS.values()]

    assert set(map(type, found)) == {Extracted}


def test_every_report_lists_doubtful_files(run, write, english):
    for name in "abcdefg":
        write(f"in/{name}.txt", f"{name} " + english.replace(" ", " \ufffd"))

    ended = run("scan", "in", "--html", "page.html")
    found = json.loads(run("scan", "in", "--format", "json").out)
    lines = [json.loads(line) for line in run("scan", "in", "--format", "jsonl").out.splitlines()]

    assert b"doubtful: damaged characters)" in ended.out
    named = ", ".join(f"in/{name}.txt" for name in "abcde")
    line = f"7 doubtful texts: damaged characters in {named} and 2 more files\n"
    assert line.encode() in ended.err
    listed = [{"path": f"in/{name}.txt", "doubt": "damaged characters"} for name in "abcdefg"]
    assert found["doubtful"] == listed
    assert [each for each in lines if each["type"] == "doubtful"] == [
        {"type": "doubtful", **each} for each in listed
    ]
    assert {m["doubt"] for group in found["groups"] for m in group["members"]} == {
        "damaged characters"
    }
    assert '"doubts":7' in Path("page.html").read_text("utf-8")


def test_doubtful_files_are_no_space_to_be_freed(run, write, english):
    for name in "ab":
        write(f"in/{name}.txt", english.replace(" ", " \ufffd"))

    assert b"can be removed" not in run("scan", "in").err


def test_a_text_with_look_alike_letters_has_the_same_words_and_is_doubtful(write, english):
    write("in/good.txt", english)
    write("in/mixed.txt", english.replace("o", "о").replace("а", "a"))

    result = scan("in")

    assert doubts(result) == {"mixed.txt": LOOK_ALIKE}
    good, mixed = result.groups[0].members
    assert mixed.kind is Kind.SAME_WORDS
    assert good.document.path.endswith("good.txt")


def test_a_copy_that_was_encoded_twice_has_the_same_words_and_is_not_kept(write):
    text = "Le marché de l'été a fermé près du café où l'élève rêvait déjà de Noël. " * 3
    write("in/twice, longer.txt", text.encode().decode("cp1252"))
    write("in/z/good.txt", text)

    (group,) = scan("in").groups

    good, twice = group.members
    assert twice.kind is Kind.SAME_WORDS
    assert good.document.path.endswith("good.txt")
    assert good.document.damaged == 0
    assert twice.document.damaged == sum(c > "\x7f" for c in text)
    assert twice.document.doubt == DAMAGED


@pytest.mark.parametrize("streamed", [False, True])
def test_a_streamed_text_has_the_same_doubt(write, english, streamed):
    limits = Limits(whole_bytes=100) if streamed else Limits()
    write("in/mixed.txt", english.replace("o", "о"))
    write("in/copy.txt", english.replace("o", "о"))

    assert {*doubts(scan("in", Settings(limits=limits))).values()} == {LOOK_ALIKE}
