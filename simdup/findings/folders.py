"""Groups of files in, pairs of folders out: which folder is a copy of which other.

A file of one folder has its copy in another if a file of the same group lies there under the same
relative path. The work grows with the number of files, however large a group is: votes of some
pairs of files show which folders to compare, and only these are then compared file by file.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, pairwise
from typing import NamedTuple

import numpy as np

from simdup.match.groups import components
from simdup.records import Document, FolderPair, Group, Reason, Skipped

Two = tuple[int, int]
#: The share of a folder's files whose copies must lie in the other folder.
LEAST_SHARE = 0.8

#: A pair with fewer copies is not reported: the groups of these files say as much.
LEAST_COPIES = 3

# If a group has more files with one name, not all pairs of them vote. With fewer, all pairs do: two
# trees may each hold several copies of a file, and only some pairs lie under one relative path.
_ALL_VOTE = 16

# Two folders are compared if at least this share of the smaller one's files vote for them. Not all
# pairs of a large group vote, so it is far below LEAST_SHARE.
_LEAST_VOTES = 0.25


def folder_pairs(
    groups: Sequence[Group],
    documents: Iterable[Document],
    skipped: Iterable[Skipped] = (),
    roots: Iterable[str] = (),
) -> tuple[FolderPair, ...]:
    """Each folder with the folder that holds copies of most of its files, largest first.

    Pairs that have no identical file come last.

    `documents` count, and the documents without text among `skipped`. A folder above all `roots`
    was not read whole, so it is in no pair. The folder with fewer files comes first in its pair,
    and no folder is first in two pairs. Subfolders of a reported pair are not reported if they lie
    under the same relative path in both.
    """
    if _repeated_names(groups) < LEAST_COPIES:
        return ()
    tree = _Tree(roots)
    group_of = {
        member.document.path: position
        for position, group in enumerate(groups)
        for member in group.members
    }
    for document in documents:
        tree.add(document, group_of.get(document.path))
    for each in skipped:
        if each.file is not None:
            tree.add(each.file, group_of.get(each.path))
        elif each.reason is not Reason.EMPTY:
            tree.add_unread(each.path)
    tree.sum_up()
    counts = _counted(tree, _compared(tree, _votes(tree, groups)))
    best = _telling(tree, groups, _best(tree, _topmost(tree, counts), counts))
    behind: dict[int, list[int]] = {folder: [] for folder in best}
    for position, folders in _behind(tree, groups, best).items():
        for folder in folders & behind.keys():
            behind[folder].append(groups[position].id)
    made = [_record(tree, pair, counts[_sorted(*pair)], behind[pair[0]]) for pair in best.items()]
    return tuple(
        sorted(made, key=lambda pair: (not pair.identical, -pair.copies, pair.other, pair.path))
    )


def _repeated_names(groups: Iterable[Group]) -> int:
    """The number of repeated file names within groups: at least one for each copy."""
    repeated = 0
    for group in groups:
        names = {member.document.path.rpartition(os.sep)[2] for member in group.members}
        repeated += len(group.members) - len(names)
    return repeated


@dataclass(slots=True)
class _File:
    """The group, text and time of a file, by which folders are compared.

    text: The digest of its text.
    """

    group: int | None
    text: bytes
    mtime_ns: int


class _Tree:
    """The folders at and below the roots, by number; what lies in them, by name."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.roots = {_stem(root) for root in roots}
        self.number: dict[str, int | None] = {}
        self.paths: list[str] = []
        self.names: list[str] = []
        self.above: list[int | None] = []
        self.depth: list[int] = []
        self.files: list[dict[str, _File]] = []
        self.folders: list[dict[str, int]] = []
        self.sizes: list[int] = []
        self.unread: list[int] = []
        self.archives: dict[str, str] = {}
        """The path of each archive, by the folder path that its members seem to have ("a.zip!")."""

    def folder(self, path: str) -> int | None:
        """The number of the folder with this path; None if it is above all roots."""
        missing = []
        while path not in self.number:
            missing.append(path)
            if os.sep not in path:
                break
            path = _stem(path[: path.rindex(os.sep)])
        for each in reversed(missing):
            above = self.number.get(path) if each != path else None
            is_inside = above is not None or each in self.roots
            self.number[each] = self._new(each, above) if is_inside else None
            path = each
        return self.number[path]

    def _new(self, path: str, above: int | None) -> int:
        new, name = len(self.paths), path[path.rfind(os.sep) + 1 :]
        if above is not None:
            self.folders[above][name] = new
        self.paths.append(path)
        self.names.append(name)
        self.above.append(above)
        self.depth.append(0 if above is None else self.depth[above] + 1)
        self.files.append({})
        self.folders.append({})
        self.sizes.append(0)
        self.unread.append(0)
        return new

    def add(self, document: Document, group: int | None) -> None:
        """Add a file that was compared, and the position of its group among the groups."""
        folder, name = self.locate(document.path)
        if folder is not None:
            time = document.source.mtime_ns
            self.files[folder][name] = _File(group, document.text_digest, time)
            self.sizes[folder] += 1
        if (archive := document.source.archive) is not None:
            self.archives[document.path[: len(archive.path) + 1]] = archive.path

    def add_unread(self, path: str) -> None:
        """Count a file or folder that was not compared."""
        folder, _ = self.locate(path)
        if folder is not None:
            self.unread[folder] += 1

    def locate(self, path: str) -> tuple[int | None, str]:
        """The folder of a file, if it is in one of the roots, and the name of the file."""
        folder, separator, name = path.rpartition(os.sep)
        if folder in self.number and separator:
            return self.number[folder], name
        return self.folder(_stem(folder)) if separator else None, name

    def sum_up(self) -> None:
        """Add the size and the unread files of each folder to the folders above it."""
        for each in range(len(self.paths) - 1, -1, -1):
            above = self.above[each]
            if above is not None:
                self.sizes[above] += self.sizes[each]
                self.unread[above] += self.unread[each]

    def pair_above(self, pair: Two) -> Two | None:
        """The parents of two folders with the same name; None unless these are two folders."""
        left, right = pair
        above = self.above[left], self.above[right]
        if self.names[left] != self.names[right] or None in above or above[0] == above[1]:
            return None
        return _sorted(above[0] or 0, above[1] or 0)

    def ancestors(self, folder: int | None) -> Iterator[int]:
        """Yield a folder, the folder that holds it, and so on."""
        while folder is not None:
            yield folder
            folder = self.above[folder]


