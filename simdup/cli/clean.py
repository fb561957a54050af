"""`simdup clean` makes a plan of a result or carries out a plan; `simdup undo` takes that back."""

from __future__ import annotations

import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import ORDER, TYPED, Command
from simdup.cli.ignore import Ignored, remember
from simdup.cli.output import look, progress, refuse, tell, writer
from simdup.errors import InputError
from simdup.report.wording import as_typed, count, printable

if TYPE_CHECKING:  # these load numpy
    from simdup.clean.plan import Act, Action, Consents, FileId, Plan
    from simdup.clean.planning import Wishes
    from simdup.clean.protection import Protection
    from simdup.clean.rules import Rule

#: The exit code of --check if there is something to do.
FOUND = 1

#: The most runs that `simdup undo` lists.
MOST_RUNS = 5

# The least similarity from which files may go in bulk, whatever the user asks for.
LEAST_FLOOR = 0.8

# The consents to more than identical bytes, which most acts do not go with.
_WIDER = ("--text", "--formats-too", "--near")

# The options that consent, by the name of the consent; the last ones say what to do with the files.
_CONSENTS = dict(zip(("text", "formats", "near"), _WIDER, strict=True)) | {
    "newest": "--newest-too",
    **{name: f"--{name}" for name in ("to", "link", "reflink", "permanently")},
}


class _Named(click.Path):
    """A path that is not empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises BadParameter for an empty one."""
        return super().convert(value, param, ctx) or self.fail("'' names nothing", param, ctx)


def _rule(text: str) -> Rule:
    from simdup.clean.rules import rule_of

    return rule_of(text)


