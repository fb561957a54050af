"""Documents are read in a process that may hang or die, and only the file at fault is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from conftest import is_gone
from guard_readers import READERS
from patience import LONG

from simdup.extract import sandbox as guarded
from simdup.extract.cleanup import NotReadable, ReaderFailed

pytestmark = pytest.mark.slow

BY_NAME = {reader.__name__: found for found, reader in READERS.items()}


@pytest.fixture
def guard(monkeypatch):
    program = guarded._PROGRAM.replace("simdup.extract.readers", "guard_readers")  # noqa: SLF001
    monkeypatch.setattr(guarded, "_PROGRAM", program)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[1]), *sys.path])
    with closing(guarded.Guard()) as guard:
        yield guard


@pytest.fixture
def seconds(guard, monkeypatch):
    """`seconds(1, patience)`: from now on that much processor time a file, and of time as often."""

    def limiting(seconds, patience):
        monkeypatch.setattr(guarded, "PATIENCE", patience)
        monkeypatch.setattr(guard, "_seconds", seconds)

    guard.text(BY_NAME["shout"], b"it takes a moment to start")
    return limiting


@pytest.mark.parametrize(
    ("name", "reason", "is_failure"),
    [
        ("hang", "takes more than 1 seconds of processor time to read", False),
        ("hang_in_c", "takes more than 1 seconds of processor time to read", False),
        ("crash", "its reader crashed or ran out of memory", True),
        ("take_memory", "takes too much memory to read", True),
        ("lack_room", ".* failed: .*No space left on device", True),
        ("stumble", "damaged: KeyError", False),
        ("refuse", "encrypted", False),
    ],
)
def test_one_bad_file_and_then_a_good_one(guard, seconds, name, reason, is_failure):
    if "hang" in name:
        seconds(1, patience=1000)

    with pytest.raises(NotReadable, match=f"^{reason}$") as caught:
        guard.text(BY_NAME[name], b"x")

    assert isinstance(caught.value, ReaderFailed) == is_failure
    assert guard.text(BY_NAME["shout"], b"good") == "GOOD"


def test_a_file_whose_reader_waits_for_ever_is_given_up_by_the_clock(guard, seconds):
    seconds(0.5, patience=4)

    with pytest.raises(ReaderFailed, match="^takes longer than 2 seconds to read$"):
        guard.text(BY_NAME["doze"], b"x")


def test_a_machine_that_gives_little_processor_time_loses_no_file(guard, seconds):
    seconds(0.5, patience=1000)

    assert guard.text(BY_NAME["nap"], b"read") == "read"


def test_processor_time_is_that_of_each_file_alone(guard, seconds):
    seconds(1, patience=1000)

    assert [guard.text(BY_NAME["compute"], b"read") for _ in range(3)] == 3 * ["read"]


# Asks for a text; says the process that reads before, and makes a file when it is at it.
ASK = """
import sys
from simdup.extract import sandbox as guarded
from guard_readers import READERS
program = guarded._PROGRAM.replace("simdup.extract.readers", "guard_readers")
guarded._PROGRAM = program
name, begun = sys.argv[1:]
guard = guarded.Guard()
guard.text(next(found for found, reader in READERS.items() if reader.__name__ == "shout"), b"x")
print(guard._process.pid, flush=True)
guard.text(next(found for found, reader in READERS.items() if reader.__name__ == name), begun.encode())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "name",
    [
        "hang",
        pytest.param(
            "hang_in_c",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends it at once"),
        ),
    ],
)
def test_a_reader_ends_with_its_parent(tmp_path, name, number):
    begun = tmp_path / "begun"
    process = subprocess.Popen(
        [sys.executable, "-c", ASK, name, str(begun)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    with process:
        reader = int(process.stdout.readline())
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.01)

        process.send_signal(number)

        assert process.wait(LONG) == -number
        assert is_gone(reader)


def test_a_reader_stays_when_the_thread_that_started_it_ends(guard):
    thread = threading.Thread(target=guard.text, args=(BY_NAME["shout"], b"a"))
    thread.start()
    thread.join()
    process = guard._process  # noqa: SLF001

    assert guard.text(BY_NAME["shout"], b"b") == "B"
    assert guard._process is process  # noqa: SLF001


def test_large_files_pass(guard):
    assert len(guard.text(BY_NAME["shout"], b"a" * 20_000_000)) == 20_000_000


def test_a_closed_guard_starts_again(guard):
    guard.close()
    assert guard.text(BY_NAME["shout"], b"b") == "B"
