"""Readers that a `Guard` must survive, by the format that asks for them."""

from __future__ import annotations

import ctypes
import os
import re
import time
from errno import ENOSPC
from pathlib import Path

from simdup.extract.cleanup import NotReadable
from simdup.settings import FORMATS


def shout(data):
    return data.decode().upper()


def hang(data):
    say_that_it_began(data)
    while True:
        pass


def hang_in_c(data):
    say_that_it_began(data)
    re.match("(a|a)*b", "a" * 60)


def say_that_it_began(data):
    """Make the file that the data names, if they name one."""
    if data.startswith(b"/"):
        Path(data.decode()).touch()


def doze(_data):
    time.sleep(99)


def nap(data):
    time.sleep(2)
    return data.decode()


def compute(data):
    """Half a second of processor time."""
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    return data.decode()


def crash(_data):
    ctypes.string_at(0)


def take_memory(_data):
    return "a" * (8 << 30)


def stumble(_data):
    raise KeyError(1)


def refuse(_data):
    raise NotReadable("encrypted")


def lack_room(_data):
    raise OSError(ENOSPC, os.strerror(ENOSPC))


READERS = dict(
    zip(
        FORMATS,
        (
            *(shout, hang, hang_in_c, crash, take_memory, stumble, refuse, doze, nap, compute),
            lack_room,
        ),
        strict=False,
    )
)
