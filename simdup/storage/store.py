"""The findings of earlier scans, in one SQLite file.

It has fingerprints of files, similarities of pairs, and results of scans. A file is recognised
by the bytes of its path, its inode, its size and both times of change, under the key of a recipe.
If anything goes wrong with the store, simdup warns once and works without it from then on: that
costs time, and never changes an answer.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import NamedTuple

from simdup.errors import InputError
from simdup.storage.home import usual_place
from simdup.storage.sqlite import Database, DatabaseKind, files_of, make_private, patiently, size_of

_TABLES = """
CREATE TABLE IF NOT EXISTS recipes (id INTEGER PRIMARY KEY, key TEXT UNIQUE, used INTEGER);
CREATE TABLE IF NOT EXISTS folders (id INTEGER PRIMARY KEY, path BLOB UNIQUE, used INTEGER);
CREATE TABLE IF NOT EXISTS batches (
    number INTEGER PRIMARY KEY, folder INTEGER, recipe INTEGER, files INTEGER, data BLOB,
    checksum INTEGER
);
CREATE INDEX IF NOT EXISTS batches_of_folder ON batches (folder, recipe);
CREATE TABLE IF NOT EXISTS similarities (
    key INTEGER PRIMARY KEY, value INTEGER, checksum INTEGER, made INTEGER
);
CREATE TABLE IF NOT EXISTS results (
    number INTEGER PRIMARY KEY, key BLOB UNIQUE, entry BLOB, checksum INTEGER, used INTEGER
);
CREATE TABLE IF NOT EXISTS scans (name TEXT PRIMARY KEY, value INTEGER);
CREATE TABLE IF NOT EXISTS groups (number INTEGER PRIMARY KEY, entry TEXT, checksum INTEGER);
"""

# A table of older versions, which is dropped when a store is opened.
_OLD_TABLE = """
CREATE TABLE IF NOT EXISTS files (
    folder INTEGER, recipe INTEGER, name BLOB, record BLOB, checksum INTEGER,
    PRIMARY KEY (folder, recipe, name)
) WITHOUT ROWID;
"""

#: Its format is raised when an older simdup must not touch the store. Adding a table does not raise
#: it: an older simdup moves such a store aside, and begins anew.
STORE = DatabaseKind("a store", int.from_bytes(b"SmDp", "big"), 1, _TABLES + _OLD_TABLE)


def default_place() -> str:
    """Return where this user's store is: SIMDUP_CACHE, or in the system's place for caches.

    Raises NoHomeError.
    """
    return usual_place("cache", "store.sqlite3", "SIMDUP_CACHE")


def is_place_named() -> bool:
    """Whether the user has named the default place of the store, by SIMDUP_CACHE."""
    return bool(os.environ.get("SIMDUP_CACHE"))


class Info(NamedTuple):
    """The contents of a store, counted.

    results: Results of scans.
    recipes: The key of each recipe, and the number of its files.
    asked: Files that the last scan looked up.
    known: Files that the last scan found in the store.
    """

    path: str
    bytes: int
    files: int
    folders: int
    similarities: int
    results: int
    recipes: tuple[tuple[str, int], ...]
    asked: int
    known: int


class Store(Database):
    """An open store; to be closed. `kept` counts the files that were added to it."""

    def __init__(
        self, path: str | os.PathLike[str], warn: Callable[[str], None], *, is_named: bool = False
    ) -> None:
        """Open the store or make it; if that fails, warn once and go on without it.

        Anything else at its place, even the store of a newer simdup, is left as it is. Raises
        InputError in that case if the user named the place (`is_named`), by an option or by
        SIMDUP_CACHE.
        """
        self.path, self.warn = os.fspath(path) or os.curdir, warn
        self.kept = 0
        self.connection: sqlite3.Connection | None = None
        self.today = int(time.time() // 86_400)
        problem = STORE.problem(self.path)
        if problem and is_named:
            raise InputError(f"{self.path!r}: {problem}")
        if problem:
            warn(f"{self.path!r}: {problem}; going on without it")
            return
        was_there = os.path.exists(self.path)
        self._open()
        if was_there and not os.path.exists(self.path):
            self._open()  # it was damaged, and has been moved aside

    def _open(self) -> None:
        with self._guarded():
            os.makedirs(os.path.dirname(self.path) or os.curdir, mode=0o700, exist_ok=True)
            self.connection = _opened(self.path)

    @property
    def is_open(self) -> bool:
        """Whether the store can be used: false once it was closed or has failed."""
        return self.connection is not None

    def close(self) -> None:
        """Let go of the file."""
        super().close()
        self.connection = None

    def number_of_recipe(self, key: str) -> int:
        """Return the number of a recipe, by its key; 0 if the store cannot be used."""
        with self.writing():
            self.execute("INSERT OR IGNORE INTO recipes (key) VALUES (?)", key)
            self.execute("UPDATE recipes SET used = ? WHERE key = ?", self.today, key)
        found = self.execute("SELECT id FROM recipes WHERE key = ?", key)
        return int(found[0][0]) if found else 0

    def info(self) -> Info:
        """Count what is in the store, and what the last scan found there."""
        counts = [
            (self.execute(f"SELECT count(*) FROM {table}") or [(0,)])[0][0]  # noqa: S608
            for table in ("folders", "similarities", "results")
        ]
        recipes = self.execute(
            "SELECT key, total(files) FROM recipes JOIN batches ON recipe = id"
            " WHERE typeof(key) = 'text' AND typeof(files) = 'integer' GROUP BY id ORDER BY id"
        )
        last = dict(self.execute("SELECT name, value FROM scans WHERE typeof(value) = 'integer'"))
        size, asked, known = size_of(self.path), last.get("asked", 0), last.get("known", 0)
        by_recipe = tuple((key, int(files)) for key, files in recipes)
        files = sum(files for _, files in by_recipe)
        return Info._make((self.path, size, files, *counts, by_recipe, asked, known))

    def clear(self, days: int | None = None) -> None:
        """Forget everything, or everything that no scan has used for this number of days.

        Similarities have no date of use: they go that number of days after they were computed.
        """
        before = float("inf") if days is None else self.today - days
        with self.writing():
            for table, column in (("folders", "folder"), ("recipes", "recipe")):
                self.execute(
                    f"DELETE FROM batches WHERE {column} IN"  # noqa: S608  (constants)
                    f" (SELECT id FROM {table} WHERE used < ?)",
                    before,
                )
                self.execute(f"DELETE FROM {table} WHERE used < ?", before)  # noqa: S608
            self.execute("DELETE FROM similarities WHERE made < ?", before)
            self.execute("DELETE FROM results WHERE used < ?", before)
            if days is None:
                self.execute("DELETE FROM scans")
                self.execute("DELETE FROM groups")
        self.execute("VACUUM")
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Go on without the store when it fails, and warn once."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self.close()
            # For a damaged file SQLite raises DatabaseError itself, for other trouble a subclass.
            # If its message about a damaged file cannot be decoded, Python raises UnicodeError.
            is_damaged = type(error) is sqlite3.DatabaseError or isinstance(error, UnicodeError)
            if is_damaged and STORE.has_header(self.path):
                self._move_aside(str(error))
            else:
                cause = getattr(error, "strerror", None) or str(error)
                self.warn(f"{self.path!r}: {cause}; going on without the store")

    def _move_aside(self, cause: str) -> None:
        names = (f"{self.path}.damaged{number or ''}" for number in count())
        aside = next(path for path in names if not os.path.lexists(path))
        try:
            os.replace(self.path, aside)
            for each in files_of(self.path)[1:]:
                with suppress(FileNotFoundError):
                    os.unlink(each)
        except OSError as error:
            cause = f"{cause}, and cannot be moved aside ({error.strerror})"
        else:
            new = os.path.basename(aside)
            cause = f"{cause}; it is now {new!r}, and what it knew is found out again"
        self.warn(f"{self.path!r}: {cause}")


def _opened(path: str) -> sqlite3.Connection:
    """Open a store with its tables, and make it if it is missing. Raises sqlite3.Error, OSError."""
    make_private(path)
    connection = STORE.connect(path, "mode=rw", sqlite3.Connection)
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        if not os.stat(path).st_size:
            # Before there is a log, so that the header is written into the file itself.
            patiently(connection.execute, "BEGIN IMMEDIATE")
            STORE.sign(connection)
            connection.execute("COMMIT")
        patiently(connection.execute, "PRAGMA journal_mode = WAL")
        # After a power cut the last entries may be missing; the others are intact.
        connection.execute("PRAGMA synchronous = NORMAL")
        patiently(connection.executescript, f"DROP TABLE IF EXISTS files;{_TABLES}")
    except BaseException:
        connection.close()
        raise
    return connection
