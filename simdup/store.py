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

import json
import os
import sqlite3
import struct
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count, groupby, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from simdup.errors import InputError
from simdup.hashing import mix64
from simdup.records import Document, Reason, Skipped, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Digests = NDArray[np.uint64]
    Outcome: TypeAlias = Document | Skipped

#: Raised whenever the tables or records change; a store with a higher number is not touched.
FORMAT = 1

# In the header of the file, so that nobody's other database is taken for a store.
APPLICATION = int.from_bytes(b"SmDp", "big")

# A file that changed less than this before the scan may change again without a trace in its
# times: those of FAT count in steps of two seconds.
SETTLED_NS = 2_000_000_000

# Seconds to wait while another scan writes, and at once: Ctrl-C is not heard meanwhile.
PATIENCE, WAIT = 10, 0.1

# Pairs asked for at once.
KEYS_AT_ONCE = 1 << 14

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

# A record: what the file system said, a letter, then what was made of the file. For a document
# its confidence, damage, features and digests, the fingerprint and the encoding's name; for
# a file that was skipped the reason and its detail.
_STATUS = struct.Struct("<Qqqq")
_DOCUMENT = struct.Struct("<dqq16s16s16s")
_IS_DOCUMENT, _IS_SKIPPED = b"d", b"s"

# In place of a record and its checksum.
_NOTHING: tuple[bytes, int | None] = b"", None

# Reasons that are the file's own, and will be the same next time.
_LASTING = frozenset({Reason.BINARY, Reason.EMPTY, Reason.UNEXTRACTED})


