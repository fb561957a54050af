"""simdup.files.fingerprint: files read at once and in chunks, and files that change meanwhile."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import numpy as np
import pytest

from simdup.files import fingerprint
from simdup.files import read as reading_room
from simdup.files.fingerprint import (
    FingerprintOptions,
    features_of,
    fingerprint_sources,
    without_degenerate,
)
from simdup.files.walk import listed
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.records import Reason, Skipped
from simdup.settings import USUAL, Limits, Settings

RECIPE = Recipe()


def plain(recipe=RECIPE, limits=USUAL):
    """The options of a run that reads plain texts only."""
    return FingerprintOptions(Settings(recipe, formats=(), limits=limits))


OPTIONS = plain()


def stream(monkeypatch, whole, chunk=97):
    """Limits within which files of more than `whole` bytes are read in chunks."""
    monkeypatch.setattr(reading_room, "HEAD", chunk)
    monkeypatch.setattr(reading_room, "CHUNK", chunk)
    return Limits(whole_bytes=whole)


@pytest.fixture
def source(write):
    """`source(path, content)`: the file, written, as the walk finds it."""

    def sourcing(path, content):
        (found,) = listed([write(path, content)])
        return found

    return sourcing


def reasons(made):
    return [(each.path, each.reason, each.detail) for each in made.skipped]


# What is made


def test_worked_by_hand(source, english):
    sources = [source("b", english), source("empty", b""), source("a", "two words")]

    made = fingerprint_sources(sources, OPTIONS)

    assert [document.path for document in made.documents] == ["b", "a"]
    assert (made.rows == fingerprint_texts([english, "two words"], RECIPE).rows).all()
    assert [document.features for document in made.documents][1] == 1
    assert made.skipped == (Skipped("empty", Reason.EMPTY, "0 bytes"),)


@pytest.mark.parametrize("codec", ["gbk", "utf-8-sig", "utf-16", "utf-16-be"])
def test_an_encoding_changes_neither_fingerprint_nor_text(source, simplified, codec):
    sources = [source("a", simplified), source("b", simplified.replace("\n", "\r\n").encode(codec))]

    made = fingerprint_sources(sources, OPTIONS)

    a, b = made.documents
    assert (made.rows[0] == made.rows[1]).all()
    assert (a.text_digest, a.features_digest) == (b.text_digest, b.features_digest)
    assert a.bytes_digest != b.bytes_digest


def test_a_fingerprint_does_not_depend_on_other_files_of_the_batch(source, english, simplified):
    sources = [source("a", english), source("b", simplified), source("c", "x y z")]

    together = fingerprint_sources(sources, OPTIONS)
    alone = [fingerprint_sources([each], OPTIONS) for each in sources]

    assert together.documents == tuple(each.documents[0] for each in alone)
    assert (together.rows == np.concatenate([each.rows for each in alone])).all()


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_fingerprints_of_equal_bits_are_refused_only_from_32_bits(source, monkeypatch, bits):
    recipe = Recipe(bits=bits)
    real = fingerprint.simhash.fingerprint_texts
    monkeypatch.setattr(
        fingerprint.simhash,
        "fingerprint_texts",
        lambda *arguments, **options: real(*arguments, **options)._replace(
            rows=np.full((1, bits // 8), 255, np.uint8)
        ),
    )

    made = without_degenerate(fingerprint_sources([source("a", "some words")], plain(recipe)), bits)

    refused = (Skipped("a", Reason.DEGENERATE),)
    assert made.skipped == (refused if bits == 32 else ())
    assert made.rows.shape == (0 if bits == 32 else 1, bits // 8)


# Files that are no longer what the walk saw


@pytest.fixture(params=["at once", "in chunks"])
def limits(request, monkeypatch):
    return stream(monkeypatch, 10) if request.param == "in chunks" else USUAL


def grow(path):
    Path(path).write_bytes(Path(path).read_bytes() + b" more")


def shrink(path):
    Path(path).write_bytes(b"les")


def touch(path):
    os.utime(path, ns=(0, 0))


def vanish(path):
    Path(path).unlink()


def become_a_fifo(path):
    vanish(path)
    os.mkfifo(path)


def become_a_folder(path):
    vanish(path)
    Path(path).mkdir()


def become_a_loop(path):
    vanish(path)
    Path(path).symlink_to(path)


def become_a_socket(path):
    vanish(path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (grow, Reason.CHANGED),
        (shrink, Reason.CHANGED),
        (touch, Reason.CHANGED),
        (vanish, Reason.VANISHED),
        (become_a_fifo, Reason.SPECIAL),
        (become_a_folder, Reason.SPECIAL),
        (become_a_loop, Reason.UNREADABLE),
        (become_a_socket, Reason.UNREADABLE),
    ],
)
def test_what_changed_since_the_walk_is_skipped(source, limits, english, change, reason):
    sources = [source("a", english), source("b", english), source("c", english)]
    change("b")

    made = fingerprint_sources(sources, plain(limits=limits))

    assert [document.path for document in made.documents] == ["a", "c"]
    assert [(each.path, each.reason) for each in made.skipped] == [("b", reason)]


@pytest.mark.parametrize("change", [grow, touch])
def test_what_changes_while_it_is_read_is_skipped(source, limits, monkeypatch, english, change):
    found, real, options = source("a", english), os.read, plain(limits=limits)

    def reading(descriptor, length):
        data = real(descriptor, length)
        change("a")
        return data

    monkeypatch.setattr(os, "read", reading)

    assert reasons(fingerprint_sources([found], options)) == [("a", Reason.CHANGED, "")]


def test_what_shrinks_while_it_is_read_is_skipped(source, monkeypatch, english):
    found, real = source("a", english), os.read

    def reading(descriptor, length):
        shrink("a")
        return real(descriptor, length - 1) and b""

    monkeypatch.setattr(os, "read", reading)

    made = fingerprint_sources([found], OPTIONS)

    assert reasons(made) == [("a", Reason.CHANGED, "shorter than before")]


def test_short_reads_are_joined(source, monkeypatch, english):
    found, real = source("a", english), os.read
    expected = fingerprint_sources([found], OPTIONS)
    monkeypatch.setattr(os, "read", lambda descriptor, length: real(descriptor, min(length, 7)))

    made = fingerprint_sources([found], OPTIONS)

    assert made.documents == expected.documents


def test_an_input_error_half_way_is_unreadable(source, limits, monkeypatch, english):
    found, real, calls = source("a", english), os.read, []

    def reading(descriptor, length):
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, min(length, 100))

    monkeypatch.setattr(os, "read", reading)

    made = fingerprint_sources([found], plain(limits=limits))

    assert reasons(made) == [("a", Reason.UNREADABLE, "Input/output error")]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(calls[0])


def test_a_changed_file_has_no_features_and_is_returned(source, english):
    made = fingerprint_sources([source("a", english), source("b", english)], OPTIONS)
    status = os.stat("a")  # the same size and time, but other bytes
    Path("a").write_bytes(english.replace("seal", "gull").encode())
    os.utime("a", ns=(status.st_atime_ns, status.st_mtime_ns))

    found, changed = features_of([[each] for each in made.documents], Settings())

    assert found.counts.tolist() == [0, made.documents[1].features]
    assert changed == [Skipped("a", Reason.CHANGED, "between reading it and comparing it")]


# Large files


@pytest.fixture(
    params=[
        pytest.param(("utf-8", b""), id="utf-8"),
        pytest.param(("utf-8", b"\xff \xe4\xb8"), id="damaged-utf-8"),
        pytest.param(("utf-8-sig", b""), id="utf-8-sig"),
        pytest.param(("gb18030", b""), id="gbk"),
        pytest.param(("gb18030", b" \xff"), id="damaged-gbk"),
        pytest.param(("utf-16", b""), id="utf-16"),
        pytest.param(("utf-16-le", b""), id="utf-16-without-a-mark"),
    ]
)
def large(request, source, simplified, english):
    """A file of some 9,000 characters with CRLF line ends."""
    codec, tail = request.param
    text = "".join(f"第{n}章\n{simplified}{english}" for n in range(6)).replace("\n", "\r\n")
    return source("large", text.encode(codec) + tail)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("features", "chunk"),
    [
        ("shingles", 1),
        ("shingles", 97),
        ("shingles", 1024),
        ("words", 97),
        ("tokens", 97),
        ("keywords", 1024),
    ],
)
def test_a_file_read_in_chunks_gives_what_it_gives_at_once(large, monkeypatch, chunk, features):
    recipe = Recipe(features=features)
    at_once = fingerprint_sources([large], plain(recipe))
    limits = stream(monkeypatch, 2048, chunk)

    streamed = fingerprint_sources([large], plain(recipe, limits))

    (expected,), (document,) = at_once.documents, streamed.documents
    # How sure the encoding is may depend on how much of the file was looked at.
    assert document == expected._replace(confidence=document.confidence)
    assert (streamed.rows == at_once.rows).all()


def test_features_read_in_chunks_are_those_read_at_once(large, monkeypatch):
    made = fingerprint_sources([large], OPTIONS)
    at_once, _ = features_of([[each] for each in made.documents], Settings())
    limits = stream(monkeypatch, 2048)

    streamed, _ = features_of([[each] for each in made.documents], Settings(limits=limits))

    assert sorted(streamed.ids.tolist()) == sorted(at_once.ids.tolist())
    assert len(streamed.ids) > 500


def test_a_large_file_is_never_held_whole(source, monkeypatch, english):
    found = source("large", english * 20)
    limits = stream(monkeypatch, 2048, 100)
    real, lengths = os.read, []

    def reading(descriptor, length):
        lengths.append(length)
        return real(descriptor, length)

    monkeypatch.setattr(os, "read", reading)

    fingerprint_sources([found], plain(limits=limits))

    assert max(lengths) == 100
    assert sum(lengths) <= found.size + 2048


def test_a_large_file_in_a_forced_encoding(source, monkeypatch, simplified):
    found = source("large", (simplified * 3).encode("gbk"))
    settings = Settings(encoding="gbk", formats=(), limits=stream(monkeypatch, 1024))

    made = fingerprint_sources([found], FingerprintOptions(settings))

    assert made.documents[0].encoding == "gb18030"
    assert (made.rows == fingerprint_texts([simplified * 3], RECIPE).rows).all()


def test_a_large_binary_file_is_skipped(source, monkeypatch):
    found = source("large", bytes(5000))
    options = plain(limits=stream(monkeypatch, 1024))

    assert reasons(fingerprint_sources([found], options)) == [("large", Reason.BINARY, "NUL bytes")]


def test_large_and_small_files_keep_their_order(source, monkeypatch, english, simplified):
    sources = [source("a", english), source("b", simplified), source("c", "few words")]
    limits = stream(monkeypatch, 1000)

    made = fingerprint_sources(sources, plain(limits=limits))
    found, _ = features_of([[each] for each in made.documents], Settings(limits=limits))

    assert [document.path for document in made.documents] == ["a", "b", "c"]
    assert (made.rows == fingerprint_texts([english, simplified, "few words"], RECIPE).rows).all()
    assert found.counts.tolist() == [document.features for document in made.documents]
    assert cosines(found, np.array([0, 1]), np.array([1, 2])).tolist() == [0, 0]
