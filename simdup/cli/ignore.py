"""`simdup ignore`: pairs of files that are no duplicates, whatever scans think of them."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdup.cli.options import reading_from, reading_options
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import tell
from simdup.errors import InputError
from simdup.files.compare import document_at
from simdup.files.ignored import (
    IgnoredPair,
    default_place,
    is_no_list,
    is_place_named,
    line_of,
    lines_in,
    pairs_in,
)
from simdup.report.terminal import padded, width
from simdup.report.wording import count, printable
from simdup.storage.home import if_there_is_one
from simdup.storage.sqlite import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simdup.settings import Settings

    Command = TypeVar("Command", bound=Callable[..., Any])

_place = click.option(
    "--ignored",
    type=click.Path(readable=False),
    metavar="FILE",
    help="The list of pairs.  [default: SIMDUP_IGNORED, or in your folder of data]",
)


def ignored_options(command: Command) -> Command:
    """What says which pairs are left out of a result; `ignored_from` takes them."""
    command = click.option("--no-ignored", is_flag=True, help="Leave out no pair.")(command)
    return click.option(
        "--ignored",
        type=click.Path(readable=False),
        metavar="FILE",
        help="Leave out the pairs of this list of `simdup ignore`."
        "  [default: SIMDUP_IGNORED, or in your folder of data]",
    )(command)


def ignored_from(options: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """The pairs of digests to leave out, by the options. Raises UsageError and InputError.

    What is no list at the default place, which nobody has named, is left alone and done without.
    """
    named, is_wanted = options.pop("ignored"), not options.pop("no_ignored")
    if named is not None and not is_wanted:
        raise click.UsageError("--ignored and --no-ignored exclude each other")
    if not is_wanted:
        return []
    place = if_there_is_one(default_place) if named is None else Path(named)
    if place is None:
        return []
    if named is None and not is_place_named() and is_no_list(place):
        if not options["quiet"]:
            tell(f"simdup: {str(place)!r}: not a regular file; going on without the list")
        return []
    return [pair.digests for pair in _known(named)]


def list_read(options: dict[str, Any]) -> str | None:
    """The path of the list that `ignored_from` will read; None for none."""
    if options["no_ignored"]:
        return None
    named = options["ignored"]
    place = if_there_is_one(default_place) if named is None else named
    return None if place is None else str(place)


def _known(named: str | None) -> list[IgnoredPair]:
    """The pairs in a list; none where the default one is not there yet."""
    try:
        return pairs_in(default_place() if named is None else Path(named))
    except (FileNotFoundError, NotADirectoryError):
        if named is not None:
            raise
        return []


@click.group("ignore")
def ignore_command() -> None:
    """Say which pairs of files are no duplicates; scans then leave them out and count them.

    A pair is remembered by its texts: it stays one when the files move or are re-encoded,
    and ends when one is edited. Exits with 0 when done, 2 when it could not be.

    \b
    Examples:
      simdup ignore add form-2023.txt form-2024.txt
      simdup ignore list
    """


@ignore_command.command("add")
@click.argument("left", type=click.Path(readable=False), metavar="A")
@click.argument("right", type=click.Path(readable=False), metavar="B")
@_place
@reading_options
def add_command(left: str, right: str, ignored: str | None, **options: Any) -> int:  # noqa: ANN401
    """Remember that A and B are no duplicates.

    Give the options that say how files are read (--encoding and so on) as to scans.

    \b
    Examples:
      simdup ignore add form-2023.txt form-2024.txt
      simdup ignore add docs/api.md docs/cli.md --ignored .simdup-ignored
    """
    path = default_place() if ignored is None else Path(ignored)
    refuse_same_files([("the list of pairs", str(path))], [("A", left), ("B", right)])
    one, other = _digests(left, right, reading_from(options))
    if one == other:
        raise InputError(
            f"{left!r} and {right!r} hold the very same text; only texts that differ can be ignored"
        )
    names = _name(left, path), _name(right, path)
    pair = IgnoredPair((one.hex(), other.hex()), names, date.today().isoformat())  # noqa: DTZ011
    with _changing(path, is_named=ignored is not None):
        lines = lines_in(path) if path.exists() else []
        if any(known.is_of(one, other) for _, known in lines):
            tell(f"simdup: {_said(pair)} were ignored before")
            return 0
        writer(str(path), as_utf8=True, mode=PRIVATE)([*(line for line, _ in lines), line_of(pair)])
    click.echo(f"ignored: {_said(pair)}; {count(len(lines) + 1, 'pair')} in {printable(str(path))}")
    return 0


@ignore_command.command("list")
@_place
def list_command(ignored: str | None) -> int:
    """Show every pair: its number, the day it was added, and the names of the files then.

    \b
    Examples:
      simdup ignore list
      simdup ignore list --ignored .simdup-ignored
    """
    pairs = _known(ignored)
    left, right = ([printable(pair.names[side]) for pair in pairs] for side in (0, 1))
    widest = max(map(width, left), default=0)
    writer(None, as_utf8=False)(
        f"{number:>4}  {pair.added}  {padded(left[number - 1], widest)}  {right[number - 1]}"
        for number, pair in enumerate(pairs, 1)
    )
    path = default_place() if ignored is None else Path(ignored)
    tell(f"{count(len(pairs), 'pair')} in {printable(str(path))}")
    return 0


@ignore_command.command("remove")
@click.argument("pair", nargs=-1, required=True, metavar="A B|NUMBER")
@_place
@reading_options
def remove_command(pair: tuple[str, ...], ignored: str | None, **options: Any) -> int:  # noqa: ANN401
    """Let A and B be duplicates again, or the pair that `simdup ignore list` shows as NUMBER.

    \b
    Examples:
      simdup ignore remove form-2023.txt form-2024.txt
      simdup ignore remove 3
    """
    settings = reading_from(options)
    path = default_place() if ignored is None else Path(ignored)
    if not path.exists():
        raise InputError(f"{str(path)!r}: there is no such list; `simdup ignore add` makes one")
    with _changing(path, is_named=True):
        lines = lines_in(path)
        chosen = _chosen([known for _, known in lines], pair, settings)
        kept = [line for line, known in lines if known not in chosen]
        writer(str(path), as_utf8=True, mode=PRIVATE)(kept)
    click.echo(f"no longer ignored: {_said(chosen[0])}; {count(len(kept), 'pair')} left")
    return 0


def _chosen(
    known: list[IgnoredPair], pair: tuple[str, ...], settings: Settings
) -> list[IgnoredPair]:
    """The pair that is meant, as often as it is there. Raises UsageError and InputError."""
    if len(pair) == 1:
        if not pair[0].isdecimal() or not 1 <= int(pair[0]) <= len(known):
            raise InputError(f"{pair[0]!r} is no number of {count(len(known), 'ignored pair')}")
        return [known[int(pair[0]) - 1]]
    if len(pair) != 2:
        raise click.UsageError("give two files, or the number of a pair")
    one, other = _digests(*pair, settings)
    chosen = [each for each in known if each.is_of(one, other)]
    if not chosen:
        raise InputError(
            f"{pair[0]!r} and {pair[1]!r}, as they are now, are no ignored pair;"
            " `simdup ignore list` has the numbers of those that are"
        )
    return chosen


def _digests(left: str, right: str, settings: Settings) -> tuple[bytes, bytes]:
    """What the texts of two files are known by. Raises InputError."""
    one, other = (document_at(each, settings)[0].text_digest for each in (left, right))
    return one, other


def _said(pair: IgnoredPair) -> str:
    return " and ".join(map(printable, pair.names))


def _name(path: str, beside: Path) -> str:
    """The name to remember: below the folder of the list as seen from there, else whole."""
    whole, folder = os.path.abspath(path), os.path.abspath(beside.parent)
    is_below = os.path.commonpath((whole, folder)) == folder
    return printable(os.path.relpath(whole, folder) if is_below else whole)


@contextmanager
def _changing(path: Path, *, is_named: bool) -> Iterator[None]:
    """The folder of a list is there, and no other simdup changes a list in it meanwhile."""
    if not is_named:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ImportError:
        yield
        return
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system that has no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
