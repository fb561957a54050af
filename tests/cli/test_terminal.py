"""simdup.cli.output: what progress looks like, and where there is any."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import count, pairwise
from types import SimpleNamespace

import pytest
from patience import SOON
from terminals import drained, terminal

from simdup.cli import bars, output
from simdup.files.scan import scan
from simdup.progress import silent
from simdup.report.text import what_to_do


class Screen(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    shown = Screen()
    # Not that of `sys` itself, which pytest sets anew for each test.
    for module in (output, bars):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=shown, modules=sys.modules))
    monkeypatch.setattr("click.echo", lambda line, *, err: err and shown.write(f"{line}\n"))
    return shown


def lines(shown):
    """What was to be seen, one line after the other."""
    return [line.strip() for line in re.split(r"[\r\n]", shown) if line.strip()]


def left_on(shown):
    """What can be read in the end, where later characters have replaced earlier ones."""
    rows = [""]
    for part in re.split(r"([\r\n])", shown):
        if part == "\n":
            rows.append("")
        elif part != "\r":
            rows[-1] = part + rows[-1][len(part) :]
    return [row.rstrip() for row in rows if row.strip()]


@pytest.mark.parametrize(
    ("phase", "line"),
    [
        (("read", 4000, 0, 0), r"read +0 % +0 of 4,000 files, 00:00 gone, \? left"),
        (
            ("read", 4000, 2000, 4),
            r"read +50 % #+\d? +2,000 of 4,000 files, 500/s, 00:04 gone, 00:04 left",
        ),
        (("compile", 20, 3, 5.0), r"compiling, once: about 15 s, 00:05 so far"),
        (("walk", None, 12_345, 2.5), r"walk +12,345 files, 4,938/s, 00:02 gone"),
        (("search", 5e9, 0, 0), r"search +0 % +0 of 5.00G pairs, 00:00 gone, \? left"),
    ],
)
def test_a_phase_shows_its_name_count_rate_and_time_left(screen, phase, line):  # noqa: ARG001
    assert re.fullmatch(line, bars.drawn(*phase, left_s=0))


def test_what_has_nothing_to_do_shows_nothing(screen):
    assert list(output.progress(quiet=False)([], "verify", 0, len)) == []
    assert screen.getvalue() == ""


def test_a_bar_is_gone_when_its_phase_is_done(screen):
    list(output.progress(quiet=False)("abc", "read", 3))

    *_, last, nothing = screen.getvalue().split("\r")
    assert (last.strip(), nothing) == ("", "")
    assert "\n" not in screen.getvalue()


def test_there_is_none_in_a_pipe_or_if_unwanted(screen, monkeypatch):
    assert output.progress(quiet=True) is silent
    monkeypatch.setattr(screen, "isatty", lambda: False)
    assert output.progress(quiet=False) is silent


def drawing():
    """The number of threads that draw a bar."""
    return sum("_draw_again_and_again" in each.name for each in threading.enumerate())


def until(condition):
    patience = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.005)


def test_a_bar_moves_at_least_once_a_second_during_a_long_batch(screen):
    def batches():
        until(lambda: "00:02 gone" in screen.getvalue())
        yield "a"

    assert list(output.progress(quiet=False)(batches(), "verify", 1)) == ["a"]

    seconds = [int(each) for each in re.findall(r"00:(\d\d) gone", screen.getvalue())]
    assert sorted(set(seconds)) == [0, 1, 2]


def test_a_scan_of_many_files_tells_the_copies_before_it_searches_for_near_ones(
    tmp_path, screen, monkeypatch, english, simplified
):
    (tmp_path / "a").write_text(english, "utf-8")
    (tmp_path / "b").write_text(english, "utf-8")
    (tmp_path / "c").write_text(simplified, "utf-8")
    (tmp_path / "d").write_bytes(simplified.encode("gbk"))
    can_go = what_to_do(scan(tmp_path, progress=output.progress(quiet=False)))[0]
    assert "so far" not in screen.getvalue()

    monkeypatch.setattr(bars, "WORTH_A_LINE", 4)
    scan(tmp_path, progress=output.progress(quiet=False))

    said = can_go.removeprefix("can be removed: ")
    line = f"so far: {said} can be removed; near-duplicates are searched"
    assert left_on(screen.getvalue()) == [line]


def test_the_time_left_is_that_of_the_run_and_does_not_jump_between_phases(monkeypatch):
    clock = count(0)
    monkeypatch.setattr(bars, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    run, phases = bars.Bars(), [("read", each / 8) for each in range(1, 9)]
    phases += [(name, share) for name in ("list", "search", "verify", "verify") for share in (0, 1)]

    left = [run.left_s(*phase) for phase in phases]

    assert left[:2] == pytest.approx([9, 8])
    assert all(later <= 1.2 * sooner for sooner, later in pairwise(left))
    assert left[-1] == 0
    assert run.left_s("texts", 0.5) == 0


def test_nothing_draws_a_bar_that_is_closed(screen, monkeypatch):
    monkeypatch.setattr(bars, "TICK_S", 0.001)
    until(lambda: drawing() == 0)
    drawn = iter(output.progress(quiet=False)("ab", "read", 2))

    next(drawn)
    assert drawing() == 1
    length = len(screen.getvalue())
    until(lambda: len(screen.getvalue()) > length)
    output.tell("over")

    assert left_on(screen.getvalue()) == ["over"]
    with suppress(StopIteration):
        while True:
            next(drawn)
    until(lambda: drawing() == 0)
    assert left_on(screen.getvalue()) == ["over"]


def test_a_bar_needs_no_thread(screen, monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)

    assert list(output.progress(quiet=False)("ab", "read", 2)) == ["a", "b"]
    assert "read" in screen.getvalue()
    assert left_on(screen.getvalue()) == []


def test_a_terminal_that_goes_away_ends_the_thread(screen, monkeypatch):
    is_gone, whole = False, screen.write

    def writing(text):
        if is_gone:
            raise OSError(9, "Bad file descriptor")
        whole(text)

    monkeypatch.setattr(screen, "write", writing)
    monkeypatch.setattr(bars, "TICK_S", 0.001)

    for _ in output.progress(quiet=False)("a", "read", 1):
        is_gone = True
        until(lambda: drawing() == 0)
        is_gone = False


def test_an_interrupt_while_a_bar_is_drawn_leaves_nothing_of_it(screen, monkeypatch):
    whole = screen.write
    for moment in count(1):
        screen.truncate(screen.seek(0))
        left = moment

        def writing(text):
            nonlocal left
            whole(text)
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        monkeypatch.setattr(screen, "write", writing)
        try:
            list(output.progress(quiet=False)("abc", "read", 3))
            break
        except KeyboardInterrupt:
            output.tell("simdup: interrupted")
            assert left_on(screen.getvalue()) == ["simdup: interrupted"]
    assert moment == 3


@pytest.fixture
def on_a_terminal(folder):
    """`on_a_terminal(code, *arguments)`: the program at a pseudo terminal, after some lines.

    Its code and all that was written there.
    """

    def running(code, *arguments):
        screen, end = terminal()
        command = [sys.executable, "-c", f"{code}\nfrom simdup.__main__ import main\nmain()"]
        with subprocess.Popen(
            [*command, *arguments], cwd=folder, stdin=end, stdout=end, stderr=end
        ) as process:
            os.close(end)
            shown = drained(screen).decode()
            return process.wait(timeout=SOON), shown

    return running


STOP = """
import os, signal, time
from simdup.storage.cached import RecipeCache
def stopping(*_):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
RecipeCache.NAME = stopping
"""
# What handles the batches of a phase, while its bar is on the screen.
HANDLERS = {"read": "keep", "verify": "keep_similarities"}


@pytest.mark.slow
@pytest.mark.parametrize("phase", HANDLERS)
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_interrupted_scan_leaves_no_bar(on_a_terminal, write, english, phase, form):
    for number in range(3):
        write(f"in/{number}", english.replace("grey", f"grey {number}"))

    code = STOP.replace("NAME", HANDLERS[phase])

    code, shown = on_a_terminal(code, "scan", "in", "--format", form, "--features", "tokens")

    assert f"\r{phase} " in shown
    *report, last = left_on(shown)
    assert code == 130
    assert last.startswith("simdup: interrupted")  # on a busy machine some files are remembered
    assert report == [] if form == "text" else not json.loads("".join(report))["complete"]


@pytest.mark.slow
def test_a_failed_scan_leaves_no_bar(on_a_terminal, write, english):
    write("in/a", english)
    write("in/b", english.replace("grey", "brown"))
    code = "from simdup.storage.cached import RecipeCache\nRecipeCache.keep_similarities = None"

    code, shown = on_a_terminal(code, "scan", "in", "--features", "tokens")

    assert "\rverify " in shown
    assert (code, len(left_on(shown))) == (70, 1)
    assert shown.splitlines()[-1].lstrip().startswith("simdup: a fault of simdup: ")


@pytest.mark.slow
def test_a_scan_shows_its_phases_one_after_the_other(simdup, write, english):
    for number in range(3):
        write(f"in/{number}", english.replace("grey", f"grey {number}"))
    screen, end = terminal()

    simdup("scan", "in", capture_output=False, stdout=-1, stderr=end)

    os.close(end)
    shown = lines(drained(screen).decode())
    phases = list(dict.fromkeys(line.split()[0] for line in shown))
    assert phases == ["walk", "read", "search", "verify", "1", "needs", "next:"]
    assert shown[-3].startswith("1 group of 3 files; ")
