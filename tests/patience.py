"""How long tests wait for another process; `SIMDUP_PATIENCE=3` makes all of it three times as long.

What takes longer fails, so that patience costs nothing as long as nothing hangs. Tests of speed
measure processor time, and what is larger beside what is smaller.
"""

from __future__ import annotations

import os
from time import process_time

FACTOR = float(os.environ.get("SIMDUP_PATIENCE", "1"))


def patient(seconds):
    """The same number of seconds, or more on a machine that is said to be slow."""
    return seconds * FACTOR


def grows_evenly(run, largest):
    """Whether `run(n)` takes time in proportion to n: not a third of what it would by n squared.

    Compares `largest` with an eighth of it. Another program may slow down one run of each.
    """

    def seconds(n):
        began = process_time()
        run(n)
        return process_time() - began

    small = min(seconds(largest // 8) for _ in range(2))
    bound = patient(0.05) + 24 * small
    return seconds(largest) < bound or seconds(largest) < bound


LONG = patient(300)
"""For what comes to an end sooner or later, unless it hangs."""
SOON = patient(6)
"""For what is promised within a second; less than the ten seconds that a lock is waited for."""
