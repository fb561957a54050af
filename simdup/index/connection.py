"""An index as a file: documents and their fingerprints in SQLite, changed a batch at a time.

Fingerprints lie packed in segments, for `segments` to search; fingerprints of 64 bits lie in
tables of blocks too, and an index for parts has `samples`. A batch is a transaction: a reader sees
all of it or nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Any
from zlib import crc32

from simdup.errors import InputError
from simdup.index.metadata import check, damaged, from_json, has_samples
from simdup.storage.opening import identity_at, identity_of
from simdup.storage.sqlite import BoundedConnection, Database, DatabaseKind, connect, new_file

#: The bits of fingerprints that have tables of blocks, and the number of these tables.
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
_SAMPLE_TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL,
    size INTEGER NOT NULL, live INTEGER NOT NULL,
    documents BLOB NOT NULL, counts BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE samples (id INTEGER PRIMARY KEY, entries BLOB NOT NULL, checksum INTEGER NOT NULL);
"""

#: Its format is raised whenever the tables, the entries or `fingerprint.sketch` change.
INDEX = DatabaseKind(
    "an index", int.from_bytes(b"SmDi", "big"), 5, _TABLES + _BLOCK_TABLES + _SAMPLE_TABLES
)

# Counts in a file stay below this, so that adding to one never leaves 64 bits.
MOST = 1 << 62

#: More segments, and more runs of samples, than any index has.
MOST_PARTS = 1 << 32


class IndexFile(Database):
    """A connection to the file of an index; to be closed.

    Every method raises InputError if the file is damaged or cannot be read or written.
    """

    connection: sqlite3.Connection

    def __init__(self, path: str, *, to_write: bool = False) -> None:
        """Open the file, which must be an index in the format of this simdup."""
        self.path = path
        with self._guarded():
            try:
                is_empty = os.path.getsize(path) == 0
            except FileNotFoundError:
                none = "there is no index; `simdup index build` makes one"
                raise InputError(f"{path!r}: {none}") from None
            if problem := INDEX.problem(path) or (is_empty and f"not {INDEX.name} of simdup"):
                raise InputError(f"{path!r}: {problem}")
            self.connection = _connected(path, to_write=to_write)
        try:
            with self._guarded():
                self.inode = identity_of(os.stat(path))
            self.about = self._about()
        except BaseException:
            self.connection.close()
            raise
        self.width = self.about["bits"] // 8
        # An index that is built anew may get the inode of the old one.
        self.identity = (*self.inode, str(self.about.get("id")))

    def _about(self) -> dict[str, Any]:
        try:
            written: dict[str, Any] = from_json(self._noted("about", str))
        except ValueError as error:
            raise damaged(self.path, error) from None
        check(self.path, written)
        return written

    def _noted(self, name: str, kind: type) -> Any:  # noqa: ANN401
        """Return the value that the file notes under a name."""
        rows = self.select("SELECT value FROM about WHERE name = ?", name, kinds=[(kind,)])
        if not rows:
            raise damaged(self.path, f"no {name}")
        return rows[0][0]

    def is_there(self) -> bool:
        """Whether the file still has its name, and no other one has taken it."""
        return identity_at(self.path) == self.inode

    def close(self) -> None:
        """Close the file; the last connection to close leaves no log beside it."""
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA busy_timeout = 0")
            self.connection.execute("PRAGMA journal_mode = DELETE")
        super().close()

    def _guarded(self) -> AbstractContextManager[None]:
        return explained(self.path)

    def select(self, sql: str, *parameters: Any, kinds: Collection[tuple[type, ...]]) -> list[Any]:  # noqa: ANN401
        """Return the rows of a query, whose columns must have one of these lists of types."""
        rows = self.execute(sql, *parameters)
        if {tuple(map(type, row)) for row in rows}.difference(kinds):
            raise damaged(self.path, "values of a wrong type")
        return rows

    def row(self, sql: str, *parameters: Any, kinds: Collection[tuple[type, ...]]) -> Any:  # noqa: ANN401
        """Return the one row that a query has, as `select` does."""
        rows = self.select(sql, *parameters, kinds=kinds)
        if len(rows) != 1:
            raise damaged(self.path, "a table and its index do not agree")
        return rows[0]

    def new_part(self, table: str) -> int:
        """Return the number of a new segment or run. Raises InputError for a damaged one before."""
        ((last,),) = self.execute(f"SELECT coalesce(max(id), 0) FROM {table}")  # noqa: S608
        if last >= MOST_PARTS - 1:
            raise damaged(self.path, f"number {last} in {table}")
        return int(last) + 1

    def broken(self, what: str) -> InputError:
        """Return the error for a part of the file that does not fit its checksum."""
        return InputError(f"{self.path!r}: {what} is damaged; build the index anew")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the block read the index as one batch left it, whatever is written meanwhile."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(InputError):
                self.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the block one batch, which is written as a whole or not at all."""
        self.execute("PRAGMA journal_mode = WAL")
        with super().writing():
            yield
            self.execute("UPDATE about SET value = value + 1 WHERE name = 'batches'")

    def number(self, name: str) -> int:
        """Return a count in the file: 'batches', 'documents', or the 'next' document's number."""
        number: int = self._noted(name, int)
        if not 0 <= number < MOST:
            raise damaged(self.path, f"{number:.3g} {name}")
        return number

    def __len__(self) -> int:
        return self.number("documents")

    @property
    def blocks(self) -> range:
        """The numbers of the tables of blocks; none if fingerprints have another size."""
        return range(BLOCKS if 8 * self.width == BLOCKED_BITS else 0)


