"""Where in a document its content stands that is not words: links, pictures, cells of tables.

A place is the number of characters before it, blanks aside, so that it does not depend on the
layout. The place of a cell is its row and its column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

# Elements whose words may have a mark.
_RUNS = frozenset(("r", "p", "h", "span", "a", "table"))
#: The kind of words that are marked.
MARKED = "struck-out, raised or hidden words"
#: Elements of tables, and which part of a table each is.
PARTS = {
    **dict.fromkeys(("table", "tbl"), "table"),
    **dict.fromkeys(("tr", "table-row"), "row"),
    **dict.fromkeys(("tc", "td", "th", "table-cell", "covered-table-cell"), "cell"),
}


@dataclass(slots=True)
class _Table:
    """A table that is being read.

    rows, columns: How many times the current row and the current cell stand there.
    begin: The place where the current cell begins; None outside of cells.
    filled: The row and column of each cell with text.
    """

    row: int = 0
    rows: int = 0
    column: int = 0
    columns: int = 0
    begin: int | None = None
    filled: list[str] = field(default_factory=list)

    def end_cell(self, place: int) -> None:
        """Note the current cell if it has text."""
        if self.begin is not None and place > self.begin:
            self.filled.append(f"{self.row},{self.column}")
        self.begin = None


class Places:
    """Collects the content of a document that is not words, each with its place."""

    def __init__(self, read: Callable[[str], str] = str) -> None:
        """`read` makes the text of the source that is passed."""
        self._read, self._place, self._passed = read, 0, list[str]()
        self.others = list[tuple[str, bytes]]()
        self._tables = list[_Table]()
        self._runs = list[tuple[int, list[str]]]()
        self._marked = list[tuple[int, int, str]]()

    def noted(self) -> list[tuple[str, bytes]]:
        """All content so far, with the places of the words that have a mark."""
        marked = ((MARKED, f"{mark}".encode()) for mark in self._marked)
        return [*self.others, *marked]

    @property
    def place(self) -> int:
        """The number of characters so far, blanks aside."""
        if self._passed:
            self._place += len("".join(self._read("".join(self._passed)).split()))
            self._passed.clear()
        return self._place

    def passed(self, source: str) -> None:
        """Go on after this source."""
        self._passed.append(source)

    def note(self, kind: str, content: str, place: object = None) -> None:
        """Note content at the current place, or at another one."""
        noted = f"{self.place if place is None else place} {content}"
        self.others.append((kind, noted.encode("utf-8", "surrogatepass")))

    def begin(self, element: str, times: int = 1) -> None:
        """Note where an element begins; a row or a cell may stand there some times in a row."""
        if element in _RUNS:
            self._runs.append((self.place, []))
        part = PARTS.get(element)
        if part == "table":
            self._tables.append(_Table())
        elif part and self._tables:
            table = self._tables[-1]
            table.end_cell(self.place)
            if part == "row":
                table.row, table.rows = table.row + table.rows, times
                table.column = table.columns = 0
            else:
                table.column, table.columns = table.column + table.columns, times
                table.begin = self.place

    def end(self, element: str) -> None:
        """Note where an element ends."""
        if element in _RUNS and self._runs:
            begin, marks = self._runs.pop()
            self._note_marked(begin, " ".join(marks))
        part = PARTS.get(element)
        if part and self._tables:
            self._tables[-1].end_cell(self.place)
            if part == "table" and (filled := self._tables.pop().filled):
                self.others.append(("tables", " ".join(filled).encode()))

    def mark(self, mark: str) -> None:
        """Note how the words of the innermost element are marked, as by striking them out."""
        if mark and self._runs:
            self._runs[-1][1].append(mark)

    def _note_marked(self, begin: int, mark: str) -> None:
        """Note marked words, together with the same mark right before them."""
        if mark and self.place > begin:
            if self._marked and self._marked[-1][1:] == (begin, mark):
                begin, *_ = self._marked.pop()
            self._marked.append((begin, self.place, mark))