def default_place() -> Path:
    """Where the store of this user is: SIMDUP_CACHE, or in the system's place for caches."""
    if named := os.environ.get("SIMDUP_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "simdup" / "store.sqlite3"


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

        Raises InputError if the user named the file (`is_named`) and it is something else, or
        the store of a newer simdup.
        """
        self.path, self.warn = path, warn
        self.kept = 0
        self.connection: sqlite3.Connection | None = None
        self.today = int(time.time() // 86_400)
        problem = _not_ours(path)
        if problem and is_named:
            raise InputError(f"{str(path)!r}: {problem}")
        if problem and _is_newer(path):
            warn(f"{str(path)!r}: {problem}; going on without it")
            return
        if problem:
            self._move_aside(problem)
        was_there = path.exists()
        self._open()
        if self.connection is None and was_there and not path.exists():
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

    def shelf(self, key: str, width: int) -> Shelf:
        """What is known for one recipe, of fingerprints of `width` bytes."""
        with self.writing():
            self.execute("INSERT OR IGNORE INTO recipes (key) VALUES (?)", key)
            self.execute("UPDATE recipes SET used = ? WHERE key = ?", self.today, key)
        found = self.execute("SELECT id FROM recipes WHERE key = ?", key)
        return Shelf(self, key, width, found[0][0] if found else 0)

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
        size = sum(each.stat().st_size for each in _files_of(self.path) if each.exists())
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
                return _patiently(self.connection.execute, sql, parameters).fetchall()
        return []

    def execute_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """One statement for each row of parameters."""
        with self._guarded():
            if self.connection is not None:
                _patiently(self.connection.executemany, sql, rows)

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
            if type(error) is sqlite3.DatabaseError or isinstance(error, UnicodeError):
                self._move_aside(str(error))
            else:
                cause = getattr(error, "strerror", None) or str(error)
                self.warn(f"{str(self.path)!r}: {cause}; going on without the store")

    def _move_aside(self, cause: str) -> None:
        names = (self.path.name + f".damaged{number or ''}" for number in count())
        aside = next(path for path in map(self.path.with_name, names) if not path.exists())
        try:
            os.replace(self.path, aside)
            for each in _files_of(self.path)[1:]:
                each.unlink(missing_ok=True)
        except OSError as error:
            cause = f"{cause}, and cannot be moved aside ({error.strerror})"
        else:
            cause = f"{cause}; it is now {aside.name!r}, and what it knew is found out again"
        self.warn(f"{str(self.path)!r}: {cause}")


class Shelf:
    """What a store knows for one recipe, and what one scan adds to it."""

    def __init__(self, store: Store, key: str, width: int, number: int) -> None:
        self.store, self.width, self.number = store, width, number
        self.began = time.time_ns()
        self.seed = crc32(key.encode())
        self.salt = np.frombuffer(blake2b(key.encode(), digest_size=16).digest(), np.uint64)
        self.folders: dict[bytes, int] = {}
        # Names that were known and not asked for, by folder: their files may be gone.
        self.unasked: dict[bytes, list[bytes]] = {}
        self.asked = self.known = 0

    def recall(
        self, sources: Iterable[Source], *, is_list: bool = False
    ) -> Iterator[tuple[Source, Outcome | None, bytes | None]]:
        """Each source, with what is known of it and its fingerprint if it is a document.

        Records are taken folder by folder; for a list, which may be in any order, one by one.
        """
        for name, in_folder in groupby(sources, _folder_of):
            folder = os.fsencode(os.path.abspath(name))
            seed, number = crc32(folder, self.seed), self._known_folder(folder)
            known = {} if is_list or number is None else self._records(number)
            for source in in_folder:
                base = os.fsencode(source.path[len(name) :])
                if is_list and number is not None:
                    known = self._records(number, base)
                self.asked += 1
                record, checksum = known.pop(base, _NOTHING)
                # As the file is now, and as it was written.
                if record.startswith(_status(source)) and (
                    crc32(record, crc32(base, seed)) == checksum
                ):
                    self.known += 1
                    yield source, *self._recalled(source, record)
                else:
                    yield source, None, None
            if known:
                self.unasked.setdefault(folder, []).extend(known)

    def _known_folder(self, folder: bytes) -> int | None:
        if folder not in self.folders:
            found = self.store.execute("SELECT id FROM folders WHERE path = ?", folder)
            if not found:
                return None
            self.folders[folder] = found[0][0]
        return self.folders[folder]

    def _records(
        self, folder: int, name: bytes | None = None
    ) -> dict[bytes, tuple[bytes, int | None]]:
        """The records of the files in a folder, or of one of them, with checksums, by name."""
        # Types, because a flipped bit can change them too.
        sql = (
            "SELECT name, record, checksum FROM files WHERE folder = ? AND recipe = ?"
            " AND typeof(name) = 'blob' AND typeof(record) = 'blob'"
        )
        if name is None:
            found = self.store.execute(sql, folder, self.number)
        else:
            found = self.store.execute(sql + " AND name = ?", folder, self.number, name)
        return {name: (record, checksum) for name, record, checksum in found}

    def _recalled(self, source: Source, record: bytes) -> tuple[Outcome, bytes | None]:
        """What a record says of a source."""
        at = _STATUS.size + 1
        if record[at - 1 : at] == _IS_SKIPPED:
            reason, _, detail = record[at:].decode().partition("\n")
            return Skipped(source.path, Reason(reason), detail), None
        confidence, damaged, features, *digests = _DOCUMENT.unpack_from(record, at)
        if digests[0] == digests[1]:
            digests[1] = digests[0]  # one object for plain UTF-8, as when it is read
        middle = at + _DOCUMENT.size + self.width
        encoding = sys.intern(record[middle:].decode())
        document = Document(source, encoding, confidence, damaged, features, *digests)
        return document, record[middle - self.width : middle]

    def keep(
        self, sources: Sequence[Source], found: Sequence[Outcome], rows: NDArray[np.uint8]
    ) -> None:
        """Remember what was made of some sources; `rows` are those of the documents found."""
        each_row = iter(rows)
        entries = []
        for source, outcome in zip(sources, found, strict=True):
            row = next(each_row).tobytes() if isinstance(outcome, Document) else b""
            changed = max(source.mtime_ns, source.ctime_ns)
            is_lasting = isinstance(outcome, Document) or outcome.reason in _LASTING
            if is_lasting and changed < self.began - SETTLED_NS:
                entries.append((source, _status(source) + _content(outcome, row)))
        with self.store.writing():
            self._insert(entries)
        if self.store.is_open:
            self.store.kept += len(entries)

    def _insert(self, entries: Sequence[tuple[Source, bytes]]) -> None:
        values = []
        for name, in_folder in groupby(entries, lambda entry: _folder_of(entry[0])):
            folder = os.fsencode(os.path.abspath(name))
            number, seed = self._number_of(folder), crc32(folder, self.seed)
            for source, record in in_folder:
                base = os.fsencode(source.path[len(name) :])
                checksum = crc32(record, crc32(base, seed))
                values.append((number, self.number, base, record, checksum))
        self.store.execute_many("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", values)

    def _number_of(self, folder: bytes) -> int | None:
        """The number of a folder, a new one if need be; None if the store has just failed."""
        if folder not in self.folders:
            insert = "INSERT OR IGNORE INTO folders (path, used) VALUES (?, ?)"
            self.store.execute(insert, folder, self.store.today)
        return self._known_folder(folder)

    def similarities(self, left: Digests, right: Digests) -> NDArray[np.float64]:
        """How alike pairs of features are, by their digests (m, 2); NaN where unknown; (m,)."""
        keys, checks = self._keys(left, right)
        values = np.full(len(keys), np.nan)
        for begin in range(0, len(keys), KEYS_AT_ONCE):
            part = slice(begin, begin + KEYS_AT_ONCE)
            # One more, so that there is one; its checksum fits nothing.
            found = np.array([*self._similarities(keys[part]), (0, 0, 0)], np.int64)
            found = found[np.argsort(found[:, 0])]
            at = np.searchsorted(found[:, 0], keys[part]) % len(found)
            key, value, check = found[at].T
            fits = (key == keys[part]) & (check == _check(checks[part], value))
            values[part] = np.where(fits, value.view(np.float64), np.nan)
        return values

    def _similarities(self, keys: NDArray[np.int64]) -> list[Any]:
        return self.store.execute(
            "SELECT similarities.key, similarities.value, checksum FROM json_each(?) AS asked"
            " JOIN similarities ON similarities.key = asked.value"
            " WHERE typeof(similarities.value) = 'integer' AND typeof(checksum) = 'integer'",
            json.dumps(keys.tolist()),
        )

    def keep_similarities(self, left: Digests, right: Digests, values: NDArray[np.float64]) -> None:
        """Remember how alike pairs of features are."""
        keys, checks = self._keys(left, right)
        as_integers = values.view(np.int64)
        columns = (keys, as_integers, _check(checks, as_integers))
        entries = zip(*(each.tolist() for each in columns), repeat(self.store.today))
        insert = "INSERT OR REPLACE INTO similarities VALUES (?, ?, ?, ?)"
        with self.store.writing():
            self.store.execute_many(insert, entries)

    def _keys(self, left: Digests, right: Digests) -> tuple[NDArray[np.int64], Digests]:
        """128 bits for each pair, whatever its order: its key, and a seed of its checksum."""
        first, second = (
            mix64(left[:, word] + self.salt[word]) + mix64(right[:, word] + self.salt[word])
            for word in (0, 1)
        )
        return mix64(first + mix64(second)).view(np.int64), mix64(second ^ mix64(first))

    def finish(self, roots: Iterable[str]) -> None:
        """Forget files that are gone from under the roots, and note what this scan asked for."""
        today = self.store.today
        with self.store.writing():
            self._forget_files()
            for root in roots:
                self._forget_folders(os.fsencode(os.path.abspath(root)))
            update = "UPDATE folders SET used = ? WHERE id = ? AND used IS NOT ?"
            numbers = ((today, number, today) for number in self.folders.values())
            self.store.execute_many(update, numbers)
            counts = (("asked", self.asked), ("known", self.known))
            self.store.execute_many("INSERT OR REPLACE INTO scans VALUES (?, ?)", counts)

    def _forget_files(self) -> None:
        gone = (
            (self.folders[folder], name)
            for folder, names in self.unasked.items()
            for name in names
            if _is_gone(os.path.join(folder, name))
        )
        self.store.execute_many("DELETE FROM files WHERE folder = ? AND name = ?", gone)

    def _forget_folders(self, root: bytes) -> None:
        inside = os.path.join(root, b"")
        found = self.store.execute(
            "SELECT id, path FROM folders WHERE path > ? AND path < ? AND typeof(path) = 'blob'",
            inside,
            inside[:-1] + b"0",
        )
        gone = [
            (number,)
            for number, path in found
            if path not in self.folders and not _is_gone(root) and _is_gone(path)
        ]
        self.store.execute_many("DELETE FROM files WHERE folder = ?", gone)
        self.store.execute_many("DELETE FROM folders WHERE id = ?", gone)


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a store with its tables. Raises sqlite3.Error, OSError."""
    is_new = not path.exists()
    if is_new:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        if not path.stat().st_size:
            # Before the log takes over, so that the header of the file itself says it.
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        _patiently(connection.execute, "PRAGMA journal_mode = WAL")
        # After a power cut the last entries may be missing; what is there is whole.
        connection.execute("PRAGMA synchronous = NORMAL")
        _patiently(connection.executescript, _TABLES)
        connection.text_factory = _text
    except BaseException:
        connection.close()
        raise
    return connection


def _patiently(run: Callable[..., sqlite3.Cursor], *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
    """What a statement gives, once no other scan is writing. Raises sqlite3.Error."""
    patience = time.monotonic() + PATIENCE
    while True:
        try:
            return run(*arguments)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > patience:
                raise


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _files_of(path: Path) -> list[Path]:
    """The files of a store: its own, the log, and the log's index."""
    return [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]


def _header(path: Path) -> bytes:
    """The first bytes of a file; none if there is no file, or none that can be read."""
    try:
        # O_NONBLOCK: a FIFO must not hang; reading from one gives nothing, or an error.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 100)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _is_newer(path: Path) -> bool:
    header = _header(path)
    return _is_store(header) and int.from_bytes(header[60:64], "big") > FORMAT


def _is_store(header: bytes) -> bool:
    is_sqlite = header.startswith(b"SQLite format 3\0")
    return is_sqlite and int.from_bytes(header[68:72], "big") == APPLICATION


def _not_ours(path: Path) -> str | None:
    """What is wrong with a file that is there but is no store of this version."""
    if path.exists() and not path.is_file():
        return "not a file"
    header = _header(path)
    if not header:
        return None
    if not _is_store(header):
        return "not a store of simdup"
    return "made by a newer simdup" if _is_newer(path) else None


def _folder_of(source: Source) -> str:
    """The part of the path up to the last separator, with it."""
    return source.path[: source.path.rfind(os.sep) + 1]


def _status(source: Source) -> bytes:
    """By what a file is known besides its path."""
    inode = source.inode & (1 << 64) - 1
    return _STATUS.pack(inode, source.size, source.mtime_ns, source.ctime_ns)


def _content(outcome: Outcome, row: bytes) -> bytes:
    """The part of a record that says what was made of the file."""
    if isinstance(outcome, Skipped):
        return _IS_SKIPPED + f"{outcome.reason.value}\n{outcome.detail}".encode()
    numbers = _DOCUMENT.pack(
        outcome.confidence,
        outcome.damaged,
        outcome.features,
        outcome.bytes_digest,
        outcome.text_digest,
        outcome.features_digest,
    )
    return _IS_DOCUMENT + numbers + row + outcome.encoding.encode()


def _check(checks: Digests, values: NDArray[np.int64]) -> NDArray[np.int64]:
    return mix64(checks ^ values.view(np.uint64)).view(np.int64)


def _is_gone(path: bytes) -> bool:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False
