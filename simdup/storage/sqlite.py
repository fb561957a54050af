"""One SQLite layer under the store and the index: opening, locking, damage, closing.

The header of each kind of file names an application, so that another program's database is
never mistaken for one, and a format, which is raised whenever its tables or records change.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

from simdup.errors import InputError
from simdup.storage.opening import open_to_read

Connection = TypeVar("Connection", bound=sqlite3.Connection)

# Seconds to wait while another process writes: in all, and in one call of SQLite, which does not
# notice Ctrl-C while it waits.
PATIENCE, WAIT = 10, 0.1

#: Only its user may read or write a file of ours.
PRIVATE = 0o600

# Steps of SQLite's machine after which a statement is stopped. Our longest statement, a check of a
# whole index, takes one step for 15 bytes; pages linked in a circle would give rows without end.
STEPS_AT_ONCE, LEAST_STEPS, STEPS_A_BYTE = 100_000, 1_000_000, 1

# The schema of a file: a row for each table, index, view and trigger.
_NOTED = "SELECT type, name, tbl_name, sql FROM sqlite_master"

# A rollback journal that ends with these bytes names a super-journal (SQLite's file format,
# section 3). Rolling it back deletes the file of that name, whatever it is. SQLite writes
# such a journal for a transaction over several databases, and simdup has none of these.
_SUPER_JOURNAL_END = bytes.fromhex("d9d505f920a163d7")


class DatabaseKind(NamedTuple):
    """A kind of file: its name, SQLite application id, format version and tables.

    schema: The SQL that makes its tables and indexes; a file may hold these and no others.
    """

    name: str
    application: int
    format: int
    schema: str

    def problem(self, path: str) -> str | None:
        """Return why the file at a path must not be opened as this kind; None if it may be.

        A missing file, an empty file and an unreadable file are no problem yet. Opens nothing
        but regular files, and makes none.
        """
        if not os.path.exists(path):
            return None
        if not os.path.isfile(path):
            is_folder = os.path.isdir(path)
            return f"a folder, and not {self.name} of simdup" if is_folder else "not a regular file"
        if journal := _super_journal_namer(path):
            return f"{journal!r} beside it would make SQLite delete another file; remove it first"
        if self._is_recognised_by_sqlite(path) or not (header := _read(path, 100)):
            return None
        if not self._is_ours(header):
            return f"not {self.name} of simdup"
        return self._problem_of_format(int.from_bytes(header[60:64], "big"))

    def _problem_of_format(self, number: int) -> str | None:
        if number > self.format:
            return "made by a newer simdup"
        return "made by an older simdup; delete it to begin anew" if number < self.format else None

    def has_header(self, path: str) -> bool:
        """Whether a regular file with the header of this kind is at a path, damaged or not."""
        return os.path.isfile(path) and self._is_ours(_read(path, 100))

    def sign(self, connection: sqlite3.Connection) -> None:
        """Write the header of this kind into an empty file, in a transaction of the caller.

        It takes two writes, and between them the file would look like one of an older simdup.
        Raises sqlite3.Error.
        """
        connection.execute(f"PRAGMA application_id = {self.application}")
        connection.execute(f"PRAGMA user_version = {self.format}")

    def connect(
        self, path: str, options: str, factory: type[Connection], pragmas: Sequence[str] = ()
    ) -> Connection:
        """Open a file and check that it holds the tables of this kind alone.

        Raises sqlite3.Error. A view in place of a table could give rows without end, and a
        trigger could change what is asked for; SQLite runs neither until a statement names it.
        """
        connection = connect(path, options, factory)
        try:
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", *pragmas):
                connection.execute(f"PRAGMA {pragma}")
            # Damage may have left bytes in the schema that are no UTF-8.
            connection.text_factory = _decoded
            self._check_schema(connection)
            connection.text_factory = str
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_schema(self, connection: sqlite3.Connection) -> None:
        allowed = _schema_of(self.schema)
        for row in patiently(connection.execute, _NOTED):
            if _normalised(row) not in allowed:
                raise sqlite3.DatabaseError(f"{row[0]} {row[1]!r} is not one of {self.name}")

    def _is_recognised_by_sqlite(self, path: str) -> bool:
        """Whether SQLite finds a header of this kind in the file.

        Try this before reading the header ourselves: when a process closes a file, it loses all
        its locks on the file, also SQLite's, and other processes could write to it.
        """
        try:
            with closing(connect(path, "mode=ro&immutable=1", sqlite3.Connection)) as connection:
                ((application,),) = connection.execute("PRAGMA application_id")
                ((number,),) = connection.execute("PRAGMA user_version")
        except sqlite3.Error:
            return False
        return bool(application == self.application and number == self.format)

    def _is_ours(self, header: bytes) -> bool:
        is_sqlite = header.startswith(b"SQLite format 3\0")
        return is_sqlite and int.from_bytes(header[68:72], "big") == self.application


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


class BoundedConnection(sqlite3.Connection):
    """A connection that interrupts any statement that runs too long.

    The file may come from somebody else. A statement runs too long if it takes more steps than a
    sound file of its size could need.
    """

    path: str

    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
        """Run a statement as sqlite3 does, with a new count of steps."""
        most = LEAST_STEPS + STEPS_A_BYTE * size_of(self.path)
        # Not a Python function: Ctrl-C would be raised in it, and SQLite would swallow it.
        going_on = repeat(0, most // STEPS_AT_ONCE)
        self.set_progress_handler(going_on.__next__, STEPS_AT_ONCE)
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
        """Run a statement for each of our own rows, of which there may be any number."""
        self.set_progress_handler(None, 0)
        return super().executemany(*arguments)


class Database(ABC):
    """An open file of simdup; to be closed. Subclasses say what a failure means for them."""

    connection: sqlite3.Connection | None

    @abstractmethod
    def _guarded(self) -> AbstractContextManager[None]:
        """Return a context that handles failures of SQLite."""

    def execute(self, sql: str, *parameters: Any) -> list[Any]:  # noqa: ANN401
        """Return the rows that a statement gives; none without a connection."""
        with self._guarded():
            if self.connection is not None:
                return patiently(self.connection.execute, sql, parameters).fetchall()
        return []

    def execute_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run a statement for each row of parameters; return how many table rows changed."""
        with self._guarded():
            if self.connection is not None:
                return patiently(self.connection.executemany, sql, rows).rowcount
        return 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the block one transaction: its changes are kept all together, or not at all."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with suppress(InputError):
                self.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Let go of the file."""
        if self.connection is not None:
            with suppress(sqlite3.Error):
                self.connection.close()


def connect(path: str, options: str, factory: type[Connection]) -> Connection:
    """Open the file of exactly this name, with the options of an SQLite URI.

    `mode=rw` and `mode=ro` make no file. Any thread may use a `BoundedConnection`. Raises
    sqlite3.Error.
    """
    uri = f"{_as_uri(path)}?{options}"  # a plain name such as ":memory:" might not mean a file
    of_one_thread = factory is not BoundedConnection
    connection = factory(
        uri, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=of_one_thread
    )
    if isinstance(connection, BoundedConnection):
        connection.path = path
    return connection


def _as_uri(path: str) -> str:
    """Return the URI of a file; "pathlib" would make it too, and is slow to import."""
    whole = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    absolute = whole.replace(os.sep, "/")
    quoted = re.sub(rb"[^\w/:.~-]", lambda found: b"%%%02X" % found[0][0], os.fsencode(absolute))
    return f"file://{'' if absolute.startswith('/') else '/'}{quoted.decode()}"


def make_private(path: str) -> None:
    """Make an empty file that only its user may read, whatever the umask.

    If the file exists, it and the log beside it are closed to others, where they are the
    user's own. Raises OSError.
    """
    place = os.path.realpath(path)
    if not os.path.lexists(place):
        with suppress(FileExistsError):  # another process was faster
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
            os.chmod(place, PRIVATE)
    for each in files_of(place):
        with suppress(OSError):  # of another user, or on a file system that has no modes
            mode = os.lstat(each).st_mode
            if stat.S_ISREG(mode) and stat.S_IMODE(mode) & ~PRIVATE:
                os.chmod(each, PRIVATE)


@contextmanager
def new_file(path: str) -> Iterator[str]:
    """Make a file all at once: the block fills a private part file, which then gets the name.

    A process that is killed meanwhile leaves nothing of that name. Raises FileExistsError if
    the name is taken, OSError.
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
        _give_name(part, path)
    finally:
        for each in (part, f"{part}-journal"):
            with suppress(FileNotFoundError):
                os.unlink(each)


