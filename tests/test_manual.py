"""README.md, the manual and the other pages say what the program does.

Sessions are run, options and exit codes are all there, and links lead somewhere.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import simdup
from simdup.cli import commands
from simdup.cli.help import TOPICS, man_page, wrapped
from tests.cli.test_help import EVERY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MANUAL = ROOT / "simdup" / "manual"
README = ROOT / "README.md"
CHINESE = ROOT / ".github" / "README.zh-CN.md"
PAGES = {path.stem: path.read_text("utf-8") for path in sorted(MANUAL.glob("*.md"))}
TEXTS = {
    path: path.read_text("utf-8")
    for path in (
        README,
        CHINESE,
        *sorted(MANUAL.glob("*.md")),
        *(ROOT / "tests" / "bench" / "README.md", ROOT / "simdup" / "README.md"),
        ROOT / ".github" / "CONTRIBUTING.md",
    )
}
SESSIONS = [
    re.findall(r"^\$ simdup (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    for text in TEXTS.values()
    for block in re.findall(r"^```console\n((?:.*\n)*?)```$", text, re.MULTILINE)
]
ASSIGNMENT = simdup.Recipe(features="keywords", top=10, weights="int10", hash="string", bits=128)
# Where sessions are shown to have been.
HOME = "/home/li"
ENVIRONMENT = os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}


def run(arguments, folder=ROOT):
    """What a terminal shows, with the seconds left out."""
    done = subprocess.run(
        [sys.executable, "-m", "simdup", *shlex.split(arguments)],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return without_seconds(done.stdout).replace(str(folder), HOME)


def without_seconds(text):
    return re.sub(r"in \d+\.\d s", "in 0.0 s", text)


# What is shown


def test_there_are_sessions():
    assert len(SESSIONS) >= 5


@pytest.mark.parametrize(
    "session", SESSIONS, ids=[f"{number} {each[0][0]}" for number, each in enumerate(SESSIONS)]
)
def test_a_session_shows_what_the_program_prints(session, tmp_path):
    # A checkout gives files ages of its own, and an older file represents a younger one.
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    for path in (tmp_path / "fixtures").rglob("*"):
        os.utime(path, (0, 0))

    for arguments, shown in session:
        printed = run(arguments, tmp_path)

        beginning, _, rest = without_seconds(shown).partition("...\n")
        assert beginning
        assert rest == ""
        assert printed.startswith(beginning) if "...\n" in shown else printed == beginning


@pytest.mark.parametrize("number", range(2))
def test_the_library_examples_run(number, tmp_path):
    examples = re.findall(r"^```python\n(.*?)^```$", PAGES["library"], re.MULTILINE | re.DOTALL)
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")

    assert len(examples) == 2
    run_python = [sys.executable, "-c", examples[number]]
    subprocess.run(run_python, cwd=tmp_path, env=ENVIRONMENT, check=True)


def test_the_library_page_names_every_public_function():
    for name in simdup.__all__:
        if callable(getattr(simdup, name)) and name[0].islower():
            assert f"`simdup.{name}`" in PAGES["library"], name


def test_the_json_example_has_the_fields_of_the_real_thing():
    (example,) = re.findall(r"^```json\n(.*?)^```$", PAGES["json"], re.MULTILINE | re.DOTALL)
    example = json.loads(example)
    real = json.loads(run("scan fixtures/demo --format json --quiet"))

    assert list(example) == list(real)
    for part in ("settings", "stats", "candidates"):
        assert list(example[part]) == list(real[part])
    assert list(example["groups"][0]) == list(real["groups"][0])
    assert list(example["groups"][0]["members"][0]) == list(real["groups"][0]["members"][0])
    assert list(example["skipped"][0]) == list(real["skipped"][0])


def table_of_sizes(text):
    """The rows of the table of accuracy by size in a page: bits, and all other cells."""
    (table,) = re.findall(r"^\| bits \|.*\n\|[-|]*\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        [cell.strip() for cell in line.strip("|").split("|") if cell.strip()]
        for line in table.splitlines()
    ]


@pytest.mark.long
def test_the_table_of_accuracy_is_what_evaluate_finds(monkeypatch):
    monkeypatch.setattr("simdup.evaluation.evaluate.RESAMPLES", 0)  # it shows no intervals
    ours, theirs = (
        {row.settings.recipe.bits: row for row in simdup.evaluate(recipes=[recipe]).rows}
        for recipe in (simdup.Recipe(), ASSIGNMENT)
    )
    rows = table_of_sizes(PAGES["accuracy"])

    assert [int(bits) for bits, *_ in rows] == list(ours)
    for bits, *shown in rows:
        row, other = ours[int(bits)], theirs.get(int(bits))
        figures = [
            figure
            for each in (row, other)
            if each
            for figure in (
                each.curve[each.k].f1.value,
                *([row.predicted[2, row.k]] if each is row else []),
                each.curve[each.best_k].f1.value,
                *([row.cosine.f1.value] if each is row else []),
                each.verified.f1.value,
                *([row.near.f1.value] if each is row else []),
            )
        ]
        assert shown == [f"{figure:.3f}".removeprefix("0") for figure in figures]


def test_the_readme_has_the_same_table_of_accuracy():
    assert table_of_sizes(TEXTS[README]) == table_of_sizes(PAGES["accuracy"])
    assert table_of_sizes(TEXTS[CHINESE]) == table_of_sizes(TEXTS[README])


# What there is


COMMANDS = {" ".join(names[1:]): command for names, command in EVERY.items() if names[1:]}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_in_the_manual_and_has_help(name):
    command, manual = COMMANDS[name], "\n".join(PAGES.values())

    assert command.help
    assert f"simdup {name}" in manual
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert any(f"`{flag}`" in manual or f"`{flag} " in manual for flag in option.opts)


def lines_of(text):
    """The command lines in the blocks of a page, without what comes after a pipe or a comment."""
    for block in re.findall(r"^```(?:sh|console)?\n((?:.*\n)*?)```$", text, re.MULTILINE):
        for line in re.findall(r"^(?:\$ )?simdup (.*)$", block.replace("\\\n", ""), re.MULTILINE):
            yield shlex.split(re.split(r" [|#>&]", line)[0])


@pytest.mark.parametrize("words", [each for text in PAGES.values() for each in lines_of(text)])
def test_a_command_line_of_the_manual_is_what_its_command_takes(words, monkeypatch):
    monkeypatch.setattr(shutil, "which", str)  # programs for --convert need not be installed
    parts = 1 + isinstance(COMMANDS[words[0]], click.Group)
    name = " ".join(words[:parts])

    context = click.Context(commands, **commands.context_settings)
    COMMANDS[name].make_context(name, words[parts:], context)  # raises UsageError


def test_every_exit_code_is_in_the_manual():
    table = PAGES["scan"].partition("## Exit codes")[2].partition("\n## ")[0]

    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ["0", "1", "2", "3", "70", "130"]


def check_tests(lines):
    """Each line names tests that there are."""
    for line in lines:
        tests = re.findall(r"\[`(\w+)`\]\(../../(tests/.*?\.py)\)", line)
        assert tests, line
        for name, path in tests:
            assert f"\ndef test_{name}(" in (ROOT / path).read_text("utf-8"), name


@pytest.mark.parametrize(("page", "least"), [("reliability", 30), ("clean", 12)])
def test_every_promise_has_its_tests(page, least):
    promises = re.findall(r"^1\. .*\n   (.*)$", PAGES[page], re.MULTILINE)

    assert len(promises) >= least
    check_tests(promises)


def test_every_loss_of_another_program_has_its_test():
    rows = re.findall(
        r"^\| .* \d.* \|$", PAGES["clean"].partition("## What others lost")[2], re.MULTILINE
    )

    assert len(rows) > 15
    check_tests(rows)


# The pages themselves


def code_in(text):
    """The commands in the code of a page, without what is said about them."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^[^#\n]*[^#\s]", "".join(blocks), re.MULTILINE)


