"""What must never go wrong, as who runs the program sees it; numbers are lines of the promises.

Programs that stop, die or are watched at a chosen point run in a process of their own,
under a few lines of Python that arrange it and then call the command line.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import ctypes
import fcntl
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
import tty
from errno import EIO
from hashlib import blake2b
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import LONG, SOON
from reports import grouped, raw, reasons
from terminals import drained, terminal

import simdup as package
from simdup.files import read as reading_room
from simdup.files import walk as walking_room
from simdup.files.fingerprint import FingerprintOptions, fingerprint_sources
from simdup.fingerprint import sketch as sketching_room
from simdup.index.connection import IndexFile
from simdup.index.contents import put
from simdup.index.index import Index
from simdup.recipe import Recipe
from simdup.settings import Settings
from simdup.storage import store as storeroom
from simdup.text.jieba_words import idf

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="of POSIX systems"),
]
remembered = pytest.mark.usefixtures("settled")
any_name = pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes only UTF-8 names")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

FORMATS = ["text", "json", "jsonl", "csv", "names", "fdupes"]
OLD = b"the old report\n"

# The folder serves all examples: each begins with an empty one.
SHARED_FOLDER = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


# Ways to run the program


CALL = "\nimport sys\nimport simdup.cli\nsimdup.cli.main(sys.argv[1:])\n"
REMEMBER = """
import simdup.storage.status
simdup.storage.status.SETTLED_NS = -(10**18)
"""
WITHIN = """
import functools, simdup.cli.index, simdup.cli.options
from simdup.settings import Limits
within = functools.partial(simdup.Settings, limits=Limits(task_files={0}, batch_documents={0}))
simdup.cli.index.Settings = simdup.cli.options.Settings = within
"""
COMPILE = "import simdup.compute.compiled\nsimdup.compute.compiled.load_kernels()\n"


@pytest.fixture
def started(folder):
    """`started(code, *arguments)`: the program after some lines, in a process group of its own."""
    processes = []

    def starting(code, *arguments, environment=None, **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(
            [sys.executable, "-c", code + CALL, *arguments],
            cwd=folder,
            env=os.environ | (environment or {}),
            start_new_session=True,
            **(streams | options),
        )
        processes.append(process)
        return process

    yield starting
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def driven(started):
    """`driven(code, *arguments)`: how such a program ended."""

    def running(code, *arguments, **options):
        process = started(code, *arguments, **options)
        out, err = process.communicate(timeout=LONG)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return running


def as_anybody():
    """In a child, before the program: without root's right to read and write everything."""
    if os.geteuid() == 0:
        system = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if system.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "prctl")


permissions = pytest.mark.skipif(
    sys.platform != "linux" and os.geteuid() == 0, reason="root may read and write everything"
)


def mounting():
    """Whether this user can mount, for itself alone."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    done = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    return done.returncode == 0


mounts = pytest.mark.skipif(not mounting(), reason="only root can mount")


def mounted(folder, script, *arguments):
    """How a shell script ended that mounts something, which nobody else sees.

    In it "$0" -m simdup "$@" is the program with the arguments.
    """
    return subprocess.run(
        ["unshare", "-m", "sh", "-ec", script, sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=LONG,
    )


# What is in a report


def timeless(report, form="json"):
    """A report without what may differ from run to run."""
    if form not in {"json", "jsonl"}:
        return report
    objects = [json.loads(each) for each in ([report] if form == "json" else report.splitlines())]
    objects[0]["stats"] |= {"seconds": None, "from_store": None}
    return objects


def warnings_in(err):
    """What is said besides the summary."""
    return [line for line in err.decode().splitlines() if line.startswith("simdup:")]


def words(number, *, count=60, edits=0):
    """A made-up text; those of one number are alike, and less so the more edits."""
    chooser = random.Random(number)
    chosen = [f"w{chooser.randrange(10**6)}" for _ in range(count)]
    for edit in range(edits):
        chosen[(edit * 7) % count] = f"e{number}x{edit}"
    return " ".join(chosen)


# Answers

# 1: what has no text has no fingerprint


ENCRYPTED = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj <</Filter/Standard>> endobj\n"


@permissions
@pytest.mark.parametrize("options", [(), ("-k", "256")], ids=str)
def test_what_has_no_fingerprint_is_listed_with_its_reason_and_in_no_group(
    simdup, write, english, options
):
    for copy in ("one", "two"):
        write(f"{copy}/text", english)
        write(f"{copy}/empty", b"")
        write(f"{copy}/signs", "…!? —— 。，\n")
        write(f"{copy}/binary", bytes(range(256)) * 9)
        write(f"{copy}/noise", random.Random(copy).randbytes(9999))
        write(f"{copy}/encrypted.pdf", ENCRYPTED + random.Random(copy).randbytes(999))
        write(f"{copy}/locked", english)
        Path(copy, "locked").chmod(0)

    ended = simdup("scan", ".", "--format", "json", *options, preexec_fn=as_anybody)

    found = json.loads(ended.stdout)
    unextracted = "no text extracted" if find_spec("pypdfium2") else "reader not installed"
    assert ended.returncode == 3
    assert grouped(found) == [["./one/text", "./two/text"]]
    for copy in ("one", "two"):
        assert {path: why for path, why in reasons(found).items() if copy in path} == {
            f"./{copy}/empty": "empty",
            f"./{copy}/signs": "empty",
            f"./{copy}/binary": "binary",
            f"./{copy}/noise": "binary",
            f"./{copy}/encrypted.pdf": unextracted,
            f"./{copy}/locked": "unreadable",
        }


def test_short_texts_are_not_grouped_by_distance_alone(report, write):
    write("a", "one two three")
    write("b", "four five six")

    assert report(".", "-k", "127")["groups"] == []


# 2: fingerprints that say nothing


def test_a_fingerprint_of_equal_bits_is_refused_and_listed(report, write):
    for name, begin in (("a", 1000), ("b", 1500)):
        write(name, "，".join(idf()[0][begin : begin + 300]))

    found = report(".", "--features", "keywords", "--weights", "int", "--no-verify")

    assert found["groups"] == []
    assert set(reasons(found).values()) == {"fingerprint all 0 or all 1"}
    assert len(found["skipped"]) == 2


# 3: the same answer everywhere


def test_a_report_depends_on_neither_processes_hash_seed_nor_compiled_code(
    driven, write, english, simplified
):
    for number in range(4):
        write(f"in/e{number}", english.replace("two", f"{number}"))
        write(f"in/c{number}", simplified.replace("四十", f"{number}").encode("gbk"))
    asked = ("scan", "in", "--format", "json", "--no-cache", "-q")

    first, *others = (
        driven(code, *asked, "--jobs", jobs, environment={"PYTHONHASHSEED": seed})
        for code, jobs, seed in (("", "1", "0"), ("", "2", "1"), (COMPILE, "1", "42"))
    )

    assert first.stderr == b""
    assert len(json.loads(first.stdout)["groups"]) == 2
    for other in others:
        assert timeless(other.stdout) == timeless(first.stdout)


def test_a_fingerprint_is_that_of_every_other_machine(run, write, english, simplified):
    write("a", english)
    write("b", simplified.encode("gbk"))

    ended = run("compare", "a", "b", "--bits", "128", "--format", "json")

    assert [each["fingerprint"] for each in json.loads(ended.out)["files"]] == [
        "b9f83cf6cd511a325ce4ae8b0b95203d",
        "a3b34197ea224c90f0f552c875d15e60",
    ]


def test_groups_have_the_same_order_whatever_the_order_of_the_directory(report, write, monkeypatch):
    for number in range(40):
        write(f"{number % 4}/{number}", words(number // 3, edits=number % 3))
    real, chooser = os.listdir, random.Random(1)

    def shuffled(path):
        found = real(path)
        chooser.shuffle(found)
        return found

    expected = report(".")
    monkeypatch.setattr(walking_room.os, "listdir", shuffled)
    found = [report("."), report("."), report("3", "1", "0", "2")]

    assert len(expected["groups"]) == 13
    assert [each["groups"] for each in found[:2]] == [expected["groups"]] * 2
    assert [sorted(map(os.path.basename, each)) for each in grouped(found[2])] == [
        sorted(map(os.path.basename, each)) for each in grouped(expected)
    ]


# 4: what a group is


@pytest.mark.parametrize("linkage", ["star", "components"])
@pytest.mark.parametrize("options", [(), ("-k", "60"), ("--against", "old")], ids=str)
def test_no_file_is_in_two_groups_and_no_group_has_one(report, write, linkage, options):
    for number in range(90):
        place = "old" if number % 3 else "new"
        write(f"{place}/{number}", words(number % 13, edits=number // 5))

    groups = grouped(report("new", "--linkage", linkage, *options))

    every = [path for group in groups for path in group]
    assert len(groups) > 2
    assert len(every) == len(set(every))
    assert min(map(len, groups)) > 1


# 5: no pair is lost


@pytest.mark.parametrize("shape", ["look-alikes", "a chain", "one text", "all unlike"])
@pytest.mark.parametrize("k", [0, 6, 20])
def test_every_pair_within_k_is_found(report, write, shape, k):
    texts = {
        "look-alikes": [words(number % 5, edits=number) for number in range(60)],
        "a chain": [words(1, count=200, edits=number) for number in range(60)],
        "one text": [words(1)] * 60,
        "all unlike": [words(number) for number in range(60)],
    }[shape]
    paths = [write(f"{number:02}", text) for number, text in enumerate(texts)]
    rows = package.fingerprint_files(paths, bits=64)
    numbers = [int.from_bytes(row.tobytes(), "big") for row in rows]

    found = report(".", "--bits", "64", "-k", str(k), "--linkage", "components")

    # Joined by hand: everybody begins alone, and each pair within k makes two groups one.
    group = {path: {f"./{path}"} for path in paths}
    for (a, x), (b, y) in combinations(zip(paths, numbers, strict=True), 2):
        if (x ^ y).bit_count() <= k and group[a] is not group[b]:
            group[a] |= group[b]
            group |= dict.fromkeys((path[2:] for path in group[b]), group[a])
    expected = {frozenset(each) for each in group.values() if len(each) > 1}
    assert {frozenset(each) for each in grouped(found)} == expected


def test_more_pairs_than_fit_are_refused_by_name_and_not_left_out(run, write, limited):
    limited(near_pairs=100)
    for number in range(30):
        write(f"{number}", f"{words(1, count=30)} {number}")

    ended = run("scan", ".", "-k", "60")

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith(b"simdup: more than 100 pairs within 60 bits; ")
    assert ended.err.count(b"\n") == 1


# 6: one file is one document


@pytest.mark.parametrize(
    "arguments",
    [
        *(("in", "in"), ("in", "in/deep"), ("in/deep", "in"), ("in", "in/deep/a"), (".",)),
        *((".", "--follow-symlinks"), ("to-in", "in"), ("in", "./in/../in")),
    ],
    ids=" ".join,
)
def test_a_file_reached_twice_is_no_copy_of_itself(report, write, english, arguments):
    write("in/deep/a", english)
    os.link("in/deep/a", "in/deep/hard-link")
    Path("soft-link").symlink_to("in/deep/a")
    Path("to-in").symlink_to("in")

    found = report(*arguments)

    assert found["groups"] == []
    assert found["stats"]["found"] == 1
    assert "same file again" in found["stats"]["skipped"]


# 7: encodings


UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


CODECS = {"simplified": ["gbk", "gb18030"], "traditional": ["big5", "gbk", "gb18030"]}


@pytest.mark.parametrize("length", [500, None])
@pytest.mark.parametrize("script", CODECS)
def test_copies_in_every_encoding_are_identical_text(report, request, write, script, length):
    text, codecs = request.getfixturevalue(script)[:length], UNICODE + CODECS[script]
    for codec in codecs:
        write(codec, text.encode(codec))

    (group,) = report(".")["groups"]

    assert len(text) >= 500
    assert len(group["members"]) == len(codecs)
    assert {member["kind"] for member in group["members"]} <= {"identical text", "identical bytes"}


CHANGES = [("1,234", "1,235"), ("1,234", "1234"), ("1,234", "1.234"), ("4元", "４元"), ("，", ",")]


@pytest.mark.parametrize("change", CHANGES, ids=" to ".join)
@pytest.mark.parametrize("codec", ["utf-8", "gbk", "utf-16"])
def test_a_text_with_another_digit_or_comma_is_not_identical(
    report, write, simplified, codec, change
):
    text = f"{simplified}合计1,234元\n"
    write("a", text)
    write("b", text.replace(*change, 1).encode(codec))

    (group,) = report(".")["groups"]

    assert group["kind"] in {"near", "same words"}


# Input

# 8: what is no file


def test_links_are_not_followed_unless_asked_and_then_loops_end(report, write, english):
    write("in/a", english)
    write("out/b", english)
    Path("in/to-out").symlink_to("../out")
    Path("in/to-file").symlink_to("../out/b")
    Path("in/here").symlink_to(".")
    Path("out/back").symlink_to("../in")
    Path("in/self").symlink_to("self")
    Path("in/nowhere").symlink_to("nothing")

    plain, followed = report("in"), report("in", "--follow-symlinks")

    assert plain["groups"] == []
    assert plain["stats"]["skipped"] == {"symbolic link": 5}
    assert [sorted(each) for each in grouped(followed)] == [["in/a", "in/to-file"]]


# What the interpreter is asked to do is written to the file that the environment names.
WATCH = """
import atexit, json, os, sys
watched, names = [], (
    *("open", "os.", "shutil.", "subprocess.", "pickle.", "socket.connect", "sqlite3."),
)
def hook(event, arguments):
    if event.startswith(names) and not os.environ.get("WATCHED_DONE"):
        watched.append((event, [each if isinstance(each, int) else os.fsdecode(each)
            if isinstance(each, (str, bytes, os.PathLike)) else repr(each) for each in arguments]))
