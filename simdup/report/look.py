"""How a report for people looks: in colours or not, on a terminal or not."""

from __future__ import annotations

from dataclasses import dataclass

from simdup.records import Kind
from simdup.report.columns import shortened

# Numbers of "select graphic rendition", ECMA-48 section 8.3.117: those that any palette has.
HEADING, ASIDE, REMARK = "1", "2", "35"
REMOVED, ADDED, PLACE = "31", "32", "36"
KINDS = {Kind.IDENTICAL_BYTES: "32", Kind.IDENTICAL_TEXT: "36", Kind.NEAR: "33"}


@dataclass(frozen=True, slots=True)
class Look:
    """What decides how lines look; as it stands, they are the same everywhere."""

    is_coloured: bool = False
    columns: int | None = None
    """Of the terminal; None: lines go elsewhere, and nothing in them is shortened."""

    def painted(self, text: str, colour: str) -> str:
        """The text in a colour, if colours are wanted."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.is_coloured and text else text

    def fitted(self, path: str, taken: int) -> str:
        """The path, shortened to what a line has left of which so many columns are taken."""
        return path if self.columns is None else shortened(path, self.columns - taken)


PLAIN = Look()
