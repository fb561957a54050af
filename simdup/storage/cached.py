"""The entries of a store for one recipe: fingerprints of files, similarities of pairs, results.

A file that changed just before the scan is not kept, since its times would not show the next
change. Entries are dropped when their file is gone. Every entry carries a checksum, because
SQLite does not notice a flipped bit; an entry that does not match its checksum is ignored.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from simdup.arrays import Digests, Indices, Rows, Similarities
from simdup.compute.hashing import mix64
from simdup.records import Document, Source
from simdup.settings import USUAL, Limits
from simdup.storage.codec import Outcome, entry, folder_of, is_settled, outcome_in, status

if TYPE_CHECKING:  # it loads sqlite3, which a scan without a store does without
    from simdup.storage.store import Store

#: A source, its outcome if known, and for a document its fingerprint and sketch.
Recalled: TypeAlias = tuple[Source, Outcome | None, bytes | None, bytes]

# Pairs looked up at once.
KEYS_AT_ONCE = 1 << 14

# Stands for a missing record and its checksum.
_NOTHING: tuple[bytes, int | None] = b"", None

_UNKNOWN = None, None, b""

# Types are checked because a flipped bit can change them too.
_ARE_BYTES = "typeof(name) = 'blob' AND typeof(record) = 'blob'"


class RecipeCache:
    """The entries of a store for one recipe, which one scan looks up and adds to."""

    def __init__(self, store: Store, key: str, width: int, limits: Limits = USUAL) -> None:
        """Look up the recipe of this key, with fingerprints of `width` bytes."""
        self.store, self.width, self.number = store, width, store.number_of_recipe(key)
        self.began, self.limits = time.time_ns(), limits
        self.seed = crc32(key.encode())
        self.salt = np.frombuffer(blake2b(key.encode(), digest_size=16).digest(), np.uint64)
        self.folders: dict[bytes, int] = {}
        # Names that the store has and the scan did not ask for, by folder: perhaps deleted files.
        self.unasked: dict[bytes, list[bytes]] = {}
        self.asked = self.known = 0

    def recall(self, sources: Iterable[Source], *, is_list: bool = False) -> Iterator[Recalled]:
        """Yield each source, its outcome if known, and for a document its fingerprint and sketch.

        Records are read folder by folder; for a list, which may be in any order, one by one.
        """
        for name, in_folder in groupby(sources, lambda each: folder_of(each.path)):
            folder = os.fsencode(os.path.abspath(name))
            seed = crc32(folder, self.seed)
            records = {} if is_list else self._records(folder)
            for source in in_folder:
                base = os.fsencode(source.path[len(name) :])
                if is_list:
                    records = self._records(folder, base)
                record, checksum = records.pop(base, _NOTHING)
                found: tuple[Outcome | None, bytes | None, bytes] = _UNKNOWN
                if record.startswith(status(source)) and (
                    crc32(record, crc32(base, seed)) == checksum
                ):
                    self.known += 1
                    found = outcome_in(source, record, self.width)
                self.asked += 1
                yield source, *found
            if records:
                self.unasked.setdefault(folder, []).extend(records)

    def _records(self, folder: bytes, *only: bytes) -> dict[bytes, tuple[bytes, int | None]]:
        """Return the records and checksums of a folder's files by name, and note its number.

        If there is a name in `only`, only of the file with this name.
        """
        found = self.store.execute(
            "SELECT id, name, record, checksum FROM folders"  # noqa: S608  (constants)
            f" LEFT JOIN files ON folder = id AND recipe = ? AND {_ARE_BYTES}"
            f"{' AND name = ?' * len(only)} WHERE path = ?",
            *(self.number, *only, folder),
        )
        if found:
            self.folders[folder] = found[0][0]
        return {name: (record, checksum) for _, name, record, checksum in found if name is not None}

    def keep(
        self,
        sources: Sequence[Source],
        found: Sequence[Outcome],
        rows: Rows,
        sketches: Iterable[bytes] = repeat(b""),
    ) -> None:
        """Keep the outcomes of some sources, with rows and sketches of the documents."""
        of_documents = zip((row.tobytes() for row in rows), sketches, strict=False)
        made = []
        for source, outcome in zip(sources, found, strict=True):
            kept = next(of_documents) if isinstance(outcome, Document) else (b"", b"")
            is_lasting = isinstance(outcome, Document) or outcome.reason.is_lasting
            if is_lasting and is_settled(source, self.began):
                made.append((source, entry(source, outcome, *kept)))
        with self.store.writing():
            self._insert(made)
        if self.store.is_open:
            self.store.kept += len(made)

    def _insert(self, made: Sequence[tuple[Source, bytes]]) -> None:
        values = []
        for name, in_folder in groupby(made, lambda each: folder_of(each[0].path)):
            folder = os.fsencode(os.path.abspath(name))
            if folder not in self.folders:
                insert = "INSERT OR IGNORE INTO folders (path, used) VALUES (?, ?)"
                self.store.execute(insert, folder, self.store.today)
                for (new,) in self.store.execute("SELECT id FROM folders WHERE path = ?", folder):
                    self.folders[folder] = new
            number, seed = self.folders.get(folder), crc32(folder, self.seed)
            for source, record in in_folder:
                base = os.fsencode(source.path[len(name) :])
                checksum = crc32(record, crc32(base, seed))
                values.append((number, self.number, base, record, checksum))
        self.store.execute_many("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", values)

    def similarities(self, left: Digests, right: Digests) -> Similarities:
        """Return the similarity of each pair of feature digests (m, 2); NaN if unknown; (m,)."""
        keys, checks = self._keys(left, right)
        values = np.full(len(keys), np.nan)
        for begin in range(0, len(keys), KEYS_AT_ONCE):
            part = slice(begin, begin + KEYS_AT_ONCE)
            # The last row matches no checksum; with it, `found` is never empty.
            found = np.array([*self._similarities(keys[part]), (0, 0, 0)], np.int64)
            found = found[np.argsort(found[:, 0])]
            at = np.searchsorted(found[:, 0], keys[part]) % len(found)
            key, value, check = found[at].T
            fits = (key == keys[part]) & (check == _check(checks[part], value))
            values[part] = np.where(fits, value.view(np.float64), np.nan)
        return values

    def _similarities(self, keys: Indices) -> list[Any]:
        return self.store.execute(
            "SELECT similarities.key, similarities.value, checksum FROM json_each(?) AS asked"
            " JOIN similarities ON similarities.key = asked.value"
            " WHERE typeof(similarities.value) = 'integer' AND typeof(checksum) = 'integer'",
            json.dumps(keys.tolist()),
        )

    def keep_similarities(self, left: Digests, right: Digests, values: Similarities) -> None:
        """Keep the similarity of each pair of feature digests."""
        keys, checks = self._keys(left, right)
        as_integers = values.view(np.int64)
        columns = (keys, as_integers, _check(checks, as_integers))
        rows = zip(*(each.tolist() for each in columns), repeat(self.store.today))
        with self.store.writing():
            self.store.execute_many("INSERT OR REPLACE INTO similarities VALUES (?, ?, ?, ?)", rows)

    def result(self, key: bytes) -> bytes | None:
        """Return the result that was kept with a key; None if there is none."""
        key, today = self.result_key(key), self.store.today
        found = self.store.execute(
            "SELECT entry, checksum FROM results WHERE key = ? AND typeof(entry) = 'blob'", key
        )
        for data, checksum in found:
            if crc32(data, crc32(key)) == checksum:
                update = "UPDATE results SET used = ? WHERE key = ? AND used IS NOT ?"
                self.store.execute(update, today, key, today)
                return bytes(data)
        return None

    def keep_result(self, key: bytes, data: bytes) -> None:
        """Keep a result with its key, and drop old results beyond `Limits.result_bytes`.

        Results whose last use was on the earliest day go first.
        """
        if len(data) > self.limits.result_bytes:
            return
        key = self.result_key(key)
        with self.store.writing():
            self.store.execute(
                "INSERT OR REPLACE INTO results (key, entry, checksum, used) VALUES (?, ?, ?, ?)",
                *(key, data, crc32(data, crc32(key)), self.store.today),
            )
            self.store.execute(
                "DELETE FROM results WHERE number IN (SELECT number FROM (SELECT number,"
                " sum(length(entry)) OVER (ORDER BY used DESC, number DESC) AS size FROM results)"
                " WHERE size > ?)",
                self.limits.result_bytes,
            )

    def result_key(self, key: bytes) -> bytes:
        """The key in the store, which is different for each recipe."""
        return blake2b(key, key=self.salt.tobytes()).digest()

    def _keys(self, left: Digests, right: Digests) -> tuple[Indices, Digests]:
        """Return 64 bits of key and 64 of checksum seed for each pair, the same in either order."""
        first, second = (
            mix64(left[:, word] + self.salt[word]) + mix64(right[:, word] + self.salt[word])
            for word in (0, 1)
        )
        return mix64(first + mix64(second)).view(np.int64), mix64(second ^ mix64(first))

    def finish(self, roots: Iterable[str]) -> None:
        """Forget files that are gone from under the roots, and note what this scan used."""
        today = self.store.today
        with self.store.writing():
            self._forget_files()
            for root in roots:
                self._forget_folders(os.fsencode(os.path.abspath(root)))
            update = "UPDATE folders SET used = ? WHERE id = ? AND used IS NOT ?"
            numbers = ((today, number, today) for number in self.folders.values())
            self.store.execute_many(update, numbers)
            self._note_counts()

    def met_again(self, roots: Iterable[str], files: int) -> None:
        """Note that a scan found these roots unchanged, with this number of files."""
        today = self.store.today
        self.asked = self.known = files
        with self.store.writing():
            for root in roots:
                place = os.fsencode(os.path.abspath(root))
                inside = os.path.join(place, b"")
                self.store.execute(
                    "UPDATE folders SET used = ? WHERE used IS NOT ?"
                    " AND (path IN (?, ?) OR path > ? AND path < ?)",
                    *(today, today, place, os.path.dirname(place), inside, inside[:-1] + b"0"),
                )
            self._note_counts()

    def _note_counts(self) -> None:
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
            "SELECT id, path FROM folders WHERE path > ? AND path < ?", inside, inside[:-1] + b"0"
        )
        gone = [
            (number,)
            for number, path in found
            if path not in self.folders and not _is_gone(root) and _is_gone(path)
        ]
        self.store.execute_many("DELETE FROM files WHERE folder = ?", gone)
        self.store.execute_many("DELETE FROM folders WHERE id = ?", gone)


def _check(checks: Digests, values: Indices) -> Indices:
    return mix64(checks ^ values.view(np.uint64)).view(np.int64)


def _is_gone(path: bytes) -> bool:
    try:
        os.lstat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False
