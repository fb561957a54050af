r"""Text files with markup beside their text: subtitles, TeX, man pages and the like.

`written_as` tells them by their first characters, and where these are not certain by the name
too. Their readers find out the rest: a file that only begins like one of them is `NotReadable`, and
then it stays plain text. Here are the readers of Markdown, notebooks and subtitles.

Reading takes time in proportion to the length of a file: no pattern can match the same characters
in two ways.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from simdup.extract.cleanup import NotReadable, TextBuilder, check_length, unless_empty, with_unread
from simdup.text.encodings import NotText, declared_or_detected, decode

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".rmd", ".qmd")
_TEX = (".tex", ".latex", ".ltx")

# A time within a cue, and the first cue of a file.
_TIME = r"\d{1,4}:\d\d:\d\d[,.]\d{1,3}"
_SRT = rf"(?:\d{{1,9}}[ \t]*(?:\r\n?|\n))?{_TIME}[ \t]*-->[ \t]*{_TIME}"
# A mapping whose first line is a key, between two rulers.
_YAML = r"---[ \t]*\r?\n[^\s:#-][^:\r\n]{0,100}:(?=\s)"
_TOML = r"\+\+\+[ \t]*\r?\n[ \t]*(?:[\w\"'.-]{1,100}[ \t]*=|\[)"
# `.TH` begins a man page and `.Dd` one in mdoc, after comments and definitions.
_MAN_TITLE = re.compile(r"^\.[ \t]*(?:TH|Dd)[ \t\"]", re.MULTILINE)
_MAN_SECTION = re.compile(r"^\.[ \t]*S[Hh]\b", re.MULTILINE)

# A format, how its files begin after blanks, and how the names of such files may end.
_SIGNS: tuple[tuple[str, str, str | tuple[str, ...]], ...] = (
    ("vtt", r"WEBVTT(?=\s)", ""),
    ("ass", r"\[Script Info\]", ""),
    ("ipynb", r"\{\s*\"cells\"\s*:\s*\[", ""),
    ("ipynb", r"\{", ".ipynb"),
    ("md", rf"{_YAML}|{_TOML}", _MARKDOWN),
    ("tex", r"(?:%.*\n|\s)*\\document(?:class|style)\b", ""),
    ("man", r"\\\"|[.'][ \t]*(?:\\|\w{2}\b|\r?\n)", ""),
    ("srt", _SRT, ""),
)
_BEGINNINGS = [(name, re.compile(begin), ends) for name, begin, ends in _SIGNS]
# The characters with which these begin; other texts are not asked.
_FIRST = frozenset("W[{-+\\%.'0123456789")
# A command in every file named as TeX, even if it is only a chapter of another.
_TEX_COMMAND = re.compile(r"\\(?:documentclass|begin|chapter|(?:sub)*section)\b")

# The ruler at the end of front matter stands within this number of characters.
_LONGEST = 1 << 16

_ENDS = {"---": re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)} | {
    "+++": re.compile(r"^\+\+\+[ \t]*$\n?", re.MULTILINE)
}
# A line of front matter: a key with its value, a part of a value, a comment, or nothing.
_LINES = {
    "---": re.compile(r"[^\s:#-][^:]{0,100}:(?:\s|$)|[ \t#\]}]|-(?:\s|$)|$"),
    "+++": re.compile(r"[\w\"'.-]{1,100}[ \t]*=|[ \t#\[\]}\"']|$"),
}


# The times of a cue.
_TIME_OF_CUE = r"(?:\d{1,4}:)?\d{1,2}:\d\d[,.]\d{1,3}"
_TIMES = rf"[ \t]*{_TIME_OF_CUE}[ \t]*-->[ \t]*{_TIME_OF_CUE}.*\n?"
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


def written_as(head: str, name: str) -> str | None:
    r"""The format of the text that begins with `head`, by its usual ending; None if it is plain.

    Of `head` only ASCII is looked at.

    >>> written_as("1\n00:00:01,000 --> 00:00:02,500\nTea?\n", "a.txt")
    'srt'
    """
    head, lower = head.lstrip(), name.lower()
    for found, begin, endings in _BEGINNINGS if head[:1] in _FIRST else ():
        if lower.endswith(endings) and begin.match(head):
            return found if found != "man" or _is_manual(head) else None
    return "tex" if lower.endswith(_TEX) and _TEX_COMMAND.search(head) else None


def _is_manual(head: str) -> bool:
    """Whether a text has the title of a man page, and after it a section."""
    title = _MAN_TITLE.search(head)
    return title is not None and _MAN_SECTION.search(head, title.end()) is not None


def characters(data: bytes, label: str | None = None) -> str:
    """The characters of a text, in the encoding that it declares or has. Raises NotReadable."""
    found = declared_or_detected(data, label)
    if isinstance(found, NotText):
        raise NotReadable(f"not text: {found.detail}")
    return decode(data, found)


def tables(name: str) -> dict[str, list[str]]:
    """The words in each table of the file `name.txt` beside this module, by the table's title."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.txt"), encoding="utf-8") as file:
        found = re.findall(r"^\[(.+)\]\n([^\0]*?)(?=^\[.+\]$|\Z)", file.read(), re.MULTILINE)
    return {title: words.split() for title, words in found}


