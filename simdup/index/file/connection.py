"""An index as a file: documents and their fingerprints in SQLite, changed a batch at a time.

Fingerprints lie packed in segments, for `segments` to search; those of 64 bits lie in the tables
of `blocks` besides. A batch is a transaction: whoever reads sees all of it or nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import sys
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from simdup.errors import InputError
from simdup.storage.sqlite import Sort, bounded, connected, files_of, patiently, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


Asked = ParamSpec("Asked")
Found = TypeVar("Found")

#: The size of fingerprints that have tables of blocks, and how many of these.
BLOCKED_BITS, BLOCKS = 64, 4

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value);
CREATE TABLE places (path BLOB PRIMARY KEY, filters TEXT);
CREATE TABLE folders (id INTEGER PRIMARY KEY, path BLOB UNIQUE NOT NULL);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, name BLOB NOT NULL,
    entry BLOB NOT NULL, checksum INTEGER NOT NULL, UNIQUE (folder, name)
);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, batch INTEGER NOT NULL, size INTEGER NOT NULL,
    low INTEGER NOT NULL, high INTEGER NOT NULL,
    rows BLOB NOT NULL, documents BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE INDEX segments_in_short ON segments (batch, size, low, high);
"""
_BLOCK_TABLE = """
CREATE TABLE block_{} (id INTEGER PRIMARY KEY, entries BLOB, checksum INTEGER NOT NULL);
"""
_BLOCK_TABLES = "".join(map(_BLOCK_TABLE.format, range(BLOCKS)))

#: Its format is raised whenever the tables or entries change.
SORT = Sort("an index", int.from_bytes(b"SmDi", "big"), 1, _TABLES + _BLOCK_TABLES)

# What an index says of itself in JSON takes a few hundred characters and four levels; what
# somebody else has written there may be anything.
JSON_CHARACTERS, JSON_DEPTH = 1 << 20, 16

# What comes of values that are damaged, or made by somebody to be wrong.
_NOT_AS_IT_SHOULD_BE = (
    *(ValueError, TypeError, AttributeError, LookupError, ArithmeticError),
    struct.error,
)


