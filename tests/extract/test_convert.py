"""Text that comes from programs that the user names."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from errno import ENOMEM, ENOSPC
from pathlib import Path

import pytest
from conftest import is_gone
from patience import LONG, patient

from simdup.extract import convert
from simdup.extract.cleanup import NotReadable, ReaderFailed
from simdup.files.scan import scan
from simdup.settings import Converter, Settings

pytestmark = pytest.mark.slow

PYTHON = shlex.quote(sys.executable)

# Seconds of processor time for programs that are to be ended; a slow machine needs more to start.
BRIEF = patient(1)


def converter(code, *, place=True):
    """A converter that runs Python code; `place`: with the file's path as its argument."""
    return Converter.of(f"old={PYTHON} -c {shlex.quote(code)}" + (" {}" if place else ""))


UPPER = "import sys; print(open(sys.argv[1]).read().upper())"
FROM_STDIN = "import sys; print(sys.stdin.read()[::-1])"


def test_the_command_gets_the_path_in_place_of_braces(tmp_path):
    (tmp_path / "a.old").write_text("some text")

    found = convert.converted(converter(UPPER), b"some text", str(tmp_path / "a.old"))

    assert found == "SOME TEXT"


def test_a_command_without_braces_reads_the_file_from_stdin():
    assert convert.converted(converter(FROM_STDIN, place=False), b"abc", "a.old") == "cba"


def test_no_shell_sees_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "$(touch made) `touch made`; touch made; ' \".old"
    Path(name).write_text("one two")

    assert convert.converted(converter(UPPER), b"", name) == "ONE TWO"
    assert os.listdir() == [name]


def test_a_name_that_begins_with_a_dash_is_no_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-n.old").write_text("one two")

    assert convert.converted(Converter.of("old=cat {}"), b"", "-n.old") == "one two"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_the_output_of_a_converter_is_decoded_like_any_text(encoding, simplified):
    echo = converter("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", place=False)

    found = convert.converted(echo, simplified.encode(encoding), "a.old")

    assert found == simplified.strip()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('not my kind of file')", "failed: not my kind of file"),
        ("import sys; sys.exit(3)", "failed: exit code 3"),
        ("", "gave no text"),
        ("print('\\0\\1' * 99)", "gave no text (35 % control bytes)"),
        ("while True: print('x' * 999)", "printed more than 5,000 bytes"),
    ],
)
def test_a_converter_that_gives_no_text_makes_the_file_unreadable(code, reason, monkeypatch):
    monkeypatch.setattr(convert, "MOST_BYTES", 5_000)

    with pytest.raises(NotReadable) as caught:
        convert.converted(converter(code), b"", "a.old")

    if "control" not in reason:
        assert caught.value.reason == f"{sys.executable} {reason}"
    assert caught.value.reason.startswith(f"{sys.executable} {reason[:12]}")


@pytest.fixture
def sleeper(tmp_path):
    """A converter that starts a program that sleeps, and the file that both write their ids to."""
    say = f"open({str(tmp_path / 'ids')!r}, 'a').write(f'{{os.getpid()}} ')"
    inner = f"import os, time; {say}; time.sleep(99)"
    start = f"subprocess.Popen([sys.executable, '-c', {inner!r}])"
    outer = f"import os, subprocess, sys, time; {say}; {start}; time.sleep(99)"
    return converter(outer), tmp_path / "ids"


def ids_in(path):
    """The ids of two processes, once both are in the file."""
    patience = time.monotonic() + LONG
    while not path.exists() or len(path.read_text().split()) < 2:
        assert time.monotonic() < patience
        time.sleep(0.05)
    return [int(each) for each in path.read_text().split()]


@pytest.mark.long
def test_a_program_that_hangs_is_ended_with_what_it_started(sleeper):
    command, ids = sleeper

    with pytest.raises(
        ReaderFailed, match=f"took longer than {convert.PATIENCE * BRIEF:g} seconds"
    ):
        convert.converted(command, b"", "a.old", seconds=BRIEF)

    assert all(is_gone(each) for each in ids_in(ids))


def test_a_program_may_wait_for_longer_than_its_processor_time():
    waits = converter("import time; time.sleep(2); print('one two')")

    assert convert.converted(waits, b"", "a.old", seconds=BRIEF) == "one two"


@pytest.mark.parametrize("code", ["while True: pass", "import os; os.fork()\nwhile True: pass"])
def test_a_program_that_computes_for_too_long_is_ended(code, monkeypatch):
    monkeypatch.setattr(convert, "PATIENCE", 1000)

    with pytest.raises(ReaderFailed, match=f"took more than {BRIEF:g} seconds of processor time"):
        convert.converted(converter(code), b"", "a.old", seconds=BRIEF)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda each: each.name
)
def test_a_process_that_ends_ends_its_program_and_what_that_started(sleeper, number):
    command, ids = sleeper
    script = (
        "from simdup.extract import convert; from simdup.settings import Converter\n"
        f"convert.converted(Converter.of({str(command)!r}), b'', 'a.old')"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    started = ids_in(ids)

    process.send_signal(number)

    assert process.wait(LONG) == -number
    assert all(is_gone(each) for each in started)


def test_no_process_is_left_of_a_program_that_has_ended():
    code = "import os; print(os.getppid(), os.getpid())"

    found = convert.converted(converter(code), b"", "a.old")

    assert all(is_gone(int(each)) for each in found.split())


# Python ignores these two signals from its start; whoever started it may ignore others.
PYTHONS_OWN = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)


