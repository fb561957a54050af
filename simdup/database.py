"""What simdup's own SQLite files have in common: what their header says, and patience.

The header of each kind names an application, so that nobody's other database is taken for
one, and a format, which is raised whenever its tables or records change.
"""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simdup.opening import open_to_read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Seconds to wait while another process writes, and at once: Ctrl-C is not heard meanwhile.
PATIENCE, WAIT = 10, 0.1


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of file: what it is called, its application's number, and this simdup's format."""

    name: str
    application: int
    format: int

    def problem(self, path: Path) -> str | None:
        """What is wrong with a file that is there but is none of these, or of a newer simdup."""
        if path.exists() and not path.is_file():
            return "not a file"
        if self._is_told_by_sqlite(path):
            return None
        header = _header(path)
        if not header:
            return None
        if not self._is_ours(header):
            return f"not {self.name} of simdup"
        return "made by a newer simdup" if self._format_of(header) > self.format else None

    def is_newer(self, path: Path) -> bool:
        """Whether a file was made by a newer simdup."""
        header = _header(path)
        return self._is_ours(header) and self._format_of(header) > self.format

    def sign(self, connection: sqlite3.Connection) -> None:
        """Make an empty file one of these. Raises sqlite3.Error."""
        connection.execute(f"PRAGMA application_id = {self.application}")
        connection.execute(f"PRAGMA user_version = {self.format}")

    def _is_told_by_sqlite(self, path: Path) -> bool:
        """Whether SQLite finds a file to be one of these.

        To close a file that this process has open takes all its locks away, also those of
        SQLite, which other processes would then not respect; so it is asked first.
        """
        try:
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)
        except sqlite3.Error:
            return False
        try:
            ((application,),) = connection.execute("PRAGMA application_id")
            ((number,),) = connection.execute("PRAGMA user_version")
        except sqlite3.Error:
            return False
        finally:
            connection.close()
        return bool(application == self.application and number <= self.format)

    def _is_ours(self, header: bytes) -> bool:
        is_sqlite = header.startswith(b"SQLite format 3\0")
        return is_sqlite and int.from_bytes(header[68:72], "big") == self.application

    @staticmethod
    def _format_of(header: bytes) -> int:
        return int.from_bytes(header[60:64], "big")


def patiently(run: Callable[..., sqlite3.Cursor], *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
    """What a statement gives, once no other process is writing. Raises sqlite3.Error."""
    patience = time.monotonic() + PATIENCE
    while True:
        try:
            return run(*arguments)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > patience:
                raise


def files_of(path: Path) -> list[Path]:
    """All files of a database: its own, the log, and the log's index."""
    return [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]


def _header(path: Path) -> bytes:
    """The first bytes of a file; none if there is no file, or none that can be read."""
    try:
        descriptor = open_to_read(path)  # reading from a FIFO gives nothing, or an error
    except OSError:
        return b""
    try:
        return os.read(descriptor, 100)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
