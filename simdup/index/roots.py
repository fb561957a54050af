"""The places of an index: files and folders that were added, and those that were taken out."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from simdup.errors import InputError
from simdup.files.walk import DEFAULTS, Filters, walk
from simdup.index.file.connection import IndexFile
from simdup.index.file.metadata import damaged, from_json
from simdup.index.file.snapshot import at_or_under, places
from simdup.index.file.write import forget_empty_folders, set_places, take_out
from simdup.index.records import Changes
from simdup.records import Reason, Skipped, Source

Found = Source | Skipped


@dataclass(frozen=True, slots=True)
class Places:
    """The paths that were added to an index, and those that were taken out of it."""

    index: str
    """The path of the index."""
    known: dict[bytes, str | None]
    """The filters of each path as JSON; None for a path that was taken out."""

    @classmethod
    def of(cls, file: IndexFile) -> Places:
        """Read the places of an index."""
        return cls(file.path, places(file))

    def with_roots(self, roots: Sequence[str], filters: Filters) -> Places:
        """Add roots with their filters; places at or under a root become part of it."""
        written = json.dumps(asdict(filters))
        added: dict[bytes, str | None] = {os.fsencode(root): written for root in roots}
        return Places(self.index, self._outside(roots) | added)

    def without(self, roots: Sequence[str]) -> Places:
        """Take roots out; a root inside another place stays left out of that."""
        left = Places(self.index, self._outside(roots))
        encoded = (os.fsencode(root) for root in roots)
        out: dict[bytes, str | None] = {path: None for path in encoded if left.above(path)}
        return Places(self.index, left.known | out)

    def _outside(self, roots: Sequence[str]) -> dict[bytes, str | None]:
        """Return the places that are not at or under some roots."""
        exact = {os.fsencode(root) for root in roots}
        inside = tuple(os.path.join(root, b"") for root in exact)
        return {
            path: written
            for path, written in self.known.items()
            if path not in exact and not path.startswith(inside)
        }

    def above(self, path: bytes) -> bytes | None:
        """Return the nearest place at or above a path; None if there is none."""
        while path not in self.known:
            parent = os.path.dirname(path)
            if parent == path:
                return None
            path = parent
        return path

    def with_other_filters(self, roots: Sequence[str], filters: Filters) -> tuple[str, ...]:
        """Return the roots that were added before with other filters."""
        before = ((root, self.known.get(os.fsencode(root))) for root in roots)
        return tuple(
            root
            for root, written in before
            if written is not None and self.filters(written) != filters
        )

    def filters(self, written: str) -> Filters:
        """Return filters from their JSON. Raises InputError if this simdup has no such filters."""
        with suppress(ValueError, TypeError):  # raised by Filters for a wrong value
            values = from_json(written)
            if isinstance(values, dict) and values.keys() == asdict(DEFAULTS).keys():
                filters = Filters(**values)
                if all(type(each) is not int or each >= 0 for each in values.values()):
                    return filters
        raise damaged(self.index, f"filters {written!r:.80}")

    def damaged_filters(self) -> Iterator[str]:
        """Yield a line for each place whose filters cannot be read."""
        for written in self.known.values():
            try:
                if written is not None:
                    self.filters(written)
            except InputError as error:
                yield str(error)

    def contains(self, path: str) -> bool:
        """Whether a path is in what was added, and was not taken out."""
        place = self.above(os.fsencode(path))
        return place is not None and self.known[place] is not None

    def found(
        self,
        walking: Callable[[Iterable[Found]], Iterable[Found]],
        is_deleted: Callable[[bytes], bool],
    ) -> Iterator[Found]:
        """Yield the files in the places now, each once, with the filters of its nearest place.

        A missing place is skipped, unless it `is_deleted` for good. `walking` wraps each walk,
        as for progress.
        """
        roots: dict[str, list[bytes]] = defaultdict(list)
        for path, written in self.known.items():
            if written is not None:
                roots[written].append(path)
        walks = (self._walk(each, roots[each], walking, is_deleted) for each in roots)
        found = chain.from_iterable(walks)
        return _each_once(found) if len(roots) > 1 else found

    def _walk(
        self,
        written: str,
        roots: Sequence[bytes],
        walking: Callable[[Iterable[Found]], Iterable[Found]],
        is_deleted: Callable[[bytes], bool],
    ) -> Iterator[Found]:
        """Walk roots that share filters; leave out files with a nearer place of other filters."""
        for root in roots:
            if not os.path.exists(root) and not is_deleted(root):  # perhaps an unmounted drive
                advice = "`simdup index remove` forgets it"
                yield Skipped(os.fsdecode(root), Reason.VANISHED, advice)
        nearest = lru_cache(1 << 12)(self.above)
        there = [os.fsdecode(root) for root in roots if os.path.exists(root)]
        for each in walking(walk(there, self.filters(written))):
            path = os.fsencode(each.path)
            if isinstance(each, Skipped) and each.detail == each.path:
                continue  # found before, on the way from a place above
            place = path if path in self.known else nearest(os.path.dirname(path))
            if place is not None and self.known[place] == written:
                yield each


def _each_once(found: Iterable[Found]) -> Iterator[Found]:
    """Skip a file that an earlier walk found; within one walk, repeats are skipped already."""
    firsts: dict[tuple[int, int], str] = {}
    for each in found:
        if isinstance(each, Source):
            first = firsts.setdefault((each.device, each.inode), each.path)
            if first != each.path:
                yield Skipped(each.path, Reason.SAME_FILE, first)
                continue
        yield each


def absolute_path(path: str) -> str:
    """Return the absolute path of the same file; an empty path stays empty.

    What comes before ".." may be a symbolic link, and ".." leads out of its target.
    """
    steps = path.split(os.sep)
    if os.pardir in steps:
        last = len(steps) - steps[::-1].index(os.pardir)
        path = os.path.join(os.path.realpath(os.sep.join(steps[:last])), *steps[last:])
    return os.path.abspath(path) if path else path


def remove(file: IndexFile, paths: Sequence[str]) -> Changes:
    """Take out what is at or under some paths, so that updates do not add it again.

    A name under which texts were added means these texts, whatever lies at that path. Raises
    InputError for a path of which the index has nothing.
    """
    numbers, roots, known = [np.empty(0, np.int64)], list[str](), places(file)
    for name in paths:
        path = absolute_path(name)
        texts = at_or_under(file, b"" if name == path else os.fsencode(name))
        if len(texts):
            numbers.append(texts)
            continue
        under = at_or_under(file, os.fsencode(path))
        if not len(under) and os.fsencode(path) not in known:
            raise InputError(f"{name!r}: there is nothing of it in the index")
        numbers.append(under)
        roots.append(path)
    gone = np.unique(np.concatenate(numbers))
    with file.writing():
        take_out(file, gone)
        forget_empty_folders(file)
        set_places(file, Places.of(file).without(roots).known)
    return Changes(removed=len(gone))
