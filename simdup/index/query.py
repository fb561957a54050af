"""Queries in, the documents of an index that are like them out.

near fingerprints -> documents -> exact similarities where the files are unchanged -> answers
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simdup.arguments import AnyPath, path_list
from simdup.arrays import Indices, Mask, Rows, Similarities
from simdup.files import fingerprint
from simdup.files.read import SkipError, Text, digest, digest_of
from simdup.files.walk import listed
from simdup.findings.identical import numbered
from simdup.fingerprint.features import Features, all_features, concatenated
from simdup.fingerprint.sketch import DENSE_LEVELS, Sketches
from simdup.index.records import Answer
from simdup.match.candidates import search_distance
from simdup.match.own_share import least_similarity
from simdup.match.verify import decide
from simdup.records import SHORT, Document, Kind, Match, Reason, Skipped, Source
from simdup.settings import Settings
from simdup.text.chunking import chunks_of
from simdup.text.encodings import count_lost
from simdup.theory import UNRELATED, chance_distance, similarity_at

# At most this many documents may be near a query by chance; reading them all takes a few seconds.
# To stay below that, a large index is searched less far.
MOST_BY_CHANCE = 1_000


@dataclass(frozen=True, slots=True)
class Criteria:
    """How similar a document must be to be an answer, and how many answers to give.

    top: The most answers to each query; None: all.
    is_any_alike: Give the `top` nearest, however little they are alike.
    """

    settings: Settings
    top: int | None = None
    is_any_alike: bool = False


@dataclass(frozen=True, slots=True)
class Queries:
    """Fingerprints to look for, and the texts that they were made of, if known.

    documents: The document of each text; None for a mere fingerprint.
    texts: The texts; empty if they are files, or if only fingerprints are known.
    sketches: None unless they were asked for.
    """

    names: tuple[str, ...]
    rows: Rows
    documents: tuple[Document | None, ...]
    texts: tuple[str, ...] = ()
    sketches: Sketches | None = None


def of_files(
    paths: AnyPath | Iterable[AnyPath], settings: Settings
) -> tuple[Queries, list[Skipped]]:
    """Return files as queries, and the files that cannot be queried."""
    # Each path alone, since a file that is named twice is answered twice.
    found = [each for path in path_list(paths) for each in listed([path])]
    sources = [each for each in found if isinstance(each, Source)]
    skipped = [each for each in found if isinstance(each, Skipped)]
    options = fingerprint.FingerprintOptions(settings, _levels(settings))
    made = fingerprint.fingerprint_sources(sources, options)
    made = fingerprint.without_degenerate(made, settings.recipe.bits)
    names = tuple(document.path for document in made.documents)
    queries = Queries(names, made.rows, made.documents, sketches=made.sketches)
    return queries, [*skipped, *made.skipped]


def _levels(settings: Settings) -> int | None:
    """How dense the sketches of queries are; None: without `parts` there are none."""
    return None if settings.parts is None else DENSE_LEVELS


def of_texts(
    names: Sequence[str], texts: Sequence[str], settings: Settings, levels: int | None = None
) -> tuple[Queries, list[Skipped]]:
    """Return texts as queries, and the texts that have nothing to compare.

    The queries have sketches of these `levels` (see `fingerprint.sketch`); None: as `settings` ask.
    """
    options = fingerprint.FingerprintOptions(settings, levels or _levels(settings))
    made = fingerprint.fingerprint_read(list(map(_as_if_read, names, texts)), options)
    made = fingerprint.without_degenerate(made, settings.recipe.bits)
    kept = [place for place, each in enumerate(made.found) if isinstance(each, Document)]
    own_names, own_texts = (tuple(each[place] for place in kept) for each in (names, texts))
    queries = Queries(own_names, made.rows, made.documents, own_texts, made.sketches)
    return queries, list(made.skipped)


def _as_if_read(name: str, text: str) -> Text:
    """Return a text as if it had been read from a file in UTF-8."""
    data = text.encode("utf-8", "surrogatepass")
    unified = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    digests = digest(data), digest(unified.encode("utf-8", "surrogatepass"))
    source = Source(name, len(data), 0, 0, 0, 0)
    return Text(text, Document(source, "utf-8", 1.0, count_lost(text), 0, *digests, b""))


def of_rows(rows: Rows) -> Queries:
    """Return fingerprints as queries, named in hexadecimal."""
    return Queries(tuple(row.tobytes().hex() for row in rows), rows, (None,) * len(rows))


def reach(settings: Settings, n: int) -> int:
    """Return the distance within which documents are looked for, in an index of n documents."""
    bits = settings.recipe.bits
    if not settings.verified:
        return settings.distance
    most = chance_distance(UNRELATED, bits, min(1, MOST_BY_CHANCE / max(n, 1)))
    return min(search_distance(settings.similarity, bits), most)


def answered(
    queries: Queries, near: Indices, documents: dict[int, Document], criteria: Criteria
) -> tuple[Answer, ...]:
    """Return an answer to each query: the near documents that are like it, most similar first.

    `near` (m, 3) has queries, numbers of documents and distances. Where both texts can be
    read, similarities are exact, and decide if the settings verify, as `least_similarity` says;
    elsewhere distances decide. Own shares do not decide: they would need the sketches of the
    whole index and all pairs of copies in it, which takes as long as a scan.
    """
    settings, distances = criteria.settings, near[:, 2]
    exact = _exact(queries, near, documents, settings)
    bits = settings.recipe.bits
    of_distance = np.array([similarity_at(distance, bits) for distance in range(bits + 1)])
    estimates = np.maximum(of_distance[distances], 0)
    is_exact = ~np.isnan(exact)
    similarities = np.where(is_exact, exact, estimates)
    counts = _fewest_features(queries, near, documents)
    is_alike = _is_alike(distances, exact, counts, settings) | criteria.is_any_alike
    found: list[list[Match]] = [[] for _ in queries.names]
    for pair in np.flatnonzero(is_alike).tolist():
        query, number, distance = near[pair].tolist()
        document, asked = documents[number], queries.documents[query]
        kind = Kind.NEAR if asked is None else document.kind_with(asked)
        alike, is_known = float(similarities[pair]), bool(is_exact[pair])
        share = None
        if asked is not None and settings.recipe.has_equal_weights:
            share = asked.share_in(document, alike)
        found[query].append(Match(document, kind, distance, alike, is_known, share))
    best = [sorted(matches, key=_most_similar_first)[: criteria.top] for matches in found]
    answers = zip(queries.names, map(tuple, best), queries.documents, strict=True)
    return with_sets([Answer(*each) for each in answers])


def with_sets(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """The answers with identical sets noted in their matches, numbered across all answers."""
    found = numbered([answer.matches for answer in answers])
    return tuple(
        replace(answer, matches=matches) for answer, matches in zip(answers, found, strict=True)
    )


def unsure(known: Sequence[Document], settings: Settings) -> dict[int, Skipped]:
    """Return by index why some documents cannot be grouped: their texts cannot be read again."""
    copies = Counter(document.features_digest for document in known)
    found: dict[int, Skipped | None] = {}
    for index, document in enumerate(known):
        if not os.path.isabs(document.path):
            if settings.verified or document.is_short:
                detail = "a text that was added by name cannot be read to verify"
                found[index] = Skipped(document.path, Reason.VANISHED, detail)
        elif settings.verified and copies[document.features_digest] > 1:
            # Verifying does not read texts of equal features, so it would miss a change.
            found[index] = what_became(document)
    return {index: each for index, each in found.items() if each is not None}


def what_became(document: Document) -> Skipped | None:
    """Return why the file of a document is no longer as it was read; None if it still is.

    Its size and times decide; where they leave a doubt, its bytes do.
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


