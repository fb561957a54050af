"""Plans as text for people: which files stay, which go and why, and which are left alone.

A plan may also be a shell script that people can read and shorten; each command runs every check.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from simdup.clean.journal import History
from simdup.clean.outcome import Outcome
from simdup.clean.plan import Act, Action, FileId, Left, Plan, action_line, plan_lines
from simdup.clean.refusals import Refusal
from simdup.records import Kind
from simdup.report.terminal import ASIDE, HEADING, KINDS, PLAIN, REMOVED, TerminalStyle
from simdup.report.wording import as_typed, count, date, in_kept, printable, size

# What files would do by each act, and what was done with them.
_WORDS = {
    Act.TRASH: ("be moved to the trash", "to the trash"),
    Act.MOVE: ("be moved", "moved"),
    Act.LINK: ("become hard links", "made hard links"),
    Act.REFLINK: ("share the blocks of their copies", "made to share blocks"),
    Act.DELETE: ("be deleted for good", "deleted for good"),
}

# What files are called by how they match the kept files, as in the summary of a scan.
_KINDS = {
    Kind.IDENTICAL_BYTES: ("exact copy", ""),
    Kind.IDENTICAL_TEXT: ("file", " with the same text in other bytes"),
    Kind.SAME_WORDS: ("file", " with the same words"),
    Kind.NEAR: ("near file", ""),
}

AnyLine = TypeVar("AnyLine", Action, Left)
Key = TypeVar("Key")

_WIDEST_ACT = max(len(each.value) for each in Act)


def render(plan: Plan, look: TerminalStyle = PLAIN) -> Iterator[str]:
    """The plan as text: each group with the file that stays, the files that go, and why.

    Groups in which nothing goes are only shown if `look` is verbose. A folder that goes whole is
    one line.
    """
    top = common_folder(plan.header.roots)
    neither = "", ""
    whole = _grouped(plan.actions, lambda action: action.folders or neither)
    actions_of = _grouped(whole.pop(neither, []), lambda each: each.group)
    left_of = _grouped(plan.left, lambda each: each.group)
    shown = sorted({*actions_of, *(left_of if look.is_verbose else ())})
    if whole or shown:
        yield f"below {printable(top)}:"
        yield ""
    for pair, actions in whole.items():
        files = f"{count(len(actions), 'file')}, {size(sum(a.file.size for a in actions))}"
        going, staying = ("." if each == top else _name(each, top) for each in pair)
        yield f"{look.painted('Folder', HEADING)}: all of {going} is in {staying} too"
        yield f"  {_act(actions[0].act, look)}  {files}"
        yield ""
    for group in shown:
        yield look.painted(f"Group {group}", HEADING)
        yield from _group(actions_of[group], left_of[group], top, look)
        yield ""


def brief(plan: Plan, lines: int) -> Iterator[str]:
    """The plan by kind and folder on so many lines: how many files, and an example of each."""
    top = common_folder(plan.header.roots)
    of_kinds = _grouped(plan.actions, kind_of)
    room = max(1, (lines - 3) // max(1, len(of_kinds)) - 2)
    yield f"below {printable(top)}:"
    yield ""
    for kind, words in _KINDS.items():
        places = _grouped(of_kinds.get(kind, ()), lambda action: os.path.dirname(action.file.path))
        if places:
            yield f"{_files(of_kinds[kind], words)}:"
        ordered = sorted(places.values(), key=len, reverse=True)
        yield from (_example(actions, top) for actions in ordered[:room])
        if more := ordered[room:]:
            files = sum(map(len, more))
            yield f"  and {count(files, 'file')} in {count(len(more), 'more folder')}"
    yield ""


def _example(actions: Sequence[Action], top: str) -> str:
    """A line on the files of a folder: how many there are, and the first one with the kept one."""
    file, keep = actions[0].file.path, actions[0].keep.path
    folder, name = os.path.split(_name(file, top))
    return f"{len(actions):>7,} in {folder or os.curdir}, such as {name}; kept: {_name(keep, top)}"


def render_script(plan: Plan, options: Sequence[str]) -> Iterator[str]:
    """The lines of a POSIX script with a command for each action of a plan.

    Each command gives one action to `simdup clean - --apply`, with these options of the command
    line. The script has no other command that changes anything.
    """
    header = next(plan_lines(plan))
    given = shlex.join(["clean", "-", "--apply", "--quiet", *options])
    yield from (
        "#!/bin/sh",
        f"# {count(len(plan.actions), 'file')} of a plan of {printable(plan.header.of)}.",
        "# Any command below may be deleted. simdup checks each file again before it acts.",
        f"header={shlex.quote(header)}",
        "status=0",
        "act() {",
        '  printf \'%s\\n%s\\n\' "$header" "$1" |',
        f'    "${{SIMDUP:-simdup}}" {given} || status=$?',
        "}",
    )
    for each in plan.actions:
        alike = each.kind.value
        yield ""
        yield f"# group {each.group}, keeps {printable(each.keep.path)}"
        yield f"# {each.act.value} {printable(each.file.path)} ({alike}, {size(each.file.size)})"
        yield f"act {shlex.quote(action_line(each))}"
    yield ""
    yield 'exit "$status"'


def _grouped(
    lines: Iterable[AnyLine], key: Callable[[AnyLine], Key]
) -> defaultdict[Key, list[AnyLine]]:
    """The lines of a plan by a key, such as their group, in the order of the plan file."""
    found = defaultdict[Key, list[AnyLine]](list)
    for each in lines:
        found[key(each)].append(each)
    return found


def _group(
    actions: Sequence[Action], left: Sequence[Left], top: str, look: TerminalStyle
) -> Iterator[str]:
    for keep, going in _grouped(actions, lambda each: each.keep.path).items():
        yield f"  {'keep':{_WIDEST_ACT}}  {_name(keep, top)}"
        for each in going:
            about = f"{look.painted(alike(each), KINDS[each.kind])}; kept: {printable(each.why)}"
            yield f"  {_act(each.act, look)}  {_name(each.file.path, top)}"
            yield f"  {'':{_WIDEST_ACT}}    {_size(each.file)}, {about}"
    for one in left:
        yield f"  {'leave':{_WIDEST_ACT}}  {_name(one.file.path, top)}"
        yield f"  {'':{_WIDEST_ACT}}    {look.painted(printable(str(one.why)), ASIDE)}"


def alike(action: Action) -> str:
    """Words for how a file matches the file that is kept for it."""
    if action.kind is Kind.NEAR and action.contained is not None:
        return in_kept(action.contained)
    return action.kind.value


def kind_of(action: Action) -> Kind:
    """How a file is the same as the kept one, as a scan counts it: layout is no other words."""
    return action.file.content.kind_with(action.keep.content)


def _files(actions: Sequence[Action], words: tuple[str, str]) -> str:
    """The number of files of a kind, and their bytes."""
    noun, rest = words
    return f"{count(len(actions), noun)}{rest}, {size(sum(action.file.size for action in actions))}"


def closing(plan: Plan) -> list[str]:
    """How many files go and how many bytes that frees, and how many are left for which reason."""
    of_acts = _grouped(plan.actions, lambda each: each.act)
    lines = [_summary(act, of_acts[act]) for act in Act if act in of_acts]
    lines = lines or ["no file would be removed"]
    several = [each for each in plan.actions if each.file.links > 1]
    if several:
        frees = f"{count(len(several), 'file')} of {size(sum(a.file.size for a in several))}"
        lines.append(f"frees nothing: {frees} with other names (hard links) that are kept")
    return [*lines, *left_lines(plan)]


def left_lines(plan: Plan, words: str = "left") -> list[str]:
    """How many files of a plan are left as they are, for each reason; `words` say so."""
    reasons = Counter(left.why.refusal for left in plan.left)
    del reasons[Refusal.PREFERRED]
    return [
        f"{words}: {count(number, 'file')}: {refusal.value}"
        for refusal, number in reasons.most_common()
    ]


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """Lines on the outcome of a plan: each refused file and why, the notes, and the balance.

    The balance is `n planned = a done + b refused + c left`. If there is a journal and something
    can be taken back, the last line says how.
    """
    yield from _troubles(outcome)
    if outcome.frees_nothing:
        frees = count(outcome.frees_nothing, "file")
        yield f"frees nothing: {frees} with other names (hard links) that are kept"
    yield (
        f"{outcome.planned:,} planned = {outcome.done:,} done + {len(outcome.refused):,} refused"
        f" + {outcome.left:,} left"
    )
    if outcome.journal is not None and outcome.undoable:
        yield f"undo with: {as_typed(['simdup', 'undo', outcome.journal])}"


def in_trash(plan: Plan, outcome: Outcome) -> list[str]:
    """A line that says what emptying the trash does, if all files of a plan went there."""
    if not outcome.done or any(action.act is not Act.TRASH for action in plan.actions):
        return []
    files = f"{count(outcome.done, 'file')} {'is' if outcome.done == 1 else 'are'} in the trash"
    return [f"{files}: emptying it frees their space, and then undo cannot put them back"]


def run_lines(runs: Iterable[tuple[History, Sequence[Action]]]) -> Iterator[str]:
    """A line for each run: when it ended, what it did with how many files, and in which folder.

    With each run comes what can still be undone of it.
    """
    for run, left in runs:
        acted, where = run.acted, printable(common_folder(run.header.roots))
        acts = ", ".join(sorted({_WORDS[each.action.act][1] for each in acted}))
        could = sum(each.action.act.can_come_back for each in acted)
        end = " (undone)" if could else " (cannot be undone)"
        if left:
            end = f" ({could - len(left):,} undone)" * (len(left) < could)
        ended = date(os.stat(run.path).st_mtime_ns)
        yield f"{ended}  {count(len(acted), 'file')} {acts}, in {where}{end}"


def undo_lines(outcome: Outcome, *, is_applied: bool) -> Iterator[str]:
    """Lines on an undo, done or only tried: each file not put back and why, and the balance."""
    yield from _troubles(outcome)
    if is_applied and outcome.done == outcome.planned > 0:
        yield f"{count(outcome.planned, 'file')} put back: all of them"
        return
    done = "put back" if is_applied else "can be put back"
    left = "left" if outcome.is_interrupted else "at their places already"
    yield (
        f"{count(outcome.planned, 'file')} = {outcome.done:,} {done} +"
        f" {len(outcome.refused):,} refused + {outcome.left:,} {left}"
    )
    if not is_applied and outcome.done:
        yield "nothing was changed; --apply puts them back"


def _troubles(outcome: Outcome) -> Iterator[str]:
    for action, why in outcome.refused:
        yield f"refused: {printable(action.file.path)}: {printable(why)}"
    if outcome.damaged:
        lines = ", ".join(map(str, outcome.damaged[:10]))
        yield f"note: a damaged line of the journal: {lines}"
    if outcome.trouble is not None:
        yield f"stopped: the journal cannot be written: {printable(outcome.trouble)}"


def _summary(act: Act, actions: Sequence[Action]) -> str:
    kinds, kept = Counter(map(kind_of, actions)), len({action.keep.path for action in actions})
    said = ", ".join(
        count(kinds[kind], noun) + rest for kind, (noun, rest) in _KINDS.items() if kinds[kind]
    )
    files = f"{count(len(actions), 'file')} of {size(sum(each.file.size for each in actions))}"
    kept_files = f"{count(kept, 'file')} {'is' if kept == 1 else 'are'} kept for them"
    return f"{files} would {_WORDS[act][0]} ({said}); {kept_files}"


def common_folder(roots: Sequence[str]) -> str:
    """The deepest folder that holds all files and folders that were searched."""
    try:
        common = os.path.commonpath(roots)
    except ValueError:  # no root, or drives of Windows
        return os.sep
    return common if len(roots) > 1 or os.path.isdir(common) else os.path.dirname(common)


def _name(path: str, top: str) -> str:
    return printable(path.removeprefix(os.path.join(top, "")))


def _act(act: Act, look: TerminalStyle) -> str:
    return look.painted(f"{act.value:{_WIDEST_ACT}}", REMOVED)


def _size(file: FileId) -> str:
    names = f", {file.links} names" if file.links > 1 else ""
    return size(file.size) + names
