r"""Text files with markup beside their text: subtitles, TeX, man pages and the like.

`written_as` tells them by their first characters, and where these are not certain by the name
too. Their readers, of which the one for Markdown is here, find out the rest: a file that only
begins like one of them is `NotReadable`, and then it stays plain text.

Reading takes time in proportion to the length of a file: no pattern can match the same characters
in two ways.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from simdup.extract.cleanup import NotReadable, check_length, with_unread
from simdup.text.encodings import NotText, decode, detect


class _Sign(NamedTuple):
    """How the files of a format begin, and how their names may end."""

    format: str
    """The value of its `sniff.Format`."""
    begin: re.Pattern[str]
    """Matches the first characters of a file."""
    endings: tuple[str, ...] = ("",)
    """The endings of the name that such a file may have; an empty one means any."""


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

# By the first character of a file other than a blank.
_SIGNS: dict[str, tuple[_Sign, ...]] = {
    "W": (_Sign("vtt", re.compile(r"WEBVTT(?=\s)")),),
    "[": (_Sign("ass", re.compile(r"\[Script Info\]")),),
    "{": (
        _Sign("ipynb", re.compile(r"\{\s*\"cells\"\s*:\s*\[")),
        _Sign("ipynb", re.compile(r"\{"), (".ipynb",)),
    ),
    "-": (_Sign("md", re.compile(_YAML), _MARKDOWN),),
    "+": (_Sign("md", re.compile(_TOML), _MARKDOWN),),
    "\\": (
        _Sign("tex", re.compile(r"\\document(?:class|style)\b")),
        _Sign("man", re.compile(r"\\\"")),
    ),
    "%": (_Sign("tex", re.compile(r"(?:%.*\n|\s)*\\document(?:class|style)\b")),),
    **dict.fromkeys("0123456789", (_Sign("srt", re.compile(_SRT)),)),
    **dict.fromkeys(".'", (_Sign("man", re.compile(r"[.'][ \t]*(?:\\|\w{2}\b|\r?\n)")),)),
}
_FIRST = re.compile(r"\s*(?=(\S))")
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


def written_as(head: str, name: str) -> str | None:
    r"""The format of the text that begins with `head`, by its usual ending; None if it is plain.

    Of `head` only ASCII is looked at.

    >>> written_as("1\n00:00:01,000 --> 00:00:02,500\nTea?\n", "a.txt")
    'srt'
    """
    first = _FIRST.match(head)
    if first is None:
        return None
    lower = name.lower()
    for sign in _SIGNS.get(first.group(1), ()):
        if lower.endswith(sign.endings) and sign.begin.match(head, first.end()):
            return sign.format if sign.format != "man" or _is_manual(head) else None
    return "tex" if lower.endswith(_TEX) and _TEX_COMMAND.search(head) else None


def _is_manual(head: str) -> bool:
    """Whether a text has the title of a man page, and after it a section."""
    title = _MAN_TITLE.search(head)
    return title is not None and _MAN_SECTION.search(head, title.end()) is not None


def characters(data: bytes) -> str:
    """The characters of a text file, whatever its encoding. Raises NotReadable."""
    found = detect(data)
    if isinstance(found, NotText):
        raise NotReadable(f"not text: {found.detail}")
    return decode(data, found)


def table(pairs: str) -> dict[str, str]:
    """Map each word to the next one: the words are keys and values in turn.

    >>> table("alpha α beta β")
    {'alpha': 'α', 'beta': 'β'}
    """
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def markdown(data: bytes) -> str:
    r"""The text after the front matter, which is YAML or TOML between two rulers.

    Raises NotReadable for a file without front matter.

    >>> markdown(b"---\ntitle: Tea\ntags: [a, b]\n---\n\nWarm the pot.\n")
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
