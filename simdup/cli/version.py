"""`simdup --version`: the version, and with `--verbose` the packages that simdup runs on."""

from __future__ import annotations

import platform

from simdup.versions import version

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


def version_lines(*, is_verbose: bool) -> list[str]:
    """Return the version; if verbose also the interpreter, the kernels in use and the packages."""
    lines = [f"simdup, version {version('simdup')}"]
    if not is_verbose:
        return lines
    from simdup.compute.compiled import is_installed

    lines.append(f"{platform.python_implementation()} {platform.python_version()}")
    compiled = f"numba {_version('numba')} for large work, numpy for small"
    lines.append(f"kernels: {compiled if is_installed() else 'numpy'}")
    lines += [f"{name} {_version(name)}" for name in _REQUIRED]
    for name, (extra, instead) in _OPTIONAL.items():
        missing = f"not installed: {instead} (pip install 'simdup[{extra}]')"
        lines.append(f"{name} {_version(name) or missing}")
    return lines


def _version(name: str) -> str | None:
    try:
        return version(name)
    except ModuleNotFoundError:
        return None
