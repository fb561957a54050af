"""Documents with fingerprints in, groups of them out: `LocalEngine` for files.

Documents with equal features are one text. A file that changed before its text is read again is
left out and listed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isnan
from typing import NamedTuple, TypeAlias

import numpy as np

from simdup.arrays import Digests, Distances, Indices, Mask, Similarities
from simdup.files.fingerprint import Fingerprinted, features_of, text_again
from simdup.files.ignored import naming_ignored
from simdup.files.read import SkipError, check_unchanged
from simdup.findings.keeper import Pairs, closest_first, ranks
from simdup.findings.noise import compared_in_full
from simdup.fingerprint.features import Features
from simdup.fingerprint.sketch import DENSE_LEVELS, thinned
from simdup.match.distinct_texts import Items, Texts, distinct_texts
from simdup.match.engine import LocalEngine, TextGroups
from simdup.match.exclusions import Exclusions
from simdup.match.groups import Precedence, leaders, lower_of_two, members_of
from simdup.match.own_share import OwnShares
from simdup.match.siblings import Siblings
from simdup.match.similarities import ExactSimilarities
from simdup.match.tiers import best_score
from simdup.progress import Progress
from simdup.recipe import Recipe
from simdup.records import Document, Group, Kind, Member, Part, ScanResult, Skipped, Stats, doubtful
from simdup.search.distinct import diameter, distinct_numbers
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.storage.cached import RecipeCache

Figures: TypeAlias = tuple[float | None, float | None]

_STRENGTH = {kind: position for position, kind in enumerate(Kind)}


def unmatched(
    settings: Settings, made: Fingerprinted, skipped: Iterable[Skipped], found: int, from_store: int
) -> ScanResult:
    """The result of a scan before its documents are matched.

    The scan `found` this number of files, skipped some, and knew some `from_store`.
    """
    documents = made.documents
    size = sum(document.source.size for document in documents)
    return ScanResult(
        settings,
        documents,
        made.rows[:, : settings.recipe.bits // 8],
        (),
        (*skipped, *made.skipped),
        None,
        Stats(found, len(documents), size, 0.0, from_store),
        doubtful=doubtful(documents),
    )


def match_documents(  # noqa: PLR0913, PLR0917  (one argument a question)
    result: ScanResult,
    made: Fingerprinted,
    ignored: Iterable[tuple[bytes, bytes]],
    named: Container[str] | None,
    progress: Progress,
    cache: RecipeCache | None = None,
) -> tuple[ScanResult, Matching]:
    """The `unmatched` result of some documents with their groups, most similar first.

    Rows may be wider than the settings' bits: their first bits are the fingerprints, and all of
    them sort out candidates that are near by chance. Documents that were skipped because they
    have no text are grouped by their bytes alone. Similarities that `cache` knows are not
    computed again. `ignored` are pairs of digests of texts that are not duplicates. If `named` is
    not None, files that are alike by nature (see `findings.noise`) are grouped by their texts
    alone, except the files at the paths in `named`. Also returns the matching of the documents
    that are compared in full.
    """
    settings, ignored = result.settings, list(ignored)
    are_full, kinds = compared_in_full(made.documents, named)
    matching = Matching.of(made.keeping(are_full), settings, ignored, progress, cache)
    matched = matching.matched()
    parts = matching.parts(matched)
    changed = tuple(dict.fromkeys((*matching.reread.changed, *matching.changed_in(matched))))
    gone = {each.path for each in changed}
    grouping = Grouping(matching.documents, matching.texts, gone, settings.recipe)
    copies = _copies(made, ~are_full, settings)
    groups = _in_order(naming_ignored((*grouping.groups(matched), *copies), ignored))
    patterns = _in_order(grouping.patterns(matched.siblings), len(groups) + 1)
    siblings = len(matched.siblings.pairs)
    stats = result.stats._replace(ignored=matched.excluded, siblings=siblings, identity_only=kinds)
    result = replace(
        result,
        groups=groups,
        skipped=(*result.skipped, *changed),
        candidates=matched.candidates,
        stats=stats,
        patterns=patterns,
        parts=parts,
    )
    return result, replace(matching, shares=matched.shares)


def own_share_of(
    made: Fingerprinted, pair: tuple[int, int], settings: Settings, progress: Progress
) -> float:
    """The own share of two of these documents, as `match_documents` finds it.

    `pair` has their positions among the documents, which have sketches.
    """
    matching = Matching.of(made, settings, (), progress)
    shares = matching.matched().shares
    return float(shares.of(matching.texts.text_of[[pair]])[0]) if shares else 1.0


@dataclass(frozen=True, eq=False)
class Matching:
    """Matches the texts of some documents, and answers questions about them later.

    shares: The own shares of all texts, once these are matched; None if not asked for.
    """

    made: Fingerprinted
    texts: Texts
    settings: Settings
    reread: _RereadDocuments
    exclusions: Exclusions
    progress: Progress
    cache: RecipeCache | None
    shares: OwnShares | None = None

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents whose texts are matched."""
        return self.made.documents

    @classmethod
    def of(
        cls,
        made: Fingerprinted,
        settings: Settings,
        ignored: Iterable[tuple[bytes, bytes]],
        progress: Progress,
        cache: RecipeCache | None = None,
    ) -> Matching:
        """Find the distinct texts of the documents; see `match_documents`."""
        pairs = [pair for pair in ignored if pair[0] != pair[1]]
        texts = distinct_texts(_items(made, pairs), settings.recipe.bits)
        reread = _RereadDocuments(made.documents, texts, settings)
        exclusions = _exclusions(made.documents, texts, pairs)
        return cls(made, texts, settings, reread, exclusions, progress, cache)

    def matched(self) -> TextGroups:
        """The groups of texts."""
        about = self.texts, self.settings, self.reread, self.progress
        return LocalEngine(*about, self._known(self.reread), self.exclusions).groups()

    def changed_in(self, matched: TextGroups) -> Iterator[Skipped]:
        """Yield the documents in groups whose files have changed since they were read.

        None where fingerprints alone decide, which opens no file.
        """
        if not self.settings.verified:
            return
        texts, documents = [*matched.groups, matched.siblings.pairs.ravel()], self.documents
        for text in distinct_numbers(np.concatenate(texts).astype(np.int64)).tolist():
            for index in self.texts.items_of(text).tolist():
                source = documents[index].source
                try:
                    check_unchanged(source)
                except SkipError as skip:
                    yield skip.at(source.path)

    def _known(self, reread: _RereadDocuments) -> _StoredSimilarities | None:
        return None if self.cache is None else _StoredSimilarities(self.cache, reread.changed)

    def parts(self, matched: TextGroups) -> tuple[Part, ...]:
        """The documents that are parts of larger ones; one document represents each text."""
        made, first = self.made, self.texts.first
        if self.settings.parts is None or made.sketches is None:
            return ()
        from simdup.match.parts import find_parts  # noqa: PLC0415  few runs ask for parts

        dense = thinned(made.sketches.take(first), self.texts.counts, DENSE_LEVELS)
        about = self.texts, dense, matched, self.settings
        found = find_parts(*about, self.reread, self.progress, self.exclusions)
        documents, pairs = made.documents, first[found.pairs].tolist()
        figures = zip(pairs, found.shares.tolist(), found.places.tolist(), strict=True)
        made_of = (
            Part(documents[i].path, documents[j].path, share, *at) for (i, j), share, at in figures
        )
        return tuple(sorted(made_of, key=lambda part: (part.whole, part.start, part.end)))

    def similarities(self, pairs: Pairs) -> list[float]:
        """The exact similarity of each pair of documents, read again; 0 for a changed file."""
        reread = _RereadDocuments(self.made.documents, self.texts, self.settings)
        about = self.texts, self.settings, reread, self.progress
        exact = ExactSimilarities(*about, self._known(reread))
        return exact.of(self._asked(pairs)).tolist()

    def own_shares(self, pairs: Pairs) -> list[float | None]:
        """The own share of each pair of documents; None if it is unknown."""
        if self.shares is None or not pairs:
            return [None] * len(pairs)
        found = self.shares.of(self._asked(pairs)).tolist()
        return [None if isnan(each) else each for each in found]

    def _asked(self, pairs: Pairs) -> Indices:
        """The texts of each pair of documents; (m, 2)."""
        position = self._positions
        return self.texts.text_of[[[position[one.path], position[two.path]] for one, two in pairs]]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {document.path: place for place, document in enumerate(self.made.documents)}


