"""A collection that can be asked: whether a document, or one like it, is already in it.

>>> import tempfile, os
>>> path = os.path.join(tempfile.mkdtemp(), "texts.simdup")
>>> with Index.create(path) as index:
...     _ = index.add_texts(["a", "b"], ["the cat sat on the mat", "stock prices fell today"])
...     [found.document.path for found in index.query("The cat sat on the mat!")]
['a']
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, replace
from functools import cached_property
from time import perf_counter

import numpy as np

from simdup.arguments import AnyPath, check_jobs, check_type, path_list, text_list
from simdup.arrays import Indices, Rows
from simdup.errors import BadValueError, InputError
from simdup.files.fingerprint import Fingerprinted
from simdup.files.group_files import match_documents, unmatched
from simdup.files.read import edition
from simdup.files.walk import DEFAULTS, Filters
from simdup.findings import with_findings
from simdup.fingerprint.sketch import joined
from simdup.index import query
from simdup.index.connection import IndexFile, create_file
from simdup.index.contents import ReaderPool, documents, everything, problems, put
from simdup.index.ingest import Ingestion, Places, remove
from simdup.index.metadata import about, has_samples, settings_of, sketch_levels, with_bits
from simdup.index.parts import candidates, with_parts
from simdup.index.query import Criteria, Queries
from simdup.index.records import Answer, Changes, IndexInfo
from simdup.index.segments import looked_up, nearest, within
from simdup.progress import Progress, silent
from simdup.records import Match, ScanResult, Skipped
from simdup.search.pairs import pairs_within
from simdup.settings import Settings
from simdup.storage.sqlite import size_of

# The most queries that are looked up in the tables of blocks, one by one.
LOOKED_UP = 1024


class Index:
    """Documents and their fingerprints in a file, which can be added to, reduced and queried.

    One thread of one process changes it at a time, and others that try wait for ten seconds.
    Any number may query meanwhile, also threads that share one `Index`. A query sees the index
    as one batch left it: the last batch finished when the query began, or a later one. Every
    method raises InputError if the file is damaged or cannot be used.
    """

    def __init__(self, path: AnyPath, settings: Settings | None = None) -> None:
        """Open an existing index.

        Of `settings` only dictionaries and converters are used: an index does not contain these.
        """
        self.path = os.fspath(path)
        self._given = settings or Settings()
        self._readers = ReaderPool(self.path)

    @classmethod
    def create(cls, path: AnyPath, settings: Settings | None = None) -> Index:
        """Make an empty index; the settings say how its fingerprints and texts are made.

        With `parts`, whatever their share, it keeps samples by which a query finds parts.
        """
        settings = settings or Settings()
        create_file(os.fspath(path), about(settings))
        return cls(path, settings)

    def close(self) -> None:
        """Close the file; queries that other threads have begun still get their answers."""
        self._readers.close()

    def __enter__(self) -> Index:  # noqa: PYI034  (Self is new in Python 3.11)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return how many documents the index has."""
        with self._readers.one() as reader:
            return len(reader)

    @property
    def batches(self) -> int:
        """How many batches have changed the index."""
        with self._readers.one() as reader:
            return reader.number("batches")

    @cached_property
    def settings(self) -> Settings:
        """The settings by which fingerprints and texts are made.

        Raises InputError if this version of simdup, with these dictionaries, would make other ones.
        """
        return settings_of(self.path, self._readers.about, self._given)

    def settings_for(self, asked: Settings) -> Settings:
        """Return settings to query with: the index's recipe and readers, and all else as `asked`.

        Fingerprints are cut to the bits that are asked for. Raises InputError for more bits
        than the index has.
        """
        own = self.at(asked.recipe.bits)
        return replace(
            asked,
            recipe=own.recipe,
            encoding=own.encoding,
            formats=own.formats,
            converters=own.converters,
        )

    def check_for_parts(self) -> None:
        """Raise InputError unless the index keeps the samples by which parts are found."""
        if not has_samples(self._readers.about):
            how = "`simdup index build --parts` makes an index that does"
            raise InputError(f"{self.path!r}: it keeps no samples to find parts by; {how}")

    def at(self, bits: int) -> Settings:
        """Return the settings for the first bits of each fingerprint. Raises InputError."""
        return with_bits(self.path, self.settings, bits)

    def info(self) -> IndexInfo:
        """Return the contents of the index and its size."""
        with self._readers.one() as reader, reader.reading():
            known = Places.of(reader).known
            named = {os.fsdecode(path): filters for path, filters in known.items()}
            return IndexInfo(
                self.path,
                size_of(self.path),
                len(reader),
                reader.number("batches"),
                tuple(path for path, filters in named.items() if filters is not None),
                tuple(path for path, filters in named.items() if filters is None),
                tuple(asdict(filters) for filters in named.values() if filters is not None),
                self._readers.about,
            )

    def problems(self) -> list[str]:
        """Return a line for each fault of the file."""
        with self._readers.one() as reader, reader.reading():
            lines = [*problems(reader)]
            try:
                Places.of(reader)
            except InputError as error:
                lines.append(str(error))
            return lines

    # Changing

    def add(
        self,
        paths: AnyPath | Iterable[AnyPath],
        filters: Filters = DEFAULTS,
        *,
        jobs: int | None = 1,
        progress: Progress = silent,
    ) -> Changes:
        """Add the documents under some paths, or under a single one.

        Changed files replace their earlier documents. `update` will walk the same paths again,
        with the same filters.
        """
        check_jobs(jobs)
        settings = self.settings
        with closing(IndexFile(self.path, to_write=True)) as writer:
            return Ingestion(writer, settings, jobs, progress).add(path_list(paths), filters)

    def add_texts(self, names: Iterable[str], texts: Iterable[str]) -> Changes:
        """Add texts without files, by names of their own, in one batch.

        The index keeps no texts, so later queries compare these by fingerprints alone. Raises
        ValueError for a name that is empty, an absolute path, or no possible name of a file.
        """
        called, every_text = text_list(names, "names"), text_list(texts)
        for name in called:
            os.fsencode(name)
        if wrong := [name for name in called if not name or os.path.isabs(name)]:
            raise BadValueError(f"a name must not be empty or an absolute path, as {wrong[0]!r} is")
        levels = sketch_levels(self._readers.about)
        made, skipped = query.of_texts(called, every_text, self.settings, levels)
        known = [each for each in made.documents if each is not None]
        with closing(IndexFile(self.path, to_write=True)) as writer, writer.writing():
            replaced = put(writer, known, made.rows, made.sketches or joined([]))
        added = len({each.path for each in known}) - replaced
        return Changes(added, replaced, skipped=tuple(skipped))

    def remove(self, paths: AnyPath | Iterable[AnyPath]) -> Changes:
        """Take out the documents at or under some paths, or texts by their names.

        `update` does not add them again. Raises InputError for a path of which the index has
        nothing.
        """
        with closing(IndexFile(self.path, to_write=True)) as writer:
            return remove(writer, path_list(paths))

    def update(self, *, jobs: int | None = 1, progress: Progress = silent) -> Changes:
        """Walk all added paths again: read new and changed files, drop documents that are gone.

        If the index `is_outdated`, every file is read. A path that is missing is skipped, and
        its documents stay.
        """
        check_jobs(jobs)
        settings = self.settings
        with closing(IndexFile(self.path, to_write=True)) as writer:
            changes = Ingestion(writer, settings, jobs, progress).update()
            self._readers.about = writer.about
        return changes

    @property
    def is_outdated(self) -> bool:
        """Whether other versions read the documents: of simdup, or of packages that it uses.

        Their texts may have been extracted otherwise, so that they seem less similar to what
        is read now; `update` reads them all again.
        """
        return self._readers.about.get("readers") != edition(self.settings)

    # Asking

    def query(
        self,
        text: str,
        settings: Settings | None = None,
        top: int | None = None,
        *,
        is_any_alike: bool = False,
    ) -> tuple[Match, ...]:
        """Return the documents that are like a text, most similar first; see `query_many`."""
        check_type(text, "text", str)
        return self.query_many([text], settings, top, is_any_alike=is_any_alike)[0].matches

    def query_many(
        self,
        texts: Iterable[str],
        settings: Settings | None = None,
        top: int | None = None,
        *,
        is_any_alike: bool = False,
    ) -> tuple[Answer, ...]:
        """Return the documents that are like each of some texts.

        The settings say what is alike; their `recipe.bits` may be fewer than the index has,
        and the rest of the recipe is the index's own. `top` keeps the most similar; without
        settings, or with `is_any_alike`, it gives the nearest, however little they are alike.
        `own_share` is not asked for, so texts of one pattern are answers too; `scan` sets them
        aside. With `parts`, answers also say in which documents a text stands, and which stand
        in it; the index must be made for that, by settings with `parts`. A text without a letter
        or digit is like nothing.
        """
        asked = text_list(texts)
        found, _ = self.query_texts(asked, settings, top, is_any_alike=is_any_alike)
        answers = {answer.question: answer for answer in found}
        names = map(str, range(len(asked)))
        return tuple(answers.get(name, Answer(name, ())) for name in names)

    def query_texts(
        self,
        texts: Iterable[str],
        settings: Settings | None = None,
        top: int | None = None,
        *,
        is_any_alike: bool = False,
    ) -> tuple[tuple[Answer, ...], tuple[Skipped, ...]]:
        """Return the answers of `query_many` for texts that can be compared, and the other texts.

        Both name a text by its index in the list.
        """
        criteria = self._criteria(settings, top, is_any_alike=is_any_alike)
        asked = text_list(texts)
        queries, skipped = query.of_texts([*map(str, range(len(asked)))], asked, criteria.settings)
        return self._answers(queries, criteria), tuple(skipped)

    def query_files(
        self,
        paths: AnyPath | Iterable[AnyPath],
        settings: Settings | None = None,
        top: int | None = None,
        *,
        is_any_alike: bool = False,
    ) -> tuple[tuple[Answer, ...], tuple[Skipped, ...]]:
        """Return the answers of `query_many` for files, and the files that cannot be queried."""
        criteria = self._criteria(settings, top, is_any_alike=is_any_alike)
        queries, skipped = query.of_files(paths, criteria.settings)
        return self._answers(queries, criteria), tuple(skipped)

    def query_rows(
        self,
        rows: Rows,
        settings: Settings | None = None,
        top: int | None = None,
        *,
        is_any_alike: bool = False,
    ) -> tuple[Answer, ...]:
        """Return the answers of `query_many` for fingerprints, by distance alone.

        Raises ValueError for rows of another size than the settings have.
        """
        criteria = self._criteria(settings, top, is_any_alike=is_any_alike)
        bits = criteria.settings.recipe.bits
        if 8 * rows.shape[1] != bits:
            raise BadValueError(f"{8 * rows.shape[1]} bits where {bits} are asked for")
        return self._answers(query.of_rows(rows), criteria)

    def _criteria(
        self, settings: Settings | None, top: int | None, *, is_any_alike: bool
    ) -> Criteria:
        if top is not None and top < 1:
            raise BadValueError(f"top must be at least 1, not {top}")
        if is_any_alike and top is None:
            raise BadValueError("the nearest are all documents, unless top says how many")
        own = self.settings if settings is None else self.settings_for(settings)
        if own.parts is not None:
            self.check_for_parts()
        return Criteria(own, top, is_any_alike or (settings is None and top is not None))

    def _answers(self, queries: Queries, criteria: Criteria) -> tuple[Answer, ...]:
        has_parts = criteria.settings.parts is not None
        with self._readers.one() as reader, reader.reading():
            near = self._near(reader, queries.rows, criteria)
            known = documents(reader, np.unique(near[:, 1]))
            asked = candidates(reader, queries, criteria.settings) if has_parts else []
        found = query.answered(queries, near, known, criteria)
        return with_parts(found, queries, asked, criteria.settings) if has_parts else found

    def _near(self, reader: IndexFile, rows: Rows, criteria: Criteria) -> Indices:
        """Return the fingerprints to look at for each query, as `segments.within` does."""
        bits = criteria.settings.recipe.bits
        if criteria.is_any_alike and criteria.top is not None:
            return nearest(self._readers.loaded(reader, bits), rows, criteria.top)
        k = query.reach(criteria.settings, len(reader))
        if bits == 8 * reader.width and len(rows) <= LOOKED_UP:
            found = looked_up(reader, rows, k)
            if found is not None:
                return found
        return within(self._readers.loaded(reader, bits), rows, k)

    def pairs(self, k: int, bits: int | None = None) -> tuple[list[str], Indices]:
        """Return the paths of all documents, and every pair of them within k bits: (m, 3).

        A pair is two indices of the list, i < j, and a distance. Raises TooManyPairsError.
        """
        bits = self.settings.recipe.bits if bits is None else bits
        every = self._everything(bits, is_sketched=False)
        return [document.path for document in every.documents], pairs_within(every.rows, k)

    def scan(
        self,
        settings: Settings | None = None,
        progress: Progress = silent,
        ignored: Iterable[tuple[bytes, bytes]] = (),
    ) -> ScanResult:
        """Return the groups of all documents in the index, as `simdup.scan` would find them.

        Files are read only to verify; missing and changed files are skipped. The stages are the
        ones of `files.scan`, without a walk: recall, match, findings.
        """
        began = perf_counter()
        asked = self.settings if settings is None else self.settings_for(settings)
        if asked.parts is not None:
            raise BadValueError("an index does not list parts; scan the files themselves")
        made, skipped = self._recalled(asked)
        info, known = self.info(), len(made.documents)
        named = None if any(each["noise"] for each in info.filters) else {*info.places}
        result = unmatched(asked, made, skipped, known + len(skipped), known)
        result, matching = match_documents(result, made, ignored, named, progress)
        result = with_findings(result, info.places, matching)
        return replace(result, stats=result.stats._replace(seconds=perf_counter() - began))

    def _recalled(self, asked: Settings) -> tuple[Fingerprinted, list[Skipped]]:
        """Return the documents that can be grouped, with fingerprints, and why others cannot."""
        every = self._everything(asked.recipe.bits, is_sketched=asked.verified)
        skipped = query.unsure(every.documents, asked)
        is_kept = np.isin(np.arange(len(every.found)), list(skipped), invert=True)
        return every.keeping(is_kept), list(skipped.values())

    # The file

    def _everything(self, bits: int, *, is_sketched: bool) -> Fingerprinted:
        """Return all documents by ascending number, their fingerprints, and if asked sketches."""
        width = self.at(bits).recipe.bits // 8
        with self._readers.one() as reader, reader.reading():
            loaded = self._readers.loaded(reader, 8 * reader.width)
            found = everything(reader, loaded, self.settings.limits, is_sketched=is_sketched)
        return replace(found, rows=found.rows[:, :width])
