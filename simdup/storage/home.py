"""The user's home folder, which a container may not have, and the usual places in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from simdup.errors import InputError

# Where each kind of file lies: on Windows, by a variable or in AppData; in Library on macOS; and
# elsewhere, by a variable or in the home folder.
_LOCAL, _SUPPORT = ("LOCALAPPDATA", "Local"), "Application Support"
_PLACES = {
    "cache": (_LOCAL, "Caches", "XDG_CACHE_HOME", ".cache"),
    "data": (_LOCAL, _SUPPORT, "XDG_DATA_HOME", ".local/share"),
    "configuration": (("APPDATA", "Roaming"), _SUPPORT, "XDG_CONFIG_HOME", ".config"),
}


class NoHomeError(InputError):
    """Neither HOME nor the list of users says where a home folder is."""


def home() -> str:
    """Return the home folder. Raises NoHomeError."""
    found = os.path.expanduser("~")
    if found == "~":
        raise NoHomeError("this user has no home folder; set HOME, or name the file")
    return found


def usual_place(kind: str, name: str, variable: str = "") -> str:
    """Return the path of a file of simdup: the value of `variable`, or the system's usual place.

    `kind` is one of the kinds of files in _PLACES. Raises NoHomeError.
    """
    if named := os.environ.get(variable):
        return named
    (by_windows, windows), mac, by_xdg, unix = _PLACES[kind]
    if sys.platform == "win32":
        base = os.environ.get(by_windows) or os.path.join(home(), "AppData", windows)
    elif sys.platform == "darwin":
        base = os.path.join(home(), "Library", mac)
    else:
        base = os.environ.get(by_xdg) or os.path.join(home(), unix)
    return os.path.join(base, "simdup", name)


def if_there_is_one(place: Callable[[], str]) -> str | None:
    """Return the path that `place` gives; None if it needs a home folder and there is none."""
    try:
        return place()
    except NoHomeError:
        return None
