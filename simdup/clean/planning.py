"""A result and the user's rules in, a plan out; files are looked at and read, and none is changed.

    groups -> files as they are now -> which file goes for which -> actions, and files left

A file is compared with the one that is kept for it, which need not be the representative of their
group. A plan file is narrowed to what the command line allows: it may have been made with other
options, written by hand or by somebody else, so nothing in it counts as consent, and nothing that
is protected now is acted on.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from simdup.clean import decide
from simdup.clean.candidates import Candidate, candidates, check_result, roots_of
from simdup.clean.checks import Reading, check_paths, contained, facts_refusal
from simdup.clean.outcome import RefusedError
from simdup.clean.plan import Act, Action, Consents, Header, Left, Plan, whole_words
from simdup.clean.protection import Protection, changed_since
from simdup.clean.refusals import Refusal, Why
from simdup.clean.rules import Rules
from simdup.clean.terms import consent_refusal
from simdup.errors import InputError
from simdup.fields import in_kept, printable
from simdup.records import Kind, ScanResult


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for.

    typed: The rules as they were typed, for the header of the plan.
    """

    rules: Rules = field(default_factory=Rules)
    protection: Protection = field(default_factory=Protection)
    consents: Consents = field(default_factory=Consents)
    act: Act = Act.TRASH
    typed: tuple[str, ...] = ()


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
    decisions, whole = decided(result, pools, wishes.consents, wishes.act)
    for group, decision in zip(result.groups, decisions, strict=True):
        actions += (_action(removal, group.id, wishes, whole) for removal in decision.removals)
        left += (Left(0, group.id, kept.file.id, kept.why) for kept in decision.left)
    return numbered(actions, left, header)


def decided(
    result: ScanResult, pools: Iterable[Sequence[Candidate]], consents: Consents, act: Act
) -> tuple[list[decide.Decision], dict[str, decide.Whole]]:
    """What is decided about each group, and which files are removed with their whole folder.

    Files are read only if near ones may be removed.
    """
    pools = list(pools)
    whole, parted = decide.whole_folders(result, pools, consents, act)
    copy_of, decisions = (
        {path: of_whole.copy for path, of_whole in whole.items()},
        list[decide.Decision](),
    )
    with closing(Reading(consents.encoding)) as reading:
        for group, pool in zip(result.groups, pools, strict=True):
            files = [_kept_if(file, file.id.path in parted) for file in pool]
            asked = _asked(files, consents, act)
            files, alike = _compared(files, asked, reading, is_chain=bool(group.versions))
            decisions.append(decide.decide_group(files, alike, copy_of, consents, act))
    removals = (removal for decision in decisions for removal in decision.removals)
    return decisions, decide.unparted(removals, whole)


def _kept_if(file: Candidate, is_parted: bool) -> Candidate:  # noqa: FBT001
    """The file, which is kept if its folder cannot be removed whole."""
    is_free = is_parted and not file.stays
    return replace(file, stays=Why(Refusal.PARTED)) if is_free else file


def _header(result: ScanResult, wishes: Wishes, of: str, of_digest: str) -> Header:
    references = (os.path.join(result.base or os.curdir, each) for each in result.references)
    protected = (*wishes.protection.protected, *references)
    return Header(
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        of,
        of_digest,
        wishes.typed,
        roots_of(result),
        result.stats.found,
        tuple(dict.fromkeys(map(os.path.realpath, protected))),
        tuple(map(os.path.realpath, wishes.protection.only_under)),
        wishes.protection.names,
    )


def numbered(actions: Iterable[Action], left: Iterable[Left], header: Header) -> Plan:
    """A plan whose lines are in the order of groups, each with its number in a plan file."""
    both: list[Action | Left] = sorted([*actions, *left], key=lambda each: each.group)
    lines = [replace(each, line=line) for line, each in enumerate(both, 2)]
    return Plan(
        tuple(each for each in lines if isinstance(each, Action)),
        tuple(each for each in lines if isinstance(each, Left)),
        header,
    )


def _compared(
    pool: Sequence[Candidate], asked: Iterable[Candidate], reading: Reading, *, is_chain: bool
) -> tuple[list[Candidate], dict[object, decide.Likeness]]:
    """The files of a group, and the likeness of its texts that are asked about to its first file.

    The compared files have the documents that they are now. One that changed or cannot be read is
    similar to none. `is_chain` says that the scan found versions of one document.
    """
    alike = dict[object, decide.Likeness]()
    first = reading.again(pool[0].document) if asked else None
    now = {pool[0].id.path: first.document} if first else {}
    for file in asked:
        words, other = file.id.content.words, reading.again(file.document)
        alike[words] = decide.Likeness(0.0)
        if first and other:
            value = contained(other, first)
            facts = facts_refusal(other, first, is_chain=is_chain)
            alike[words] = decide.Likeness(value, facts)
        if other:
            now[file.id.path] = other.document
    return [replace(each, document=now.get(each.id.path, each.document)) for each in pool], alike


def _asked(pool: Sequence[Candidate], consents: Consents, act: Act) -> Iterable[Candidate]:
    """A file of each text that may go for being similar to the first file of its group."""
    found, tops = dict[object, Candidate](), decide.copies_of(pool[0].id, pool) if pool else []
    for file in pool:
        is_copy = file.id.kind_with(pool[0].id) is not Kind.NEAR
        if is_copy or file.is_related or pool[0].is_related or file.is_changed:
            continue
        if any(decide.terms_of(file, top).lacking(consents, act) is None for top in tops):
            found.setdefault(file.id.content.words, file)
    return found.values()