_STRENGTH = {kind: index for index, kind in enumerate(Kind)}


def _most_similar_first(match: Match) -> tuple[int, float, int, str]:
    return _STRENGTH[match.kind], -match.similarity, match.distance, match.document.path


def _is_alike(distances: Indices, exact: Similarities, counts: Indices, settings: Settings) -> Mask:
    """Tell which pairs are alike: by exact similarity if it is known, else by distance.

    `counts` (m,) is the number of features of the shorter text, where both are known.
    """
    bare = replace(settings, verified=False, parts=None)
    k = bare.distance  # no further than where chance would answer
    if settings.verified:
        least = least_similarity(settings.similarity, counts)
    else:
        least = np.full(len(exact), similarity_at(k, settings.recipe.bits))
    return np.where(np.isnan(exact), distances <= k, exact >= least)


def _fewest_features(queries: Queries, near: Indices, documents: dict[int, Document]) -> Indices:
    """Return how many features the shorter text of each pair has; 0 if one is not known."""
    asked = [0 if each is None else each.features for each in queries.documents]
    known = [documents[number].features for number in near[:, 1].tolist()]
    return np.minimum(np.array(asked, np.int64)[near[:, 0]], np.array(known, np.int64))


def _exact(
    queries: Queries, near: Indices, documents: dict[int, Document], settings: Settings
) -> Similarities:
    """Return the exact similarity of each pair; NaN where it is not needed or cannot be known."""
    exact = np.full(len(near), np.nan)
    if not any(queries.documents) or not len(near):
        return exact
    numbers, index = np.unique(near[:, 1], return_inverse=True)
    known = [documents[number] for number in numbers.tolist()]
    # Texts that were added by name have no file; names of files are absolute.
    is_file = np.array([os.path.isabs(each.path) for each in known], bool)[index]
    is_equal = (_digests(known)[index] == _digests(queries.documents)[near[:, 0]]).all(axis=1)
    exact[is_equal & ~is_file] = 1
    can_read = is_file
    if settings.verified:
        copies = np.flatnonzero(is_equal & is_file)
        exact[[pair for pair in copies.tolist() if what_became(known[index[pair]]) is None]] = 1
        can_read = is_file & ~is_equal
    source = RereadDocuments(queries.documents, queries.texts, known, settings)
    read = _similarities(source, near[:, 0], index + len(queries.names), can_read)
    return np.where(np.isnan(read), exact, read)