def _give_name(part: str, path: str) -> None:
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
    """Run a statement, waiting while another process writes. Raises sqlite3.Error."""
    patience = time.monotonic() + PATIENCE
    while True:
        try:
            return run(*arguments)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > patience:
                raise


def files_of(path: str) -> list[str]:
    """Return the paths of a database: its file, the log, and the log's index."""
    return [f"{path}{end}" for end in ("", "-wal", "-shm")]


def size_of(path: str) -> int:
    """Return the bytes of all files of a database that exist."""
    size = 0
    for each in files_of(path):
        with suppress(OSError):
            size += os.stat(each).st_size
    return size


@lru_cache
def _schema_of(sql: str) -> frozenset[tuple[str, ...]]:
    """Return the rows of SQLite's schema for the tables that some SQL makes."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(sql)
        return frozenset(map(_normalised, connection.execute(_NOTED)))


def _normalised(row: Iterable[object]) -> tuple[str, ...]:
    """Return a row of SQLite's schema with one space for each run of white space."""
    return tuple(" ".join(str(each).split()) for each in row)


def _super_journal_namer(path: str) -> str | None:
    """Return the name of a journal beside a database that names a super-journal, if any."""
    # SQLite looks beside the file that a link leads to; on Windows beside the link.
    for journal in (f"{path}-journal", f"{os.path.realpath(path)}-journal"):
        end = _read(journal, 8, from_end=True) if os.path.isfile(journal) else b""
        if end == _SUPER_JOURNAL_END:
            return os.path.basename(journal)
    return None


def _read(path: str, size: int, *, from_end: bool = False) -> bytes:
    """Return the first or last bytes of a file; none if they cannot be read."""
    # It does not wait for a FIFO that has just taken the file's place.
    with suppress(OSError), open(path, "rb", 0, opener=lambda *_: open_to_read(path)) as file:
        if from_end:
            file.seek(-size, os.SEEK_END)
        return file.read(size) or b""  # None for a FIFO in which nothing is yet
    return b""