def _action(
    removal: decide.Removal, group: int, wishes: Wishes, whole: Mapping[str, decide.Whole]
) -> Action:
    file, keep = removal.file, removal.keep
    of_whole = whole.get(file.id.path)
    why = whole_words(*of_whole[1:]) if of_whole else why_kept(removal, wishes.rules)
    depth = of_whole.depth(file.id.path) if of_whole else 0
    made = Action(0, group, keep.id, wishes.act, file.id, removal.contained, why, depth=depth)
    is_version = file.is_newest and not keep.is_newest
    is_copy = made.kind in {Kind.IDENTICAL_BYTES, Kind.IDENTICAL_TEXT}
    return replace(made, is_newest=is_version and not is_copy)


def why_kept(removal: decide.Removal | decide.Keeping, rules: Rules) -> str:
    """Why the one file is kept for which the other one is or could be removed."""
    file, keep = removal.file, removal.keep
    if keep is None:
        return ""
    if keep.stays and file.key < keep.key:
        return f"the kept file is {keep.stays}"
    return rules.deciding(keep.key, file.key)


def narrowed(
    plan: Plan,
    consents: Consents,
    protection: Protection,
    act: Act | None = None,
    *,
    is_dry: bool = False,
) -> Plan:
    """The plan without actions that the user does not allow: these are left, each with its reason.

    In a dry run files that are not as they were seen are left too; otherwise `apply` refuses them.
    `act` replaces what the plan does with files, unless it is None. The numbers of lines stay
    as in the plan file. Raises InputError for a protected folder that does not exist.
    """
    actions, left = list[Action](), list(plan.left)
    stays = reason_with(protection, plan.header)
    acts = [each if act is None else replace(each, act=act) for each in plan.actions]
    reasons = [_consent(a, consents) or _place(a, plan) or _kept(a, stays) for a in acts]
    changed = [_changed(action) if is_dry or action.folders else None for action in acts]
    both = list(zip(acts, reasons, changed, strict=True))
    parted = {each.folders for each, reason, change in both if reason or change} - {None}
    for each, reason, change in both:
        is_parted = each.folders in parted and change is None
        why = reason or (change if is_dry else None)
        if why := why or (Why(Refusal.PARTED) if is_parted else None):
            left.append(Left(each.line, each.group, each.file, why))
        else:
            actions.append(each)
    return replace(
        plan, actions=tuple(actions), left=tuple(sorted(left, key=lambda each: each.line))
    )


def excess(plan: Plan, most: int = 20, most_files: int = 1000) -> str:
    """Why a plan is so large that the user may not have meant it; "" if it is not.

    `most` files may go from one group, and `most_files` in all. Also, no more than half of all
    files that the scan found may go, unless they are no more than `most`.
    """
    going = len(plan.actions)
    if going > most_files:
        return f"{going:,} files would be removed, more than --most-files {most_files:,}"
    groups = Counter(each.group for each in plan.actions).most_common(1)
    group, files = groups[0] if groups else (0, 0)
    if files > most:
        kept = next(action.keep.path for action in plan.actions if action.group == group)
        return (
            f"{files:,} files of group {group} would be removed, more than --most {most:,};"
            f" kept: {printable(kept)}"
        )
    if going > most and 2 * going > plan.header.found > 0:
        return f"{going:,} of the {plan.header.found:,} files of the scan would be removed"
    return ""


def reason_with(protection: Protection, header: Header) -> Callable[[str], Refusal | None]:
    """Like `Protection.reason`, for what is protected now or was when the plan was made.

    Paths that were protected then and no longer exist are left out.
    """
    existing = tuple(path for path in header.protected if os.path.exists(path))
    now = protection.reason()
    names = header.only_under, header.protected_names
    before = Protection(existing, *names, work_trees_too=True).reason()
    return lambda path: now(path) or before(path)


def _consent(action: Action, consents: Consents) -> Why | None:
    """Why an action is not allowed; None if it is, or if `apply` has to compute that."""
    if why := consent_refusal(action, consents):
        return why
    share = action.contained
    is_less = share is not None and consents.near is not None and share < consents.near
    return Why(Refusal.BELOW, in_kept(share)) if share is not None and is_less else None


def _changed(action: Action) -> Why | None:
    """Why a file or the one that is kept is not as it was seen; None if both are."""
    for file in (action.file, action.keep):
        folder = os.path.dirname(file.path)
        is_linked = os.path.realpath(folder) != folder
        if refusal := Refusal.LINK_IN_PATH if is_linked else changed_since(file):
            return Why(refusal if file is action.file else refusal.of_kept)
    return None


def _kept(action: Action, stays: Callable[[str], Refusal | None]) -> Why | None:
    """Why the file of an action is protected; None if it is not."""
    refusal = stays(action.file.path)
    return Why(refusal) if refusal else None


def _place(action: Action, plan: Plan) -> Why | None:
    """Why the place of the file or of the kept one rules the action out; None if neither does."""
    try:
        check_paths(action, plan.header.roots)
    except RefusedError as refused:
        return Why(refused.refusal)
    return None