def _stem(path: str) -> str:
    """The path without separators at its end; "" for the root of the file system."""
    return path.rstrip(os.sep)


def _sorted(left: int, right: int) -> Two:
    return (left, right) if left < right else (right, left)


def _votes(tree: _Tree, groups: Sequence[Group]) -> dict[Two, int]:
    """The number of votes for each pair of folders that has at least one."""
    votes: dict[Two, int] = defaultdict(int)
    for group in groups:
        by_name: dict[str, list[int]] = defaultdict(list)
        for member in group.members:
            folder, name = tree.locate(member.document.path)
            if folder is not None:
                by_name[name].append(folder)
        for folders in by_name.values():
            if len(folders) > 1:
                for pair in _voters(sorted(folders)):
                    votes[pair] += 1
    for pair in _upwards(tree, votes):
        above = tree.pair_above(pair)
        if above is not None:
            votes[above] += votes[pair]
    return votes


def _voters(folders: list[int]) -> Iterable[Two]:
    """All pairs of a few folders; of many, each with the first one and with the next one."""
    if len(folders) <= _ALL_VOTE:
        return combinations(folders, 2)
    first = ((folders[0], each) for each in folders[2:])
    return [*first, *pairwise(folders)]


def _upwards(tree: _Tree, pairs: Iterable[Two]) -> Iterator[Two]:
    """Yield these pairs and all pairs above them, each pair after all pairs below it."""
    by_depth: dict[int, dict[Two, None]] = defaultdict(dict)
    for pair in pairs:
        by_depth[min(tree.depth[pair[0]], tree.depth[pair[1]])][pair] = None
    for depth in range(max(by_depth, default=-1), -1, -1):
        for pair in list(by_depth[depth]):
            yield pair
            above = tree.pair_above(pair)
            if above is not None:
                by_depth[depth - 1][above] = None