def written():
    os.environ["WATCHED_DONE"] = "1"
    with open(os.environ["WATCHED"], "w") as file:
        json.dump(watched, file)
atexit.register(written)
sys.addaudithook(hook)
"""


@pytest.fixture
def watched(driven, tmp_path_factory):
    """`watched(code, *arguments)`: how it ended, and what the interpreter was asked to do."""
    place = tmp_path_factory.mktemp("watched") / "events"

    def running(code, *arguments, environment=None, **options):
        environment = (environment or {}) | {"WATCHED": str(place)}
        ended = driven(WATCH + code, *arguments, environment=environment, **options)
        return ended, json.loads(place.read_bytes())

    return running


def opened_in(events, folder):
    """What was opened in a folder."""
    root = os.path.realpath(folder)
    paths = [
        os.path.abspath(os.path.join(root, arguments[0]))
        for event, arguments in events
        if event == "open" and isinstance(arguments[0], str)
    ]
    return [os.path.relpath(path, root) for path in paths if path.startswith(root + os.sep)]


def test_a_fifo_a_socket_and_a_device_are_skipped_and_never_opened(watched, folder, write, english):
    write("in/a", english)
    write("in/b", english)
    os.mkfifo("in/fifo")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.suppress(PermissionError):
        listening.bind("in/socket")
        os.mknod("in/device", stat.S_IFCHR | 0o600, os.makedev(1, 3))  # of root only
    special = {f"in/{name}" for name in os.listdir("in")} - {"in/a", "in/b"}

    ended, events = watched("", "scan", "in", "--format", "json", "--no-cache", "--jobs", "1")

    found = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert grouped(found) == [["in/a", "in/b"]]
    assert reasons(found) == dict.fromkeys(special, "not a regular file")
    assert len(special) >= 2
    assert set(opened_in(events, folder)) == {"in/a", "in/b"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "fifo", "a"),
        ("scan", "--files-from", "list"),
        ("compare", "a", "fifo"),
        ("scan", "a", "--cache", "fifo"),
        ("index", "build", "new", "fifo", "a"),
        ("index", "add", "x", "fifo"),
        ("query", "x", "a", "fifo"),
        ("query", "fifo", "a"),
    ],
    ids=" ".join,
)
def test_a_fifo_that_is_named_does_not_hang(driven, run, write, english, arguments):
    write("a", english)
    run("index", "build", "x", "a")
    write("list", "a\nfifo\n")
    os.mkfifo("fifo")

    ended = driven("", *arguments)

    assert ended.returncode in {0, 2}
    assert b"Traceback" not in ended.stderr


# 9: trouble with a file


@permissions
def test_a_locked_file_and_a_locked_folder_are_warned_of_and_the_rest_is_done(
    simdup, write, english
):
    for name in ("a", "b", "locked", "closed/a"):
        write(f"in/{name}", english)
    Path("in/locked").chmod(0)
    Path("in/closed").chmod(0)

    ended = simdup("scan", "in", "--format", "fdupes", preexec_fn=as_anybody)
    Path("in/closed").chmod(0o700)

    assert ended.returncode == 3
    assert ended.stdout == b"in/a\nin/b\n\n"
    first, second, can_go, summary = sorted(ended.stderr.decode().splitlines(), reverse=True)
    assert can_go.startswith("can be removed: 1 exact copy, ")
    assert first == "simdup: in/locked: unreadable (Permission denied)"
    assert second == "simdup: in/closed: unreadable (Permission denied)"
    assert summary.endswith("skipped 2 unreadable")


def grows(path):
    with open(path, "ab") as file:
        file.write(b"one more line\n")


def shrinks(path):
    os.truncate(path, 10)


def fails(_path):
    raise OSError(EIO, os.strerror(EIO))


@pytest.fixture
def three(write, english):
    """Three copies."""
    return [write(name, english * 9) for name in "abc"]


@pytest.fixture(params=["read at once", "streamed"])
def in_parts(request, limited, monkeypatch):
    """Files are read a thousand bytes at a time."""
    monkeypatch.setattr(reading_room, "HEAD", 100)
    monkeypatch.setattr(reading_room, "CHUNK", 1000)
    if request.param == "streamed":
        limited(whole_bytes=1000)


@pytest.mark.usefixtures("three", "in_parts")
@pytest.mark.parametrize(
    ("happens", "reason"),
    [(grows, "changed while read"), (shrinks, "changed while read"), (fails, "unreadable")],
)
def test_what_happens_to_a_file_half_way_is_told_and_the_rest_is_done(
    report, monkeypatch, happens, reason
):
    victim, real, asked = os.stat("b").st_ino, os.read, []

    def reading(descriptor, size):
        if os.fstat(descriptor).st_ino == victim:
            asked.append(size)
            if len(asked) == 2:
                happens("b")
        return real(descriptor, size)

    monkeypatch.setattr(reading_room.os, "read", reading)
    found = report(".", code=3)

    assert grouped(found) == [["./a", "./c"]]
    assert reasons(found) == {"./b": reason}


# 10: names


HOSTILE = [
    *(b"\xff\xfe.txt", b"new\nline.txt", b"\x1b[31mred\x1b[0m.txt", b"\x1b]0;title\x07"),
    *(b'"quo\'tes",;.txt', b"-rf.txt", b"--output", "钟表.txt".encode("gbk")),
    *("鐘錶.txt".encode("big5"), b"n" * 255, ("长" * 85).encode(), "\u202egnp.txt".encode()),
    *(b"\xc2\x9b31m.txt", b"tab\tand\rreturn.txt", b"back\\xff.txt", b" ", b"=1+1|x"),
    *(b"<script>alert(1)</script>", b"$(touch pwned);`touch pwned`"),
    *("\u2028\ufeff\U0010ffff".encode(), b"\xed\xb3\xbf"),
]


@pytest.fixture
def hostile(write, english):
    """A folder of copies with names that act on terminals, shells and formats."""
    for name in HOSTILE:
        write(b"in/" + name, english)
    return "in"


def read_back(report, form):
    """The names of the members in a report, as bytes where it can hold any."""
    if form == "-0":
        return report.removesuffix(b"\0\0").split(b"\0")
    if form == "json":
        return [raw(each) for group in json.loads(report)["groups"] for each in group["members"]]
    objects = map(json.loads, report.decode("utf-8").removesuffix("\n").split("\n"))
    return [raw(each) for line in objects for each in line.get("members", [])]


@any_name
@pytest.mark.parametrize("form", ["json", "jsonl", "-0"])
def test_every_name_comes_back_byte_for_byte(run, hostile, form):
    ended = run("scan", hostile, *(["-0"] if form == "-0" else ["--format", form]), "-q")

    assert sorted(read_back(ended.out, form)) == sorted(b"in/" + name for name in HOSTILE)


@any_name
@pytest.mark.parametrize("form", ["text", "csv", "fdupes"])
def test_every_name_is_a_printable_line(run, hostile, form):
    ended = run("scan", hostile, "--format", form, "-q")

    lines = ended.out.decode("utf-8").split("\n")
    assert all(line.isprintable() for line in lines)
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(ended.out.decode())))
        assert len({row["path"] for row in rows}) == len(rows) == len(HOSTILE)
    else:
        assert len(lines) == len(HOSTILE) + (3 if form == "text" else 2)


@any_name
@pytest.mark.parametrize("command", ["warning", "missing path", "compare", "diff", "output"])
def test_no_name_that_is_complained_of_acts_on_a_terminal(run, write, english, command):
    bad = b"\x1b]0;title\x07\n\xff\xe2\x80\xae"
    write(b"in/" + bad, english)
    write("list", bad + b"\0")
    arguments = {
        "warning": ["scan", "--files-from", "list", "-0", "--format", "json"],
        "missing path": ["scan", bad],
        "compare": ["compare", b"in/" + bad, b"in/" + bad],
        "diff": ["compare", b"in/" + bad, b"in/" + bad, "--diff"],
        "output": ["scan", "in", "--output", bad + b"/x"],
    }

    ended = run(*arguments[command])

    said = (ended.out + ended.err).decode("utf-8")
    assert [c for c in said if not c.isprintable() and c != "\n"] == []
    assert b"Traceback" not in ended.err


def test_a_name_with_a_leading_dash_can_be_given(run, write, english):
    write("-rf", english)
    write("--output", english)

    ended = run("scan", "-0", "-q", "--", "-rf", "--output")

    assert (ended.code, ended.out) == (0, b"-rf\0--output\0\0")


# 11: contents


MIXED = "镇上最后一家钟表铺开在桥头，门板上的漆掉了一半。".encode()
CONTENTS = {
    "cut-utf8": MIXED * 9 + "铺".encode()[:2],
    "cut-gbk": MIXED.decode().encode("gbk") * 9 + b"\xc6",
    "cut-utf16": MIXED.decode().encode("utf-16") + b"\x4e",
    "mixed": MIXED * 40 + MIXED.decode().encode("gbk"),
    "wrong-bytes": MIXED[:30] + b"\xff\xfe\xfd" + MIXED * 30,
    "utf8-mark-alone": b"\xef\xbb\xbf",
    "utf16-mark-alone": b"\xff\xfe",
    "utf32-mark-alone": b"\xff\xfe\0\0",
    "mark-and-nul": b"\xef\xbb\xbftext\0text",
    "nuls": bytes(999),
    "one-nul": b"words " * 99 + b"\0",
    "every-byte": bytes(range(256)),
    "lone-surrogates-16": "words and ".encode("utf-16-le") * 9 + b"\x00\xd8a\x00\x00\xdc" * 9,
    "lone-surrogates-8": b"words and \xed\xa0\x80\xed\xb0\x80 " * 9,
    "overlong": b"words and \xc0\x80\xe0\x80\xaf " * 9,
    "replacement": "words and \ufffd ".encode() * 9,
    "noncharacters": "words \ufffe\uffff\U0010ffff\ue000 ".encode() * 9,
    "marks": ("e" + "\u0301\u0327" * 9999).encode(),
    "marks-alone": ("\u0327\u0301" * 9999).encode(),
    "unfolding": "\ufdfa".encode() * 9999,
    "controls": b"words\x1b[31m\x07\x08 and " * 9,
    "carriage-returns": b"words\rand\r\n\rmore\r" * 99,
    "one-line": b"words and more words " * 99_999,
    "one-word": b"w" * (1 << 20),
    "digits": "٣३三3Ⅲ³".encode() * 99,
    "right-to-left": "שלום \u202e مرحبا ".encode() * 99,
    "utf-7": b"+bElUig- and words " * 99,
    "escapes": b"\x1b$B$3$s$K$A$O\x1b(B " * 99,
}
DAMAGED = ["cut-utf8", "cut-gbk", "cut-utf16", "mixed", "wrong-bytes", "replacement"]


def test_no_content_is_a_crash_or_lost(simdup, write, english):
    write("in/plain", english)
    write("in/10-megabytes-without-a-letter", b"-=*. \n,;" * (10 << 17))
    for name, content in CONTENTS.items():
        write(f"in/{name}/1", content)
        write(f"in/{name}/2", content)

    ended = simdup("scan", "in", "--format", "json", "--similarity", "1")

    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    listed = reasons(found)
    for name in CONTENTS:
        pair = {f"in/{name}/1", f"in/{name}/2"}
        is_grouped = any(pair <= set(group) for group in grouped(found))
        assert is_grouped or {listed[path] for path in pair} <= {"binary", "empty"}, name
    assert listed["in/10-megabytes-without-a-letter"] == "empty"
    members = [each for group in found["groups"] for each in group["members"]]
    damage = {each["path"]: each["damaged"] for each in members}
    assert [name for name in DAMAGED if not damage[f"in/{name}/1"]] == []


def test_damage_is_shown(run, write):
    write("a", CONTENTS["cut-utf8"])
    write("b", CONTENTS["wrong-bytes"])

    ended = run("scan", ".", "-q", "--similarity", "0.3")

    assert b"./a  (1 character damaged)\n" in ended.out
    assert b"./b  (to keep: the longer text, 3 characters damaged)\n" in ended.out


# 12: much


MEASURE = """
import atexit, re
from pathlib import Path
most = lambda: re.search("VmHWM:(.*)kB", Path("/proc/self/status").read_text())[1]
atexit.register(lambda: print(most(), flush=True))
"""


@linux
def test_a_line_of_100_megabytes_is_read_in_bounded_memory(driven, write, english):
    line = english.replace("\n", " ").encode()
    write("in/long", line * (100_000_000 // len(line)))
    driven(COMPILE, "--version")  # which takes more memory than any text, once on a machine

    ended = driven(MEASURE, "scan", "in", "--no-cache", "--jobs", "1", "--format", "fdupes")

    assert ended.returncode == 0
    assert b"read 1 of 1 file (100 MB)" in ended.stderr
    # Of these, 60 MB are there before the first byte is read, and 120 MB are numba's.
    assert int(ended.stdout) < 350_000


def test_size_has_no_hidden_limit_and_what_an_option_skips_is_counted(run, write):
    for name in ("a", "b"):
        write(name, b"words and more words " * 99_999)

    everything, limited = run("scan", "."), run("scan", ".", "--max-size", "2MB")

    assert b"1 group of 2 files; read 2 of 2 files (4.2 MB)" in everything.err
    assert limited.err.endswith(b"skipped 2 too large\n")


@pytest.mark.parametrize("size", [1, 2, 3])
def test_size_has_no_hidden_floor(report, write, size):
    write("a", "abc"[:size])
    write("b", "abc"[:size])

    assert grouped(report(".")) == [["./a", "./b"]]


# 13: what is skipped by default


def test_what_is_skipped_by_default_is_counted(run, write, english):
    noise = [
        *(".git", "node_modules", ".Trash", ".Trash-1000", "$RECYCLE.BIN", "__pycache__", ".venv")
    ]
    for place in (".", *noise, ".hidden"):
        write(f"in/{place}/a", english)

    ended = run("scan", "in")
    whole = run("scan", "in", "--noise", "--hidden")

    assert ended.out == b""
    assert ended.err.endswith(
        b" s; skipped 1 hidden\n"
        b"left out: $RECYCLE.BIN, .Trash, .Trash-1000, .git, .venv and 2 more folders"
        b" (--noise --hidden reads them)\n"
    )
    assert whole.err.startswith(b"1 group of 9 files; read 9 of 9 files ")
    assert b"; skipped nothing\n" in whole.err


# Interruption and output

# 14: Ctrl-C


# The call of a function with the number that is given says so, and waits for the signal.
STOP = (
    REMEMBER
    + WITHIN.format(2)
    + """
