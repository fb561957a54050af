"""simdup.cli.terminal: what progress looks like, and where there is any."""

from __future__ import annotations

import fcntl
import io
import os
import re
import struct
import termios
from types import SimpleNamespace

import pytest

from simdup.cli import bars, terminal
from simdup.progress import silent


class Screen(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    shown = Screen()
    # Not that of `sys` itself, which pytest sets anew for each test.
    for module in (terminal, bars):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=shown))
    return shown


def lines(shown):
    """What was to be seen, one line after the other."""
    return [line.strip() for line in re.split(r"[\r\n]", shown) if line.strip()]


@pytest.fixture
def impatient(monkeypatch):
    """Bars that are drawn anew whenever something is counted, seconds later each time."""
    seconds = iter(range(100_000))
    monkeypatch.setattr("tqdm.std.time", lambda: next(seconds))


@pytest.mark.usefixtures("impatient")
def test_a_phase_shows_its_name_count_rate_and_time_left(screen):
    bar = terminal.progress(quiet=False)
    parts = [["a", "b"], ["c"] * 1998, ["d"] * 2000]

    assert list(bar(parts, "read", 4000, len)) == parts

    first, _, half, last = lines(screen.getvalue())
    assert re.fullmatch(r"read +0 % +0 of 4,000 files, \? left", first)
    assert re.fullmatch(r"read +50 % #+ +2,000 of 4,000 files, \d+ files/s, 00:\d\d left", half)
    assert re.fullmatch(r"read +100 % #+ +4,000 of 4,000 files, \d+ files/s, 00:00 left", last)


@pytest.mark.usefixtures("impatient")
def test_a_phase_whose_end_is_not_known_counts(screen):
    list(terminal.progress(quiet=False)(range(12_345), "walk", None))

    assert re.fullmatch(r"walk +12,345 files, [\d,.]+ files/s", lines(screen.getvalue())[-1])


def test_billions_of_pairs_are_short(screen):
    list(terminal.progress(quiet=False)([5_000_000_000], "search", 5e9, float))

    assert "0 of 5.00G pairs" in screen.getvalue()


def test_what_has_nothing_to_do_shows_nothing(screen):
    assert list(terminal.progress(quiet=False)([], "verify", 0, len)) == []
    assert screen.getvalue() == ""


def test_a_bar_is_gone_when_its_phase_is_done(screen):
    list(terminal.progress(quiet=False)("abc", "read", 3))

    *_, last, nothing = screen.getvalue().split("\r")
    assert (last.strip(), nothing) == ("", "")
    assert "\n" not in screen.getvalue()


def test_there_is_none_in_a_pipe_or_if_unwanted(screen, monkeypatch):
    assert terminal.progress(quiet=True) is silent
    monkeypatch.setattr(screen, "isatty", lambda: False)
    assert terminal.progress(quiet=False) is silent


def test_a_scan_shows_its_phases_one_after_the_other(simdup, write, english):
    for number in range(3):
        write(f"in/{number}", english.replace("grey", f"grey {number}"))
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))

    simdup("scan", "in", capture_output=False, stdout=-1, stderr=slave)

    os.close(slave)
    shown = lines(os.read(master, 1 << 16).decode())
    os.close(master)
    phases = list(dict.fromkeys(line.split()[0] for line in shown))
    assert phases == ["walk", "read", "search", "verify", "1"]
    assert shown[-1].startswith("1 group of 3 files; ")