def _compared(tree: _Tree, votes: dict[Two, int]) -> set[Two]:
    """The pairs with enough votes, and all pairs of folders under one relative path inside them."""
    waiting = [
        pair
        for pair, number in votes.items()
        if number >= _LEAST_VOTES * min(tree.sizes[pair[0]], tree.sizes[pair[1]])
    ]
    found = set(waiting)
    while waiting:
        less, more = sorted(map(tree.folders.__getitem__, waiting.pop()), key=len)
        inner = {_sorted(less[name], more[name]) for name in less if name in more} - found
        found |= inner
        waiting += inner
    return found


class _Count(NamedTuple):
    """How many files of two folders are copies of each other."""

    copies: int
    identical: int


def _counted(tree: _Tree, pairs: set[Two]) -> dict[Two, _Count]:
    """The copies in each of these pairs of folders, at any depth."""
    counts = dict[Two, _Count]()
    for pair in pairs:
        found = _direct(tree, *pair)
        counts[pair] = _Count(len(found), sum(one.text == other.text for one, other in found))
    for pair in _upwards(tree, pairs):
        above = tree.pair_above(pair)
        if above in counts and pair in counts:
            counts[above] = _Count(*map(sum, zip(counts[above], counts[pair], strict=True)))
    return counts


def _direct(tree: _Tree, folder: int, other: int) -> list[tuple[_File, _File]]:
    """The files directly in a folder that have a copy directly in another one, each with it."""
    files, there = tree.files[folder], tree.files[other]
    both = ((files[name], there[name]) for name in files.keys() & there.keys())
    return [(one, two) for one, two in both if one.group is not None and one.group == two.group]


def _copies(tree: _Tree, folder: int, other: int) -> Iterator[tuple[_File, _File]]:
    """Yield the files in a folder, at any depth, that have a copy in another one, each with it."""
    waiting = [(folder, other)]
    while waiting:
        one, two = waiting.pop()
        yield from _direct(tree, one, two)
        inner = tree.folders[two]
        waiting += [(each, inner[n]) for n, each in tree.folders[one].items() if n in inner]


def _is_enough(tree: _Tree, pair: Two, counts: dict[Two, _Count]) -> bool:
    """Whether most files of the smaller of two folders have their copy in the other."""
    copies, size = counts[pair].copies, min(tree.sizes[pair[0]], tree.sizes[pair[1]])
    return copies >= LEAST_COPIES and copies >= LEAST_SHARE * size


def _topmost(tree: _Tree, counts: dict[Two, _Count]) -> list[Two]:
    """The pairs that share enough, without the pairs of subfolders inside another such pair."""
    enough = {pair for pair in counts if _is_enough(tree, pair, counts)}
    inside: set[Two] = set()
    for pair in enough:
        passed = [pair]
        while above := tree.pair_above(passed[-1]):
            if above in enough or above in inside:
                inside.update(passed)
                break
            passed.append(above)
    return sorted(enough - inside)


def _best(tree: _Tree, pairs: list[Two], counts: dict[Two, _Count]) -> dict[int, int]:
    """For each folder in a pair the larger folder that holds the most of its copies.

    Of several that hold equally many, the one with the most identical copies, then the fewest
    files.
    """
    choices: dict[int, list[tuple[int, int, int, int, str, int]]] = defaultdict(list)
    for pair in pairs:
        other, folder = sorted(pair, key=lambda each: _rank(tree, each))
        count = counts[pair]
        size, path = tree.sizes[other], tree.paths[other]
        close = -count.copies, -count.identical, size, len(path), path
        choices[folder].append((*close, other))
    return {folder: min(others)[-1] for folder, others in choices.items()}


