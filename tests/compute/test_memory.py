"""simdup.compute.memory.

With too little memory, or too few descriptors, the program ends with one line.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from textwrap import dedent

import pytest

resource = pytest.importorskip("resource")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such limits"),
]

# In MB of address space: from what numpy cannot be loaded with, past what a thread or a worker
# more needs, to what is enough.
MEMORY = [60, 100, 130, 150, 160, 170, 180, 220, 400, 800]


@pytest.fixture
def limited(simdup, write, english):
    """`limited("RLIMIT_AS", number)`: how a scan with two workers ends under that limit."""
    for number in range(6):
        write(f"in/{number}", f"{number // 2} {english}")

    def running(kind, most):
        number = getattr(resource, kind)
        asked = ("scan", "in", "-q", "--no-cache", "--jobs", "2", "--format", "names")
        return simdup(*asked, preexec_fn=lambda: resource.setrlimit(number, (most, most)))

    return running


@pytest.mark.parametrize("megabytes", MEMORY)
def test_too_little_memory_is_one_line_and_no_hang(limited, megabytes):
    ended = limited("RLIMIT_AS", megabytes << 20)

    assert (ended.returncode, ended.stderr.count(b"\n")) in {(0, 0), (2, 1)}
    assert (ended.returncode == 0) == (ended.stdout.count(b"in/") == 6)


@pytest.mark.parametrize("descriptors", [8, 12, 16, 64])
def test_too_few_descriptors_are_one_line_and_no_hang(limited, descriptors):
    ended = limited("RLIMIT_NOFILE", descriptors)

    assert (ended.returncode, ended.stderr.count(b"\n")) in {(0, 0), (2, 1)}


def test_numpy_starts_no_thread_since_openblas_ends_the_program_if_it_cannot():
    code = """
        import os
        from simdup.compute.memory import check_that_numpy_loads
        check_that_numpy_loads()
        import numpy
        print(len(os.listdir("/proc/self/task")))
    """
    bare = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}

    done = subprocess.run(
        [sys.executable, "-c", dedent(code)], capture_output=True, check=True, env=bare
    )

    assert done.stdout == b"1\n"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked to")
def test_memory_between_what_is_kept_goes_back_to_the_system():
    """Freed arrays of 64 KB, each before one that is kept."""
    code = """
        import numpy as np
        from simdup.compute.memory import return_freed_memory
        def resident():
            return int(open("/proc/self/statm").read().split()[1]) << 12
        arrays = [np.ones(1 << 13) for _ in range(3200)]
        del arrays[::2]
        before = resident()
        return_freed_memory()
        print(before - resident() > 80 << 20)
    """

    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, check=True)

    assert done.stdout == b"True\n"
