"""Documents are read in a process that may hang or die, and only the file at fault is lost."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import pytest
from guard_readers import READERS

from simdup.extract import guarded
from simdup.extract.plain import NotReadable

BY_NAME = {reader.__name__: found for found, reader in READERS.items()}


@pytest.fixture
def guard(monkeypatch):
    program = guarded._PROGRAM.replace("simdup.extract.documents", "guard_readers")  # noqa: SLF001
    monkeypatch.setattr(guarded, "_PROGRAM", program)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    with closing(guarded.Guard()) as guard:
        yield guard


@pytest.fixture
def impatient(guard, monkeypatch):
    """`impatient()`: from here to the end of the block a file may take a second only."""

    @contextmanager
    def waiting():
        guard.text(BY_NAME["shout"], b"it takes a moment to start")
        with monkeypatch.context() as patched:
            patched.setattr(guard, "_seconds", 1)
            yield

    return waiting


@pytest.mark.parametrize(
    ("name", "reason", "is_failure"),
    [
        ("hang", "takes longer than 1 s to read", True),
        ("hang_in_c", "takes longer than 1 s to read", True),
        ("crash", "its reader crashed or ran out of memory", True),
        ("take_memory", "takes too much memory to read", False),
        ("stumble", "damaged: KeyError", False),
        ("refuse", "encrypted", False),
    ],
)
def test_one_bad_file_and_then_a_good_one(guard, impatient, name, reason, is_failure):
    waiting = impatient() if "hang" in name else nullcontext()
    with waiting, pytest.raises(NotReadable, match=f"^{reason}$") as caught:
        guard.text(BY_NAME[name], b"x")

    assert isinstance(caught.value, guarded.ReaderFailed) == is_failure
    assert guard.text(BY_NAME["shout"], b"good") == "GOOD"


def test_large_files_pass(guard):
    assert len(guard.text(BY_NAME["shout"], b"a" * 20_000_000)) == 20_000_000


def test_a_closed_guard_starts_again(guard):
    guard.close()
    assert guard.text(BY_NAME["shout"], b"b") == "B"
