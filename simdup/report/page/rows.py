"""The groups of rows of a corpus as one HTML page, which stays bounded however many there are."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from simdup.corpus.records import CorpusResult, RowGroup, RowPlace
from simdup.progress import Progress
from simdup.records import SHORT
from simdup.report.json_csv import settings_fields
from simdup.report.page import LARGEST_PAGE
from simdup.report.page.frame import page_bytes
from simdup.report.page.groups import MOST_SKIPPED, Names, PageTexts, found_fields, group_page
from simdup.report.rows import id_as_text, named_parts
from simdup.report.text import estimate
from simdup.report.wording import printable

#: The most bytes of a page that its list of groups takes; texts take the rest.
LARGEST_LIST = LARGEST_PAGE // 2

#: The most rows of a group that are listed; all are counted.
MOST_ROWS = 1000

#: The most characters of a text that the list shows, and the most bytes of all these beginnings.
BEGINNING = 100
BEGINNINGS = LARGEST_PAGE // 10


def render_rows(  # noqa: PLR0913  (the result, and its form)
    result: CorpusResult,
    ids: Sequence[Any] | None,
    progress: Progress,
    *,
    language: str | None,
    read: Callable[[int], str | None] | None = None,
    day: float | None = None,
) -> Iterator[str]:
    """The lines of the page; `language` is one of LANGUAGES, None follows the reader's browser.

    `ids` has the id of every member, group after group; None names rows by place. `read` takes
    the place of a member among all members, and returns its text, or None if there is no room for
    it; without `read` the page has no texts. `day` is in seconds since 1970, or None.
    """
    listed = _Listed(result, ids)
    data = listed.data()
    texts = None
    if read is not None:
        reads = ((number, listed.reads(number, read)) for number in listed.places)
        texts = PageTexts(progress(reads, "texts", len(listed.places)))
    return group_page(data, language, day, texts, spare=BEGINNINGS)


class _Listed:
    """The groups that the page lists: the most similar ones that fit in LARGEST_LIST."""

    def __init__(self, result: CorpusResult, ids: Sequence[Any] | None) -> None:
        paths = result.balance.paths
        root = os.path.join(os.path.dirname(paths[0]), "") if len(paths) == 1 else ""
        self.result, self.ids, self.names = result, ids, Names(root)
        #: Two dictionaries by the number of a group: the places of its listed members, and the
        #: beginning of its first text.
        self.places, self.beginnings = dict[int, list[int]](), dict[int, str]()
        self.groups = list[list[Any]]()
        self.room = BEGINNINGS
        room, begin = LARGEST_LIST, 0
        for group in result.groups:
            order, sets = _together(result.prints.text_digests[begin:][: len(group.rows)])
            places = order[:MOST_ROWS]
            fields = self._group(group, begin, places, sets)
            room -= page_bytes(fields)
            if room < 0:
                break
            self.groups.append(fields)
            self.places[group.id] = [begin + place for place in places]
            begin += len(group.rows)

    def data(self) -> dict[str, Any]:
        """The data of the page, ready for JSON; all names are printable."""
        result, balance = self.result, self.result.balance
        return {
            "page": "rows",
            "places": list(map(printable, balance.paths)),
            "figures": [
                ["rows", balance.compared, None],
                ["groups", balance.groups, "inSeconds", f"{balance.seconds:.1f}", 0],
                ["members", balance.members, None],
                ["dropped", balance.dropped, None],
                ["skipped", balance.rows_in - balance.compared, None],
            ],
            "settings": settings_fields(result.settings),
            "read": balance.compared,
            **found_fields(self.names, result.candidates, named_parts(result)),
            "skips": {fault.value: number for fault, number in result.faults.items()},
            "skipped": _faulty(result),
            "groups": self.groups,
            "moreGroups": balance.groups - len(self.groups),
            "siblings": result.siblings,
            # Filled in while texts are read, before the data is written.
            "beginnings": self.beginnings,
        }

    def _group(
        self, group: RowGroup, begin: int, places: Sequence[int], sets: list[list[int]]
    ) -> list[Any]:
        """A group as the page reads it in data.js.

        `places` are the places of its listed members in the group; `begin` is the place of its
        first member among all members.
        """
        where = self.result.rows.places(np.array([group.rows[place] for place in places]))
        # Where there are only two texts, one of them is the representative's.
        has_prints = len(sets) > 2
        members = [
            self._member(group, place, begin, named, has_print=has_prints)
            for place, named in zip(places, where, strict=True)
        ]
        more = len(group.rows) - len(places)
        return [group.id, group.kind.value, members, sets, None, None, more]

    def _member(
        self, group: RowGroup, place: int, begin: int, named: tuple[str, int], *, has_print: bool
    ) -> list[Any]:
        result, (path, row) = self.result, named
        known, distance = group.similarities[place], group.distances[place]
        alike = estimate(known, distance, result.settings.recipe.bits)
        own, count = group.own_shares[place], int(result.prints.counts[begin + place])
        folder = self.names.folder(path.removeprefix(self.names.root))
        fields = [
            *(folder, str(row), int(result.rows.lengths[group.rows[place]])),
            *(None, None, count, int(count < SHORT), 0, None),
            *(group.kinds[place].value, distance, round(alike, 6), int(known is not None)),
            None if own is None else round(own, 6),
            b64encode(result.prints.rows[begin + place]).decode() if has_print else None,
        ]
        name = None if self.ids is None else self.ids[begin + place]
        return fields if name is None or isinstance(name, RowPlace) else [*fields, id_as_text(name)]

    def reads(
        self, number: int, read: Callable[[int], str | None]
    ) -> Iterator[Callable[[], str | None]]:
        """Yield functions that read the texts of listed members; the first notes how it begins."""
        first, *others = self.places[number]
        yield partial(self._read_first, number, partial(read, first))
        yield from (partial(read, place) for place in others)

    def _read_first(self, number: int, read: Callable[[], str | None]) -> str | None:
        text = read()
        if text is not None:
            words = printable(" ".join(text[: 2 * BEGINNING].split()))[:BEGINNING]
            self.room -= page_bytes({number: words})
            if self.room > 0:
                self.beginnings[number] = words
        return text


def _together(digests: np.ndarray) -> tuple[list[int], list[list[int]]]:
    """The first MOST_ROWS places of a group's rows, equal texts side by side, and their sets.

    A set is the rows of one text, as a list of ones, one for each of its listed rows: nothing is
    known about the bytes of rows.
    """
    _, first, text = np.unique(digests, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first[text.ravel()], kind="stable")[:MOST_ROWS]
    _, counts = np.unique(first[text.ravel()][order], return_counts=True)
    return order.tolist(), [[1] * count for count in counts.tolist()]


def _faulty(result: CorpusResult) -> list[list[str]]:
    """Place, fault and detail of the first rows that were not compared."""
    return [
        [printable(f"{path}:{flaw.row}"), flaw.fault.value, printable(flaw.detail)]
        for path, flaw in ((each.path, each.flaw) for each in result.faulty[:MOST_SKIPPED])
    ]
