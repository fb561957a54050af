"""`simdup clean --review`: asks at the terminal about each file that is not an identical copy.

It only writes a plan. After every answer the plan so far is in a file beside it, so nothing that
was answered is lost, and the next review goes on from there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, lru_cache

import click

from simdup.clean.plan import Act, FileId, Plan, plan_lines, read_plan
from simdup.clean.protection import changed_since
from simdup.clean.refusals import Refusal
from simdup.clean.review import Answer, Question, Review
from simdup.cli.clean import Clean
from simdup.cli.ignore import remember
from simdup.cli.output import Write, look, tell, writer
from simdup.errors import InputError
from simdup.files.compare import compare
from simdup.records import Comparison, Kind
from simdup.report import diff, text
from simdup.report.wording import count, date, in_kept, printable, size
from simdup.settings import Settings
from simdup.text.facts import other_facts

# The most lines of a difference that are shown with a question; the pager shows all.
_MOST_LINES = 24

_LETTERS = "k,d,d!,r,i,s,b,v,o,w,q,?"

_HELP = """\
Type a letter and press Enter.
k   keep this file too
d   remove this file, since the kept one has its text
d!  drop this file and all others of the group that are still open
r   reverse: keep this file, and ask about the others of the group again
i   not duplicates: keep this file, and remember that, as `simdup ignore add` does
s   skip this group: nothing is decided about it
b   back to the file before
v   view the whole difference in the pager
o   open both files in their programs
w   write the plan with the answers so far, and stop
q   stop without a plan; the answers are kept for the next review
?   this help"""


def review(
    plan: Plan, target: str, asked: Clean, stays: Callable[[str], Refusal | None], act: Act
) -> Plan | None:
    """Ask about the files of a plan, and write the plan to `target`; None if it was not written.

    `stays` says why a file must be kept, and `act` what is done with the others. Raises InputError
    without a terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("--review asks at a terminal, and this is none")
    part = f"{target}.part"
    begun, save = _begun(plan, part), writer(part, as_utf8=True)
    session = _Session(asked, save)
    answers = Review(begun, session.share, stays, act)
    if not session.run(answers):
        kept = f"; the answers are in {printable(part)}, and the same command goes on"
        tell("no plan written" + (kept if os.path.exists(part) else ""))
        return None
    made = answers.plan()
    writer(target, as_utf8=True)(plan_lines(made))
    with suppress(FileNotFoundError):
        os.unlink(part)
    return made


def _begun(plan: Plan, part: str) -> Plan:
    """Return the plan, or the saved plan of an unfinished review. Raises InputError."""
    if not os.path.exists(part):
        return plan
    found = read_plan(part)
    if found.header.of_digest != plan.header.of_digest:
        raise InputError(f"{part!r}: a review of another result; remove it, or name another plan")
    click.echo(f"going on with {printable(part)}")
    return found


class _Session:
    """The questions at the terminal; no pair of files is read twice."""

    def __init__(self, asked: Clean, save: Write) -> None:
        """Ask as these options of `simdup clean` say; `save` writes the plan so far."""
        self.settings, self.ignored = Settings(encoding=asked.encoding), asked.ignored.ignored
        self.look, self.save = look(asked.color), save
        self.comparison = lru_cache(1)(self._comparison)  # it has both texts
        self.share = cache(self._share)

    def _comparison(self, keep: FileId, file: FileId) -> Comparison | InputError:
        """The comparison of both files as they are now, or why they cannot be compared."""
        for each in (keep, file):
            if refusal := changed_since(each):
                return InputError(f"{each.path!r}: {refusal.value}")
        try:
            return compare(keep.path, file.path, self.settings)
        except InputError as trouble:
            return trouble

    def _share(self, keep: FileId, file: FileId) -> float | None:
        """How much of a file is in the kept one; None if they cannot be compared now."""
        found = self.comparison(keep, file)
        return None if isinstance(found, InputError) else _of_right(found)

    def run(self, answers: Review) -> bool:
        """Ask until nothing is open or the user stops; return whether to write the plan."""
        shown = None
        while question := answers.question():
            if question != shown:
                for line in self._shown(question, answers.waiting):
                    click.echo(line)
                shown = question
            letter = _letter(question)
            if letter in {"w", "q", ""}:
                return letter == "w"
            if letter in {each.value for each in Answer}:
                self._take(answers, Answer(letter), question)
            elif letter == "b":
                if not answers.back():
                    click.echo("there is no file before")
            else:
                self._help(letter, question)
        return True

    def _take(self, answers: Review, answer: Answer, question: Question) -> None:
        """Take an answer, and save the plan so far."""
        if trouble := answers.answer(answer):
            click.echo(trouble)
            return
        if answer is Answer.IGNORE:
            self._ignore(question.keep, question.file)
        self.save(plan_lines(answers.plan()))

    def _ignore(self, keep: FileId, file: FileId) -> None:
        """Remember that two files are not duplicates, unless they hold the very same text."""
        texts = {keep.text_digest.hex(): keep.path, file.text_digest.hex(): file.path}
        if len(texts) == 2:
            remember(texts, self.ignored)
        else:
            click.echo("both hold the very same text, which cannot be ignored; both stay")

    def _help(self, letter: str, question: Question) -> None:
        """Show the difference, open both files, or show the help, as the letter asks."""
        if letter == "v":
            click.echo_via_pager("\n".join(self._difference(question)) + "\n")
        elif letter == "o":
            for each in (question.keep, question.file):
                click.launch(each.path)
        else:
            click.echo(_HELP)

    def _shown(self, question: Question, waiting: int) -> Iterator[str]:
        """Yield the lines that a question begins with: both files, and how they differ."""
        found = self.comparison(question.keep, question.file)
        yield ""
        yield self.look.painted(f"Group {question.group}; {count(waiting, 'file')} open", "1")
        yield f"  keep  {_about(question.keep)}"
        yield f"  this  {_about(question.file)}"
        if question.copies:
            yield f"        and {count(question.copies, 'identical copy')} of it"
        if isinstance(found, InputError):
            yield f"  these cannot be compared: {printable(str(found))}"
            return
        kind = found.left.kind_with(found.right)
        alike = in_kept(_of_right(found)) if kind is Kind.NEAR else kind.value
        yield from (
            f"        {line}" for line in (alike, other_facts(*found.texts).in_words()) if line
        )
        lines = self._difference(question)
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield f"... {count(len(lines) - _MOST_LINES, 'more line')}; v shows them"

    def _difference(self, question: Question) -> list[str]:
        """Return the difference between two files, by sentence."""
        found = self.comparison(question.keep, question.file)
        if isinstance(found, InputError):
            return []
        names = question.keep.path, question.file.path
        same = text.same_words(found)
        return list(diff.render(*found.texts, names, self.look, same=same))


def _letter(question: Question) -> str:
    """Return what the user types; "" at the end of the input."""
    proposed = " (the rules: drop)" if question.is_proposed else ""
    name = printable(os.path.basename(question.file.path))
    click.echo(f"Drop {name}?{proposed} [{_LETTERS}] ", nl=False)
    line = sys.stdin.readline()
    if not line:
        click.echo("")
        return ""
    return line.strip().lower() or "?"


def _of_right(found: Comparison) -> float:
    """How much of the second file stands in the first, which is the kept one."""
    return found.similarity if found.contained is None else found.contained[1]


def _about(file: FileId) -> str:
    return f"{printable(file.path)}  {size(file.size)}, {date(file.mtime_ns)}"
