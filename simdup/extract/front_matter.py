r"""Markdown without its front matter: YAML or TOML between two rulers, which describes the text."""

from __future__ import annotations

import re

from simdup.extract.cleanup import NotReadable, check_length
from simdup.extract.text_formats import characters

# The ruler at the end stands within this number of characters.
_LONGEST = 1 << 16

_END = {"---": re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)} | {
    "+++": re.compile(r"^\+\+\+[ \t]*$\n?", re.MULTILINE)
}
# A line of front matter: a key with its value, a part of a value, a comment, or nothing.
_LINE = {
    "---": re.compile(r"[^\s:#-][^:]{0,100}:(?:\s|$)|[ \t#\]}]|-(?:\s|$)|$"),
    "+++": re.compile(r"[\w\"'.-]{1,100}[ \t]*=|[ \t#\[\]}\"']|$"),
}


def text(data: bytes) -> str:
    r"""The text after the front matter. Raises NotReadable for a file without front matter.

    >>> text(b"---\ntitle: Tea\ntags: [a, b]\n---\n\nWarm the pot.\n")
    'Warm the pot.\n'
    """
    source = characters(data).lstrip()
    ruler = source[:3]
    begin = source.find("\n") + 1
    end = _END[ruler].search(source, begin, begin + _LONGEST) if ruler in _END else None
    if end is None or not all(map(_LINE[ruler].match, source[begin : end.start()].split("\n"))):
        raise NotReadable("no front matter")
    found = source[end.end() :].lstrip("\n")
    if not found.strip():
        raise NotReadable("nothing but front matter")
    check_length(len(found))
    return found
