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
def session():
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    from simdup.spark import session  # noqa: PLC0415

    return session


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A JAVA_HOME without a Java in it."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bin").mkdir()
    return tmp_path


ADVICE = ": install it (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"


def test_a_missing_java_is_reported_with_what_to_install(session, home, monkeypatch):
    java = str(home / "bin" / "java")
    needs = "Spark needs Java 17 or newer"

    assert session.java_problem() == (
        f"{needs}; {java!r} does not run (No such file or directory){ADVICE}"
    )
    monkeypatch.delenv("JAVA_HOME")
    assert session.java_problem() == (
        f"{needs}; 'java' does not run (No such file or directory){ADVICE}"
    )


@pytest.mark.parametrize(
    ("version", "problem"), [("17.0.15", None), ("21", None), ("1.8.0_292", "1"), ("11.0.2", "11")]
)
def test_an_old_java_is_reported_with_its_version(session, home, version, problem):
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025' >&2\n")
    java.chmod(0o755)

    expected = problem and f"Spark needs Java 17 or newer; {str(java)!r} is {problem}{ADVICE}"
    assert session.java_problem() == expected


@pytest.mark.usefixtures("session", "home")
def test_without_java_the_command_prints_one_line(run, write):
    write("rows.jsonl", '{"text": "a b c"}\n')

    ended = run("corpus", "scan", "rows.jsonl", "--engine", "spark")
    assert ended.code == 2
    assert ended.err.startswith(b"simdup: Spark needs Java 17 or newer; ")
    assert ended.err.count(b"\n") == 1
