"""What subtitles say, without numbers, times and marks."""

from __future__ import annotations

import pytest

from simdup.extract.cleanup import NotReadable
from simdup.extract.subtitles import ass, srt, vtt

CUE = "1\n00:00:01,000 --> 00:00:02,500\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{CUE}Tea?\n\n2\n00:00:03,000 --> 00:00:04,000\nNo.\nThanks.\n", "Tea?\nNo.\nThanks."),
        (
            f"{CUE}<i>Tea</i>, <font color='red'>red</font>{{\\an8}} &amp; <b>hot\n",
            "Tea, red & hot",
        ),
        (f"{CUE}1 < 2 and 3 > 2 <3\n", "1 < 2 and 3 > 2 <3"),
        (f"{CUE}1984\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n", "1984\n42"),
        (f"{CUE.replace(',', '.')}A dot.\n", "A dot."),
        (f"{CUE.rstrip()}  X1:1 X2:2 Y1:3 Y2:4\nA place.\n", "A place."),
        ("0:0:1,0 --> 0:00:02,5\nNo number.\n\n00:00:03,000 --> 0:00:04,000\nB\n", None),
        (f"{CUE[2:]}No number.\n\n00:00:03,000 --> 00:00:04,000\nB\n", "No number.\nB"),
        (f"{CUE}One\n\nstill one\n2\n00:00:03,000 --> 00:00:04,000\nTwo\n", "One\nstill one\nTwo"),
        (CUE + "喝茶\n还是咖啡？\n", "喝茶\n还是咖啡？"),
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


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("00:01.000 --> 00:02.000 line:0%\n<v.loud Ann>Tea?</v>\n<c.red.big>No</c>", "Tea?\nNo"),
        ("an id\n00:00:01.000 --> 00:00:02.000\nA<00:00:01.500>B &lt;i&gt;&nbsp;C", "AB <i> C"),
        ("NOTE a\nb\n\nREGION\nid:a\n\n00:01.000 --> 00:02.000\nTea?", "Tea?"),
        ("00:01.000 --> 00:02.000\nTea\n\nafter an empty line", "Tea\nafter an empty line"),
    ],
)
def test_webvtt(source, expected):
    assert vtt(f"WEBVTT Kind: captions\n\n{source}\n".encode()) == expected


def test_webvtt_without_cues():
    with pytest.raises(NotReadable, match="^no subtitles$"):
        vtt(b"WEBVTT\n\nis a format of the web\n")


HEAD = "[Script Info]\nTitle: a\n[Fonts]\nDialogue: 0,,,,,,,,,no\n[Events]\n"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("Dialogue: 0,0:00:01.00,0:00:02.00,A,,0,0,0,,Tea, please", "Tea, please"),
        ("Dialogue: 0,1,2,A,,0,0,0,,{\\i1}Tea\\N{\\i0}and\\hmilk\\nhot", "Tea\nand milk hot"),
        ("Dialogue: 0,1,2,A,,0,0,0,,a{\\p1}m 0 0 l 9 9{\\p0}b{\\pos(1,2)}c", "abc"),
        ("Comment: 0,1,2,A,,0,0,0,,no\nDialogue: 0,1,2,A,,0,0,0,,yes", "yes"),
        ("Format: Start, End, Text\nDialogue: 1,2,a, b", "a, b"),
    ],
)
def test_substation_alpha(events, expected):
    assert ass(f"{HEAD}{events}\n".encode()) == expected
