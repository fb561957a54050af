"""`simdup query`: finds the documents in an index that are like a file, text or fingerprint."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import look, tell
from simdup.report.wording import count, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    import numpy as np

    from simdup.cli.output import Lines
    from simdup.index.index import Index
    from simdup.index.records import Answer, Searched
    from simdup.records import Skipped
    from simdup.settings import Settings

    Outcome: TypeAlias = Answer | Skipped

NOTHING, TROUBLE = 1, 2

FORMATS = ("text", "json", "jsonl", "csv")


def _row(text: str) -> np.ndarray:
    """Return the fingerprint row that hexadecimal digits spell, of shape (1, bits // 8)."""
    import numpy as np

    try:
        return np.frombuffer(bytes.fromhex(text), np.uint8)[None]
    except ValueError:
        raise ValueError(f"{text!r} is not hexadecimal digits") from None


@click.command("query", cls=Command, work="simdup.index.index")
@click.argument("file", type=options.PATH, metavar="INDEX")
@click.argument("paths", nargs=-1, type=options.PATH, metavar="FILE...")
@options.option(
    "--text", "texts", "Find documents that are like TEXT.", multiple=True, metavar="TEXT"
)
@options.option(
    "--fingerprint",
    "rows",
    "Find documents whose fingerprints are near this one.",
    type=options.ParsedValue("hex", _row),
    multiple=True,
)
@options.thresholds
@options.number(
    "--top",
    "Show only the N most similar documents; without -s or -k, the N nearest, however little"
    " they are alike.",
)
@options.option("--bits", "Use the first bits of each fingerprint.  [default: all]", type=int)
@options.companions
@options.flag(
    "-0", "--null", "Print only names, each followed by NUL, and one more NUL after each answer."
)
@options.report_format(FORMATS, "text")
@options.verbose
@options.output
@options.color
@options.quiet
def query_command(file: str, paths: tuple[str, ...], **given: Any) -> int:
    """Find the documents in INDEX that are like FILE...; - is stdin.

    Similarities are exact where the documents are readable and unchanged; elsewhere they are
    estimated from the fingerprints and marked with ~. Exits with 0 if something was found, 1
    if nothing was, 2 on errors, even if only one FILE had one.

    \b
    Examples:
      simdup query library.simdup essay.docx
      simdup query library.simdup --text "It was a bright cold day in April" --top 3
    """
    from simdup.index.index import Index
    from simdup.index.query import with_sets
    from simdup.index.records import Answer
    from simdup.records import Skipped
    from simdup.report import query as answers

    _check(file, paths, given)
    form = "null" if given["null"] else given["form"] or "text"
    write = writer(given["target"], as_utf8=form.startswith("json"))
    with Index(file, options.companions_from(given)) as index:
        outcomes, searched = _ask(index, paths, given)
    found = with_sets([each for each in outcomes if isinstance(each, Answer)])
    skipped = [each for each in outcomes if isinstance(each, Skipped)]
    shape = look(given["color"], given["target"], verbose=given["verbose"])
    renderers: dict[str, Callable[[], Lines]] = {
        "null": lambda: answers.render_null(outcomes),
        "text": lambda: answers.render(found, look=shape),
        "csv": lambda: answers.render_csv(found),
        "json": lambda: answers.render_json(found, searched, skipped),
        "jsonl": lambda: answers.render_jsonl(found, searched, skipped),
    }
    write(renderers[form]())
    if not given["quiet"]:
        for line in [*(f"simdup: {each}" for each in skipped), *_summary(found, searched)]:
            tell(line)
    if skipped:
        return TROUBLE
    return 0 if any(answer.matches for answer in found) else NOTHING


def _check(file: str, paths: Sequence[str], given: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go together, and for an output that is an input."""
    if given["null"] and given["form"] is not None:
        raise click.UsageError(f"-0 prints only names; leave out --format {given['form']}")
    if not (paths or given["texts"] or given["rows"]):
        raise click.UsageError("give FILE..., --text or --fingerprint to search for")
    from simdup.storage.sqlite import files_of

    inputs: list[tuple[str, str | Path | None]] = [
        *(("INDEX", path) for path in files_of(Path(file))),
        *(("FILE", path) for path in paths),
        *options.dictionary_files(given),
    ]
    refuse_same_files([("--output", given["target"])], inputs)


def _ask(
    index: Index, paths: Sequence[str], given: dict[str, Any]
) -> tuple[list[Outcome], Searched]:
    """Return the outcome of every question, and how the index was searched."""
    from simdup.index.records import Searched

    similarity, k = options.one_threshold(given)
    own = index.at(index.settings.recipe.bits if given["bits"] is None else given["bits"])
    settings = replace(own, similarity=similarity, k=k, verified=not given["no_verify"])
    top, has_threshold = given["top"], given["similarity"] is not None or k is not None
    is_nearest = top is not None and not has_threshold
    how = {"settings": settings, "top": top, "is_any_alike": is_nearest}
    with _copied(paths) as files:
        outcomes = _in_order(paths, files, *index.query_files(files, **how))
    names = [str(place) for place in range(len(given["texts"]))]
    outcomes += _in_order(given["texts"], names, *index.query_texts(given["texts"], **how))
    outcomes += [answer for row in given["rows"] for answer in index.query_rows(row, **how)]
    if is_nearest:
        return outcomes, Searched(settings, len(index), top, None)
    return outcomes, _searched(settings, len(index), top)


def _searched(settings: Settings, documents: int, top: int | None) -> Searched:
    """Return how an index of so many documents is searched within a threshold."""
    from simdup.index.query import reach
    from simdup.index.records import Searched
    from simdup.match.candidates import recall, search_distance

    k = reach(settings, documents)
    if not settings.verified:
        return Searched(settings, documents, top, k)
    bits, similarity = settings.recipe.bits, settings.similarity
    chance = recall(similarity, bits, k)
    return Searched(settings, documents, top, k, search_distance(similarity, bits), chance)


@contextmanager
def _copied(paths: Sequence[str]) -> Iterator[list[str]]:
    """Replace the path - by a copy of standard input, so that it is read as any file is."""
    if "-" not in paths:
        yield [*paths]
        return
    from shutil import copyfileobj
    from tempfile import NamedTemporaryFile

    stdin = options.stdin_for("-")
    with NamedTemporaryFile(prefix="simdup-") as copy:
        copyfileobj(stdin, copy)
        copy.flush()
        yield [copy.name if path == "-" else path for path in paths]


def _in_order(
    asked: Sequence[str], names: Sequence[str], found: Sequence[Answer], skipped: Sequence[Skipped]
) -> list[Outcome]:
    """Return the outcome of each question as it was asked; the index knows it by its name."""
    waiting, unreadable = deque(found), {each.path: each for each in skipped}
    outcomes: list[Outcome] = []
    for question, name in zip(asked, names, strict=True):
        if waiting and waiting[0].question == name:
            outcomes.append(replace(waiting.popleft(), question=question))
        else:
            outcomes.append(replace(unreadable[name], path=question))
    return outcomes


def _summary(found: Sequence[Answer], searched: Searched) -> list[str]:
    matches = sum(len(answer.matches) for answer in found)
    answered = sum(bool(answer.matches) for answer in found)
    lines = [
        f"{count(matches, 'document')} found for {answered:,} of {count(len(found), 'question')},"
        f" among {searched.documents:,}"
    ]
    k, want, chance = searched.k, searched.wanted, searched.recall
    if k is not None and want is not None and k < want:
        lines.append(
            f"searched within {k} bits instead of {want}, beyond which too many documents would be"
            f" near by chance; one that is just {percent(searched.settings.similarity)} alike is"
            f" found with probability {chance:.0%} (an index with more --bits avoids this)"
        )
    return lines