class _RereadDocuments:
    """Computes the features of texts, read again from their documents."""

    def __init__(self, documents: Sequence[Document], texts: Texts, settings: Settings) -> None:
        self.documents, self.texts, self.settings = documents, texts, settings
        self.changed: list[Skipped] = []
        """Files that had changed when they were read again."""

    def expect(self, texts: Indices) -> None:
        """Do nothing: each text is a file of its own, so there is nothing to prefetch."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these texts, in their order."""
        copies = (
            [self.documents[index] for index in self.texts.items_of(text)]
            for text in texts.tolist()
        )
        found, changed = features_of(copies, self.settings)
        self.changed += changed
        return found

    def chunks(self, text: int) -> Iterator[str]:
        """Yield a text in chunks, from the first unchanged one of its documents."""
        for index in self.texts.items_of(text).tolist():
            try:
                yield from text_again(self.documents[index], self.settings)
            except SkipError as skip:
                self.changed.append(skip.at(self.documents[index].path))
            else:
                return


class _StoredSimilarities:
    """The similarities that the cache knows; new ones are kept until a file turns out changed.

    After that a text may count as one without features, which holds for this scan only.
    """

    def __init__(self, cache: RecipeCache, changed: list[Skipped]) -> None:
        self.similarities, self.cache, self.changed = cache.similarities, cache, changed

    def keep_similarities(self, left: Digests, right: Digests, values: Similarities) -> None:
        """Keep these similarities for other scans."""
        if not self.changed:
            self.cache.keep_similarities(left, right, values)


