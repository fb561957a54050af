"""Where the documents of an index come from: folders and files that were added, and taken out."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.errors import InputError
from simdup.files.walk import DEFAULTS, Filters, walk
from simdup.index.file.connection import from_json
from simdup.index.file.snapshot import at_or_under, places
from simdup.index.file.write import forget_empty_folders, set_places, take_out
from simdup.index.records import Changes
from simdup.records import Reason, Skipped, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simdup.index.file.connection import Catalogue

    Found = Source | Skipped


@dataclass(frozen=True, slots=True)
class Places:
    """What was added, and what was taken out of it."""

    index: str
    """The path of the index."""
    known: dict[bytes, str | None]
    """The filters of each as JSON; None for what was taken out."""

    @classmethod
    def of(cls, catalogue: Catalogue) -> Places:
        """Read the places of an index."""
        return cls(catalogue.path, places(catalogue))

    def with_roots(self, roots: Sequence[str], filters: Filters) -> Places:
        """Add roots with their filters; places at or under a root become part of it."""
        written = json.dumps(asdict(filters))
        added: dict[bytes, str | None] = {os.fsencode(root): written for root in roots}
        return Places(self.index, self._without(roots).known | added)

    def less(self, roots: Sequence[str]) -> Places:
        """Take roots out; one that lies in another place stays left out of that."""
        left = self._without(roots)
        encoded = (os.fsencode(root) for root in roots)
        out: dict[bytes, str | None] = {path: None for path in encoded if left.above(path)}
        return Places(self.index, left.known | out)

    def _without(self, roots: Sequence[str]) -> Places:
        """The places that are not at or under some roots."""
        exact = {os.fsencode(root) for root in roots}
        inside = tuple(os.path.join(root, b"") for root in exact)
        left = {
            path: written
            for path, written in self.known.items()
            if path not in exact and not path.startswith(inside)
        }
        return Places(self.index, left)

    def above(self, path: bytes) -> bytes | None:
        """The place at or above a path that is nearest; None if there is none."""
        while path not in self.known:
            above = os.path.dirname(path)
            if above == path:
                return None
            path = above
        return path

    def with_other_filters(self, roots: Sequence[str], filters: Filters) -> Iterator[str]:
        """Yield the roots that were added before with other filters."""
        for root in roots:
            written = self.known.get(os.fsencode(root))
            if written is not None and self.filters(written) != filters:
                yield root

    def filters(self, written: str) -> Filters:
        """Filters from their JSON. Raises InputError if they are none of this simdup."""
        with suppress(ValueError, TypeError, AttributeError, LookupError):
            values: dict[str, Any] = from_json(written)
            usual = {each.name: getattr(DEFAULTS, each.name) for each in fields(Filters)}
            if all(_fits(values[name], usual[name]) for name in usual):
                named: dict[str, Any] = {
                    name: tuple(value) if isinstance(value, list) else value
                    for name, value in values.items()
                }
                return Filters(**named)
        raise InputError(f"{self.index!r}: damaged (filters {written!r:.80}); build it anew")

    def have(self, path: str) -> bool:
        """Whether a path is in what was added, and was not taken out."""
        place = self.above(os.fsencode(path))
        return place is not None and self.known[place] is not None

    def found(
        self,
        walking: Callable[[Iterable[Found]], Iterable[Found]],
        is_deleted: Callable[[bytes], bool],
    ) -> Iterator[Found]:
        """What is in them now, each file once, for the place that is nearest above it.

        A place that is not there is skipped, unless it `is_deleted` for good. `walking` sees
        what is walked, as it comes.
        """
        nearest = lru_cache(1 << 12)(self.above)
        by_filters: dict[str, list[bytes]] = {}
        for path, written in self.known.items():
            if written is not None:
                by_filters.setdefault(written, []).append(path)
        # What several walks meet, each of which tells files apart by itself.
        met: dict[tuple[int, int], str] | None = {} if len(by_filters) > 1 else None
        for written, roots in by_filters.items():
            there = [root for root in roots if os.path.exists(root)]
            gone = (root for root in roots if not os.path.exists(root))
            yield from (_not_there(root) for root in gone if not is_deleted(root))
            for each in walking(walk(list(map(os.fsdecode, there)), self.filters(written))):
                path = os.fsencode(each.path)
                if isinstance(each, Skipped) and each.detail == each.path:
                    continue  # met on the way from a place above
                place = path if path in self.known else nearest(os.path.dirname(path))
                if place is not None and self.known[place] == written:
                    yield each if met is None else _unless_met(each, met)


def _not_there(place: bytes) -> Skipped:
    """A place that is gone: it may be a drive that is not there today."""
    advice = "`simdup index remove` forgets it"
    return Skipped(os.fsdecode(place), Reason.VANISHED, advice)


def _unless_met(each: Found, met: dict[tuple[int, int], str]) -> Found:
    if isinstance(each, Skipped):
        return each
    first = met.setdefault((each.device, each.inode), each.path)
    return each if first == each.path else Skipped(each.path, Reason.SAME_FILE, first)


def whole(path: str) -> str:
    """The absolute path of the same file; nothing stays nothing, which is not the current folder.

    What comes before ".." may be a symbolic link, which that leads out of.
    """
    steps = path.split(os.sep)
    if os.pardir in steps:
        last = len(steps) - steps[::-1].index(os.pardir)
        path = os.path.join(os.path.realpath(os.sep.join(steps[:last])), *steps[last:])
    return os.path.abspath(path) if path else path


def damaged_filters(catalogue: Catalogue) -> Iterator[str]:
    """What is wrong with the filters of places, a line each."""
    noted = Places.of(catalogue)
    for written in noted.known.values():
        try:
            if written is not None:
                noted.filters(written)
        except InputError as wrong:
            yield str(wrong)


def _fits(value: object, usual: object) -> bool:
    """Whether a value is of the type that a filter has."""
    if isinstance(usual, tuple):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if isinstance(usual, bool):
        return isinstance(value, bool)
    return (value is None and usual is None) or (type(value) is int and value >= 0)


def remove(catalogue: Catalogue, paths: Sequence[str]) -> Changes:
    """Take out what is at or under some paths, and never add it again by an update.

    A name that texts were added by means these, whatever lies there. Raises InputError for a
    path of which there is nothing.
    """
    numbers, roots, known = [np.empty(0, np.int64)], list[str](), Places.of(catalogue).known
    for name in paths:
        path = whole(name)
        texts = at_or_under(catalogue, b"" if name == path else os.fsencode(name))
        if len(texts):
            numbers.append(texts)
            continue
        under = at_or_under(catalogue, os.fsencode(path))
        if not len(under) and os.fsencode(path) not in known:
            raise InputError(f"{name!r}: there is nothing of it in the index")
        numbers.append(under)
        roots.append(path)
    gone = np.unique(np.concatenate(numbers))
    with catalogue.writing():
        take_out(catalogue, gone)
        forget_empty_folders(catalogue)
        set_places(catalogue, Places.of(catalogue).less(roots).known)
    return Changes(removed=len(gone))