import importlib, os, sys, time, simdup.cli
descriptor, where = int(sys.argv.pop(1)), sys.argv.pop(1)
module, path, left = where.split(":")
*outer, name = path.split(".")
owner, left = importlib.import_module(module), int(left)
for each in outer:
    owner = getattr(owner, each)
real = getattr(owner, name)
def stopping(*arguments, **options):
    global left
    left -= 1
    if left == 0:
        os.write(descriptor, b"!")
        for _ in range(600):  # a signal that comes just before a sleep does not end it
            time.sleep(0.1)
    return real(*arguments, **options)
setattr(owner, name, stopping)
"""
)


@pytest.fixture
def stopped(started):
    """`stopped(where, *arguments)`: a run that waits at a known point."""

    def running(where, *arguments, **options):
        reading, writing = os.pipe()
        process = started(STOP, str(writing), where, *arguments, pass_fds=[writing], **options)
        os.close(writing)
        reached = os.read(reading, 1)
        os.close(reading)
        assert reached == b"!", process.communicate()
        return process

    return running


@pytest.fixture
def interrupted(stopped):
    """`interrupted(where, *arguments)`: how a run ended that got Ctrl-C at a known point."""

    def running(*arguments, **options):
        process = stopped(*arguments, **options)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=LONG)
        assert time.monotonic() - began < SOON
        assert_gone(process.pid)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return running


def assert_gone(group):
    """No process of a group is left, nor will be in a moment."""
    patience = time.monotonic() + SOON
    while time.monotonic() < patience:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("a process is left")


@pytest.fixture
def eight(write):
    """Four pairs of look-alikes."""
    for number in range(8):
        write(f"in/{number}", words(number // 2, edits=number % 2))
    return "in"


PHASES = {
    "walk": ("simdup.files.walk:_status:4", 0),
    "the first folder": ("simdup.files.walk:_Walk._entries:1", 0),
    "read": ("simdup.files.workers:fingerprint_sources:2", 2),
    "keep": ("simdup.storage.cached:RecipeCache._insert:2", 2),
    "search": ("simdup.match.candidate_search:iter_near_pairs:1", 8),
    "read again": ("simdup.files.fingerprint:_unchanged:3", 8),
    "keep similarities": ("simdup.storage.cached:RecipeCache.keep_similarities:1", 8),
    "group": ("simdup.files.group_files:Grouping.groups:1", 8),
    "forget": ("simdup.storage.cached:RecipeCache._forget_folders:1", 8),
}


@remembered
@pytest.mark.parametrize(("where", "known"), PHASES.values(), ids=PHASES)
def test_an_interrupt_leaves_what_is_known_and_the_next_run_begins_there(
    interrupted, report, eight, where, known
):
    before = sorted(os.listdir())

    # Whose texts are read again.
    asked = eight, "--features", "tokens"
    ended = interrupted(where, "scan", *asked, "--format", "json", "-o", "out", "--jobs", "1")

    assert ended.returncode == 130
    assert ended.stderr.strip().startswith(b"simdup: interrupted")
    assert ended.stderr.strip().count(b"\n") == 0
    assert sorted(os.listdir()) == [*before, "out"]
    found = json.loads(Path("out").read_bytes())
    assert (found["complete"], found["groups"]) == (False, [])
    assert found["stats"]["fingerprinted"] == known
    expected, after = report(*asked, "--no-cache"), report(*asked)
    assert after["groups"] == expected["groups"]
    assert len(after["groups"]) == 4
    assert after["stats"]["from_store"] == known


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_run_that_is_killed(stopped, eight, number):
    process = stopped("simdup.storage.cached:RecipeCache._insert:2", "scan", eight, "--jobs", "2")

    process.send_signal(number)

    process.wait(timeout=SOON)
    assert_gone(process.pid)


SEARCH = "simdup.match.candidate_search:iter_near_pairs:1"


@pytest.mark.parametrize(
    ("where", "form"),
    [("simdup.report.json_csv:_group:3", "json"), (SEARCH, "text"), (SEARCH, "csv")],
)
def test_an_interrupt_replaces_no_old_report_by_one_that_does_not_say_so(
    interrupted, eight, write, where, form
):
    write("out", OLD)

    ended = interrupted(where, "scan", eight, "--format", form, "--output", "out")

    assert (ended.returncode, ended.stdout) == (130, b"")
    assert Path("out").read_bytes() == OLD
    assert sorted(os.listdir()) == ["in", "out"]


@permissions
def test_only_what_is_remembered_is_said_to_be(interrupted, eight):
    Path("closed").mkdir(mode=0o500)

    ended = interrupted(
        *(SEARCH, "scan", eight),
        environment={"SIMDUP_CACHE": "closed/store"},
        preexec_fn=as_anybody,
    )

    assert ended.returncode == 130
    assert b"remembered" not in ended.stderr


LOCK = """
import sqlite3, simdup.storage.store
real = simdup.storage.store._opened
def locked(path):
    connection = real(path)
    global other
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return connection
simdup.storage.store._opened = locked
class Telling(simdup.storage.store.Store):
    def number_of_recipe(self, key):
        os.write(descriptor, b"!")
        return super().number_of_recipe(key)
