"""A table in, labelled pairs of texts out: what is known to be a duplicate, and what is not.

Two forms, both CSV with a header, names of files relative to the table's folder (plain texts
and documents, each read as a scan reads it):

- `left,right,duplicate,kind`: pairs; duplicate is 1, 0, or empty for "only report it";
- `path,cluster`: files; those of one cluster are duplicates, all other pairs are not.
"""

from __future__ import annotations

import csv
import io
import os
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simdup.errors import InputError
from simdup.extract.readers import Readers
from simdup.files.read import SkipError, read_text
from simdup.files.walk import listed
from simdup.match.groups import components
from simdup.records import Skipped
from simdup.settings import FORMATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

DUPLICATE, OTHER, UNJUDGED = 1, 0, -1
_LABELS = {"1": DUPLICATE, "0": OTHER, "": UNJUDGED}

#: Files of which all pairs are made: these have twelve million.
MAX_CLUSTERED = 5_000


@dataclass(frozen=True, slots=True)
class Labels:
    """Texts and what is known about pairs of them."""

    table: str
    paths: tuple[str, ...]
    lines: tuple[int, ...]
    """Where the table first names each path."""
    texts: tuple[str, ...]
    pairs: NDArray[np.int64]
    """(m, 2): indices of texts."""
    labels: NDArray[np.int8]
    """(m,): DUPLICATE, OTHER or UNJUDGED."""
    kinds: tuple[str, ...]
    """What kinds of pairs there are, in the order of the table."""
    kind: NDArray[np.int64]
    """(m,): the index of each pair's kind."""
    repeated: int
    """Lines of the table that repeat a pair with the same label: these count once."""
    clusters: NDArray[np.int64] | None = None
    """(texts,): equal for texts of one cluster; None when pairs were labelled."""


