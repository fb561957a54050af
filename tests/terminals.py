"""Pseudo-terminals for programs that tests start."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
from contextlib import suppress

from patience import LONG


def terminal(lines=24, columns=80):
    """A new terminal: its screen to read from and type at, and the end that a program gets."""
    screen, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))
    return screen, end


def drained(screen):
    """All that is written to a terminal, until no program has it any more."""
    shown = b""
    with suppress(OSError):  # how Linux says that nobody writes any more
        while select.select([screen], [], [], LONG)[0] and (part := os.read(screen, 1 << 16)):
            shown += part
    os.close(screen)
    return shown
