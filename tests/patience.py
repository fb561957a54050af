"""How long tests wait for another process; `SIMDUP_PATIENCE=3` makes all of it three times as long.

What takes longer fails, so that patience costs nothing as long as nothing hangs. Tests of speed
do not need it: they measure processor time.
"""

from __future__ import annotations

import os

FACTOR = float(os.environ.get("SIMDUP_PATIENCE", "1"))


def patient(seconds):
    """The same number of seconds, or more on a machine that is said to be slow."""
    return seconds * FACTOR


LONG = patient(300)
"""For what comes to an end sooner or later, unless it hangs."""
SOON = patient(6)
"""For what is promised within a second; less than the ten seconds that a lock is waited for."""
