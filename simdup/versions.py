"""Finds which versions of simdup and of the packages it runs on are installed."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from functools import cache

_SUFFIX = ".dist-info"

# Optional package -> the extra that installs it, and what simdup does without it.
_OPTIONAL = {
    "numba": ("fast", "kernels by numpy"),
    "rjieba": ("fast", "Chinese words by jieba"),
    "pyarrow": ("corpus", "no Parquet"),
    "zstandard": ("corpus", "no .zst"),
    "pypdfium2": ("docs", "no PDF"),
    "matplotlib": ("plot", "no --plot"),
    "pyspark": ("spark", "no --engine spark"),
}
_REQUIRED = ("numpy", "jieba", "chardet", "click", "tqdm")


@cache
def version(package: str) -> str:
    """Return the version of a package, as it was when first asked for. Raises ModuleNotFoundError.

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


def environment(*, is_compiled: bool) -> list[str]:
    """Return lines on the interpreter, the kernels in use and the packages."""
    compiled = f"numba {_version('numba')} for large work, numpy for small"
    lines = [
        f"{platform.python_implementation()} {platform.python_version()}",
        f"kernels: {compiled if is_compiled else 'numpy'}",
        *(f"{name} {_version(name)}" for name in _REQUIRED),
    ]
    for name, (extra, instead) in _OPTIONAL.items():
        missing = f"not installed: {instead} (pip install 'simdup[{extra}]')"
        lines.append(f"{name} {_version(name) or missing}")
    return lines


def _version(name: str) -> str | None:
    try:
        return version(name)
    except ModuleNotFoundError:
        return None
