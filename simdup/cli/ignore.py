"""`simdup ignore`: the list of pairs of files that the user marked as not duplicates."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import tell
from simdup.errors import InputError
from simdup.report.wording import count, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.files.ignored import IgnoredPair
    from simdup.settings import Settings

_DEFAULT = "[default: SIMDUP_IGNORED, or a file in your data folder]"

_list_option = options.file("--ignored", f"The list of pairs.  {_DEFAULT}")

#: Which pairs are left out of a result; for `ignored_file` and `ignored_digests`.
ignored_options = options.together(
    options.file("--ignored", f"Leave out the pairs in this list of `simdup ignore`.  {_DEFAULT}"),
    options.flag("--no-ignored", "Leave out no pair."),
)


def ignored_file(given: dict[str, Any]) -> Path | None:
    """Return the path of the list to leave out, None for no list. Raises UsageError."""
    from simdup.files.ignored import default_place
    from simdup.storage.home import if_there_is_one

    named = given["ignored"]
    if not given["no_ignored"]:
        return if_there_is_one(default_place) if named is None else Path(named)
    if named is not None:
        raise click.UsageError("--ignored and --no-ignored exclude each other")
    return None


def ignored_digests(given: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """Return the pairs of digests to leave out. Raises UsageError and InputError.

    If something other than a file stands at the default place, which nobody has named, a
    warning says so and no pair is left out.
    """
    from simdup.files.ignored import is_no_list, is_place_named

    path, named = ignored_file(given), given["ignored"]
    if path is None:
        return []
    if named is None and not is_place_named() and is_no_list(path):
        if not given["quiet"]:
            tell(f"simdup: {str(path)!r}: not a regular file; going on without the list")
        return []
    return [pair.digests for pair in _pairs(named)]


def _path(named: str | None) -> Path:
    from simdup.files.ignored import default_place

    return default_place() if named is None else Path(named)


def _pairs(named: str | None) -> list[IgnoredPair]:
    """Return the pairs in a list; none if the default list does not exist yet."""
    from simdup.files.ignored import pairs_in

    try:
        return pairs_in(_path(named))
    except (FileNotFoundError, NotADirectoryError):
        if named is not None:
            raise
        return []


@click.group("ignore", cls=Group)
def ignore_command() -> None:
    """Mark pairs of files as not duplicates; scans then leave them out and count them.

    simdup remembers the texts of a pair: the pair stays ignored when the files are moved or
    re-encoded, until one of the texts is edited. Exits with 0 when done, 2 on errors.

    \b
    Examples:
      simdup ignore add form-2023.txt form-2024.txt
      simdup ignore list
    """


@ignore_command.command("add", work="simdup.files.compare")
@click.argument("left", type=options.PATH, metavar="A")
@click.argument("right", type=options.PATH, metavar="B")
@_list_option
@options.reading
def add_command(left: str, right: str, ignored: str | None, **given: Any) -> int:
    """Remember that A and B are not duplicates.

    Give the same --encoding, --formats and --convert as to `simdup scan`.

    \b
    Examples:
      simdup ignore add form-2023.txt form-2024.txt
      simdup ignore add docs/api.md docs/cli.md --ignored .simdup-ignored
    """
    from datetime import date

    from simdup.files.ignored import IgnoredPair, line_of, lines_in

    path = _path(ignored)
    refuse_same_files([("the list of pairs", path)], [("A", left), ("B", right)])
    one, other = _digests((left, right), options.reading_from(given))
    if one == other:
        raise InputError(
            f"{left!r} and {right!r} hold the very same text; only texts that differ can be ignored"
        )
    names = _name(left, path), _name(right, path)
    pair = IgnoredPair((one.hex(), other.hex()), names, date.today().isoformat())  # noqa: DTZ011
    if ignored is None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(path.parent):
        lines = lines_in(path) if path.exists() else []
        if any(known.is_of(one, other) for _, known in lines):
            tell(f"simdup: {_files(pair)} were ignored before")
            return 0
        _write(path, [*(line for line, _ in lines), line_of(pair)])
    total = count(len(lines) + 1, "pair")
    click.echo(f"ignored: {_files(pair)}; {total} in {printable(str(path))}")
    return 0


@ignore_command.command("list", work="simdup.files.ignored")
@_list_option
def list_command(ignored: str | None) -> int:
    """Show every pair: its number, the day it was added, and the names of the files on that day.

    \b
    Examples:
      simdup ignore list
      simdup ignore list --ignored .simdup-ignored
    """
    from simdup.report.terminal import padded, width

    pairs = _pairs(ignored)
    names = [[printable(name) for name in pair.names] for pair in pairs]
    widest = max((width(left) for left, _ in names), default=0)
    writer(None, as_utf8=False)(
        f"{number:>4}  {pair.added}  {padded(left, widest)}  {right}"
        for number, (pair, (left, right)) in enumerate(zip(pairs, names, strict=True), 1)
    )
    tell(f"{count(len(pairs), 'pair')} in {printable(str(_path(ignored)))}")
    return 0


@ignore_command.command("remove", work="simdup.files.compare")
@click.argument("pair", nargs=-1, required=True, metavar="A B|NUMBER")
@_list_option
@options.reading
def remove_command(pair: tuple[str, ...], ignored: str | None, **given: Any) -> int:
    """Let A and B be duplicates again, or the pair that `simdup ignore list` shows as NUMBER.

    \b
    Examples:
      simdup ignore remove form-2023.txt form-2024.txt
      simdup ignore remove 3
    """
    from simdup.files.ignored import lines_in

    settings, path = options.reading_from(given), _path(ignored)
    if not path.exists():
        raise InputError(f"{str(path)!r}: there is no such list; `simdup ignore add` makes one")
    with _locked(path.parent):
        lines = lines_in(path)
        chosen = _chosen([known for _, known in lines], pair, settings)
        kept = [line for line, known in lines if known not in chosen]
        _write(path, kept)
    click.echo(f"no longer ignored: {_files(chosen[0])}; {count(len(kept), 'pair')} left")
    return 0


def _chosen(
    known: list[IgnoredPair], pair: tuple[str, ...], settings: Settings
) -> list[IgnoredPair]:
    """Return the pair to remove, every time it is listed. Raises UsageError and InputError."""
    if len(pair) == 1:
        if not pair[0].isdecimal() or not 1 <= int(pair[0]) <= len(known):
            raise InputError(f"{pair[0]!r} is no number of {count(len(known), 'ignored pair')}")
        return [known[int(pair[0]) - 1]]
    if len(pair) != 2:
        raise click.UsageError("give two files, or the number of a pair")
    digests = _digests(pair, settings)
    chosen = [each for each in known if each.is_of(*digests)]
    if not chosen:
        raise InputError(
            f"{pair[0]!r} and {pair[1]!r} are not an ignored pair, as they are now;"
            " `simdup ignore list` shows the numbers of all pairs"
        )
    return chosen


def _digests(pair: tuple[str, ...], settings: Settings) -> tuple[bytes, bytes]:
    """Return the digests of the texts of two files. Raises InputError."""
    from simdup.files.compare import document_at

    left, right = (document_at(path, settings)[0].text_digest for path in pair)
    return left, right


def _files(pair: IgnoredPair) -> str:
    return " and ".join(map(printable, pair.names))


def _name(path: str, beside: Path) -> str:
    """Return the name to remember: relative to the list's folder if below it, else absolute."""
    absolute, folder = os.path.abspath(path), os.path.abspath(beside.parent)
    is_below = os.path.commonpath((absolute, folder)) == folder
    return printable(os.path.relpath(absolute, folder) if is_below else absolute)


def _write(path: Path, lines: list[str]) -> None:
    from simdup.storage.sqlite import PRIVATE

    writer(str(path), as_utf8=True, mode=PRIVATE)(lines)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other runs of simdup from changing a list in a folder at the same time."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system that has no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
