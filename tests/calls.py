"""Lets something happen right before system calls of a run."""

from __future__ import annotations

import errno
import os
from itertools import count

from simdup.clean import system

CHANGING = (
    *("write", "fsync", "link", "unlink", "mkdir", "rmdir", "rename", "utime"),
    *("ftruncate", "fchmod", "fchown", "setxattr", "create"),
)
LOOKING = ("open", "read", "stat", "fstat", "lstat", "dup")


def watch(patched, names, before):
    """Call `before(number, name)` before each of these system calls; the first one has number 1.

    "create" means the calls of `open` that make a file; "renameat2" is always among the calls.
    """
    calls = count(1)

    def watching(name, call, is_meant=lambda *_: True):
        def wrapped(*given, **named):
            if is_meant(*given):
                before(next(calls), name)
            return call(*given, **named)

        return wrapped

    for name in {*names} - {"create"}:
        patched.setattr(os, name, watching(name, getattr(os, name)))
    if "create" in names and "open" not in names:
        creates = watching("create", os.open, lambda _, flags, *__: flags & os.O_CREAT)
        patched.setattr(os, "open", creates)
    if (renamer := system.renamer()) is not None:
        renamed = watching("renameat2", renamer)
        patched.setattr(system, "renamer", lambda: renamed)


def lacking(patched, what):
    """Let the system have no call to "swap" names, or "all" calls that rename with flags."""
    rename = system.renamer()

    def without_swap(*given):
        if given[-1] != system.SWAP:
            return rename(*given)
        system.ctypes.set_errno(errno.EINVAL)
        return -1

    if what != "nothing":
        found = without_swap if what == "swap" else None
        patched.setattr(system, "renamer", lambda: found)
