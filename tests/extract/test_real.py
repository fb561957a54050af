"""Our own documents as other programs write them: `real/make.py` says which, and packs them."""

from __future__ import annotations

import tarfile
import unicodedata
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path
from shutil import which

import pytest

from simdup.extract.readers import Identified, Readers
from simdup.fingerprint.tokens import placed_tokens
from simdup.recipe import Recipe
from simdup.settings import FORMATS, Converter
from simdup.text.encodings import decode, detect

with tarfile.open(Path(__file__).parent / "real" / "documents.tar.xz") as packed:
    FILES = {each.name: packed.extractfile(each).read() for each in packed}
NEEDED = {"pdf": "pypdfium2"}


@pytest.fixture(scope="module")
def readers():
    with closing(Readers(FORMATS)) as readers:
        yield readers


def words(text):
    _, begins, ends = placed_tokens(text, Recipe())
    found = (text[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))
    return [unicodedata.normalize("NFKC", word).casefold() for word in found]


def differences(one, other):
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [(one[a:b], other[c:d]) for kind, a, b, c, d in steps if kind != "equal"]


def read(readers, name):
    data = FILES[name]
    found = readers.settled(readers.identify(data, name), data)
    return readers.text(found, data) or decode(data, detect(data))


# What a program writes beside our words, or elsewhere: what is missing from the text, and what is
# added. Only these differences are known.
MARK = [("", "1")]
LIST = [("", "1"), ("", "1")]
LATE_EN = "the tape belongs to the rowing club and is hung behind the trophy cabinet"
LATE_ZH = " ".join("卷尺是划艇俱乐部的平时挂在奖杯柜的后面")
TABLE = "item quantity price oak beam 2 340 coach bolts 48 96 hire of a raft 3 days 210"
FOOT = "edge the compost heaps for a few more years"
KNOWN = {
    # The number of a note is a character of the text.
    **dict.fromkeys(("calibre.epub", "calibre.rtf", "pandoc.epub", "pandoc.html"), MARK),
    # The note has its number too, or the list of notes has.
    **dict.fromkeys(("chromium.pdf", "wkhtmltopdf.pdf", "pandoc.ipynb"), LIST),
    "en.libreoffice.html": [("", "1"), ("the", "1the"), ("", "1")],
    "zh.libreoffice.html": [*LIST, ("", "1")],
    # A page of one number, which no other page confirms.
    **{key: [*LIST, ("", "1")] for key in ("groff.pdf", "zh.libreoffice.pdf")},
    # Notes have a heading of their own, on a slide and in a man page.
    **{key: [*MARK, ("", "notes 1")] for key in ("libreoffice.ppt", "pandoc.pptx", "pandoc.man")},
    "calibre.docx": [("", "table of contents 1"), ("", "1")],
    # LibreOffice leaves out the heads of tables.
    "en.libreoffice.epub": [*MARK, ("item quantity price", ""), ("the", "1the")],
    "zh.libreoffice.epub": [*MARK, (" ".join("项目数量价格"), ""), *MARK],
    # Tables of slides come before their text in the file.
    "en.libreoffice.odp": [("", TABLE), *MARK, (TABLE, ""), ("", "notes 1")],
    # Notes stand where they are referred to, or at the foot of the page.
    "en.pandoc.tex": [("", LATE_EN), (LATE_EN, "")],
    "zh.pandoc.tex": [("", LATE_ZH), (LATE_ZH, "")],
    "en.pdflatex.pdf": [*MARK, ("", f"1{LATE_EN}"), (LATE_EN, "")],
    "en.libreoffice.pdf": [*MARK, (FOOT, "1"), ("", FOOT)],
}


def known(name):
    return KNOWN.get(name) or KNOWN.get(name.partition(".")[2], [])


@pytest.mark.parametrize("name", [name for name in FILES if name.count(".") == 2])
def test_a_file_of_another_program_has_our_words(name, readers):
    ending = name.rpartition(".")[2]
    if package := NEEDED.get(ending):
        pytest.importorskip(package)
    source = f"{name[:2]}.{'csv' if ending in {'xls', 'xlsx', 'ods'} else 'txt'}"

    found = differences(words(FILES[source].decode()), words(read(readers, name)))

    assert [(" ".join(one), " ".join(other)) for one, other in found] == known(name)


@pytest.mark.slow
def test_files_with_our_words_are_one_set_for_each_language(report, write):
    for name, data in FILES.items():
        if not known(name) and not name.endswith((".csv", ".ods", ".xls", ".xlsx")):
            write(f"in/{name}", data)

    found = report("in")

    groups = [{each["path"][3:] for each in group["members"]} for group in found["groups"]]
    assert sorted(map(len, groups)) == [10, 11]
    assert all(len({name[:2] for name in group}) == 1 for group in groups)
    kinds = {each["kind"] for group in found["groups"] for each in group["members"][1:]}
    assert kinds == {"same words"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("command", ["antiword -m UTF-8.txt {}", "catdoc -d utf-8 {}"])
def test_programs_of_the_manual_convert_word_documents(language, command, tmp_path):
    if not which(command.split()[0]):
        pytest.skip(f"no {command.split()[0]} here")
    (tmp_path / "a.doc").write_bytes(FILES[f"{language}.libreoffice.doc"])

    with closing(Readers((), [Converter.of(f"doc={command}")])) as readers:
        found = Identified(str(tmp_path / "a.doc"), converter=Converter.of(f"doc={command}"))
        got = words(readers.text(found, b""))

    missing = [one for one, _ in differences(words(FILES[f"{language}.txt"].decode()), got) if one]
    assert len(missing) < 5
