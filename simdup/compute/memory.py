"""Memory of this process: whether numpy can be imported, and giving freed memory back."""

from __future__ import annotations

import os
import sys
from importlib import import_module

# Bytes that the rest of simdup, imported after numpy, needs: without them compiled modules and
# products of matrices crash.
_HEADROOM = 64 << 20


def check_that_numpy_loads() -> None:
    """Raise MemoryError if importing numpy, or modules after it, would end this process.

    Under too low a memory limit (`ulimit -v`), numpy's linear algebra exits with 1 or
    dies of a signal. A fork of this process, which has the same memory, tries it first.
    """
    # simdup computes nothing with OpenBLAS, which sends SIGINT to this process if it cannot start a
    # thread. A process without threads is forked safely, too.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
            bytearray(_HEADROOM)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(trial, 0)[1] != 0:
        raise MemoryError


def return_freed_memory() -> None:
    """Give freed memory back to the system, if the C library can (glibc).

    Arrays of less than 32 MB are freed to a heap. Holes in it serve small arrays, but not the
    large ones that come next.
    """
    from ctypes import CDLL  # noqa: PLC0415  not before numpy is imported

    try:
        trim = CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return
    trim(0)
