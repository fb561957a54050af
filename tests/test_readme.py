"""README.md says what the program does: its sessions are run, its options are all there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import simdup
from simdup.cli import commands, load_command

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
ASSIGNMENT = simdup.Recipe(features="keywords", top=10, weights="int10", hash="string", bits=128)
SESSIONS = [
    re.findall(r"^\$ simdup (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    for block in re.findall(r"^```console\n((?:.*\n)*?)```$", README, re.MULTILINE)
]
# Where sessions are shown to have been.
HOME = "/home/li"


def run(arguments, folder=ROOT):
    """What a terminal shows, with the seconds left out."""
    done = subprocess.run(
        [sys.executable, "-m", "simdup", *shlex.split(arguments)],
        cwd=folder,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return without_seconds(done.stdout).replace(str(folder), HOME)


def without_seconds(text):
    return re.sub(r"in \d+\.\d s", "in 0.0 s", text)


def test_there_are_sessions():
    assert len(SESSIONS) >= 3


@pytest.mark.parametrize("session", SESSIONS, ids=[session[0][0] for session in SESSIONS])
def test_a_session_shows_what_the_program_prints(session, tmp_path):
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")

    for arguments, shown in session:
        printed = run(arguments, tmp_path)

        beginning, _, rest = without_seconds(shown).partition("...\n")
        assert beginning
        assert rest == ""
        assert printed.startswith(beginning) if "...\n" in shown else printed == beginning


def test_the_library_example_runs():
    (example,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

    subprocess.run([sys.executable, "-c", example], cwd=ROOT, check=True)


def test_the_json_example_has_the_fields_of_the_real_thing():
    (example,) = re.findall(r"^```json\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    example = json.loads(example)
    real = json.loads(run("scan fixtures/demo --format json --quiet"))

    assert list(example) == list(real)
    for part in ("settings", "stats", "candidates"):
        assert list(example[part]) == list(real[part])
    assert list(example["groups"][0]) == list(real["groups"][0])
    assert list(example["groups"][0]["members"][0]) == list(real["groups"][0]["members"][0])
    assert list(example["skipped"][0]) == list(real["skipped"][0])


def test_the_table_of_accuracy_is_what_evaluate_finds():
    ours, theirs = (
        {row.settings.recipe.bits: row for row in simdup.evaluate(recipes=[recipe]).rows}
        for recipe in (simdup.Recipe(), ASSIGNMENT)
    )
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", README.partition("[A whole scan]")[0], re.MULTILINE)

    assert [int(bits) for bits, _ in rows] == list(ours)
    for bits, cells in rows:
        row, other = ours[int(bits)], theirs.get(int(bits))
        figures = [
            figure
            for each in (row, other)
            if each
            for figure in (
                each.curve[each.k].f1.value,
                *([row.predicted[2, row.k]] if each is row else []),
                each.curve[each.best_k].f1.value,
                each.verified.f1.value,
            )
        ]
        shown = [f"{figure:.3f}".removeprefix("0") for figure in figures]
        assert [cell.strip() for cell in cells.split("|") if cell.strip()] == shown


def every(group, name=""):
    """Yield each command below a group with its name; groups too."""
    for part in group.commands:
        command = load_command(part) if group is commands else group.commands[part]
        yield f"{name}{part}", command
        if isinstance(command, click.Group):
            yield from every(command, f"{name}{part} ")


COMMANDS = dict(every(commands))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_in_the_readme_and_has_help(name):
    command = COMMANDS[name]

    assert command.help
    assert f"simdup {name}" in README
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert any(f"`{flag}`" in README or f"`{flag} " in README for flag in option.opts)


def test_every_exit_code_is_in_the_readme():
    table = README.partition("## Exit codes")[2].partition("\n## ")[0]

    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ["0", "1", "2", "3", "70", "130"]


def test_every_promise_has_its_tests():
    tests = (ROOT / "tests" / "test_reliability.py").read_text("utf-8")
    names = re.findall(r"\[`(\w+)`\]\(tests/test_reliability.py\)", README)

    assert len(names) > 30
    for name in names:
        assert f"\ndef test_{name}(" in tests


def test_links_lead_to_headings():
    headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    assert set(re.findall(r"\]\(#(.*?)\)", README)) <= anchors
    for target in re.findall(r"\]\((?!#|http)(.*?)\)", README):
        assert (ROOT / target).exists()


def test_the_changelog_has_the_version():
    version = re.search(
        r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )

    assert f"## [{version[1]}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
