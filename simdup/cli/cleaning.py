"""The work of `simdup clean` and `simdup undo`, whose options `cli.clean` declares."""

from __future__ import annotations

import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import islice
from shutil import get_terminal_size
from typing import Any

import click

from simdup.clean.apply import apply
from simdup.clean.journal import last_runs
from simdup.clean.plan import Act, Action, Consents, Plan, parsed_plan, plan_lines
from simdup.clean.planning import Wishes, excess, make_plan, narrowed, reason_with
from simdup.clean.protection import Protection
from simdup.clean.rules import Rule, Rules
from simdup.clean.terms import needed
from simdup.clean.undo import remaining, resume, undo
from simdup.cli import options
from simdup.cli.clean import LEAST_FLOOR, WIDER, Clean, Undo
from simdup.cli.command import ORDER, TYPED
from simdup.cli.output import look, progress, refuse, tell, writer
from simdup.errors import InputError
from simdup.files.ignored import without_ignored
from simdup.files.read import digest
from simdup.report import clean as text
from simdup.report.load import load
from simdup.report.wording import as_typed, count, printable

#: A plan of fewer lines is shown whole, however small the terminal.
LEAST_LINES = 10

#: The most runs that `simdup undo` lists.
MOST_RUNS = 5

# The options that consent, by the name of the consent; the last ones say what to do with the files.
_CONSENTS = dict(zip(("text", "formats", "near"), WIDER, strict=True)) | {
    "newest": "--newest-too",
    **{name: f"--{name}" for name in ("to", "link", "reflink", "permanently")},
}


def cleaned(asked: Clean) -> int:
    """Make a plan, or carry one out, and return the exit code."""
    if asked.resume is not None:
        return _resumed(asked.resume, asked)
    source = asked.source or ""
    options.refuse_overwriting(asked.ignored.named())
    if asked.review:
        return _reviewed(source, asked)
    whole = _plan(source, asked)
    if asked.apply and not asked.skip_unconsented:
        _check_consents(whole.actions, asked)
    plan = narrowed(whole, _consents(asked), _protection(asked), is_dry=not asked.apply)
    if asked.target is not None:
        writer(asked.target, as_utf8=True)(plan_lines(plan))
    if asked.script is not None:
        one = ["--yes-many", "1"] if asked.permanently else []
        script = "\n".join((*text.render_script(plan, [*_options(plan, asked), *one]), ""))
        # The name of a folder may be any bytes, and sh has no other way to write them.
        data = script.encode("utf-8", "surrogateescape")
        writer(asked.script, as_utf8=True, mode=0o700)([data])
    if asked.apply:
        return _applied(plan, asked)
    if not asked.quiet:
        end = [*text.closing(plan), *_next_step(asked, plan, whole)]
        writer(None, as_utf8=False)(_shown(plan, asked, len(end)))
        tell(*end)
    return options.FOUND if asked.check and plan.actions else 0


def _shown(plan: Plan, asked: Clean, below: int) -> Iterable[str]:
    """Return the lines of a plan; by kind and folder if they do not fit the screen.

    So many lines stand `below` them.
    """
    shape = look(asked.color, verbose=asked.verbose)
    lines = text.render(plan, shape)
    if shape.columns is None or asked.everything or asked.verbose:
        return lines
    room = max(LEAST_LINES, get_terminal_size().lines - below - 2)
    shown = list(islice(lines, room + 1))
    return shown if len(shown) <= room else text.brief(plan, room)


def _next_step(asked: Clean, plan: Plan, whole: Plan) -> list[str]:
    """Return what to say last: that nothing was changed, and the command that does all of it."""
    if asked.target is not None:
        return _carries_out(plan, asked.target, asked)
    if asked.script is not None and plan.actions:
        return ["nothing was changed; the script does it:", f"  {as_typed(['sh', asked.script])}"]
    return _done_by(whole, _again(_consenting(whole.actions, asked, _consents(asked))), asked)


