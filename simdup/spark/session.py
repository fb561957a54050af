"""A session of Spark's to work in, or one line that says what is missing."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark import java_gateway
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from simdup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What Spark 4 runs on.
JAVA = 17

# What holds unless somebody has set it, so that the rows that stay are what they were: times are
# not written as 96 bits without a zone, values in names of folders stay strings (01 is not 1), and
# `text` and `Text` are two columns.
DEFAULTS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}

NEEDS = f"Spark needs Java {JAVA} or newer"
ADVICE = f"install it (Debian: apt-get install openjdk-{JAVA}-jre-headless) or set JAVA_HOME"


def start(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    """A session on that master, with these settings of Spark's; or the one that there is.

    None takes the master that spark-submit gave. What Java says on stderr goes nowhere.
    Raises InputError without Java and where Spark does not start.
    """
    # It logs every call that fails, with a traceback.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    problem = java_problem()
    if problem and not is_submitted():
        raise InputError(problem)
    builder = SparkSession.builder.appName("simdup")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in ({"spark.ui.showConsoleProgress": "false"} | dict(conf)).items():
        builder = builder.config(name, value)
    with TemporaryFile() as told:
        try:
            with _stderr_to(told.fileno()), _no_java_left():
                session = builder.getOrCreate()
        except (PySparkException, Py4JError) as error:
            told.seek(0)
            why = _problem(told.read().decode("utf-8", "replace"))
            if why is None or isinstance(error, Py4JError):  # Java runs, and says it itself
                why = reason(error)
            raise InputError(f"Spark does not start on {master!r}: {why}") from None
    for name, value in DEFAULTS.items():
        if session.conf.get(name, None) is None:
            session.conf.set(name, value)
    _leave_interrupts()
    return session


def _leave_interrupts() -> None:
    """Ctrl-C is KeyboardInterrupt and nothing else, as before there was a session.

    PySpark's own handler asks Java in the middle of another question, which fails, and py4j
    tells that to the root logger, which prints where it has no handler.
    """
    logging.getLogger().addHandler(logging.NullHandler())
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _no_java_left() -> Iterator[None]:
    """An interrupt ends the Java that is just being started too.

    It looks for whoever started it in a folder that PySpark has removed by then, and stays.
    """
    begun: list[subprocess.Popen[bytes]] = []

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
        begun.append(subprocess.Popen(*arguments, **options))  # noqa: S603  (PySpark's own)
        return begun[-1]

    before, java_gateway.Popen = java_gateway.Popen, noted
    try:
        yield
    except KeyboardInterrupt:
        for each in begun:
            each.kill()
        raise
    finally:
        java_gateway.Popen = before


@contextmanager
def _stderr_to(descriptor: int) -> Iterator[None]:
    """Processes that are started meanwhile write their stderr there."""
    kept = os.dup(2)
    try:
        os.dup2(descriptor, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _problem(told: str) -> str | None:
    """The first line that looks like what went wrong."""
    lines = (line.strip() for line in told.splitlines())
    return next(
        (line for line in lines if re.search(r"error|exception", line, re.IGNORECASE)), None
    )


def is_submitted() -> bool:
    """Whether spark-submit has started this program."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def reason(error: Exception) -> str:
    """What an error of Spark's says, in one line; of one in a worker what that raised."""
    text = str(error)
    own = re.findall(r"^simdup\.errors\.\w+: (.*)$", text, re.MULTILINE)
    lines = (line.removeprefix(": ").strip() for line in text.splitlines())
    # What py4j says first is which of its calls failed.
    said = (line for line in lines if line and not line.startswith("An error occurred while"))
    first = _to_state(text, next(said, type(error).__name__))
    causes = re.findall(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception): .+)$", text, re.MULTILINE)
    if causes and (first.endswith(":") or "NO_HINT" in first):
        first = f"{first} {causes[-1]}"
    return own[-1] if own else first


def _to_state(text: str, first: str) -> str:
    """What Spark says beginning with that line, to its SQLSTATE, in one: names may have more."""
    whole = re.compile(r".*?SQLSTATE: \w{5}", re.DOTALL).match(text, max(0, text.find(first)))
    if whole is None or "\n\tat " in whole[0] or "[" not in first:
        return first
    return " ".join(whole[0].split()) if "SQLSTATE" not in first else first


def java_problem() -> str | None:
    """Why Spark would find no Java that it can run on; None where it does."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None:
        return f"{NEEDS}, and there is none: {ADVICE}"
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        return f"{NEEDS}; {java!r} does not run ({error.strerror}): {ADVICE}"
    found = re.search(r'version "(\d+)', done.stderr)
    if found is None or int(found[1]) < JAVA:
        version = found[1] if found else "of no known version"
        return f"{NEEDS}; {java!r} is {version}: {ADVICE}"
    return None