simdup.storage.store.Store = Telling
"""


def test_an_interrupt_while_another_scan_has_the_store_is_obeyed_at_once(started, eight):
    reading, writing = os.pipe()
    code = f"import os, simdup.cli\ndescriptor = {writing}\n{LOCK}"
    process = started(code, "scan", eight, pass_fds=[writing])
    os.close(writing)
    assert os.read(reading, 1) == b"!"
    os.close(reading)

    time.sleep(0.2)  # it has gone on to wait, and waits for ten seconds
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=LONG)

    assert process.returncode == 130
    assert err.strip().endswith(b"simdup: interrupted")
    assert time.monotonic() - began < SOON


# 15: nobody reads


@pytest.fixture
def headed(folder):
    """`headed(lines, *arguments)`: the program into `head`, which takes that many lines."""

    def running(lines, *arguments, both=False):
        reading, writing = os.pipe()
        if hasattr(fcntl, "F_SETPIPE_SZ"):  # less fits, so that less is needed to fill it
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        head = os.fdopen(reading, "rb")
        if not lines:
            head.close()
        with subprocess.Popen(
            [sys.executable, "-m", "simdup", *arguments],
            cwd=folder,
            stdout=writing,
            stderr=writing if both else subprocess.PIPE,
        ) as process:
            os.close(writing)
            taken = [head.readline() for _ in range(lines)]
            head.close()
            said = b"" if both else process.stderr.read()
        return taken, process.returncode, said

    return running


@pytest.fixture
def many(write):
    """Enough look-alikes that no report of them fits into a pipe."""
    for number in range(300):
        write(f"in/{'n' * 60}{number:03}", "the same few words in every file")
    return "in"


@pytest.mark.parametrize(
    ("form", "lines"), [("text", 0), ("text", 30), ("json", 1), ("jsonl", 1), ("csv", 1), ("-0", 0)]
)
def test_a_report_into_head_ends_quietly(headed, many, form, lines):
    shape = ["-0"] if form == "-0" else ["--format", form]

    taken, code, said = headed(lines, "scan", many, *shape, "-q")

    assert (code, said) == (0, b"")
    assert all(taken)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("compare", "in/a", "in/b", "--diff"),
        ("evaluate", "--pairs", "in/pairs.csv", "--format", "csv", "--curve"),
        ("cache", "info"),
        ("index", "info", "x"),
        ("index", "verify", "x"),
        ("query", "x", "in/a"),
        ("scan", "--index", "x"),
    ],
    ids=" ".join,
)
def test_every_command_into_a_closed_pipe_ends_quietly(headed, run, write, english, arguments):
    write("in/a", english)
    write("in/b", english.replace("grey", "white"))
    write("in/c", words(1))
    write("in/pairs.csv", "left,right,duplicate,kind\na,b,1,edited\na,c,0,other\n")
    run("scan", "in")
    run("index", "build", "x", "in")

    _, code, said = headed(0, *arguments)

    assert (code, warnings_in(said)) == (0, [])
    assert b"Traceback" not in said
    assert b"ignored" not in said


# 16: --output


def test_output_is_tried_before_any_file_is_read(watched, folder, write, english):
    write("in/a", english)

    ended, events = watched("", "scan", "in", "--output", "gone/out", "--no-cache")

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode() == (
        "simdup: 'gone/out': cannot write there (No such file or directory)\n"
    )
    assert not [path for path in opened_in(events, folder) if path.startswith("in/")]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_report_that_does_not_fit_is_one_line_and_the_old_one_is_kept(simdup, many, write, form):
    write("out", OLD)

    ended = simdup(
        *("scan", many, "--no-cache", "--format", form, "--output", "out", "-q"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
        environment={"PYTHONDONTWRITEBYTECODE": "1"},
    )

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.endswith(b"/out': File too large\n")
    assert ended.stderr.count(b"\n") == 1
    assert Path("out").read_bytes() == OLD
    assert sorted(os.listdir()) == ["in", "out"]


@mounts
def test_a_full_disk_is_one_line_and_the_old_report_is_kept(folder, many):
    Path("disk").mkdir()
    script = f"""
        mount -t tmpfs -o size=16k none disk
        printf '{OLD.decode().strip()}\\n' > disk/out
        "$0" -m simdup "$@" || code=$?
        ls -A disk
        cat disk/out
        exit $code
    """

    ended = mounted(
        folder, script, "scan", many, "--no-cache", "--format", "json", "--output", "disk/out", "-q"
    )

    assert (ended.returncode, ended.stdout) == (2, b"out\n" + OLD)
    assert ended.stderr.endswith(b"/disk/out': No space left on device\n")
    assert ended.stderr.count(b"\n") == 1


# 17: no terminal


def on_a_terminal(folder, *arguments, **environment):
    """What the program writes and says on a terminal of 80 columns that changes nothing."""
    usual = {name: os.environ[name] for name in os.environ if name not in {"NO_COLOR", "COLUMNS"}}
    (screen, out), (other_screen, err) = terminal(), terminal()
    for end in (out, err):
        tty.setraw(end)
    with subprocess.Popen(
        [sys.executable, "-m", "simdup", *arguments],
        cwd=folder,
        env=usual | {"TERM": "xterm"} | environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
    ):
        os.close(out)
        os.close(err)
        return drained(screen), drained(other_screen)


@any_name
@pytest.mark.parametrize("form", ["text", "json", "csv", "fdupes"])
def test_a_report_is_the_same_on_a_terminal_and_elsewhere(run, folder, hostile, form):
    plain = {"NO_COLOR": "1", "COLUMNS": "1000"} if form == "text" else {}
    asked = ["scan", hostile, "--format", form, *(["--all"] if form == "text" else [])]
    piped = run(*asked)
    shown, said = on_a_terminal(folder, *asked, **plain)

    assert timeless(shown, form) == timeless(piped.out, form)
    assert b"\r" in said
    assert b"\r" not in piped.err
    assert b"\x1b" not in piped.err + piped.out + shown


@any_name
def test_a_terminal_adds_colours_to_text_and_shortens_folders_and_nothing_else(
    run, folder, write, english, hostile
):
    write("in/" + "deep/" * 20 + "a.txt", english)
    piped = run("scan", hostile, "--all").out.decode().split("\n")
    shown, _ = on_a_terminal(folder, "scan", hostile, "--all")

    colours = re.compile("\x1b\\[[0-9]+m")
    lines = [colours.sub("", line) for line in shown.decode().split("\n")]
    assert colours.search(shown.decode())
    assert all(line.isprintable() for line in lines)
    for line, whole in zip(lines, piped, strict=True):
        begin, cut, end = line.partition("…")
        assert line == whole or (cut and whole.startswith(begin) and whole.endswith(end))
    assert any(line.endswith("deep/a.txt") and "…" in line for line in lines)


# 18: a scan of nothing


# Store

# 19: it never costs an answer


@pytest.fixture
def place():
    """Where the store of this test is."""
    return Path(os.environ["SIMDUP_CACHE"])


@pytest.mark.parametrize(
    "change",
    [
        lambda: Path("in/0").write_text("another text"),
        lambda: os.utime("in/0", ns=(1, 1)),
        lambda: Path("in/0").chmod(0o600),
        lambda: (shutil.copy2("in/0", "new"), os.replace("new", "in/0")),
        lambda: (os.rename("in/0", "0"), os.rename("0", "in/0")),
    ],
    ids=["content", "mtime", "ctime", "inode", "renamed and back"],
)
@remembered
def test_a_file_that_is_not_as_it_was_is_read_again(report, eight, change):
    assert report(eight)["stats"]["from_store"] == 0
    assert report(eight)["stats"]["from_store"] == 8
    time.sleep(0.01)  # a file system counts time in steps, and ctime is to differ

    change()

    assert report(eight)["stats"]["from_store"] == 7
    assert report(eight)["groups"] == report(eight, "--no-cache")["groups"]


# Children of one process, since starting Python each time would take longer than all else.
# Each dies at another moment: at an instruction of SQLite, or at an instant of the clock,
# which may be between two writes to the disk. Then the next one must find everything.
CHILD = (
    REMEMBER
    + """
