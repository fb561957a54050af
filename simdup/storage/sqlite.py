"""Opening simdup's own SQLite files: that they are ours, hold nothing else, and stay private.

The header of each kind of file names an application, so that another program's database is
never mistaken for one, and a format, which is raised whenever its tables or records change.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simdup.storage.opening import open_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Seconds to wait while another process writes, and at once: Ctrl-C is not heard meanwhile.
PATIENCE, WAIT = 10, 0.1

#: Only its user may read or write a file of ours.
PRIVATE = 0o600

# Steps of SQLite's machine after which a statement is stopped. Our longest, a check of a whole
# index, takes one for 15 bytes; a file whose pages are linked crosswise has rows without an end.
STEPS_AT_ONCE, LEAST_STEPS, STEPS_A_BYTE = 100_000, 1_000_000, 1

# What SQLite notes of each table, index, view and trigger in a file.
_NOTED = "SELECT type, name, tbl_name, sql FROM sqlite_master"


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of file: its name, its application's number, this simdup's format, and its tables."""

    name: str
    application: int
    format: int
    schema: str
    """The SQL that makes its tables and indexes; a file may hold these and no others."""

    def problem(self, path: Path) -> str | None:
        """Why what stands at a path is not to be used as one of these; None if nothing is wrong.

        A path with nothing there, an empty file and a file that cannot be read are no problem
        yet. Never opens anything but a regular file, and makes none.
        """
        if not _is_there(path):
            return None
        if not path.is_file():
            return "not a regular file"
        if self._is_told_by_sqlite(path):
            return None
        header = _header(path)
        if not header:
            return None
        if not self._is_ours(header):
            return f"not {self.name} of simdup"
        return "made by a newer simdup" if self._format_of(header) > self.format else None

    def has_header(self, path: Path) -> bool:
        """Whether a regular file with the header of these stands at a path, damaged or not."""
        return _is_there(path) and path.is_file() and self._is_ours(_header(path))

    def sign(self, connection: sqlite3.Connection) -> None:
        """Make an empty file one of these. Raises sqlite3.Error."""
        connection.execute(f"PRAGMA application_id = {self.application}")
        connection.execute(f"PRAGMA user_version = {self.format}")

    def check(self, connection: sqlite3.Connection) -> None:
        """Raise sqlite3.DatabaseError if a file holds anything but the tables of this sort.

        A view in place of a table could answer a question without an end, and a trigger could
        change what is asked for; SQLite runs neither before a statement names them.
        """
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        allowed = _schema_of(self.schema)
        for row in patiently(connection.execute, _NOTED):
            if _entry(*row) not in allowed:
                raise sqlite3.DatabaseError(f"{row[0]} {row[1]!r} is not one of {self.name}")

    def _is_told_by_sqlite(self, path: Path) -> bool:
        """Whether SQLite finds a file to be one of these.

        To close a file that this process has open takes all its locks away, also those of
        SQLite, which other processes would then not respect; so it is asked first.
        """
        try:
            connection = connected(path, "mode=ro&immutable=1")
        except sqlite3.Error:
            return False
        try:
            ((application,),) = connection.execute("PRAGMA application_id")
            ((number,),) = connection.execute("PRAGMA user_version")
        except sqlite3.Error:
            return False
        finally:
            connection.close()
        return bool(application == self.application and number <= self.format)

    def _is_ours(self, header: bytes) -> bool:
        is_sqlite = header.startswith(b"SQLite format 3\0")
        return is_sqlite and int.from_bytes(header[68:72], "big") == self.application

    @staticmethod
    def _format_of(header: bytes) -> int:
        return int.from_bytes(header[60:64], "big")


