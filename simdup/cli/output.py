"""The only prints: bars and warnings on stderr, and results on stdout or in files.

A file is replaced only when all of its new content is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import click

from simdup.errors import InputError
from simdup.progress import Progress, silent
from simdup.report.wording import printable

if TYPE_CHECKING:
    from simdup.records import Skipped
    from simdup.report.terminal import TerminalStyle

Lines: TypeAlias = Iterable[str] | Iterable[bytes]
Write: TypeAlias = Callable[[Lines], None]
Named: TypeAlias = Iterable[tuple[str, str | None]]

# The most warnings about single files; further files are only counted.
MOST_WARNINGS = 10

#: Values of --color.
COLOR = ("auto", "always", "never")


def look(color: str, target: str | None = None, *, verbose: bool = False) -> TerminalStyle:
    """Return the style of a text report that goes to stdout, or to the file `target`.

    `color` is one of COLOR. Only on a terminal are lines fitted to its width, which the
    variable COLUMNS overrules. `verbose` asks for the distances of fingerprints.
    """
    from simdup.report.terminal import TerminalStyle

    is_terminal = target is None and sys.stdout.isatty()
    # The console of Windows may show the codes instead of obeying them. https://no-color.org
    takes_colours = is_terminal and os.name != "nt" and os.environ.get("TERM") != "dumb"
    is_wanted = takes_colours and not os.environ.get("NO_COLOR")
    columns = None
    if is_terminal:
        from shutil import get_terminal_size

        columns = get_terminal_size().columns
    return TerminalStyle(color == "always" or (color == "auto" and is_wanted), columns, verbose)


def progress(*, quiet: bool) -> Progress:
    """Return the function that draws bars; none if `quiet` or if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        return silent
    from simdup.cli.bars import Bars

    return Bars()


def warn_of(skipped: tuple[Skipped, ...]) -> None:
    """Print a line for each file that could not be read; after the first ten only their number."""
    trouble = [each for each in skipped if each.reason.is_trouble]
    for each in trouble[:MOST_WARNINGS]:
        detail = f" ({printable(each.detail)})" if each.detail else ""
        tell(f"simdup: {printable(each.path)}: {each.reason.value}{detail}")
    if len(trouble) > MOST_WARNINGS:
        tell(f"simdup: and {len(trouble) - MOST_WARNINGS:,} more that could not be read")


def tell(*lines: str) -> None:
    """Print lines on stderr, unless that is closed; first clear any bar that was left there."""
    with suppress(OSError):
        clear_bars()
        for line in lines:
            click.echo(line, err=True)


def clear_bars() -> None:
    """Take the bars off the screen that Ctrl-C or an error left there."""
    if "simdup.cli.bars" in sys.modules:
        from simdup.cli.bars import close_bars

        close_bars()


def writer(path: str | None, *, as_utf8: bool, mode: int | None = None) -> Write:
    """Return a function that writes lines (str) or bytes to a file, or to stdout for None.

    Raises InputError now if the file could not be written, before any work is done. The function
    replaces the whole file or leaves it as it was. Lines to stdout are in the encoding of stdout
    unless `as_utf8`. A new file gets the `mode`, or what the umask leaves; an old one keeps its
    mode.
    """
    if path is None:
        encoding = "utf-8" if as_utf8 else sys.stdout.encoding or "utf-8"
        return lambda lines: _write(os.dup(sys.stdout.fileno()), lines, encoding, "stdout")
    if path == "-":
        raise InputError("'-': name /dev/stdout, or a file so called ./-")
    if not path or os.path.isdir(path):
        raise InputError(f"{path!r}: a folder; name a file")
    if _is_stream(path):
        return lambda lines: _append(path, lines)
    import tempfile

    target = os.path.realpath(path)
    try:
        tempfile.TemporaryFile(dir=os.path.dirname(target)).close()
    except OSError as error:
        raise InputError(f"{path!r}: cannot write there ({error.strerror})") from None
    return lambda lines: _replace(target, lines, mode)


def refuse(why: str) -> None:
    """Raise UsageError for wrong use; do nothing if `why` is empty."""
    if why:
        raise click.UsageError(why)


def refuse_same_files(outputs: Named, inputs: Named) -> None:
    """Raise UsageError if an output is also an input or another output, and would replace it.

    Each output and input is a pair: its name for the user, and its path or None. Two paths
    are the same file if device and inode are the same, or if they lead to the same place
    where no file is yet. Pipes and devices have no content to lose.
    """
    taken: dict[object, str] = {}
    for name, path in outputs:
        if path and path != "-" and not _is_stream(path):
            _refuse(taken.setdefault(_identity(path), name), name, path)
    for name, path in inputs if taken else ():
        if path and path != "-":
            _refuse(taken.get(_identity(path), name), name, path)


def _refuse(one: str, other: str, path: str) -> None:
    if one != other:
        refuse(f"{one} and {other} name the same file: {path!r}")


def _identity(path: str) -> object:
    """Return the device and inode of a file, or its real path if there is no such file."""
    from simdup.storage.opening import identity_at

    return identity_at(path) or os.path.realpath(path)


def _is_stream(path: str) -> bool:
    """Return whether a path is a device, a pipe or an open file, which have no content to lose.

    A file in /dev/shm is an ordinary file.
    """
    is_open = os.path.abspath(path).startswith(("/dev/fd/", "/dev/std", "/proc/"))
    return os.path.exists(path) and (is_open or not os.path.isfile(path))


def _append(path: str, lines: Lines) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    _write(descriptor, lines, "utf-8", repr(path))


def _replace(path: str, lines: Lines, mode: int | None) -> None:
    """Write a temporary file beside the target and give it the target's name and mode."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(6).hex()}.part")
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, how, 0o666 if mode is None else mode)
    except OSError as error:
        raise InputError(f"{path!r}: cannot write there ({error.strerror})") from None
    try:
        with suppress(FileNotFoundError, AttributeError):  # a new file, or Windows without modes
            os.fchmod(descriptor, os.stat(path).st_mode & 0o777)
        _write(descriptor, lines, "utf-8", repr(path))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _write(descriptor: int, lines: Lines, encoding: str, name: str) -> None:
    """Write lines, each ended by a newline, or bytes as they are, and close the descriptor."""
    try:
        with os.fdopen(descriptor, "wb") as file:
            for line in lines:
                if isinstance(line, bytes):
                    file.write(line)
                else:
                    file.write((line + "\n").encode(encoding, "backslashreplace"))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