import contextlib, json, os, random, shutil, signal, sqlite3, sys, time
import simdup.cli.scan, simdup.files.scan, simdup.files.workers
asked, counted = sys.argv[1:], 0

def child(arguments, prepare=lambda: None):
    number = os.fork()
    if number == 0:
        out = os.open("out", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        prepare()
        try:
            simdup.cli.main(arguments)
        except SystemExit as ended:
            with open("counted", "w") as file:
                file.write(str(counted))
            os._exit(ended.code)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), open("out", "rb").read()

def at_instruction(number, module, name, every):
    # Counts the instructions of the connections that a function makes.
    real = getattr(module, name)
    def counting():
        global counted
        counted += 1
        if counted == number:
            os.kill(os.getpid(), signal.SIGKILL)
    def opened(*arguments, **options):
        connection = real(*arguments, **options)
        connection.set_progress_handler(counting, every)
        return connection
    return lambda: setattr(module, name, opened)

def at_instant(seconds):
    return lambda: signal.setitimer(signal.ITIMER_REAL, seconds)
"""
)
KILL = (
    CHILD
    + WITHIN.format(2)
    + """
import simdup.storage.store as storeroom
place, chooser = os.environ["SIMDUP_CACHE"], random.Random(1)
simdup.scan(asked[1:2])  # so that no child has to build tables
_, expected = child([*asked, "--no-cache"])
began = time.perf_counter()
child(asked)
whole = time.perf_counter() - began
moments = [at_instruction(n, storeroom, "_opened", 10) for n in range(1, 140, 10)]
moments += [at_instant(chooser.uniform(0.001, whole)) for _ in range(10)]
deaths, wrong = 0, []
for number, moment in enumerate(moments):
    for name in os.listdir(os.path.dirname(place)):
        if chooser.random() < 0.7:
            os.unlink(os.path.join(os.path.dirname(place), name))
    code, _ = child(asked, moment)
    deaths += code < 0
    whole = ("ok",)
    if os.path.exists(place):
        with contextlib.closing(sqlite3.connect(place)) as connection:
            whole = connection.execute("PRAGMA integrity_check").fetchone()
    code, found = child(asked)
    if (code, found, whole) != (0, expected, ("ok",)):
        wrong.append((number, code, found.decode(), whole))
