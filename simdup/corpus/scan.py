"""A whole scan: files of rows, or texts in memory, in; groups out.

Three stages of `files.scan` serve rows too, since a corpus is opened whole and no store keeps it:

    read      the rows of the tables, for their fingerprints
    match     the fingerprints, for groups of texts
    findings  the texts that are parts of others; and which rows the groups have

Groups are arrays, since there may be a million of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdup.arguments import check_jobs, check_type, text_list
from simdup.arrays import Digests, Indices
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import fingerprint_list, fingerprint_tables, new_prints
from simdup.corpus.formats.open import tables
from simdup.corpus.formats.table import LACKING, Table
from simdup.corpus.records import CorpusResult, RowGroups, RowPlace, TextFingerprints
from simdup.corpus.reread import RereadTexts, values
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.sketch import DENSE_LEVELS, thinned
from simdup.match.distinct_texts import Items, Texts, distinct_texts
from simdup.match.engine import LocalEngine, TextGroups
from simdup.match.parts import find_parts
from simdup.progress import Progress, silent
from simdup.recipe import Recipe
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.text.chunking import batches, chunks_of
from simdup.text.fields import named_fields, separated


def scan_rows(  # noqa: PLR0913  (one argument a question; all but the first have an answer)
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    settings: Settings | None = None,
    *,
    text_field: str = "text",
    id_field: str | None = None,
    jobs: int | None = 1,
    progress: Progress = silent,
) -> CorpusResult:
    """The groups of near-duplicate rows of some files, or of a single file.

    Names of files end in .jsonl, .ndjson or .json (each with a row a line), .csv or .tsv, where .gz
    or .zst may follow, or in .parquet. `text_field` names the field of the texts, or several fields
    with weights, as "title^3,body". `id_field`, if given, must be a column, or a field of some row
    of JSON Lines. `jobs` processes make fingerprints; None takes all cores where that pays.
    Raises InputError for a file that cannot be read or changes meanwhile, ExtraMissingError
    where a file needs the extra `corpus`, TooManyPairsError.
    """
    check_type(text_field, "text_field", str)
    if id_field is not None:
        check_type(id_field, "id_field", str)
    names, settings = with_fields(settings or Settings(), text_field)
    return scan_tables(tables(files, names, id_field), settings, jobs, progress)


def with_fields(settings: Settings, text_field: str) -> tuple[tuple[str, ...], Settings]:
    """The names of the fields that have the text, and settings that tell them apart.

    A single field is a plain text, whatever its weight. Raises ValueError for an invalid list.
    """
    check_type(settings, "settings", Settings)
    fields = named_fields(text_field)
    recipe = replace(settings.recipe, fields=fields if len(fields) > 1 else ())
    return tuple(name for name, _ in fields), replace(settings, recipe=recipe)


def scan_tables(
    opened: tuple[Table, ...], settings: Settings, jobs: int | None = 1, progress: Progress = silent
) -> CorpusResult:
    """Group the rows of tables that `simdup.corpus.formats.open.tables` opened."""
    began = perf_counter()
    check_jobs(jobs)
    rows, prints, flaws = fingerprint_tables(opened, settings, jobs, progress)
    texts, digests = texts_in(prints, settings), prints.text_digests
    sketches = None if settings.parts is None else prints.sketches
    del prints  # half of the memory of a row
    with closing(RereadTexts(rows, texts.first, digests[texts.first], settings.recipe)) as reread:
        matched = LocalEngine(texts, settings, reread, progress).groups()
        parts = None
        if sketches is not None:
            dense = thinned(sketches.take(texts.first), texts.counts, DENSE_LEVELS)
            parts = find_parts(texts, dense, matched, settings, reread, progress)
            parts = parts._replace(pairs=texts.first[parts.pairs])
    groups = row_groups(texts, matched, digests)
    text = texts.text_of[groups.members]
    of_members = texts.rows[text], texts.counts[text], texts.digests[text], digests[groups.members]
    return CorpusResult(
        settings,
        rows,
        groups,
        TextFingerprints(*of_members),
        *flaws.listed(),
        matched.candidates,
        len(matched.siblings.pairs),
        text,
        matched.shares,
        perf_counter() - began,
        parts,
    )


def group_texts(
    texts: Iterable[str], settings: Settings | None = None, progress: Progress = silent
) -> RowGroups:
    """The groups of near-duplicates among some texts; members are indices of texts.

    Rows of a file with these texts would be grouped in the same way.

    >>> texts = ["the cat sat on the mat", "!", "The cat sat on the mat.", "not at all"]
    >>> group_texts(texts).members.tolist()
    [0, 2]
    """
    texts, settings = text_list(texts), settings or Settings()
    load_kernels_if_worth(characters=sum(map(len, texts)), progress=progress)
    collected, done = new_prints(settings, np.empty(0, np.int64)), 0
    for batch in batches(texts):
        made, good, *_ = fingerprint_list(batch, settings)
        collected.add(made.sketches, *made[:4], done + good)
        done += len(batch)
    *columns, there = collected.columns()
    prints = TextFingerprints._make([*columns, collected.sketches()])
    distinct = texts_in(prints, settings)
    in_memory = TextsInMemory(texts, there[distinct.first], settings.recipe)
    matched = LocalEngine(distinct, settings, in_memory, progress).groups()
    groups = row_groups(distinct, matched, prints.text_digests)
    return replace(groups, members=there[groups.members])


def identities(result: CorpusResult, field: str, asked: Indices | None = None) -> list[Any]:
    """The field of each member of the groups, or of the rows `asked`, in their order, read again.

    A row without the field has a `simdup.corpus.records.RowPlace` instead.
    """
    check_type(field, "field", str)
    members = result.groups.members if asked is None else asked
    rows, inverse = np.unique(members, return_inverse=True)
    found = list[Any]()
    each_value, places = values(result.rows, rows, field), result.rows.places(rows)
    for value, (path, row) in zip(each_value, places, strict=True):
        found.append(RowPlace(f"{path}:{row}") if value is LACKING else value)
    return [found[index] for index in inverse.tolist()]


@contextmanager
def member_texts(result: CorpusResult, most: int) -> Iterator[Callable[[int], str | None]]:
    """Give a function that reads a member's text again, by its index among all members.

    It returns the texts of the first members, up to `most` characters together, and None for the
    others. An empty line separates several fields. It raises InputError if a file changed.
    """
    digests, recipe = result.prints.text_digests, result.settings.recipe
    _, first, text_of = np.unique(digests, axis=0, return_index=True, return_inverse=True)
    # `RereadTexts` takes texts in the order of their rows.
    order = np.argsort(result.groups.members[first])
    first, number = first[order], np.argsort(order)[text_of.ravel()]
    rows = result.groups.members[first]
    # A text is given if it fits in with the texts of all members before its first one.
    by_member = np.argsort(first)
    is_given = np.zeros(len(first), bool)
    is_given[by_member] = np.cumsum(result.rows.lengths[rows[by_member]]) <= most
    with closing(RereadTexts(result.rows, rows, digests[first], recipe)) as reread:
        reread.expect(np.flatnonzero(is_given))

        def read(member: int) -> str | None:
            text = int(number[member])
            if not is_given[text]:
                return None
            whole = "".join(reread.chunks(text))
            return "\n\n".join(separated(whole, max(1, len(recipe.fields))))

        yield read


class TextsInMemory:
    """Computes the features of distinct texts that are in memory."""

    def __init__(self, texts: Sequence[str], first: Indices, recipe: Recipe) -> None:
        self.texts, self.first, self.recipe = texts, first, recipe

    def expect(self, texts: Indices) -> None:
        """Do nothing: there is nothing to read."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these distinct texts."""
        return all_features([self.texts[i] for i in self.first[texts].tolist()], self.recipe)

    def chunks(self, text: int) -> Iterator[str]:
        """Yield a distinct text in chunks."""
        return chunks_of(self.texts[self.first[text]])