def pairs(words: Sequence[str]) -> dict[str, str]:
    """Map each word to the next one: the words are keys and values in turn.

    >>> pairs("alpha α beta β".split())
    {'alpha': 'α', 'beta': 'β'}
    """
    return dict(zip(words[::2], words[1::2], strict=True))


def by_word(tables: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Map each word to the title of its table."""
    return {word: title for title, words in tables.items() for word in words}


def kind_of(name: str, tables: dict[str, list[str]]) -> str:
    """The title of the first table with a pattern in a name: the kind of a part of a file."""
    patterns = ((kind, "|".join(each)) for kind, each in tables.items())
    found = (kind for kind, each in patterns if re.search(each, name, re.IGNORECASE))
    return next(found, "unknown parts")


def md(data: bytes) -> str:
    r"""The text after the front matter, which is YAML or TOML between two rulers.

    Raises NotReadable for a file without front matter.

    >>> md(b"---\ntitle: Tea\ntags: [a, b]\n---\n\nWarm the pot.\n")
    'Warm the pot.\n'
    """
    source = characters(data).lstrip()
    ruler = source[:3]
    begin = source.find("\n") + 1
    end = _ENDS[ruler].search(source, begin, begin + _LONGEST) if ruler in _ENDS else None
    if end is None or not all(map(_LINES[ruler].match, source[begin : end.start()].split("\n"))):
        raise NotReadable("no front matter")
    found = source[end.end() :].lstrip("\n")
    if not found.strip():
        raise NotReadable("nothing but front matter")
    check_length(len(found))
    return with_unread(found, [("metadata", source[: end.end()].encode("utf-8", "surrogatepass"))])


def ipynb(data: bytes) -> str:
    """The source of all cells of a Jupyter notebook, of version 3 or 4. Raises NotReadable."""
    try:
        found = json.loads(characters(data))
    except (ValueError, RecursionError):
        raise NotReadable("no notebook") from None
    if not isinstance(found, dict) or not isinstance(found.get("nbformat"), int):
        raise NotReadable("no notebook")
    cells = TextBuilder()
    for cell in _cells(found):
        cells.add(_source(cell) + "\n\n")
    return with_unread(unless_empty(str(cells)), _others(found))


def _others(notebook: dict[str, object]) -> Iterator[tuple[str, bytes]]:
    """The outputs and attachments of all cells, and the metadata."""
    for cell in _cells(notebook):
        for kind in ("outputs", "attachments"):
            if value := cell.get(kind):
                yield kind, json.dumps(value, sort_keys=True).encode()
    metadata = [each.get("metadata") for each in (notebook, *_cells(notebook))]
    if any(metadata):
        yield "metadata", json.dumps(metadata, sort_keys=True).encode()


def _cells(notebook: dict[str, object]) -> Iterator[dict[str, object]]:
    """The cells of a notebook, or of its worksheets."""
    yield from _objects(notebook.get("cells"))
    for sheet in _objects(notebook.get("worksheets")):
        yield from _objects(sheet.get("cells"))


def _objects(value: object) -> list[dict[str, object]]:
    """The JSON objects in a list; none for another value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _source(cell: dict[str, object]) -> str:
    """The source of a cell, stored as a string or as a list of lines."""
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


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
    return "".join(shown).replace(r"\N", "\n").replace(r"\n", " ").replace(r"\h", " ")


def _shown(text: str) -> str:
    """The text of cues without their marks."""
    unmarked = _OVERRIDE.sub("", _TAG.sub("", text))
    return unless_empty(_ENTITY.sub(lambda found: _ENTITIES[found[1]], unmarked))
