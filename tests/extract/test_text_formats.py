"""Text files of which a part is read, whatever is wrong with them."""

from __future__ import annotations

import json
from contextlib import closing, suppress

import makers
import pytest
from patience import grows_evenly
from shown import shown

from simdup.extract.cleanup import NotReadable
from simdup.extract.readers import READERS, UNGUARDED, Readers
from simdup.extract.sniff import TEXTS
from simdup.extract.text_formats import ass, ipynb, md, srt, vtt
from simdup.settings import FORMATS

MAKERS = {
    "srt": makers.srt,
    "vtt": makers.vtt,
    "ass": makers.ass,
    "md": makers.markdown,
    "ipynb": makers.notebook,
    "tex": makers.tex,
    "man": makers.man,
}
PIECES = [
    *("\\", "{", "}", "{\\", "\\{", "\\}", "\\a{", "\\a[", "[", "\\verb|", "\\'", "\\'{", "$"),
    *("%", "%\n"),
    *("\\begin{comment}", "\\begin{verbatim}", "\\begin{a}", "\\def\\a", "\\title{"),
    *("\\cite{", "\\\\["),
    *(".if n \\{\\\n", ".if '", ".if ", ".ie ", ".el ", ".de a\n", ".TS\n", '.B "', '.B \\"'),
    *(".Nm ", "\\["),
    *("\\h'", "\\s", "\\f[", "\\*(", "\\C'", "'\n", ".\n", "\\\n", ".Fl ", ".Xr a ", "T{"),
    *("1\n", "0", "00:00:01,000 --> ", "00:00:01,000 --> 00:00:02,000\n", "-->", "1\n1\n"),
    *(" \n", " ", "\n"),
    *("<i", "<", "<v ", "&", "{\\p1", "Dialogue: ", "Dialogue: ,,,,,,,,,{", "[Events]\n"),
    "NOTE\n\n",
    *("---\n", "a:\n", "a", ":", "- ", "+++\n", '"', "[[", '{"a":', ",", "0,"),
]


def test_every_such_format_is_tested():
    assert set(MAKERS) == TEXTS


@pytest.mark.slow
@pytest.mark.parametrize("found", MAKERS)
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_file_and_no_faster(found, piece):
    """A good beginning and half of one, and then the same piece again and again."""
    head = MAKERS[found]("one\n\nthing").decode("utf-8-sig")

    def read(n):
        for start in (head, head[: len(head) // 2]):
            with suppress(NotReadable):
                READERS[found]((start + (piece * n)[:n]).encode())

    assert grows_evenly(read, 40_000)


def text(readers, data, name):
    """The text of a file of this name."""
    return readers.text(readers.identify(data, name), data)


@pytest.mark.parametrize("found", MAKERS)
def test_a_cut_file_is_read_as_far_as_it_goes_or_is_plain(found):
    data = MAKERS[found]("one\n\nthing\n\n" * 20)
    with closing(Readers(FORMATS)) as readers:
        for size in range(0, len(data), 29):
            read = text(readers, data[:size], f"a.{found}")

            assert read is None or read.strip()


def test_what_only_begins_like_one_is_plain():
    with closing(Readers(FORMATS)) as readers:
        assert text(readers, b'{"cells": [', "a.ipynb") is None
        assert text(readers, b"---\na: b\n---\n", "a.md") is None
        assert text(readers, b"1\n00:00:01,000 --> 00:00:02,000\n" + b"a\n" * 30, "a.srt") is None


def test_a_notebook_is_read_in_a_process_of_its_own():
    assert {"ipynb"} == TEXTS - UNGUARDED


def test_the_encoding_that_is_named_decides():
    data = makers.srt("喝茶", "big5")
    with closing(Readers(FORMATS, (), "big5")) as readers:
        assert text(readers, data, "a.srt") == "喝茶"
    with closing(Readers(FORMATS, (), "cp1252")) as readers:
        assert text(readers, data, "a.srt") == "³Ü¯ù"


# --- Markdown: what follows the front matter ---


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: a\n---\n",
        "---\ntitle: a\n...\n",
        '---\r\ntitle: "a: b"\r\ntags: [a,\r\n  b]\r\nlist:\r\n- c\r\n  # d\r\n\r\n"e": f\r\n---\r\n',
        "---\n标题：还是\n键: 值\n---\n".replace("标题：还是", "标题: 值"),
        "---   \ntext: |\n  ---\n  b\n--- \n",
        "+++\ntitle = 'a'\n[extra]\nb = [\n  1,\n]\n+++\n",
        "\n---\ntitle: a\n---\n",
    ],
)
def test_what_follows_is_the_text_as_it_stands(front):
    body = "\n# Tea\n\n    warm the pot\n\n---\na: b\n---\n"

    assert md((front + body).encode()) == body[1:]


