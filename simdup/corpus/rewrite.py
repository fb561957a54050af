"""The rows of groups to drop, and the rows that stay, written in the format of the input.

Each row that is dropped is similar enough to a row that stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arguments import check_type
from simdup.arrays import Indices, Mask
from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.streams import PACKINGS, changed, check_packing
from simdup.corpus.formats.table import Table
from simdup.corpus.records import CorpusResult, RowGroups, TextFingerprints
from simdup.corpus.reread import RereadTexts
from simdup.corpus.scan import texts_in
from simdup.errors import BadValueError, InputError
from simdup.match.engine import LocalEngine
from simdup.match.groups import staying
from simdup.match.own_share import least_similarity
from simdup.progress import Item, Progress, silent
from simdup.settings import KEEPS, Settings

# Endings of names that promise a packing that simdup does not write.
_NOT_WRITTEN = {".7z", ".br", ".bz2", ".lz", ".lz4", ".lzma", ".rar", ".tgz", ".xz", ".z", ".zip"}


def check_keep(keep: str) -> None:
    """Raise ValueError unless `keep` is one of KEEPS."""
    if keep not in KEEPS:
        raise BadValueError(f"keep must be one of {', '.join(KEEPS)}, not {keep!r}")


class Dropped(NamedTuple):
    """The rows that are dropped, and for each the row that stays for it: arrays by dropped row.

    rows: Ascending.
    are_identical: Whether the two have the very same text.
    similarities: None where they were not asked for.
    """

    rows: Indices
    like: Indices
    are_identical: Mask
    similarities: NDArray[np.float64] | None


def dropped_for(
    result: CorpusResult, keep: str, progress: Progress = silent, *, is_measured: bool = False
) -> Dropped:
    """The rows of groups that are dropped, and for each the row that stays for it.

    `keep` says which rows of a group are preferred: the "first", the "longest" (of equally long
    rows the first), or the "representative" and those most similar to it. In that order a row
    goes if it is a near-duplicate of a row that stays, by the rule of the scan, and stays
    otherwise; see also `groups.MOST_STAYING`. Texts are read again to compare them; with
    `is_measured` once more, for the similarity of each row that goes to the row that stays for it.
    Raises ValueError for another `keep`, InputError when a file has changed.
    """
    check_keep(keep)
    groups, text = result.groups, result.texts
    chosen = preferred_texts(
        groups, text, result.rows.lengths[groups.members], keep, result.settings
    )
    with _engine(result, chosen.members, progress) as (engine, number):
        stands_for = chosen.staying(lambda pairs: engine.are_near(number[pairs]))
        goes = chosen.going(stands_for)
        goes = goes[np.argsort(groups.members[goes])]
        pairs = np.column_stack((chosen.one[goes], stands_for[chosen.one[goes]]))
        measured = _measured(engine, number[pairs]) if is_measured else None
    like = chosen.members[pairs[:, 1]]
    digests = result.prints.text_digests
    same = (digests[goes] == digests[like]).all(axis=1)
    return Dropped(groups.members[goes], groups.members[like], same, measured)


def droppable(result: CorpusResult, similarity: float) -> int:
    """About how many rows would be dropped from this similarity on: those like their first row.

    `dropped_for` is exact, but matches all rows of groups again.
    """
    groups, counts = result.groups, result.prints.counts
    if not result.settings.verified:
        return result.balance.dropped
    first = np.repeat(groups.offsets[:-1], np.diff(groups.offsets))
    least = least_similarity(similarity, np.minimum(counts, counts[first]))
    are_alike = groups.are_identical | (groups.similarities >= least)
    return int(are_alike.sum()) - len(groups)


class PreferredTexts(NamedTuple):
    """The texts of groups, each represented by its most preferred member.

    members: Places among the members of all groups, group by group, the preferred ones first.
    group: The group of each of these.
    is_centre: Whether a text is alike to all of its group.
    one: For each member of the groups, the place of its text in `members`.
    """

    members: Indices
    group: Indices
    is_centre: Mask
    one: Indices

    def staying(self, alike: Callable[[Indices], Mask]) -> Indices:
        """The text that stays for each text; `alike` says which pairs of `members` are alike."""
        return staying(self.group, self.is_centre, alike)

    def going(self, stands_for: Indices) -> Indices:
        """The members for which another one stays, by the text that stays for each text."""
        return np.flatnonzero(self.members[stands_for[self.one]] != np.arange(len(self.one)))


def preferred_texts(
    groups: RowGroups, text: Indices, lengths: Indices, keep: str, settings: Settings
) -> PreferredTexts:
    """The texts of groups in the order in which they may stay.

    `text` and `lengths` are of each member of the groups: the number of its text (rows with equal
    features are one text) and its characters.
    """
    group = np.repeat(np.arange(len(groups)), np.diff(groups.offsets))
    if keep == "representative":
        order = np.arange(len(group))
    else:
        longest = lengths if keep == "longest" else np.zeros_like(lengths)
        order = np.lexsort((groups.members, -longest, group))
    _, first, of = np.unique(text[order], return_index=True, return_inverse=True)
    firsts = np.sort(first)
    members = order[firsts]
    is_star = settings.linkage == "star"
    one = np.empty(len(order), np.int64)
    one[order] = np.searchsorted(firsts, first[of])
    is_centre = np.isin(text[members], text[groups.offsets[:-1]]) & is_star
    return PreferredTexts(members, group[members], is_centre, one)


@contextmanager
def _engine(
    result: CorpusResult, members: Indices, progress: Progress
) -> Iterator[tuple[LocalEngine, Indices]]:
    """Give an engine that compares some members of groups, of texts that differ, as the scan did.

    Also gives the number of each member in the engine, which has them in the order of their rows.
    """

    def shown(
        items: Iterable[Item],
        label: str,  # noqa: ARG001
        total: float | None,
        amount: Callable[[Item], float] | None = None,
    ) -> Iterable[Item]:
        return progress(items, "keep", total, amount)

    order = np.argsort(result.groups.members[members])
    number, members = np.argsort(order), members[order]
    prints = TextFingerprints._make([*(each[members] for each in result.prints[:4]), None])
    texts, rows = texts_in(prints, result.settings), result.groups.members[members]
    recipe = result.settings.recipe
    with closing(RereadTexts(result.rows, rows, prints.text_digests, recipe)) as reread:
        engine = LocalEngine(texts, result.settings, reread, shown)
        if result.shares is not None and len(members):
            engine.own.shares = result.shares.taking(result.texts[members])
        yield engine, number


def _measured(engine: LocalEngine, pairs: Indices) -> NDArray[np.float64]:
    """The exact similarity of each pair of texts; 1 for a text with itself."""
    similarities = np.ones(len(pairs))
    differ = pairs[:, 0] != pairs[:, 1]
    unique, inverse = np.unique(pairs[differ], axis=0, return_inverse=True)
    similarities[differ] = engine.exact.of(unique)[inverse]
    return similarities


def check_target(tables: Sequence[Table], target: str) -> None:
    """Raise InputError unless the rows of all tables can go into one file of that name.

    Raises ExtraMissingError if packing it needs the extra `corpus`.
    """
    if os.path.splitext(target.lower())[1] in _NOT_WRITTEN:
        raise InputError(f"{target!r}: rows are packed as {' or '.join(PACKINGS)}, or not at all")
    first, (form, packing) = tables[0], form_of(target)
    for table in tables[1:]:
        if table.form != first.form:
            raise _mismatch(table, first, "format")
        if table.columns != first.columns:
            raise _mismatch(table, first, "columns")
    if form not in {None, first.form} or (first.form == "parquet" and packing):
        raise InputError(f"{target!r}: the rows are {first.form}, and are written as such")
    check_packing(target, packing)


def _mismatch(table: Table, first: Table, what: str) -> InputError:
    return InputError(f"{table.path!r} has another {what} than {first.path!r}: not one file")


def rewritten(result: CorpusResult, keep: str, target: str = "") -> Iterator[bytes]:
    """The content of a file with the rows that stay, a batch at a time.

    `keep` says which rows of a group are preferred: the "first", the "longest" or the
    "representative"; every row that goes is similar enough to one that stays. Rows of JSON Lines
    and CSV are the very bytes of the input; Parquet keeps its schema. The end of `target` says
    how the file is packed. Raises ValueError for another `keep`, and InputError if the rows
    cannot go into one file of that name, or a file has changed.
    """
    check_keep(keep)
    check_type(target, "target", str)
    if result.rows.tables:
        check_target(result.rows.tables, target)
    return without(result, dropped_for(result, keep).rows, target)


def without(result: CorpusResult, goes: Indices, target: str = "") -> Iterator[bytes]:
    """The content of a file with all rows but these (ascending), a batch at a time."""
    tables = result.rows.tables
    if not tables:
        return iter(())
    return tables[0].written(_batches(result, goes), form_of(target)[1])


def _batches(result: CorpusResult, goes: Indices) -> Iterator[Any]:
    """Yield the rows of each table that stay. Raises InputError unless as many as expected do."""
    rows, written = result.rows, 0
    bounds = np.searchsorted(goes, rows.begins)
    for index, table in enumerate(rows.tables):
        left_out = rows.numbers[goes[bounds[index] : bounds[index + 1]]]
        for batch, count in table.kept(np.union1d(left_out, result.refused[index])):
            written += count
            yield batch
    if written != replace(result.balance, dropped=len(goes)).kept:
        raise changed(rows.tables[0].path)
