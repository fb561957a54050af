"""The page that `--html` asks for: its options, and the texts that go into it."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdup.cli.output import writer
from simdup.extract.readers import Readers
from simdup.files.read import WHOLE, SkipError, read_again
from simdup.records import Document, Reason, Skipped
from simdup.report.page.render import LANGUAGES, LARGEST_PAGE, render
from simdup.report.wording import size

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.progress import Progress
    from simdup.records import ScanResult
    from simdup.report.page.contents import ReadText

    Command = TypeVar("Command", bound=Callable[..., Any])

TEXTS = ("none", "groups")


def page_options(texts: str, note: str = "") -> Callable[[Command], Command]:
    """`--html` and what belongs to it; `texts` is what it takes of TEXTS unless told."""
    options = [
        click.option(
            "--html",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Write the result there as a page to look at, too; it needs no network.",
        ),
        click.option(
            "--html-texts",
            type=click.Choice(TEXTS),
            help="Put the texts of groups into the page, to be compared there, up to"
            f" {size(LARGEST_PAGE)} in all; or none.{note}  [default: {texts}]",
        ),
        click.option(
            "--lang",
            type=click.Choice(LANGUAGES),
            help="The language that the page opens in.  [default: by LC_ALL, LC_MESSAGES, LANG]",
        ),
    ]

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def page_writer(
    options: dict[str, Any], texts: str, checked: Callable[[Document], Document | Skipped]
) -> Callable[[ScanResult, Progress], None]:
    """A function that writes the page of a result, or does nothing without `--html`.

    Takes its options out of `options`; `texts` is for `--html-texts` if that was not given.
    `checked` says where a document is to be read from, or why not. Raises UsageError, and
    InputError now if the file could not be written.
    """
    path, wanted, language = (options.pop(name) for name in ("html", "html_texts", "lang"))
    if path is None:
        for name, value in (("--html-texts", wanted), ("--lang", language)):
            if value is not None:
                raise click.UsageError(f"{name} goes with --html")
        return lambda _result, _progress: None
    write = writer(path, as_utf8=True)
    language = language or language_of(os.environ)

    def written(result: ScanResult, progress: Progress) -> None:
        if (wanted or texts) == "none":
            write(render(result, language))
            return
        with closing(Readers(result.settings.formats, result.settings.converters)) as readers:
            groups = progress(result.groups, "texts", len(result.groups))
            write(render(result, language, _reader(readers, checked), groups))

    return written


def _reader(readers: Readers, checked: Callable[[Document], Document | Skipped]) -> ReadText:
    """The function that reads a document again for the page; none that is huge."""

    def read(document: Document) -> str | Skipped:
        if document.source.size > WHOLE:
            return Skipped(document.path, Reason.TOO_LARGE)
        found = checked(document)
        if isinstance(found, Skipped):
            return found
        try:
            return read_again(found, readers).text
        except SkipError as skip:
            return skip.at(document.path)

    return read


def language_of(environment: os._Environ[str] | dict[str, str]) -> str:
    """The language that the locale asks for: zh for Chinese, else en.

    >>> language_of({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}), language_of({})
    ('zh', 'en')
    """
    names = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next(filter(None, names), "").lower().startswith("zh") else "en"