class Clean(NamedTuple):
    """The options of `simdup clean`.

    prefer: Keep the file that comes first by this rule: newest, oldest, longest, largest,
        shortest-path, shallowest, deepest, first, representative, original-name, format,
        format=docx,..., encoding=utf-8,..., name=GLOB or under=DIR. Several rules are asked in the
        order given; the first difference decides.
    prefer_under: As --prefer under=DIR: your rules are asked before --keep-under.
    protect: Act on nothing under this path.
    only_under: Act on nothing outside this folder.
    protect_name: Act on no file whose name matches.
    text: Let also go plain text with the same text as the kept file, but other bytes.
    formats_too: Let also go documents with the same words as the kept file, and compressed files
        with the same text.
    near: Let also go files that are at least this similar to the kept file: 0.95, 95 or 95%; from a
        result at least {LEAST_FLOOR}.
    newest_too: With --near, let also go the newest of a chain of versions for an older one.
    to: Move the files into this folder, instead of to the trash.
    link: Replace them by hard links to the kept file.
    reflink: Let them share the blocks of the kept file.
    permanently: Delete them for good; only with identical bytes.
    most: Ask for --yes-many if more files of one group would go.
    most_files: Ask for --yes-many if more files would go.
    yes_many: This very number of files shall go, however many that is.
    target: Write the plan to this file.
    script: Write a shell script that carries out the plan, one file a command.
    apply: Act. Without this nothing is changed.
    skip_unconsented: Leave the files of a PLAN that need an option not given, such as --text.
    journal: Where --apply writes what it does. [default: in your data folder]
    review: Ask at the terminal about each file that is not an identical copy, and write a plan;
        with --output, or with a PLAN into that one.
    resume: Go on with the run that wrote this journal, by the plan in it.
    check: Exit with 1 if there is anything to do.
    verbose: Also show groups of which nothing goes, and why.
    """

    source: str | None = options.argument(
        "RESULT|PLAN", options.PATH, required=False, instead=("--resume",)
    )
    prefer: tuple[Rule, ...] = options.option(
        type=options.ParsedValue("rule", _rule), multiple=True
    )
    prefer_under: tuple[str, ...] = options.file(metavar="DIR", multiple=True)
    priorities: options.Priorities = options.part(options.Priorities)
    protect: tuple[str, ...] = options.file(metavar="PATH", multiple=True)
    only_under: tuple[str, ...] = options.file(metavar="DIR", multiple=True)
    protect_name: tuple[str, ...] = options.option(metavar="GLOB", multiple=True)
    text: bool = options.flag(once=True)
    formats_too: bool = options.flag(once=True)
    near: float | None = options.option(type=options.SHARE, metavar="FLOOR", once=True)
    newest_too: bool = options.flag(once=True, needs=("--near",))
    encoding: str | None = options.encoding
    to: str | None = options.option(
        type=_Named(readable=False),
        metavar="DIR",
        once=True,
        excludes=("--link", "--reflink", "--permanently"),
    )
    link: bool = options.flag(once=True, excludes=("--reflink", "--permanently", *_WIDER))
    reflink: bool = options.flag(once=True, excludes=("--permanently", *_WIDER))
    permanently: bool = options.flag(once=True, excludes=_WIDER)
    most: int = options.number(default=20)
    most_files: int = options.number(default=1000)
    yes_many: int | None = options.number(once=True)
    target: str | None = options.file("-o", "--output", once=True, writes=True)
    script: str | None = options.file(once=True, writes=True)
    apply: bool = options.flag(once=True)
    skip_unconsented: bool = options.flag(once=True, needs=("--apply",))
    journal: str | None = options.option(
        type=_Named(readable=False),
        metavar="FILE",
        once=True,
        writes=True,
        needs=("--apply",),
    )
    review: bool = options.flag(
        once=True,
        excludes=("--apply", "--check", "--script", "--link", "--reflink", "--permanently"),
    )
    resume: str | None = options.file(
        metavar="JOURNAL",
        once=True,
        needs=("--apply",),
        excludes=(
            *("RESULT|PLAN", "--prefer", "--prefer-under", *options.typed(options.Priorities)),
            *("--protect", "--only-under"),
            *("--protect-name", "--output", "--script", "--journal", "--review", "--check"),
        ),
    )
    check: bool = options.flag(once=True, excludes=("--apply",))
    verbose: bool = options.flag("-v", "--verbose")
    color: str = options.color
    ignored: Ignored = options.part(Ignored)
    quiet: bool = options.quiet

    def act(self) -> Act | None:
        """Return what is done with the files; None unless an option says it."""
        from simdup.clean.plan import Act

        return next((act for act in Act if act.option and getattr(self, act.option)), None)

    def consents(self) -> Consents:
        """Return which files may go."""
        from simdup.clean.plan import Consents

        kinds = self.text, self.formats_too, self.near, self.newest_too, self.encoding
        return Consents(*kinds, bool(self.to), self.link, self.reflink, self.permanently)

    def protection(self) -> Protection:
        """Return which files must stay. Raises InputError for a folder that does not exist."""
        from simdup.clean.protection import Protection

        return Protection(self.protect, self.only_under, self.protect_name)

    def rules(self) -> list[Rule]:
        """Return the rules in the order in which they were typed, then those of a configuration.

        Raises InputError for a folder that does not exist.
        """
        from simdup.clean.rules import Rule

        under = [Rule("under", (folder,)) for folder in self.prefer_under]
        waiting = {"prefer": [*self.prefer], "prefer_under": under}
        order: list[str] = click.get_current_context().meta[ORDER]
        ordered = [waiting[name].pop(0) for name in order if waiting.get(name)]
        return list(map(_located, [*ordered, *waiting["prefer_under"], *waiting["prefer"]]))

    def wishes(self) -> Wishes:
        """Return what a plan is made for. Raises InputError for a folder that does not exist."""
        from simdup.clean.plan import Act
        from simdup.clean.planning import Wishes
        from simdup.clean.rules import Rules

        rules, typed = self.rules(), list[str]()
        for rule in rules:
            typed += ["--prefer-under" if rule.name == "under" else "--prefer", rule.typed]
        named = {name: getattr(self, name) for name in ("protect", "only_under", "protect_name")}
        for name, values in (self.priorities._asdict() | named).items():
            typed += [word for each in values for word in (options.spelled(name), each)]
        act, shown = self.act() or Act.TRASH, tuple(map(printable, typed))
        return Wishes(Rules(rules), self.protection(), self.consents(), act, shown)


