"""Finds the files of a result's groups as they are now: which may be kept, and which may go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from simdup.clean.plan import FileId, Left
from simdup.clean.protection import as_it_is, changed_since, is_noise
from simdup.clean.refusals import Refusal, Why
from simdup.clean.rules import Placed, RuleKey, Rules
from simdup.clean.terms import Sort, sort_of
from simdup.errors import InputError
from simdup.findings.keeper import is_under, keys_of, newest_of
from simdup.match.tiers import RELATED
from simdup.records import Document, Group, ScanResult


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A file of a group. It may be kept, and it may be removed unless it `stays`.

    One that changed since the scan is kept only if all others of its group changed too. A plan may
    remove it, so that whoever acts refuses it by name.

    document: With an absolute path.
    key: The file with the smallest key is kept.
    stays: Why it must be kept; None if it may be removed.
    scanned: The path in the result.
    is_newest: Whether it has the newest version of a chain.
    is_related: Whether the scan found it only related to the first of its group.
    different: The digests of texts that the user called different from its own.
    """

    document: Document
    id: FileId
    key: RuleKey
    stays: Why | None
    scanned: str
    is_changed: bool = False
    is_newest: bool = False
    is_related: bool = False
    different: frozenset[bytes] = frozenset()

    @property
    def sort(self) -> Sort:
        """What terms ask of the file."""
        about = {"is_newest": self.is_newest, "is_related": self.is_related}
        return sort_of(self.document, **about)


def check_result(result: ScanResult, name: str) -> None:
    """Raise InputError for a result that does not say exactly which files it saw."""
    if not result.complete:
        raise InputError(f"{name!r}: this scan was interrupted; scan again")
    documents = list(_grouped(result))
    paths = (each.path for each in documents)
    named = (result.base or "", *(result.roots or ()), *result.references, *paths)
    if bad := next((path for path in named if "\0" in path), None):
        raise InputError(f"{name!r}: {bad!r} is no possible name of a file")
    if result.base is None or not all(map(_is_told_exactly, documents)):
        raise InputError(
            f"{name!r}: does not say exactly which files it saw: it was made with --index or by"
            " an earlier simdup; make it with `simdup scan PATH --format json`"
        )


def _grouped(result: ScanResult) -> Iterator[Document]:
    return (member.document for group in result.groups for member in group.members)


def _is_told_exactly(document: Document) -> bool:
    """Whether the result says exactly which file it is, or nobody may touch the file anyway."""
    source = document.source
    digests = document.bytes_digest, document.text_digest
    return document.untouchable is not None or all((source.links, source.ctime_ns, *digests))


def roots_of(result: ScanResult) -> tuple[str, ...]:
    """The files and folders that were searched: absolute, with no symbolic link.

    If files were named one by one, the folders that they are in.
    """
    base = result.base or os.curdir
    if result.roots is not None:
        named = (*result.roots, *result.references)
        return tuple(dict.fromkeys(_real(os.path.join(base, each)) for each in named))
    paths = (os.path.join(base, each.path) for each in _grouped(result))
    folders = dict.fromkeys(map(os.path.dirname, paths))
    return tuple(dict.fromkeys(map(os.path.realpath, folders)))


def _real(path: str) -> str:
    """The path without links among its folders; a last part that links to a file is kept."""
    if os.path.isdir(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def placed(result: ScanResult, roots: Sequence[str]) -> Iterator[list[Placed]]:
    """Yield the files of each group where they really are; `roots` are the roots of the result."""
    base, real = result.base or os.curdir, cache(os.path.realpath)
    is_noisy = cache(lambda folder: is_noise(os.path.join(folder, "")))
    for group, keys in zip(result.groups, keys_of(result), strict=True):
        found = list[Placed]()
        for member, reasons in zip(group.members, keys, strict=True):
            scanned = member.document.path
            folder, name = os.path.split(os.path.join(base, scanned))
            path = os.path.normpath(os.path.join(real(folder), name))
            inside = (place for place, root in enumerate(roots) if is_under(path, root))
            root = next(inside, len(roots))
            source = member.document.source._replace(path=path)
            document = member.document._replace(source=source)
            unfit = _unfit(document)
            if unfit is None and is_noisy(real(folder)):
                unfit = Why(Refusal.NOISE)
            elif unfit is None and root == len(roots):
                unfit = Why(Refusal.OUTSIDE)
            found.append(Placed(scanned, document, not found, reasons, root, unfit))
        yield found


def _unfit(document: Document) -> Why | None:
    """Why no command may remove, move or replace a file; None if one may."""
    if document.is_member:
        return Why(Refusal.MEMBER)
    return Why(Refusal.DOUBTFUL, document.doubt) if document.doubt else None


def _different(group: Group) -> Mapping[bytes, frozenset[bytes]]:
    """For each text of a group the texts that the user called different from it, by digests."""
    digests = {each.document.path: each.document.text_digest for each in group.members}
    found = {digest: set[bytes]() for digest in digests.values()}
    for one, other in group.not_duplicates:
        found[digests[one]].add(digests[other])
        found[digests[other]].add(digests[one])
    return {digest: frozenset(others) for digest, others in found.items()}


def candidates(
    result: ScanResult,
    rules: Rules,
    stays: Callable[[str], Refusal | None],
    left: list[Left],
    *,
    as_scanned: bool = False,
) -> Iterator[list[Candidate]]:
    """Yield the files of each group, the one that the rules prefer first, changed ones last.

    `stays` says why the file at a path must be kept, None if it need not be. Files that must never
    be cleaned are put into `left` instead. `as_scanned` takes all files to be as the scan saw them,
    without a look at them.
    """
    for group, files in zip(result.groups, placed(result, roots_of(result)), strict=True):
        found, different = [], _different(group)
        newest = newest_of(group, [file.reasons for file in files])
        for each, member, is_newest in zip(files, group.members, newest, strict=True):
            document, file = each.document, _id(each.document)
            if each.unfit:
                left.append(Left(0, group.id, file, each.unfit))
                continue
            is_changed = not as_scanned and changed_since(file) is not None
            file = file if is_changed or as_scanned else as_it_is(file)
            is_reference = document.source.is_reference
            stay = Refusal.AGAINST if is_reference else stays(document.path)
            how = is_changed, is_newest, member.tier == RELATED
            others, why = different[document.text_digest], Why(stay) if stay else None
            found.append(
                Candidate(document, file, rules.key(each), why, each.scanned, *how, others)
            )
        yield sorted(found, key=lambda each: (each.is_changed, each.key))


def _id(document: Document) -> FileId:
    source = document.source
    times = source.mtime_ns, source.ctime_ns
    digests = document.bytes_digest, document.text_digest
    where = source.path, source.device, source.inode, source.size
    content = document.words_digest, document.is_whole_text
    is_packed = document.packing is not None
    return FileId(*where, *times, *digests, source.links, *content, is_packed=is_packed)
