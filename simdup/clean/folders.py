"""Decides which folders of pairs go as a whole: one decision for all their files.

If all files of a folder have their copy in another one, then either all of them go or none does,
even where the rules prefer some files of the one folder and some of the other. Of two
folders with the same files the one stays that the rules prefer more often.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePath

from simdup.clean.candidates import Candidate
from simdup.clean.decide import text_refusal
from simdup.clean.plan import Act, Action, Consents
from simdup.fields import printable
from simdup.findings.keeper import copies_in
from simdup.records import Kind, ScanResult

Copies = list[tuple[Candidate, Candidate]]


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
    result: ScanResult, pools: Iterable[Sequence[Candidate]], consents: Consents, act: Act
) -> WholeFolders:
    """The folders that go: each of their files has a copy in a folder that stays.

    A folder goes unless the rules prefer more of its files than of the other's.
    """
    found = WholeFolders()
    real = cache(lambda folder: os.path.realpath(os.path.join(result.base or os.curdir, folder)))
    for pair, copies in zip(result.folders, _copies(result, pools), strict=True):
        if pair.not_compared or not 0 < pair.files == pair.identical == len(copies):
            continue
        is_turned = sum((one.key < two.key) - (two.key < one.key) for one, two in copies) > 0
        if is_turned and pair.files < pair.other_files:
            continue
        going = [(two, one) for one, two in copies] if is_turned else copies
        if all(_may_go(file, copy, consents, act) for file, copy in going):
            found.copy_of.update((file.id.path, copy.id.path) for file, copy in going)
            names = (pair.other, pair.path) if is_turned else (pair.path, pair.other)
            why = _why(*map(real, names))
            found.folders.append((why, tuple(file.id.path for file, _ in going)))
    return found


def _copies(result: ScanResult, pools: Iterable[Sequence[Candidate]]) -> list[Copies]:
    """For each pair of folders the unchanged files of the first one, each with its copy."""
    files = {each.scanned: each for pool in pools for each in pool if not each.is_changed}
    found: list[Copies] = [[] for _ in result.folders]
    for each in copies_in(result.folders, result.groups):
        members = result.groups[each.group].members
        file, copy = (files.get(members[at].document.path) for at in (each.file, each.other))
        if file is not None and copy is not None:
            found[each.pair].append((file, copy))
    return found


def _may_go(file: Candidate, copy: Candidate, consents: Consents, act: Act) -> bool:
    kind = file.id.kind_with(copy.id)
    if file.stays or kind is Kind.NEAR:
        return False
    is_same = kind is Kind.IDENTICAL_BYTES
    return is_same or not text_refusal(file.document, copy.document, consents, act)
