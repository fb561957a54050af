"""A plan in, the plan that the command line allows out.

A plan file is not trusted. It may have been made with other options, written by hand or by
somebody else, so nothing in it counts as consent, and nothing that is protected now is acted on.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from simdup.clean.decide import consent_refusal
from simdup.clean.protection import NOISE, OUTSIDE, Protection, changed_since, is_noise
from simdup.clean.records import Action, Left, Plan
from simdup.clean.rules import is_under

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.clean.records import Act, Consents, FileId, Header

LINKED = "reached through a symbolic link"


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
    for each in plan.actions:
        action = each if act is None else replace(each, act=act)
        reason = _consent(action, consents) or _place(action, plan) or stays(action.file.path)
        if reason or (is_dry and (reason := _changed(action))):
            left.append(Left(each.line, each.group, each.file, reason))
        else:
            actions.append(action)
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
        return f"{going:,} files would go, more than --most-files {most_files:,}"
    if going > most and 2 * going > plan.header.found > 0:
        return f"{going:,} of the {plan.header.found:,} files of the scan would go"
    groups = Counter(each.group for each in plan.actions).most_common(1)
    group, files = groups[0] if groups else (0, 0)
    if files > most:
        return f"{files:,} files of group {group} would go, more than --most {most:,}"
    return ""


def reason_with(protection: Protection, header: Header) -> Callable[[str], str]:
    """Like `Protection.reason`, for what is protected now or was when the plan was made.

    Paths that were protected then and no longer exist are left out.
    """
    existing = tuple(path for path in header.protected if os.path.exists(path))
    now = protection.reason()
    before = Protection(existing, header.only_under, header.protected_names).reason()
    return lambda path: now(path) or before(path)


def _consent(action: Action, consents: Consents) -> str:
    """Why an action is not allowed; "" if it is, or if `apply` has to compute that."""
    if why := consent_refusal(action, consents):
        return why
    alike = action.similarity
    is_less = alike is not None and consents.near is not None and alike < consents.near
    return f"near: only {alike:.3f} alike" if is_less else ""


def _changed(action: Action) -> str:
    """Why a file or the one that is kept is not as it was seen; "" if both are."""
    if why := _changed_or_linked(action.file):
        return why
    why = _changed_or_linked(action.keep)
    return f"the kept file: {why}" if why else ""


def _changed_or_linked(file: FileId) -> str:
    folder = os.path.dirname(file.path)
    return LINKED if os.path.realpath(folder) != folder else changed_since(file)


def _place(action: Action, plan: Plan) -> str:
    """Why the place of the file or of the kept one rules the action out; "" if neither does."""
    for file in (action.file, action.keep):
        if is_noise(file.path):
            return NOISE
        if not any(is_under(file.path, root) for root in plan.header.roots):
            return OUTSIDE
    return ""
