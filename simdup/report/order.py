"""Which groups of a result a report shows, in which order, and how much space they could free."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeAlias

from simdup.findings.identical import identity_of
from simdup.match.tiers import NEAR, RELATED
from simdup.records import Document, Group, Identity, Kind, Member, ScanResult

IsKept: TypeAlias = Callable[[Document], bool]


def _is_reference(document: Document) -> bool:
    return document.source.is_reference


class View(NamedTuple):
    """How much of a result a text report shows.

    sort: One of `report.SORTS`.
    limit: The most groups; None shows all of them.
    is_brief: Whether a group with many files shows only some of them, as on a terminal.
    is_folded: Whether to leave out the groups that pairs of folders represent.
    lines: The lines that the groups and the summary may fill together; None sets no limit.
    is_kept: Whether `simdup clean` would keep a file unasked, see `protected_in`.
    """

    sort: str = "similarity"
    limit: int | None = None
    is_brief: bool = False
    is_folded: bool = False
    lines: int | None = None
    is_kept: IsKept = _is_reference


#: Every group, with every file.
WHOLE = View()


def ranked(groups: Iterable[Group], sort: str) -> list[Group]:
    """The groups, the most useful first.

    By `similarity` these are the most similar ones, in the order of the result; by `size` the
    ones in which the most bytes repeat; by `count` the ones with the most files. By `name` they
    follow the path of the first file.
    """
    found = list(groups)
    if sort == "size":
        found.sort(key=lambda group: -repeated([group]).total.bytes)
    elif sort == "count":
        found.sort(key=lambda group: -len(group.members))
    elif sort == "name":
        found.sort(key=lambda group: group.members[0].document.path)
    return found


def by_tier(result: ScanResult) -> tuple[ScanResult, tuple[Group, ...]]:
    """The result with what is near, and the groups of related texts.

    A group of which some members are only related to the first one is divided: each part has the
    first one and the number of the group.
    """
    near, related = list[Group](), list[Group]()
    for group in result.groups:
        first, *others = group.members
        aside = [each for each in others if each.tier == RELATED]
        if group.tier == RELATED:
            related.append(group)
        elif aside:
            kept = [first, *(each for each in others if each.tier == NEAR)]
            near.append(_part(group, kept)._replace(aside=len(aside)))
            related.append(_part(group, [first._replace(tier=RELATED), *aside]))
        else:
            near.append(group)
    return replace(result, groups=tuple(near)), tuple(related)


def _part(group: Group, members: Sequence[Member]) -> Group:
    """Some members of a group."""
    paths = {each.document.path for each in members}
    kind = max((each.kind for each in members), key=[*Kind].index)
    different = tuple(pair for pair in group.not_duplicates if paths.issuperset(pair))
    return group._replace(members=tuple(members), kind=kind, not_duplicates=different)


def selected(result: ScanResult, sort: str, limit: int | None) -> ScanResult:
    """The result with only its first `limit` groups and families, in the order of `ranked`."""
    lists = result.groups, result.patterns
    groups, patterns = (tuple(ranked(each, sort)[:limit]) for each in lists)
    return replace(result, groups=groups, patterns=patterns)


class Pile(NamedTuple):
    """Some files, and how many bytes they take."""

    files: int = 0
    bytes: int = 0


class Repeated(NamedTuple):
    """The files that repeat the content of another file in their group; each file counts once.

    identical: Files with the same bytes as a kept file, which `simdup clean` removes unasked.
    text: Files with the same text, but other bytes.
    words: Files with the same words in another layout or format.
    near: Files with a similar text.
    part: Files that mostly stand in a text more than twice as long.
    kept: Files with the same bytes as another kept file, which are kept too: see `protected_in`.
    """

    identical: Pile = Pile()
    text: Pile = Pile()
    words: Pile = Pile()
    near: Pile = Pile()
    part: Pile = Pile()
    kept: Pile = Pile()

    @property
    def total(self) -> Pile:
        """All files that repeat something."""
        return Pile(*map(sum, zip(*self._replace(kept=Pile()), strict=True)))


def protected_in(base: str | None) -> IsKept:
    """A function that says whether `simdup clean` keeps a file unless it is asked for otherwise.

    References are kept, and files of work trees, of installed packages and of saved pages, if the
    folder `base` is known, to which relative paths refer.
    """
    if base is None:
        return _is_reference

    @cache
    def why() -> Callable[[str], object]:
        from simdup.clean.protection import Protection  # noqa: PLC0415  few scans find copies

        return Protection().reason()

    @cache
    def is_kept(folder: str) -> bool:
        from simdup.clean.protection import is_noise  # noqa: PLC0415

        path = os.path.join(os.path.realpath(os.path.join(base, folder)), "")
        return bool(why()(path)) or is_noise(path)

    return lambda document: document.source.is_reference or is_kept(os.path.dirname(document.path))


def repeated(groups: Iterable[Group], is_kept: IsKept = _is_reference) -> Repeated:
    """The files that repeat in these groups, if one file of each is kept, and all of `is_kept`."""
    pairs = (
        [(member.document, identity_of(member)) for member in group.members] for group in groups
    )
    return _repeated(pairs, is_kept)


def removable(group: Group, is_kept: IsKept) -> Pile:
    """The exact copies of a group that `simdup clean` removes unasked."""
    contents = {member.document.bytes_digest for member in group.members}
    has_copies = len(contents) < len(group.members)
    return repeated([group], is_kept).identical if has_copies else Pile()


def repeated_before_matching(documents: Iterable[Document]) -> Repeated:
    """The files that repeat another one, as far as that is known without near-duplicates."""
    found = _repeated(
        [[(document, document.identity) for document in documents]], protected_in(os.curdir)
    )
    return found._replace(near=Pile(), part=Pile())


def _repeated(groups: Iterable[Iterable[tuple[Document, Identity]]], is_kept: IsKept) -> Repeated:
    sizes: dict[str, list[int]] = {name: [] for name in Repeated._fields}
    for name, size in chain.from_iterable(_repeating(group, is_kept) for group in groups):
        sizes[name].append(size)
    return Repeated(**{name: Pile(len(each), sum(each)) for name, each in sizes.items()})


def _repeating(
    group: Iterable[tuple[Document, Identity]], is_kept: IsKept
) -> Iterator[tuple[str, int]]:
    """Yield the field of Repeated and the size of each file that repeats another one.

    The kept files of a group come first, or else its first member. Files that no command may touch
    count neither as kept files nor as files that repeat one.
    """
    seen = {name: set[object]() for name in ("identical", "text", "words")}
    touchable = [member for member in group if member[0].untouchable is None]
    if len({identity.bytes for _, identity in touchable}) == len(touchable):
        is_kept = _is_reference  # no file is removed, so folders need not be looked at
    members = [(is_kept(document), document, identity) for document, identity in touchable]
    members.sort(key=lambda member: not member[0])
    for stays, document, (words, text, content) in members:
        known = {"identical": content, "text": text, "words": words}
        if seen["words"] and not stays:
            how = (name for name, each in known.items() if each in seen[name])
            near = "part" if document.is_part_of(members[0][1]) else "near"
            yield next(how, near), document.source.size
        elif content in seen["identical"] and not document.source.is_reference:
            yield "kept", document.source.size
        for name, each in known.items():
            seen[name].add(each)