def _similarities(source: RereadDocuments, i: Indices, j: Indices, can_read: Mask) -> Similarities:
    """Return the exact similarity of each pair; NaN if it is not needed, or a text changed.

    Where distances decide, only pairs with a short text need it.
    """
    found = np.full(len(i), np.nan)
    # A fingerprint alone has no features.
    counts = np.array([each.features if each else 0 for each in source.documents], np.int64)
    is_short = (counts[i] < SHORT) | (counts[j] < SHORT)
    needs = is_short | source.settings.verified
    pairs = np.flatnonzero(can_read & (counts[i] > 0) & needs)
    i, j = i[pairs], j[pairs]
    for decided, values in decide(np.column_stack((i, j)), counts, source.features):
        found[pairs[decided]] = values
    found[pairs[source.is_lost[i] | source.is_lost[j]]] = np.nan
    return found


def _digests(documents: Sequence[Document | None]) -> NDArray[np.uint64]:
    """Return the digests of features; zeros, which no text has, where there is no document."""
    joined = b"".join(bytes(16) if each is None else each.features_digest for each in documents)
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)


class RereadDocuments:
    """Reads texts again, by their numbers: first come the queries, then documents of the index."""

    def __init__(
        self,
        asked: Sequence[Document | None],
        texts: Sequence[str],
        known: Sequence[Document],
        settings: Settings,
    ) -> None:
        """Take the queries, their texts (none if they are files), and the documents."""
        self.documents, self.queries = [*asked, *known], len(asked)
        self.texts, self.settings = texts, settings
        self.is_lost = np.zeros(len(self.documents), bool)
        """Which files have changed. Paths would not do: the file of a query may also be in the
        index, as it was before."""

    def expect(self, texts: Indices) -> None:
        """Do nothing: each text is a file of its own."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these texts (ascending); a text that is lost has none."""
        asked, known = texts[texts < self.queries], texts[texts >= self.queries]
        if self.texts:
            first = all_features([self.texts[i] for i in asked.tolist()], self.settings.recipe)
        else:
            first = self._of_files(asked)
        return concatenated([first, self._of_files(known)])

    def _of_files(self, texts: Indices) -> Features:
        documents = {i: each for i in texts.tolist() if (each := self.documents[i]) is not None}
        copies = ([each] for each in documents.values())
        found, changed = fingerprint.features_of(copies, self.settings)
        paths = {skipped.path for skipped in changed}
        self.is_lost[[i for i, each in documents.items() if each.path in paths]] = True
        return found

    def chunks(self, text: int) -> Iterator[str]:
        """Yield a text in chunks; nothing of a file that has changed."""
        document = self.documents[text]
        if text < len(self.texts):
            yield from chunks_of(self.texts[text])
        elif document is not None:
            try:
                yield from fingerprint.text_again(document, self.settings)
            except SkipError:
                self.is_lost[text] = True