class Bounded(sqlite3.Connection):
    """A connection to a file that somebody else may have made: what is asked of it ends.

    A statement that takes more steps than a sound file of its size could need is interrupted.
    """

    path: Path

    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
        """As in sqlite3, with a new count of steps."""
        most = LEAST_STEPS + STEPS_A_BYTE * sum(_sizes(self.path))
        # Not a function of Python: that would hear Ctrl-C, and SQLite would swallow it.
        going_on = repeat(0, most // STEPS_AT_ONCE)
        self.set_progress_handler(going_on.__next__, STEPS_AT_ONCE)
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
        """As in sqlite3: it ends with our own rows, of which there may be any number."""
        self.set_progress_handler(None, 0)
        return super().executemany(*arguments)


def connected(path: Path, options: str) -> sqlite3.Connection:
    """A connection to the file of exactly this name, with the options of an SQLite URI.

    `mode=rw` and `mode=ro` make no file. Raises sqlite3.Error.
    """
    return sqlite3.connect(_uri(path, options), uri=True, timeout=WAIT, isolation_level=None)


def bounded(path: Path, options: str) -> Bounded:
    """A connection as `connected` makes it, for any thread, with a bound on every statement."""
    connection = Bounded(
        _uri(path, options), uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False
    )
    connection.path = path
    return connection


def _uri(path: Path, options: str) -> str:
    """The name of a file for SQLite, to which some names mean something else."""
    return f"{path.absolute().as_uri()}?{options}"


def make_private(path: Path) -> None:
    """Make an empty file that only its user may read, whatever the umask.

    A file that is there, and the log beside it, are closed to others if they are the user's own.
    Raises OSError.
    """
    place = Path(os.path.realpath(path))
    if not os.path.lexists(place):
        with suppress(FileExistsError):  # another process was faster
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
            place.chmod(PRIVATE)
    for each in files_of(place):
        with suppress(OSError):  # of another user, or on a file system that has no modes
            mode = each.lstat().st_mode
            if stat.S_ISREG(mode) and stat.S_IMODE(mode) & ~PRIVATE:
                each.chmod(PRIVATE)


@contextmanager
def whole_file(path: str) -> Iterator[str]:
    """Make a file all at once: the block fills a private one beside it, which then takes its name.

    Whoever is killed meanwhile leaves nothing of that name. Raises FileExistsError if there is
    something of that name already, OSError.
    """
    import tempfile  # noqa: PLC0415  slow to import

    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    folder, name = os.path.split(os.path.abspath(path))
    descriptor, part = tempfile.mkstemp(prefix=f".{name[:40]}.", suffix=".part", dir=folder)
    os.close(descriptor)
    try:
        os.chmod(part, PRIVATE)
        yield part
        _name_anew(part, path)
    finally:
        for each in (part, f"{part}-journal"):
            with suppress(FileNotFoundError):
                os.unlink(each)


def _name_anew(part: str, path: str) -> None:
    """Give a file its name unless another file has it. Raises FileExistsError, OSError."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links; somebody else may come between these two
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(part, path)


def patiently(run: Callable[..., sqlite3.Cursor], *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
    """What a statement gives, once no other process is writing. Raises sqlite3.Error."""
    patience = time.monotonic() + PATIENCE
    while True:
        try:
            return run(*arguments)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > patience:
                raise


def files_of(path: Path) -> list[Path]:
    """All files of a database: its own, the log, and the log's index."""
    return [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]


def _sizes(path: Path) -> Iterator[int]:
    """The bytes of the files of a database that are there."""
    for each in files_of(path):
        with suppress(OSError):
            yield os.stat(each).st_size


@lru_cache
def _schema_of(sql: str) -> frozenset[tuple[str, ...]]:
    """What SQLite notes of the tables that some SQL makes."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(sql)
        return frozenset(_entry(*row) for row in connection.execute(_NOTED))
    finally:
        connection.close()


def _entry(*noted: object) -> tuple[str, ...]:
    """What SQLite notes of a table or an index, with one space for each run of white space."""
    return tuple(" ".join(str(each).split()) for each in noted)


def _is_there(path: Path) -> bool:
    """Whether anything stands there that we may know of."""
    try:
        return path.exists()
    except OSError:
        return False


def _header(path: Path) -> bytes:
    """The first bytes of a file; none if there is no file, or none that can be read."""
    try:
        descriptor = open_to_read(path)  # a FIFO that has just taken its place does not hang
    except OSError:
        return b""
    try:
        return os.read(descriptor, 100)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
