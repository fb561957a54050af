"""The home folder of whoever runs the program, which a container may not have."""

from __future__ import annotations

from pathlib import Path

from simdup.errors import InputError


class NoHomeError(InputError):
    """Neither HOME nor the list of users says where a home folder is."""


def home() -> Path:
    """The home folder. Raises NoHomeError."""
    try:
        return Path.home()
    except RuntimeError:
        raise NoHomeError("this user has no home folder; set HOME, or name the file") from None
