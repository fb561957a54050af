"""`simdup clean`: makes a plan from a result, and carries out a plan."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.ignore import ignored_digests, ignored_file, ignored_options, remember
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import look, progress, tell
from simdup.errors import InputError
from simdup.report.wording import count, printable

if TYPE_CHECKING:
    from simdup.clean.planning import Wishes
    from simdup.clean.records import Act, Consents, FileId, Plan
    from simdup.clean.rules import Rule

#: The exit code of --check if there is something to do.
FOUND = 1

# The least similarity from which files may go in bulk, whatever the user asks for.
LEAST_FLOOR = 0.8

# Options that say what to do with the files; only one can be given.
_ACTS = {"to": "move", "link": "link", "reflink": "reflink", "permanently": "delete"}

# Options that say which files a plan is about.
_PLANNING = "prefer", "prefer_under", "protect", "only_under", "protect_name"

# Where `CleanCommand` keeps the names of the two options for rules, in the order typed.
_ORDER = "simdup.clean.rules"


class CleanCommand(Command):
    """A command that remembers the order of two options that make one list of rules."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and note the order of --prefer and --prefer-under."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
            names = [each.name for each in order if each.name in {"prefer", "prefer_under"}]
            ctx.meta[_ORDER] = names
        return super().parse_args(ctx, args)


def _rule(text: str) -> Rule:
    from simdup.clean.rules import rule_of

    return rule_of(text)


_rules = options.together(
    options.option(
        "--prefer",
        "Keep the file that comes first by this rule: newest, oldest, longest, largest,"
        " shortest-path, shallowest, deepest, first, representative, original-name, format,"
        " format=docx,..., encoding=utf-8,..., name=GLOB or under=DIR. Several rules are asked"
        " in the order given; the first difference decides.",
        type=options.ParsedValue("rule", _rule),
        multiple=True,
    ),
    options.file(
        "--prefer-under", "Rather keep files under this folder.", metavar="DIR", multiple=True
    ),
    options.file("--protect", "Act on nothing under this path.", metavar="PATH", multiple=True),
    options.file(
        "--only-under", "Act on nothing outside this folder.", metavar="DIR", multiple=True
    ),
    options.option(
        "--protect-name", "Act on no file whose name matches.", metavar="GLOB", multiple=True
    ),
)

_consents = options.together(
    options.flag(
        "--text", "Also act on plain text with the same text as the kept file, but other bytes."
    ),
    options.flag("--formats-too", "Also act on documents with the same text as the kept file."),
    options.option(
        "--near",
        "Also act on files that are at least this similar to the kept file: 0.95, 95 or 95%; from"
        f" a result at least {LEAST_FLOOR}.",
        type=options.SHARE,
        metavar="FLOOR",
    ),
    options.encoding,
)

_acts = options.together(
    options.file(
        "--to", "Move the files into this folder, instead of to the trash.", metavar="DIR"
    ),
    options.flag("--link", "Replace them by hard links to the kept file."),
    options.flag("--reflink", "Let them share the blocks of the kept file."),
    options.flag("--permanently", "Delete them for good; only with identical bytes."),
)

_limits = options.together(
    options.number("--most", "Ask for --yes-many if more files of one group would go.", default=20),
    options.number("--most-files", "Ask for --yes-many if more files would go.", default=1000),
    options.number("--yes-many", "This very number of files shall go, however many that is."),
)


