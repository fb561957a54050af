"""A connection to a database that fails from some statement on."""

from __future__ import annotations

import sqlite3


class Failing:
    """A connection that runs `left` statements and then raises an error at every one."""

    def __init__(self, connection, left, error=None):
        self.connection, self.left = connection, left
        self.error = error or sqlite3.OperationalError("disk I/O error")

    def __getattr__(self, name):
        return getattr(self.connection, name)

    def _failing(self):
        self.left -= 1
        if self.left < 0:
            raise self.error

    def execute(self, *arguments):
        self._failing()
        return self.connection.execute(*arguments)

    def executemany(self, sql, rows):
        self._failing()
        return self.connection.executemany(sql, rows)