print(json.dumps([deaths, wrong]))
sys.exit()
"""
)


def test_a_run_killed_at_any_moment_leaves_a_store_that_opens_and_is_right(driven, write):
    for number in range(20):
        write(f"in/{number % 4}/{number}", words(number // 2, edits=number % 2))

    ended = driven(KILL, "scan", "in", "--format", "fdupes", "-q")

    assert ended.returncode == 0, ended.stderr.decode()
    deaths, wrong = json.loads(ended.stdout)
    assert wrong == []
    assert deaths > 10


@remembered
def test_two_runs_at_once_are_both_right_and_both_remembered(started, report, write):
    for number in range(200):
        write(f"{'old' if number % 2 else 'new'}/{number}", words(number // 4, edits=number % 4))
    code = REMEMBER + WITHIN.format(3)

    both = [
        started(code, "scan", *paths, "--format", "json")
        for paths in (["old", "new"], ["new", "old"], ["old"])
    ]
    ended = [(*process.communicate(timeout=LONG), process.returncode) for process in both]

    for (out, err, code), paths in zip(
        ended, [("old", "new"), ("new", "old"), ("old",)], strict=True
    ):
        assert (code, warnings_in(err)) == (0, [])
        assert json.loads(out)["groups"] == report(*paths, "--no-cache")["groups"] != []
    assert report("old", "new")["stats"]["from_store"] == 200


def flipped(data, chooser):
    """Some bytes anywhere, or among the first hundred, are others."""
    end = chooser.choice([100, len(data)])
    for _ in range(chooser.choice([1, 2, 9, 99])):
        data[chooser.randrange(end)] ^= chooser.randrange(1, 256)


def cut(data, chooser):
    del data[chooser.randrange(len(data)) :]


def wiped(data, chooser):
    at = chooser.randrange(0, len(data), 4096)
    data[at : at + 4096] = bytes(4096)


def shuffled(data, chooser):
    at, to = (chooser.randrange(0, len(data), 4096) for _ in range(2))
    data[to : to + 4096] = data[at : at + 4096]


@remembered
@pytest.mark.parametrize("has_results", [True, False])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("damage", [flipped, cut, wiped, shuffled], ids=lambda each: each.__name__)
def test_a_damaged_store_changes_no_answer(  # noqa: PLR0917
    run, eight, usual, damage, seed, has_results
):
    """At the usual place: what has lost its header is refused where the user has named it."""
    asked = ("scan", eight, "--format", "json")
    expected = timeless(run(*asked, "--no-cache").out)
    assert timeless(run(*asked).out) == expected
    if not has_results:  # so that similarities are asked for
        forget_results(usual)
    whole, chooser = usual.read_bytes(), random.Random(seed)

    for _ in range(3):
        data = bytearray(whole)
        damage(data, chooser)
        usual.write_bytes(data)
        ended = run(*asked)

        assert ended.code == 0, ended.err
        assert timeless(ended.out) == expected
        assert len(warnings_in(ended.err)) <= 1


def forget_results(place):
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("DELETE FROM results")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize("has_results", [True, False])
@pytest.mark.parametrize("what", ["log", "index"])
def test_a_damaged_log_of_a_killed_run_changes_no_answer(  # noqa: PLR0917
    driven, run, eight, place, what, has_results
):
    die = REMEMBER + (
        "import os, signal\n"
        "from simdup.storage.cached import RecipeCache\n"
        f"if not {has_results}: RecipeCache.keep_result = lambda *_: None\n"
        "RecipeCache.finish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert driven(die, "scan", eight).returncode == -signal.SIGKILL
    suffix = {"log": "-wal", "index": "-shm"}[what]
    names = [place.with_name(place.name + end) for end in ("", "-wal", "-shm")]
    kept, chooser = {name: name.read_bytes() for name in names}, random.Random(2)
    expected = timeless(run("scan", eight, "--format", "json", "--no-cache").out)

    for _ in range(6):
        for name, data in kept.items():
            changed = bytearray(data)
            if name.name.endswith(suffix):
                flipped(changed, chooser)
            name.write_bytes(changed)
        ended = run("scan", eight, "--format", "json")

        assert ended.code == 0, ended.err
        assert timeless(ended.out) == expected
        assert len(warnings_in(ended.err)) <= 1


def database(place):
    with contextlib.closing(sqlite3.connect(place)) as connection:
        connection.execute("CREATE TABLE books (title)")


def notes(place):
    place.write_bytes(b"my own notes\n" * 99)


def newer(place):
    database(place)
    with contextlib.closing(sqlite3.connect(place)) as connection:
        connection.execute(f"PRAGMA application_id = {storeroom.STORE.application}")
        connection.execute(f"PRAGMA user_version = {storeroom.STORE.format + 1}")


def device(place):
    place.symlink_to(os.devnull)


def state(place):
    """What stands there: kind, mode, time, and the content of a file."""
    known = place.stat()
    content = place.read_bytes() if place.is_file() else b""
    return known.st_mode, known.st_mtime_ns, known.st_ino, content, sorted(os.listdir(place.parent))


NO_STORES = {
    database: "not a store of simdup",
    notes: "not a store of simdup",
    newer: "made by a newer simdup",
    Path.mkdir: "a folder, and not a store of simdup",
    os.mkfifo: "not a regular file",
    device: "not a regular file",
}


@pytest.fixture
def usual(tmp_path, monkeypatch):
    """The place of the store that nobody has named."""
    monkeypatch.delenv("SIMDUP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (tmp_path / "caches/simdup").mkdir(parents=True)
    return tmp_path / "caches/simdup/store.sqlite3"


no_store = pytest.mark.parametrize(
    ("make", "problem"), NO_STORES.items(), ids=[make.__name__ for make in NO_STORES]
)


@no_store
def test_what_is_no_store_is_refused_by_name_and_left_alone(run, eight, place, make, problem):
    make(place)
    before = state(place)

    for command in (("cache", "info"), ("cache", "clear"), ("scan", eight)):
        for option in ((), ("--cache", place)):  # by SIMDUP_CACHE, and by the option
            ended = run(*command, *option)

            assert (ended.code, ended.out) == (2, b"")
            assert ended.err.decode() == f"simdup: '{place}': {problem}\n"
            assert state(place) == before


@no_store
def test_what_is_no_store_at_the_usual_place_is_left_alone_and_done_without(
    run, eight, usual, make, problem
):
    expected = run("scan", eight, "--no-cache", "-q").out
    make(usual)
    before = state(usual)

    ended = run("scan", eight)

    assert (ended.code, ended.out) == (0, expected)
    said = f"simdup: '{usual}': {problem}"
    assert warnings_in(ended.err) == [f"{said}; going on without it"]
    for command in ("info", "clear"):
        ended = run("cache", command)
        assert (ended.code, ended.out, ended.err.decode()) == (2, b"", f"{said}\n")
    assert state(usual) == before


@remembered
@permissions
@pytest.mark.parametrize("is_filled", [False, True])
def test_a_store_that_cannot_be_written_is_done_without(simdup, run, eight, place, is_filled):
    expected = run("scan", eight, "-q").out
    if not is_filled:
        place.unlink()
    else:
        place.chmod(0o400)
    place.parent.chmod(0o500)

    ended = simdup("scan", eight, preexec_fn=as_anybody)
    place.parent.chmod(0o700)

    assert (ended.returncode, ended.stdout) == (0, expected)
    assert len(warnings_in(ended.stderr)) == 1
    assert b"; skipped nothing\n" in ended.stderr


@pytest.mark.parametrize("size", [0, 5000, 40_000])
def test_a_store_that_finds_the_disk_full_is_done_without(driven, run, many, size):
    expected = run("scan", many, "--no-cache", "-q").out
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"

    ended = driven(REMEMBER + limit, "scan", many, environment={"PYTHONDONTWRITEBYTECODE": "1"})

    assert (ended.returncode, ended.stdout) == (0, expected)
    assert len(warnings_in(ended.stderr)) == 1
    assert run("scan", many, "-q").out == expected


# 19, of an index: it is as a whole batch left it


@pytest.fixture
def held():
    """`held(place)`: how many documents and batches an index has, which must be whole."""

    def holding(place="x"):
        with Index(place) as index:
            assert index.problems() == []
            return len(index), index.batches

    return holding


# Commands, where they get Ctrl-C, after how many batches and with how many documents: the index
# "all" has two and eight, where to look again is noted by a batch of its own.
CHANGES = {
    "build, walk": ("build x in", "simdup.files.walk:_status:4", 1, 0),
    "build, read": ("build x in", "simdup.files.workers:fingerprint_sources:2", 2, 2),
    "build, in a batch": ("build x in", "simdup.index.contents:_pack:3", 3, 4),
    "build, two processes": ("build x in -j 2", "simdup.index.ingest:Ingestion._put:3", 3, 4),
    "add, in a batch": ("add all new", "simdup.index.contents:_write:2", 4, 10),
    "update, in a batch": ("update all", "simdup.index.contents:_write:1", 2, 8),
    "update, at the end": ("update all", "simdup.index.contents:take_out:1", 3, 9),
    "remove": ("remove all in", "simdup.index.contents:take_out:1", 2, 8),
}


@remembered
@pytest.mark.usefixtures("eight")
@pytest.mark.parametrize("case", CHANGES.values(), ids=CHANGES)
def test_an_interrupted_change_leaves_an_index_as_the_last_batch_did_and_says_which(
    interrupted, run, write, held, case
):
    command, where, batches, documents = case
    _, place, *_ = command.split()
    run("index", "build", "all", "in")
    os.unlink("in/0")
    for name in ("in/8", "new/1", "new/2", "new/3"):
        write(name, words(name))

    ended = interrupted(where, "index", *command.split())

    assert (ended.returncode, ended.stdout) == (130, b"")
    reached = f"after batch {batches}, with {documents} documents"
    assert ended.stderr.decode() == f"simdup: interrupted; {place!r} is as it was {reached}\n"
    assert held(place) == (documents, batches)
    assert sorted(os.listdir()) == sorted({"all", "in", "new", place})
    assert run("index", "update", place).code == 0
    roots = ["in", "new"] if "new" in command else ["in"]
    scanned = run("scan", *map(os.path.abspath, roots), "-0", "-q").out
    assert run("scan", "--index", place, "-0", "-q").out == scanned != b""


# As for the store, at moments spread over the whole run; what is left is looked at, then completed.
KILL_ADD = (
    CHILD
    + WITHIN.format(2)
    + """
import simdup.index.connection as connections
from simdup.index.index import Index
for name in ("execute", "executemany"):  # which have a handler of their own
    delattr(simdup.storage.sqlite.BoundedConnection, name)

def looked_at():
    with Index("x") as index:
        paths, _ = index.pairs(0)
        return [len(paths), index.batches, index.problems()], paths

