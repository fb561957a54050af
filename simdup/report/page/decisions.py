"""What the page looks up when its reader decides: files for a plan, offers, terms.

    ScanResult  ->  data.plan, which `decisions.js` reads

`clean` decides all of it (`clean.suggestion`, `clean.terms`); the page only keeps what was chosen.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timezone
from itertools import product
from typing import Any

from simdup.clean.candidates import check_result, placed, roots_of
from simdup.clean.plan import Header, header_fields
from simdup.clean.refusals import Refusal, Why
from simdup.clean.rules import Placed
from simdup.clean.suggestion import Offer, Suggestion, suggested
from simdup.clean.terms import Alike, Sort, Terms, folded_of, terms
from simdup.errors import InputError
from simdup.records import Document, Kind, ScanResult
from simdup.report.wording import printable

#: The orders that the page offers: each a name, and the rules of `clean --prefer` that make it.
ORDERS = {
    "reasons": (),
    "newest": ("newest",),
    "longest": ("longest",),
    "shortest-path": ("shortest-path",),
}

# Refusals after which a file can be neither removed nor kept for another one.
_UNFIT = {Refusal.MEMBER, Refusal.DOUBTFUL, Refusal.NOISE, Refusal.OUTSIDE}

# How alike two files are that share the first, second, ... of their `_contents`, and none of them.
_LEVELS = Alike.BYTES, Alike.TEXT, Alike.WORDS, Alike.OTHER, Alike.FOLDED, Alike.OTHER


def plan_fields(result: ScanResult, digest: str) -> dict[str, Any] | None:
    """The data of the page for decisions; None if the result does not say which files it saw.

    `digest` names the page, in 32 hexadecimal digits.
    """
    try:
        check_result(result, "")
    except InputError:
        return None
    roots = roots_of(result)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    header = Header(now, "", digest, (), roots, result.stats.found)
    suggestions = [suggested(result, rules) for rules in ORDERS.values()]
    files = _Files(suggestions[0])
    listed = [files.group(group) for group in placed(result, roots)]
    table = _Table([*files.sorts], suggestions)
    return {
        "header": header_fields(header),
        "folders": list(files.folders),
        "sep": os.sep,
        "files": listed,
        "kept": files.kept,
        "terms": [_term(asked) for asked in table.terms],
        "table": table.rows,
        "reasons": list(table.reasons),
        "orders": [
            {"name": name, "options": [word for rule in rules for word in ("--prefer", rule)]}
            | {"groups": groups}
            for (name, rules), groups in zip(ORDERS.items(), table.orders, strict=True)
        ],
    }


class _Files:
    """The fields of files, and the lists to which their numbers refer."""

    def __init__(self, suggestion: Suggestion) -> None:
        self.suggestion = suggestion
        self.folders, self.sorts = dict[str, int](), dict[Sort, int]()
        self.kept: list[list[Any] | None] = [None]
        self._places = dict[Why, int]()

    def group(self, files: Iterable[Placed]) -> list[list[Any]]:
        """The fields of the files of a group."""
        numbers = dict[Hashable, int]()
        return [self._file(file, numbers) for file in files]

    def _file(self, file: Placed, numbers: dict[Hashable, int]) -> list[Any]:
        """A file as files.js reads it; numbers that a script would round are in a string.

        The last fields say why it is kept, where the path as shown differs from the real one, the
        bytes of the real one, and how decisions.js finds its terms: its sort, and numbers that are
        equal for equal content of two files of a group.
        """
        document, source = file.document, file.document.source
        shown, (folder, name) = printable(source.path), os.path.split(source.path)
        state = source.device, source.inode, source.size, source.mtime_ns, source.ctime_ns
        candidate = self.suggestion.files.get(source.path)
        sort = candidate.sort if candidate else Sort()
        return [
            self.folders.setdefault(printable(folder), len(self.folders)),
            printable(name),
            ", ".join(map(str, state)),
            document.bytes_digest.hex(),
            document.text_digest.hex(),
            document.words_digest.hex(),
            int(document.is_whole_text),
            int(document.packing is not None),
            source.links,
            self._kept(source.path),
            None if shown == source.path else b64encode(os.fsencode(source.path)).decode(),
            self.sorts.setdefault(sort, len(self.sorts)),
            [numbers.setdefault(content, len(numbers)) for content in _contents(document)],
            numbers.setdefault(frozenset(document.unread), len(numbers)),
        ]

    def _kept(self, path: str) -> int:
        """The place of the reason for which a file is kept in any case; 0 for none."""
        why = self.suggestion.kept.get(path)
        if why is None:
            return 0
        if why not in self._places:
            self._places[why] = len(self.kept)
            may_be_kept = int(why.refusal not in _UNFIT)
            self.kept.append([why.refusal.name, printable(str(why)), may_be_kept])
        return self._places[why]


def _contents(document: Document) -> list[Hashable]:
    """What is equal for files that are alike, as `_LEVELS` has it."""
    identity = document.identity
    contents = identity.bytes, identity.text, identity.words, *folded_of(document)
    return list(enumerate(contents))


class _Table:
    """The terms of all files, and what is offered by each order.

    rows: For each sort of a file and of a kept one, the places of terms: two for each of `_LEVELS`,
        the second one if they hold other content besides their texts.
    """

    def __init__(self, sorts: Sequence[Sort], suggestions: Sequence[Suggestion]) -> None:
        """Number the terms so that those come first which ask for less."""
        rows = [[_row(file, keep) for keep in sorts] for file in sorts]
        of_offers = (
            offer.terms
            for each in suggestions
            for offers in each.offers
            for offer in offers
            if offer
        )
        found = {Terms(Kind.IDENTICAL_BYTES), _DIFFERENT, *of_offers}
        found.update(asked for row in rows for cells in row for asked in cells)
        kinds = [*Kind]
        self.terms = sorted(found, key=lambda asked: (asked.order, kinds.index(asked.kind)))
        self._place = {asked: place for place, asked in enumerate(self.terms)}
        self.rows = [[[self._place[asked] for asked in cells] for cells in row] for row in rows]
        self.reasons = dict[str, int]()
        first, *others = ([self._group(offers) for offers in one.offers] for one in suggestions)
        self.orders = [first]
        for groups in others:
            both = zip(groups, first, strict=True)
            self.orders.append([None if group == of_first else group for group, of_first in both])

    def _group(self, offers: Iterable[Offer | None]) -> list[list[int] | None] | None:
        """What is offered for the members of a group; None if nothing is."""
        fields = [offer and self._offer(offer) for offer in offers]
        return fields if any(fields) else None

    def _offer(self, offer: Offer) -> list[int]:
        why = self.reasons.setdefault(printable(offer.why), len(self.reasons))
        fields = [offer.keep, self._place[offer.terms], why]
        return [*fields, offer.depth] if offer.depth else fields


# The terms of two files that the user called different.
_DIFFERENT = Terms(Kind.NEAR, refusal=Refusal.DIFFERENT)


def _row(file: Sort, keep: Sort) -> list[Terms]:
    """The terms for each of `_LEVELS`, without and with other content."""
    return [
        terms(file, keep, alike, has_other_content=has_other_content and alike > Alike.TEXT)
        for alike, has_other_content in product(_LEVELS, (False, True))
    ]


def _term(asked: Terms) -> list[Any]:
    """Terms as the page reads them: the kind, the options that are needed, and the refusal."""
    refusal = asked.refusal.name if asked.refusal else ""
    return [asked.kind.value, [consent.option for consent in asked.needs], refusal]
