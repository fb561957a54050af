"""The compiled kernels: loaded when that pays, and run in threads.

numba (extra `fast`) takes a third of a second to import and, the first time on a machine, some
seconds to compile; its results then lie in a cache. One small job is done sooner by numpy, but
many small jobs are not, and nobody knows how many will come. So the kernels are loaded as soon as
the work known so far would have paid for loading them, or for compiling them if the cache does not
have them.
"""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from hashlib import sha1
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from simdup.progress import Progress, silent
from simdup.versions import version

Item = TypeVar("Item")
Result = TypeVar("Result")

# Loading the kernels takes as long as they save where so many characters are fingerprinted.
CHARACTERS_WORTH = 6_000_000

# Loading the kernels takes as long as they save where so many words of 64 bits are compared.
WORDS_WORTH = 400_000_000

# Compiling them pays from so many times as much work on. It takes 28 s of processor time, once on
# a machine, and the work from which loading pays saves 0.3 s. See tests/bench/compiling.py.
COMPILING = 96

# The indices of compiled kernels for this Python; each begins with the version of numba.
_INDICES, _HEAD = f"kernels.*.py{sys.version_info.major}{sys.version_info.minor}*.nbi", 64

# Reading and fingerprinting fewer bytes than this takes less time than starting a worker.
BYTES_WORTH_WORKERS = 1 << 24


@dataclass(slots=True)
class _Account:
    """Decides when this process loads the kernels, which changes no result, only its time.

    done: Work done so far that kernels could have done; 1 is worth loading them.
    is_broken: Whether loading has failed, so that nothing tries again.
    """

    done: float = 0
    is_broken: bool = False


# Global since it is part of a cache: loaded kernels lie in `sys.modules`.
_ACCOUNT = _Account()


def loaded_kernels() -> Any:  # noqa: ANN401  (a module of untyped functions)
    """`simdup.compute.kernels` if it was loaded before; else None, and numpy does the work."""
    return sys.modules.get("simdup.compute.kernels")


def load_kernels(progress: Progress = silent) -> ModuleType | None:
    """`simdup.compute.kernels`, compiled; None if numba is not installed, or broken."""
    if loaded_kernels() is not None or _ACCOUNT.is_broken or not is_installed():
        return loaded_kernels()
    if not _number(os.environ.get("NUMBA_NUM_THREADS", "1")):
        del os.environ["NUMBA_NUM_THREADS"]  # numba would fail, or complain at length
    try:
        label = "load" if are_compiled() else "compile"
        kernels = import_module("simdup.compute.kernels")
        for _ in progress(kernels.warmed(), label, len(kernels.EVERY)):
            pass
    except Exception:  # noqa: BLE001  (a numba that does not fit this numpy or LLVM fails anyhow)
        sys.modules.pop("simdup.compute.kernels", None)
        _ACCOUNT.is_broken = True
    return loaded_kernels()


def is_installed() -> bool:
    """Whether numba, which compiles the kernels, is installed."""
    return find_spec("numba") is not None


def load_kernels_if_worth(
    *, characters: int = 0, words: int = 0, progress: Progress = silent
) -> None:
    """Load the kernels if the work to be done next makes them worth it, and count that work.

    The size of the work is given in characters to read or words to compare.
    """
    if kernels_pay(characters=characters, words=words):
        load_kernels(progress)
    _ACCOUNT.done += _share(characters, words)


def kernels_pay(*, characters: int = 0, words: int = 0) -> bool:
    """Whether kernels can be loaded, and this work and all before it are worth loading them."""
    done = _ACCOUNT.done + _share(characters, words)
    if done <= 1 or _ACCOUNT.is_broken or not is_installed():
        return False
    return done > COMPILING or are_compiled()


def are_compiled() -> bool:
    """Whether numba's cache has all kernels of this source, for this numba and this Python."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.py")
    try:
        with open(source, encoding="utf-8") as file:
            wanted = file.read().count("\n@_compiled(")
        changed_ns = os.stat(source).st_mtime_ns
        numba = version("numba").encode()
        indices = (path for folder in caches() for path in glob(os.path.join(folder, _INDICES)))
        return wanted <= sum(_is_index_of(path, numba, changed_ns) for path in indices)
    except OSError:
        return False


def caches() -> list[str]:
    """The folders in which numba may keep the kernels: the user's own, or else its usual ones."""
    here = os.path.dirname(os.path.abspath(__file__))
    own = f"{os.path.basename(here)}_{sha1(here.encode(), usedforsecurity=False).hexdigest()}"
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [os.path.join(named, own)]
    homes = os.environ.get("XDG_CACHE_HOME") or "~/.cache", "~/Library/Caches"
    users = [os.path.join(os.path.expanduser(home), "numba", own) for home in homes]
    local = os.path.join(os.environ.get("LOCALAPPDATA", ""), "numba", "Cache", own)
    return [os.path.join(here, "__pycache__"), *users, local]


def _is_index_of(path: str, numba: bytes, changed_ns: int) -> bool:
    """Whether this numba wrote the index of a kernel, and after the source changed."""
    with open(path, "rb") as file:
        return numba in file.read(_HEAD) and os.stat(path).st_mtime_ns >= changed_ns


def _share(characters: int, words: int) -> float:
    """The size of this work; loading the kernels pays from a size of 1 on."""
    return characters / CHARACTERS_WORTH + words / WORDS_WORTH


def parts(n: int) -> list[slice]:
    """Slices that divide n things into as many parts as there are threads."""
    bounds = np.linspace(0, n, threads() + 1).astype(np.int64).tolist()
    return [slice(*bound) for bound in pairwise(bounds)]


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results of compiled work on each item, in order; threads share the items."""
    items = list(items)
    if len(items) < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  slow to import

    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(work, items))


def each_in_threads(
    work: Callable[[Item], Result], several: Iterator[Item], most: int = sys.maxsize
) -> Iterator[Result]:
    """Yield the result of `work` on each item; while threads work, the next item is made.

    At most so many threads work.
    """
    count = min(threads(), most)
    if count == 1:
        yield from map(work, several)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # noqa: PLC0415  slow to import

    waiting = deque[Future[Result]]()
    with ThreadPoolExecutor(count) as pool:
        for item in several:
            waiting.append(pool.submit(work, item))
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def threads() -> int:
    """Number of threads for compiled work: one a core, or fewer if OMP_NUM_THREADS says so.

    Spark sets that variable: it runs one worker a core, and each is to use one thread.
    """
    return min(cores(), _number(os.environ.get("OMP_NUM_THREADS", "")) or cores())


def _number(text: str) -> int:
    """The number in the value of an environment variable; 0 if there is none."""
    return int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else 0


def jobs_worth(size_bytes: int) -> int:
    """The number of processes worth starting to read and fingerprint files of this size."""
    return cores() if size_bytes > BYTES_WORTH_WORKERS else 1


def cores() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
