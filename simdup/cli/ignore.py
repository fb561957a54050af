"""`simdup ignore`: the list of files that the user marked as not duplicates of each other."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import refuse_same_files, tell, writer
from simdup.errors import InputError
from simdup.report.wording import count, printable
from simdup.settings import Settings

if TYPE_CHECKING:  # this loads numpy
    from simdup.files.ignored import IgnoredTexts

# No group or entry has a longer number, which may be too large to look up.
_MOST_DIGITS = 18

_DEFAULT = "[default: SIMDUP_IGNORED, or a file in your data folder]"


class Ignored(NamedTuple):
    """Which pairs are left out of a result.

    ignored: Leave out the pairs in this list of `simdup ignore`. {_DEFAULT}
    no_ignored: Leave out no pair.
    """

    ignored: str | None = options.file(excludes=("--no-ignored",))
    no_ignored: bool = options.flag()

    def path(self) -> str | None:
        """Return the path of the list to leave out, None for no list."""
        from simdup.storage.home import if_there_is_one

        return None if self.no_ignored else if_there_is_one(partial(_path, self.ignored))

    def named(self) -> tuple[str, str | None]:
        """Return the path of the list with its name for the user, see `refuse_overwriting`."""
        return "the list of ignored pairs", self.path()

    def digests(self, *, quiet: bool) -> list[tuple[bytes, bytes]]:
        """Return the pairs of digests to leave out. Raises InputError.

        If something other than a file stands at the default place, which nobody has named, a
        warning says so and no pair is left out.
        """
        from simdup.files.ignored import is_no_list, is_place_named

        path = self.path()
        if path is None:
            return []
        if self.ignored is None and not is_place_named() and is_no_list(path):
            if not quiet:
                tell(f"simdup: {path!r}: not a regular file; going on without the list")
            return []
        return [pair for entry in _entries(self.ignored) for pair in entry.pairs]


def _path(named: str | None) -> str:
    from simdup.files.ignored import default_place

    return default_place() if named is None else named


def _entries(named: str | None) -> list[IgnoredTexts]:
    """Return the entries of a list; none if the default list does not exist yet."""
    from simdup.files.ignored import entries_in

    try:
        return entries_in(_path(named))
    except (FileNotFoundError, NotADirectoryError):
        if named is not None:
            raise
        return []


@click.group("ignore", cls=Group)
def ignore_command() -> None:
    """Mark files as not duplicates; scans then leave their pairs out and count them.

    simdup remembers the texts: they stay ignored when the files are moved or re-encoded, until
    they are edited. Exits with 0 when done, 2 on errors.

    \b
    Examples:
      simdup ignore add form-2023.txt form-2024.txt
      simdup ignore list
    """


_list = options.file("--ignored", f"The list of pairs.  {_DEFAULT}")


class Add(NamedTuple):
    """The options of `simdup ignore add`.

    cache: The store that remembers the last scan, for NUMBER. [default: SIMDUP_CACHE, or a file in
        your cache folder]
    """

    files: tuple[str, ...] = options.argument("FILE|GLOB|NUMBER...", str, nargs=-1, required=True)
    ignored: str | None = _list
    cache: str | None = options.file()
    reading: options.Reading = options.part(options.Reading)


class Listing(NamedTuple):
    """The options of `simdup ignore list`."""

    ignored: str | None = _list


class Remove(NamedTuple):
    """The options of `simdup ignore remove`."""

    files: tuple[str, ...] = options.argument("FILE...|NUMBER", str, nargs=-1, required=True)
    ignored: str | None = _list
    reading: options.Reading = options.part(options.Reading)


@ignore_command.command("add", record=Add, work="simdup.files.compare")
def add_command(asked: Add) -> int:
    """Remember that no two of these files are duplicates.

    A GLOB means the files that match it now; ** matches any folders. A NUMBER means the files of
    the group that the last scan showed with it (write ./7 for a file of this name).
    Give the same --encoding, --formats and --convert as to `simdup scan`.

    \b
    Examples:
      simdup ignore add form-2023.txt form-2024.txt
      simdup ignore add 'forms/**/*.docx'
      simdup ignore add 3
    """
    remember(_texts_of(asked), asked.ignored)
    return 0


def remember(found: dict[str, str], ignored: str | None) -> None:
    """Add an entry to the list, and say so in a line.

    `found` has the digest of each text, in hexadecimal, with its file; `ignored` is the list that
    the user named. Raises InputError.
    """
    from datetime import date

    from simdup.files.ignored import IgnoredTexts, line_of, lines_in
    from simdup.storage.opening import locked

    path = _path(ignored)
    names = tuple(_name(each, path) for each in found.values())
    entry = IgnoredTexts(tuple(found), names, date.today().isoformat())  # noqa: DTZ011
    if ignored is None:
        os.makedirs(os.path.dirname(path) or os.curdir, mode=0o700, exist_ok=True)
    with locked([os.path.dirname(path) or os.curdir], is_waiting=True):
        lines = lines_in(path) if os.path.exists(path) else []
        if any(found.keys() <= {*known.texts} for _, known in lines):
            tell(f"simdup: {_files(entry)} were ignored before")
            return
        _write(path, [*(line for line, _ in lines), line_of(entry)])
    total = _counted([*(known for _, known in lines), entry])
    click.echo(f"ignored: {_files(entry)}; {total} in {printable(path)}")


def _texts_of(asked: Add) -> dict[str, str]:
    """Return the digest of each text that the arguments name, with its first file.

    Raises InputError, and UsageError for the list itself.
    """
    from simdup.storage.shown_groups import MOST_TEXTS

    path, settings = _path(asked.ignored), Settings(**asked.reading._asdict())
    found, read = dict[str, str](), list[str]()
    for each in asked.files:
        if each.isascii() and each.isdecimal():
            texts = _group_of_last_scan(each, asked.cache)
        else:
            files = _matching(each)
            refuse_same_files([("the list", path)], [("FILE", file) for file in files])
            texts = tuple((file, _digest(file, settings)) for file in files)
        for file, text in texts:
            found.setdefault(text, file)
            read.append(file)
    if len(read) < 2:
        raise InputError("give two files or more, a glob, or the number of a group")
    if len(found) < 2:
        named = f"{read[0]!r} and {read[1]!r}" if len(read) == 2 else f"these {len(read)} files"
        raise InputError(f"{named} hold the very same text; only texts that differ can be ignored")
    if len(found) > MOST_TEXTS:
        raise InputError(f"{len(found):,} texts; at most {MOST_TEXTS} can be ignored at once")
    return found


def _matching(argument: str) -> list[str]:
    """Return the file that an argument names, or the files that match it as a glob."""
    from glob import glob, has_magic

    if os.path.lexists(argument) or not has_magic(argument):
        return [argument]
    found = sorted(path for path in glob(argument, recursive=True) if os.path.isfile(path))
    if not found:
        raise InputError(f"{argument!r}: no file matches")
    return found


def _group_of_last_scan(number: str, named: str | None) -> tuple[tuple[str, str], ...]:
    """Return each text of a group as a file and a digest, and print when its scan was."""
    from contextlib import closing
    from datetime import datetime

    from simdup.cli.cache import open_store, store_files
    from simdup.storage.shown_groups import MOST_TEXTS, kept_group

    group = None
    if len(number) <= _MOST_DIGITS and any(map(os.path.exists, store_files(named))):
        with closing(open_store(named)) as store:
            group = kept_group(store, int(number))
    if group is None:
        raise InputError(
            f"group {number}: the last scan kept no group with this number (groups of more than"
            f" {MOST_TEXTS} texts are not kept, and `--no-cache` keeps none)"
        )
    if len(group.texts) < 2:
        raise InputError(
            f"group {number}: all its files hold the very same text; only texts that differ can"
            " be ignored"
        )
    when = datetime.fromtimestamp(group.scanned).isoformat(" ", "minutes")  # noqa: DTZ006
    tell(f"group {number} of the scan of {when}")
    return group.texts


@ignore_command.command("list", record=Listing, work="simdup.files.ignored")
def list_command(asked: Listing) -> int:
    """Show every entry: its number, the day it was added, and the names of the files on that day.

    \b
    Examples:
      simdup ignore list
      simdup ignore list --ignored .simdup-ignored
    """
    from simdup.report.terminal import padded, width

    entries = _entries(asked.ignored)
    names = [_some_names(entry) for entry in entries]
    widest = max((width(left) for left, *_ in names), default=0)
    writer(None, as_utf8=False)(
        f"{number:>4}  {entry.added}  {padded(left, widest)}  {'  '.join(others)}"
        for number, (entry, (left, *others)) in enumerate(zip(entries, names, strict=True), 1)
    )
    tell(f"{_counted(entries)} in {printable(_path(asked.ignored))}")
    return 0


@ignore_command.command("remove", record=Remove, work="simdup.files.compare")
def remove_command(asked: Remove) -> int:
    """Let FILE... be duplicates again, or the entry that `simdup ignore list` shows as NUMBER.

    \b
    Examples:
      simdup ignore remove form-2023.txt form-2024.txt
      simdup ignore remove 3
    """
    from simdup.files.ignored import lines_in
    from simdup.storage.opening import locked

    settings, path = Settings(**asked.reading._asdict()), _path(asked.ignored)
    if not os.path.exists(path):
        raise InputError(f"{path!r}: there is no such list; `simdup ignore add` makes one")
    with locked([os.path.dirname(path) or os.curdir], is_waiting=True):
        lines = lines_in(path)
        chosen = _chosen([known for _, known in lines], asked.files, settings)
        kept = [(line, known) for line, known in lines if known not in chosen]
        _write(path, [line for line, _ in kept])
    left = _counted([known for _, known in kept])
    click.echo(f"no longer ignored: {_files(chosen[0])}; {left} left")
    return 0


def _chosen(
    known: list[IgnoredTexts], files: tuple[str, ...], settings: Settings
) -> list[IgnoredTexts]:
    """Return the entry to remove, every time it is listed. Raises UsageError and InputError."""
    if len(files) == 1:
        number = files[0]
        is_number = number.isdecimal() and len(number) <= _MOST_DIGITS
        if not is_number or not 1 <= int(number) <= len(known):
            raise InputError(
                f"{number!r} is not the number of an entry; the list has {_counted(known)}"
            )
        return [known[int(number) - 1]]
    texts = {_digest(path, settings) for path in files}
    chosen = [each for each in known if {*each.texts} == texts]
    if chosen:
        return chosen
    named = " and ".join(map(repr, files))
    larger = [place for place, each in enumerate(known, 1) if texts <= {*each.texts}]
    if larger:
        raise InputError(f"{named} are ignored together with others: give the number {larger[0]}")
    what = "pair" if len(files) == 2 else "entry"
    raise InputError(
        f"{named} are not an ignored {what}, as they are now;"
        " `simdup ignore list` shows the numbers of all entries"
    )


def _digest(path: str, settings: Settings) -> str:
    """Return the digest of the text of a file, in hexadecimal. Raises InputError."""
    from simdup.files.compare import document_at

    return document_at(path, settings)[0].text_digest.hex()


def _files(entry: IgnoredTexts) -> str:
    """Return the names of the files of an entry; of many, two names and how many more there are."""
    first, second, *others = _some_names(entry)
    return f"{first}, {second} {others[0]}" if others else f"{first} and {second}"


def _some_names(entry: IgnoredTexts) -> list[str]:
    """Return the names of the first two files of an entry, and how many more there are."""
    more = len(entry.names) - 2
    shown = [printable(name) for name in entry.names[:2]]
    return [*shown, f"and {count(more, 'more file')}"] if more else shown


def _counted(entries: list[IgnoredTexts]) -> str:
    """Return the number of entries, called pairs if all have two files."""
    are_pairs = all(len(entry.texts) == 2 for entry in entries)
    return count(len(entries), "pair" if are_pairs else "entry")


def _name(path: str, beside: str) -> str:
    """Return the name to remember: relative to the list's folder if below it, else absolute."""
    absolute, folder = os.path.abspath(path), os.path.dirname(os.path.abspath(beside))
    is_below = os.path.commonpath((absolute, folder)) == folder
    return printable(os.path.relpath(absolute, folder) if is_below else absolute)


def _write(path: str, lines: list[str]) -> None:
    from simdup.storage.sqlite import PRIVATE

    writer(path, as_utf8=True, mode=PRIVATE)(lines)
