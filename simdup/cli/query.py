"""`simdup query`: whether a document, or one like it, is in an index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from simdup.answer import reach
from simdup.candidates import recall, wanted
from simdup.cli.options import (
    color_option,
    given_from,
    given_options,
    one_threshold,
    output_option,
    threshold_options,
)
from simdup.cli.output import writer
from simdup.cli.terminal import look, tell
from simdup.decode import NotText, decode, detect, forced
from simdup.errors import InputError
from simdup.index import Index
from simdup.records import Answer
from simdup.report import answers
from simdup.report.words import count, percent
from simdup.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.records import Skipped

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
    form = "null" if options["null"] else options["form"] or "text"
    write = writer(options["target"], as_utf8=form.startswith("json"))
    has_threshold = options["similarity"] is not None or options["k"] is not None
    is_nearest = options["top"] is not None and not has_threshold
    with Index(file, given_from(options)) as index:
        settings = _settings(index, options)
        wish = {"settings": settings, "top": options["top"], "is_any_alike": is_nearest}
        found, skipped = _asked(index, paths, options, wish)
        documents = len(index)
    if form == "null":
        write(answers.render_null(found))
    elif form == "text":
        write(answers.render(found, look=look(options["color"], options["target"])))
    else:
        write(FORMATS[form](found, settings, skipped))
    if not options["quiet"]:
        for each in skipped:
            tell(f"simdup: {each}")
        for line in _summary(found, settings, documents, is_nearest=is_nearest):
            tell(line)
    if skipped:
        return TROUBLE
    return 0 if any(answer.matches for answer in found) else NOTHING


def _settings(index: Index, options: dict[str, Any]) -> Settings:
    """What is asked for, with the recipe of the index."""
    similarity, k = one_threshold(options)
    recipe = index.settings.recipe
    bits = recipe.bits if options["bits"] is None else options["bits"]
    own = index.at(bits)
    return Settings(own.recipe, similarity, k, not options["no_verify"])


def _asked(
    index: Index, paths: tuple[str, ...], options: dict[str, Any], wish: dict[str, Any]
) -> tuple[list[Answer], tuple[Skipped, ...]]:
    """The answers to all that is asked for: files, standard input, texts, fingerprints."""
    texts = list(options["texts"])
    files = [path for path in paths if path != "-"]
    found, skipped = index.query_files(files, **wish)
    every = list(found)
    names = list(texts)
    if len(files) < len(paths):
        texts.insert(0, _stdin(index.settings.encoding))
        names.insert(0, "-")
    answered = index.query_many(texts, **wish)
    every += [Answer(name, each.matches) for name, each in zip(names, answered, strict=True)]
    for print_ in options["prints"]:
        every += index.query_rows(_row(print_), **wish)
    return every, skipped


def _stdin(named: str | None) -> str:
    """The text on standard input, in the encoding that the index names, or whatever it is.

    Raises InputError.
    """
    if not sys.stdin.readable():
        raise click.UsageError("- reads stdin, which is closed")
    data = sys.stdin.buffer.read()
    encoding = detect(data) if named is None else forced(named)
    if isinstance(encoding, NotText):
        raise InputError(f"'-': binary ({encoding.detail})")
    return decode(data, encoding)


def _row(written: str) -> np.ndarray:
    """A fingerprint as hexadecimal digits."""
    try:
        return np.frombuffer(bytes.fromhex(written), np.uint8)[None]
    except ValueError:
        raise click.UsageError(f"--fingerprint {written!r}: not hexadecimal digits") from None


def _summary(
    found: list[Answer], settings: Settings, documents: int, *, is_nearest: bool
) -> list[str]:
    matches = sum(len(answer.matches) for answer in found)
    answered = sum(bool(answer.matches) for answer in found)
    lines = [
        f"{count(matches, 'document')} found for {answered:,} of {count(len(found), 'question')},"
        f" among {documents:,}"
    ]
    bits = settings.recipe.bits
    k, want = reach(settings, documents), wanted(settings.similarity, bits)
    if settings.verified and k < want and not is_nearest:
        chance = recall(settings.similarity, bits, k)
        lines.append(
            f"looked within {k} instead of {want} bits, since chance would bring too many: a"
            f" document just {percent(settings.similarity)} alike is found with probability"
            f" {chance:.0%}; an index of more --bits avoids this"
        )
    return lines
