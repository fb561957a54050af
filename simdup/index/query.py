"""Questions in, what an index has that is like them out.

near fingerprints -> documents -> exact similarities where the files are as they were -> answers
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from simdup.files.fingerprint import features_of
from simdup.files.read import SkipError, digest_of
from simdup.files.walk import listed
from simdup.fingerprint.features import all_features, concatenated
from simdup.index.records import Answer, Match
from simdup.match.candidates import search_distance
from simdup.match.verify import decide
from simdup.records import SHORT, Document, Kind, Reason, Skipped
from simdup.theory import UNRELATED, chance_distance, similarity_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simdup.fingerprint.features import Features
    from simdup.index.questions import Questions, Wish
    from simdup.index.segments import Numbers
    from simdup.settings import Settings

    Similarities = NDArray[np.float64]

# Documents that are near a question by chance, and would all be read: a few seconds of work.
# Where there would be more, they are looked for less far.
MOST_BY_CHANCE = 1_000


def reach(settings: Settings, n: int) -> int:
    """The distance within which documents are looked for in an index of n."""
    bits = settings.recipe.bits
    if not settings.verified:
        return settings.distance
    k = search_distance(settings.similarity, bits)
    most = chance_distance(UNRELATED, bits, min(1, MOST_BY_CHANCE / max(n, 1)))
    return min(k, most)


def answered(
    questions: Questions,
    near: Numbers,
    documents: dict[int, Document],
    wish: Wish,
) -> tuple[Answer, ...]:
    """What of the documents near some questions is like them, most similar first.

    `near` (m, 3) has questions, numbers of documents and distances. Similarities are exact
    where both texts can be read, and decide there when the settings verify; elsewhere the
    distance does.
    """
    settings = wish.settings
    exact = _exact(questions, near, documents, settings)
    estimates = np.maximum(similarity_at_each(near[:, 2], settings.recipe.bits), 0)
    is_exact = ~np.isnan(exact)
    similarities = np.where(is_exact, exact, estimates)
    holds = _holds(near[:, 2], exact, settings) | wish.is_any_alike
    found: list[list[Match]] = [[] for _ in questions.names]
    for place in np.flatnonzero(holds).tolist():
        question, number, distance = near[place].tolist()
        document, asked = documents[number], questions.documents[question]
        found[question].append(
            Match(
                document,
                Kind.NEAR if asked is None else document.kind_with(asked),
                distance,
                float(similarities[place]),
                bool(is_exact[place]),
            )
        )
    return tuple(
        Answer(name, tuple(sorted(matches, key=_most_similar_first)[: wish.top]))
        for name, matches in zip(questions.names, found, strict=True)
    )


def similarity_at_each(distances: Numbers, bits: int) -> Similarities:
    """The cosine similarity that each distance stands for; (m,)."""
    return _similarities(bits)[distances]


@lru_cache
def _similarities(bits: int) -> Similarities:
    return np.array([similarity_at(distance, bits) for distance in range(bits + 1)])


def unsure(known: Sequence[Document], settings: Settings) -> dict[int, Skipped]:
    """By their places the documents whose groups would not be known to hold, and why."""
    copies = Counter(document.features_digest for document in known)
    found: dict[int, Skipped | None] = {}
    for place, document in enumerate(known):
        if not os.path.isabs(document.path):
            if settings.verified or document.is_short:
                detail = "a text that was added by name cannot be read to verify"
                found[place] = Skipped(document.path, Reason.VANISHED, detail)
        elif settings.verified and copies[document.features_digest] > 1:
            # Nobody reads these again, since their features are equal.
            found[place] = what_became(document)
    return {place: each for place, each in found.items() if each is not None}


def what_became(document: Document) -> Skipped | None:
    """Why the file of a document is not what was read, if so.

    Size and times tell; where they leave a doubt, its bytes do.
    """
    (now,) = listed([document.path])
    if isinstance(now, Skipped):
        return now
    then = document.source
    is_same = (now.size, now.mtime_ns) == (then.size, then.mtime_ns)
    if is_same and (now.inode, now.ctime_ns) != (then.inode, then.ctime_ns):
        try:
            is_same = digest_of(now) == document.bytes_digest
        except SkipError as lost:
            return lost.at(document.path)
    return None if is_same else Skipped(document.path, Reason.CHANGED)


_STRENGTH = {kind: place for place, kind in enumerate(Kind)}


def _most_similar_first(match: Match) -> tuple[int, float, int, str]:
    return _STRENGTH[match.kind], -match.similarity, match.distance, match.document.path


def _holds(distances: Numbers, exact: Similarities, settings: Settings) -> NDArray[np.bool_]:
    """Which documents are alike: by exact similarity if it is known, else by distance."""
    k = replace(settings, verified=False).distance  # no further than where chance would answer
    least = settings.similarity if settings.verified else similarity_at(k, settings.recipe.bits)
    return np.where(np.isnan(exact), distances <= k, exact >= least)


def _exact(
    questions: Questions, near: Numbers, documents: dict[int, Document], settings: Settings
) -> Similarities:
    """The exact similarity of each pair; NaN where it is not asked for or cannot be known.

    When distances decide, it is asked for where one of the texts is short.
    """
    exact = np.full(len(near), np.nan)
    numbers, place = np.unique(near[:, 1], return_inverse=True)
    known = [documents[number] for number in numbers.tolist()]
    asked = [document for document in questions.documents if document is not None]
    if not asked or not len(near):
        return exact
    same = (_digests(known)[place] == _digests(questions.documents)[near[:, 0]]).all(axis=1)
    # Questions first, then documents; a fingerprint alone has no features.
    counts = np.array(
        [0 if each is None else each.features for each in (*questions.documents, *known)], np.int64
    )
    i, j = near[:, 0], place + len(questions.names)
    is_short = (counts[i] < SHORT) | (counts[j] < SHORT)
    # Texts that were added by name have no file; names of files are absolute.
    is_file = np.array([os.path.isabs(each.path) for each in known], bool)[place]
    exact[same & ~is_file] = 1
    if settings.verified:
        copies = np.flatnonzero(same & is_file)
        exact[[pair for pair in copies.tolist() if what_became(known[place[pair]]) is None]] = 1
    can = (counts[i] > 0) & is_file & ~(same & settings.verified)
    ask = np.flatnonzero(can & (is_short | settings.verified))
    reader = _Reader(questions, known, settings)
    for part, values in decide(i[ask], j[ask], counts, reader.load):
        exact[ask[part]] = values
    exact[ask[reader.is_lost()[i[ask]] | reader.is_lost()[j[ask]]]] = np.nan
    return exact


def _digests(documents: Sequence[Document | None]) -> NDArray[np.uint64]:
    """Of the features of each document; zeros, which no text has, where there is none."""
    joined = b"".join(bytes(16) if each is None else each.features_digest for each in documents)
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)


class _Reader:
    """The features of questions, which are known, and of documents, which are read again."""

    def __init__(self, questions: Questions, known: Sequence[Document], settings: Settings) -> None:
        self.questions, self.known = questions, known
        self.settings = settings
        # A file may have been asked for and be in the index as it was before.
        self.changed_questions: list[Skipped] = []
        self.changed: list[Skipped] = []

    def load(self, indices: Numbers) -> Features:
        """Features by rising indices: those of questions, then those of documents."""
        n, texts = len(self.questions.names), self.questions.texts
        asked, known = indices[indices < n].tolist(), (indices[indices >= n] - n).tolist()
        first = (
            all_features([texts[index] for index in asked], self.settings.recipe)
            if texts
            else self._read([self.questions.documents[i] for i in asked], self.changed_questions)
        )
        return concatenated([first, self._read([self.known[i] for i in known], self.changed)])

    def _read(self, files: Sequence[Document | None], changed: list[Skipped]) -> Features:
        settings = self.settings
        copies = ([each] for each in files if each is not None)
        formats, converters = settings.formats, settings.converters
        return features_of(copies, settings.recipe, changed, formats, converters)

    def is_lost(self) -> NDArray[np.bool_]:
        """Whether each is no longer what it was: its similarity is not known."""
        lost = []
        for files, changed in (
            (self.questions.documents, self.changed_questions),
            (self.known, self.changed),
        ):
            paths = {skipped.path for skipped in changed}
            lost += [each is not None and each.path in paths for each in files]
        return np.array(lost)
