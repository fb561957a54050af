"""A plan in, the plan that the command line allows out.

A plan file is not trusted. It may have been made with other options, written by hand or by
somebody else, so nothing in it counts as consent, and nothing that is protected now is acted on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simdup.clean.decide import BYTES_ONLY, NEAR_ASKS
from simdup.clean.protection import NOISE, OUTSIDE, is_noise
from simdup.clean.records import Act, Action, Left, Plan
from simdup.clean.rules import is_under
from simdup.records import Kind

if TYPE_CHECKING:
    from simdup.clean.protection import Protection
    from simdup.clean.records import Consents

TEXT_ASKS = "identical text: wants --text, or --formats-too for a document"
FOR_GOOD_ASKS = "for good: wants --permanently"


def narrowed(plan: Plan, consents: Consents, protection: Protection, act: Act | None) -> Plan:
    """The plan without actions that the user does not allow: these are left, each with its reason.

    `act` replaces what the plan does with files, unless it is None. The numbers of lines stay
    those of the plan file. Raises InputError for a protected folder that does not exist.
    """
    stays, actions, left = protection.reason(), list[Action](), list(plan.left)
    for each in plan.actions:
        action = each if act is None else replace(each, act=act)
        reason = _consent(action, consents) or _place(action, plan) or stays(action.file.path)
        if reason:
            left.append(Left(each.line, each.group, each.file, reason))
        else:
            actions.append(action)
    return replace(
        plan, actions=tuple(actions), left=tuple(sorted(left, key=lambda each: each.line))
    )


def _consent(action: Action, consents: Consents) -> str:
    """Why the kind or the act of an action is not allowed; "" if it is."""
    if action.act is Act.DELETE and not consents.permanently:
        return FOR_GOOD_ASKS
    if action.kind is Kind.IDENTICAL_BYTES:
        return ""
    if action.act.is_of_bytes:
        return BYTES_ONLY
    if action.kind is Kind.IDENTICAL_TEXT:
        return "" if consents.text or consents.formats else TEXT_ASKS
    if consents.near is None:
        return NEAR_ASKS
    alike = action.similarity or 0.0
    return f"near: only {alike:.3f} alike" if alike < consents.near else ""


def _place(action: Action, plan: Plan) -> str:
    """Why the file or the one that is kept is where nothing is done; "" if neither is."""
    for file in (action.file, action.keep):
        if is_noise(file.path):
            return NOISE
        if not any(is_under(file.path, root) for root in plan.header.roots):
            return OUTSIDE
    return ""
