"""How long a first scan takes with kernels that are not compiled yet, and without numba.

    python tests/bench/compiling.py --files 1200

Each scan is a new process with an empty NUMBA_CACHE_DIR, in turn with numba and without it. With
the kernels compiled, a third scan shows what they save.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

SCAN = """
import sys
import simdup
import simdup.compute.compiled as compiled
if sys.argv[2] == "without":
    compiled.is_installed = lambda: False
if sys.argv[2] == "compiled":
    compiled.load_kernels()
simdup.scan(sys.argv[1], jobs=None)
"""


def written(folder: str, files: int) -> None:
    """Write files of 300 to 5,000 invented words each."""
    chance = random.Random(9)
    words = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(20_000)]
    for number in range(files):
        text = " ".join(chance.choices(words, k=chance.randint(300, 5000)))
        Path(folder, f"{number}.txt").write_text(text, "utf-8")


def timed(folder: str, how: str, cache: str) -> tuple[float, float]:
    """Elapsed and processor time of a scan, in seconds."""
    before, begun = getrusage(RUSAGE_CHILDREN), time.monotonic()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", SCAN, folder, how], env=environment, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begun, busy


def main() -> None:
    """Print a line for each scan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
        written(folder, asked.files)
        for _ in range(asked.rounds):
            for how in ("empty cache", "without", "compiled"):
                with tempfile.TemporaryDirectory() as empty:
                    cache = kept if how == "compiled" else empty
                    elapsed, busy = timed(folder, how, cache)
                print(f"{how:12} {elapsed:6.2f} s, {busy:6.2f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
