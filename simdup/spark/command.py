"""A whole run on Spark: a session, files, and the report or the rows that stay."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from simdup.corpus.records import Balance
from simdup.errors import InputError
from simdup.settings import Settings
from simdup.spark.corpus import Scanned, report, scan, write_kept
from simdup.spark.files import read
from simdup.spark.session import is_submitted, reason, start

# The beginning of an address. One letter and a colon may also be a folder's name.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

# Characters that make Spark take a name for a pattern.
PATTERN = set("*?[]{}\\")

# Spark's name of the error that a folder is there already.
TAKEN = "PATH_ALREADY_EXISTS"


def run(  # noqa: PLR0913  (one argument an option)
    files: Sequence[str],
    settings: Settings,
    *,
    text_field: str,
    id_field: str | None,
    input_format: str | None,
    master: str | None,
    conf: Mapping[str, str],
    form: str,
    keep: str | None,
    target: str | None,
    write: Callable[[Iterable[str]], None],
) -> Balance:
    """Write the report or, with `keep`, the rows that stay; return the balance of the rows.

    `target` is the folder to write to; None hands the lines of the report to `write`. Raises
    InputError for whatever Spark cannot do.
    """
    session = start(master or (None if is_submitted() else "local[*]"), conf)
    try:
        folder = None if target is None else _new_folder(session, target)
        located = {_located(session, path): path for path in files}
        if len(located) < len(files):
            raise InputError("a file is named twice")
        opened = read(session, located, input_format, text_field, id_field)
        if keep is not None:
            opened.check_one_form()
        scanned = scan(opened, settings, keep)
        if folder is not None:
            return _written(session, folder, scanned, form, keep)
        write(line["value"] for line in report(scanned, form).toLocalIterator())
    except (PySparkException, Py4JError) as error:
        raise InputError(reason(error)) from None
    return scanned.balance


def _written(
    session: SparkSession, folder: str, scanned: Scanned, form: str, keep: str | None
) -> Balance:
    """Write the report or the rows that stay to a new folder; return the balance of the rows."""
    balance = scanned.balance
    with _removed_on_failure(session, folder):
        if keep is None:
            report(scanned, form).write.text(folder)
        else:
            balance, form = write_kept(scanned, folder), scanned.files.form
        if form in {"jsonl", "csv"}:
            _rename_parts(session, folder, form)
    return balance


def _located(session: SparkSession, path: str) -> str:
    """The path as Spark finds it: on one machine, a relative path starts at the current folder.

    Raises InputError for a name that Spark would not take literally.
    """
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise InputError(f"{path!r}: Spark takes only names in UTF-8")
    if not session.sparkContext.master.startswith("local"):
        return path
    exists = os.path.exists(path)
    if ADDRESS.match(path) and not exists:
        return path
    if ":" in os.path.basename(path):
        raise InputError(f"{path!r}: Spark takes no names with a colon; rename the file")
    if exists and set(path) & PATTERN:
        raise InputError(f"{path!r}: Spark takes this name for a pattern; rename the file")
    return os.path.abspath(path)


def _new_folder(session: SparkSession, target: str) -> str:
    """The path of a folder that can be made.

    Raises InputError if it exists, which Spark would say only after the work is done.
    """
    folder = _located(session, target)
    path, system = _opened(session, folder)
    if system.exists(path):
        raise InputError(f"{target!r} is there already; name a new folder")
    if not system.mkdirs(path.getParent()):
        raise InputError(f"{target!r}: nothing can be written there")
    return folder


@contextmanager
def _removed_on_failure(session: SparkSession, folder: str) -> Iterator[None]:
    """Remove a new folder if writing it fails, unless somebody else has made it meanwhile."""
    path, system = _opened(session, folder)
    try:
        yield
    except BaseException as error:
        with suppress(Py4JError):
            if isinstance(error, KeyboardInterrupt):
                _stop(session)
            if not isinstance(error, PySparkException) or error.getCondition() != TAKEN:
                _remove(path, system)
        raise


def _rename_parts(session: SparkSession, folder: str, form: str) -> None:
    """Give files of lines the ending of their format: Spark ends them all in .txt.

    Raises InputError where one cannot be renamed.
    """
    path, system = _opened(session, folder)
    for status in system.listStatus(path):
        name = status.getPath().getName()
        if name.startswith("part-"):
            renamed, _ = _opened(session, f"{folder}/{name.replace('.txt', f'.{form}', 1)}")
            if not system.rename(status.getPath(), renamed):
                raise InputError(f"{folder!r}: {name} cannot be renamed there")


def _stop(session: SparkSession) -> None:
    """Stop all tasks, which would go on writing."""
    with warnings.catch_warnings():
        # PySpark warns if Java was busy with another call and did not stop cleanly.
        warnings.simplefilter("ignore")
        session.stop()


def _remove(path: Any, system: Any) -> None:  # noqa: ANN401  (Java's)
    """Remove a folder, again and again while a stopping task still writes to it."""
    times_gone = 0
    for _ in range(50):
        times_gone = 0 if system.delete(path, True) else times_gone + 1  # noqa: FBT003  (Java's)
        if times_gone == 5:
            return
        time.sleep(0.1)


def _opened(session: SparkSession, place: str) -> tuple[Any, Any]:
    """Hadoop's path and file system for a path."""
    path = session._jvm.org.apache.hadoop.fs.Path(place)  # noqa: SLF001  (there is no other way)
    return path, path.getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001
