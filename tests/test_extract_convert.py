"""Text that comes from programs that the user names."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import LONG, SOON, patient

from simdup.extract import convert
from simdup.extract.guarded import ReaderFailed
from simdup.extract.plain import NotReadable
from simdup.scan import scan
from simdup.settings import Converter, Settings

PYTHON = shlex.quote(sys.executable)


def converter(code, *, place=True):
    """One that runs Python code; `place`: with the file's path as its argument."""
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
def test_what_is_printed_is_decoded_as_any_text(encoding, simplified):
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
def test_what_gives_no_text_is_not_readable(code, reason, monkeypatch):
    monkeypatch.setattr(convert, "MOST_BYTES", 5_000)

    with pytest.raises(NotReadable) as caught:
        convert.converted(converter(code), b"", "a.old")

    if "control" not in reason:
        assert caught.value.reason == f"{sys.executable} {reason}"
    assert caught.value.reason.startswith(f"{sys.executable} {reason[:12]}")


def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path):
    pid, seconds = tmp_path / "pid", patient(2)
    shell = f"sleep {2 * LONG:.0f} & echo $! >{shlex.quote(str(pid))}; wait"
    began = time.monotonic()

    with pytest.raises(ReaderFailed, match=f"took longer than {seconds:g} s"):
        convert.converted(
            Converter.of(f"old=sh -c {shlex.quote(shell)}"), b"", "a.old", seconds=seconds
        )

    assert time.monotonic() - began < LONG
    assert is_gone(int(pid.read_text()))


def is_gone(pid):
    """Whether a process has ended, or is only waited for, or soon will be."""
    patience = time.monotonic() + SOON
    while time.monotonic() < patience:
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_a_process_that_is_told_to_end_ends_its_program(tmp_path):
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(99)"
    script = (
        "from simdup.extract import convert; from simdup.settings import Converter\n"
        f"convert.converted(Converter.of({str(converter(code))!r}), b'', 'a.old')"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    while not (pid.exists() and pid.read_text()):
        assert process.poll() is None
        time.sleep(0.05)

    process.send_signal(signal.SIGTERM)

    assert process.wait(LONG) == 128 + signal.SIGTERM
    assert is_gone(int(pid.read_text()))


def test_a_program_that_is_gone_is_said_by_name():
    with pytest.raises(ReaderFailed, match="cannot run 'nosuch': No such file"):
        convert.converted(Converter("old", ("nosuch",)), b"", "a.old")


@pytest.mark.parametrize("text", ["", "doc", "doc=", "=cat {}", "a/b=cat", "doc='"])
def test_what_is_no_converter_is_refused(text):
    with pytest.raises(ValueError, match="EXT=COMMAND|no closing quotation"):
        Converter.of(text)


def test_endings_are_those_of_names_whatever_their_case():
    both = (Converter("doc", ("a",)), Converter("tar.gz", ("b",)))

    found = [convert.converter_for(name, both) for name in ("x.DOC", "in/y.tar.gz", "doc", "z.gz")]

    assert found == [*both, None, None]


def test_a_converted_file_is_grouped_with_its_text(run, write, english):
    write("in/a.txt", english)
    write("in/b.old", b"\0\1binary" + english[::-1].encode())
    code = "import sys; print(sys.stdin.read()[8:][::-1])"

    ended = run("scan", "in", "--format", "json", "--convert", str(converter(code, place=False)))

    found = json.loads(ended.out)
    (group,) = found["groups"]
    assert {(each["format"], each["encoding"]) for each in group["members"]} == {
        ("text", "utf-8"),
        ("old", None),
    }
    assert found["settings"]["convert"] == [str(converter(code, place=False))]


def test_files_that_a_converter_fails_at_are_listed(run, write, english):
    write("in/a.txt", english)
    write("in/b.old", b"whatever")

    ended = run("scan", "in", "--format", "json", "--convert", "old=false {}")

    skipped = json.loads(ended.out)["skipped"]
    assert [(each["reason"], each["detail"]) for each in skipped] == [
        ("no text extracted", "false failed: exit code 1")
    ]


def test_another_command_is_another_answer_of_the_store(run, write, english):
    write("in/a.txt", english)
    write("in/b.old", english[::-1])
    backwards = str(converter(FROM_STDIN, place=False))

    counts = [
        len(json.loads(run("scan", "in", "--format", "json", *convert).out)["groups"])
        for convert in ((), ("--convert", backwards), (), ("--convert", "old=cat"))
    ]

    assert counts == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("doc", "--convert: 'doc' is no EXT=COMMAND such as 'doc=antiword {}'"),
        ("doc=nosuch-program {}", "there is no program 'nosuch-program'"),
    ],
)
def test_wrong_converters_are_one_line(run, value, complaint):
    ended = run("scan", ".", "--convert", value)

    assert (ended.code, ended.err.count(b"\n")) == (2, 1)
    assert complaint in ended.err.decode()


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