@click.command("clean", cls=CleanCommand, work="simdup.clean.planning")
@click.argument("source", required=False, type=options.PATH, metavar="RESULT|PLAN")
@_rules
@_consents
@_acts
@_limits
@options.file("-o", "--output", "target", "Write the plan to this file.")
@options.file("--script", "Write a shell script that carries out the plan, one file a command.")
@options.flag("--apply", "Act. Without this nothing is changed.")
@options.file("--journal", "Where --apply writes what it does.  [default: in your data folder]")
@options.flag(
    "--review",
    "Ask at the terminal about each file that is no identical copy, and write a plan; with"
    " --output, or with a PLAN into that one.",
)
@options.file("--resume", "Go on with the run that wrote this journal.", metavar="JOURNAL")
@options.flag("--check", "Exit with 1 if there is anything to do.")
@options.flag("-v", "--verbose", "Also show groups of which nothing goes, and why.")
@options.color
@ignored_options
@options.quiet
def clean_command(source: str | None, **given: Any) -> int:
    """Plan which duplicates go, and with --apply let them go: to the trash, unless told otherwise.

    RESULT is what `simdup scan --format json` wrote, PLAN what --output wrote; - is stdin.
    Without --apply this only shows what would happen. `simdup undo` takes back what was done.

    Exits with 0 when all is done, 1 with --check if there is something to do, 2 if it cannot
    start, 3 if some files were refused, 4 if the journal could not be written any more.

    \b
    Examples:
      simdup clean found.json --prefer newest -o plan.jsonl
      simdup clean plan.jsonl --apply
    """
    from simdup.report import clean as text

    if given["resume"] is not None:
        return _resumed(source, given)
    if source is None:
        raise click.UsageError("Missing argument 'RESULT|PLAN'.")
    _check_options(source, given)
    if given["review"]:
        return _reviewed(source, given)
    plan = _plan(source, given)
    if given["target"] is not None:
        from simdup.clean.plan import plan_lines

        writer(given["target"], as_utf8=True)(plan_lines(plan))
    if given["script"] is not None:
        one = ["--yes-many", "1"] if given["permanently"] else []
        lines = text.render_script(plan, [*_options_of_plan(given), *one])
        writer(given["script"], as_utf8=True, mode=0o700)(lines)
    if given["apply"]:
        return _applied(plan, given)
    if not given["quiet"]:
        writer(None, as_utf8=False)(
            text.render(plan, look(given["color"], verbose=given["verbose"]))
        )
        for line in (*text.closing(plan), _next_step(given, plan)):
            tell(line)
    return FOUND if given["check"] and plan.actions else 0


def _next_step(given: dict[str, Any], plan: Plan) -> str:
    """Return what to say last: that nothing was changed, and how to go on."""
    if not plan.actions:
        return "nothing was changed"
    if given["target"] is None:
        return "nothing was changed; --apply acts, -o plan.jsonl writes a plan"
    words = shlex.join(map(printable, [given["target"], *_options_of_plan(given)]))
    return f"nothing was changed; `simdup clean {words} --apply` acts"


