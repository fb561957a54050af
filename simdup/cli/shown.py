"""The options that say what a report or a web page shows, and the report or page they ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdup.cli import options
from simdup.cli.output import Lines, look, tell, writer
from simdup.progress import Progress
from simdup.report import MOST_GROUPS, SORTS
from simdup.report.page import LANGUAGES, LARGEST_PAGE
from simdup.report.wording import printable, size

if TYPE_CHECKING:  # these load numpy
    from simdup.extract.readers import Readers
    from simdup.records import Document, ScanResult, Skipped
    from simdup.report.order import View


#: The options that ask for a page.
PAGE = ("--html", "--open")


class Shown(NamedTuple):
    """Which groups a report shows, in which order, and how much of each.

    sort: Which groups are the most useful: those with the highest scores, the ones in which
        most bytes repeat, the ones with most files, or by name. A report in text ends with the most
        useful ones, next to the prompt; other formats begin with them.
    limit: Show only the N most useful groups. [default: all; on a terminal as many as fit, at most
        {MOST_GROUPS}]
    everything: Show every file of every group, also on a terminal and in folders that are copies.
    summary: Show only the summary.
    related: Also list groups of related texts: they are alike, but perhaps just two of a series.
    siblings: Also report files of one pattern: they are alike, but share that with many other
        files.
    verbose: Also show the figures behind each score, and in how many bits fingerprints differ.
    """

    sort: str = options.choice(SORTS)
    limit: int | None = options.number()
    everything: bool = options.flag("--all", excludes=("--limit",))
    summary: bool = options.flag(needs=("--format text",), replaces=("--format",))
    related: bool = options.flag()
    siblings: bool = options.flag()
    verbose: bool = options.flag("-v", "--verbose")

    def renderer(
        self, form: str, target: str | None, color: str, *, null: bool = False
    ) -> Callable[[ScanResult], Lines]:
        """Return the function that renders a result in a format; with `null`, names end in NUL."""
        from simdup.report import text

        if self.summary:
            # --siblings and --related would change nothing.
            return partial(text.closing, siblings=True, related=True)
        if form == "text":
            shape = look(color, target, verbose=self.verbose)
            shown = partial(text.render, siblings=self.siblings, related=self.related)
            return partial(shown, look=shape, view=self._view(target))
        from simdup.findings.identical import identical_bytes
        from simdup.report import json_csv as data
        from simdup.report.order import by_tier, selected

        listed = text.null_names if null else text.names
        renderers: dict[str, Callable[..., Lines]] = {
            "json": partial(data.render_json, siblings=self.siblings),
            "jsonl": partial(data.render_jsonl, siblings=self.siblings),
            "csv": partial(data.render_csv, siblings=self.siblings),
            "names": lambda result: listed(text.in_groups(result)),
            "fdupes": lambda result: listed(identical_bytes(result.groups)),
        }
        # A program gets all groups, whatever a configuration file says, unless it asks for fewer.
        limit = self.limit if options.is_given("limit") else None

        def rendered(result: ScanResult) -> Lines:
            # Names say nothing of tiers, so related texts are not among them unless asked for.
            if form == "names" and not self.related:
                result, _ = by_tier(result)
            return renderers[form](selected(result, self.sort, limit))

        return rendered

    def closing(self, result: ScanResult) -> list[str]:
        """Return the lines that follow the report."""
        from simdup.report.text import closing

        return closing(result, siblings=self.siblings, related=self.related)

    def _view(self, target: str | None) -> View:
        """Return how much a text report shows: all of it, unless it goes to a terminal."""
        from simdup.report.order import View

        if self.everything:
            return View(self.sort)
        view = View(self.sort, self.limit, is_folded=True)
        if target is not None or not sys.stdout.isatty():
            return view
        from shutil import get_terminal_size

        lines = None if self.limit else get_terminal_size().lines
        return view._replace(limit=self.limit or MOST_GROUPS, is_brief=True, lines=lines)


class Page(NamedTuple):
    """The web page to write.

    html: Also write the result as a web page to this file; the page needs no network.
    lang: The language that the page opens in. [default: by the reader's browser]
    opens: Open the page in your browser; without --html it is written to a temporary folder.
    """

    html: str | None = options.file(once=True, writes=True)
    lang: str | None = options.option(type=click.Choice(LANGUAGES), needs=PAGE)
    opens: bool = options.flag("--open", once=True)

    def writer(
        self, target: str | None, *, as_utf8: bool, quiet: bool = True
    ) -> Callable[..., None]:
        """Return a function that writes the lines of a report, and then those of a page.

        The report goes to `target`, see `output.writer`. A page is opened with `--open`; the lines
        of one that nobody wants are not asked for. Raises InputError now if a file could not be
        written. Unless `quiet`, the path of a page is printed.
        """
        write_report = writer(target, as_utf8=as_utf8)
        if self.html is None and not self.opens:
            return lambda report, _=(): write_report(report)
        from tempfile import mkdtemp

        path = self.html or os.path.join(mkdtemp(prefix="simdup-"), "page.html")
        write_page = writer(path, as_utf8=True)

        def write(report: Lines, page: Iterable[str] = ()) -> None:
            try:
                write_report(report)
            finally:  # whoever reads the report may have enough of it
                if page:
                    write_page(page)
                    if self.opens:
                        _open(path)
                    elif not quiet:
                        tell(f"page: {printable(path)}")

        return write


def texts_option(default: str, note: str = "") -> Any:
    """Declare `--html-texts`; its help names the default and ends with the note."""
    return options.option(
        "--html-texts",
        f"Whether the page contains the texts of groups, up to {size(LARGEST_PAGE)} in all, so that"
        f" they can be compared there.{note}  [default: {default}]",
        type=click.Choice(["none", "groups"]),
        needs=PAGE,
    )


def page_lines(
    result: ScanResult, language: str | None, texts: str, progress: Progress, day: float | None
) -> Iterator[str]:
    """Yield the lines of the page of a result.

    `texts` is a value of `--html-texts`; with "differences" the page has no texts, but says what
    differs. `day` is when the scan was, in seconds since 1970, or None.
    """
    from simdup.extract.readers import Readers
    from simdup.report.page.render import render

    with closing(Readers(*result.settings.reading)) as readers:
        every = result.groups + result.patterns
        groups = progress(every, "texts", len(every))
        reads = (
            (each.id, [partial(text_again, readers, member.document) for member in each.members])
            for each in groups
        )
        read = None if texts == "none" else reads
        yield from render(result, language, read, day, has_texts=texts == "groups")


def _open(path: str) -> None:
    """Open a page in the browser of the user, and say where it is."""
    import webbrowser
    from pathlib import Path

    is_open = webbrowser.open(Path(path).absolute().as_uri())
    tell(f"the page {'is open' if is_open else 'found no browser'}: {printable(path)}")


def text_again(readers: Readers, document: Document) -> str | Skipped:
    """Return the text of a document for the page, or why the page cannot have it.

    The file must have the size, the mtime and the bytes that it had when it was fingerprinted, or
    the same text where the result has no digest of the bytes. So a forged result brings no text
    into the page that its author did not know.
    """
    from simdup.files.read import SkipError, read_again
    from simdup.records import Reason, Skipped

    if document.source.size > readers.limits.whole_bytes:
        return Skipped(document.path, Reason.TOO_LARGE)
    try:
        read = read_again(document, readers)
    except SkipError as skip:
        return skip.at(document.path)
    if read.document.encoding != document.encoding:  # a saved result has no converters
        return Skipped(document.path, Reason.UNEXTRACTED)
    known, now = document.bytes_digest, read.document.bytes_digest
    if not known:
        known, now = document.text_digest, read.document.text_digest
    if not known:
        return Skipped(document.path, Reason.UNREADABLE, "the result has no digest of it")
    return read.text if now == known else Skipped(document.path, Reason.CHANGED)
