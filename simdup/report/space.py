"""What repeats in the groups of a scan, in files and bytes: how much could be freed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simdup.files.sets import identity_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdup.records import Group


@dataclass(frozen=True, slots=True)
class Pile:
    """Some files, and how many bytes they take."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Pile) -> Pile:
        """Return both piles as one."""
        return Pile(self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class Repeated:
    """The files that repeat what another file of their group holds; each file counts once."""

    identical: Pile = Pile()
    """Files with the same bytes as a file that stays."""
    text: Pile = Pile()
    """Files with the same text, but other bytes."""
    near: Pile = Pile()
    """Files whose text is only similar."""

    def __add__(self, other: Repeated) -> Repeated:
        """Return what repeats in either."""
        return Repeated(
            self.identical + other.identical, self.text + other.text, self.near + other.near
        )

    @property
    def total(self) -> Pile:
        """All files that repeat something."""
        return self.identical + self.text + self.near


def repeated(groups: Iterable[Group]) -> Repeated:
    """What repeats in these groups if one file of each group stays, and so do all references."""
    return sum(map(_in_group, groups), Repeated())


def _in_group(group: Group) -> Repeated:
    """What repeats in one group; all references stay, or without any the first member.

    Files that no command may touch do not count, neither as what stays nor as what can go.
    """
    found, texts, contents = Repeated(), set[object](), set[object]()
    members = [each for each in group.members if each.document.untouchable is None]
    for member in sorted(members, key=lambda each: not each.document.source.is_reference):
        text, content = identity_of(member)
        one = Pile(1, member.document.source.size)
        if member.document.source.is_reference or not contents:
            pass
        elif content in contents:
            found += Repeated(identical=one)
        elif text in texts:
            found += Repeated(text=one)
        else:
            found += Repeated(near=one)
        texts.add(text)
        contents.add(content)
    return found
