"""Finds which version of a package is installed."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_SUFFIX = ".dist-info"


def version(package: str) -> str:
    """Return the version of a package. Raises ModuleNotFoundError.

    It is read from the names of the folders that pip makes. `importlib.metadata` knows other
    installers too, but importing that takes as long as starting `simdup --help`.
    """
    for folder in sys.path:
        with suppress(OSError):
            for name in os.listdir(folder or "."):
                known, _, rest = name.partition("-")
                if rest.endswith(_SUFFIX) and known.lower() == package:
                    return rest.removesuffix(_SUFFIX)
    from importlib import metadata  # noqa: PLC0415  slow to import

    return metadata.version(package)
