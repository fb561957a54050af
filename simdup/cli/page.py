"""The web page of `--html`: its options, and the texts that go into it."""

from __future__ import annotations

import os
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.output import writer
from simdup.cli.terminal import tell
from simdup.report.page import LANGUAGES, LARGEST_PAGE
from simdup.report.wording import printable, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.extract.readers import Readers
    from simdup.progress import Progress
    from simdup.records import Document, ScanResult, Skipped


def page_options(default_texts: str | None, note: str = "") -> options.Decorator:
    """Return `--html`, `--html-texts` (with its default and a note), `--lang` and `--open`.

    If `default_texts` is None, the page never has texts, and `--html-texts` is left out.
    """
    texts = options.option(
        "--html-texts",
        f"Whether the page contains the texts of groups, up to {size(LARGEST_PAGE)} in all, so that"
        f" they can be compared there.{note}  [default: {default_texts}]",
        type=click.Choice(["none", "groups"]),
    )
    return options.together(
        options.file(
            "--html", "Also write the result as a web page to this file; the page needs no network."
        ),
        *([] if default_texts is None else [texts]),
        options.option(
            "--lang",
            "The language that the page opens in.  [default: by the reader's browser]",
            type=click.Choice(LANGUAGES),
        ),
        options.flag(
            "--open",
            "opens",
            "Open the page in your browser; without --html it is written to a temporary folder.",
        ),
    )


def page_target(given: dict[str, Any]) -> Callable[[Iterable[str]], None] | None:
    """Return a function that writes the lines of a page, and opens it with `--open`.

    Return None without `--html` and `--open`. Raises UsageError, and InputError now if the file
    could not be written.
    """
    if given["html"] is None and not given["opens"]:
        for name in ("html_texts", "lang"):
            if given.get(name) is not None:
                raise click.UsageError(f"{options.spelled(name)} goes with --html or --open")
        return None
    path = given["html"] or _temporary_place()
    write = writer(path, as_utf8=True)

    def write_page(lines: Iterable[str]) -> None:
        write(lines)
        if given["opens"]:
            _open(path)

    return write_page


def page_writer(
    given: dict[str, Any],
    texts: str,
    locate: Callable[[Document], Document | Skipped],
    day: Callable[[], float | None] = time.time,
) -> Callable[[ScanResult, Progress], None]:
    """Return a function that writes the page of a result, and opens it with `--open`.

    The function does nothing without `--html` and `--open`. `texts` is the default of
    `--html-texts`. `locate` returns the document to read for the page, or why it is not read.
    `day` returns when the scan was, in seconds since 1970, or None. Raises as `page_target` does.
    """
    write, language = page_target(given), given["lang"]
    if write is None:
        return lambda _result, _progress: None
    texts = given["html_texts"] or texts

    def write_page(result: ScanResult, progress: Progress) -> None:
        from simdup.extract.readers import Readers
        from simdup.report.page.render import render

        if texts == "none":
            write(render(result, language, day=day()))
        else:
            with closing(Readers(*result.settings.reading)) as readers:
                every = result.groups + result.patterns
                groups = progress(every, "texts", len(every))
                read = partial(text_again, readers, locate)
                write(render(result, language, read, groups, day()))

    return write_page


def _temporary_place() -> str:
    """Return the path, in a new temporary folder, for a page that the user gave no path."""
    from tempfile import mkdtemp

    return os.path.join(mkdtemp(prefix="simdup-"), "page.html")


def _open(path: str) -> None:
    """Open a page in the browser of the user, and say where it is."""
    import webbrowser
    from pathlib import Path

    is_open = webbrowser.open(Path(path).absolute().as_uri())
    tell(f"the page {'is open' if is_open else 'found no browser'}: {printable(path)}")


def text_again(
    readers: Readers, locate: Callable[[Document], Document | Skipped], document: Document
) -> str | Skipped:
    """Return the text of a document for the page, or why the page cannot have it.

    The file must have the bytes that it had when it was fingerprinted, or the same text where the
    result has no digest of the bytes. So a forged result brings no text into the page
    that its author did not know.
    """
    from simdup.files.read import WHOLE, SkipError, digest, read_again
    from simdup.records import Reason, Skipped

    if document.source.size > WHOLE:
        return Skipped(document.path, Reason.TOO_LARGE)
    found = locate(document)
    if isinstance(found, Skipped):
        return found
    try:
        text, of_bytes = read_again(found, readers)
    except SkipError as skip:
        return skip.at(document.path)
    known, now = document.bytes_digest, of_bytes
    if not known:
        known, now = document.text_digest, digest(text.encode("utf-8", "surrogatepass"))
    if not known:
        return Skipped(document.path, Reason.UNREADABLE, "the result has no digest of it")
    return text if now == known else Skipped(document.path, Reason.CHANGED)