def _items(made: Fingerprinted, ignored: Sequence[tuple[bytes, bytes]]) -> Items:
    """Documents as items; a text of an ignored pair is never merged with a different text."""
    documents = made.documents
    number = {digest: position for position, digest in enumerate(chain(*ignored), 1)}
    joined = b"".join(document.features_digest for document in documents)
    counts = np.array([document.features for document in documents], np.int64)
    return Items(
        made.rows,
        counts,
        np.frombuffer(joined, np.uint64).reshape(-1, 2),
        ranks(documents),
        np.array([document.source.is_reference for document in documents], bool),
        made.sketches,
        np.array([number.get(each.text_digest, 0) for each in documents]) if number else None,
    )


def _exclusions(
    documents: Sequence[Document], texts: Texts, ignored: Sequence[tuple[bytes, bytes]]
) -> Exclusions:
    """The ignored pairs, as pairs of distinct texts."""
    texts_of: dict[bytes, list[int]] = {digest: [] for digest in chain(*ignored)}
    for text, index in enumerate(texts.first.tolist() if ignored else ()):
        texts_of.get(documents[index].text_digest, []).append(text)
    pairs = [
        (i, j, number)
        for number, (left, right) in enumerate(ignored)
        for i in texts_of[left]
        for j in texts_of[right]
    ]
    found = np.array(pairs, np.int64).reshape(-1, 3)
    return Exclusions(found[:, :2], found[:, 2], len(texts))


def _copies(made: Fingerprinted, are_aside: Mask, settings: Settings) -> Iterator[Group]:
    """Yield groups of documents with the same text, or without text and with the same bytes.

    Only the documents count that `are_aside`, and the files without text. If there are references
    at all, a group needs both a reference, which comes first, and another document.
    """
    aside, width = np.flatnonzero(are_aside), settings.recipe.bits // 8
    without_text = [each.file for each in made.skipped if each.file is not None]
    every = made.documents
    documents = [*without_text, *(every[position] for position in aside.tolist())]
    of_aside = (row[:width].tobytes() for row in made.rows[aside])
    rows = [*([bytes(width)] * len(without_text)), *of_aside]
    are_references = any(each.source.is_reference for each in chain(every, without_text))
    by_text: dict[bytes, list[int]] = {}
    for index in np.argsort(ranks(documents)).tolist():
        by_text.setdefault(documents[index].text_digest, []).append(index)
    alike = 1.0 if settings.verified else None
    for same in by_text.values():
        same.sort(key=lambda index: not documents[index].source.is_reference)
        first, last = documents[same[0]], documents[same[-1]]
        if are_references and first.source.is_reference == last.source.is_reference:
            continue
        yield _sorted_group(
            [
                Member(each, rows[index], each.kind_with(first), 0, alike)
                for index, each in ((index, documents[index]) for index in same)
            ],
            settings.recipe,
        )


def _in_order(groups: Iterable[Group], first: int = 1) -> tuple[Group, ...]:
    """The groups with more than one member, most similar first, numbered from `first`."""
    found = sorted((each for each in groups if len(each.members) > 1), key=_most_similar_first)
    return tuple(each._replace(id=number) for number, each in enumerate(found, first))


