"""Files and bytes that repeat in the groups of a scan: how much could be freed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from simdup.findings.identical import identity_of
from simdup.records import Group


class Pile(NamedTuple):
    """Some files, and how many bytes they take."""

    files: int = 0
    bytes: int = 0


class Repeated(NamedTuple):
    """The files that repeat the content of another file in their group; each file counts once."""

    identical: Pile = Pile()
    """Files with the same bytes as a file that stays."""
    text: Pile = Pile()
    """Files with the same text, but other bytes."""
    near: Pile = Pile()
    """Files with a similar text."""

    @property
    def total(self) -> Pile:
        """All files that repeat something."""
        return Pile(*map(sum, zip(*self, strict=True)))


def repeated(groups: Iterable[Group]) -> Repeated:
    """The files that repeat in these groups, if one file of each and all references stay."""
    sizes: dict[str, list[int]] = {name: [] for name in Repeated._fields}
    for group in groups:
        for name, size in _repeating(group):
            sizes[name].append(size)
    return Repeated(**{name: Pile(len(each), sum(each)) for name, each in sizes.items()})


def _repeating(group: Group) -> Iterator[tuple[str, int]]:
    """Yield the field of Repeated and the size of each file that repeats another one.

    The references of a group stay, or else its first member. Files that no command may touch count
    neither as files that stay nor as files that can go.
    """
    texts, contents = set[object](), set[object]()
    members = [each for each in group.members if each.document.untouchable is None]
    for member in sorted(members, key=lambda each: not each.document.source.is_reference):
        text, content = identity_of(member)
        if contents and not member.document.source.is_reference:
            how = "identical" if content in contents else "text" if text in texts else "near"
            yield how, member.document.source.size
        texts.add(text)
        contents.add(content)
