"""Whether the compiled kernels are there, and whether they pay.

numba (extra `fast`) takes some tenths of a second to import and, once on a machine, some
seconds to compile; its results then lie in a cache. A small job is done sooner by numpy.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simdup.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from simdup.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")

# Characters to be read that are worth the import: numpy needs a second for them.
CHARACTERS_WORTH = 20_000_000

# Words of 64 bits to be compared that are worth it.
WORDS_WORTH = 1_000_000_000


def ready() -> Any:  # noqa: ANN401  (a module of untyped functions)
    """`simdup.kernels` if something has loaded it before, else None: then numpy works."""
    return sys.modules.get("simdup.kernels")


def load(progress: Progress = silent) -> ModuleType | None:
    """`simdup.kernels`, compiled; None if numba is not installed."""
    if ready() is not None or not is_installed():
        return ready()
    try:
        kernels = import_module("simdup.kernels")
    except (ImportError, SystemError):  # of a numba that does not fit this numpy, say
        return None
    for _ in progress(kernels.warmed(), "compile", len(kernels.EVERY)):
        pass
    return kernels


def is_installed() -> bool:
    """Whether there are compiled kernels at all."""
    return find_spec("numba") is not None


def load_if_worth(*, characters: int = 0, words: int = 0, progress: Progress = silent) -> None:
    """Load the kernels for work of this size, in characters to read or words to compare."""
    if is_worth(characters=characters, words=words):
        load(progress)


def is_worth(*, characters: int = 0, words: int = 0) -> bool:
    """Whether there are kernels and work of this size is worth loading them."""
    return (characters > CHARACTERS_WORTH or words > WORDS_WORTH) and is_installed()


def parts(n: int) -> list[slice]:
    """N things in as many parts as there are threads."""
    bounds = np.linspace(0, n, threads() + 1).astype(np.int64).tolist()
    return [slice(*bound) for bound in pairwise(bounds)]


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results of compiled work on each item, in all threads at once, in order."""
    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(work, items))


def threads() -> int:
    """Threads for compiled work: one a core, or as few as OMP_NUM_THREADS says.

    As Spark does, which runs a worker a core and tells each one to use one thread.
    """
    most = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores(), int(most)) if most.isdigit() and int(most) else cores()


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