def _carries_out(plan: Plan, target: str, asked: Clean) -> list[str]:
    """Return the lines that name the command by which all of a plan in a file is done."""
    more = *_options(plan, asked), "--apply"
    return _done_by(plan, as_typed(["simdup", "clean", target, *more]), asked)


def _done_by(plan: Plan, command: str, asked: Clean) -> list[str]:
    """Return that nothing was changed, and the command that acts, or the one that shows all."""
    if too_much := _too_much(plan, asked):
        return ["nothing was changed", f"{too_much}. Look at them first:", f"  {_look_again()}"]
    nothing = "nothing was changed"
    return [f"{nothing}; all of it is done by", f"  {command}"] if plan.actions else [nothing]


def _look_again() -> str:
    """Return the command that was typed, as one that shows every file and changes nothing."""
    left_out = {"--check", "--apply", "--skip-unconsented", "--all"}
    typed = [word for word in click.get_current_context().meta[TYPED] if word not in left_out]
    return as_typed(["simdup", "clean", "--all", *typed])


def _again(more: Iterable[str]) -> str:
    """Return the command that was typed with more options, as one that acts."""
    typed = [each for each in click.get_current_context().meta[TYPED] if each != "--check"]
    end = typed.index("--") if "--" in typed else len(typed)
    act = [] if "--apply" in typed else ["--apply"]
    return as_typed(["simdup", "clean", *typed[:end], *more, *act, *typed[end:]])


def _options(plan: Plan, asked: Clean) -> list[str]:
    """Return the options with which all of a plan is carried out."""
    encoding = [] if asked.encoding is None else ["--encoding", asked.encoding]
    return [*_consenting(plan.actions, asked), *encoding]


def _lacking(actions: Iterable[Action], consents: Consents) -> Counter[str]:
    """Return the names of the consents that actions lack, each with the number of files."""
    return Counter(
        name.value for action in actions for name in needed(action) if consents.lack(name)
    )


def _consenting(
    actions: Sequence[Action], asked: Clean, consents: Consents | None = None
) -> list[str]:
    """Return the options that allow these actions, without those already given."""
    shares = [action.contained for action in actions if action.contained is not None]
    floor = asked.near or max(math.floor(min(shares, default=0) * 1000) / 1000, 0.001)
    values = {"near": f"{floor:g}", "to": os.path.abspath(asked.to) if asked.to else "DIR"}
    lacking = _lacking(actions, consents or Consents())
    names = [name for name in _CONSENTS if name in lacking]
    return [word for each in names for word in filter(None, (_CONSENTS[each], values.get(each)))]


def _too_much(plan: Plan, asked: Clean) -> str:
    """Return why so many files need --yes-many; "" if they do not."""
    return "" if asked.yes_many is not None else excess(plan, asked.most, asked.most_files)


def _located(rule: Rule) -> Rule:
    """Return a rule whose folder is absolute. Raises InputError for one that does not exist."""
    if rule.name != "under":
        return rule
    (folder,) = rule.value
    if not os.path.isdir(folder):
        raise InputError(f"{folder!r}: no such folder to prefer")
    return replace(rule, value=(os.path.realpath(folder),))


def _plan(source: str, asked: Clean) -> Plan:
    """Return a plan made from a result, or the plan in a plan file, whatever consents it wants."""
    data = options.saved(source)
    is_plan = _is_plan(data)
    refuse(_wrong_option(asked, is_plan=is_plan))
    if is_plan:
        plan = parsed_plan(BytesIO(data), source)
        every: dict[str, Any] = dict.fromkeys(_CONSENTS, True) | {"near": 0.0}
        return narrowed(plan, Consents(**every), _protection(asked), _act(asked))
    return _plan_of_result(source, data, asked)


