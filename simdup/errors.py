"""Errors that stop a run: one base class, and a kind for each thing a caller may want to catch.

    SimdupError
    |-- InputError         a path or a file that was named cannot be used
    |   `-- home.NoHomeError
    |-- BadValueError      an impossible value of an option or argument; also a ValueError
    |-- ExtraMissingError  an option needs a missing package
    `-- TooManyPairsError  more pairs than the caller allowed
    KeyboardInterrupt
    `-- InterruptedScan    Ctrl-C during a scan, with the result so far

One bad file among many is not an error: it is a `records.Skipped`, and goes into
the report. An argument of a wrong type is a TypeError.
"""

from __future__ import annotations

from errno import EMFILE, ENFILE, ENOMEM
from typing import Any

# Errors about a file that are not the file's fault: descriptors or memory ran out.
SHORTAGES = frozenset({EMFILE, ENFILE, ENOMEM})


class SimdupError(Exception):
    """A run cannot go on; the message is one line for the user."""


class InputError(SimdupError):
    """Something the user named is missing, unreadable or of the wrong kind."""


class BadValueError(SimdupError, ValueError):
    """An option or argument has an impossible value, such as fingerprints of 12 bits."""


class ExtraMissingError(SimdupError, ImportError):
    """An optional package is needed and not installed: for what, and the extra that has it."""

    def __str__(self) -> str:
        """What to install; the arguments stay as they are, so that a worker can send the error."""
        return "{} needs an optional package: pip install 'simdup[{}]'".format(*self.args)


class InterruptedScan(KeyboardInterrupt):
    """Ctrl-C during a scan; `result` is the `ScanResult` so far."""

    def __init__(self, result: Any) -> None:  # noqa: ANN401  (records are on a floor above)
        super().__init__("interrupted")
        self.result = result


class TooManyPairsError(SimdupError):
    """A search found more pairs than `max_pairs`."""


def import_root(error: BaseException) -> BaseException:
    """Return the failed import that caused the others; numpy wraps its own in long advice."""
    cause = error.__cause__
    return import_root(cause) if isinstance(cause, ImportError) else error