def _check_options(source: str, given: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go together, and for outputs that are inputs."""
    if unnamed := next((each for each in ("to", "journal") if given[each] == ""), None):
        raise click.UsageError(f"{options.spelled(unnamed)} '': names nothing")
    _check_acts(given)
    if given["apply"] and given["check"]:
        raise click.UsageError("--check looks and --apply acts; give one")
    idle = [name for name in ("apply", "check", "script", *_ACTS) if given[name] and name != "to"]
    if given["review"] and idle:
        raise click.UsageError(f"--review writes a plan; leave out {options.spelled(idle[0])}")
    if given["journal"] is not None and not given["apply"]:
        raise click.UsageError("--journal goes with --apply")
    inputs = [("RESULT", source), ("the list of ignored pairs", ignored_file(given))]
    outputs = [("--output", given["target"]), ("--script", given["script"])]
    refuse_same_files([*outputs, ("--journal", given["journal"])], inputs)


def _check_acts(given: dict[str, Any]) -> None:
    """Raise UsageError for two acts, and for an act beside a consent that does not fit it."""
    acts = [options.spelled(name) for name in _ACTS if given[name]]
    if len(acts) > 1:
        raise click.UsageError(f"give either {acts[0]} or {acts[1]}")
    wider = [options.spelled(name) for name in ("text", "formats_too", "near") if given[name]]
    if acts and not given["to"] and wider:
        raise click.UsageError(f"{acts[0]} takes identical bytes only; leave out {wider[0]}")


def _act(given: dict[str, Any]) -> Act | None:
    """Return what is done with the files; None unless an option says it."""
    from simdup.clean.records import Act

    return next((Act(act) for name, act in _ACTS.items() if given[name]), None)


def _consents_of(given: dict[str, Any]) -> Consents:
    from simdup.clean.records import Consents

    return Consents(
        text=given["text"],
        formats=given["formats_too"],
        near=given["near"],
        encoding=given["encoding"],
        **{name: bool(given[name]) for name in _ACTS},
    )


def _wishes(given: dict[str, Any]) -> Wishes:
    """Return what the options ask for. Raises InputError for a folder that does not exist."""
    from simdup.clean.planning import Wishes
    from simdup.clean.protection import Protection
    from simdup.clean.records import Act
    from simdup.clean.rules import Rules

    given_rules, typed = _ordered_rules(given), list[str]()
    for rule in given_rules:
        typed += ["--prefer-under" if rule.name == "under" else "--prefer", rule.typed]
    for name in ("protect", "only_under", "protect_name"):
        typed += [word for each in given[name] for word in (options.spelled(name), each)]
    protection = Protection(given["protect"], given["only_under"], given["protect_name"])
    act = _act(given) or Act.TRASH
    shown = tuple(printable(each) for each in typed)
    return Wishes(Rules(given_rules), protection, _consents_of(given), act, shown)


def _ordered_rules(given: dict[str, Any]) -> list[Rule]:
    """Return the rules in the order in which they were typed, then the rules of a configuration."""
    from simdup.clean.rules import Rule

    under = [Rule("under", (folder,)) for folder in given["prefer_under"]]
    waiting = {"prefer": list(given["prefer"]), "prefer_under": under}
    order: list[str] = click.get_current_context().meta.get(_ORDER, [])
    ordered = [waiting[name].pop(0) for name in order if waiting[name]]
    return list(map(_located, [*ordered, *waiting["prefer_under"], *waiting["prefer"]]))


def _located(rule: Rule) -> Rule:
    """Return a rule whose folder is absolute. Raises InputError for one that does not exist."""
    if rule.name != "under":
        return rule
    (folder,) = rule.value
    if not os.path.isdir(folder):
        raise InputError(f"{folder!r}: no such folder to prefer")
    return replace(rule, value=(os.path.realpath(folder),))


def _plan(source: str, given: dict[str, Any]) -> Plan:
    """Return a plan made from a result, or the plan in a plan file as far as it is allowed."""
    from simdup.clean.narrow import narrowed
    from simdup.clean.plan import parsed_plan, read_plan
    from simdup.clean.records import Consents

    data = options.stdin_for("-").read() if source == "-" else None
    if _is_plan(source, data):
        rules = "prefer", "prefer_under"  # a configuration may have them for results
        if idle := next(filter(options.is_given, rules), None):
            raise click.UsageError(f"{options.spelled(idle)} goes with a result, not with a plan")
        plan = read_plan(source) if data is None else parsed_plan(data.splitlines(True), source)
        wishes = _wishes(given)
        if given["review"]:  # asks about everything, and carries nothing out
            acts: dict[str, Any] = dict.fromkeys(_ACTS, True)
            consents = Consents(text=True, formats=True, near=0.0, **acts)
            return narrowed(plan, consents, wishes.protection, _act(given))
        act, is_dry = _act(given), not given["apply"]
        return narrowed(plan, wishes.consents, wishes.protection, act, is_dry=is_dry)
    near = given["near"]
    if near is not None and near < LEAST_FLOOR:
        raise click.UsageError(
            f"--near {near:g}: files go in bulk only from {LEAST_FLOOR:g} on; --review decides"
            " about less similar ones"
        )
    return _plan_of_result(source, data, given)


def _plan_of_result(source: str, data: bytes | None, given: dict[str, Any]) -> Plan:
    from simdup.clean.narrow import narrowed
    from simdup.clean.planning import make_plan
    from simdup.files.ignored import without_ignored
    from simdup.files.read import digest
    from simdup.report.load import load

    if data is None:
        with open(source, "rb") as file:
            data = file.read()
    if data.startswith(b'{"type": "corpus"'):
        raise InputError(f"{source!r}: rows of a corpus; `simdup corpus scan --keep` drops them")
    result = without_ignored(load(data, source), ignored_digests(given))
    wishes = _wishes(given)
    plan = make_plan(result, wishes, source, digest(data).hex())
    return narrowed(plan, wishes.consents, wishes.protection, is_dry=not given["apply"])


def _is_plan(source: str, data: bytes | None) -> bool:
    """Return whether a file is a plan, by its first line. Raises InputError for a device."""
    if data is None:
        options.check_saved(source)
        with open(source, "rb") as file:
            first = file.readline()
    else:
        first = data.partition(b"\n")[0]
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "simdup" in header


def _options_of_plan(given: dict[str, Any]) -> list[str]:
    """Return the options that carry out a whole plan that was made with the given options."""
    flags = "text", "formats_too", "link", "reflink", "permanently"
    words = [options.spelled(name) for name in flags if given[name]]
    if given["near"] is not None:
        words += ["--near", f"{given['near']:g}"]
    if given["encoding"] is not None:
        words += ["--encoding", given["encoding"]]
    if given["to"] is not None:
        words += ["--to", os.path.abspath(given["to"])]
    return words


def _reviewed(source: str, given: dict[str, Any]) -> int:
    """Ask about the files, write the plan, and say how to carry it out."""
    from simdup.clean.narrow import reason_with
    from simdup.clean.records import Act
    from simdup.cli.review import review
    from simdup.report.clean import closing

    target = given["target"] or (source if source != "-" and _is_plan(source, None) else None)
    if target is None or source == "-":
        raise click.UsageError("--review reads a file and writes a plan: -o plan.jsonl")
    plan = _plan(source, given)

    def ignore(keep: FileId, file: FileId) -> None:
        texts = {keep.text_digest.hex(): keep.path, file.text_digest.hex(): file.path}
        if len(texts) == 2:
            remember(texts, given["ignored"])
        else:
            click.echo("both hold the very same text, which cannot be ignored; both stay")

    made = review(
        plan,
        target,
        stays=reason_with(_wishes(given).protection, plan.header),
        act=_act(given) or Act.TRASH,
        ignore=ignore,
        look=look(given["color"]),
        encoding=given["encoding"],
    )
    if made is not None:
        for line in closing(made):
            tell(line)
        words = _needed(made, target, given)
        tell(f"nothing was changed; `simdup clean {words} --apply` acts")
    return 0


def _needed(plan: Plan, target: str, given: dict[str, Any]) -> str:
    """Return the arguments that allow everything in a plan: its name, the consents and acts."""
    from math import floor

    from simdup.records import Kind

    kinds = {each.kind for each in plan.actions}
    words = [printable(target)]
    if Kind.IDENTICAL_TEXT in kinds:
        words.append("--text")
    if kinds & {Kind.IDENTICAL_TEXT, Kind.NEAR}:
        words.append("--formats-too")  # a plan does not say which of its files are documents
    if Kind.NEAR in kinds:
        least = min(each.similarity or 0 for each in plan.actions if each.kind is Kind.NEAR)
        words += ["--near", f"{floor(least * 1000) / 1000:g}"]
    for option in sorted({each.act.option for each in plan.actions} - {""}):
        to = [printable(given["to"] or "DIR")] if option == "to" else []
        words += [f"--{option}", *to]
    if given["encoding"] is not None:
        words += ["--encoding", given["encoding"]]
    return shlex.join(words)


def _applied(plan: Plan, given: dict[str, Any]) -> int:
    """Carry out the plan, and return the exit code. Raises UsageError for a plan too large."""
    from simdup.clean.apply import apply
    from simdup.report.clean import left_lines, outcome_lines

    _check_number(plan, given)
    outcome = apply(
        plan,
        _consents_of(given),
        journal=given["journal"],
        to=given["to"],
        progress=progress(quiet=given["quiet"]),
    )
    left = () if given["quiet"] else left_lines(plan, "not planned")
    for line in (*left, *outcome_lines(outcome)):
        tell(line)
    return outcome.code


def _resumed(source: str | None, given: dict[str, Any]) -> int:
    """Go on with a run that stopped halfway, and return the exit code."""
    from simdup.clean.undo import remaining, resume
    from simdup.report.clean import outcome_lines

    about_plan = *_PLANNING, "target", "script", "journal", "review", "check"
    idle = [each for each in about_plan if options.is_given(each)]
    if source is not None or idle:
        what = "RESULT|PLAN" if source is not None else options.spelled(idle[0])
        raise click.UsageError(f"give either --resume or {what}: the journal has the plan")
    if not given["apply"]:
        raise click.UsageError("--resume goes with --apply; `simdup undo` shows what was done")
    if given["permanently"]:
        going = remaining(given["resume"])
        if given["yes_many"] != going and not _typed(going):
            raise click.UsageError(f"nothing deleted: --permanently wants --yes-many {going}")
    bars = progress(quiet=given["quiet"])
    outcome = resume(given["resume"], _consents_of(given), to=given["to"], progress=bars)
    for line in outcome_lines(outcome):
        tell(line)
    return outcome.code


def _check_number(plan: Plan, given: dict[str, Any]) -> None:
    """Raise UsageError if --yes-many is not the number of files, or is missing but needed.

    To delete for good, the user may type the number at the terminal instead.
    """
    from simdup.clean.narrow import excess

    going, yes = len(plan.actions), given["yes_many"]
    if yes is not None and yes != going:
        raise click.UsageError(f"--yes-many {yes}: the plan is about {count(going, 'file')}")
    if yes is not None or not going:
        return
    if too_much := excess(plan, given["most"], given["most_files"]):
        raise click.UsageError(f"{too_much}; if that is right, add --yes-many {going}")
    if given["permanently"] and not _typed(going):
        raise click.UsageError(f"nothing deleted: --permanently wants --yes-many {going}")


def _typed(going: int) -> bool:
    """Ask at the terminal for the number of files; False for any other answer, or elsewhere."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    tell(f"{count(going, 'file')} will be deleted for good. Type {going} to go on:")
    return sys.stdin.readline().strip() == str(going)