@click.command("clean", cls=Command, record=Clean, work="simdup.clean.planning")
def clean_command(asked: Clean) -> int:
    """Plan which duplicates go, and with --apply let them go: to the trash, unless told otherwise.

    RESULT is what `simdup scan --format json` wrote, PLAN what --output wrote; - is stdin.
    Without --apply this only shows what would happen. `simdup undo` takes back what was done.

    Exits with 0 when all is done, 1 with --check if there is something to do, 2 if it cannot
    start, 3 if some files were refused, 4 if the journal could not be written any more.

    \b
    Examples:
      simdup clean found.json -o plan.jsonl
      simdup clean plan.jsonl --apply
    """
    from simdup.report import clean as text

    if asked.resume is not None:
        return _resumed(asked.resume, asked)
    source = asked.source or ""
    options.refuse_overwriting(asked.ignored.named())
    if asked.review:
        return _reviewed(source, asked)
    whole = _plan(source, asked)
    if asked.apply and not asked.skip_unconsented:
        _check_consents(whole.actions, asked)
    plan = _allowed(whole, asked)
    if asked.target is not None:
        from simdup.clean.plan import plan_lines

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
        shape = look(asked.color, verbose=asked.verbose)
        writer(None, as_utf8=False)(text.render(plan, shape))
        tell(*text.closing(plan), *_next_step(asked, plan, whole))
    return FOUND if asked.check and plan.actions else 0


def _next_step(asked: Clean, plan: Plan, whole: Plan) -> list[str]:
    """Return what to say last: that nothing was changed, and the command that does all of it."""
    if asked.target is not None:
        return _carries_out(plan, asked.target, asked)
    more = [*_consenting(whole.actions, asked, asked.consents()), *_yes(whole, asked)]
    return _done_by(whole, _again(more))


def _carries_out(plan: Plan, target: str, asked: Clean) -> list[str]:
    """Return the lines that name the command by which all of a plan in a file is done."""
    words = target, *_options(plan, asked), *_yes(plan, asked), "--apply"
    return _done_by(plan, _command(words))


def _done_by(plan: Plan, command: str) -> list[str]:
    nothing = "nothing was changed"
    return [f"{nothing}; all of it is done by", f"  {command}"] if plan.actions else [nothing]


def _command(words: Iterable[str]) -> str:
    return as_typed(["simdup", "clean", *words])


def _again(more: Iterable[str]) -> str:
    """Return the command that was typed with more options, as one that acts."""
    typed = [each for each in click.get_current_context().meta[TYPED] if each != "--check"]
    end = typed.index("--") if "--" in typed else len(typed)
    act = [] if "--apply" in typed else ["--apply"]
    return _command([*typed[:end], *more, *act, *typed[end:]])


def _options(plan: Plan, asked: Clean) -> list[str]:
    """Return the options with which all of a plan is carried out."""
    encoding = [] if asked.encoding is None else ["--encoding", asked.encoding]
    return [*_consenting(plan.actions, asked), *encoding]


def _lacking(actions: Iterable[Action], given: Consents) -> Counter[str]:
    """Return the names of the consents that actions lack, each with the number of files."""
    from simdup.clean.decide import needed

    return Counter(name for each in actions for name in needed(each) if given.lack(name))


def _consenting(
    actions: Sequence[Action], asked: Clean, given: Consents | None = None
) -> list[str]:
    """Return the options that allow these actions, without those already given."""
    from simdup.clean.plan import Consents

    alike = [each.similarity for each in actions if each.similarity is not None]
    floor = asked.near or max(math.floor(min(alike, default=0) * 1000) / 1000, 0.001)
    values = {"near": f"{floor:g}", "to": os.path.abspath(asked.to) if asked.to else "DIR"}
    lacking = _lacking(actions, given or Consents())
    names = [name for name in _CONSENTS if name in lacking]
    return [word for each in names for word in filter(None, (_CONSENTS[each], values.get(each)))]


