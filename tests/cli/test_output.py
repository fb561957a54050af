"""Where the program writes, and how it ends when it is interrupted or nobody reads."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

OLD = b"the old report\n"


@pytest.fixture
def tree(write, english):
    """Two copies, in a folder of their own."""
    write("in/a", english)
    write("in/b", english)
    return "in"


REPORT = b"in/a\nin/b\n\n"
SCAN = ("scan", "in", "--format", "fdupes", "-q")


def names(folder="."):
    return sorted(os.listdir(folder))


@pytest.fixture
def never(monkeypatch):
    """A scan that must not begin."""

    def beginning(*_, **__):
        raise AssertionError

    monkeypatch.setattr("simdup.scan", beginning)


# --output


@pytest.mark.parametrize("old", [None, OLD, OLD * 1000])
def test_a_file_is_written_whole(run, tree, write, old):  # noqa: ARG001
    if old is not None:
        write("out", old)

    ended = run(*SCAN, "--output", "out")

    assert (ended.code, ended.out, ended.err) == (0, b"", b"")
    assert Path("out").read_bytes() == REPORT
    assert names() == ["in", "out"]


@pytest.mark.parametrize(
    "error", [ValueError("no"), OSError("no"), MemoryError(), KeyboardInterrupt]
)
@pytest.mark.usefixtures("tree")
def test_the_old_file_is_kept_when_the_scan_fails(run, write, monkeypatch, error):
    def ending(*_, **__):
        raise error

    write("out", OLD)
    monkeypatch.setattr("simdup.files.workers.fingerprint_sources", ending)

    assert run(*SCAN, "--output", "out").code in {2, 70, 130}
    assert Path("out").read_bytes() == OLD
    assert names() == ["in", "out"]


@pytest.mark.usefixtures("tree", "never")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused_before_the_scan(run):
    Path("locked").mkdir(mode=0o500)

    ended = run(*SCAN, "--output", "locked/out")

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.endswith(b"locked/out': cannot write there (Permission denied)\n")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_its_target_is_written(run, tree, write, is_there):  # noqa: ARG001
    write("real/out", OLD)
    Path("link").symlink_to("real/out")
    if not is_there:
        Path("real/out").unlink()

    assert run(*SCAN, "--output", "link").code == 0

    assert Path("link").readlink() == Path("real/out")
    assert Path("real/out").read_bytes() == REPORT
    assert names("real") == ["out"]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_the_mode_is_kept_and_a_new_file_has_the_usual_one(run, tree, write, mode):  # noqa: ARG001
    write("usual", OLD)
    run(*SCAN, "--output", "new")
    assert Path("new").stat().st_mode == Path("usual").stat().st_mode
    write("out", OLD)
    Path("out").chmod(mode)

    run(*SCAN, "--output", "out")

    assert stat.S_IMODE(Path("out").stat().st_mode) == mode


@pytest.mark.parametrize(
    "name", ["n" * 41, "n" * 255, "\udcff" * 41, "\udcff" * 255, "\U00020000" * 63]
)
@pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes only UTF-8 names")
def test_a_long_name_can_be_written(run, tree, name):  # noqa: ARG001
    assert run(*SCAN, "--output", name).code == 0

    assert Path(name).read_bytes() == REPORT


def test_a_fifo_stays_one(run, tree):  # noqa: ARG001
    os.mkfifo("pipe")
    reading = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)

    assert run(*SCAN, "--output", "pipe").code == 0

    assert os.read(reading, 999) == REPORT
    os.close(reading)
    assert Path("pipe").is_fifo()
    assert names() == ["in", "pipe"]


def test_dev_stdout_is_stdout(simdup, tree):  # noqa: ARG001
    ended = simdup(*SCAN, "--output", "/dev/stdout")

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, REPORT, b"")


def test_dev_stdout_adds_to_a_log_that_is_added_to(simdup, tree):  # noqa: ARG001
    Path("log").write_bytes(OLD)
    with open("log", "ab") as log:
        ended = simdup(*SCAN, "--output", "/dev/stdout", capture_output=False, stdout=log)

    assert ended.returncode == 0
    assert Path("log").read_bytes() == OLD + REPORT


# What is written and read is never one file


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ("scan in -o X --cache X", "--output and --cache"),
        ("scan in -o X-wal --cache X", "--output and the store"),
        ("scan in --html X --cache X", "--html and --cache"),
        ("scan in -o STORE", "--output and the store"),
        ("scan in -o LIST", "--output and the list of ignored pairs"),
        ("scan in --cache X --ignored X", "--cache and the list of ignored pairs"),
        ("scan in --html X -o ./X", "--output and --html"),
        ("scan in -o X --html link", "--output and --html"),
        ("scan in/a in/b -o in/b", "--output and PATH"),
        ("scan in/a in/b -o hard", "--output and PATH"),
        ("scan in/a --cache in/a", "--cache and PATH"),
        ("scan in/a --against in/b -o link-to-b", "--output and --against"),
        ("scan --files-from in/a -o in/a", "--output and --files-from"),
        ("scan --index X -o X", "--output and --index"),
        ("scan in -o X --features words --stop-words X", "--output and --stop-words"),
        ("query X in/a -o X", "--output and INDEX"),
        ("query X in/a -o in/a", "--output and FILE"),
        ("report in/a -o in/a", "--output and RESULT"),
        ("report in/a -o LIST", "--output and the list of ignored pairs"),
        ("evaluate --pairs in/a -o in/a", "--output and --pairs"),
        ("query X in/a --html X", "--html and INDEX"),
        ("evaluate -o X --plot X", "--plot and --output"),
        ("evaluate --html in/a --pairs in/a", "--html and --pairs"),
        ("corpus scan rows.jsonl -o rows.jsonl", "--output and FILE"),
        ("corpus scan rows.jsonl --keep first -o X --dropped rows.jsonl", "--dropped and FILE"),
        ("corpus scan rows.jsonl --html rows.jsonl", "--html and FILE"),
        ("ignore add in/a in/b --ignored in/a", "the list and FILE"),
        ("ignore add in/a in/b --ignored link-to-b", "the list and FILE"),
    ],
)
@pytest.mark.usefixtures("never", "tree")
def test_an_output_that_is_also_an_input_is_refused_before_the_work(run, arguments, what):
    os.link("in/b", "hard")
    os.symlink("X", "link")
    os.symlink("in/b", "link-to-b")
    Path("rows.jsonl").write_bytes(b'{"text": "one"}\n')
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    places = {"STORE": os.environ["SIMDUP_CACHE"], "LIST": os.environ["SIMDUP_IGNORED"]}

    ended = run(*(places.get(each, each) for each in arguments.split()))

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith(f"simdup: {what} name the same file: ".encode())
    assert ended.err.count(b"\n") == 1
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        "scan in -o /dev/null --html /dev/null",
        "scan in -o in/report --no-cache",
        "scan --files-from list -o in/a",
        "scan in -o X --cache Y --ignored empty",
    ],
)
def test_different_outputs_are_not_refused(run, tree, write, arguments):  # noqa: ARG001
    write("in/report", OLD)
    write("empty", b"")
    write("list", b"in/a\nin/b\n")

    assert run(*arguments.split()).code == 0


def test_the_report_does_not_report_itself_being_written(run, tree):  # noqa: ARG001
    ended = run("scan", ".", "--hidden", "--format", "json", "--output", "in/out")

    assert ended.code == 0
    assert json.loads(Path("in/out").read_bytes())["skipped"] == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line(run, simdup, tree):  # noqa: ARG001
    with open("/dev/full", "wb") as full:
        shown = simdup(*SCAN, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    written = run(*SCAN, "--output", "/dev/full")

    assert (shown.returncode, written.code) == (2, 2)
    for said in (shown.stderr, written.err):
        assert said.startswith(b"simdup: ")
        assert said.endswith(b"No space left on device\n")
        assert said.count(b"\n") == 1


# Nobody reads


def test_warnings_that_nobody_reads_leave_the_result(simdup, tree):  # noqa: ARG001
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"capture_output": False, "stdout": subprocess.PIPE, "stderr": writing}

    ended = simdup("scan", "in", "--format", "fdupes", **streams)

    os.close(writing)
    assert (ended.returncode, ended.stdout) == (0, REPORT)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["scan", "--help"], ["help"]])
def test_a_closed_stdout_is_trouble_and_no_fault_of_simdup(simdup, arguments):
    ended = simdup(*arguments, preexec_fn=lambda: os.close(1))

    assert (ended.returncode, ended.stderr) == (2, b"simdup: not writable\n")


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_is_no_crash(simdup, tree, closed):  # noqa: ARG001
    ended = simdup("scan", "in", "--format", "fdupes", preexec_fn=lambda: os.close(closed))

    assert b"Traceback" not in ended.stderr
    assert ended.returncode in ({2} if closed == 1 else {0})
    assert ended.stdout == (b"" if closed == 1 else REPORT)


def test_a_list_from_a_closed_stdin_is_one_line(simdup):
    ended = simdup("scan", "--files-from", "-", preexec_fn=lambda: os.close(0))

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"simdup: ")
    assert ended.stderr.count(b"\n") == 1


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no /dev/shm to write to")
def test_a_file_in_shared_memory_is_replaced_like_any_other(run, write, english):
    write("in/a", english)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        target = os.path.join(folder, "out.json")
        for _ in range(2):
            run("scan", "in", "--format", "json", "--output", target)

        assert json.loads(Path(target).read_text("utf-8"))["stats"]["found"] == 1
