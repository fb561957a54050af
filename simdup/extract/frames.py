"""The frame of a site around the main content of a page: navigation, search boxes, footers.

Pages mark them by the elements and roles that screen readers go by (HTML Living Standard, 4.3;
WAI-ARIA 1.2, 5.3.4). Names of classes and statistics about other pages do not count, so that the
same page always has the same text. A page that marks nothing, or has little besides its
frame, stays whole.
"""

from __future__ import annotations

import re
from itertools import compress
from typing import NamedTuple

# Elements and roles of a frame, wherever they stand.
_FRAMES = frozenset(("nav", "search", "navigation", "menu", "menubar", "dialog", "alertdialog"))
# Roles and elements of a frame, unless they stand within the content.
_OUTER = frozenset(("banner", "contentinfo", "complementary", "footer", "aside"))
# The element that begins a page, or a site: it is a frame only where the content is marked.
_HEADER = "header"
_CONTENT = frozenset(("main", "article", "section"))
_ELEMENTS = _FRAMES | _OUTER | _CONTENT | {_HEADER, "form"}
# Elements without a role are content if they have these names, which are also roles of a frame.
_SHOWN = frozenset(("menu", "dialog"))

# The second blanks belong to the quote, so that no run of blanks can be divided in several ways.
_ROLE = re.compile(r"\srole\s*=\s*(?:[\"']\s*)?([a-z]+)", re.IGNORECASE)
# A form that searches says so by a whole word among its names, or has a word such as "searchform"
# anywhere and little text; an action /research/ says nothing.
_NAMES = re.compile(r"\s(?:role|class|id)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", re.IGNORECASE)
_SEARCH = re.compile(r"(?<![a-z])search(?![a-z])", re.IGNORECASE)
_PERHAPS_SEARCH = re.compile(r"(?<![a-z])search", re.IGNORECASE)
_HINTS = ("<main", "<nav", "<aside", "<footer", "<article", "search", "role=")
_HAS_CONTENT = re.compile(r"<(?:main|article)\b|\srole\s*=\s*(?:[\"']\s*)?main\b", re.IGNORECASE)

# With fewer characters of content than this, blanks aside, a page stays whole; with fewer in it, a
# form has little text.
_LEAST = 100


class _Open(NamedTuple):
    """An open element.

    depth: How many elements of its name are open, itself among them.
    begin: The number of the first piece in it.
    """

    name: str
    depth: int
    begin: int


class Frames:
    """Finds the frame among the pieces of a page, which the caller appends to `pieces`.

    An element that never ends is neither a frame nor main content.
    """

    def __init__(self, markup: str) -> None:
        self.pieces: list[str] = []
        lower = markup.lower()
        self.is_marked = any(hint in lower for hint in _HINTS)
        """Whether the page may mark its frame, so that `note` should be told of its tags."""
        self._has_content = self.is_marked and _HAS_CONTENT.search(markup) is not None
        self._frame: _Open | None = None
        self._main: _Open | None = None
        self._form: int | None = None
        """The first piece of an open form that perhaps searches."""
        self._depth = 0
        self._frames, self._mains = list[slice](), list[slice]()

    def note(self, tag: str, attributes: str) -> None:
        """Note a tag, after the pieces before it; its name is in lower case, "/p" at an end."""
        name, is_end = tag.removeprefix("/"), tag.startswith("/")
        if name == "form":
            self._note_form(attributes, is_end=is_end)
        if self._frame:
            if name == self._frame.name:
                self._frame = self._after(self._frame, self._frames, is_end=is_end)
            return
        if self._main and name == self._main.name:
            self._main = self._after(self._main, self._mains, is_end=is_end)
        if name in _CONTENT:
            self._depth = max(self._depth + (-1 if is_end else 1), 0)
        if not is_end:
            self._begin(name, attributes)

    def _note_form(self, attributes: str, *, is_end: bool) -> None:
        """Note where a form begins or ends that is a frame if it has little text."""
        if is_end and self._form is not None:
            form = slice(self._form, len(self.pieces))
            if _size(self.pieces[form]) < _LEAST:
                self._frames.append(form)
        begins = not is_end and _PERHAPS_SEARCH.search(attributes)
        self._form = len(self.pieces) if begins else None

    def _begin(self, name: str, attributes: str) -> None:
        """Note an element that begins."""
        role = found[1].lower() if (found := _ROLE.search(attributes)) else ""
        if not role and name not in _ELEMENTS:
            return
        begun = _Open(name, 1, len(self.pieces))
        if "main" in {role, name}:
            self._main = self._main or begun
        elif self._is_frame(name, role, attributes):
            self._frame = begun

    def _is_frame(self, name: str, role: str, attributes: str) -> bool:
        """Whether an element that begins here is part of the frame."""
        if name == "form":
            return any(map(_SEARCH.search, _NAMES.findall(attributes)))
        kind = role or ("" if name in _SHOWN else name)
        if kind in _FRAMES:
            return True
        is_inner = self._depth > 0 or self._main is not None
        return not is_inner and (kind in _OUTER or (kind == _HEADER and self._has_content))

    def _after(self, element: _Open, ended: list[slice], *, is_end: bool) -> _Open | None:
        """The element after a tag of its name; None if it ended, and then its pieces are noted."""
        depth = element.depth + (-1 if is_end else 1)
        if depth:
            return element._replace(depth=depth)
        ended.append(slice(element.begin, len(self.pieces)))
        return None

    def content(self) -> list[str]:
        """The pieces of the main content; all pieces if the page does not tell, or has little."""
        if not self._frames and not self._mains:
            return self.pieces
        kept = bytearray([not self._mains]) * len(self.pieces)
        for among, flag in ((self._mains, b"\1"), (self._frames, b"\0")):
            for part in among:
                kept[part] = flag * (part.stop - part.start)
        found = list(compress(self.pieces, kept))
        return found if _size(found) >= _LEAST else self.pieces


def _size(pieces: list[str]) -> int:
    """The number of characters, blanks aside."""
    return sum(len(piece.strip()) for piece in pieces)
