"""Files into an index: new and changed files are read, and written a batch at a time.

walk -> documents that the index knows -> fingerprints -> batches

`Places` are the files and folders that were added or taken out.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from itertools import chain, compress, groupby
from typing import Any

import numpy as np

from simdup.arrays import Indices
from simdup.errors import InputError
from simdup.files.fingerprint import Fingerprinted, FingerprintOptions, without_degenerate
from simdup.files.read import edition
from simdup.files.walk import DEFAULTS, Filters, Found, walk
from simdup.files.workers import fingerprint_all, tasks
from simdup.index import contents
from simdup.index.connection import IndexFile
from simdup.index.metadata import damaged, from_json, sketch_levels
from simdup.index.records import Changes
from simdup.progress import Progress
from simdup.records import Document, Reason, Skipped, Source
from simdup.settings import Settings
from simdup.storage.sqlite import files_of
from simdup.storage.status import is_settled, status

Walking = Callable[[Iterable[Found]], Iterable[Found]]


@dataclass(frozen=True, slots=True)
class Places:
    """The paths that were added to an index, and the paths that were taken out of it.

    known: The filters of each path; None for a path that was taken out.
    """

    known: dict[bytes, Filters | None]

    @classmethod
    def of(cls, file: IndexFile) -> Places:
        """Read the places of an index. Raises InputError for filters that this simdup lacks."""
        known = dict[bytes, Filters | None]()
        for path, told in file.execute("SELECT path, filters FROM places ORDER BY path"):
            # An update walks these paths; a relative one would depend on the current folder.
            if type(path) is not bytes or not os.path.isabs(path) or b"\0" in path:
                raise damaged(file.path, f"place {path!r:.80}, which is not an absolute path")
            known[path] = None if told is None else _filters_in(file.path, told)
        return cls(known)

    def write(self, file: IndexFile) -> None:
        """Replace the places of an index by these."""
        told = ((path, each and json.dumps(asdict(each))) for path, each in self.known.items())
        file.execute("DELETE FROM places")
        file.execute_many("INSERT INTO places VALUES (?, ?)", told)

    def with_roots(self, roots: Sequence[str], filters: Filters) -> Places:
        """Add roots with their filters; places at or under a root become part of it."""
        return Places(self._outside(roots) | {os.fsencode(root): filters for root in roots})

    def without(self, roots: Sequence[str]) -> Places:
        """Take roots out; a root inside another place stays left out of that."""
        left = Places(self._outside(roots))
        encoded = (os.fsencode(root) for root in roots)
        return Places(left.known | {path: None for path in encoded if left.above(path)})

    def _outside(self, roots: Sequence[str]) -> dict[bytes, Filters | None]:
        """Return the places that are not at or under some roots."""
        exact = {os.fsencode(root) for root in roots}
        inside = tuple(os.path.join(root, b"") for root in exact)
        return {
            path: filters
            for path, filters in self.known.items()
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
        return tuple(
            root for root in roots if self.known.get(os.fsencode(root)) not in {None, filters}
        )

    def contains(self, path: str) -> bool:
        """Whether a path is at or under an added path, and was not taken out."""
        place = self.above(os.fsencode(path))
        return place is not None and self.known[place] is not None

    def found(self, walking: Walking, is_deleted: Callable[[bytes], bool]) -> Iterator[Found]:
        """Yield the files in the places now, each once, with the filters of its nearest place.

        A missing place is skipped, unless it `is_deleted` for good. `walking` wraps each walk,
        as for progress.
        """
        roots: dict[Filters, list[bytes]] = defaultdict(list)
        for path, filters in self.known.items():
            if filters is not None:
                roots[filters].append(path)
        walks = (self._walk(each, roots[each], walking, is_deleted) for each in roots)
        found = chain.from_iterable(walks)
        return _each_once(found) if len(roots) > 1 else found

    def _walk(
        self,
        filters: Filters,
        roots: Sequence[bytes],
        walking: Walking,
        is_deleted: Callable[[bytes], bool],
    ) -> Iterator[Found]:
        """Walk roots that share filters; leave out files with a nearer place of other filters."""
        for root in roots:
            if not os.path.exists(root) and not is_deleted(root):  # perhaps an unmounted drive
                advice = "`simdup index remove` forgets it"
                yield Skipped(os.fsdecode(root), Reason.VANISHED, advice)
        nearest = lru_cache(1 << 12)(self.above)
        there = [os.fsdecode(root) for root in roots if os.path.exists(root)]
        for each in walking(walk(there, filters)):
            path = os.fsencode(each.path)
            if isinstance(each, Skipped) and each.detail == each.path:
                continue  # found before, on the way from a place above
            place = path if path in self.known else nearest(os.path.dirname(path))
            if place is not None and self.known[place] == filters:
                yield each


def _filters_in(index: str, written: Any) -> Filters:  # noqa: ANN401
    """Return filters from their JSON. Raises InputError if this simdup has no such filters."""
    with suppress(ValueError, TypeError):  # raised by Filters for a wrong value
        values = from_json(written) if isinstance(written, str) else None
        if isinstance(values, dict) and values.keys() == asdict(DEFAULTS).keys():
            filters = Filters(**values)
            if all(type(each) is not int or each >= 0 for each in values.values()):
                return filters
    raise damaged(index, f"filters {written!r:.80}")


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
    """Take out all documents at or under some paths, so that updates do not add them again.

    A name under which texts were added means these texts, whatever lies at that path. Raises
    InputError for a path of which the index has nothing.
    """
    numbers, roots, known = [np.empty(0, np.int64)], list[str](), Places.of(file)
    for name in paths:
        path = absolute_path(name)
        texts = contents.at_or_under(file, b"" if name == path else os.fsencode(name))
        if len(texts):
            numbers.append(texts)
            continue
        under = contents.at_or_under(file, os.fsencode(path))
        if not len(under) and os.fsencode(path) not in known.known:
            raise InputError(f"{name!r}: there is nothing of it in the index")
        numbers.append(under)
        roots.append(path)
    gone = np.unique(np.concatenate(numbers))
    with file.writing():
        contents.take_out(file, gone)
        contents.forget_empty_folders(file)
        Places.of(file).without(roots).write(file)
    return Changes(removed=len(gone))


class Ingestion:
    """One change of an index by the files found under some paths."""

    def __init__(
        self, file: IndexFile, settings: Settings, jobs: int | None, progress: Progress
    ) -> None:
        self.file, self.settings, self.jobs, self.progress = file, settings, jobs, progress
        self.counts = Counter[str]()
        self.skipped: list[Skipped] = []
        # Numbers of the documents whose files the walk found, and by path of the changed ones.
        self.present: list[int] = []
        self.changed: dict[bytes, int] = {}
        self.began = time.time_ns()

    def add(self, paths: Sequence[str], filters: Filters) -> Changes:
        """Read the files under some paths, unless the index knows them unchanged."""
        roots = [absolute_path(path) for path in paths]
        found = self.progress(walk(roots, filters), "walk", None)  # raises for unusable roots
        before = Places.of(self.file)
        if before.with_roots(roots, filters) != before:
            with self.file.writing():  # another process may have added places meanwhile
                before = Places.of(self.file)
                before.with_roots(roots, filters).write(self.file)
        self._ingest(found)
        return self._changes(before.with_other_filters(roots, filters))

    def update(self) -> Changes:
        """Walk all places again, and drop documents that are no longer there.

        Unchanged files are read too, if another edition of the readers read them before.
        """
        self._note_readers()
        with self.file.reading():  # documents that another process adds meanwhile stay
            places, before = Places.of(self.file), contents.every_number(self.file)
        walking = partial(self.progress, label="walk", total=None)
        self._ingest(places.found(walking, self._is_deleted_file))
        gone = self._gone(np.setdiff1d(before, np.array(self.present, np.int64)))
        self._take_out(gone, has_left_folders=True)
        return self._changes()

    def _changes(self, refiltered: tuple[str, ...] = ()) -> Changes:
        return Changes(**self.counts, skipped=tuple(self.skipped), refiltered=refiltered)

    def _note_readers(self) -> None:
        """Note today's readers if they are new: other ones read all documents so far."""
        about, own = dict(self.file.about), edition(self.settings)
        if about.get("readers") != own:
            with self.file.writing():
                about |= {"readers": own, "read_from": self.file.number("next")}
                update = "UPDATE about SET value = ? WHERE name = 'about'"
                self.file.execute(update, json.dumps(about))
            self.file.about = about

    def _is_deleted_file(self, place: bytes) -> bool:
        """Whether a missing place was a single file; a missing folder may be an unmounted drive."""
        has_folder = os.path.isdir(os.path.dirname(place))
        return has_folder and not len(contents.at_or_under(self.file, os.path.join(place, b"")))

    def _ingest(self, found: Iterable[Found]) -> None:
        """Read the files that the index does not know, and write them in batches."""
        waiting = deque(tasks(self._unknown(self._without_own(found)), self.settings.limits))
        count = sum(map(len, waiting))
        batch, last = list[Fingerprinted](), time.monotonic()
        options = FingerprintOptions(self.settings, sketch_levels(self.file.about))
        results = fingerprint_all(waiting, options, self.jobs, self.progress)
        for _, made in self.progress(results, "read", count, lambda done: len(done[0])):
            batch.append(without_degenerate(made, self.settings.recipe.bits))
            self._skip(batch[-1].skipped)
            if self._is_full(batch, time.monotonic() - last):
                self._put(batch)
                batch, last = [], time.monotonic()
        self._put(batch)

    def _is_full(self, batch: Sequence[Fingerprinted], seconds: float) -> bool:
        """Whether a batch of so many seconds is to be written."""
        limits = self.settings.limits
        values = sum(int(each.sizes.sum()) for each in (made.sketches for made in batch) if each)
        documents = sum(len(made.rows) for made in batch)
        is_large = documents >= limits.batch_documents or values >= limits.batch_values
        return is_large or seconds > limits.batch_seconds

    def _without_own(self, found: Iterable[Found]) -> Iterator[Found]:
        """Skip the files of the index itself, which change while it is written."""
        own = {os.path.realpath(each) for each in files_of(self.file.path)}
        names = {os.path.basename(each) for each in own}
        for each in found:
            is_own = os.path.basename(each.path) in names and os.path.realpath(each.path) in own
            yield Skipped(each.path, Reason.NOISE, "the index itself") if is_own else each

    def _unknown(self, found: Iterable[Found]) -> Iterator[Source]:
        """Yield the sources that are new or have changed; note the others."""
        read_from = self.file.about.get("read_from", 0)
        for folder, in_it in groupby(found, lambda each: os.path.dirname(each.path)):
            known = contents.in_folder(self.file, os.path.join(os.fsencode(folder), b""))
            for each in in_it:
                if isinstance(each, Skipped):
                    self.skipped.append(each)
                    continue
                path = os.fsencode(each.path)
                number, data = known.get(os.path.basename(path), (None, b""))
                if number is not None:
                    self.present.append(number)
                    if number >= read_from and data.startswith(status(each)):
                        self.counts["unchanged"] += 1
                        continue
                    self.changed[path] = number
                yield each

    def _skip(self, skipped: Sequence[Skipped]) -> None:
        """Take out the documents of files that have no text now, but not of unreadable files."""
        self.skipped += skipped
        lost = (os.fsencode(each.path) for each in skipped if not each.reason.is_trouble)
        self._take_out([self.changed[path] for path in lost if path in self.changed])

    def _take_out(self, gone: Sequence[int], *, has_left_folders: bool = False) -> None:
        if gone:
            with self.file.writing():
                contents.take_out(self.file, np.array(gone, np.int64))
                if has_left_folders:
                    contents.forget_empty_folders(self.file)
            self.counts["removed"] += len(gone)

    def _put(self, batch: Sequence[Fingerprinted]) -> None:
        made = Fingerprinted.joined(batch, self.settings.recipe.bits, is_sketched=True)
        if not made.documents or made.sketches is None:
            return
        with self.file.writing():
            places = Places.of(self.file)  # another process may have removed some meanwhile
            are_kept = np.array([places.contains(each.path) for each in made.documents], bool)
            kept = np.flatnonzero(are_kept)
            documents = list(map(self._unless_settled, compress(made.documents, are_kept)))
            replaced = contents.put(self.file, documents, made.rows[kept], made.sketches.take(kept))
        self.counts.update(added=len(kept) - replaced, replaced=replaced)

    def _unless_settled(self, document: Document) -> Document:
        """Return the document, without a ctime if that is too recent to be trusted."""
        if is_settled(document.source, self.began):
            return document
        return document._replace(source=document.source._replace(ctime_ns=0))

    def _gone(self, missed: Indices) -> list[int]:
        """Return which documents the walk missed though it could have found them."""
        trouble = {each.path for each in self.skipped if each.reason.is_trouble}
        inside = tuple(os.path.join(path, "") for path in trouble)
        with self.file.reading():  # another process may have dropped some meanwhile
            there = np.intersect1d(missed, contents.every_number(self.file))
            known = contents.documents(self.file, there)
        return [
            number
            for number, document in known.items()
            if os.path.isabs(document.path)
            and document.path not in trouble
            and not document.path.startswith(inside)
        ]
