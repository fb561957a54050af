"""Decides which files of a group go, for which other file each goes, and which folders go whole.

Copies are decided first: a file goes for one with the same bytes or, with consent, the same text
or the same words.
Files that must stay are kept first, since they stay anyway. Then a file that is merely similar
goes, with consent, for the one file that the rules prefer to all others of its group: never for
a file that only happens to be protected.

If all files of a folder have their copy in another one, then either all of them go or none does,
even where the rules prefer some files of the one folder and some of the other. Of two folders with
the same files the one stays that the rules prefer more often.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

from simdup.clean.candidates import Candidate
from simdup.clean.plan import Act, Action, Consents, FileId
from simdup.fields import in_kept, printable
from simdup.findings.keeper import copies_in
from simdup.records import DIFFERENCES, Document, Kind, ScanResult

#: Why the file that the rules prefer to all others of its group stays, if none goes for it.
PREFERRED = "it is the one to keep"
NEAR_ASKS = "near: needs --near FLOOR such as 0.95, or --review"
LAYOUT_ASKS = "same words, another layout: needs --near FLOOR such as 0.95, or --review"
TEXT_ASKS = "identical text, other bytes: needs --text"
FORMATS_ASKS = "identical text, packed: needs --formats-too"
WORDS_ASKS = "same words, another layout or format: needs --formats-too"
OTHER_CONTENT = "same words; other "
BYTES_ONLY = "not identical in bytes"
UNCERTAIN = "its text is damaged, doubtful or came from --convert"
NEAR_OTHER_CONTENT = "similar; other "
# Of what texts with the same words differ in, this may change what they say.
_OF_MEANING = DIFFERENCES[0], DIFFERENCES[3]
NEAR_FORMATS_ASKS = "near, a document or packed: needs --formats-too"
NEAR_AND_FORMATS_ASK = "near, a document or packed: needs --near FLOOR and --formats-too"
PART = "a part: the kept text is more than twice as long; needs --review"
NEWEST_ASKS = "the newest version: needs --newest-too"
SAME_FILE = "another name of the kept file: frees nothing"
SHORT = "near, and too short to tell"
DIFFERENT = "you called the two different: see `simdup ignore list`"
PARTED = "its folder is removed whole or not at all, and has a file that is kept"
RELATED = "only related: perhaps two texts of one series, and not versions of one text"


@dataclass(frozen=True, slots=True, eq=False)
class Gone:
    """A file that goes, the one that is kept for it, and how much of it is in that one if known."""

    file: Candidate
    keep: Candidate
    contained: float | None = None


class Likeness(NamedTuple):
    """How much of a text is in the kept one, and the facts that keep it all the same."""

    contained: float | None
    facts: str = ""


# Why a near file is left, by whether --near and --formats-too are missing.
_NEAR_ASKS = {
    (True, False): NEAR_ASKS,
    (False, True): NEAR_FORMATS_ASKS,
    (True, True): NEAR_AND_FORMATS_ASK,
}

# Why a file stays for lack of --formats-too, by how it is the same as the kept file.
_OF_FORMATS = {
    Kind.IDENTICAL_TEXT: FORMATS_ASKS,
    Kind.SAME_WORDS: WORDS_ASKS,
    Kind.NEAR: NEAR_FORMATS_ASKS,
}


def needed(action: Action) -> dict[str, str]:
    """The names of the consents that an action needs, each with why the file stays without it.

    The act and the digests of the plan tell; the texts decide when the file goes.
    """
    act, kind = action.act, action.kind
    found = {act.option: f"{act.value}: needs --{act.option}"} if act.option else {}
    if kind is Kind.IDENTICAL_BYTES or act.is_of_bytes:
        return found
    if kind is Kind.NEAR:
        found["near"] = NEAR_ASKS
        if action.is_newest:
            found["newest"] = NEWEST_ASKS
    if not (action.file.is_plain and action.keep.is_plain):
        found["formats"] = _OF_FORMATS[kind]
    elif kind is Kind.IDENTICAL_TEXT:
        found["text"] = TEXT_ASKS
    return found


def consent_refusal(action: Action, consents: Consents) -> str:
    """Why the user did not allow an action, by its act and its digests; "" if it may be allowed.

    The texts decide the rest: see `text_refusal` and `near_refusal`.
    """
    if whys := [why for name, why in needed(action).items() if consents.lack(name)]:
        return whys[0]
    is_same = action.kind is Kind.IDENTICAL_BYTES
    return BYTES_ONLY if action.act.is_of_bytes and not is_same else ""


def text_refusal(one: Document, other: Document, consents: Consents, act: Act) -> str:
    """Why a file does not go for another one with the same text or words; "" if it does."""
    if act.is_of_bytes:
        return BYTES_ONLY
    if not (one.is_certain and other.is_certain):
        return UNCERTAIN
    kind = one.kind_with(other)
    if kind is not Kind.IDENTICAL_TEXT and (others := one.other_unread(other)):
        return OTHER_CONTENT + ", ".join(others)
    asks, is_allowed = FORMATS_ASKS, consents.formats
    if kind is Kind.SAME_WORDS and one.format == other.format == "text":
        asks, is_allowed = NEAR_ASKS, False  # the layout of code has a meaning
    elif kind is not Kind.IDENTICAL_TEXT:
        asks = WORDS_ASKS
    elif one.is_plain and other.is_plain:
        asks, is_allowed = TEXT_ASKS, consents.text
    return "" if is_allowed else asks


def near_refusal(one: Document, other: Document, consents: Consents, act: Act) -> str:
    """Why a file may not go for another one, however much of it is there; "" if it may.

    What no consent changes comes first, so that none is named in vain.
    """
    if act.is_of_bytes:
        return BYTES_ONLY
    if not (one.is_certain and other.is_certain):
        return UNCERTAIN
    signs = filter(_OF_MEANING.__contains__, one.other_signs(other))
    if others := [*signs, *one.other_unread(other)]:
        return NEAR_OTHER_CONTENT + ", ".join(others)
    is_short = one.is_short or other.is_short
    if is_short or one.is_part_of(other):
        return SHORT if is_short else PART
    lacks = consents.near is None, not ((one.is_plain and other.is_plain) or consents.formats)
    if lacks == (True, False) and one.kind_with(other) is Kind.SAME_WORDS:
        return LAYOUT_ASKS
    return _NEAR_ASKS.get(lacks, "")


def too_little(contained: float) -> str:
    """Why a near file is left of which less is in the kept one than --near asks for."""
    return f"near: only {in_kept(contained)}"


def copies_of(known: FileId, files: Iterable[Candidate]) -> list[Candidate]:
    """The first copy of a known file, or that file, of each sort that refusals tell apart."""
    found: dict[object, Candidate] = {}
    for each in files:
        if each.id.kind_with(known) is not Kind.NEAR:
            found.setdefault(_sort(each), each)
    return list(found.values())


def _sort(file: Candidate) -> object:
    """Equal for files with the same words that the refusals above do not tell apart."""
    document = file.document
    return document.is_certain, document.is_plain, document.identity.text, document.unread


def decide_group(
    pool: Sequence[Candidate],
    alike: Mapping[object, Likeness],
    copy_of: Mapping[str, str],
    consents: Consents,
    act: Act = Act.TRASH,
) -> tuple[list[Gone], list[tuple[Candidate, str]]]:
    """Return the files of a group that go, and the files that are left, each with why it stays.

    The first file of `pool` is the one that the rules prefer: files that go for it come first, and
    it comes first if it is left. Files for which others go are in neither list.

    `copy_of` has the files whose whole folder goes, each with its copy in the folder that stays.
    `alike` has, for the words of all files that are no copies of the first one and that no
    `near_refusal` rules out, how much of it is there, unless one of them changed: then the file is
    to go, and will be refused by name.
    """
    if len(pool) < 2:
        return [], []
    first, group = pool[0], _Group(consents, act)
    for file in sorted(
        pool, key=lambda each: (each.is_changed, not each.stays, each.id.path in copy_of)
    ):
        group.decide_copy(file, copy_of.get(file.id.path, ""))
    group.decide_near(first, alike)
    gone, left = group.gone, group.left
    if first.id.path not in gone:
        left = {first.id.path: (first, PREFERRED), **left}
    keeps = {each.keep.id.path for each in gone.values()}
    place = {each.id.path: place for place, each in enumerate(pool)}
    in_order = sorted(gone.values(), key=lambda each: place[each.keep.id.path])
    return in_order, [each for path, each in left.items() if path not in keeps]


class _Group:
    """The decisions so far about the files of a group, by their paths."""

    def __init__(self, consents: Consents, act: Act) -> None:
        self.consents, self.act = consents, act
        self.gone: dict[str, Gone] = {}
        self.left: dict[str, tuple[Candidate, str]] = {}
        """Files that stay although there is another one for which they could go, and why."""
        self.kept: dict[str, Candidate] = {}
        """All files that stay so far, with or without such a reason."""
        self.different = defaultdict[str, frozenset[bytes]](frozenset)
        """For files that stay so far, the texts that what goes for them is different from."""
        self._by_bytes: dict[bytes, Candidate] = {}
        # With the same words, the first file of each sort.
        self._by_words: dict[object, dict[object, Candidate]] = {}

    def decide_copy(self, file: Candidate, preferred: str) -> None:
        """Let a file go for one that is kept and has the same bytes, text or words, or keep it.

        It goes for the kept file at the path `preferred` rather than for another one.
        """
        other, refusal = self._copy_of(file, preferred)
        if other is not None and file.id.identity == other.id.identity:
            refusal = SAME_FILE
        why = file.stays or refusal
        if other is not None and not why:
            self.gone[file.id.path] = Gone(file, other)
            self.different[other.id.path] |= file.different
            return
        if other is not None:
            self.left[file.id.path] = file, why
        self.kept[file.id.path] = file
        self._by_bytes.setdefault(file.id.byte_digest, file)
        self._by_words.setdefault(file.id.content.words, {}).setdefault(_sort(file), file)

    def _copy_of(self, file: Candidate, preferred: str) -> tuple[Candidate | None, str]:
        """The kept file with the same bytes or else words, and why a file does not go for it."""
        digest = file.id.byte_digest
        found = self._by_words.get(file.id.content.words, {}).values()
        refusal, other = "", None
        for each in (self.kept.get(preferred), self._by_bytes.get(digest), *found):
            if each is None or each.id.kind_with(file.id) is Kind.NEAR:
                continue
            if each.id.byte_digest == digest:
                return each, ""
            why = text_refusal(file.document, each.document, self.consents, self.act)
            if each.document.text_digest in file.different:
                why = DIFFERENT
            if not why:
                return each, ""
            if other is None or why == TEXT_ASKS:
                other, refusal = each, why
        return other, refusal

    def decide_near(self, first: Candidate, alike: Mapping[object, Likeness]) -> None:
        """Let the kept files go that are similar enough to the one that the rules prefer."""
        # All copies of the preferred file that stay; that one itself may go for one of them.
        by_rules = sorted(self.kept.values(), key=lambda each: (each.is_changed, each.key))
        tops = copies_of(first.id, by_rules)
        texts = {each.document.text_digest for each in (first, *tops)}
        for file in list(self.kept.values()):
            if file.id.kind_with(first.id) is not Kind.NEAR:
                continue
            refusals = [
                near_refusal(file.document, each.document, self.consents, self.act) for each in tops
            ]
            if first.is_related or file.is_related:
                refusals = [RELATED]
            if texts & (file.different | self.different[file.id.path]):
                refusals = [DIFFERENT]
            why = file.stays or NEWEST_ASKS * (file.is_newest and not self.consents.newest)
            why = why or ("" if "" in refusals else refusals[0])
            unknown = Likeness(None if file.is_changed else 0.0)
            contained, facts = alike.get(file.id.content.words, unknown)
            if not why and contained is not None and contained < (self.consents.near or 0):
                why = too_little(contained)
            why = why or (facts and f"near: {facts}")
            if why:
                self.left.setdefault(file.id.path, (file, why))
                continue
            top = tops[refusals.index("")]
            self.left.pop(file.id.path, None)
            going = file, *(each.file for each in self.gone.values() if each.keep is file)
            self.gone |= {each.id.path: Gone(each, top, contained) for each in going}


Copies = list[tuple[Candidate, Candidate]]


def _why(going: str, staying: str) -> str:
    return f"all of {printable(going)} is in {printable(staying)} too"


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
) -> tuple[dict[str, tuple[str, str]], set[str]]:
    """Return which files are removed with their whole folder, and which are kept for its sake.

    The first have their copy in the folder that is kept, and the reason. The folder that the rules
    prefer less often is removed, or the other one if that has a file that is protected or changed.
    If both have one, all their files are kept.
    """
    found, kept = dict[str, tuple[str, str]](), set[str]()
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
        for files, removed, other in free[:1]:
            if all(_may_go(file, copy, consents, act) for file, copy in files):
                why = _why(real(removed), real(other))
                found |= {file.id.path: (copy.id.path, why) for file, copy in files}
        if ways and not free:
            kept |= {each.id.path for both in copies for each in both}
    return found, kept


def _has_kept(copies: Copies) -> bool:
    """Whether one of the files to be removed must be kept."""
    return any(file.stays for file, _ in copies)


def explained(actions: Sequence[Action], whole: Mapping[str, tuple[str, str]]) -> Iterable[Action]:
    """Yield the actions; if all copies of a whole folder stay, those on its files say so."""
    keeps = {each.file.path: each.keep.path for each in actions}
    parted = {why for path, (copy, why) in whole.items() if keeps.get(path) != copy}
    for each in actions:
        _, why = whole.get(each.file.path, ("", each.why))
        yield each if why in parted else replace(each, why=why)


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
    if kind is Kind.NEAR:
        return False
    is_same = kind is Kind.IDENTICAL_BYTES
    return is_same or not text_refusal(file.document, copy.document, consents, act)
