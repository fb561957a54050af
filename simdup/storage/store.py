"""What earlier scans found out, in one SQLite file: fingerprints of files, similarities of pairs.

A file is known by the bytes of its path, its inode, its size and both times of change; what
was made of it, by all that decides a fingerprint. A file that had changed just before the scan
is not remembered, since the next change might leave the same times. Entries are dropped when
their file is gone.

Every entry carries a checksum, because SQLite does not notice a flipped bit: one that does
not fit is as good as none. Whatever goes wrong with the store costs a warning and what it
would have saved, never an answer; from then on it knows nothing and keeps nothing.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simdup.errors import InputError
from simdup.storage.home import home
from simdup.storage.sqlite import Sort, connected, files_of, make_private, patiently

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TABLES = """
CREATE TABLE IF NOT EXISTS recipes (id INTEGER PRIMARY KEY, key TEXT UNIQUE, used INTEGER);
CREATE TABLE IF NOT EXISTS folders (id INTEGER PRIMARY KEY, path BLOB UNIQUE, used INTEGER);
CREATE TABLE IF NOT EXISTS files (
    folder INTEGER, recipe INTEGER, name BLOB, record BLOB, checksum INTEGER,
    PRIMARY KEY (folder, recipe, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS similarities (
    key INTEGER PRIMARY KEY, value INTEGER, checksum INTEGER, made INTEGER
);
CREATE TABLE IF NOT EXISTS scans (name TEXT PRIMARY KEY, value INTEGER);
"""

#: Its format is raised whenever the tables or records change; a newer store is not touched.
SORT = Sort("a store", int.from_bytes(b"SmDp", "big"), 1, _TABLES)


def default_place() -> Path:
    """Where the store of this user is: SIMDUP_CACHE, or in the system's place for caches.

    Raises NoHomeError.
    """
    if named := os.environ.get("SIMDUP_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home() / ".cache")
    return base / "simdup" / "store.sqlite3"


def is_place_named() -> bool:
    """Whether the user has named the default place of the store, by SIMDUP_CACHE."""
    return bool(os.environ.get("SIMDUP_CACHE"))


@dataclass(frozen=True, slots=True)
class Info:
    """What is in a store."""

    path: Path
    bytes: int
    files: int
    folders: int
    similarities: int
    recipes: tuple[tuple[str, int], ...]
    """The key of each, and its files."""
    asked: int
    """Files that the last scan asked for."""
    known: int
    """Those of them that were known."""


class Store:
    """The SQLite file, to be closed.

    `kept` counts the files that were added to it.
    """

    def __init__(self, path: Path, warn: Callable[[str], None], *, is_named: bool = False) -> None:
        """Open the store or make it. Where that cannot be, one warning, and nothing is known.

        What is no store, or the store of a newer simdup, is left as it is. Raises InputError
        for it if the user named the place (`is_named`), by an option or by SIMDUP_CACHE.
        """
        self.path, self.warn = path, warn
        self.kept = 0
        self.connection: sqlite3.Connection | None = None
        self.today = int(time.time() // 86_400)
        problem = SORT.problem(path)
        if problem and is_named:
            raise InputError(f"{str(path)!r}: {problem}")
        if problem:
            warn(f"{str(path)!r}: {problem}; going on without it")
            return
        was_there = os.path.exists(path)
        self._open()
        if self.connection is None and was_there and not os.path.exists(path):
            self._open()  # it was damaged, and is out of the way

    def _open(self) -> None:
        with self._guarded():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.connection = _opened(self.path)

    @property
    def is_open(self) -> bool:
        """Whether anything is kept: not after it was closed, or has failed."""
        return self.connection is not None

    def close(self) -> None:
        """Let go of the file."""
        if self.connection is not None:
            with suppress(sqlite3.Error):
                self.connection.close()
            self.connection = None

    def number_of_recipe(self, key: str) -> int:
        """The number of a recipe, by its key; 0 if the store cannot be used."""
        with self.writing():
            self.execute("INSERT OR IGNORE INTO recipes (key) VALUES (?)", key)
            self.execute("UPDATE recipes SET used = ? WHERE key = ?", self.today, key)
        found = self.execute("SELECT id FROM recipes WHERE key = ?", key)
        return int(found[0][0]) if found else 0

    def info(self) -> Info:
        """How much is in it, and what the last scan had of it."""
        counts = [
            self.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
            for table in ("files", "folders", "similarities")
        ]
        files, folders, similarities = (rows[0][0] if rows else 0 for rows in counts)
        recipes = self.execute(
            "SELECT key, count(*) FROM recipes JOIN files ON recipe = id"
            " WHERE typeof(key) = 'text' GROUP BY id ORDER BY id"
        )
        last = dict(self.execute("SELECT name, value FROM scans WHERE typeof(value) = 'integer'"))
        size = sum(each.stat().st_size for each in files_of(self.path) if each.exists())
        asked, known = last.get("asked", 0), last.get("known", 0)
        return Info(self.path, size, files, folders, similarities, tuple(recipes), asked, known)

    def clear(self, days: int | None = None) -> None:
        """Forget everything, or what no scan has asked for in so many days."""
        before = self.today + 1 if days is None else self.today - days
        with self.writing():
            self.execute(
                "DELETE FROM files WHERE folder IN (SELECT id FROM folders WHERE used < ?)", before
            )
            self.execute("DELETE FROM folders WHERE used < ?", before)
            old = "(SELECT id FROM recipes WHERE used < ?)"
            self.execute(f"DELETE FROM files WHERE recipe IN {old}", before)  # noqa: S608
            self.execute("DELETE FROM recipes WHERE used < ?", before)
            self.execute("DELETE FROM similarities WHERE made < ?", before)
            if days is None:
                self.execute("DELETE FROM scans")
        self.execute("VACUUM")
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def execute(self, sql: str, *parameters: Any) -> list[Any]:  # noqa: ANN401
        """The rows that a statement gives; none if the store cannot be used."""
        with self._guarded():
            if self.connection is not None:
                return patiently(self.connection.execute, sql, parameters).fetchall()
        return []

    def execute_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """One statement for each row of parameters."""
        with self._guarded():
            if self.connection is not None:
                patiently(self.connection.executemany, sql, rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What is done in the block is kept as a whole, or not at all."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Go on without the store when it fails, and say so once."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self.close()
            # SQLite's class for a damaged file is the base of those for all other trouble; what
            # it says of one may be no text.
            is_damaged = type(error) is sqlite3.DatabaseError or isinstance(error, UnicodeError)
            if is_damaged and SORT.has_header(self.path):
                self._move_aside(str(error))
            else:
                cause = getattr(error, "strerror", None) or str(error)
                self.warn(f"{str(self.path)!r}: {cause}; going on without the store")

    def _move_aside(self, cause: str) -> None:
        names = (self.path.name + f".damaged{number or ''}" for number in count())
        aside = next(path for path in map(self.path.with_name, names) if not os.path.lexists(path))
        try:
            os.replace(self.path, aside)
            for each in files_of(self.path)[1:]:
                each.unlink(missing_ok=True)
        except OSError as error:
            cause = f"{cause}, and cannot be moved aside ({error.strerror})"
        else:
            cause = f"{cause}; it is now {aside.name!r}, and what it knew is found out again"
        self.warn(f"{str(self.path)!r}: {cause}")


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a store with its tables. Raises sqlite3.Error, OSError."""
    make_private(path)
    connection = connected(path, "mode=rw")
    try:
        connection.text_factory = _text
        SORT.check(connection)
        if not path.stat().st_size:
            # Before the log takes over, so that the header of the file itself says it.
            SORT.sign(connection)
        patiently(connection.execute, "PRAGMA journal_mode = WAL")
        # After a power cut the last entries may be missing; what is there is whole.
        connection.execute("PRAGMA synchronous = NORMAL")
        patiently(connection.executescript, _TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