def _wrong_option(asked: Clean, *, is_plan: bool) -> str:
    """Return why an option does not go with a plan, or with a result; "" if all do."""
    if is_plan:
        # Only what was typed counts: a configuration may have rules for results.
        of_results = ("prefer", "prefer_under", *asked.priorities._fields)
        typed = next((options.spelled(name) for name in of_results if options.is_given(name)), "")
        return typed and f"{typed} needs a RESULT, not a PLAN"
    if asked.near is None or asked.near >= LEAST_FLOOR:
        return ""
    floor = f"{LEAST_FLOOR:.0%}"
    return f"--near {100 * asked.near:g}%: files go in bulk from {floor} on, others by --review"


def _plan_of_result(source: str, data: bytes, asked: Clean) -> Plan:
    if data.startswith(b'{"type": "corpus"'):
        raise InputError(f"{source!r}: rows of a corpus; `simdup corpus scan --keep` drops them")
    result = without_ignored(load(data, source), asked.ignored.digests(quiet=asked.quiet))
    keep, let_go = (tuple(map(os.path.abspath, each)) for each in asked.priorities)
    keep, let_go = keep + result.keep_under, let_go + result.let_go_under
    result = replace(result, keep_under=keep, let_go_under=let_go)
    return make_plan(result, _wishes(asked), source, digest(data).hex())


