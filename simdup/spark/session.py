"""Start Spark, and report a failure or a missing package in one line."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any

from py4j.protocol import Py4JError
from pyspark import java_gateway
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from simdup.errors import InputError

# The oldest Java that Spark 4 runs on.
JAVA = 17

# Settings that hold unless the user has set them, so that rows are written as they were: times
# are not written as 96 bits without a zone, values in names of folders stay strings (01 is not 1),
# and `text` and `Text` are two columns.
DEFAULTS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}

# Where Spark runs on this machine, Java mostly moves rows, and to compile its code more than once
# takes more processor time than it saves.
OF_LOCAL = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


def start(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    """A session on `master`, with Spark's settings `conf`; or the session that there is already.

    None takes the master that spark-submit gave. Messages of Java on stderr are not shown.
    Raises InputError if Java is missing or Spark does not start.
    """
    # py4j logs every call that fails, with a traceback.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    problem = java_problem()
    if problem and not is_submitted():
        raise InputError(problem)
    options = {"spark.ui.showConsoleProgress": "false"}
    if master is not None:
        options["spark.master"] = master
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            options |= OF_LOCAL
    builder = SparkSession.builder.appName("simdup").config(map=options | dict(conf))
    session = _started(builder, master)
    for name, value in DEFAULTS.items():
        if session.conf.get(name, None) is None:
            session.conf.set(name, value)
    _restore_interrupts()
    return session


def _started(builder: SparkSession.Builder, master: str | None) -> SparkSession:
    """The session that `builder` describes. Raises InputError if Spark does not start."""
    with TemporaryFile() as stderr:
        try:
            with _starting_java(stderr):
                return builder.getOrCreate()
        except (PySparkException, Py4JError) as error:
            why = reason(error)
            stderr.seek(0)
            found = re.search(rb"(?im)^.*(?:error|exception).*$", stderr.read())
            if found and not isinstance(error, Py4JError):  # else Java runs, and says it itself
                why = found[0].decode("utf-8", "replace").strip()
            raise InputError(f"Spark does not start on {master!r}: {why}") from None


@contextmanager
def _starting_java(stderr: IO[bytes]) -> Iterator[None]:
    """Send the messages of the Java that starts to a file, and kill it on an interrupt.

    Java would go on running: it looks for its parent in a folder that PySpark has removed by then.
    """
    begun: list[subprocess.Popen[bytes]] = []

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
        begun.append(subprocess.Popen(*arguments, **(options | {"stderr": stderr})))  # noqa: S603
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


def _restore_interrupts() -> None:
    """Make Ctrl-C raise KeyboardInterrupt and do nothing else, as before the session started.

    PySpark's own handler calls Java in the middle of another call. That fails, and py4j reports the
    failure to the root logger, which prints it if it has no handler.
    """
    logging.getLogger().addHandler(logging.NullHandler())
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_submitted() -> bool:
    """Whether spark-submit has started this program."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def reason(error: Exception) -> str:
    """The message of an error of Spark in one line; for simdup's error in a worker, its message."""
    text = str(error)
    if own := re.findall(r"^simdup\.errors\.\w+: (.*)$", text, re.MULTILINE):
        return str(own[-1])
    lines = (line.removeprefix(": ").strip() for line in text.splitlines())
    # The first line of a py4j error only says which call failed.
    said = (line for line in lines if line and not line.startswith("An error occurred while"))
    first = next(said, type(error).__name__)
    # A message with a condition ends with its SQLSTATE; names of columns may make it several lines.
    if message := re.search(r"\[[A-Z0-9_.]+\](?:(?!\n\tat ).)* SQLSTATE: \w{5}", text, re.DOTALL):
        first = " ".join(message[0].split())
    causes = re.findall(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception): .+)$", text, re.MULTILINE)
    if causes and (first.endswith(":") or "NO_HINT" in first):
        return f"{first} {causes[-1]}"
    return first


def java_problem() -> str | None:
    """Why Spark finds no Java that it can run on; None if it finds one."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        what = f"{java!r} does not run ({error.strerror})"
    else:
        found = re.search(r'version "(\d+)', done.stderr)
        if found and int(found[1]) >= JAVA:
            return None
        what = f"{java!r} is {found[1] if found else 'of no known version'}"
    how = f"install it (Debian: apt-get install openjdk-{JAVA}-jre-headless) or set JAVA_HOME"
    return f"Spark needs Java {JAVA} or newer; {what}: {how}"
