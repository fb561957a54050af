"""What `clean` would remove of a result, and what else it could: data that the page looks up.

    result, rules  ->  for each member of a group the file it stands against, and on which terms

The functions that make a plan decide here too, but no file is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simdup.clean.candidates import Candidate, candidates
from simdup.clean.decide import Keeping, Removal, Whole
from simdup.clean.plan import Act, Consents, Left
from simdup.clean.planning import decided, why_kept
from simdup.clean.protection import Protection
from simdup.clean.refusals import Refusal, Why
from simdup.clean.rules import Rules, rule_of
from simdup.clean.terms import Terms
from simdup.records import ScanResult


class Offer(NamedTuple):
    """That a member of a group could be removed for another one.

    keep: The place of the kept file in the group.
    terms: If they need nothing and refuse nothing, `clean` removes the file by default.
    why: Why the other file is kept.
    depth: As in `plan.Action`.
    """

    keep: int
    terms: Terms
    why: str
    depth: int = 0


class Suggestion(NamedTuple):
    """What is offered for a result.

    offers: For each member of each group; None if there is no file for which it could be removed.
    removed: The places of groups, and of members in them, that `clean` removes by default.
    files: The files that can be kept, by their absolute paths.
    kept: Why files are protected or can never be touched, by their absolute paths.
    """

    offers: list[list[Offer | None]]
    removed: list[tuple[int, int]]
    files: dict[str, Candidate]
    kept: dict[str, Why]


def suggested(result: ScanResult, rules: Sequence[str] = ()) -> Suggestion:
    """What `clean` would remove with --prefer and these rules, and what else it could."""
    given, left, stays = Rules([*map(rule_of, rules)]), list[Left](), Protection().reason()
    pools = list(candidates(result, given, stays, left, as_scanned=True))
    decisions, whole = decided(result, pools, Consents(), Act.TRASH)
    offers, removed = list[list[Offer | None]](), list[tuple[int, int]]()
    for group, decision in zip(result.groups, decisions, strict=True):
        places = {member.document.path: place for place, member in enumerate(group.members)}
        of_group: list[Offer | None] = [None] * len(places)
        every: list[Keeping | Removal] = [*decision.kept, *decision.removals]
        for each in every:
            of_group[places[each.file.scanned]] = _offer(each, places, given, whole)
        removed += ((len(offers), places[removal.file.scanned]) for removal in decision.removals)
        offers.append(of_group)
    files = {file.id.path: file for pool in pools for file in pool}
    kept = {protected.file.path: protected.why for protected in left}
    kept |= {path: file.stays for path, file in files.items() if file.stays}
    return Suggestion(offers, removed, files, kept)


def _offer(
    each: Removal | Keeping, places: Mapping[str, int], rules: Rules, whole: Mapping[str, Whole]
) -> Offer | None:
    """What is offered for a file; None if there is no other one."""
    if each.keep is None or each.terms is None:
        return None
    path, asked, of_whole = each.file.id.path, each.terms, whole.get(each.file.id.path)
    if isinstance(each, Keeping) and each.why.refusal is Refusal.PARTED:
        asked = asked._replace(needs=(), refusal=Refusal.PARTED)
    depth = of_whole.depth(path) if of_whole else 0
    return Offer(places[each.keep.scanned], asked, why_kept(each, rules), depth)
