"""Files and bytes that repeat in the groups of a scan: how much could be freed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simdup.findings.identical import identity_of
from simdup.records import Group


class Pile(NamedTuple):
    """Some files, and how many bytes they take."""

    files: int = 0
    bytes: int = 0


class Repeated(NamedTuple):
    """The files that repeat what another file of their group holds; each file counts once."""

    identical: Pile = Pile()
    """Files with the same bytes as a file that stays."""
    text: Pile = Pile()
    """Files with the same text, but other bytes."""
    near: Pile = Pile()
    """Files whose text is only similar."""

    @property
    def total(self) -> Pile:
        """All files that repeat something."""
        return _together((self.identical, self.text, self.near))


def repeated(groups: Iterable[Group]) -> Repeated:
    """The files that repeat in these groups, if one file of each and all references stay."""
    found = [_in_group(group) for group in groups]
    return Repeated(
        _together([each.identical for each in found]),
        _together([each.text for each in found]),
        _together([each.near for each in found]),
    )


def _together(piles: Sequence[Pile]) -> Pile:
    """All files of some piles as one pile."""
    return Pile(sum(each.files for each in piles), sum(each.bytes for each in piles))


def _in_group(group: Group) -> Repeated:
    """The files that repeat in one group if its references stay, or else its first member.

    Files that no command may touch count neither as files that stay nor as files that can go.
    """
    identical, text, near = list[Pile](), list[Pile](), list[Pile]()
    texts, contents = set[object](), set[object]()
    members = [each for each in group.members if each.document.untouchable is None]
    for member in sorted(members, key=lambda each: not each.document.source.is_reference):
        of_text, content = identity_of(member)
        one = Pile(1, member.document.source.size)
        if member.document.source.is_reference or not contents:
            pass
        elif content in contents:
            identical.append(one)
        elif of_text in texts:
            text.append(one)
        else:
            near.append(one)
        texts.add(of_text)
        contents.add(content)
    return Repeated(_together(identical), _together(text), _together(near))