def test_the_chinese_readme_has_the_commands_and_links_of_the_readme():
    english, chinese = TEXTS[README], TEXTS[CHINESE]

    assert code_in(chinese) == code_in(english)
    links = re.compile(r"\]\((?:\.\./)?(?:\.github/)?([^)]*)\)")
    assert sorted(links.findall(chinese)[1:]) == sorted(links.findall(english)[1:])
    assert len(re.findall(r"^## ", chinese, re.MULTILINE)) == english.count("\n## ")


def test_install_says_how_long_a_demo_and_the_tests_take():
    install = TEXTS[README].partition("## Install\n")[2].partition("\n## ")[0]

    assert re.findall(r"^make (\w+) +# .*minute", install, re.MULTILINE) == ["demo", "test"]


def test_the_readme_fits_one_screen_of_the_web():
    assert len(README.read_bytes()) <= 10_000


def test_the_topics_are_the_pages():
    assert sorted(TOPICS) == sorted(PAGES)
    for topic in TOPICS:
        assert f"](simdup/manual/{topic}.md)" in TEXTS[README]
        assert f"](../simdup/manual/{topic}.md)" in TEXTS[CHINESE]


@pytest.mark.parametrize("topic", sorted(PAGES))
def test_a_page_fits_two_screens_or_has_a_table_of_contents(topic):
    page = PAGES[topic]
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    contents = re.search(r"^On this page: (.*)$", page, re.MULTILINE)

    if contents is None:
        assert len(wrapped(page, 88)) <= 80
    else:
        assert set(re.findall(r"\]\(#(.*?)\)", contents[1])) == {*map(anchor, headings)}


def anchor(heading):
    """The part of an address that leads to a heading on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(path):
    return {
        anchor(each) for each in re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    }


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path):
    for link in re.findall(r"\]\((?!https?:)(.*?)\)", TEXTS[path]):
        name, _, heading = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        if heading:
            assert heading in anchors(target), link


def test_the_man_page_is_made_of_the_help():
    assert (MANUAL / "simdup.1").read_text("utf-8") == man_page(), (
        "run: python -m simdup.cli.help > simdup/manual/simdup.1"
    )


def test_the_changelog_has_the_version():
    version = re.search(
        r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )

    assert f"## [{version[1]}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
