"""A whole run on Spark: a session, files, the report or the rows that stay."""

from __future__ import annotations

import os
import re
import time
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from simdup.errors import InputError
from simdup.spark.corpus import report, scan, write_kept
from simdup.spark.files import read
from simdup.spark.session import is_submitted, reason, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from simdup.corpus.records import Balance
    from simdup.settings import Settings

# How a name begins that says on what system it is; of one letter it is a folder's, perhaps.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

# What Spark calls it that there is something already.
TAKEN = "PATH_ALREADY_EXISTS"

# What stands for other names than its own.
PATTERN = set("*?[]{}\\")


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
    """What became of the rows; the report, or with `keep` the rows that stay, are written.

    To the folder `target`, or for None by `write`. Raises InputError for whatever Spark
    cannot do.
    """
    session = start(master or (None if is_submitted() else "local[*]"), conf)
    try:
        place = None if target is None else _located(session, target)
        if place is not None:
            _check_target(session, place, target)
        located = {_located(session, path): path for path in files}
        if len(located) < len(files):
            raise InputError("a file is named twice")
        opened = read(session, located, input_format, text_field, id_field)
        if keep is not None:
            opened.check_one_form()
        scanned = scan(opened, settings)
        if place is None:
            write(line["value"] for line in report(scanned, form).toLocalIterator())
        else:
            with _whole_or_nothing(session, place):
                balance = scanned.balance
                if keep is not None:
                    balance = write_kept(scanned, keep, place)
                else:
                    report(scanned, form).write.text(place)
                _name_parts(session, place, form if keep is None else opened.form)
                return balance
    except (PySparkException, Py4JError) as error:
        raise InputError(reason(error)) from None
    return scanned.balance


def _located(session: SparkSession, path: str) -> str:
    """The path as Spark finds it: on one machine what is relative is so to where we are.

    Raises InputError for a name that Spark would take for another one.
    """
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise InputError(f"{path!r}: Spark takes only names in UTF-8")
    is_one_machine = session.sparkContext.master.startswith("local")
    is_here = is_one_machine and (ADDRESS.match(path) is None or os.path.exists(path))
    if is_here and ":" in os.path.basename(path):
        raise InputError(f"{path!r}: Spark takes no names with a colon; rename the file")
    if is_here and set(path) & PATTERN and os.path.exists(path):
        raise InputError(f"{path!r}: Spark takes this name for a pattern; rename the file")
    return os.path.abspath(path) if is_here else path


def _check_target(session: SparkSession, place: str, target: str | None) -> None:
    """Raise InputError if there is something already: Spark would say so after the work."""
    path, system = _opened(session, place)
    if system.exists(path):
        raise InputError(f"{target!r} is there already; name a new folder")
    if not system.mkdirs(path.getParent()):
        raise InputError(f"{target!r}: nothing can be written there")


@contextmanager
def _whole_or_nothing(session: SparkSession, place: str) -> Iterator[None]:
    """Remove the folder, which was not there, where writing it does not come to its end.

    One that somebody else has made meanwhile stays.
    """
    path, system = _opened(session, place)
    try:
        yield
    except BaseException as error:
        with suppress(Py4JError):
            if isinstance(error, KeyboardInterrupt):
                _stop(session)
            if not isinstance(error, PySparkException) or error.getCondition() != TAKEN:
                _remove(path, system)
        raise


def _name_parts(session: SparkSession, place: str, form: str) -> None:
    """Give files of JSON Lines and CSV their ending: Spark calls all that it writes as lines .txt.

    Raises InputError where one cannot be renamed.
    """
    if form not in {"jsonl", "csv"}:
        return
    path, system = _opened(session, place)
    for status in system.listStatus(path):
        name = status.getPath().getName()
        if name.startswith("part-"):
            renamed, _ = _opened(session, f"{place}/{name.replace('.txt', f'.{form}', 1)}")
            if not system.rename(status.getPath(), renamed):
                raise InputError(f"{place!r}: {name} cannot be renamed there")


def _stop(session: SparkSession) -> None:
    """End all work: tasks would go on and write."""
    with warnings.catch_warnings():
        # That Java was asked something else just then, and did not stop cleanly.
        warnings.simplefilter("ignore")
        session.stop()


def _remove(path: Any, system: Any) -> None:  # noqa: ANN401  (Java's)
    """Remove a folder, again while a task that is being ended still writes to it."""
    away = 0
    for _ in range(50):
        away = 0 if system.delete(path, True) else away + 1  # noqa: FBT003  (Java takes no names)
        if away == 5:
            return
        time.sleep(0.1)


def _opened(session: SparkSession, place: str) -> tuple[Any, Any]:
    """A path and its file system, as Hadoop has them."""
    path = session._jvm.org.apache.hadoop.fs.Path(place)  # noqa: SLF001  (there is no other way)
    return path, path.getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001
