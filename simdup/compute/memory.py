"""Whether there is memory enough to begin: asked before numpy is imported, and without it."""

from __future__ import annotations

import os
import sys
from importlib import import_module


def check_that_numpy_loads() -> None:
    """Raise MemoryError where its linear algebra would end this process, with 1 or by a signal.

    It does so where a limit (`ulimit -v`) leaves it too little memory. A fork of this process,
    which has the very same memory, tries before.
    """
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return
    is_limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    if not is_limited or "numpy" in sys.modules:
        return
    trial = os.fork()
    if trial == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            import_module("numpy")
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(trial, 0)[1] != 0:
        raise MemoryError
