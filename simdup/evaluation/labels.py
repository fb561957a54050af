"""Reads tables of labels: which pairs of files are known to be duplicates, and which are not.

A table is CSV with a header, in one of two forms:

- `left,right,duplicate,kind,collection`: pairs; duplicate is 1, 0, or empty for "only report
  it"; the last two columns may be missing;
- `path,cluster`: files; two files of one cluster are duplicates, all other pairs are not.

Paths are relative to the folder of the table. Files may be plain text or documents such as
PDF, and are read as a scan reads them.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Indices
from simdup.errors import InputError
from simdup.extract.readers import NO_READERS, Readers
from simdup.files.read import SkipError, read_text
from simdup.files.walk import source_at
from simdup.match.groups import components
from simdup.settings import FORMATS

DUPLICATE, OTHER, UNJUDGED = 1, 0, -1
_LABELS = {"1": DUPLICATE, "0": OTHER, "": UNJUDGED}

#: All pairs of at most this many files are evaluated: twelve million pairs.
MAX_CLUSTERED = 5_000


@dataclass(frozen=True, slots=True)
class Labels:
    """Texts, and the labels of pairs of them.

    pairs: (m, 2): indices of texts.
    labels: (m,): DUPLICATE, OTHER or UNJUDGED.
    kinds: The names of the kinds of pairs, in the order of the table.
    kind: (m,): the index of each pair's kind.
    collection: (m,): the number of each pair's collection. A pair is judged among the texts of its
        collection only, as in a scan of one folder.
    repeated: Lines of the table that repeat an earlier pair with the same label; they do not count.
    clusters: (texts,): the number of each text's cluster; None when pairs were labelled.
    """

    table: str
    paths: tuple[str, ...]
    texts: tuple[str, ...]
    pairs: Indices
    labels: NDArray[np.int8]
    kinds: tuple[str, ...]
    kind: Indices
    collection: Indices
    repeated: int
    clusters: Indices | None = None


@contextmanager
def own_table() -> Iterator[str]:
    """Yield the path of the table of the labelled pairs that come with simdup.

    A source tree has them as files. An installed package has them in an archive, which is
    unpacked into a temporary folder until the block ends. Raises InputError if there is neither.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    table = os.path.join(os.path.dirname(package), "fixtures", "pairs", "pairs.csv")
    archive = os.path.join(package, "pairs.zip")
    if os.path.exists(archive):
        with TemporaryDirectory(prefix="simdup-") as folder:
            with ZipFile(archive) as pairs:
                pairs.extractall(folder)
            yield os.path.join(folder, "pairs.csv")
    elif os.path.exists(table):
        yield table
    else:
        raise InputError("simdup's own labelled pairs are not installed; name a table with --pairs")


def labelled_pairs(table: str) -> Labels:
    """The pairs of a table `left,right,duplicate[,kind][,collection]`, and their files' texts.

    Raises InputError, naming table and line, for a bad label, an unreadable file, a file
    paired with itself or a pair with two labels or in two collections; and unless there are
    both duplicates and others.
    """
    labelled = _pairs(_Table(table))
    for label, what in ((DUPLICATE, "labelled 1 (duplicates)"), (OTHER, "labelled 0 (others)")):
        if label not in labelled.labels:
            raise InputError(f"{table!r}: there is no pair {what}; both are needed")
    return labelled


def labelled_clusters(table: str) -> Labels:
    """All pairs of the files of a table, and their texts; pairs within a cluster are duplicates.

    The table is `path,cluster`, or a table of pairs; then files that duplicates connect are a
    cluster. Raises InputError, naming table and line, for an unreadable file, one that is
    listed twice or has no cluster; and if there are more than MAX_CLUSTERED files, or not both
    duplicates and others.
    """
    read = _Table(table)
    if "left" in read.header:
        return _connected(_pairs(read))
    rows = read.rows(("path", "cluster"))
    _check_number(table, len(rows))
    for line, row in rows:
        _, first = read.file(row["path"], line)
        if first != line:
            read.complain(line, f"{row['path']!r} stands in line {first} already")
        elif not row["cluster"].strip():
            read.complain(line, f"{row['path']!r} has no cluster; a name of its own will do")
    texts = read.texts()
    clusters = np.unique([row["cluster"].strip() for _, row in rows], return_inverse=True)[1]
    return _all_pairs(table, tuple(read.files), texts, clusters)


def _pairs(read: _Table) -> Labels:
    """The pairs of a table, which may all have the same label."""
    seen, repeated = _labels_of_pairs(read)
    texts = read.texts()
    labels, kinds, names, _ = zip(*seen.values(), strict=True) if seen else ((), (), (), ())
    indices = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    return Labels(
        read.path,
        tuple(read.files),
        texts,
        np.array(list(seen), np.int64).reshape(-1, 2),
        np.array(labels, np.int8),
        tuple(indices),
        np.array([indices[kind] for kind in kinds], np.int64),
        np.unique(names, return_inverse=True)[1],
        repeated,
    )


def _labels_of_pairs(read: _Table) -> tuple[dict[tuple[int, int], tuple[int, str, str, int]], int]:
    """The label, kind, collection and line of each pair of files, and how many lines repeat one."""
    seen: dict[tuple[int, int], tuple[int, str, str, int]] = {}
    repeated = 0
    for line, row in read.rows(("left", "right", "duplicate")):
        left, right = (read.file(row[side], line)[0] for side in ("left", "right"))
        label, kind = _LABELS.get(row["duplicate"].strip()), row.get("kind") or ""
        collection = (row.get("collection") or "").strip()
        if label is None:
            read.complain(line, f"duplicate must be 1, 0 or empty, not {row['duplicate']!r}")
            continue
        pair = min(left, right), max(left, right)
        before = seen.setdefault(pair, (label, kind, collection, line))
        repeated += before[-1] != line
        if left == right:
            read.complain(line, f"{row['left']!r} is paired with itself")
        others = "with another label", "with another kind", "in another collection"
        for was, now, what in zip(before, (label, kind, collection), others, strict=False):
            if was != now:
                read.complain(line, f"the pair of line {before[-1]} {what}")
    return seen, repeated