class Grouping(NamedTuple):
    """Turns groups of texts into groups of documents.

    gone: Paths that are left out.
    """

    documents: Sequence[Document]
    texts: Texts
    gone: Container[str]
    recipe: Recipe

    def groups(self, matched: TextGroups) -> Iterator[Group]:
        """Yield a group of documents for each group of texts."""
        if not matched.groups:
            return
        figures = _figures(matched.similarities, matched.own_shares)
        sizes = [len(members) for members in matched.groups]
        ends = np.cumsum([0, *sizes])
        every = np.concatenate(matched.groups)
        # The distances of all groups at once, since most groups are small.
        distances = paired_distances(self.texts.rows, every, np.repeat(every[ends[:-1]], sizes))
        for members, begin, end in zip(matched.groups, ends[:-1], ends[1:], strict=True):
            yield self._group(members, figures[begin:end], distances[begin:end])

    def patterns(self, siblings: Siblings) -> Iterator[Group]:
        """Yield families of siblings: each member and the first one are a pair of siblings.

        One document represents each text. A family whose first document is gone is left out.
        """
        pairs, n = siblings.pairs, len(self.texts)
        order = Precedence(np.ones(n, np.int64), self.texts.content)
        leader = leaders(pairs, siblings.similarities, "star", order)
        leader = lower_of_two(leader, self.texts.rank, order.sizes)
        # For each text, the index of its pair with the leader.
        is_spoke = (leader[pairs] == pairs[:, ::-1]).T
        of_text = np.zeros(n, np.int64)
        for side in (0, 1):
            of_text[pairs[is_spoke[side], side]] = np.flatnonzero(is_spoke[side])
        for members in members_of(leader, self.texts.rank, order.sizes):
            spokes = of_text[members[1:]]
            alike, own = siblings.similarities[spokes], siblings.own_shares[spokes]
            figures = _figures(np.insert(alike, 0, 1), np.insert(own, 0, 1))
            distances = paired_distances(self.texts.rows, members, members[:1])
            made = self._group(members, figures, distances, most=1, kind=Kind.SAME_PATTERN)
            if made.members and made.members[-1].similarity is not None:
                yield made

    def _group(
        self,
        members: Indices,
        figures: Sequence[Figures],
        distances: Distances,
        most: int | None = None,
        kind: Kind | None = None,
    ) -> Group:
        """One group of the documents of these texts, `most` of each; empty if all are gone.

        `figures` has the similarity and own share of each text, and `distances` its distance to
        the first. `kind` is the kind of all documents but the first; None: as their digests say.
        """
        texts, documents = self.texts, self.documents
        there = [
            (position, documents[index])
            for position, text in enumerate(members.tolist())
            for index in texts.items_of(text)[:most]
            if documents[index].path not in self.gone
        ]
        if not there:
            return Group(0, Kind.NEAR, 0, ())
        rows = texts.rows[members]
        (first, representative), *_ = there
        if first > 0:
            distances = paired_distances(texts.rows, members, members[[first]])
        bits = distances.tolist()
        made = [
            Member(
                document,
                rows[position].tobytes(),
                kind if kind and number else document.kind_with(representative),
                bits[position],
                # The similarity is unknown if the file that represented the group has vanished.
                *(figures[position] if first == 0 else (None, None)),
            )
            for number, (position, document) in enumerate(there)
        ]
        # The only distance of two texts is the largest too.
        span = diameter(rows) if len(rows) > 2 else (max(bits), True)
        return _sorted_group(made, self.recipe, span)


def _figures(alike: Similarities, own: Similarities) -> list[Figures]:
    """The similarity and the own share of each text, None for NaN."""
    known = ([None if isnan(value) else value for value in each.tolist()] for each in (alike, own))
    return list(zip(*known, strict=True))


def _sorted_group(
    members: list[Member], recipe: Recipe, span: tuple[int, bool] = (0, True)
) -> Group:
    """A group without a number: the first member represents it, the closest follow.

    `span` is the `diameter` of its fingerprints.
    """
    weakest = max((member.kind for member in members), key=_STRENGTH.__getitem__)
    most, is_exact = span
    best = best_score(members, recipe)
    return Group(0, weakest, most, closest_first(members, recipe), is_exact, score=best)


def _most_similar_first(group: Group) -> tuple[int, float, int, int, int, str]:
    """The sort key of a group: kind, the highest score first, then the most bytes that repeat."""
    farthest = max(member.distance for member in group.members)
    others = sum(member.document.source.size for member in group.members[1:])
    path = group.members[0].document.path
    how = -(group.score or 0), farthest, -others, -len(group.members)
    return _STRENGTH[group.kind], *how, path