def own_table() -> str:
    """The labelled pairs that simdup brings along."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # In an installed package they lie in it, in a tree of sources beside it.
    for folder in (here, os.path.join(os.path.dirname(here), "fixtures")):
        table = os.path.join(folder, "pairs", "pairs.csv")
        if os.path.exists(table):
            return table
    raise InputError("simdup's own labelled pairs are not installed; name a table with --pairs")


def labelled_pairs(table: str) -> Labels:
    """The pairs of a table `left,right,duplicate[,kind]` and the texts of their files.

    Raises InputError, naming table and line, for a label that is no label, a file that is
    no text, a file paired with itself or a pair with two labels; and if there are not
    both duplicates and others.
    """
    labelled = _pairs(table)
    for label, what in ((DUPLICATE, "labelled 1 (duplicates)"), (OTHER, "labelled 0 (others)")):
        if label not in labelled.labels:
            raise InputError(f"{table!r}: there is no pair {what}; both are needed")
    return labelled


def _pairs(table: str) -> Labels:
    """Read the pairs of a table, whatever their labels are."""
    lines, wrong = _Lines(table), _Wrong(table)
    seen: dict[tuple[int, int], tuple[int, str, int]] = {}
    repeated = 0
    for line, row in _rows(table, ("left", "right", "duplicate")):
        pair = lines.index(row["left"], line), lines.index(row["right"], line)
        label = _LABELS.get(row["duplicate"].strip())
        if label is None:
            wrong.add(line, f"duplicate must be 1, 0 or empty, not {row['duplicate']!r}")
            continue
        new = label, row.get("kind") or "", line
        known = seen.setdefault((min(pair), max(pair)), new)
        if pair[0] == pair[1]:
            wrong.add(line, f"{row['left']!r} is paired with itself")
        elif known[0] != label:
            wrong.add(line, f"the pair of line {known[2]} with another label")
        elif known[1] != new[1]:
            wrong.add(line, f"the pair of line {known[2]} with another kind")
        elif known is not new:
            repeated += 1
    texts = lines.texts(wrong)
    labels, kinds, _ = zip(*seen.values(), strict=True) if seen else ((), (), ())
    names = {name: index for index, name in enumerate(dict.fromkeys(kinds))}
    return Labels(
        table,
        tuple(lines.first),
        tuple(lines.first.values()),
        texts,
        np.array(list(seen), np.int64).reshape(-1, 2),
        np.array(labels, np.int8),
        tuple(names),
        np.array([names[kind] for kind in kinds], np.int64),
        repeated,
    )


def labelled_clusters(table: str) -> Labels:
    """All pairs of the files of a table, and their texts: those of one cluster are duplicates.

    The table is `path,cluster`; or one of pairs, and then whatever duplicates connect is a
    cluster. Raises InputError, naming table and line, for a file that is no text or
    stands twice, or has no cluster; and if there are more than MAX_CLUSTERED, or not
    both duplicates and others.
    """
    if "left" in _table(table)[0]:
        return _connected(_pairs(table))
    rows = _rows(table, ("path", "cluster"))
    _check_number(table, len(rows))
    lines, wrong = _Lines(table), _Wrong(table)
    for line, row in rows:
        index = lines.index(row["path"], line)
        if lines.at(index) != line:
            wrong.add(line, f"{row['path']!r} stands in line {lines.at(index)} already")
        elif not row["cluster"].strip():
            wrong.add(line, f"{row['path']!r} has no cluster; a name of its own will do")
    texts = lines.texts(wrong)
    names = [row["cluster"].strip() for _, row in rows]
    clusters = np.unique(names, return_inverse=True)[1]
    return _all_pairs(table, tuple(lines.first), tuple(lines.first.values()), texts, clusters)


def _connected(labelled: Labels) -> Labels:
    """All pairs of the files of labelled pairs; what was unjudged stays so."""
    table, paths, pairs = labelled.table, labelled.paths, labelled.pairs
    _check_number(table, len(paths))
    clusters = components(pairs[labelled.labels == DUPLICATE], len(paths))
    is_torn = (labelled.labels == OTHER) & (clusters[pairs[:, 0]] == clusters[pairs[:, 1]])
    for i, j in pairs[is_torn][:1].tolist():
        both = f"{paths[i]!r} and {paths[j]!r} are labelled 0"
        raise InputError(f"{table!r}: {both}, but duplicates connect them")
    made = _all_pairs(table, paths, labelled.lines, labelled.texts, clusters)
    # What is not known of two texts is not known of their versions either.
    unjudged, others, every = (
        np.sort(clusters[each], axis=1) @ [len(paths), 1]
        for each in (
            pairs[labelled.labels == UNJUDGED],
            pairs[labelled.labels == OTHER],
            made.pairs,
        )
    )
    is_unjudged = np.isin(every, np.setdiff1d(unjudged, others)) & (made.labels == OTHER)
    if (is_unjudged | (made.labels == DUPLICATE)).all():
        raise InputError(f"{table!r}: no pair is left that is known to be of different clusters")
    return replace(made, labels=np.where(is_unjudged, UNJUDGED, made.labels).astype(np.int8))


def _check_number(table: str, files: int) -> None:
    """Raise InputError if all pairs of so many files are too many."""
    if files > MAX_CLUSTERED:
        raise InputError(f"{table!r}: {files:,} files; at most {MAX_CLUSTERED:,} can be paired")


def _all_pairs(
    table: str,
    paths: tuple[str, ...],
    lines: tuple[int, ...],
    texts: tuple[str, ...],
    clusters: NDArray[np.int64],
) -> Labels:
    """The labels of all pairs by cluster. Raises InputError if they are all alike."""
    pairs = np.column_stack(np.triu_indices(len(texts), 1))
    labels = (clusters[pairs[:, 0]] == clusters[pairs[:, 1]]).astype(np.int8)
    if len({DUPLICATE, OTHER} & set(labels.tolist())) < 2:
        raise InputError(f"{table!r}: there must be files of one cluster, and of several")
    kinds = ("different clusters", "same cluster")
    return Labels(
        table, paths, lines, texts, pairs, labels, kinds, labels.astype(np.int64), 0, clusters
    )


class _Wrong:
    """What is wrong with a table; of each line the first thing."""

    def __init__(self, table: str) -> None:
        self.table, self.found = table, dict[int, str]()

    def add(self, line: int, what: str) -> None:
        self.found.setdefault(line, what)

    def complain(self) -> None:
        """Raise InputError with the first line that is wrong and the number of the others."""
        if not self.found:
            return
        line, others = min(self.found), len(self.found) - 1
        more = f" (and {others:,} other {'line' if others == 1 else 'lines'})" if others else ""
        raise InputError(f"{self.table!r}, line {line}: {self.found[line]}{more}")


class _Lines:
    """The files that a table names: where each is named first, and its text."""

    def __init__(self, table: str) -> None:
        self.folder = os.path.dirname(table)
        self.first, self.numbers = dict[str, int](), dict[str, int]()

    def index(self, name: str, line: int) -> int:
        """The number of a file, counted in the order of the table."""
        path = os.path.normpath(os.path.join(self.folder, name)) if name else ""
        self.first.setdefault(path, line)
        return self.numbers.setdefault(path, len(self.numbers))

    def at(self, index: int) -> int:
        """The line that names this file first."""
        return list(self.first.values())[index]

    def texts(self, wrong: _Wrong) -> tuple[str, ...]:
        """The text of every file. Raises InputError for what is wrong, here or before."""
        texts = []
        with closing(Readers(FORMATS)) as readers:
            for path, line in self.first.items():
                if not path:
                    wrong.add(line, "the name of a file is empty")
                    continue
                try:
                    texts.append(_text(path, readers))
                except InputError as error:
                    wrong.add(line, str(error))
        wrong.complain()
        return tuple(texts)


def _rows(table: str, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a table that has these columns, each with the line where it ends."""
    header, rows = _table(table)
    for name in columns:
        if header.count(name) != 1:
            there = "no column" if name not in header else "more than one column"
            wanted = ",".join(columns)
            raise InputError(f"{table!r}, line 1: {there} {name!r}; the header must be {wanted}")
    return rows


def _table(table: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The header of a CSV, and its rows, each with the line where it ends."""
    reader = csv.reader(io.StringIO(_text(table)), strict=True, skipinitialspace=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InputError(f"{table!r}, line {reader.line_num}: {error}") from None
    header = rows.pop(0)[1] if rows else []
    for line, cells in rows:
        if len(cells) != len(header):
            columns = f"there must be {len(header)} columns, not {len(cells)}"
            advice = "put names that hold a comma into quotes"
            raise InputError(f"{table!r}, line {line}: {columns}; {advice}")
    return header, [(line, dict(zip(header, cells, strict=True))) for line, cells in rows]


def _text(path: str, readers: Readers | None = None) -> str:
    """The text of a file, of a document if there are readers. Raises InputError."""
    found = next(iter(listed([path])))
    if isinstance(found, Skipped):
        raise InputError(str(found))
    try:
        return read_text(found, None, readers).text
    except SkipError as skip:
        raise InputError(str(skip.at(path))) from None
