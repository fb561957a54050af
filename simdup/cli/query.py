"""`simdup query`: finds the documents in an index that are like a file, text or fingerprint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.output import Lines, look, tell
from simdup.cli.shown import Page, text_again, texts_option
from simdup.report.wording import count, percent
from simdup.settings import Settings

if TYPE_CHECKING:  # these load numpy
    import numpy as np

    from simdup.extract.readers import Readers
    from simdup.index.index import Index
    from simdup.index.records import Answer, Searched
    from simdup.records import Document, Skipped

Outcome: TypeAlias = "Answer | Skipped"

NOTHING, TROUBLE = 1, 2


class _Run(NamedTuple):
    """The outcomes of all questions: each FILE, then each --text, then each --fingerprint.

    answers: The answers among the outcomes, with the numbers of identical sets.
    typed: The text of the question of each answer, if it is a --text.
    skipped: The questions that could not be read.
    """

    outcomes: Sequence[Outcome]
    answers: Sequence[Answer]
    typed: Sequence[str | None]
    skipped: Sequence[Skipped]
    searched: Searched


def _row(text: str) -> np.ndarray:
    """Return the fingerprint row that hexadecimal digits spell, of shape (1, bits // 8)."""
    import numpy as np

    try:
        return np.frombuffer(bytes.fromhex(text), np.uint8)[None]
    except ValueError:
        raise ValueError(f"{text!r} is not hexadecimal digits") from None


class Query(NamedTuple):
    """The options of `simdup query`.

    texts: Find documents that are like TEXT.
    rows: Find documents whose fingerprints are near this one.
    top: Show only the N most similar documents; without -s or -k, the N nearest, however little
        they are alike.
    bits: Use the first bits of each fingerprint. [default: all]
    null: Print only names, each followed by NUL, and one more NUL after each answer.
    verbose: Also show in how many bits fingerprints differ.
    """

    file: str = options.argument("INDEX", options.PATH, replaces=options.OF_AN_INDEX)
    paths: tuple[str, ...] = options.argument(
        "FILE...", options.PATH, nargs=-1, instead=("--text", "--fingerprint")
    )
    texts: tuple[str, ...] = options.option("--text", multiple=True, metavar="TEXT", once=True)
    rows: tuple[np.ndarray, ...] = options.option(
        "--fingerprint", type=options.ParsedValue("hex", _row), multiple=True, once=True
    )
    thresholds: options.Thresholds = options.part(options.Thresholds)
    top: int | None = options.number(replaces=("--similarity",))
    parts: float | None = options.parts
    bits: int | None = options.option(type=int)
    companions: options.Companions = options.part(options.Companions)
    null: bool = options.flag("-0", "--null", once=True, excludes=("--format",))
    form: str = options.report_format(("text", "json", "jsonl", "csv"))
    verbose: bool = options.flag("-v", "--verbose")
    target: str | None = options.output
    page: Page = options.part(Page)
    html_texts: str | None = texts_option(
        "groups", " A file is opened for this only if the index saw these very bytes in it."
    )
    color: str = options.color
    quiet: bool = options.quiet


@click.command("query", cls=Command, record=Query, work="simdup.index.index")
def query_command(asked: Query) -> int:
    """Find the documents in INDEX that are like FILE...; - is stdin.

    Similarities are exact where the documents are readable and unchanged; elsewhere they are
    estimated from the fingerprints and marked with ~. Exits with 0 if something was found, 1
    if nothing was, 2 on errors, even if only one FILE had one.

    \b
    Examples:
      simdup query library.simdup essay.docx
      simdup query library.simdup --text "It was a bright cold day in April" --top 3
      simdup query library.simdup page.txt --parts
    """
    from simdup.index.index import Index
    from simdup.storage.sqlite import files_of

    options.refuse_overwriting(*(("INDEX", path) for path in files_of(asked.file)))
    is_json = asked.form.startswith("json") and not asked.null
    write = asked.page.writer(asked.target, as_utf8=is_json, quiet=asked.quiet)
    companions, stdin = asked.companions.settings(), options.stdin_copied(asked.paths)
    with Index(asked.file, companions) as index, stdin as copy:
        # Standard input is copied, so that it is read as any file is.
        run = _ask(index, [copy or path if path == "-" else path for path in asked.paths], asked)
        write(_rendered(run, asked), _page(run, asked))
    if not asked.quiet:
        tell(*(f"simdup: {each}" for each in run.skipped), *_summary(run))
    if run.skipped:
        return TROUBLE
    return 0 if any(answer.matches or answer.parts for answer in run.answers) else NOTHING


def _rendered(run: _Run, asked: Query) -> Lines:
    """Return the report in the format that was asked for."""
    from simdup.report import json_csv as data
    from simdup.report import query as reports

    if asked.null:
        return reports.render_null(run.outcomes)
    if asked.form == "text":
        shape = look(asked.color, asked.target, verbose=asked.verbose)
        return reports.render(run.answers, look=shape)
    if asked.form == "csv":
        return reports.render_csv(run.answers, has_parts=asked.parts is not None)
    render = data.as_json if asked.form == "json" else data.as_jsonl
    return render(reports.report(run.answers, run.searched, run.skipped))


def _page(run: _Run, asked: Query) -> Iterator[str]:
    """Yield the lines of the page, and read texts for it."""
    from simdup.extract.readers import Readers
    from simdup.report.page.answers import render_answers

    found, lang = (asked.file, run.answers, run.searched, run.skipped), asked.page.lang
    with closing(Readers(*run.searched.settings.reading)) as readers:
        texts = map(partial(_reads, readers), run.answers, run.typed)
        shown = None if asked.html_texts == "none" else texts
        yield from render_answers(*found, language=lang, texts=shown, day=time.time())


def _reads(
    readers: Readers, answer: Answer, typed: str | None
) -> Iterator[Callable[[], str | Skipped]]:
    """Yield functions that read the text of a question, and the documents found for it."""
    from simdup.records import Reason, Skipped

    if typed is not None:
        yield partial(str, typed)
    elif answer.document is None:  # a fingerprint has no text
        yield partial(Skipped, "", Reason.UNEXTRACTED)
    else:
        yield partial(text_again, readers, answer.document)
    for match in answer.matches:
        yield partial(_text_now, readers, match.document)


def _text_now(readers: Readers, document: Document) -> str | Skipped:
    """Return the text of a document of the index, whatever the times of its file, or why not."""
    from simdup.files.walk import listed
    from simdup.records import Reason, Skipped

    if not os.path.isabs(document.path):
        return Skipped(document.path, Reason.VANISHED)  # a text that was added by name
    (now,) = listed([document.path])
    if isinstance(now, Skipped):
        return now
    if now.size != document.source.size:
        return Skipped(document.path, Reason.CHANGED)
    return text_again(readers, document._replace(source=now))


def _ask(index: Index, files: Sequence[str], asked: Query) -> _Run:
    """Return the outcome of every question, and how the index was searched.

    `files` are the paths that were asked for, or copies of them.
    """
    from simdup.index.query import with_sets
    from simdup.index.records import Answer, Searched
    from simdup.records import Skipped

    settings, top, paths, texts = _settings(index, asked), asked.top, asked.paths, asked.texts
    is_nearest = top is not None and not options.is_set("similarity") and settings.k is None
    how: dict[str, Any] = {"settings": settings, "top": top, "is_any_alike": is_nearest}
    outcomes = _in_order(paths, files, *index.query_files(files, **how))
    names = [str(place) for place in range(len(texts))]
    outcomes += _in_order(texts, names, *index.query_texts(texts, **how))
    outcomes += [answer for row in asked.rows for answer in index.query_rows(row, **how)]
    typed = [*([None] * len(paths)), *texts, *([None] * len(asked.rows))]
    size = len(index)
    return _Run(
        outcomes,
        with_sets([each for each in outcomes if isinstance(each, Answer)]),
        [text for text, each in zip(typed, outcomes, strict=True) if isinstance(each, Answer)],
        [each for each in outcomes if isinstance(each, Skipped)],
        Searched(settings, size, top, None) if is_nearest else _searched(settings, size, top),
    )


def _settings(index: Index, asked: Query) -> Settings:
    """Return the settings of an index with what was asked on the command line."""
    if asked.parts is not None:
        index.check_for_parts()
    own = index.at(index.settings.recipe.bits if asked.bits is None else asked.bits)
    similarity, k, no_verify = asked.thresholds
    return replace(own, similarity=similarity, k=k, verified=not no_verify, parts=asked.parts)


def _searched(settings: Settings, documents: int, top: int | None) -> Searched:
    """Return the distances of a search in an index of this size, and the recall to expect."""
    from simdup.index.query import reach
    from simdup.index.records import Searched
    from simdup.match.candidates import recall, search_distance

    k = reach(settings, documents)
    if not settings.verified:
        return Searched(settings, documents, top, k)
    bits, similarity = settings.recipe.bits, settings.similarity
    chance = recall(similarity, bits, k)
    return Searched(settings, documents, top, k, search_distance(similarity, bits), chance)


def _in_order(
    asked: Sequence[str], names: Sequence[str], found: Sequence[Answer], skipped: Sequence[Skipped]
) -> list[Outcome]:
    """Return the outcomes of the questions `asked`; the index knows each by its name in `names`."""
    waiting, unreadable = iter(found), {each.path: each for each in skipped}
    return [
        replace(unreadable[name], path=question)
        if name in unreadable
        else replace(next(waiting), question=question)
        for question, name in zip(asked, names, strict=True)
    ]


def _summary(run: _Run) -> list[str]:
    from simdup.report.text import parts_counted

    found, searched = run.answers, run.searched
    matches = sum(len(answer.matches) for answer in found)
    answered = sum(bool(answer.matches) for answer in found)
    lines = [
        f"{count(matches, 'document')} found for {answered:,} of {count(len(found), 'question')},"
        f" among {searched.documents:,}"
    ]
    if (share := searched.settings.parts) is not None:
        parts = sum(len(answer.parts) for answer in found)
        lines.append(parts_counted(parts, share, "document"))
        if unread := sum(answer.unread for answer in found):
            more = count(unread, "more document")
            lines.append(f"{more} may share enough too: too many to be read")
    elif not matches and any(answer.document for answer in found):
        lines.append("a quotation is found with --parts, in an index built with --parts")
    k, want, chance = searched.k, searched.wanted, searched.recall
    if k is not None and want is not None and k < want:
        lines.append(
            f"searched within {k} bits instead of {want}, beyond which too many documents would be"
            f" near by chance; one that is just {percent(searched.settings.similarity)} alike is"
            f" found with probability {chance:.0%} (an index with more --bits avoids this)"
        )
    return lines