def texts_in(prints: TextFingerprints, settings: Settings) -> Texts:
    """The distinct texts of some rows; the first of rows with equal features represents them."""
    n, bits, rows = len(prints.rows), settings.recipe.bits, prints.rows
    if n <= settings.limits.sieve_from:  # too few rows for a sieve to pay
        rows = np.ascontiguousarray(rows[:, : bits // 8])
    nobody = np.zeros(n, bool)
    items = Items(rows, prints.counts, prints.digests, np.arange(n), nobody, prints.sketches)
    return distinct_texts(items, bits)


def row_groups(texts: Texts, matched: TextGroups, text_digests: Digests) -> RowGroups:
    """Groups of rows from groups of texts, the most similar first.

    Each is sorted: the representative, identical rows, the most similar rows.
    """
    lengths = list(map(len, matched.groups))
    members = np.concatenate([np.empty(0, np.int64), *matched.groups])
    first = np.repeat(np.array([each[0] for each in matched.groups], np.int64), lengths)
    # Arrays by text become arrays by row: each text is as many rows as have it.
    sizes = texts.sizes[members]
    group = np.repeat(np.repeat(np.arange(len(lengths)), lengths), sizes)
    representative = np.repeat(texts.first[first], sizes)
    rows = texts.by_text[_ranges(texts.begins[members], sizes)]
    are_identical = (text_digests[rows] == text_digests[representative]).all(axis=1)
    similarities = np.repeat(matched.similarities, sizes)
    distances = np.repeat(paired_distances(texts.rows, members, first).astype(np.int64), sizes)
    differences = ~are_identical, -np.nan_to_num(similarities), distances
    place, offsets = _most_similar_first(group, representative, differences)
    order = np.lexsort((rows, *differences[::-1], rows != representative, place[group]))
    return RowGroups(
        rows[order],
        offsets,
        are_identical[order],
        similarities[order],
        distances[order],
        np.repeat(matched.own_shares, sizes)[order],
    )


def _most_similar_first(
    group: Indices, representative: Indices, differences: Sequence[NDArray[Any]]
) -> tuple[Indices, Indices]:
    """The place of each group in reports, the most similar first, and the offsets of the places.

    `group` has the group of each row, ascending, and `differences` arrays by row, the most
    important one first.
    """
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(begins, append=len(group))
    weakest = [np.maximum.reduceat(each, begins) for each in differences]
    order = np.lexsort((representative[begins], -sizes, *weakest[::-1]))
    return np.argsort(order), np.append(0, np.cumsum(sizes[order]))


def _ranges(begins: Indices, sizes: Indices) -> Indices:
    """sizes[0] consecutive numbers from begins[0], then sizes[1] from begins[1], and so on."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(begins - before, sizes) + np.arange(sizes.sum())