def _is_plan(data: bytes) -> bool:
    """Return whether the content of a file is a plan, by its first line."""
    try:
        header = json.loads(data.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "simdup" in header


def _reviewed(source: str, asked: Clean) -> int:
    """Ask about the files, write the plan, and say how to carry it out."""
    from simdup.cli.review import review

    target = asked.target or (source if source != "-" and _is_plan(options.saved(source)) else None)
    if target is None or source == "-":
        raise click.UsageError("--review reads a file and writes a plan: -o plan.jsonl")
    plan = _plan(source, asked)
    stays = reason_with(_protection(asked), plan.header)
    made = review(plan, target, asked, stays, _act(asked) or Act.TRASH)
    if made is not None:
        tell(*text.closing(made), *_carries_out(made, target, asked))
    return 0


def _applied(plan: Plan, asked: Clean) -> int:
    """Carry out the plan, and return the exit code. Raises UsageError for a plan too large."""
    _check_number(plan, asked)
    bars, journal = progress(quiet=asked.quiet), asked.journal
    outcome = apply(plan, _consents(asked), journal=journal, to=asked.to, progress=bars)
    left = () if asked.quiet else text.left_lines(plan, "not planned")
    tell(*left, *text.in_trash(plan, outcome), *text.outcome_lines(outcome))
    return outcome.code


def _resumed(journal: str, asked: Clean) -> int:
    """Go on with a run that stopped halfway, and return the exit code."""
    going = remaining(journal)
    if not asked.skip_unconsented:
        _check_consents(going, asked)
    if asked.permanently and asked.yes_many != len(going):
        _ask(len(going))
    bars = progress(quiet=asked.quiet)
    outcome = resume(journal, _consents(asked), to=asked.to, progress=bars)
    tell(*text.outcome_lines(outcome))
    return outcome.code


def _check_consents(actions: Sequence[Action], asked: Clean) -> None:
    """Raise UsageError that says which consents are missing, and the command that does all."""
    consents = _consents(asked)
    if not (lacking := _lacking(actions, consents)):
        return
    needed_by = [f"{_CONSENTS[name]} for {count(files, 'file')}" for name, files in lacking.items()]
    refuse(
        f"nothing was done: the plan needs {' and '.join(needed_by)};"
        f" `{_again(_consenting(actions, asked, consents))}` does all of it,"
        " --skip-unconsented only what needs no other option"
    )


def _check_number(plan: Plan, asked: Clean) -> None:
    """Raise UsageError if --yes-many is wrong, or missing but needed.

    To delete for good, the user may type the number at the terminal instead.
    """
    going, yes = len(plan.actions), asked.yes_many
    if yes is not None and yes != going:
        refuse(f"--yes-many {yes}: the plan is about {count(going, 'file')}")
    if yes is None and going:
        too_much = _too_much(plan, asked)
        refuse(too_much and f"nothing was done: {too_much}. Look at them: `{_look_again()}`")
        if asked.permanently:
            _ask(going)


def is_terminal() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(going: int) -> None:
    """Ask at the terminal for the number of files. Raises UsageError for any other answer."""
    if is_terminal():
        tell(f"{count(going, 'file')} will be deleted for good. Type {going} to go on:")
        if sys.stdin.readline().strip() == str(going):
            return
    refuse(f"nothing deleted: --permanently needs --yes-many {going}")


def _act(asked: Clean) -> Act | None:
    """Return what is done with the files; None unless an option says it."""
    return next((act for act in Act if act.option and getattr(asked, act.option)), None)


def _consents(asked: Clean) -> Consents:
    """Return which files may go."""
    kinds = asked.text, asked.formats_too, asked.near, asked.newest_too, asked.encoding
    return Consents(*kinds, bool(asked.to), asked.link, asked.reflink, asked.permanently)


def _protection(asked: Clean) -> Protection:
    """Return which files must stay. Raises InputError for a folder that does not exist."""
    named = asked.protect, asked.only_under, asked.protect_name
    return Protection(*named, work_trees_too=asked.work_trees_too)


def _rules(asked: Clean) -> list[Rule]:
    """Return the rules in the order in which they were typed, then those of a configuration.

    Raises InputError for a folder that does not exist.
    """
    under = [Rule("under", (folder,)) for folder in asked.prefer_under]
    waiting = {"prefer": [*asked.prefer], "prefer_under": under}
    order: list[str] = click.get_current_context().meta[ORDER]
    ordered = [waiting[name].pop(0) for name in order if waiting.get(name)]
    return list(map(_located, [*ordered, *waiting["prefer_under"], *waiting["prefer"]]))


def _wishes(asked: Clean) -> Wishes:
    """Return what a plan is made for. Raises InputError for a folder that does not exist."""
    rules, typed = _rules(asked), list[str]()
    for rule in rules:
        typed += ["--prefer-under" if rule.name == "under" else "--prefer", rule.typed]
    named = {name: getattr(asked, name) for name in ("protect", "only_under", "protect_name")}
    for name, values in (asked.priorities._asdict() | named).items():
        typed += [word for each in values for word in (options.spelled(name), each)]
    act, shown = _act(asked) or Act.TRASH, tuple(map(printable, typed))
    return Wishes(Rules(rules), _protection(asked), _consents(asked), act, shown)


def undone(asked: Undo) -> int:
    """Put files back, the ones of the last run first, and return the exit code."""
    if not asked.journals:
        return _offered(asked)
    if asked.journal is not None and len(asked.journals) > 1:
        refuse("--journal needs one JOURNAL")
    codes = [0]
    for each in reversed(asked.journals):
        bars = progress(quiet=asked.quiet)
        outcome = undo(each, apply=asked.apply, journal=asked.journal, progress=bars)
        tell(*text.undo_lines(outcome, is_applied=asked.apply))
        codes.append(outcome.code)
        if outcome.is_interrupted or outcome.trouble is not None:
            break
    return max(codes)


def _offered(asked: Undo) -> int:
    """List the last runs; at a terminal, undo the last one if the user says yes."""
    runs = last_runs(MOST_RUNS)
    tell(*text.run_lines(runs))
    last = next((run.path for run, left in runs if left), None)
    if last is None:
        tell("nothing to undo")
        return 0
    if not is_terminal():
        command = as_typed(["simdup", "undo", last, "--apply"])
        tell(f"the last one is undone by\n  {command}")
        return 0
    tell("Undo the last one? Type yes:")
    is_wanted = sys.stdin.readline().strip().lower() in {"y", "yes"}
    return undone(asked._replace(journals=(last,), apply=True)) if is_wanted else 0
