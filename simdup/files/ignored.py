"""The user's list of texts that are not duplicates of each other: a file with one entry a line.

An entry has the digests of two texts or more, so it holds when files move or change their
encoding. The names of the files are only for people to read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from simdup.errors import InputError
from simdup.findings.identical import with_sets
from simdup.findings.keeper import keys_of, reason
from simdup.match.tiers import best_score
from simdup.recipe import Recipe
from simdup.records import Group, Kind, ScanResult
from simdup.search.distinct import diameter
from simdup.storage.home import usual_place
from simdup.storage.shown_groups import MOST_TEXTS

_DIGEST = re.compile(r"[0-9a-f]{32}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class IgnoredTexts(NamedTuple):
    """Two texts or more, and where and when the user marked them as not duplicates.

    texts: Their digests, in hexadecimal; all different.
    names: The names that the files with these texts had on that day.
    added: The day, as 2026-11-21.
    """

    texts: tuple[str, ...]
    names: tuple[str, ...]
    added: str

    @property
    def pairs(self) -> list[tuple[bytes, bytes]]:
        """Every two of the digests in bytes, as `Document.text_digest`."""
        return list(combinations(map(bytes.fromhex, self.texts), 2))


def default_place() -> str:
    """The path of this user's list: SIMDUP_IGNORED, or in the system's folder for data.

    Raises NoHomeError.
    """
    return usual_place("data", "ignored.jsonl", "SIMDUP_IGNORED")


def is_place_named() -> bool:
    """Whether the user has named the default place of the list, by SIMDUP_IGNORED."""
    return bool(os.environ.get("SIMDUP_IGNORED"))


def is_no_list(path: str) -> bool:
    """Whether something other than a regular file is at the path: reading it might never end.

    True for an empty path too.
    """
    return not path or (os.path.exists(path) and not os.path.isfile(path))


def lines_in(path: str) -> list[tuple[str, IgnoredTexts]]:
    """Every entry in a file, with its line.

    Raises OSError if the file cannot be read, and InputError for a folder, device or FIFO, and
    for a line without an entry, with its number.
    """
    if is_no_list(path):
        raise InputError(f"{path!r}: not a regular file")
    with open(path, "rb") as file:
        data = file.read()
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                text = line.decode("utf-8").removesuffix("\r")
                found.append((text, _entry(json.loads(text))))
            except (ValueError, RecursionError) as wrong:
                what = str(wrong) if type(wrong) is ValueError else "no JSON"
                raise InputError(
                    f"{path!r}, line {number}: no entry of the list ({what})"
                ) from None
    return found


def entries_in(path: str) -> list[IgnoredTexts]:
    """Every entry in a file, in order. Raises InputError and OSError as `lines_in`."""
    return [entry for _, entry in lines_in(path)]


def line_of(entry: IgnoredTexts) -> str:
    """The line of an entry in the list: JSON."""
    fields = {"texts": entry.texts, "names": entry.names, "added": entry.added}
    return json.dumps(fields, ensure_ascii=False)


def _entry(value: Any) -> IgnoredTexts:  # noqa: ANN401
    """The entry in the JSON of a line. Raises ValueError that says what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004  (a value of the file, not of a caller)
    texts, names = (_texts(value.get(key), key) for key in ("texts", "names"))
    if not all(_DIGEST.fullmatch(text) for text in texts):
        raise ValueError("texts: no digest of 32 hexadecimal digits")
    if len({*texts}) < len(texts):
        raise ValueError("texts: twice the same")
    if len(names) != len(texts):
        raise ValueError("names: not as many as texts")
    added = value.get("added")
    if not isinstance(added, str) or not _DATE.fullmatch(added):
        raise ValueError("added: no date such as 2026-11-21")
    return IgnoredTexts(texts, names, added)


