"""The entries of a store for one recipe: fingerprints of files, similarities of pairs, results.

What is known of the files of one folder is kept in batches: one for each task of a scan, of up to
`Limits.task_files` files, and then one for the files that a later scan read anew. A file that
changed just before the scan is not kept, since its times would not show the next change. At its end
a scan writes a batch again without the files that have changed or are gone. Every batch carries a
checksum, because SQLite does not notice a flipped bit; one that does not match it is dropped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import compress, repeat
from operator import not_
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from simdup.arrays import Digests, Indices, Rows, Similarities, Values
from simdup.compute.hashing import mix64
from simdup.records import Document, Source
from simdup.settings import USUAL, Limits
from simdup.storage.outcomes import Batch, Outcome, batch_from, packed, unpacked
from simdup.storage.status import folder_of, is_settled, status

if TYPE_CHECKING:  # it loads sqlite3, which a scan without a store does without
    from simdup.storage.store import Store

#: Raised when batches change, so that a scan with an older store reads every file again.
EDITION = 1

# `recall` yields what is known of at least so many files at once.
RECALLED_AT_ONCE = 1 << 12

# Pairs looked up at once.
KEYS_AT_ONCE = 1 << 14


class Known(NamedTuple):
    """What a store knows of some files.

    positions: Where they are among the files that were asked for.
    outcomes: One for each of them.
    rows: (documents among these, width)
    sizes, values: Those of the sketches of the documents; values stand one after the other.
    """

    positions: list[int]
    outcomes: list[Outcome]
    rows: Rows
    sizes: Indices
    values: Values


class RecipeCache:
    """The entries of a store for one recipe, which one scan looks up and adds to."""

    def __init__(self, store: Store, key: str, width: int, limits: Limits = USUAL) -> None:
        """Look up the recipe of this key, with fingerprints of `width` bytes."""
        self.store, self.width, self.number = store, width, store.number_of_recipe(key)
        self.began, self.limits = time.time_ns(), limits
        self.seed = crc32(key.encode(), EDITION)
        self.salt = np.frombuffer(blake2b(key.encode(), digest_size=16).digest(), np.uint64)
        self.folders: dict[bytes, int] = {}
        # Batches to look at when the scan ends, by number: the folder, and the files that are not
        # as they were: the names of those that have changed, and of those that may be gone. Both
        # are empty if the batch is damaged.
        self._outdated: dict[int, tuple[str, set[str], list[str]]] = {}
        self.asked = self.known = 0

    def recall(self, sources: Sequence[Source], *, is_list: bool = False) -> Iterator[Known]:
        """Yield what is known of these files, some thousand at a time; unknown ones are left out.

        A list may leave out any files, so it does not tell which others are gone.
        """
        absolute = cache(os.path.abspath)
        folders: dict[str, dict[str, int]] = {}
        for position, source in enumerate(sources):
            name = folder_of(source.path)
            folders.setdefault(absolute(name), {})[source.path[len(name) :]] = position
        self.asked += len(sources)
        found, count = list[Known](), 0
        for folder, asked in folders.items():
            for known in self._in_folder(folder, asked, sources, is_list=is_list):
                found.append(known)
                count += len(known.positions)
                if count >= RECALLED_AT_ONCE:
                    yield _joined(found)
                    found, count = [], 0
        if found:
            yield _joined(found)

    def _in_folder(
        self, folder: str, asked: dict[str, int], sources: Sequence[Source], *, is_list: bool
    ) -> Iterator[Known]:
        """Yield what is known of the files of a folder, batch by batch; see `recall`.

        `asked` has the positions of these files by their names.
        """
        left = dict(asked)
        for number, batch in self._batches(folder):
            positions, are_known = list[int](), list[bool]()
            for name, was in zip(batch.names, batch.statuses, strict=True):
                at = left.get(name)
                are_known.append(at is not None and status(sources[at]) == was)
                if are_known[-1]:
                    positions.append(left.pop(name))
            if not all(are_known):
                others = {*compress(batch.names, map(not_, are_known))}
                changed, unasked = others & asked.keys(), list(others - asked.keys())
                if changed or (unasked and not is_list):
                    self._outdated[number] = folder, changed, [] if is_list else unasked
                batch = batch.take(np.array(are_known))  # noqa: PLW2901
            if positions:
                self.known += len(positions)
                files = (sources[at] for at in positions)
                outcomes = list(unpacked(files, batch.told, batch.records))
                yield Known(positions, outcomes, batch.rows, batch.sizes, batch.values)

    def _batches(self, folder: str) -> Iterator[tuple[int, Batch]]:
        """Yield each sound batch of a folder with its number, the one that was made last first.

        Notes the number of the folder.
        """
        found = self.store.execute(
            "SELECT id, number, data, checksum FROM folders"
            " LEFT JOIN batches ON folder = id AND recipe = ? WHERE path = ? ORDER BY number DESC",
            *(self.number, os.fsencode(folder)),
        )
        for own, number, data, checksum in found:
            self.folders[os.fsencode(folder)] = own
            if number is not None and (batch := self._sound(folder, data, checksum)) is not None:
                yield number, batch
            elif number is not None:
                self._outdated[number] = folder, set(), []

    def _sound(self, folder: str, data: object, checksum: object) -> Batch | None:
        """Return the batch of a folder in these bytes; None if it is damaged."""
        # The type is checked because a flipped bit can change it too.
        if isinstance(data, bytes) and self._checksum(folder, data) == checksum:
            return batch_from(data, self.width)
        return None

    def _checksum(self, folder: str, data: bytes) -> int:
        return crc32(data, crc32(os.fsencode(folder), self.seed))

    def keep(
        self,
        sources: Sequence[Source],
        found: Sequence[Outcome],
        rows: Rows,
        sizes: Indices,
        values: Values,
    ) -> None:
        """Keep the outcomes of some sources; the arrays are of the documents among them.

        See `Known`.
        """
        are_documents = np.array([isinstance(each, Document) for each in found], bool)
        number_of, ends, count = np.cumsum(are_documents) - 1, np.cumsum(sizes), 0
        folders: dict[str, list[int]] = {}
        for at, (source, outcome) in enumerate(zip(sources, found, strict=True)):
            is_lasting = isinstance(outcome, Document) or outcome.reason.is_lasting
            if is_lasting and is_settled(source, self.began):
                folders.setdefault(folder_of(source.path), []).append(at)
                count += 1
        with self.store.writing():
            for name, kept in folders.items():
                files = [sources[at] for at in kept]
                names = [each.path[len(name) :] for each in files]
                documents = number_of[kept][are_documents[kept]]
                sketches = [values[ends[each] - sizes[each] : ends[each]] for each in documents]
                arrays = rows[documents], sizes[documents], np.concatenate([values[:0], *sketches])
                outcomes = packed([found[at] for at in kept])
                batch = Batch(names, list(map(status, files)), *outcomes, *arrays)
                self._insert(os.path.abspath(name), batch)
        if self.store.is_open:
            self.store.kept += count

    def _insert(self, folder: str, batch: Batch) -> None:
        path = os.fsencode(folder)
        if path not in self.folders:
            insert = "INSERT OR IGNORE INTO folders (path, used) VALUES (?, ?)"
            self.store.execute(insert, path, self.store.today)
            for (new,) in self.store.execute("SELECT id FROM folders WHERE path = ?", path):
                self.folders[path] = new
        data = batch.as_bytes()
        self.store.execute(
            "INSERT INTO batches (folder, recipe, files, data, checksum) VALUES (?, ?, ?, ?, ?)",
            *(self.folders.get(path), self.number, len(batch.names)),
            *(data, self._checksum(folder, data)),
        )

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
            for number, about in self._outdated.items():
                self._renew(number, *about)
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

    def _renew(self, number: int, folder: str, changed: set[str], unasked: Sequence[str]) -> None:
        """Write a batch of a folder again without the files that have changed or are gone.

        A damaged batch goes, and so does one of which no file is left.
        """
        is_damaged = not changed and not unasked
        paths = (os.fsencode(os.path.join(folder, name)) for name in unasked)
        gone = changed.union(compress(unasked, map(_is_gone, paths)))
        if not (gone or is_damaged):
            return
        found = self.store.execute("SELECT data, checksum FROM batches WHERE number = ?", number)
        batch = self._sound(folder, *found[0]) if found else None
        stays = np.array([] if batch is None else [name not in gone for name in batch.names], bool)
        if batch is None or not stays.any():
            self.store.execute("DELETE FROM batches WHERE number = ?", number)
        else:
            data = (batch := batch.take(stays)).as_bytes()
            self.store.execute(
                "UPDATE batches SET files = ?, data = ?, checksum = ? WHERE number = ?",
                *(len(batch.names), data, self._checksum(folder, data), number),
            )

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
        self.store.execute_many("DELETE FROM batches WHERE folder = ?", gone)
        self.store.execute_many("DELETE FROM folders WHERE id = ?", gone)


def _joined(found: Sequence[Known]) -> Known:
    positions = [at for each in found for at in each.positions]
    outcomes = [outcome for each in found for outcome in each.outcomes]
    arrays = zip(*(each[2:] for each in found), strict=True)
    return Known(positions, outcomes, *map(np.concatenate, arrays))


def _check(checks: Digests, values: Indices) -> Indices:
    return mix64(checks ^ values.view(np.uint64)).view(np.int64)


def _is_gone(path: bytes) -> bool:
    try:
        os.lstat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False
