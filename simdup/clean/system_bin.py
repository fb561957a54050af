"""The bin of macOS and Windows, by the package Send2Trash.

simdup does not learn where the bin puts a file, so `simdup undo` cannot take it out: the user must.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from simdup.clean.refusals import Refusal, RefusedError
from simdup.errors import ExtraMissingError

if TYPE_CHECKING:
    from simdup.clean.checks import Held

#: Whether this system has a bin of its own in place of the trash of freedesktop.org.
IS_USED = sys.platform in {"win32", "darwin"}

# The type of drive that has a bin; on others, such as network shares, Windows deletes at once.
_FIXED = 3


def check_installed() -> None:
    """Raise ExtraMissingError where the bin is used and Send2Trash is not installed."""
    if IS_USED:
        try:
            import send2trash  # noqa: F401, PLC0415
        except ImportError:
            raise ExtraMissingError("the bin of this system", "trash") from None


def throw_away(file: Held, kept: Held) -> None:
    """Put a file into the bin. Raises RefusedError and OSError."""
    from send2trash import send2trash  # noqa: PLC0415

    path = file.file.path
    if sys.platform == "win32" and not _has_bin(path):
        raise RefusedError(Refusal.NO_TRASH, "its drive has none")
    file.check_unchanged()
    kept.check_unchanged()
    if sys.platform == "win32":  # Windows moves no file that is open
        os.close(file.descriptor)
        file.descriptor = os.open(os.devnull, os.O_RDONLY)
    send2trash(path)
    if os.path.lexists(path):
        raise RefusedError(Refusal.FAILED, "it is still there")


def _has_bin(path: str) -> bool:
    """Whether Windows puts files of this drive into a bin, and does not delete them."""
    import ctypes  # noqa: PLC0415

    drive = os.path.splitdrive(os.path.abspath(path))[0] + "\\"
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  (only there on Windows)
    return bool(kernel.GetDriveTypeW(drive) == _FIXED)
