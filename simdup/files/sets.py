"""Groups in, the same groups with their identical sets out, numbered throughout the result.

An identical set is all documents in groups that have the very same text. It is told apart from
what is near: three copies in a group are three copies, however little they are like its first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from simdup.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdup.records import Group, Member


class _Identity(NamedTuple):
    """What a member has in common with its copies; digests, or what stands for unknown ones."""

    text: object
    bytes: object


def with_sets(
    groups: Iterable[Group], patterns: Iterable[Group] = ()
) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """Groups and families whose members know their sets and stand beside each other.

    Sets are numbered from 1, as their first members come in the groups. A family has one document
    of each text, which has the number of the set that its copies make in a group.
    """
    groups = [_together(group) for group in groups]
    known = [identity for group in groups for identity in _identities(group)]
    sizes = Counter(text for text, _ in known)
    distinct = Counter(text for text, _ in dict.fromkeys(known))
    several = (text for text, number in sizes.items() if number > 1)
    sets = {
        text: (number, Kind.IDENTICAL_BYTES if distinct[text] == 1 else Kind.IDENTICAL_TEXT)
        for number, text in enumerate(several, 1)
    }
    found, families = (tuple(_marked(each, sets) for each in which) for which in (groups, patterns))
    return found, families


def _together(group: Group) -> Group:
    """The group, each set in one piece where its first member is, and equal bytes in one piece."""
    identities = _identities(group)
    text_at, bytes_at = dict[object, int](), dict[object, int]()
    for place, identity in enumerate(identities):
        text_at.setdefault(identity.text, place)
        bytes_at.setdefault(identity, place)
    places = sorted(
        range(len(identities)),
        key=lambda place: (text_at[identities[place].text], bytes_at[identities[place]]),
    )
    return replace(group, members=tuple(group.members[place] for place in places))


def _marked(group: Group, sets: dict[object, tuple[int, Kind]]) -> Group:
    """The group, each member with the number and the kind of its set."""
    members = (
        replace(member, set_id=number, set_kind=kind)
        for member, (text, _) in zip(group.members, _identities(group), strict=True)
        for number, kind in [sets.get(text, (None, None))]
    )
    return replace(group, members=tuple(members))


def _identities(group: Group) -> list[_Identity]:
    """The text and the bytes of each member.

    Saved results may lack digests. There only what is identical to the first member is known.
    """
    return [_identity(member, group.id) for member in group.members]


def _identity(member: Member, group: int) -> _Identity:
    document, kind = member.document, member.kind
    is_identical = kind in {Kind.IDENTICAL_BYTES, Kind.IDENTICAL_TEXT}
    first = ("the first of", group)
    text = document.text_digest or (first if is_identical else document.path)
    same = document.bytes_digest or (first if kind is Kind.IDENTICAL_BYTES else document.path)
    return _Identity(text, same)