def _yes(plan: Plan, asked: Clean) -> list[str]:
    """Return the option that confirms the number of files, if so many want that."""
    from simdup.clean.planning import excess

    is_asked = asked.yes_many is None and excess(plan, asked.most, asked.most_files)
    return ["--yes-many", str(len(plan.actions))] if is_asked else []


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
    from simdup.clean.plan import Consents, parsed_plan
    from simdup.clean.planning import narrowed

    data = options.saved(source)
    is_plan = _is_plan(data)
    refuse(_wrong_option(asked, is_plan=is_plan))
    if is_plan:
        plan = parsed_plan(BytesIO(data), source)
        every: dict[str, Any] = dict.fromkeys(_CONSENTS, True) | {"near": 0.0}
        return narrowed(plan, Consents(**every), asked.protection(), asked.act())
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
    return (
        f"--near {asked.near:g}: files go in bulk only from {LEAST_FLOOR:g} on; --review decides"
        " about less similar ones"
    )


def _plan_of_result(source: str, data: bytes, asked: Clean) -> Plan:
    from simdup.clean.planning import make_plan
    from simdup.files.ignored import without_ignored
    from simdup.files.read import digest
    from simdup.report.load import load

    if data.startswith(b'{"type": "corpus"'):
        raise InputError(f"{source!r}: rows of a corpus; `simdup corpus scan --keep` drops them")
    result = without_ignored(load(data, source), asked.ignored.digests(quiet=asked.quiet))
    keep, let_go = (tuple(map(os.path.abspath, each)) for each in asked.priorities)
    result = replace(
        result,
        keep_under=(*keep, *result.keep_under),
        let_go_under=(*let_go, *result.let_go_under),
    )
    return make_plan(result, asked.wishes(), source, digest(data).hex())


def _allowed(whole: Plan, asked: Clean) -> Plan:
    """Return what the user's consents allow of a plan."""
    from simdup.clean.planning import narrowed
    from simdup.clean.protection import Protection

    return narrowed(whole, asked.consents(), Protection(), is_dry=not asked.apply)


