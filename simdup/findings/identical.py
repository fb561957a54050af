"""Numbers the sets of documents with the same words in groups and in answers to questions.

A set is all documents of a result with exactly the same words; often they have the same text or
bytes too. Its number shows that they belong together, even in a group of near-duplicates, where
they may be little like the first document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias, TypeVar

from simdup.records import Group, Identity, Kind, Match, Member

# A document in a group or in an answer.
Found: TypeAlias = Member | Match
AnyFound = TypeVar("AnyFound", Member, Match)


def with_sets(
    groups: Sequence[Group], patterns: Sequence[Group] = ()
) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """The groups and families, with the number of its set in each member.

    Sets are numbered from 1, in the order of their first members in the groups; the members of a
    set stand together. A family has one document of each text, which has the number of the set
    that its copies make in a group.
    """
    members = numbered(
        [group.members for group in groups], [pattern.members for pattern in patterns]
    )
    every = [
        group._replace(members=found)
        for group, found in zip((*groups, *patterns), members, strict=True)
    ]
    return tuple(every[: len(groups)]), tuple(every[len(groups) :])


def numbered(
    lists: Iterable[Sequence[AnyFound]], others: Iterable[Sequence[AnyFound]] = ()
) -> list[tuple[AnyFound, ...]]:
    """Return the lists and then the others, with the number of its set in each document.

    Within a list the documents of a set follow its first one; equal texts stand together, and among
    these equal bytes.
    Documents in `others` get the numbers of sets that are in `lists`, and make no new ones.
    """
    made = [_together(each, nth) for nth, each in enumerate(lists)]
    sets = _sets([(identity, each.document.path) for one in made for identity, each in one])
    made += [_together(each, nth) for nth, each in enumerate(others, len(made))]
    return [
        tuple(_marked(each, sets.get(identity.words)) for identity, each in one) for one in made
    ]


def entries(found: Sequence[AnyFound]) -> list[list[list[AnyFound]]]:
    """The documents of a list that `numbered` returned, as reports show them.

    Each entry is a set in pieces of equal bytes, or a single document.
    """
    made = list[list[list[AnyFound]]]()
    # A document without a set has a negative number of its own.
    for _, same_text in groupby(enumerate(found), key=lambda each: each[1].set_id or -1 - each[0]):
        pieces = groupby((each for _, each in same_text), key=lambda each: identity_of(each).bytes)
        made.append([list(piece) for _, piece in pieces])
    return made


def identical_bytes(groups: Iterable[Group]) -> list[list[str]]:
    """The paths of all documents with the same bytes as another one, a list for each content."""
    paths = dict[Identity, list[str]]()
    for nth, group in enumerate(groups):
        for member in group.members:
            identity = identity_of(member, nth)
            paths.setdefault(identity, []).append(member.document.path)
    return [each for each in paths.values() if len(each) > 1]


def _together(found: Sequence[AnyFound], nth: int) -> list[tuple[Identity, AnyFound]]:
    """The documents of the nth list, by identity in the order of first occurrence."""
    identified = [(identity_of(each, nth), each) for each in found]
    if len({identity.words for identity, _ in identified}) == len(found):
        return identified
    if len({identity for identity, _ in identified}) == 1:
        return identified
    first = dict[Identity, int]()
    for position, (identity, _) in enumerate(identified):
        for each in (identity, identity._replace(bytes=None), Identity(identity.words, None, None)):
            first.setdefault(each, position)

    def order(each: tuple[Identity, AnyFound]) -> tuple[int, int, int]:
        identity, _ = each
        of_text = first[identity._replace(bytes=None)]
        return first[Identity(identity.words, None, None)], of_text, first[identity]

    return sorted(identified, key=order)


def _sets(found: Sequence[tuple[Identity, str]]) -> dict[object, tuple[int, Kind]]:
    """The number and the kind of each set of documents with these paths, by words."""
    # Two questions may find one document, which is not a copy of itself.
    sizes = Counter(words for words, _ in dict.fromkeys((each.words, path) for each, path in found))
    several = [words for words, size in sizes.items() if size > 1]
    texts, contents = dict[object, set[object]](), dict[object, set[object]]()
    for each, _ in found:
        texts.setdefault(each.words, set()).add(each.text)
        contents.setdefault(each.words, set()).add(each)
    return {
        words: (number, _weakest(len(texts[words]), len(contents[words])))
        for number, words in enumerate(several, 1)
    }


def _weakest(texts: int, contents: int) -> Kind:
    """The weakest kind in a set of so many texts and contents."""
    if texts > 1:
        return Kind.SAME_WORDS
    return Kind.IDENTICAL_TEXT if contents > 1 else Kind.IDENTICAL_BYTES


def _marked(found: AnyFound, known: tuple[int, Kind] | None) -> AnyFound:
    """The document with the number and the kind of its set."""
    number, kind = known or (None, None)
    if (found.set_id, found.set_kind) == (number, kind):
        return found
    return found._replace(set_id=number, set_kind=kind)


def identity_of(found: Found, nth: int = 0) -> Identity:
    """The identity that a document in the nth list has in common with its copies.

    A saved result may lack digests. Then the kind says what the document has in common with the
    first of its list, and nothing is known about other lists.
    """
    document = found.document
    known = document.identity
    if all(known):
        return known
    strength = [*Kind].index(found.kind)
    unknown = (nth if strength <= at else document.path for at in (2, 1, 0))
    return Identity(*(each or other for each, other in zip(known, unknown, strict=True)))
