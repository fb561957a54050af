"""Decides which folders of pairs go as a whole: one decision for all their files.

If all files of a folder have their copy in another one, then either all of them go or none does,
even where the rules prefer some files of the one folder and some of the other. Of two
folders with the same files the one stays that the rules prefer more often.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePath

from simdup.clean.candidates import Candidate
from simdup.clean.decide import text_refusal
from simdup.clean.plan import Act, Action, Consents
from simdup.fields import printable
from simdup.records import FolderPair, Kind

Copies = Sequence[tuple[Candidate, Candidate]]


@dataclass(frozen=True, slots=True)
class WholeFolders:
    """The folders that go as a whole."""

    copy_of: dict[str, str] = field(default_factory=dict)
    """The path of each of their files, with the path of its copy in the other folder."""
    folders: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Why each folder goes, and the paths of its files."""

    def explained(self, actions: Iterable[Action]) -> list[Action]:
        """The actions; if all copies of a whole folder stay, the actions on its files say so."""
        made = {each.file.path: each for each in actions}
        for why, files in self.folders:
            if all(path in made and made[path].keep.path == self.copy_of[path] for path in files):
                made |= {path: replace(made[path], why=why) for path in files}
        return list(made.values())


def _why(going: str, staying: str) -> str:
    return f"all of {printable(going)} stands in {printable(staying)}"


def whole_folder(action: Action) -> tuple[str, str] | None:
    """The folder that goes whole and the one that stays, if that is why a file goes; else None.

    The words of a plan prove nothing: both files must be at the same place in these folders.
    """
    file, keep = PurePath(action.file.path), PurePath(action.keep.path)
    for going, staying in zip(file.parents, keep.parents, strict=False):
        if file.name != keep.name:
            return None
        if action.why == _why(str(going), str(staying)):
            return str(going), str(staying)
        file, keep = going, staying
    return None


def whole_folders(
    pairs: Iterable[FolderPair],
    pools: Sequence[Sequence[Candidate]],
    consents: Consents,
    act: Act,
) -> WholeFolders:
    """The folders that go: each of their files has a copy in a folder that stays.

    A folder goes unless the rules prefer more of its files than of the other's.
    """
    found = WholeFolders()
    files = {
        each.scanned: (place, each)
        for place, pool in enumerate(pools)
        for each in pool
        if not each.is_changed
    }
    paths = sorted(files)
    for pair in pairs:
        copies = _going(pair, _copies(pair, files, paths))
        if copies and all(_may_go(file, copy, consents, act) for file, copy in copies):
            found.copy_of.update((file.id.path, copy.id.path) for file, copy in copies)
            why = _why(*_folders(pair, copies))
            found.folders.append((why, tuple(file.id.path for file, _ in copies)))
    return found


def _going(pair: FolderPair, copies: Copies) -> Copies:
    """The files of the folder that goes, each with its copy in the other; none if neither goes."""
    if pair.not_compared or not pair.files == pair.identical == len(copies):
        return ()
    if sum((one.key < two.key) - (two.key < one.key) for one, two in copies) <= 0:
        return copies
    return [(two, one) for one, two in copies] if pair.files == pair.other_files else ()


def _copies(
    pair: FolderPair, files: Mapping[str, tuple[int, Candidate]], paths: Sequence[str]
) -> Copies:
    """The files of a folder, each with the file of its group at the same place in the other."""
    beginning, found = os.path.join(pair.path, ""), list[tuple[Candidate, Candidate]]()
    for path in islice(paths, bisect_left(paths, beginning), None):
        if not path.startswith(beginning):
            break
        place, file = files[path]
        there, copy = files.get(os.path.join(pair.other, path[len(beginning) :]), (-1, file))
        if place == there:
            found.append((file, copy))
    return found


def _may_go(file: Candidate, copy: Candidate, consents: Consents, act: Act) -> bool:
    kind = file.id.kind_with(copy.id)
    if file.stays or kind is Kind.NEAR:
        return False
    is_same = kind is Kind.IDENTICAL_BYTES
    return is_same or not text_refusal(file.document, copy.document, consents, act)


def _folders(pair: FolderPair, copies: Copies) -> list[str]:
    """The absolute path of the folder that goes and of the one that stays."""
    beginning = os.path.join(pair.path, "")
    paths = [each.scanned for each in copies[0]]
    # Both files have the same path below their folders, and one of these is `pair.path`.
    inside = next(path for path in paths if path.startswith(beginning))
    below = os.sep + inside[len(beginning) :]
    return [each.id.path.removesuffix(below) for each in copies[0]]
