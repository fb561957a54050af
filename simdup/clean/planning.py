"""A result and the user's rules in, a plan out; files are looked at and read, and none is changed.

    groups -> files as they are now -> which file goes for which -> actions, and files left

A file is compared with the one that is kept for it, which need not be the representative of their
group.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from simdup.clean.candidates import Candidate, candidates, check_result, roots_of
from simdup.clean.decide import copies_of, decide_group, near_refusal
from simdup.clean.folders import whole_folders
from simdup.clean.narrow import reason_with
from simdup.clean.protection import Protection
from simdup.clean.records import Act, Action, Consents, Header, Left, Plan
from simdup.clean.rules import Rules
from simdup.clean.similarity import similarities
from simdup.errors import InputError
from simdup.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simdup.clean.decide import Gone
    from simdup.records import ScanResult


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for."""

    rules: Rules = field(default_factory=Rules)
    protection: Protection = field(default_factory=Protection)
    consents: Consents = field(default_factory=Consents)
    act: Act = Act.TRASH
    typed: tuple[str, ...] = ()
    """The rules as they were typed, for the header of the plan."""


def make_plan(result: ScanResult, wishes: Wishes, of: str, of_digest: str) -> Plan:
    """The plan for a result. Raises InputError if it does not say which files it saw.

    `of` and `of_digest` name the result. Copies and similar files that the user did not
    allow are in `Plan.left`. Files that changed since the scan are among those that go, if they
    would have gone: `narrowed` leaves them in a dry run, and `apply` refuses them.
    """
    check_result(result, of)
    if wishes.consents.near is not None and not result.settings.verified:
        raise InputError(f"{of!r}: was made with -k or --no-verify: only copies may go, not --near")
    header, left, actions = _header(result, wishes, of, of_digest), list[Left](), list[Action]()
    stays = reason_with(wishes.protection, header)
    pools = list(candidates(result, wishes.rules, stays, left))
    consents, act = wishes.consents, wishes.act
    whole = whole_folders(result.folders, pools, consents, act, wishes.rules.given)
    pools, alike = _compared(pools, consents, act)
    for group, pool, near in zip(result.groups, pools, alike, strict=True):
        decided = decide_group(pool, whole.copy_of, near, consents, act)
        actions += (_action(each, group.id, wishes) for each in decided.gone)
        left += (Left(0, group.id, file.id, why) for file, why in decided.left)
    return numbered(whole.explained(actions), left, header)


def _header(result: ScanResult, wishes: Wishes, of: str, of_digest: str) -> Header:
    return Header(
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        of,
        of_digest,
        wishes.typed,
        roots_of(result),
        result.stats.found,
        _protected(result, wishes.protection),
        tuple(map(os.path.realpath, wishes.protection.only_under)),
        wishes.protection.names,
    )


def _protected(result: ScanResult, protection: Protection) -> tuple[str, ...]:
    """The absolute paths that are protected by an option or as references of the scan."""
    references = (os.path.join(result.base or os.curdir, each) for each in result.references)
    return tuple(dict.fromkeys(map(os.path.realpath, (*protection.protected, *references))))


def numbered(actions: Iterable[Action], left: Iterable[Left], header: Header) -> Plan:
    """A plan whose lines are in the order of groups, each with its number in a plan file."""
    both: list[Action | Left] = [*actions, *left]
    lines = [
        replace(each, line=line)
        for line, each in enumerate(sorted(both, key=lambda each: each.group), 2)
    ]
    return Plan(
        tuple(each for each in lines if isinstance(each, Action)),
        tuple(each for each in lines if isinstance(each, Left)),
        header,
    )


def _compared(
    pools: Sequence[Sequence[Candidate]], consents: Consents, act: Act
) -> tuple[list[list[Candidate]], list[dict[object, float]]]:
    """For each group its files, and the similarities of its texts to its first file.

    Only files are compared for which it may matter; these have the documents that they are now.
    """
    asked = list[tuple[int, Candidate, Candidate]]()
    for place, pool in enumerate(pools):
        texts, tops = set[object](), copies_of(pool[0].id, pool) if pool else []
        for file in pool:
            is_copy = file.id.kind_with(pool[0].id) is not Kind.NEAR
            if is_copy or file.id.content.words in texts or file.is_changed:
                continue
            if any(not near_refusal(file.document, t.document, consents, act) for t in tops):
                texts.add(file.id.content.words)
                asked.append((place, pool[0], file))
    pairs = [(one.document, two.document) for _, one, two in asked]
    values, now = similarities(pairs, consents.encoding)
    found: list[dict[object, float]] = [{} for _ in pools]
    for (place, _, file), value in zip(asked, values, strict=True):
        found[place][file.id.content.words] = value
    read = [
        [replace(each, document=now.get(each.document.path, each.document)) for each in pool]
        for pool in pools
    ]
    return read, found


def _action(gone: Gone, group: int, wishes: Wishes) -> Action:
    file, keep = gone.file, gone.keep
    why = wishes.rules.deciding(keep.key, file.key)
    if keep.stays and file.key < keep.key:
        why = f"the kept file is {keep.stays}"
    about = gone.kind, gone.similarity, why
    return Action(0, group, keep.id, wishes.act, file.id, *about)