def _connected(labelled: Labels) -> Labels:
    """All pairs of the files in labelled pairs; files that duplicates connect are a cluster.

    If two clusters have an unjudged pair between them and none labelled 0, all pairs between
    them are unjudged.
    """
    table, paths, pairs = labelled.table, labelled.paths, labelled.pairs
    _check_number(table, len(paths))
    clusters = components(pairs[labelled.labels == DUPLICATE], len(paths))
    is_torn = (labelled.labels == OTHER) & (clusters[pairs[:, 0]] == clusters[pairs[:, 1]])
    for i, j in pairs[is_torn][:1].tolist():
        both = f"{paths[i]!r} and {paths[j]!r} are labelled 0"
        raise InputError(f"{table!r}: {both}, but duplicates connect them")
    made = _all_pairs(table, paths, labelled.texts, clusters)
    # One number for each pair of clusters.
    numbers = np.sort(clusters[pairs], axis=1) @ [len(paths), 1]
    unjudged, others = (numbers[labelled.labels == each] for each in (UNJUDGED, OTHER))
    every = np.sort(clusters[made.pairs], axis=1) @ [len(paths), 1]
    is_unjudged = np.isin(every, np.setdiff1d(unjudged, others)) & (made.labels == OTHER)
    labels = np.where(is_unjudged, UNJUDGED, made.labels).astype(np.int8)
    if OTHER not in labels:
        raise InputError(f"{table!r}: no pair is left that is known to be of different clusters")
    return replace(made, labels=labels)


def _check_number(table: str, files: int) -> None:
    """Raise InputError if there are too many files to evaluate all their pairs."""
    if files > MAX_CLUSTERED:
        raise InputError(f"{table!r}: {files:,} files; at most {MAX_CLUSTERED:,} can be paired")


def _all_pairs(
    table: str, paths: tuple[str, ...], texts: tuple[str, ...], clusters: Indices
) -> Labels:
    """All pairs, labelled by cluster. Raises InputError if all labels are the same."""
    pairs = np.column_stack(np.triu_indices(len(texts), 1))
    labels = (clusters[pairs[:, 0]] == clusters[pairs[:, 1]]).astype(np.int8)
    if len(np.unique(labels)) < 2:
        raise InputError(f"{table!r}: there must be files of one cluster, and of several")
    kinds = ("different clusters", "same cluster")
    kind, collection = labels.astype(np.int64), np.zeros(len(labels), np.int64)
    return Labels(table, paths, texts, pairs, labels, kinds, kind, collection, 0, clusters)


class _Table:
    """A CSV file of labels: its rows, the files that they name, and the lines that are wrong."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: dict[str, tuple[int, int]] = {}
        """By path: the index of the file, and the line that names it first."""
        self._wrong: dict[int, str] = {}
        reader = csv.reader(io.StringIO(_text(path)), strict=True, skipinitialspace=True)
        try:
            rows = [(reader.line_num, cells) for cells in reader if cells]
        except csv.Error as error:
            raise InputError(f"{path!r}, line {reader.line_num}: {error}") from None
        self.header = rows.pop(0)[1] if rows else []
        self._rows = rows

    def rows(self, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
        """The rows, each with the line where it ends. Raises InputError if a column is missing."""
        for line, cells in self._rows:
            if len(cells) != len(self.header):
                number = f"there must be {len(self.header)} columns, not {len(cells)}"
                advice = "put names that hold a comma into quotes"
                raise InputError(f"{self.path!r}, line {line}: {number}; {advice}")
        for name in columns:
            if self.header.count(name) != 1:
                there = "no column" if name not in self.header else "more than one column"
                needed = f"the header must be {','.join(columns)}"
                raise InputError(f"{self.path!r}, line 1: {there} {name!r}; {needed}")
        return [(line, dict(zip(self.header, cells, strict=True))) for line, cells in self._rows]

    def file(self, name: str, line: int) -> tuple[int, int]:
        """The index of a file that this line names, and the line that named it first."""
        path = os.path.normpath(os.path.join(os.path.dirname(self.path), name)) if name else ""
        return self.files.setdefault(path, (len(self.files), line))

    def complain(self, line: int, what: str) -> None:
        """Note the first fault of a line; `texts` raises it."""
        self._wrong.setdefault(line, what)

    def texts(self) -> tuple[str, ...]:
        """The text of every file. Raises InputError for the first line with something wrong."""
        texts = []
        with closing(Readers(FORMATS)) as readers:
            for path, (_, line) in self.files.items():
                if not path:
                    self.complain(line, "the name of a file is empty")
                    continue
                try:
                    texts.append(_text(path, readers))
                except InputError as error:
                    self.complain(line, str(error))
        if self._wrong:
            line, others = min(self._wrong), len(self._wrong) - 1
            more = f" (and {others:,} other {'line' if others == 1 else 'lines'})" if others else ""
            raise InputError(f"{self.path!r}, line {line}: {self._wrong[line]}{more}")
        return tuple(texts)


def _text(path: str, readers: Readers = NO_READERS) -> str:
    """The text of a file; of documents such as PDF only with `readers`. Raises InputError."""
    source = source_at(path)
    try:
        return read_text(source, readers).text
    except SkipError as skip:
        raise InputError(str(skip.at(path))) from None
