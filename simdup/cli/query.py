"""`simdup query`: whether a document, or one like it, is in an index."""

from __future__ import annotations

import shutil
import sys
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import numpy as np

from simdup.cli.options import (
    color_option,
    dictionaries_of,
    given_from,
    given_options,
    one_threshold,
    output_option,
    threshold_options,
)
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import look, tell
from simdup.index.index import Index
from simdup.index.query import reach
from simdup.index.records import Answer, Searched
from simdup.match.candidates import recall, search_distance
from simdup.records import Skipped
from simdup.report import query as answers
from simdup.report.wording import count, percent
from simdup.storage.sqlite import files_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simdup.settings import Settings

    Outcome: TypeAlias = Answer | Skipped

NOTHING, TROUBLE = 1, 2

FORMATS: dict[str, Callable[..., Iterable[str]]] = {
    "text": answers.render,
    "json": answers.render_json,
    "jsonl": answers.render_jsonl,
    "csv": answers.render_csv,
}


@click.command("query")
@click.argument("file", type=click.Path(readable=False), metavar="INDEX")
@click.argument("paths", nargs=-1, type=click.Path(readable=False), metavar="FILE...")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="Ask for this text.")
@click.option(
    "--fingerprint", "prints", multiple=True, metavar="HEX", help="Ask for this fingerprint."
)
@threshold_options
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N most similar; without a threshold the N nearest, however little they are alike.",
)
@click.option("--bits", type=int, help="Use the first bits of each fingerprint.  [default: all]")
@given_options
@click.option("-0", "--null", is_flag=True, help="Names alone, ended by NUL; answers by one more.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="How to report.  [default: text]"
)
@output_option
@color_option
@click.option("-q", "--quiet", is_flag=True, help="No warnings and no summary.")
def query_command(file: str, paths: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401
    """Find the documents of INDEX that are like FILE...; - is stdin.

    Similarities are exact where the documents can be read and are as they were; otherwise
    they are what the distance stands for, and marked by ~. Exits with 0 when something was
    found, 1 when nothing was, 2 for trouble, also with a single FILE.

    \b
    Examples:
      simdup query library.simdup essay.docx
      simdup query library.simdup --text "It was a bright cold day in April" --top 3
    """
    if options["null"] and options["form"] is not None:
        raise click.UsageError(f"-0 prints names alone; leave out --format {options['form']}")
    if not (paths or options["texts"] or options["prints"]):
        raise click.UsageError("give FILE..., --text or --fingerprint to ask for")
    inputs = [
        *(("INDEX", str(each)) for each in files_of(Path(file))),
        *(("FILE", path) for path in paths),
        *dictionaries_of(options),
    ]
    refuse_same_files([("--output", options["target"])], inputs)
    form = "null" if options["null"] else options["form"] or "text"
    write = writer(options["target"], as_utf8=form.startswith("json"))
    has_threshold = options["similarity"] is not None or options["k"] is not None
    is_nearest = options["top"] is not None and not has_threshold
    prints = [_row(written) for written in options["prints"]]
    with Index(file, given_from(options)) as index:
        settings = _settings(index, options)
        wish = {"settings": settings, "top": options["top"], "is_any_alike": is_nearest}
        outcomes = [*_of_files(index, paths, wish), *_of_texts(index, options["texts"], wish)]
        outcomes += [answer for row in prints for answer in index.query_rows(row, **wish)]
        searched = _searched(settings, len(index), options["top"], is_nearest=is_nearest)
    found = [each for each in outcomes if isinstance(each, Answer)]
    skipped = [each for each in outcomes if isinstance(each, Skipped)]
    if form == "null":
        write(answers.render_null(outcomes))
    elif form == "text":
        write(answers.render(found, look=look(options["color"], options["target"])))
    else:
        write(FORMATS[form](found, searched, skipped))
    if not options["quiet"]:
        for each in skipped:
            tell(f"simdup: {each}")
        for line in _summary(found, searched):
            tell(line)
    if skipped:
        return TROUBLE
    return 0 if any(answer.matches for answer in found) else NOTHING


def _settings(index: Index, options: dict[str, Any]) -> Settings:
    """What is asked for, with the recipe of the index."""
    similarity, k = one_threshold(options)
    own = index.at(index.settings.recipe.bits if options["bits"] is None else options["bits"])
    return replace(own, similarity=similarity, k=k, verified=not options["no_verify"])


def _searched(settings: Settings, documents: int, top: int | None, *, is_nearest: bool) -> Searched:
    """How the index is searched."""
    if is_nearest:
        return Searched(settings, documents, top, None)
    k = reach(settings, documents)
    if not settings.verified:
        return Searched(settings, documents, top, k)
    bits, similarity = settings.recipe.bits, settings.similarity
    return Searched(
        settings, documents, top, k, search_distance(similarity, bits), recall(similarity, bits, k)
    )


def _of_files(index: Index, paths: Sequence[str], wish: dict[str, Any]) -> list[Outcome]:
    """What comes of each file, in their order; - is standard input."""
    with _copied(paths) as files:
        found, skipped = index.query_files(files, **wish)
        return _in_order(paths, files, found, skipped)


def _of_texts(index: Index, texts: Sequence[str], wish: dict[str, Any]) -> list[Outcome]:
    """What comes of each text, in their order."""
    found, skipped = index.query_texts(texts, **wish)
    return _in_order(texts, [str(place) for place in range(len(texts))], found, skipped)


@contextmanager
def _copied(paths: Sequence[str]) -> Iterator[list[str]]:
    """Replace the path - by a copy of standard input, so that it is read as any file is."""
    if "-" not in paths:
        yield [*paths]
        return
    if not sys.stdin.readable():
        raise click.UsageError("- reads stdin, which is closed")
    with NamedTemporaryFile(prefix="simdup-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield [copy.name if path == "-" else path for path in paths]


def _in_order(
    asked: Sequence[str],
    names: Sequence[str],
    found: Sequence[Answer],
    skipped: Sequence[Skipped],
) -> list[Outcome]:
    """What came of each question, called as it was asked; the index called it by its name."""
    waiting, lost = deque(found), {each.path: each for each in skipped}
    outcomes: list[Outcome] = []
    for question, name in zip(asked, names, strict=True):
        if waiting and waiting[0].question == name:
            outcomes.append(replace(waiting.popleft(), question=question))
        else:
            outcomes.append(replace(lost[name], path=question))
    return outcomes


def _row(written: str) -> np.ndarray:
    """A fingerprint as hexadecimal digits."""
    try:
        return np.frombuffer(bytes.fromhex(written), np.uint8)[None]
    except ValueError:
        raise click.UsageError(f"--fingerprint {written!r}: not hexadecimal digits") from None


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
            f"looked within {k} instead of {want} bits, since chance would bring too many: a"
            f" document just {percent(searched.settings.similarity)} alike is found with"
            f" probability {chance:.0%}; an index of more --bits avoids this"
        )
    return lines
