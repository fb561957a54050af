"""`simdup completion`: the scripts, in the shells that they are for, and what they ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from patience import LONG

from simdup.cli import SUMMARIES
from simdup.cli.completion import SHELLS

BASH = """
(( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )) || { echo too old; exit; }
eval "$(simdup completion bash)"
complete -p simdup
COMP_WORDS=(simdup cache cl); COMP_CWORD=2; _simdup_completion simdup; echo "${COMPREPLY[*]}"
unset COMPREPLY
COMP_WORDS=(simdup scan --format ""); COMP_CWORD=3; _simdup_completion simdup
echo "${COMPREPLY[*]}"
"""
FISH = """
simdup completion fish | source
complete -C "simdup cache cl"
complete -C "simdup scan --format "
complete -C "simdup scan fold"
"""
# A shell at a pseudo-terminal, since zsh completes nowhere else. It has read a line when it shows
# the prompt that the line sets; MARK stands there, and not in what is typed.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -D -u'
zpty -w shell "eval \"\$(simdup completion zsh)\"; PS1=MA''RK"
zpty -r shell shown '*MARK*'
zpty -w -n shell $'simdup scan --fail-on-f\t'
zpty -r shell shown '*--fail-on-found*' && print completed
zpty -w -n shell $' --linkage compo\t'
zpty -r shell shown '*components*' && print completed
zpty -d shell
"""


@pytest.fixture
def shell(folder):
    """`shell(name, script)`: what a script prints in a shell that finds `simdup`."""
    program = folder / "bin" / "simdup"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simdup "$@"\n')
    program.chmod(0o755)

    def running(name, script, *options):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [name, *options, "-c", script],
            cwd=folder,
            env=os.environ | {"PATH": path, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=LONG,
        )
        assert not done.stderr, done.stderr.decode()
        return done.stdout.decode().splitlines()

    return running


@pytest.fixture
def asked(run, monkeypatch):
    """`asked(shell, line)`: what is answered about the last word of a line."""

    def asking(name, line):
        *before, last = line.split(" ")
        monkeypatch.setenv("_SIMDUP_COMPLETE", f"{name}_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", last if name == "fish" else str(len(before)))
        ended = run()
        assert (ended.code, ended.err) == (0, b"")
        return ended.out.decode().splitlines()

    return asking


@pytest.mark.slow
def test_bash_completes(shell):
    lines = shell("bash", BASH, "--norc")

    if lines == ["too old"]:
        pytest.skip("bash is older than 4.4, which completion needs")
    assert lines == [
        "complete -o nosort -F _simdup_completion simdup",
        "clear",
        "text json jsonl csv names fdupes",
    ]


def test_fish_completes(shell, folder):
    (folder / "folder").mkdir()

    lines = shell("fish", FISH, "--no-config")

    assert lines[0].startswith("clear\tForget ")
    assert lines[1:] == ["csv", "fdupes", "json", "jsonl", "names", "text", "folder/"]


def test_zsh_completes(shell):
    assert shell("zsh", ZSH, "-f") == ["completed", "completed"]


@pytest.mark.parametrize("name", SHELLS)
def test_a_script_starts_nothing_but_simdup_and_is_for_the_shell(run, name, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)

    ended = run("completion", name)

    assert (ended.code, ended.err) == (0, b"")
    assert f"_SIMDUP_COMPLETE={name}_complete" in ended.out.decode()


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("simdup comp", ["plain,compare", "plain,completion"]),
        ("simdup completion ", ["plain,bash", "plain,zsh", "plain,fish"]),
        ("simdup cache ", ["plain,clear", "plain,info"]),
        ("simdup scan --format j", ["plain,json", "plain,jsonl"]),
        ("simdup scan fold", ["file,fold"]),
        ("simdup scan --against fold", ["file,fold"]),
        ("simdup scan --files-from li", ["file,li"]),
    ],
)
def test_what_a_script_asks_is_answered(asked, line, answers):
    found = [each for each in asked("bash", line) if each]

    assert found == answers


def test_zsh_and_fish_are_told_what_a_command_does(asked):
    kind, name, meaning = asked("zsh", "simdup sca")

    assert (kind, name) == ("plain", "scan")
    assert asked("fish", "simdup sca") == [f"plain,scan\t{meaning}"]
    assert meaning.startswith("Group the documents ")


def test_every_command_is_offered(asked):
    assert asked("bash", "simdup ") == [f"plain,{name}" for name in sorted(SUMMARIES)]


@pytest.mark.parametrize("instruction", ["bash_complete", "bash_source", "tcsh_complete", "1"])
def test_what_no_script_asks_is_one_line(run, monkeypatch, instruction):
    monkeypatch.setenv("_SIMDUP_COMPLETE", instruction)

    ended = run("scan", ".")

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith(b"simdup: _SIMDUP_COMPLETE is set, ")
    assert ended.err.count(b"\n") == 1
