r"""The text of subtitles: SubRip (.srt), WebVTT (.vtt) and SubStation Alpha (.ass, .ssa).

Numbers, times, places, styles, drawings and comments are left out. Each line stays a line.
"""

from __future__ import annotations

import re

from simdup.extract.cleanup import NotReadable, TextBuilder, unless_empty
from simdup.extract.text_formats import characters

_TIME = r"(?:\d{1,4}:)?\d{1,2}:\d\d[,.]\d{1,3}"
_TIMES = rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}.*\n?"
# A cue begins with its number, which some programs leave out, and its times.
_CUE = re.compile(rf"^(?:[ \t]*\d{{1,9}}[ \t]*\n)?{_TIMES}", re.MULTILINE)
_TIMES_OF_CUE = re.compile(rf"(?:.*\n)?{_TIMES}")

# If cues have more lines than this on average, the file is another text that begins with a cue.
_MOST_LINES = 8

_TAG = re.compile(
    r"</?(?:[ibusvc]|font|lang|ruby|rt|span|br)(?:[ .\t/][^<>]{0,300})?>|<[\d:.]{5,12}>",
    re.IGNORECASE,
)
_OVERRIDE = re.compile(r"\{\\[^{}]{0,300}\}")
_ENTITY = re.compile(r"&(amp|lt|gt|nbsp|lrm|rlm);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "lrm": "", "rlm": ""}

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_UNSHOWN = ("WEBVTT", "NOTE", "STYLE", "REGION")

# So many fields of an event come before its text, which may have commas.
_FIELDS_BEFORE_TEXT = 9
_BRACES = re.compile(r"\{([^{}]*)\}")
_DRAWING = re.compile(r"\\p(\d+)")
_BREAKS = {"\\N": "\n", "\\n": " ", "\\h": " "}
_BREAK = re.compile(r"\\[Nnh]")


def srt(data: bytes) -> str:
    r"""The text of SubRip subtitles. Raises NotReadable.

    >>> srt(b"1\n00:00:01,000 --> 00:00:02,500\n<i>Tea?</i>\nNo.\n")
    'Tea?\nNo.'
    """
    before, *cues = _CUE.split(characters(data))
    lines = sum(cue.count("\n") for cue in cues)
    if before.strip() or lines > (_MOST_LINES + 1) * len(cues):
        raise NotReadable("no subtitles")
    return _shown("\n".join(cues))


def vtt(data: bytes) -> str:
    """The text of WebVTT subtitles. Raises NotReadable."""
    found = TextBuilder()
    blocks = _BLANK_LINES.split(characters(data).strip())
    timed = [_TIMES_OF_CUE.match(block) for block in blocks]
    if not any(timed):
        raise NotReadable("no subtitles")
    for block, times in zip(blocks, timed, strict=True):
        if times:
            found.add(block[times.end() :] + "\n")
        elif not block.startswith(_UNSHOWN):
            found.add(block + "\n")
    return _shown(str(found))


def ass(data: bytes) -> str:
    """The text of SubStation Alpha subtitles, in the order of the file. Raises NotReadable."""
    found, before = TextBuilder(), _FIELDS_BEFORE_TEXT
    is_event = False
    for line in characters(data).split("\n"):
        if line.startswith("["):
            is_event = line.strip().lower() == "[events]"
        elif is_event and line.startswith("Format:"):
            before = line.count(",")
        elif is_event and line.startswith("Dialogue:"):
            found.add(_event(line.split(",", before)[-1]) + "\n")
    return unless_empty(str(found))


def _event(text: str) -> str:
    r"""The text that an event shows, without drawings, which stand between {\p1} and {\p0}."""
    shown, is_drawing = [], False
    for index, piece in enumerate(_BRACES.split(text)):
        if index % 2:
            scales = _DRAWING.findall(piece)
            is_drawing = bool(scales[-1].strip("0")) if scales else is_drawing
        elif not is_drawing:
            shown.append(piece)
    return _BREAK.sub(lambda found: _BREAKS[found.group()], "".join(shown))


def _shown(text: str) -> str:
    """The text of cues without their marks."""
    unmarked = _OVERRIDE.sub("", _TAG.sub("", text))
    return unless_empty(_ENTITY.sub(lambda found: _ENTITIES[found[1]], unmarked))
