"""The user's home folder, which a container may not have, and the usual places in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from simdup.errors import InputError


class NoHomeError(InputError):
    """Neither HOME nor the list of users says where a home folder is."""


def home() -> str:
    """Return the home folder. Raises NoHomeError."""
    found = os.path.expanduser("~")
    if found == "~":
        raise NoHomeError("this user has no home folder; set HOME, or name the file")
    return found


def usual_place(variable: str, name: str, *, mac: str, xdg: str, unix: str) -> str:
    """Return the path of a file of simdup: the value of `variable`, or the system's usual place.

    `mac` is a folder in ~/Library; elsewhere the variable `xdg` names the place, or `unix` is
    a folder in the home folder. Raises NoHomeError.
    """
    if named := os.environ.get(variable):
        return named
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home(), "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home(), "Library", mac)
    else:
        base = os.environ.get(xdg) or os.path.join(home(), unix)
    return os.path.join(base, "simdup", name)


def if_there_is_one(place: Callable[[], str]) -> str | None:
    """Return the path that `place` gives; None if it needs a home folder and there is none."""
    try:
        return place()
    except NoHomeError:
        return None
