"""Whole runs: files of rows, or texts at hand, in; groups out.

tables -> collected -> grouped
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.arguments import check_jobs, check_type, text_list
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import collected, text_digests
from simdup.corpus.formats.open import tables
from simdup.corpus.groups import grouped, texts_of
from simdup.corpus.records import LACKING, CorpusResult, Place, Prints
from simdup.corpus.reread import RowsAgain, values
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts
from simdup.match.candidates import SIEVE_FROM, sieve_recipe
from simdup.progress import silent
from simdup.settings import Settings

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simdup.corpus.formats.base import ReadableTable
    from simdup.corpus.records import RowGroups
    from simdup.fingerprint.features import Features
    from simdup.progress import Progress
    from simdup.recipe import Recipe

    Indices = NDArray[np.int64]


def scan_rows(  # noqa: PLR0913  (one argument a question; all but the first have an answer)
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    settings: Settings | None = None,
    *,
    text_field: str = "text",
    id_field: str | None = None,
    jobs: int | None = 1,
    progress: Progress = silent,
) -> CorpusResult:
    """The groups of near-duplicate rows of some files, which are one corpus.

    A single file is a list of one. The names of files end in .jsonl or .csv (.gz or .zst may
    follow) or .parquet. What `text_field` has is compared; that `id_field` is a column, or
    some row of JSON Lines has it, is seen to. `jobs` processes make fingerprints; None takes
    all cores where that pays.
    Raises InputError for a file that cannot be read or changes meanwhile, ExtraMissingError
    where one needs the extra `corpus`, TooManyPairsError.
    """
    check_type(text_field, "text_field", str)
    if id_field is not None:
        check_type(id_field, "id_field", str)
    return scan_tables(tables(files, text_field, id_field), settings, jobs, progress)


def scan_tables(
    opened: tuple[ReadableTable, ...],
    settings: Settings | None = None,
    jobs: int | None = 1,
    progress: Progress = silent,
) -> CorpusResult:
    """Group the rows of tables that `simdup.corpus.formats.open.tables` opened."""
    began, settings = perf_counter(), settings or Settings()
    check_type(settings, "settings", Settings)
    check_jobs(jobs)
    bits = settings.recipe.bits
    made, prints = collected(opened, _recipe(settings), bits, jobs, progress)
    texts, digests = texts_of(_narrowed(prints, settings), bits), prints.text_digests
    del prints  # half of what is known of a row
    with closing(RowsAgain(made.rows, digests, settings.recipe)) as again:
        groups, known, candidates = grouped(texts, digests, settings, again, progress)
    return CorpusResult(
        settings,
        made.rows,
        groups,
        known,
        made.faults,
        made.faulty,
        made.refused,
        candidates,
        perf_counter() - began,
    )


def group_texts(
    texts: Iterable[str], settings: Settings | None = None, progress: Progress = silent
) -> RowGroups:
    """The groups of near-duplicates among some texts; their members are indices of texts.

    Grouped as rows of a file are: the same texts give the same groups.

    >>> texts = ["the cat sat on the mat", "!", "The cat sat on the mat.", "not at all"]
    >>> group_texts(texts).members.tolist()
    [0, 2]
    """
    texts, settings = text_list(texts), settings or Settings()
    load_kernels_if_worth(characters=sum(map(len, texts)), progress=progress)
    made = fingerprint_texts(texts, _recipe(settings))
    bits = settings.recipe.bits
    there = np.flatnonzero((made.counts > 0) & ~are_degenerate(made.rows, bits))
    prints = Prints(
        made.rows[there],
        made.counts[there],
        made.digests[there],
        text_digests(texts[index] for index in there.tolist()),
    )
    distinct = texts_of(_narrowed(prints, settings), bits)
    again = _AtHand(texts, there, settings.recipe)
    groups, _, _ = grouped(distinct, prints.text_digests, settings, again, progress)
    return replace(groups, members=there[groups.members])


def identities(result: CorpusResult, field: str) -> list[Any]:
    """What a field has for each member of the groups, in their order, read again.

    A row that lacks the field has a `corpora.Place` instead.
    """
    members = result.groups.members
    order = np.argsort(members)
    found: list[Any] = [None] * len(members)
    for index, value, (path, row) in zip(
        order.tolist(),
        values(result.rows, members[order], field),
        result.rows.places(members[order]),
        strict=True,
    ):
        found[index] = Place(f"{path}:{row}") if value is LACKING else value
    return found


class _AtHand:
    """Texts that are in memory, read again."""

    def __init__(self, texts: Sequence[str], there: Indices, recipe: Recipe) -> None:
        self.texts, self.there, self.recipe = texts, there, recipe

    def expect(self, asked: Indices) -> None:
        """Nothing to be done."""

    def features(self, asked: Indices) -> Features:
        """The features of some of those that have any."""
        texts = [self.texts[index] for index in self.there[asked].tolist()]
        return all_features(texts, self.recipe)


def _recipe(settings: Settings) -> Recipe:
    """With the bits that sieve chance candidates, where exact similarities decide."""
    return sieve_recipe(settings.recipe) if settings.verified else settings.recipe


def _narrowed(prints: Prints, settings: Settings) -> Prints:
    """Without these bits where there are too few rows for them to pay."""
    if len(prints.rows) > SIEVE_FROM:
        return prints
    rows = np.ascontiguousarray(prints.rows[:, : settings.recipe.bits // 8])
    return replace(prints, rows=rows)
