"""Turns a plan into questions, and their answers into a plan that a person decided.

A question is about a file and the one that would be kept for it. None is asked about identical
copies: the rules decide about them. This module uses no terminal, and changes nothing but the
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from simdup.clean.plan import Act, Action, FileId, Left, Plan
from simdup.clean.planning import numbered
from simdup.clean.refusals import Refusal, Why
from simdup.records import Kind


class Answer(Enum):
    """What a person says about a file; the value is the letter."""

    KEEP = "k"
    DROP = "d"
    DROP_REST = "d!"
    REVERSE = "r"
    IGNORE = "i"
    SKIP = "s"


_ANSWERED = {Refusal.REVIEWED: Answer.KEEP, Refusal.NO_DUPLICATE: Answer.IGNORE}


# Why a file is kept after an answer; None: nothing was answered.
_WHY = {
    Answer.KEEP: Refusal.REVIEWED,
    Answer.IGNORE: Refusal.NO_DUPLICATE,
    Answer.DROP: Refusal.NOT_COMPARED,
    None: Refusal.NOT_REVIEWED,
}


class Question(NamedTuple):
    """A file, and the one that would be kept for it.

    is_proposed: Whether the rules let the file go.
    copies: How many identical copies of the file go for it, and go with it if it is dropped.
    """

    group: int
    keep: FileId
    file: FileId
    is_proposed: bool
    copies: int = 0


@dataclass(frozen=True, slots=True)
class _Group:
    """The files of a group that are no identical copies of each other, and the answers so far.

    files: First the file that is kept; each of the others may go.
    proposed: The paths of the files that the rules let go.
    copies: Identical copies that go for one of the files.
    fixed: Files that stay whatever the answers are.
    """

    id: int
    files: tuple[FileId, ...]
    proposed: frozenset[str] = frozenset()
    answers: dict[str, Answer] = field(default_factory=dict)
    copies: tuple[Action, ...] = ()
    fixed: tuple[Left, ...] = ()
    is_skipped: bool = False

    @property
    def waiting(self) -> Sequence[FileId]:
        """The files about which nothing was answered."""
        if self.is_skipped:
            return ()
        return [each for each in self.files[1:] if each.path not in self.answers]


class Review:
    """The questions about a plan, in the order of groups, and the answers so far."""

    def __init__(
        self,
        plan: Plan,
        share: Callable[[FileId, FileId], float | None],
        stays: Callable[[str], Refusal | None] = lambda _: None,
        act: Act = Act.TRASH,
    ) -> None:
        """`share` returns how much of a file is in the kept one, None if neither can be read now.

        `stays` says why the file with a path must be kept, None if it need not be. `act` is what
        happens with the files that are removed.
        """
        self._header, self._share, self._stays, self._act = plan.header, share, stays, act
        rows: list[Action | Left] = sorted(
            [*plan.actions, *plan.left], key=lambda each: (each.group, each.line)
        )
        self._groups = [
            _group(number, list(found), stays)
            for number, found in groupby(rows, lambda each: each.group)
        ]
        self._before: list[tuple[int, _Group]] = []

    @property
    def waiting(self) -> int:
        """The number of files about which nothing was answered."""
        return sum(len(each.waiting) for each in self._groups)

    def question(self) -> Question | None:
        """The next question; None if all are answered."""
        for group in self._groups:
            if group.waiting:
                file = group.waiting[0]
                copies = sum(each.keep.path == file.path for each in group.copies)
                is_proposed = file.path in group.proposed
                return Question(group.id, group.files[0], file, is_proposed, copies)
        return None

    def answer(self, answer: Answer) -> str:
        """Take the answer to the next question; return why it is impossible, or "" if it is not."""
        place, group = next((n, each) for n, each in enumerate(self._groups) if each.waiting)
        if answer is Answer.REVERSE and (why := self._stays(group.files[0].path)):
            return f"the kept file cannot be removed: {why.value}"
        self._before.append((place, group))
        self._groups[place] = _answered(group, answer)
        return ""

    def back(self) -> bool:
        """Take the last answer back; False if there is none."""
        if not self._before:
            return False
        place, group = self._before.pop()
        self._groups[place] = group
        return True

    def plan(self) -> Plan:
        """The plan with all answers so far. A file about which nothing was answered is left."""
        actions, left = list[Action](), list[Left]()
        for group in self._groups:
            self._add(group, actions, left)
        return numbered(actions, left, self._header)

    def _add(self, group: _Group, actions: list[Action], left: list[Left]) -> None:
        """Add the actions and left files of a group, all of whose files may be fixed."""
        others = group.files[1:]
        dropped = [file for file in others if group.answers.get(file.path) is Answer.DROP]
        made = [self._action(group.id, group.files[0], file) for file in dropped]
        gone = {each.file.path: each for each in made if each is not None}
        # The file that was kept for a copy may itself go now.
        copies = [replace(gone.get(each.keep.path, each), file=each.file) for each in group.copies]
        going = [*copies, *gone.values()]
        in_actions = {*gone, *(each.keep.path for each in going)}
        actions += going
        for place, file in enumerate(group.files):
            if file.path not in in_actions:
                refusal = _WHY[group.answers.get(file.path)] if place else Refusal.PREFERRED
                left.append(Left(0, group.id, file, Why(refusal)))
        left += group.fixed

    def _action(self, group: int, keep: FileId, file: FileId) -> Action | None:
        """The action on a file; None if it cannot be compared with the kept one.

        A person who was shown both files consents to removing the newest version, and a file with
        other facts.
        """
        made = Action(0, group, keep, self._act, file, None, "reviewed", is_reviewed=True)
        if made.kind is not Kind.NEAR:
            return made
        share = self._share(keep, file)
        return None if share is None else replace(made, contained=share)


def _group(
    number: int, rows: Sequence[Action | Left], stays: Callable[[str], Refusal | None]
) -> _Group:
    """The group in these lines of a plan: files to ask about, their copies, and fixed files."""
    copies, others, asked, fixed = list[Action](), list[Action](), list[Left](), list[Left]()
    preferred = list[FileId]()
    for each in rows:
        if isinstance(each, Action):
            (copies if each.kind is Kind.IDENTICAL_BYTES else others).append(each)
            continue
        refusal = each.why.refusal
        if refusal is Refusal.PREFERRED:
            preferred.append(each.file)
        elif refusal.is_open or refusal in _ANSWERED:
            (fixed if stays(each.file.path) else asked).append(each)
        else:
            fixed.append(each)
    keeps = [*preferred, *(each.keep for each in (*others, *copies))]
    # One that is kept for a copy may go for the first, unless it must stay.
    keeps = [each for place, each in enumerate(keeps) if place == 0 or not stays(each.path)]
    open_: list[Action | Left] = [*others, *asked]
    files = {each.path: each for each in (*keeps, *(each.file for each in open_))}
    answers = {each.file.path: answer for each in open_ if (answer := _answer(each))}
    proposed = frozenset(each.file.path for each in others)
    return _Group(number, tuple(files.values()), proposed, answers, tuple(copies), tuple(fixed))


def _answer(row: Action | Left) -> Answer | None:
    """What a person has already said about the file of a line."""
    if isinstance(row, Action):
        return Answer.DROP if row.is_reviewed else None
    return _ANSWERED.get(row.why.refusal)


def _answered(group: _Group, answer: Answer) -> _Group:
    file = group.waiting[0]
    match answer:
        case Answer.SKIP:
            return replace(group, answers={}, is_skipped=True)
        case Answer.REVERSE:
            others = (each for each in group.files if each is not file)
            return replace(group, files=(file, *others), answers={}, proposed=frozenset())
        case Answer.DROP_REST:
            rest = dict.fromkeys((each.path for each in group.waiting), Answer.DROP)
            return replace(group, answers=group.answers | rest)
        case _:
            return replace(group, answers=group.answers | {file.path: answer})
