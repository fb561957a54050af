"""What stops a run: one base, a kind for each thing a caller may want to catch.

    SimdupError
    |-- InputError         a path or a file that was named cannot be used
    |-- ExtraMissingError  an option needs a package that is not installed
    `-- TooManyPairsError  more pairs than the caller allowed

One bad file among many is no error: it is a `records.Skipped`, and goes into
the report. A wrong argument is a ValueError.
"""

from __future__ import annotations


class SimdupError(Exception):
    """A run cannot go on; the message is one line for the user."""


class InputError(SimdupError):
    """Something the user named is missing, unreadable or of the wrong kind."""


class ExtraMissingError(SimdupError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'simdup[{extra}]'")


class TooManyPairsError(SimdupError):
    """A search found more pairs than `max_pairs`."""