def _is_plan(data: bytes) -> bool:
    """Return whether the content of a file is a plan, by its first line."""
    try:
        header = json.loads(data.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "simdup" in header


def _reviewed(source: str, asked: Clean) -> int:
    """Ask about the files, write the plan, and say how to carry it out."""
    from simdup.clean.plan import Act
    from simdup.clean.planning import reason_with
    from simdup.cli.review import review
    from simdup.report.clean import closing

    target = asked.target or (source if source != "-" and _is_plan(options.saved(source)) else None)
    if target is None or source == "-":
        raise click.UsageError("--review reads a file and writes a plan: -o plan.jsonl")
    plan = _plan(source, asked)

    def ignore(keep: FileId, file: FileId) -> None:
        texts = {keep.text_digest.hex(): keep.path, file.text_digest.hex(): file.path}
        if len(texts) == 2:
            remember(texts, asked.ignored.ignored)
        else:
            click.echo("both hold the very same text, which cannot be ignored; both stay")

    made = review(
        plan,
        target,
        stays=reason_with(asked.protection(), plan.header),
        act=asked.act() or Act.TRASH,
        ignore=ignore,
        look=look(asked.color),
        encoding=asked.encoding,
    )
    if made is not None:
        tell(*closing(made), *_carries_out(made, target, asked))
    return 0


def _applied(plan: Plan, asked: Clean) -> int:
    """Carry out the plan, and return the exit code. Raises UsageError for a plan too large."""
    from simdup.clean.apply import apply
    from simdup.report.clean import left_lines, outcome_lines

    _check_number(plan, asked)
    outcome = apply(
        plan,
        asked.consents(),
        journal=asked.journal,
        to=asked.to,
        progress=progress(quiet=asked.quiet),
    )
    left = () if asked.quiet else left_lines(plan, "not planned")
    tell(*left, *outcome_lines(outcome))
    return outcome.code


def _resumed(journal: str, asked: Clean) -> int:
    """Go on with a run that stopped halfway, and return the exit code."""
    from simdup.clean.undo import remaining, resume
    from simdup.report.clean import outcome_lines

    going = remaining(journal)
    if not asked.skip_unconsented:
        _check_consents(going, asked)
    if asked.permanently and asked.yes_many != len(going):
        _ask(len(going))
    bars = progress(quiet=asked.quiet)
    outcome = resume(journal, asked.consents(), to=asked.to, progress=bars)
    tell(*outcome_lines(outcome))
    return outcome.code


def _check_consents(actions: Sequence[Action], asked: Clean) -> None:
    """Raise UsageError that says which consents are missing, and the command that does all."""
    given = asked.consents()
    if not (lacking := _lacking(actions, given)):
        return
    needed_by = [f"{_CONSENTS[name]} for {count(files, 'file')}" for name, files in lacking.items()]
    refuse(
        f"nothing was done: the plan needs {' and '.join(needed_by)};"
        f" `{_again(_consenting(actions, asked, given))}` does all of it,"
        " --skip-unconsented only what needs no other option"
    )


def _check_number(plan: Plan, asked: Clean) -> None:
    """Raise UsageError if --yes-many is wrong, or missing but needed.

    To delete for good, the user may type the number at the terminal instead.
    """
    from simdup.clean.planning import excess

    going, yes = len(plan.actions), asked.yes_many
    if yes is not None and yes != going:
        refuse(f"--yes-many {yes}: the plan is about {count(going, 'file')}")
    if yes is None and going:
        too_much = excess(plan, asked.most, asked.most_files)
        refuse(too_much and f"{too_much}; if that is right, add --yes-many {going}")
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


class Undo(NamedTuple):
    """The options of `simdup undo`.

    apply: Put the files back. Without this nothing is changed.
    journal: Where --apply writes what it does, for one JOURNAL. [default: in your data folder]
    """

    journals: tuple[str, ...] = options.argument("[JOURNAL]...", options.PATH, nargs=-1)
    apply: bool = options.flag(once=True, needs=("JOURNAL...",))
    journal: str | None = options.file(once=True, needs=("--apply",))
    quiet: bool = options.quiet


@click.command("undo", cls=Command, record=Undo, work="simdup.clean.undo")
def undo_command(asked: Undo) -> int:
    """Put back what `simdup clean --apply` did, by the JOURNAL that it wrote.

    Without a JOURNAL this lists the last runs, and offers to undo the last one. Of several
    journals the last one is undone first. Without --apply this only says what could be put
    back. Nothing is written over, and a file that is not as simdup left it is left alone.
    Deleted files cannot be put back.

    Exits with 0 when all is back, 2 if it cannot start, 3 if some files were refused, 4 if its
    own journal could not be written any more.

    \b
    Examples:
      simdup undo
      simdup undo ~/.local/share/simdup/journals/2026-11-22T184502-4711.jsonl
      simdup undo journal.jsonl --apply
    """
    if not asked.journals:
        return _offered(asked)
    if asked.journal is not None and len(asked.journals) > 1:
        refuse("--journal needs one JOURNAL")
    return _undone(asked)


def _undone(asked: Undo) -> int:
    """Undo the runs of the journals, the last one first."""
    from simdup.clean.undo import undo
    from simdup.report.clean import undo_lines

    codes = [0]
    for each in reversed(asked.journals):
        bars = progress(quiet=asked.quiet)
        outcome = undo(each, apply=asked.apply, journal=asked.journal, progress=bars)
        tell(*undo_lines(outcome, is_applied=asked.apply))
        codes.append(outcome.code)
        if outcome.is_interrupted or outcome.trouble is not None:
            break
    return max(codes)


def _offered(asked: Undo) -> int:
    """List the last runs; at a terminal, undo the last one if the user says yes."""
    from simdup.clean.journal import last_runs
    from simdup.report.clean import run_lines

    runs = last_runs(MOST_RUNS)
    tell(*run_lines(runs))
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
    return _undone(asked._replace(journals=(last,), apply=True)) if is_wanted else 0