def create_file(path: str, about: dict[str, Any]) -> None:
    """Make the file of an empty index; `about` is its metadata. Raises InputError if it exists."""
    tables = _TABLES + (_BLOCK_TABLES if about["bits"] == BLOCKED_BITS else "")
    tables += _SAMPLE_TABLES if has_samples(about) else ""
    values = (("about", json.dumps(about)), ("batches", 0), ("next", 1), ("documents", 0))
    with (
        explained(path),
        new_file(path) as unfinished,
        closing(connect(unfinished, "mode=rw", sqlite3.Connection)) as connection,
    ):
        connection.executescript(f"BEGIN; {tables}")
        INDEX.sign(connection)
        connection.executemany("INSERT INTO about VALUES (?, ?)", values)
        connection.execute("COMMIT")


def _connected(path: str, *, to_write: bool) -> sqlite3.Connection:
    """Open the file, which must exist, to read it or `to_write` it. Raises sqlite3.Error."""
    # A cache of 64 MB keeps the pages that every batch changes, and freed pages need not be
    # overwritten, as some builds of SQLite do: together this saves a third of all that is written.
    to_change = ["synchronous = NORMAL", "cache_size = -65536", "secure_delete = OFF"]
    pragmas = to_change if to_write else ["query_only = ON"]
    try:
        return INDEX.connect(path, "mode=rw", BoundedConnection, pragmas)
    except sqlite3.OperationalError:
        folder = os.path.dirname(os.path.abspath(path))
        if to_write or os.access(folder, os.W_OK) or os.path.exists(f"{path}-wal"):
            raise
    # In a folder that cannot be written, nobody is writing the index.
    return INDEX.connect(path, "mode=ro&immutable=1", BoundedConnection, pragmas)


def checksum_of(number: int, *parts: bytes) -> int:
    """Return the checksum of a number and the bytes that are stored with it."""
    checksum = number & 0xFFFFFFFF
    for part in parts:
        checksum = crc32(part, checksum)
    return checksum


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn an error of SQLite or the system into an InputError that names the file."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a fault of simdup, not of the file
    except sqlite3.Error as error:
        cause = str(error)
        if "locked" in cause:
            cause = "another process is changing it; try again later"
        elif cause == "interrupted":
            raise damaged(path, "a statement found no end in it") from None
        elif type(error) is sqlite3.DatabaseError:
            raise damaged(path, cause) from None
        raise InputError(f"{path!r}: {cause}") from None
    except UnicodeError as error:  # SQLite quotes a damaged file
        raise damaged(path, error) from None
    except FileExistsError:
        there = "exists already; name a new file, or go on with an index by `simdup index add`"
        raise InputError(f"{path!r}: {there}") from None
    except OSError as error:
        raise InputError(f"{path!r}: {error.strerror}") from None
