"""simdup.spark and `--engine spark` without pyspark or Java."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules['pyspark'] = None; "

# Without any extra, pyarrow is missing as well.
ADVISED = (
    rb"simdup\.spark \((pyspark|pyarrow) is missing\) needs an optional package:"
    rb" pip install 'simdup\[spark\]'"
)


def test_without_pyspark_one_line_says_what_to_install(simdup, write):
    write("sitecustomize.py", WITHOUT)
    write("rows.jsonl", '{"text": "a b c"}\n')
    paths = os.pathsep.join(filter(None, (".", os.environ.get("PYTHONPATH"))))

    ended = simdup(
        "corpus", "scan", "rows.jsonl", "--engine", "spark", environment={"PYTHONPATH": paths}
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert re.fullmatch(rb"simdup: " + ADVISED + rb"\n", ended.stderr)


def test_importing_simdup_spark_without_pyspark_says_what_to_install():
    program = WITHOUT + "import simdup.spark"

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    last = ended.stderr.splitlines()[-1]
    assert re.fullmatch(rb"simdup\.errors\.ExtraMissingError: " + ADVISED, last)


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Where JAVA_HOME says that Java is; a program can be put there."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin" / "java"


OLD = (
    "Error: LinkageError occurred while loading main class org.apache.spark.launcher.Main\\n"
    "java.lang.UnsupportedClassVersionError: has been compiled by a more recent version of the"
    " Java Runtime (class file version 61.0)"
)
NO_JAVA = b"no Java 17 or newer runs (apt-get install openjdk-17-jre-headless, or set JAVA_HOME)"
NO_ROOM = "Error occurred in the VM\\nToo small maximum heap\\n\\tat main"


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("", NO_JAVA),
        (f"printf '{OLD}' >&2", NO_JAVA),
        (f"printf '{NO_ROOM}'", b"Error occurred in the VM Too small maximum heap"),
        (
            "printf 'Invalid size: -Xmxlots\\nError: none\\n' >&2",
            b"Invalid size: -Xmxlots Error: none",
        ),
    ],
    ids=["silent", "old", "without room", "misled"],
)
def test_a_java_that_does_not_run_is_one_line(simdup, write, java, says, why):
    write("rows.jsonl", '{"text": "a b c"}\n')
    java.write_text(f"#!/bin/sh\n{says}\nexit 1\n")
    java.chmod(0o755)

    ended = started(simdup, java)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr == b"simdup: Spark does not start on 'local[*]': " + why + b"\n"


def test_a_missing_java_is_one_line(simdup, write, java):
    write("rows.jsonl", '{"text": "a b c"}\n')

    assert started(simdup, java).stderr.endswith(NO_JAVA + b"\n")


def started(simdup, java):
    """The end of a run whose JAVA_HOME has this program."""
    home = {"JAVA_HOME": str(java.parent.parent)}
    return simdup("corpus", "scan", "rows.jsonl", "--engine", "spark", environment=home)
