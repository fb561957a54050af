"""What must hold for any bytes: functions that fail, or return. `fuzz.py` looks for bytes."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from base64 import b64decode
from binascii import crc32
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from plans import plan

from simdup.clean.apply import apply
from simdup.clean.plan import Consents, parsed_plan, plan_lines
from simdup.clean.undo import resume, undo
from simdup.errors import InputError
from simdup.extract.archives import is_archive, opened
from simdup.extract.cleanup import NotReadable
from simdup.extract.packed import LARGEST, JunkError, allowance, packing_of, unpacked
from simdup.fingerprint.features import features
from simdup.fingerprint.simhash import fingerprint_chunks, fingerprint_texts
from simdup.index.index import Index
from simdup.recipe import Recipe
from simdup.records import Source
from simdup.report import wording
from simdup.settings import Settings
from simdup.storage.cached import RecipeCache
from simdup.storage.store import Store
from simdup.text import encodings as decode
from simdup.text.chunking import chunks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.clean.plan import Plan

RECIPES = (Recipe(), Recipe(features="tokens"), Recipe(ngram=(1, 3), bits=64))


def decoding(data: bytes) -> None:
    """An encoding or a reason; the text is the same however its bytes are cut, and is UTF-8."""
    found = decode.detect(data)
    decode.detect(data, complete=False)
    if isinstance(found, decode.NotText):
        assert found.detail
        return
    assert 0 <= found.confidence <= 1
    assert decode.encoding_named(found.name)
    text = decode.decode(data, found)
    middle = len(data) // 2
    for cut in (1, middle, len(data)):
        assert "".join(decode.decode_chunks((data[:cut], data[cut:]), found)) == text
    assert "\r" not in text
    text.encode("utf-8")
    fingerprinting(text.encode("utf-8"))


def fingerprinting(data: bytes) -> None:
    """A fingerprint, the same alone, in a batch and in chunks, with or without space around."""
    text = data.decode("utf-8", "surrogateescape")
    for recipe in RECIPES:
        alone = fingerprint_texts([text], recipe)
        together = fingerprint_texts(["first", text, "", text], recipe)
        chunked = fingerprint_chunks(chunks_of(text), recipe)
        for row in (together.rows[1], together.rows[3], chunked.rows[0]):
            assert (row == alone.rows[0]).all()
        assert alone.counts[0] == chunked.counts[0] == len(features([text], recipe).ids)
    spaced = fingerprint_texts([f"  {text}\n\n"], RECIPES[0])
    assert (spaced.rows == fingerprint_texts([text], RECIPES[0]).rows).all()


def naming(data: bytes) -> None:
    """A path of any bytes is printable, valid JSON, and comes back from it."""
    path = os.fsdecode(data)
    assert wording.printable(path).isprintable()
    shown = json.loads(json.dumps(wording.path_fields(path), ensure_ascii=False).encode("utf-8"))
    in_base64 = shown.get("path_base64")
    assert (os.fsdecode(b64decode(in_base64)) if in_base64 else shown["path"]) == path


def storing(data: bytes) -> None:
    """A store whose records were overwritten knows nothing wrong, and never fails."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "store.sqlite3")
        source = Source("a/b.txt", 1, 2, 3, 4, 5)
        store = Store(place, _unheard)
        cache = RecipeCache(store, "key", 8)
        store.execute("INSERT INTO folders VALUES (1, ?, 0)", os.fsencode(os.path.abspath("a")))
        store.execute("INSERT INTO batches VALUES (1, 1, 1, 1, ?, 7)", data)
        assert not list(cache.recall([source]))
        digests = np.frombuffer(data[:16].ljust(16, b"\0"), np.uint64)[None]
        assert np.isnan(cache.similarities(digests, digests)).all()
        cache.keep_similarities(digests, digests, np.array([0.5]))
        assert cache.similarities(digests, digests).tolist() == [0.5]
        store.close()


