"""Which files of a group were made for print from another one, such as a PDF from a DOCX.

The text of such a file stands almost wholly in the file that can be edited, and the other way
round. If more differs, the file that was changed later is a newer version of the other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import sqrt
from operator import xor
from typing import TypeAlias

from simdup.recipe import Recipe
from simdup.records import Document, Group, Member

#: From this share on a text stands almost wholly in another one.
ALMOST_WHOLLY = 0.95

#: So many features of a printed text may be headers and footers, which do not count.
RUNNING = 24

# Fingerprints of such texts differ in no larger share of their bits.
_MOST_BITS = 0.3

# Formats that are made for print, and that nobody edits.
_FOR_PRINT = frozenset(("pdf", "ps", "eps", "xps", "oxps", "djvu", "dvi"))

#: Similarities of texts, by the digests of the words of both.
Known: TypeAlias = Mapping[frozenset[bytes], float]


def is_for_print(document: Document) -> bool:
    """Whether a document is in a format that programs make for print, and nobody edits."""
    return document.format in _FOR_PRINT


def pair_key(one: Document, other: Document) -> frozenset[bytes]:
    """Equal for pairs of documents with the same words."""
    return frozenset((one.bare_words, other.bare_words))


def pairs_to_compare(group: Group) -> Iterator[tuple[Document, Document]]:
    """Yield pairs of which one may be made from the other, if their similarity is not known."""
    first = group.members[0].document.bare_words
    pairs = dict[frozenset[bytes], tuple[Document, Document]]()
    for printed, edited in _pairs(group.members):
        bits = (int.from_bytes(member.fingerprint, "big") for member in (printed, edited))
        if xor(*bits).bit_count() <= _MOST_BITS * 8 * len(printed.fingerprint):
            both = printed.document, edited.document
            pairs.setdefault(pair_key(*both), both)
    yield from (pair for key, pair in pairs.items() if len(key) > 1 and first not in key)


def for_print(group: Group, known: Known, recipe: Recipe) -> tuple[list[bool], list[bool]]:
    """Which members were made for print from another one, and which are older than another one."""
    made, older = ([False] * len(group.members) for _ in range(2))
    places = {member.document.path: place for place, member in enumerate(group.members)}
    for printed, edited in _pairs(group.members):
        similarity = _similarity(printed, edited, group.members[0], known)
        one, other = (places[member.document.path] for member in (printed, edited))
        if similarity is None:
            continue
        if _is_made_from(printed.document, edited.document, similarity, recipe):
            made[one] = True
        elif _are_versions(printed.document, edited.document):
            is_older = printed.document.source.mtime_ns < edited.document.source.mtime_ns
            older[one if is_older else other] = True
    return made, older


def _pairs(members: Sequence[Member]) -> Iterator[tuple[Member, Member]]:
    """Yield each file that is made for print with each one that is not."""
    printed = [member for member in members if is_for_print(member.document)]
    edited = [member for member in members if not is_for_print(member.document)]
    return product(printed, edited)


def _similarity(one: Member, other: Member, first: Member, known: Known) -> float | None:
    """The similarity of two members of a group; None if it is not known."""
    key, of_first = pair_key(one.document, other.document), first.document.bare_words
    if len(key) == 1:
        return 1.0
    if of_first not in key:
        return known.get(key)
    return other.similarity if one.document.bare_words == of_first else one.similarity


def _is_made_from(printed: Document, edited: Document, similarity: float, recipe: Recipe) -> bool:
    """Whether each text stands almost wholly in the other one, but for headers and footers."""
    if not recipe.has_equal_weights:
        return similarity >= ALMOST_WHOLLY
    common = similarity * sqrt(printed.features * edited.features)
    rest = printed.features - common
    is_small = rest <= max(RUNNING, (1 - ALMOST_WHOLLY) * printed.features)
    return common >= ALMOST_WHOLLY * edited.features and is_small


def _are_versions(one: Document, other: Document) -> bool:
    """Whether one was clearly changed after the other one, which has its name."""
    from simdup.findings.versions import (  # noqa: PLC0415  slow to import
        CLEARLY_LATER_NS,
        names_of,
    )

    name, its_name = names_of([one.path, other.path])
    time = abs(one.source.mtime_ns - other.source.mtime_ns)
    return name == its_name and time >= CLEARLY_LATER_NS