def ignored_in(status):
    """The signals that a process ignores, as the bits that Linux shows in its status."""
    (line,) = (line for line in status.split("\n") if line.startswith("SigIgn"))
    return int(line.split()[1], 16)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
def test_a_program_finds_signals_as_if_nothing_were_between():
    found = convert.converted(Converter.of("old=cat /proc/self/status"), b"", "a.old")

    assert ignored_in(found) == ignored_in(Path("/proc/self/status").read_text()) & ~PYTHONS_OWN


def test_a_missing_program_is_named():
    with pytest.raises(ReaderFailed, match="cannot run 'nosuch': No such file"):
        convert.converted(Converter("old", ("nosuch",)), b"", "a.old")


@pytest.mark.parametrize("text", ["", "doc", "doc=", "=cat {}", "a/b=cat", "doc='"])
def test_a_malformed_converter_is_refused(text):
    with pytest.raises(ValueError, match="EXT=COMMAND|no closing quotation"):
        Converter.of(text)


def test_endings_are_those_of_names_whatever_their_case():
    both = (Converter("doc", ("a",)), Converter("tar.gz", ("b",)))

    found = [convert.converter_for(name, both) for name in ("x.DOC", "in/y.tar.gz", "doc", "z.gz")]

    assert found == [*both, None, None]


def test_a_converted_file_is_grouped_with_its_text(report, write, english):
    write("in/a.txt", english)
    write("in/b.old", b"\0\1binary" + english[::-1].encode())
    code = "import sys; print(sys.stdin.read()[8:][::-1])"

    found = report("in", "--convert", str(converter(code, place=False)))

    (group,) = found["groups"]
    assert {(each["format"], each["encoding"]) for each in group["members"]} == {
        ("text", "utf-8"),
        ("old", None),
    }
    assert found["settings"]["convert"] == [str(converter(code, place=False))]


def test_files_that_a_converter_fails_at_are_listed(report, write, english):
    write("in/a.txt", english)
    write("in/b.old", b"whatever")

    (skipped,) = report("in", "--convert", "old=false {}")["skipped"]

    assert (skipped["reason"], skipped["detail"]) == ("not converted", "false failed: exit code 1")


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "failure", ["exit 1", "kill -9 $$", "exit 0", "{ printf '\\0\\1\\0'; exit; }"]
)
def test_a_file_is_converted_again_after_a_failure(report, write, english, failure):
    write("in/a.txt", english)
    write("in/b.old", english + " ")
    write("broken/now", "")
    command = f"old=sh -c {shlex.quote(f'[ -d broken ] && {failure}; cat')}"
    counts = []
    for name in ("broken", "broken", "repaired", "repaired"):
        Path("broken").exists() and Path("broken").rename(name)
        counts.append(len(report("in", "--convert", command)["groups"]))

    assert counts == [0, 0, 1, 1]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "command", ["sh conv {}", "sh -e conv {}", "sh -c 'exec sh conv \"$1\"' sh {}"]
)
def test_a_changed_script_converts_files_again(report, write, english, command):
    write("in/a.txt", english)
    write("in/b.old", english + " ")
    counts = []
    for script in ('cat "$1"', "echo other words"):
        write("conv", script)
        counts.append(len(report("in", "--convert", f"old={command}")["groups"]))

    assert counts == [1, 0]


def test_a_full_folder_for_temporary_files_costs_one_file_and_a_lack_of_memory_the_run(monkeypatch):
    lacking = [OSError(ENOSPC, os.strerror(ENOSPC)), OSError(ENOMEM, os.strerror(ENOMEM))]

    def fail():
        raise lacking.pop(0)

    monkeypatch.setattr("tempfile.TemporaryFile", fail)

    with pytest.raises(ReaderFailed, match="No space left"):
        convert.converted(Converter.of("old=cat"), b"", "a.old")
    with pytest.raises(OSError, match="Cannot allocate memory"):
        convert.converted(Converter.of("old=cat"), b"", "a.old")


def test_a_changed_command_does_not_reuse_stored_answers(report, write, english):
    write("in/a.txt", english)
    write("in/b.old", english[::-1])
    backwards = str(converter(FROM_STDIN, place=False))

    counts = [
        len(report("in", *convert)["groups"])
        for convert in ((), ("--convert", backwards), (), ("--convert", "old=cat"))
    ]

    assert counts == [0, 1, 0, 0]


def test_comparing_converts_too(run, write, english):
    write("a.txt", english)
    write("b.old", english[::-1])

    ended = run("compare", "a.txt", "b.old", "--convert", str(converter(FROM_STDIN, place=False)))

    assert ended.code == 0
    assert "b.old: .old" not in ended.out.decode()


def test_workers_convert(write, english):
    for number in range(4):
        write(f"in/{number}.txt", f"{number} {english}")
        write(f"in/{number}.old", f"{number} {english}"[::-1])
    settings = Settings(converters=(converter(FROM_STDIN, place=False),), similarity=1)

    result = scan(["in"], settings, jobs=2)

    assert len(result.groups) == 4