@pytest.mark.parametrize(
    "source",
    [
        "---\nA line that has no key\n---\n\nText\n",
        "---\ntitle: a\nand a line of prose\n---\nText\n",
        "---\ntitle: a\n\nText that goes on for ever\n",
        "---\nhttps://example.org/a\n---\nText\n",
        "+++\ntitle: a\n+++\nText\n",
        "***\na: b\n***\nText\n",
    ],
)
def test_rules_are_no_front_matter(source):
    with pytest.raises(NotReadable, match="^no front matter$"):
        md(source.encode())


def test_a_file_that_is_nothing_else():
    with pytest.raises(NotReadable, match="^nothing but front matter$"):
        md(b"---\ntitle: a\n---\n \n")


# --- notebooks: the cells ---


def notebook_of(*cells, **more):
    return json.dumps({"cells": cells, "metadata": {"a": "no"}, "nbformat": 4} | more).encode()


def test_prose_and_code_without_output():
    source = notebook_of(
        {"cell_type": "markdown", "source": ["# Tea\n", "\n", "Warm *it*."], "attachments": {}},
        {"cell_type": "code", "source": "boil(1)", "outputs": [{"text": ["no"]}]},
        {"cell_type": "raw", "source": "raw"},
    )

    assert ipynb(source) == "# Tea\nWarm *it*.\nboil(1)\nraw"


def test_version_3_has_worksheets():
    sheet = {"cells": [{"cell_type": "code", "input": ["a\n", "b"], "outputs": [{"text": "no"}]}]}

    assert ipynb(json.dumps({"worksheets": [sheet], "nbformat": 3}).encode()) == "a\nb"


@pytest.mark.parametrize(
    "data",
    [
        b'{"cells": [',
        b'{"cells": []}',
        b'{"cells": [], "nbformat": "4"}',
        b"[]",
        b'{"cells": ' + b"[" * 200_000,
        b'{"cells": ' + b'{"a":' * 200_000,
        b"\xff\xfe\0\0{",
    ],
)
def test_no_notebook(data):
    with pytest.raises(NotReadable, match=r"^no(t text: .*| notebook)$"):
        ipynb(data)


@pytest.mark.parametrize("cells", [7, {}, [7, None, "a"], [{"source": 7}], [{"source": [7, []]}]])
def test_cells_of_wrong_types(cells):
    with pytest.raises(NotReadable, match="^no text in it$"):
        ipynb(json.dumps({"cells": cells, "worksheets": cells, "nbformat": 4}).encode())


# --- subtitles, without numbers, times and marks ---


CUE = "1\n00:00:01,000 --> 00:00:02,500\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *shown("srt"),
        ("0:0:1,0 --> 0:00:02,5\nNo number.\n\n00:00:03,000 --> 0:00:04,000\nB\n", None),
    ],
)
def test_subrip(source, expected):
    if expected is None:
        with pytest.raises(NotReadable, match="^no subtitles$"):
            srt(source.encode())
    else:
        assert srt(source.encode()) == expected
        assert srt(source.replace("\n", "\r\n").encode("utf-16")) == expected


def test_a_text_that_begins_with_a_cue_is_no_subtitles():
    story = "A line of the story that follows.\n" * 20

    with pytest.raises(NotReadable, match="^no subtitles$"):
        srt(f"{CUE}Tea?\n\n{story}".encode())


@pytest.mark.parametrize("read", [srt, vtt, ass])
def test_subtitles_that_say_nothing(read):
    source = {
        srt: f"{CUE}\n",
        vtt: "WEBVTT\n\n00:01.000 --> 00:02.000\n",
        ass: "[Script Info]\n[Events]\nDialogue: 0,0,0,,,0,0,0,,{\\p1}m 0 0{\\p0}\n",
    }[read]

    with pytest.raises(NotReadable, match="^no text in it$"):
        read(source.encode())


@pytest.mark.parametrize(("source", "expected"), shown("vtt"))
def test_webvtt(source, expected):
    assert vtt(f"WEBVTT Kind: captions\n\n{source}\n".encode()) == expected


def test_webvtt_without_cues():
    with pytest.raises(NotReadable, match="^no subtitles$"):
        vtt(b"WEBVTT\n\nis a format of the web\n")


HEAD = "[Script Info]\nTitle: a\n[Fonts]\nDialogue: 0,,,,,,,,,no\n[Events]\n"


@pytest.mark.parametrize(("events", "expected"), shown("ass"))
def test_substation_alpha(events, expected):
    assert ass(f"{HEAD}{events}\n".encode()) == expected
