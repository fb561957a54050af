"""The home folder of whoever runs the program, which a container may not have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simdup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


class NoHomeError(InputError):
    """Neither HOME nor the list of users says where a home folder is."""


def home() -> Path:
    """The home folder. Raises NoHomeError."""
    try:
        return Path.home()
    except RuntimeError:
        raise NoHomeError("this user has no home folder; set HOME, or name the file") from None


def if_there_is_one(place: Callable[[], Path]) -> Path | None:
    """Return the place that a function finds; None if it is in a home folder that is not there."""
    try:
        return place()
    except NoHomeError:
        return None
