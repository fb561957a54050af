"""Readers that a `Guard` must survive, by the format that asks for them."""

from __future__ import annotations

import ctypes
import re

from simdup.extract import guarded
from simdup.extract.formats import Format
from simdup.extract.plain import NotReadable


def shout(data):
    return data.decode().upper()


def hang(_data):
    while True:
        pass


def hang_in_c(_data):
    re.match("(a|a)*b", "a" * 60)


def crash(_data):
    ctypes.string_at(0)


def take_memory(_data):
    return "a" * (8 << 30)


def stumble(_data):
    raise KeyError(1)


def refuse(_data):
    raise NotReadable("encrypted")


READERS = dict(
    zip(Format, (shout, hang, hang_in_c, crash, take_memory, stumble, refuse), strict=False)
)


def serve():
    guarded.serve(READERS)
