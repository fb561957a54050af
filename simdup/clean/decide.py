"""Decides which files of a group are removed, for which other file, and which folders go whole.

Copies are decided first: a file is removed for one with the same bytes or, with consent, the same
text or the same words. Files that must be kept are kept first, since they are kept anyway. Then a
file that is merely similar is removed, with consent, for the one file that the rules prefer to all
others of its group: never for a file that only happens to be protected. `terms` has the consents.

If all files of a folder have their copy in another one, then either all of them are removed or
none is, even where the rules prefer some files of the one folder and some of the other. Of two
folders with the same files the one is kept that the rules prefer more often.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

from simdup.clean.candidates import Candidate
from simdup.clean.plan import Act, Consents, FileId
from simdup.clean.refusals import Refusal, Why
from simdup.clean.terms import Alike, Terms, alike_of, detail, terms
from simdup.fields import in_kept
from simdup.findings.keeper import copies_in
from simdup.records import Kind, ScanResult


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """A file that is removed, the one that is kept for it, and how much is there, if known."""

    file: Candidate
    keep: Candidate
    terms: Terms
    contained: float | None = None


class Keeping(NamedTuple):
    """A file that is kept, why, and the file for which it could be removed, if there is one."""

    file: Candidate
    why: Why
    keep: Candidate | None = None
    terms: Terms | None = None


class Decision(NamedTuple):
    """What is decided about the files of a group.

    kept: The file that the rules prefer, unless it is removed, and all files that are kept although
        there is another one for which they could be removed. Others may be removed for them.
    """

    removals: list[Removal]
    kept: list[Keeping]

    @property
    def left(self) -> list[Keeping]:
        """The kept files for which no other one is removed."""
        keeps = {removal.keep.id.path for removal in self.removals}
        return [keeping for keeping in self.kept if keeping.file.id.path not in keeps]


class Likeness(NamedTuple):
    """How much of a text is in the kept one, and the facts that keep it all the same."""

    contained: float | None
    facts: str = ""


def terms_of(file: Candidate, keep: Candidate) -> Terms:
    """The terms under which a file of a group may be removed for another one."""
    alike = alike_of(file.document, keep.document)
    asked = terms(
        file.sort, keep.sort, alike, has_other_content=_has_other_content(file, keep, alike)
    )
    is_different = keep.document.text_digest in file.different
    return asked._replace(needs=(), refusal=Refusal.DIFFERENT) if is_different else asked


def _has_other_content(file: Candidate, keep: Candidate, alike: Alike) -> bool:
    return alike > Alike.TEXT and bool(file.document.other_unread(keep.document))


def copies_of(known: FileId, files: Iterable[Candidate]) -> list[Candidate]:
    """The first copy of a known file, or that file, of each sort that terms tell apart."""
    copies: dict[object, Candidate] = {}
    for file in files:
        if file.id.kind_with(known) is not Kind.NEAR:
            copies.setdefault(_sort(file), file)
    return list(copies.values())


def _sort(file: Candidate) -> object:
    """Equal for files with the same words that terms do not tell apart."""
    return file.sort, file.document.identity.text, file.document.unread


def decide_group(
    pool: Sequence[Candidate],
    alike: Mapping[object, Likeness],
    copy_of: Mapping[str, str],
    consents: Consents,
    act: Act = Act.TRASH,
) -> Decision:
    """Decide about the files of a group, of which the rules prefer the first one.

    Files that are removed for the first one come first, and it comes first if it is kept.

    `copy_of` has the files whose whole folder is removed, each with its copy in the folder that is
    kept. `alike` has, for the words of all files that are no copies of the first one and that no
    terms rule out, how much of them is in it, unless one of them changed: then the file is to be
    removed, and will be refused by name.
    """
    if len(pool) < 2:
        return Decision([], [])
    first, group = pool[0], _Group(consents, act)
    for file in sorted(
        pool,
        key=lambda file: (file.is_changed, file.stays is None, file.id.path in copy_of),
    ):
        group.decide_copy(file, copy_of.get(file.id.path, ""))
    group.decide_near(first, alike)
    kept = group.left
    if first.id.path not in group.removed:
        preferred = Keeping(first, Why(Refusal.PREFERRED))
        kept = {first.id.path: preferred, **kept}
    place = {file.id.path: place for place, file in enumerate(pool)}
    removals = sorted(group.removed.values(), key=lambda removal: place[removal.keep.id.path])
    return Decision(removals, list(kept.values()))


class _Group:
    """The decisions so far about the files of a group, by their paths."""

    def __init__(self, consents: Consents, act: Act) -> None:
        self.consents, self.act = consents, act
        self.removed: dict[str, Removal] = {}
        self.left: dict[str, Keeping] = {}
        """Files that are kept although there is another one for which they could be removed."""
        self.kept: dict[str, Candidate] = {}
        """All files that are kept so far, with or without such a reason."""
        self.different = defaultdict[str, frozenset[bytes]](frozenset)
        """For kept files, the texts from which the files removed for them are different."""
        self._by_bytes: dict[bytes, Candidate] = {}
        # With the same words, the first file of each sort.
        self._by_words: dict[object, dict[object, Candidate]] = {}

    def decide_copy(self, file: Candidate, preferred: str) -> None:
        """Remove a file for one that is kept and has the same bytes, text or words, or keep it.

        It is removed for the kept file at the path `preferred` rather than for another one.
        """
        copies = [(keep, terms_of(file, keep)) for keep in self._copies_of(file, preferred)]
        keep, asked = min(copies, key=lambda copy: copy[1].order, default=(None, None))
        if keep is not None and asked is not None:
            if file.id.identity == keep.id.identity:
                asked = asked._replace(needs=(), refusal=Refusal.SAME_FILE)
            why = file.stays or self._lacking(asked, file, keep)
            if why is None:
                self.removed[file.id.path] = Removal(file, keep, asked)
                self.different[keep.id.path] |= file.different
                return
            self.left[file.id.path] = Keeping(file, why, keep, asked)
        self.kept[file.id.path] = file
        self._by_bytes.setdefault(file.id.byte_digest, file)
        self._by_words.setdefault(file.id.content.words, {}).setdefault(_sort(file), file)

    def _copies_of(self, file: Candidate, preferred: str) -> Iterable[Candidate]:
        """Yield the kept files with the same bytes or words: first those with the same bytes."""
        digest = file.id.byte_digest
        words = self._by_words.get(file.id.content.words, {}).values()
        for keep in (self.kept.get(preferred), self._by_bytes.get(digest), *words):
            if keep is not None and keep.id.kind_with(file.id) is not Kind.NEAR:
                yield keep

    def _lacking(self, asked: Terms, file: Candidate, keep: Candidate) -> Why | None:
        refusal = asked.lacking(self.consents, self.act)
        return detail(refusal, file.document, keep.document) if refusal else None

    def decide_near(self, first: Candidate, alike: Mapping[object, Likeness]) -> None:
        """Remove the kept files that are similar enough to the one that the rules prefer."""
        # All copies of the preferred file that are kept; it may itself be removed for one of them.
        by_rules = sorted(self.kept.values(), key=lambda file: (file.is_changed, file.key))
        tops = copies_of(first.id, by_rules)
        for file in list(self.kept.values()):
            if file.id.kind_with(first.id) is not Kind.NEAR:
                continue
            asked = [self._near_terms(file, first, top, tops) for top in tops]
            able = (
                at for at, of_top in enumerate(asked) if not of_top.lacking(self.consents, self.act)
            )
            at = next(able, 0)
            top, of_top = tops[at], asked[at]
            unknown = Likeness(None if file.is_changed else 0.0)
            likeness = alike.get(file.id.content.words, unknown)
            lacking = self._lacking(of_top, file, top)
            if of_top.refusal is None and file.document.is_part_of(top.document):
                lacking = Why(Refusal.PART)
            why = file.stays or lacking or self._too_unlike(likeness)
            if why:
                self.left.setdefault(file.id.path, Keeping(file, why, top, of_top))
                continue
            self.left.pop(file.id.path, None)
            copies = (removal.file for removal in self.removed.values() if removal.keep is file)
            for removed in (file, *copies):
                removal = Removal(removed, top, terms_of(removed, top), likeness.contained)
                self.removed[removed.id.path] = removal

    def _near_terms(
        self, file: Candidate, first: Candidate, top: Candidate, tops: Sequence[Candidate]
    ) -> Terms:
        """The terms for a copy of the preferred file; a refusal if one is called different."""
        texts = {candidate.document.text_digest for candidate in (first, *tops)}
        if texts & (file.different | self.different[file.id.path]):
            return Terms(Kind.NEAR, refusal=Refusal.DIFFERENT)
        is_related = first.is_related or file.is_related
        return Terms(Kind.NEAR, refusal=Refusal.RELATED) if is_related else terms_of(file, top)

    def _too_unlike(self, likeness: Likeness) -> Why | None:
        """Why too little in the kept file, or the facts of a text, keep its file."""
        contained, facts = likeness
        if contained is not None and contained < (self.consents.near or 0):
            return Why(Refusal.BELOW, in_kept(contained))
        return Why(Refusal.FACTS, facts) if facts else None


Copies = list[tuple[Candidate, Candidate]]


class Whole(NamedTuple):
    """That a file is removed with its whole folder.

    copy: The path of its copy.
    removed: The folder that is removed.
    kept: The folder that is kept.
    """

    copy: str
    removed: str
    kept: str

    def depth(self, path: str) -> int:
        """How many parts of the path of a file lie in the folder that is removed."""
        return len(PurePath(path).parts) - len(PurePath(self.removed).parts)


def whole_folders(
    result: ScanResult, pools: Iterable[Sequence[Candidate]], consents: Consents, act: Act
) -> tuple[dict[str, Whole], set[str]]:
    """Return which files are removed with their whole folder, and which are kept for its sake.

    The folder that the rules prefer less often is removed, or the other one if that has a file that
    is protected or changed. If both have one, all their files are kept.
    """
    removed, kept = dict[str, Whole](), set[str]()
    real = cache(lambda folder: os.path.realpath(os.path.join(result.base or os.curdir, folder)))
    for pair, copies in zip(result.folders, _copies(result, pools), strict=True):
        if pair.not_compared or not 0 < pair.files == pair.identical:
            continue
        ways = [(copies, pair.path, pair.other)]
        if pair.files == pair.other_files:
            ways.append(([(two, one) for one, two in copies], pair.other, pair.path))
        if sum((one.key < two.key) - (two.key < one.key) for one, two in copies) > 0:
            ways = ways[1:] + ways[:1] if len(ways) > 1 else []
        free = [way for way in ways if len(copies) == pair.files and not _has_kept(way[0])]
        for files, path, other in free[:1]:
            if all(_may_be_removed(*both, consents, act) for both in files):
                whole = real(path), real(other)
                removed |= {file.id.path: Whole(copy.id.path, *whole) for file, copy in files}
        if ways and not free:
            kept |= {file.id.path for both in copies for file in both}
    return removed, kept


def _may_be_removed(file: Candidate, copy: Candidate, consents: Consents, act: Act) -> bool:
    asked = terms_of(file, copy)
    return asked.kind is not Kind.NEAR and asked.lacking(consents, act) is None


def _has_kept(copies: Copies) -> bool:
    """Whether one of the files to be removed must be kept."""
    return any(file.stays for file, _ in copies)


def unparted(removals: Iterable[Removal], whole: Mapping[str, Whole]) -> dict[str, Whole]:
    """The files that are removed with their whole folder, if all their copies are kept."""
    keeps = {removal.file.id.path: removal.keep.id.path for removal in removals}
    parted = {of_whole[1:] for path, of_whole in whole.items() if keeps.get(path) != of_whole.copy}
    return {path: of_whole for path, of_whole in whole.items() if of_whole[1:] not in parted}


def _copies(result: ScanResult, pools: Iterable[Sequence[Candidate]]) -> list[Copies]:
    """For each pair of folders the unchanged files of the first one, each with its copy."""
    files = {file.scanned: file for pool in pools for file in pool if not file.is_changed}
    copies: list[Copies] = [[] for _ in result.folders]
    for each in copies_in(result.folders, result.groups):
        members = result.groups[each.group].members
        file, copy = (files.get(members[at].document.path) for at in (each.file, each.other))
        if file is not None and copy is not None:
            copies[each.pair].append((file, copy))
    return copies