def _texts(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(type(each) is str for each in value):
        raise ValueError(f"{key}: no list of texts")
    if not 2 <= len(value) <= MOST_TEXTS:
        raise ValueError(f"{key}: not 2 to {MOST_TEXTS} texts")
    return tuple(value)


def naming_ignored(
    groups: Iterable[Group], ignored: Iterable[tuple[bytes, bytes]]
) -> Iterator[Group]:
    """Yield the groups, which name the ignored pairs that they have because of other members."""
    pairs = {frozenset(pair) for pair in ignored}
    known = frozenset[bytes]().union(*pairs)
    for group in groups:
        every = ((each.document.path, each.document.text_digest) for each in group.members)
        paths = {digest: path for path, digest in sorted(every, reverse=True)}
        own = sorted(known.intersection(paths), key=paths.__getitem__)
        both = (each for each in combinations(own, 2) if frozenset(each) in pairs)
        found = {(paths[one], paths[other]) for one, other in both}
        yield group._replace(not_duplicates=tuple(sorted({*group.not_duplicates, *found})))


def without_ignored(result: ScanResult, ignored: Iterable[tuple[bytes, bytes]]) -> ScanResult:
    """A result without members that form an ignored pair with their representative.

    For saved results of scans that did not know the pairs; groups are not formed anew.
    """
    ignored = list(ignored)
    pairs = {frozenset(pair) for pair in ignored}
    parted = [_without_pairs(group, pairs, result.settings.recipe) for group in result.groups]
    found = frozenset[frozenset[bytes]]().union(*(used for _, used in parted))
    groups = tuple(group for group, _ in parted if len(group.members) > 1)
    families = (
        _without_pairs(pattern, pairs, result.settings.recipe)[0] for pattern in result.patterns
    )
    patterns = tuple(family for family in families if len(family.members) > 1)
    stats = result.stats._replace(ignored=result.stats.ignored + len(found))
    numbers = {group.id for group in groups}
    folders = tuple(
        pair._replace(groups=tuple(each for each in pair.groups if each in numbers))
        for pair in result.folders
    )
    groups = tuple(naming_ignored(groups, ignored))
    left = replace(result, groups=groups, patterns=patterns, folders=folders, stats=stats)
    groups, patterns = with_sets(tuple(_reasoned(left, result.groups)), patterns)
    return replace(left, groups=groups, patterns=patterns)


def _reasoned(result: ScanResult, before: Iterable[Group]) -> Iterator[Group]:
    """Yield the groups; of one that was larger before, why its first member is kept is new."""
    sizes = {group.id: len(group.members) for group in before}
    for group, (first, *others) in zip(result.groups, keys_of(result), strict=True):
        is_smaller = bool(group.why) and len(group.members) < sizes[group.id]
        best = min(others)
        why = reason(first, best).value if first <= best else ""
        yield group._replace(why=why) if is_smaller else group


def _without_pairs(
    group: Group, pairs: set[frozenset[bytes]], recipe: Recipe
) -> tuple[Group, set[frozenset[bytes]]]:
    """The group without members that form one of the pairs with its first; and these pairs."""
    first, *others = group.members
    own = [frozenset((first.document.text_digest, each.document.text_digest)) for each in others]
    found = pairs.intersection(own)
    if not found:
        return group, found
    kept = (first, *(each for each, pair in zip(others, own, strict=True) if pair not in pairs))
    weakest = max((each.kind for each in kept), key=[*Kind].index)
    rows = np.array([list(each.fingerprint) for each in kept], np.uint8)
    most, is_exact = diameter(rows)
    paths = {each.document.path for each in kept}
    # How much changed between two versions is known for the whole chain only.
    versions = group.versions if all(each.path in paths for each in group.versions) else ()
    smaller = group._replace(
        members=kept,
        kind=weakest,
        diameter=most,
        is_diameter_exact=is_exact,
        versions=versions,
        score=best_score(kept, recipe),
        not_duplicates=tuple(each for each in group.not_duplicates if paths.issuperset(each)),
    )
    return smaller, found
