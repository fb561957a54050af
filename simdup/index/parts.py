"""Questions in, the texts of an index out that contain a question or stand in it.

samples of a question -> texts that share enough of them -> documents -> exact shares and ends

This is what `match.parts` does for a collection, with two differences. A text of the index keeps
one shingle in four, however few it has. And a question that many texts hold is a part too: a
licence stands in all programs under it, but a mail of one line above a notice does not stand in
all mails with that notice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simdup.arrays import Indices, Mask, Shares, Values
from simdup.errors import BadValueError
from simdup.fingerprint.sketch import Sketches, read_back
from simdup.index.connection import IndexFile
from simdup.index.contents import sketched
from simdup.index.query import Queries, RereadDocuments
from simdup.index.records import Answer, FoundPart
from simdup.index.samples import HIGHEST, Run, Shared, holders, looked_up, runs
from simdup.match.own_share import FAMILY
from simdup.match.parts import LEAST_FEATURES, MOST_OTHERS, least_shared, verified_parts
from simdup.progress import silent
from simdup.records import Document
from simdup.search.distinct import distinct_numbers
from simdup.settings import PARTS, Settings

#: A part is as good as whole in a larger text that has at least this share of it by weight. What
#: the larger text lacks weighs 1, and what it has 1 / (1 + o / 2) if o others hold it too. With
#: 0.8, a mail with five per cent of its own above a notice stands in all others.
AS_GOOD_AS_WHOLE = 0.9

#: The rarity of the shingles of a larger text is estimated from this many of its sketch.
LOWEST = 128


class Candidates(NamedTuple):
    """The documents that may contain a question, or be a part of it.

    unread: How many more texts may be candidates, beyond `Limits.part_candidates`.
    """

    found: list[Candidate]
    unread: int


class Candidate(NamedTuple):
    """A document that may be a part of a question, or the question a part of it.

    share: The share of the sampled shingles of the part that the larger text has.
    own_share: How rare these shingles are among the texts of the index, compared with all shingles
        of the larger text: see `match.own_share`.
    others: How many other texts hold as much of the part, if the own share is too small; else 0.
    """

    document: Document
    is_whole: bool
    share: float
    own_share: float
    others: int

    @property
    def is_file(self) -> bool:
        """Whether its text can be read again; one that was given by itself cannot."""
        return os.path.isabs(self.document.path)


def candidates(file: IndexFile, queries: Queries, settings: Settings) -> list[Candidates]:
    """The candidates of each query, by samples.

    Within `IndexFile.reading` of an index with samples. Raises ValueError for queries of which
    only the fingerprints are known.
    """
    if queries.sketches is None:
        raise BadValueError("parts are found in texts, and a fingerprint is none")
    every, found = runs(file), list[Candidates]()
    for question, sketch in zip(queries.documents, queries.sketches, strict=True):
        values = sketch[sketch <= HIGHEST]
        if question is None or question.features < LEAST_FEATURES or not len(values):
            found.append(Candidates([], 0))
        else:
            found.append(_Search(file, every, values, settings).candidates(question))
    return found


class _Search:
    """Looks for the candidates of one question."""

    def __init__(
        self, file: IndexFile, every: Sequence[Run], values: Values, settings: Settings
    ) -> None:
        self.file, self.every, self.values, self.settings = file, every, values, settings
        self.share = settings.parts or 1.0
        self.found = looked_up(file, every, values)
        """How much each text shares with the question, whose samples are `values`."""

    def candidates(self, question: Document) -> Candidates:
        """The texts that may have enough of the question, or stand in it."""
        likely, unread = self._likely(question)
        return Candidates(self._described(question, likely) if likely else [], unread)

    def _described(
        self, question: Document, likely: dict[int, tuple[Document, bytes]]
    ) -> list[Candidate]:
        """The likely texts as candidates, with their shares by the samples."""
        found = self.found
        kept = np.array(list(likely), np.int64)
        documents = [document for document, _ in likely.values()]
        are_wholes = np.array([each.features >= question.features for each in documents], bool)
        usual = read_back(sketch for _, sketch in likely.values())
        numbers = found.numbers[kept]
        is_family = found.shared >= FAMILY * np.sqrt(len(self.values) * found.kept)
        left_out = np.concatenate((found.numbers[is_family], numbers[_copies(documents)]))
        own = self._own_shares(numbers, are_wholes, usual, left_out)
        others = self._others(own < self.settings.own_share, are_wholes, usual, left_out)
        sizes = np.where(are_wholes, len(self.values), found.kept[kept])
        shares = found.shared[kept] / sizes
        figures = zip(
            are_wholes.tolist(), shares.tolist(), own.tolist(), others.tolist(), strict=True
        )
        return [Candidate(each, *known) for each, known in zip(documents, figures, strict=True)]

    def _likely(self, question: Document) -> tuple[dict[int, tuple[Document, bytes]], int]:
        """The texts that share enough, by their indices in `found`, with their usual sketches.

        Also returns how many more share enough, beyond `Limits.part_candidates`.
        """
        found, size = self.found, np.full(len(self.found.shared), len(self.values))
        is_part = found.shared >= least_shared(self.share, size)
        has_part = found.shared >= least_shared(self.share, found.kept)
        of_text = np.where(has_part, found.shared / found.kept, 0)
        seeming = np.maximum(np.where(is_part, found.shared / size, 0), of_text)
        enough = np.flatnonzero(seeming > 0)
        # Copies of the question come last, since a copy is not a part.
        is_copy = (found.shared == size) & (found.kept == size)
        likeliest = enough[np.lexsort((is_copy[enough], -seeming[enough]))]
        best = likeliest[: self.settings.limits.part_candidates]
        known, likely = dict(sketched(self.file, found.numbers[best])), {}
        for index in best.tolist():
            document, sketch = known[int(found.numbers[index])]
            may_be = is_part if document.features >= question.features else has_part
            is_other = document.features_digest != question.features_digest
            if is_other and may_be[index] and document.features >= LEAST_FEATURES:
                likely[index] = document, sketch
        return likely, len(enough) - len(best)

    def _own_shares(
        self, numbers: Indices, are_wholes: Mask, usual: Sketches, left_out: Indices
    ) -> Shares:
        """The own share of the hashes that each of some texts shares with the question; (m,).

        `usual` are the sketches of the texts, and `left_out` texts that do not count: versions of
        the question, and copies of a text.
        """
        n, held = len(numbers), holders(self.file, self.every, self.values, numbers, left_out)
        text, value = held.pairs.T
        # Of the hashes that both have, one holder is the text itself. The question does not count.
        of_both, of_one = _weights(held.counts - 1), _weights(held.counts)
        shared = np.maximum(np.bincount(text, minlength=n), 1)
        rarity = np.bincount(text, of_both[value], n) / shared
        more = np.bincount(text, (of_both - of_one)[value], n)
        of_whole = (of_one.sum() + more) / len(self.values)
        of_whole[are_wholes] = 1
        is_common = np.flatnonzero(are_wholes & (rarity < 1))
        of_whole[is_common] = self._average_weights(usual.take(is_common), left_out)
        return np.minimum(rarity / of_whole, 1)

    def _average_weights(self, usual: Sketches, left_out: Indices) -> Shares:
        """The average weight of the lowest hashes of each text; (n,)."""
        taken = [_lowest(sketch) for sketch in usual]
        if not taken:
            return np.empty(0)
        every = distinct_numbers(np.concatenate(taken).astype(np.uint64)).astype(np.uint32)
        held = holders(self.file, self.every, every, np.empty(0, np.int64), left_out)
        weights = _weights(held.counts - 1)
        means = (weights[np.searchsorted(every, each)].mean() if len(each) else 1 for each in taken)
        return np.fromiter(means, float)

    def _others(
        self, is_common: Mask, are_wholes: Mask, usual: Sketches, left_out: Indices
    ) -> Indices:
        """How many others hold as much of each part that `is_common`; 0 for other parts; (m,)."""
        others = np.zeros(len(is_common), np.int64)
        if (is_common & are_wholes).any():
            holding = self._holding(self.found, len(self.values), left_out)
            others[is_common & are_wholes] = holding - 1
        for index in np.flatnonzero(is_common & ~are_wholes).tolist():
            lowest = _lowest(usual[index])
            theirs = looked_up(self.file, self.every, lowest)
            others[index] = self._holding(theirs, len(lowest), left_out) - 1
        return others

    def _holding(self, found: Shared, size: int, left_out: Indices) -> int:
        """How many texts of `found` have enough of `size` hashes, apart from those left out."""
        numbers = found.numbers[found.shared >= self.share * size - 1e-9]
        return int(np.isin(numbers, left_out, invert=True).sum())


def _copies(documents: Sequence[Document]) -> list[int]:
    """The indices of documents that have the text of an earlier one."""
    first = {each.features_digest: index for index, each in reversed([*enumerate(documents)])}
    return [index for index, each in enumerate(documents) if first[each.features_digest] != index]


def _lowest(sketch: Values) -> Values:
    """Some hashes of a sketch, as a sample of its text."""
    return sketch[:LOWEST][sketch[:LOWEST] <= HIGHEST]


def _weights(others: Indices) -> Shares:
    """The weight of each hash, from how many other texts have it."""
    return 1 / (1 + np.maximum(others, 0) / 2)


def with_parts(
    answers: Sequence[Answer], queries: Queries, asked: Sequence[Candidates], settings: Settings
) -> tuple[Answer, ...]:
    """The answers, with the parts among the candidates of each query."""
    texts = queries.texts or [None] * len(answers)
    made = []
    for answer, question, text, (those, unread) in zip(
        answers, queries.documents, texts, asked, strict=True
    ):
        parts = () if question is None else decided(question, text, those, settings)
        made.append(replace(answer, parts=parts, unread=unread))
    return tuple(made)


def decided(
    question: Document, text: str | None, asked: Sequence[Candidate], settings: Settings
) -> tuple[FoundPart, ...]:
    """The candidates that contain the question or are parts of it, as their texts show.

    `text` is the text of the question; None if it is a file. Where a text cannot be read as it
    was, the samples decide.
    """
    files = [each for each in asked if each.is_file]
    texts, documents = [] if text is None else [text], [each.document for each in files]
    source = RereadDocuments([question], texts, documents, settings)
    exact = _read_again(question, files, source, settings)
    is_gone = source.is_lost[1:] | source.is_lost[0]
    gone = [each for each, is_lost in zip(files, is_gone.tolist(), strict=True) if is_lost]
    estimated = [
        (each, FoundPart(each.document, each.is_whole, each.share))
        for each in (*gone, *(each for each in asked if not each.is_file))
        if each.share >= (settings.parts or 1.0)
    ]
    found = {each.document.path: (each, part) for each, part in (*estimated, *exact)}
    parts = [
        part
        for each, part in found.values()
        if _is_own(each, part.share, settings) and not _is_version(part, question)
    ]
    return tuple(sorted(parts, key=_order))


def _read_again(
    question: Document, files: Sequence[Candidate], source: RereadDocuments, settings: Settings
) -> list[tuple[Candidate, FoundPart]]:
    """The candidates that their files, read again, confirm.

    Text 0 of `source` is the question, and the other texts are the files.
    """
    counts = np.array([question.features, *(each.document.features for each in files)])
    pairs = np.array(
        [(0, number) if each.is_whole else (number, 0) for number, each in enumerate(files, 1)],
        np.int64,
    ).reshape(-1, 2)
    made = verified_parts(pairs, counts, settings.parts or 1.0, settings.recipe, source, silent)
    those = [files[number - 1] for number in made.pairs.max(axis=1).tolist()]
    figures = zip(those, made.shares.tolist(), made.places.tolist(), strict=True)
    return [
        (each, FoundPart(each.document, each.is_whole, share, start, end, is_exact=True))
        for each, share, (start, end) in figures
    ]


def _is_own(candidate: Candidate, share: float, settings: Settings) -> bool:
    """Whether a part is more than a text that many others hold, such as a notice below a mail.

    The larger text has `share` of the part. A text in which most pairs of words are everyday ones
    is no notice, unless it stands in many texts. And a part that is as good as whole in the larger
    text is found however many others hold it too. See AS_GOOD_AS_WHOLE.
    """
    weighted = share / (1 + candidate.others / 2)
    is_whole = weighted >= AS_GOOD_AS_WHOLE * (weighted + 1 - share)
    is_known = candidate.others <= MOST_OTHERS or candidate.own_share >= settings.own_share
    return is_whole or is_known


def _is_version(part: FoundPart, question: Document) -> bool:
    """Whether most of the larger text stands in the part as well: then both are versions."""
    counts = part.document.features, question.features
    return part.share * min(counts) >= PARTS * max(counts)


def _order(part: FoundPart) -> tuple[bool, float, int, str]:
    share = -part.share if part.is_whole else 0
    return not part.is_whole, share, part.start or 0, part.document.path