def opening(data: bytes) -> None:
    """Any file at all in place of the store is put aside or done without, and scans go on."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "store.sqlite3")
        place.write_bytes(data)
        store = Store(place, _unheard)
        source = Source("a/b.txt", 1, 2, 3, 4, 5)
        cache = RecipeCache(store, "key", 8)
        assert not list(cache.recall([source, source._replace(inode=9)]))
        cache.finish(["a"])
        store.info()
        store.close()


def indexing(data: bytes) -> None:
    """An index of which some bytes are others is refused, or answers as it did before."""
    damaged = bytearray(_index())
    for at in range(0, len(data) - 3, 4):
        damaged[int.from_bytes(data[at : at + 3], "big") % len(damaged)] ^= data[at + 3]
    _refused_or_right(damaged)


def unpacking(data: bytes) -> None:
    """Packed files and archives give bytes or a reason, and no more than they may."""
    whole = gzip.compress(data)
    for each in (data, b"PK\x03\x04" + data, whole, whole[:-9] + data):
        is_archive(each[:4096])
        if packing := packing_of(each):
            with suppress(NotReadable, JunkError):
                size = sum(map(len, unpacked(iter((each,)), packing, len(each))))
                assert size <= allowance(len(each))
        with suppress(NotReadable):
            archive = opened(each)
            assert sum(one.size for one in archive.values() if not one.trouble) <= LARGEST
            for one in archive.values():
                assert one.trouble or not {"..", ""} & {*one.name.split("/")}
                with suppress(NotReadable):
                    one.read()


def cataloguing(data: bytes) -> None:
    """An index that says anything at all of itself, its documents or fingerprints: the same."""
    columns = ("about.value", "documents.entry", "documents.name", "folders.path")
    for column in (*columns, "segments.rows", "segments.documents"):
        table, name = column.split(".")
        with TemporaryDirectory() as folder:
            place = Path(folder, "index")
            place.write_bytes(_index())
            with closing(sqlite3.connect(place, isolation_level=None)) as connection:
                connection.execute(f"UPDATE OR IGNORE {table} SET {name} = ?", [data])
            changed = place.read_bytes()
        _refused_or_right(changed)


def cleaning(data: bytes) -> None:
    """A plan or a journal of which some bytes are others loses no text, and touches no other file.

    The CRCs of the journal are right for its new lines.
    """
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"XDG_DATA_HOME": folder}):
        root = Path(os.path.realpath(folder))
        (root / "docs").mkdir()
        for name, text in (("docs/a", TEXTS[0]), ("docs/b", TEXTS[0]), ("secret", TEXTS[1])):
            (root / name).write_text(text)
        made = plan((str(root / "docs/a"), str(root / "docs/b")), roots=[str(root / "docs")])
        if data[:1] < b"\x80":
            _clean_by_plan(_changed("\n".join(plan_lines(made)).encode(), data[1:]), root)
        else:
            _undo_by_journal(made, data[1:], root)
        left = {each.read_bytes() for each in root.rglob("*") if each.is_file()}
        assert TEXTS[0].encode() in left
        assert (root / "secret").read_text() == TEXTS[1]
        assert (root / "docs/a").read_text() == TEXTS[0]


def _clean_by_plan(text: bytes, root: Path) -> None:
    with suppress(InputError):
        changed = parsed_plan(text.splitlines(keepends=True), "plan")
        apply(changed, Consents(text=True, near=0.8), journal=root / "j", to=root / "to")


def _undo_by_journal(made: Plan, data: bytes, root: Path) -> None:
    journal = root / "journal"
    apply(made, Consents(), journal=journal)
    cut, *lines = _changed(journal.read_bytes(), data).split(b"\n")
    bodies = (line.partition(b", ")[2] for line in (cut, *lines))
    whole = (b'{"crc": "%08x", %s\n' % (crc32(body[:-1]), body) for body in bodies)
    journal.write_bytes(b"".join(whole))
    for act in (undo, resume):
        with suppress(InputError):
            if act is undo:
                undo(journal, apply=True, journal=root / "back")
            else:
                resume(journal, Consents(text=True, near=0.8))


def _changed(right: bytes, data: bytes) -> bytes:
    """Bytes of which some are others; each four bytes of the data say which, and what they are."""
    changed = bytearray(right)
    for at in range(0, len(data) - 3, 4):
        changed[int.from_bytes(data[at : at + 3], "big") % len(changed)] = data[at + 3]
    return bytes(changed)


def _refused_or_right(changed: bytes) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder, "index")
        place.write_bytes(changed)
        for look, right in zip(LOOKS, _looks(), strict=True):
            with suppress(InputError), Index(place) as index:
                found = look(index)
                assert found == right


TEXTS = ("the cat sat on the mat", "stock prices fell today", "the cat sat on a mat")

# A distance that the tables of blocks do not answer: of these not all damage can be told.
LOOKS: tuple[Callable[[Index], object], ...] = (
    lambda index: index.query_many(TEXTS, top=3),
    lambda index: index.query(TEXTS[0], Settings(Recipe(bits=64), k=40)),
    lambda index: index.pairs(64)[1].tolist(),
)


@cache
def _index() -> bytes:
    """The bytes of an index of some texts."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "index")
        with Index.create(place, Settings(Recipe(bits=64))) as index:
            index.add_texts(["a", "in/b", "in/c"], TEXTS)
        return place.read_bytes()


@cache
def _looks() -> list[object]:
    """What is in it."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "index")
        place.write_bytes(_index())
        with Index(place) as index:
            return [look(index) for look in LOOKS]


def _unheard(_: str) -> None:
    """A warning that nobody reads."""


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (
        *(decoding, fingerprinting, naming, storing, opening, indexing, cataloguing),
        *(cleaning, unpacking),
    )
}