def fresh():
    for name in ("x", "x-wal", "x-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    shutil.copyfile("empty", "x")

def dying_at(number):
    return at_instruction(number, connections, "_connected", 50)

fresh()
child(asked)  # builds tables, fills caches
fresh()
began = time.perf_counter()
child(asked, dying_at(0))
seconds, instructions = time.perf_counter() - began, int(open("counted").read())
(_, expected), seen = looked_at(), []
moments = [(dying_at, 1 + each * instructions // 20) for each in range(20)]
moments += [(at_instant, (each + 0.5) / 20 * seconds) for each in range(20)]
for dying, moment in moments:
    fresh()
    code, _ = child(asked, dying(moment))
    while code == 0 and dying is at_instant:  # it was faster than the first run
        moment *= 0.8
        fresh()
        code, _ = child(asked, dying(moment))
    state, paths = looked_at()
    again, _ = child(asked)
    seen.append([code, state, paths == expected[: len(paths)], again, looked_at()[1] == expected])
print(json.dumps(seen))
sys.exit()
"""
)


@pytest.mark.long
def test_an_index_killed_at_any_moment_of_a_change_holds_whole_batches_and_goes_on(
    driven, run, write
):
    for number in range(20):
        write(f"in/{number // 10}/{number % 10:02}", words(number))
    write("empty folder/binary", bytes(99))
    run("index", "build", "empty", "empty folder", "--bits", "64")
    run("index", "remove", "empty", "empty folder")

    ended = driven(KILL_ADD, "index", "add", "x", "in")

    assert ended.returncode == 0, ended.stderr.decode()
    seen = json.loads(ended.stdout)
    batches = set()
    for code, (documents, number, problems), is_beginning, again, is_whole in seen:
        assert code in {-signal.SIGKILL, -signal.SIGALRM}
        assert problems == []
        # Two batches made the empty index, the next one notes where to look again.
        assert documents == 2 * max(number - 3, 0)
        assert (is_beginning, again, is_whole) == (True, 0, True)
        batches.add(number)
    assert len(seen) == 40
    assert len(batches) > 8


ADD_TEXTS = """
import sys
from simdup.index.index import Index
place, text, batches, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for batch in range(batches):
    with Index(place) as index:
        index.add_texts([f"{batch}-{number}" for number in range(size)], [text] * size)
sys.exit()
"""


@pytest.mark.parametrize("bits", [64, 256])
def test_an_index_may_be_asked_while_another_process_changes_it(started, held, bits):
    """Each batch adds seven equal texts: a number that is no multiple is half a batch."""
    settings = Settings(Recipe(bits=bits), k=3)
    Index.create("x", settings).close()
    counts, lasting = [], Index("x")

    writer = started(ADD_TEXTS, "x", words(1), "60", "7")
    with lasting:
        while writer.poll() is None:
            counts.append(len(lasting.query(words(1), settings)))
            with Index("x") as other:
                counts.append(len(other.query(words(1), settings)))

    assert (writer.communicate()[1], writer.returncode) == (b"", 0)
    assert {number % 7 for number in counts} == {0}
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    assert held() == (420, 60)
    assert os.listdir() == ["x"]


@remembered
def test_two_processes_may_change_an_index_at_once(started, run, write, held):
    for number in range(120):
        write(f"{'old' if number % 2 else 'new'}/{number}", words(number))
    run("index", "build", "x", "old/1")
    code = REMEMBER + WITHIN.format(4)

    both = [started(code, "index", "add", "x", name) for name in ("old", "new")]
    ended = [(*process.communicate(timeout=LONG), process.returncode) for process in both]

    assert [(out, code) for out, _, code in ended] == [(b"", 0)] * 2
    assert held()[0] == 120
    assert run("index", "update", "x").err.startswith(b"120 unchanged; 120 documents ")


@pytest.mark.parametrize("size", [0, 20_000, 100_000])
def test_an_index_that_finds_the_disk_full_is_one_line_and_whole_or_gone(driven, many, held, size):
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"

    ended = driven(WITHIN.format(9) + limit, "index", "build", "x", many)

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"simdup: 'x': ")
    assert ended.stderr.count(b"\n") == 1
    assert not os.path.exists("x") or held()[0] % 9 == 0
    assert size < 100_000 or held()[0] > 0


@permissions
@pytest.mark.parametrize("case", [(0o500, True), (0o500, False)], ids=["folder", "in two pieces"])
def test_an_index_in_a_place_that_cannot_be_written_can_be_asked(simdup, run, eight, write, case):
    folder_mode, is_in_one_piece = case
    write("q", words(0))
    os.mkdir("kept")
    run("index", "build", "kept/x", eight)
    expected = run("query", "kept/x", "q").out
    if not is_in_one_piece:  # as it is copied from under a process that changes it
        with contextlib.closing(sqlite3.connect("kept/x")) as other:
            other.execute("PRAGMA journal_mode = WAL")
            copy = Path("kept/x").read_bytes()
        Path("kept/x").write_bytes(copy)
    Path("kept/x").chmod(0o400)
    Path("kept").chmod(folder_mode)

    asked = simdup("query", "kept/x", "q", preexec_fn=as_anybody)
    changed = simdup("index", "remove", "kept/x", eight, preexec_fn=as_anybody)

    Path("kept").chmod(0o700)
    assert (asked.returncode, asked.stdout) == (0, expected)
    assert (changed.returncode, changed.stdout) == (2, b"")
    assert changed.stderr == b"simdup: 'kept/x': attempt to write a readonly database\n"
    assert os.listdir("kept") == ["x"]


@remembered
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("damage", [flipped, cut, wiped, shuffled], ids=lambda each: each.__name__)
def test_a_damaged_index_gives_no_wrong_answer(run, eight, damage, seed):
    run("index", "build", "x", eight)
    asked = [("query", "x", "in/0", "in/3"), ("scan", "--index", "x", "-q")]
    expected = [run(*each).out for each in asked]
    whole, chooser = Path("x").read_bytes(), random.Random(seed)

    for _ in range(6):
        data = bytearray(whole)
        damage(data, chooser)
        Path("x").write_bytes(data)
        for each, right in zip(asked, expected, strict=True):
            ended = run(*each)

            assert (ended.code, ended.out) in {(0, right), (2, b"")}
            assert ended.code == 0 or (
                ended.err.startswith(b"simdup: 'x': ") and ended.err.count(b"\n") == 1
            )


# 20: nothing of the user's is changed


def snapshot(root):
    """Contents, kinds, modes, owners and times of everything in a folder; reading is allowed."""
    seen = {}
    for path in [Path(root), *Path(root).rglob("*")]:
        status = path.lstat()
        content = blake2b(path.read_bytes()).digest() if path.is_file() else b""
        if path.is_symlink():
            content = os.fsencode(path.readlink())
        kept = (status.st_mode, status.st_uid, status.st_gid, status.st_ino, status.st_nlink)
        times = (status.st_mtime_ns, status.st_ctime_ns)
        seen[os.fsencode(path)] = (*kept, *times, status.st_size, content)
    return seen


READING = [
    *(("scan", "in", "--format", form) for form in FORMATS),
    ("scan", "in", "-0", "--follow-symlinks", "--hidden", "--noise"),
    ("scan", "in/deep", "--against", "in", "--linkage", "components"),
    ("scan", "--files-from", "in/list"),
    ("scan", "in", "--features", "words", "--user-dict", "in/list", "--fail-on-found"),
    ("compare", "in/a.txt", "in/deep/b.txt", "--diff"),
    ("evaluate", "--pairs", "in/pairs.csv", "--curve"),
    ("cache", "info"),
    ("cache", "clear"),
    ("clean", "in/found.json"),
    ("clean", "in/found.json", "--text", "--near", "0.8", "--prefer-under", "in/deep", "-v"),
    ("clean", "in/found.json", "--permanently", "--check", "--work-trees-too"),
    ("scan", "in", "--ignored", "in/none.jsonl"),
    ("ignore", "list", "--ignored", "in/none.jsonl"),
    ("ignore", "add", "in/a.txt", "in/a.txt"),
    ("completion", "bash"),
    ("index", "info", "in/x"),
    ("index", "verify", "in/x"),
    ("query", "in/x", "in/a.txt", "in/gone", "--text", "some words"),
    ("query", "in/x", "in/deep/b.txt", "--top", "3", "--no-verify", "-0"),
    ("scan", "--index", "in/x"),
    ("index", "build", "ELSEWHERE", "in", "--follow-symlinks", "--hidden"),
    ("index", "add", "ELSEWHERE", "in/deep"),
    ("index", "update", "ELSEWHERE"),
    ("index", "remove", "ELSEWHERE", "in/deep"),
    ("--version", "--verbose"),
]


@any_name
@remembered
@pytest.mark.usefixtures("hostile")
def test_no_command_that_reads_changes_anything(run, write, english, place):
    write("in/a.txt", english)
    write("in/deep/b.txt", english.replace("grey", "white"))
    write("in/deep/c.txt", CONTENTS["cut-gbk"])
    write("in/.git/d.txt", english)
    write("in/list", "in/a.txt\nin/gone\n")
    write("in/none.jsonl", "")
    write("in/pairs.csv", "left,right,duplicate,kind\na.txt,deep/b.txt,1,edited\n")
    for name in HOSTILE:
        write(b"in/deep/" + name, english)
    Path("in/link").symlink_to("a.txt")
    Path("in/loop").symlink_to(".")
    os.mkfifo("in/fifo")
    os.link("in/a.txt", "in/deep/hard-link")
    Path("in/a.txt").chmod(0o440)
    Path("in/deep/b.txt").chmod(0o755)
    os.utime("in/deep/c.txt", ns=(1, 1_000_000_001))
    run("index", "build", "in/x", "in")
    run("scan", "in", "--format", "json", "-o", "in/found.json", "--no-cache")
    before, outside = snapshot("."), sorted(os.listdir(place.parent))

    elsewhere = {"ELSEWHERE": place.parent / "index"}
    codes = {
        " ".join(arguments): run(*(elsewhere.get(each, each) for each in arguments)).code
        for arguments in READING
    }

    assert set(codes.values()) <= {0, 1, 2, 3}
    assert codes["scan in --format json"] == codes["cache info"] == codes["index info in/x"] == 0
    assert codes["scan --index in/x"] == codes["index update ELSEWHERE"] == 0
    assert codes["clean in/found.json"] == 0
    assert codes["clean in/found.json --permanently --check --work-trees-too"] == 1
    assert snapshot(".") == before
    assert set(os.listdir(place.parent)) - {*outside} == {place.name, "index"}


# Security

# 22: what is read makes nothing run


FORBIDDEN = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.startfile")
UNTRUSTED = ("pickle.", "socket.connect")


HOSTILE_NAME = b"in/$(touch pwned);`touch pwned`"


@remembered
@any_name
@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "in", "--jobs", "1", "--follow-symlinks"),
        ("scan", "in", "--jobs", "1", "--features", "keywords", "--no-verify"),
        ("compare", HOSTILE_NAME, "in/-rf.txt", "--diff"),
        ("cache", "info"),
        ("query", "x", HOSTILE_NAME, "in/-rf.txt"),
        ("query", "x", "in/-rf.txt", "--top", "3", "--no-verify"),
        ("scan", "--index", "x"),
        ("index", "info", "x"),
        ("index", "verify", "x"),
        ("index", "build", "new", "in", "--jobs", "1"),
        ("index", "add", "x", "in", "--jobs", "1"),
        ("index", "update", "x", "--jobs", "1"),
        ("index", "remove", "x", "in"),
    ],
    ids=lambda arguments: " ".join(map(os.fsdecode, arguments[:2])),
)
def test_no_command_runs_anything_or_opens_what_it_was_not_pointed_at(
    watched, run, folder, hostile, arguments
):
    shutil.copytree(hostile, "outside")
    Path("temporary").mkdir()
    Path("temporary/jieba.cache").write_bytes(b"not to be loaded")
    run("scan", "outside")
    run("scan", hostile)
    run("index", "build", "x", hostile)
    store, index = os.environ["SIMDUP_CACHE"], "new" if "new" in arguments else "x"

    ended, events = watched("", *arguments, environment={"TMPDIR": str(folder / "temporary")})

    assert ended.returncode == 0, ended.stderr.decode()
    assert not [each for each in events if each[0].startswith(FORBIDDEN + UNTRUSTED)]
    part = re.compile(r"\.new\.\w{8}\.part")  # what becomes the new index, and is filled as it
    paths = opened_in(events, folder)
    assert {part.sub("new", path.split("/")[0]) for path in paths} <= {"in", "new"}
    changing = ("os.remove", "os.rename", "os.rmdir", "os.chmod", "os.truncate", "os.mkdir")
    changed = [each[1][0] for each in events if each[0].startswith((*changing, "shutil."))]
    opened = [each[1] for each in events if each[0] == "open" and isinstance(each[1][0], str)]
    changed += [each[0] for each in opened if is_for_writing(*each)]
    assert {each for each in changed if not part.search(each)} <= {
        *(os.devnull, os.path.dirname(store))
    }
    connected = {each[1][0].split("?")[0] for each in events if each[0] == "sqlite3.connect"}
    places = {Path(store).as_uri(), Path(folder, index).as_uri(), ":memory:"}
    assert {part.sub("new", each) for each in connected} <= places
    assert sorted(os.listdir()) == sorted({"in", "outside", "temporary", "x", index})
    assert os.listdir("temporary") == ["jieba.cache"]


def made_by_somebody(place, paths):
    """An index that says of each path that a text lies there that is like `words(1)`."""
    Path("like").write_text(words(1, edits=3))
    Path("unlike").write_text(words(2))
    found = fingerprint_sources(
        [*walking_room.listed(["like", "unlike"])], FingerprintOptions(Settings(formats=()))
    )
    known, rows = [], []
    for path in paths:
        with contextlib.suppress(OSError):
            status = os.stat(path)
        numbers = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
        row = 1 if path.endswith("unlike") else 0
        source = found.documents[row].source._replace(path=path, **numbers)
        known.append(found.documents[row]._replace(source=source))
        rows.append(found.rows[row])
    Index.create(place).close()
    with contextlib.closing(IndexFile(place, to_write=True)) as file, file.writing():
        put(file, known, np.array(rows), sketching_room.read_back([b""] * len(known)))


@pytest.mark.parametrize("arguments", [(), ("--top", "50"), ("-k", "100"), ("--no-verify",)])
def test_an_index_from_somebody_else_opens_nothing_but_documents_of_its_answers(
    watched, folder, arguments
):
    os.mkfifo("fifo")
    os.mkdir("folder")
    Path("link").symlink_to("fifo")
    Path("named").write_text("a secret")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    inside = [os.path.abspath(each) for each in ("fifo", "folder", "link", "socket", "gone")]
    outside = ["/etc/passwd", "/dev/zero", "/dev/tty", "/dev/stdin", "/proc/self/mem", "/"]
    made_by_somebody("x", [*inside, *outside, os.path.abspath("unlike"), "named", "../named"])

    ended, events = watched("", "query", "x", "--text", words(1), "-0", *arguments)

    named = {os.fsdecode(each) for each in ended.stdout.split(b"\0")}
    assert ended.returncode == 0, ended.stderr.decode()
    assert named >= {"named", "../named", "/etc/passwd", "/dev/zero", *inside}
    assert not [each for each in events if each[0].startswith(FORBIDDEN + UNTRUSTED)]
    opened = [each[1] for each in events if each[0] == "open" and isinstance(each[1][0], str)]
    ours = {path for path, *_ in opened if path in {*inside, *outside, "named", "../named"}}
    assert not {each[0] for each in opened if is_for_writing(*each)} - {os.devnull}
    assert "named" not in opened_in(events, folder)
    assert "unlike" not in opened_in(events, folder) or "--top" in arguments
    is_verified = arguments in {(), ("--top", "50")}
    assert ours == ({*inside, *outside} if is_verified else set())
    assert all(flags & os.O_NONBLOCK for path, _, flags in opened if path in ours)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("convert", ["txt=touch pwned"]),
        ("recipe", {"features": "words", "user_dict": "/etc/passwd", "bits": 256}),
        ("recipe", {"features": "words", "stop_words": "fifo", "bits": 256}),
        ("encoding", "fifo"),
    ],
)
def test_what_an_index_from_somebody_else_names_is_neither_run_nor_read(
    watched, run, folder, part, value
):
    os.mkdir("in")
    Path("in/a.txt").write_text(words(1))
    run("index", "build", "x", "in")
    os.mkfifo("fifo")
    with contextlib.closing(sqlite3.connect("x")) as connection, connection:
        ((about,),) = connection.execute("SELECT value FROM about WHERE name = 'about'")
        written = json.dumps(json.loads(about) | {part: value})
        connection.execute("UPDATE about SET value = ? WHERE name = 'about'", [written])

    for arguments in (("query", "x", "in/a.txt"), ("index", "update", "x")):
        ended, events = watched("", *arguments)

        assert ended.returncode == 2
        assert ended.stderr.startswith(b"simdup: 'x': ")
        assert ended.stderr.count(b"\n") == 1
        assert not [each for each in events if each[0].startswith(FORBIDDEN + UNTRUSTED)]
        assert opened_in(events, folder) == []
        assert ("open", "/etc/passwd") not in [(each[0], each[1][0]) for each in events]
    assert sorted(os.listdir()) == ["fifo", "in", "x"]


def is_for_writing(_path, mode, flags):
    if mode in {"None", None}:  # by os.open
        return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
    return bool(set(mode) & set("wxa+"))


def test_the_source_has_no_pickle_eval_or_shell():
    modules = {"pickle", "marshal", "shelve", "dill", "joblib", "subprocess", "pty", "xmlrpc"}
    calls = {"eval", "exec", "compile", "__import__", "system", "popen"}
    root, found, of_marshal = Path(package.__file__).parent, set(), set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Import(names):
                    used = {alias.name.split(".")[0] for alias in names} & modules
                case ast.ImportFrom(module=str(module)):
                    used = {module.split(".")[0]} & modules
                case ast.Call(ast.Name(name)):
                    used = {name} & calls
                case ast.Attribute(ast.Name("marshal"), attribute):
                    used = set()
                    of_marshal.add(attribute)
                case _:
                    continue
            found |= {(path.name, name) for name in used}

    # Converters are what the user names, the process that reads documents is ourselves, and Spark
    # starts its Java: all are started without a shell.
    starting = {(name, "subprocess") for name in ("convert.py", "sandbox.py", "corpus.py")}
    # A digest is made of what marshal writes, and nothing is ever read by it.
    assert found == starting | {("kept_result.py", "marshal")}
    assert of_marshal == {"dumps"}
    assert "shell" not in (root / "extract" / "sandbox.py").read_text("utf-8")


# 23: any bytes


names = st.binary(min_size=1, max_size=255).filter(
    lambda name: not {*b"\0/"} & {*name} and name not in {b".", b".."}
)


@any_name
@SHARED_FOLDER
@given(first=names, second=names, form=st.sampled_from(["json", "jsonl", "-0"]))
def test_any_name_comes_back_from_any_report(run, first, second, form):
    shutil.rmtree("in", ignore_errors=True)
    paths = [b"in/1/" + first, b"in/2/" + second]
    for path in paths:
        os.makedirs(os.path.dirname(path))
        Path(os.fsdecode(path)).write_bytes(b"one text for both")
    options = ["-0"] if form == "-0" else ["--format", form]

    ended = run("scan", "in", *options, "-q", "--hidden", "--noise")

    assert sorted(read_back(ended.out, form)) == paths


PARTS = st.sampled_from(
    [
        *(b"words ", b"\n", b"\r\n", b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1b[31m"),
        *("山水人".encode(codec) for codec in ("utf-8", "gbk", "big5", "utf-16", "utf-16-be")),
        *("\ufdfa e\u0301\u0327 \u202e ".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe4"),
    ]
)
CONTENT = st.binary(max_size=200) | st.lists(PARTS, max_size=30).map(b"".join)


@SHARED_FOLDER
@given(content=CONTENT, options=st.sampled_from([(), ("-k", "9"), ("--features", "tokens")]))
def test_any_bytes_are_read_or_listed_and_a_copy_is_found(run, content, options):
    shutil.rmtree("in", ignore_errors=True)
    Path("in").mkdir()
    for name in "ab":
        Path(f"in/{name}").write_bytes(content)

    ended = run("scan", "in", "--format", "json", *options)

    found = json.loads(ended.out.decode("utf-8"))
    assert ended.code == 0, ended.err
    if found["groups"]:
        assert grouped(found) == [["in/a", "in/b"]]
        assert found["groups"][0]["kind"] == "identical bytes"
    else:
        assert set(reasons(found)) == {"in/a", "in/b"}
        assert set(reasons(found).values()) <= {"binary", "empty", "fingerprint all 0 or all 1"}


# Corpora of rows


@pytest.fixture
def corpus(write):
    """A file of rows: four pairs of look-alikes, three broken rows and two without text."""
    rows = [json.dumps({"id": n, "text": words(n // 2, edits=n % 2)}) for n in range(8)]
    flawed = ['{"id": 8, "te', '{"id": 9}', '{"text": 1}', '{"text": null}', '{"text": "?!"}']
    return write("rows.jsonl", "\n".join([*flawed[:3], *rows, *flawed[3:]]) + "\n")


def test_every_row_is_kept_dropped_or_refused_and_the_sum_is_printed(simdup, corpus):
    ended = simdup("corpus", "scan", corpus, "--keep", "first", "--output", "kept.jsonl", text=True)

    assert ended.returncode == 3
    assert "13 rows in = 6 kept (2 nothing to compare) + 4 dropped + 3 refused (" in ended.stderr
    places = [
        line.split(": ")[1] for line in ended.stderr.splitlines() if line.startswith("simdup")
    ]
    assert places == [f"rows.jsonl:{row}" for row in (2, 1, 3, 12, 13)]
    before, after = (Path(name).read_text("utf-8").splitlines() for name in (corpus, "kept.jsonl"))
    assert after == [before[index] for index in (3, 5, 7, 9, 11, 12)]


@pytest.mark.parametrize(
    "where",
    [
        "simdup.corpus.fingerprint:fingerprint_chunk:1",
        "simdup.match.candidate_search:iter_near_pairs:1",
        "simdup.corpus.formats.jsonl:JsonLines.row:16",
        "simdup.corpus.rewrite:_batches:1",
        "simdup.corpus.formats.jsonl:JsonLines.kept:1",
    ],
)
def test_an_interrupt_of_a_corpus_leaves_the_old_output_and_nothing_else(
    interrupted, corpus, write, where
):
    write("kept.jsonl", OLD)

    ended = interrupted(where, "corpus", "scan", corpus, "--keep", "first", "-o", "kept.jsonl")
    assert (ended.returncode, ended.stderr.strip()) == (130, b"simdup: interrupted")
    assert Path("kept.jsonl").read_bytes() == OLD
    assert sorted(os.listdir()) == ["kept.jsonl", "rows.jsonl"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_corpus_that_is_ended(stopped, corpus, number):
    where = "simdup.corpus.fingerprint:Flaws.add:1"
    process = stopped(where, "corpus", "scan", corpus, "--jobs", "2")

    process.send_signal(number)

    process.wait(timeout=SOON)
    assert_gone(process.pid)
