"""Sources in, documents with fingerprints out, in order: those a store knows, and the rest read."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from simdup.compute.compiled import load_kernels_if_worth
from simdup.files.fingerprint import Fingerprinted, without_degenerate
from simdup.files.workers import How, fingerprint_all, tasks
from simdup.match.candidates import SIEVE_FROM, sieve_recipe
from simdup.records import Document, Skipped, Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from simdup.progress import Progress
    from simdup.recipe import Recipe
    from simdup.settings import Settings
    from simdup.storage.cached import Shelf


class Collection:
    """What has been made of some sources so far; whole unless it is interrupted."""

    def __init__(self, settings: Settings, shelf: Shelf | None) -> None:
        self.settings, self.shelf = settings, shelf
        self.found: list[Document | Skipped | None] = []
        self.rows = np.empty((0, 0), np.uint8)
        self.from_store = 0

    def collect(
        self, sources: Iterable[Source], jobs: int | None, progress: Progress, *, is_list: bool
    ) -> None:
        """Recall what is known of the sources, and read the others with `jobs` processes.

        `is_list` says that they come in any order, not folder by folder.
        """
        unknown = self._recall(sources, is_list=is_list)
        load_kernels_if_worth(characters=sum(source.size for source in unknown), progress=progress)
        waiting, count = deque(tasks(unknown)), len(unknown)
        del unknown  # each file's record is let go when its task is done
        places = np.array([i for i, each in enumerate(self.found) if each is None], np.int64)
        settings = self.settings
        how = How(self._recipe(), settings.encoding, settings.formats, settings.converters)
        parts = fingerprint_all(waiting, how, jobs)
        for task, part in progress(parts, "read", count, lambda done: len(done[0])):
            if self.shelf is not None:
                self.shelf.keep(task, part.found, part.rows)
            own, places = np.split(places, [len(task)])
            # Rows first: Ctrl-C may come at any moment, and what is found has its row.
            self.rows[own[_are_documents(part.found)]] = part.rows
            for place, outcome in zip(own.tolist(), part.found, strict=True):
                self.found[place] = outcome

    def _recall(self, sources: Iterable[Source], *, is_list: bool) -> list[Source]:
        """The sources of which nothing is known."""
        unknown, rows = list[Source](), list[bytes]()
        try:
            if self.shelf is None:
                unknown.extend(sources)
                self.found = [None] * len(unknown)
            else:
                for source, outcome, row in self.shelf.recall(sources, is_list=is_list):
                    if row is not None:
                        rows.append(row)
                    if outcome is None:
                        unknown.append(source)
                    self.found.append(outcome)
        finally:
            self._take(rows)
        return unknown

    def _take(self, known: list[bytes]) -> None:
        """Make room for the rows of all sources, and lay down those that are known."""
        width, are_documents = self._recipe().bits // 8, _are_documents(self.found)
        self.from_store = sum(each is not None for each in self.found)
        self.rows = np.zeros((len(self.found), width), np.uint8)
        joined = b"".join(known[: int(are_documents.sum())])
        self.rows[are_documents] = np.frombuffer(joined, np.uint8).reshape(-1, width)

    def _recipe(self) -> Recipe:
        """With a sieve where it pays, and wherever fingerprints are kept."""
        recipe = self.settings.recipe
        return sieve_recipe(recipe) if self._is_sieved() or self.shelf is not None else recipe

    def _is_sieved(self) -> bool:
        return self.settings.verified and len(self.found) > SIEVE_FROM

    def fingerprinted(self) -> Fingerprinted:
        """All that has been made, in the order of the sources."""
        found = tuple(each for each in self.found if each is not None)
        are_documents = _are_documents(self.found)
        rows = self.rows if are_documents.all() else self.rows[are_documents]
        if not self._is_sieved():
            rows = np.ascontiguousarray(rows[:, : self.settings.recipe.bits // 8])
        return without_degenerate(Fingerprinted(found, rows), self.settings.recipe.bits)


def _are_documents(found: Iterable[Document | Skipped | None]) -> NDArray[np.bool_]:
    return np.array([isinstance(each, Document) for each in found], bool)