def _rank(tree: _Tree, folder: int) -> tuple[int, int, str]:
    """Folders with more files come first, then those with shorter paths."""
    path = tree.paths[folder]
    return -tree.sizes[folder], len(path), path


def _telling(tree: _Tree, groups: Sequence[Group], best: dict[int, int]) -> dict[int, int]:
    """The pairs of folders, without nested pairs whose groups an outer pair already represents."""
    paired = {folder for pair in best.items() for folder in pair}
    inner = {each for each in paired if not paired.isdisjoint(tree.ancestors(tree.above[each]))}
    outer = {one: other for one, other in best.items() if not {one, other} <= inner}
    if len(outer) == len(best):
        return best
    said = _behind(tree, groups, outer).keys()
    return {
        one: other
        for one, other in best.items()
        if one in outer or not {file.group for file, _ in _copies(tree, one, other)} <= said
    }


def _behind(tree: _Tree, groups: Sequence[Group], best: dict[int, int]) -> dict[int, set[int]]:
    """For each group that pairs of folders represent, the folders of pairs that hold its files.

    All files of such a group lie in folders that are joined by pairs, and each has its copy under
    the same relative path in another one. A folder inside a folder of a pair is joined with it.
    """
    last = {folder: _last(folder, best) for pair in best.items() for folder in pair}
    joined = _joined(tree, last)
    paired = cache(lambda folder: [each for each in tree.ancestors(folder) if each in last])
    behind: dict[int, set[int]] = {}
    for number, group in enumerate(groups):
        paths = [member.document.path for member in group.members]
        folders = [paired(tree.locate(path)[0]) for path in paths]
        # Two files are at the same spot if they have one path below folders of one chain of pairs.
        spots = [
            [(last[each], path[len(tree.paths[each]) :].lstrip(os.sep)) for each in above]
            for path, above in zip(paths, folders, strict=True)
        ]
        files = Counter(chain.from_iterable(spots))
        is_joined = len({joined[end] for end, _ in files}) == 1
        if is_joined and all(any(files[spot] > 1 for spot in of_file) for of_file in spots):
            behind[number] = set(chain.from_iterable(folders))
    return behind


def _last(folder: int, best: dict[int, int]) -> int:
    """The folder at the end of the chain of pairs that begins with this folder."""
    while folder in best:
        folder = best[folder]
    return folder


def _joined(tree: _Tree, last: dict[int, int]) -> dict[int, int]:
    """For the end of each chain of pairs, a number that chains with nested folders share."""
    nested = [
        (last[above], end)
        for folder, end in last.items()
        for above in tree.ancestors(folder)
        if above in last
    ]
    row = components(np.array(nested, np.int64).reshape(-1, 2), len(tree.paths))
    return {end: int(row[end]) for end in last.values()}


def _record(tree: _Tree, pair: Two, count: _Count, behind: Iterable[int]) -> FolderPair:
    """The record of a folder and the folder that holds its copies."""
    paths = (tree.paths[each] or os.sep for each in pair)
    folder, other = (tree.archives.get(path, path) for path in paths)
    differ = [each for each in _copies(tree, *pair) if each[0].text != each[1].text]
    # On either side the time of the last change among the copies that differ.
    one, two = (max((each[side].mtime_ns for each in differ), default=0) for side in (0, 1))
    return FolderPair(
        path=folder,
        other=other,
        files=tree.sizes[pair[0]],
        other_files=tree.sizes[pair[1]],
        copies=count.copies,
        identical=count.identical,
        not_compared=tree.unread[pair[0]],
        newer=None if one == two else folder if one > two else other,
        groups=tuple(behind),
    )
