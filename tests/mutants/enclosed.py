"""A process that takes with it, when it ends, whatever it has started or mounted."""

from __future__ import annotations

import ctypes
import os
import sys

_NEW_MOUNTS, _NEW_PROCESSES = 0x00020000, 0x20000000  # CLONE_NEWNS, CLONE_NEWPID
_PRIVATE = 0x4000 | (1 << 18)  # MS_REC | MS_PRIVATE


def enclose() -> bool:
    """Go on in namespaces of its own for processes and mounts; whether the system allows that.

    That takes Linux and its administrator. The function returns in another process than the one
    that called it, which waits and then ends with the same code.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    if libc.unshare(_NEW_MOUNTS | _NEW_PROCESSES):
        return False
    libc.mount(None, b"/", None, _PRIVATE, None)
    _go_on_in_a_child()
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    # Limits and most signals do not end the first process of a namespace, but they end a second.
    _go_on_in_a_child()
    return True


def _go_on_in_a_child() -> None:
    """Return in a new process only; the old one waits for it and ends with its code."""
    if pid := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else 128 - code)