class Catalogue:
    """A connection to the file of an index; to be closed.

    Every method raises InputError where the file is damaged or cannot be read or written.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path, self.connection = path, connection
        with explained(path):
            self.place = place_of(path)
            (written,) = self.ask("SELECT value FROM about WHERE name = 'about'")
            self.about: dict[str, Any] = from_json(*written)
            bits = self.about["bits"]
            if type(bits) is not int or bits < 8 or bits % 8:
                raise ValueError(f"fingerprints of {bits!r} bits")
            self.width = bits // 8
            # Two that are built after each other may lie in the same place.
            self.identity = (*self.place, str(self.about.get("id")))

    @classmethod
    def make(cls, path: str, about: dict[str, Any]) -> None:
        """Make the file; `about` says what is in it. Raises InputError if it is there."""
        with explained(path), whole_file(path) as part:
            _fill(part, about)

    @classmethod
    def open(cls, path: str, *, to_write: bool = False) -> Catalogue:
        """Open the file. Raises InputError if it is none, or of a newer simdup."""
        with explained(path):
            try:
                is_empty = os.path.getsize(path) == 0
            except FileNotFoundError:
                none = "there is no index; `simdup index build` makes one"
                raise InputError(f"{path!r}: {none}") from None
            if problem := SORT.problem(Path(path)) or (is_empty and f"not {SORT.name} of simdup"):
                raise InputError(f"{path!r}: {problem}")
            connection = _connected(path, to_write=to_write)
        try:
            return cls(path, connection)
        except BaseException:
            connection.close()
            raise

    def is_there(self) -> bool:
        """Whether the file still has its name, and no other one has taken it."""
        try:
            return place_of(self.path) == self.place
        except OSError:
            return False

    def close(self) -> None:
        """Let go of the file; a writer leaves it in one piece, without a log beside it."""
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA busy_timeout = 0")
            self.connection.execute("PRAGMA journal_mode = DELETE")
        with suppress(sqlite3.Error):
            self.connection.close()

    def ask(self, sql: str, *parameters: Any) -> list[Any]:  # noqa: ANN401
        """The rows that a statement gives."""
        with explained(self.path):
            return patiently(self.connection.execute, sql, parameters).fetchall()

    def tell(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """One statement for each row of parameters; how many rows of tables they changed."""
        with explained(self.path):
            return patiently(self.connection.executemany, sql, rows).rowcount

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is asked in the block is answered as of one batch."""
        self.ask("BEGIN")
        try:
            yield
        finally:
            with suppress(InputError):
                self.ask("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What is done in the block is one batch: done as a whole, or not at all."""
        self.ask("PRAGMA journal_mode = WAL")
        self.ask("BEGIN IMMEDIATE")
        try:
            yield
            self.ask("UPDATE about SET value = value + 1 WHERE name = 'batches'")
            self.ask("COMMIT")
        except BaseException:
            with suppress(InputError):
                self.ask("ROLLBACK")
            raise

    def number(self, name: str) -> int:
        """Of what is counted in the file: 'batches', 'documents', or the 'next' of these."""
        with explained(self.path):
            number = int(self.ask("SELECT value FROM about WHERE name = ?", name)[0][0])
            if not 0 <= number <= sys.maxsize:
                raise ValueError(f"{number:.3g} {name}")
            return number

    def __len__(self) -> int:
        return self.number("documents")

    @property
    def has_blocks(self) -> bool:
        """Whether there are tables of blocks."""
        return 8 * self.width == BLOCKED_BITS

    def size(self) -> int:
        """Bytes of the file and of what is beside it while it is written."""
        return sum(each.stat().st_size for each in files_of(Path(self.path)) if each.exists())


def place_of(path: str) -> tuple[int, int]:
    """Which file it is: device and inode. Raises OSError."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _fill(path: str, about: dict[str, Any]) -> None:
    """Make an empty file an index, at once. Raises sqlite3.Error."""
    tables = _TABLES + (_BLOCK_TABLES if about["bits"] == BLOCKED_BITS else "")
    values = (("about", json.dumps(about)), ("batches", 0), ("next", 1), ("documents", 0))
    connection = connected(Path(path), "mode=rw")
    try:
        connection.executescript(f"BEGIN; {tables}")
        SORT.sign(connection)
        connection.executemany("INSERT INTO about VALUES (?, ?)", values)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _connected(path: str, *, to_write: bool) -> sqlite3.Connection:
    """A connection that makes no file, and writes none unless it is to. Raises sqlite3.Error."""
    try:
        return _prepared(bounded(Path(path), "mode=rw"), to_write=to_write)
    except sqlite3.OperationalError:
        folder = os.path.dirname(os.path.abspath(path))
        if to_write or os.access(folder, os.W_OK) or Path(f"{path}-wal").exists():
            raise
    # What lies in a place that cannot be written has nobody who writes it.
    return _prepared(bounded(Path(path), "mode=ro&immutable=1"), to_write=False)


def _prepared(connection: sqlite3.Connection, *, to_write: bool) -> sqlite3.Connection:
    """Prepare a connection, and check that the file holds the tables of an index alone.

    Raises sqlite3.Error, having closed it.
    """
    try:
        if to_write:
            connection.execute("PRAGMA synchronous = NORMAL")
            # 64 MB keep the pages that batch after batch changes; and what is freed need not be
            # overwritten, as some builds of SQLite do: together a third of all that is written.
            connection.execute("PRAGMA cache_size = -65536")
            connection.execute("PRAGMA secure_delete = OFF")
        else:
            connection.execute("PRAGMA query_only = ON")
        SORT.check(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def from_json(text: str) -> Any:  # noqa: ANN401
    """What some JSON of an index says. Raises ValueError if it is too long or nested too deep."""
    if len(text) > JSON_CHARACTERS:
        raise ValueError(f"{len(text):,} characters of JSON")
    deep = f"JSON nested more than {JSON_DEPTH} deep"
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(deep) from None
    level = [value]
    for _ in range(JSON_DEPTH):
        level = [inner for each in level for inner in _inside(each)]
    if level:
        raise ValueError(deep)
    return value


def _inside(value: object) -> list[Any]:
    """What is right in a value of JSON."""
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else []


@contextmanager
def explained(path: str) -> Iterator[None]:
    """What goes wrong with the file, or is not what it should be in it, as an InputError."""
    try:
        yield
    except sqlite3.Error as error:
        cause = str(error)
        if "locked" in cause:
            cause = "another process is changing it; try again later"
        elif cause == "interrupted":
            cause = "damaged (a statement found no end in it); build it anew"
        elif type(error) is sqlite3.DatabaseError:
            cause = f"damaged ({cause}); build it anew"
        raise InputError(f"{path!r}: {cause}") from None
    except _NOT_AS_IT_SHOULD_BE as error:
        raise InputError(f"{path!r}: damaged ({error}); build it anew") from None
    except FileExistsError:
        there = "there is a file already; `simdup index add` and `update` go on with an index"
        raise InputError(f"{path!r}: {there}") from None
    except OSError as error:
        raise InputError(f"{path!r}: {error.strerror}") from None


def sound(
    look: Callable[Concatenate[Catalogue, Asked], Found],
) -> Callable[Concatenate[Catalogue, Asked], Found]:
    """Make damage in the file that a function looks at an InputError."""

    @wraps(look)
    def looking(catalogue: Catalogue, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Found:
        with explained(catalogue.path):
            return look(catalogue, *args, **kwargs)

    return looking
