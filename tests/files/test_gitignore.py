"""Lines of .gitignore mean what git says; git itself is asked where it is installed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess

import pytest

from simdup.files.globs import is_ignored, read_rules

# By hand: a line, and which of PATHS it matches. Folders end with a slash.
PATHS = ["a", "a/", "b/a", "b/a/", "b/c/a", "a b", "a]", "B", "é", "x.log", "b/x.log"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a", ["a", "a/", "b/a", "b/a/", "b/c/a"]),
        ("a/", ["a/", "b/a/"]),
        ("/a", ["a", "a/"]),
        ("b/a", ["b/a", "b/a/"]),
        ("**/a", ["a", "a/", "b/a", "b/a/", "b/c/a"]),
        ("b/**/a", ["b/a", "b/a/", "b/c/a"]),
        ("b/**", ["b/a", "b/a/", "b/c/a", "b/x.log"]),
        ("/**/c/*", ["b/c/a"]),
        ("*.log", ["x.log", "b/x.log"]),
        ("/*.l?g", ["x.log"]),
        ("a\\ b", ["a b"]),
        ("B   ", ["B"]),
        ("B\\ ", []),
        ("a[]]", ["a]"]),
        ("[^[:lower:]]", ["B", "é"]),
        ("[!a-zé]", ["B"]),
        ("\\B", ["B"]),
        ("#B", []),
        ("[[:capital:]]", []),
        ("[B", []),
        ("B\\", []),
    ],
)
def test_a_line_matches_what_git_says(tmp_path, line, expected):
    (tmp_path / ".gitignore").write_text(line, "utf-8")
    rules = (read_rules(os.fspath(tmp_path), 0),)

    found = [
        path for path in PATHS if is_ignored(path.rstrip("/"), rules, is_folder=path[-1] == "/")
    ]

    assert found == expected


# Names and pieces of lines, by blanks; `~` is a blank itself.
NAMES = "a b ab ba aab abb a.b - ] [ ! ^ B 1 \\ #a !a * a~b a~"
PIECES = (
    r"a b ab * ** *** ? / / /**/ **/ /** [ab] [!a] [^b] [a-b] []a] [!]a] [b-a] [!b-a] [[:alpha:]]"
    r" [[:upper:]b] [[:foo:]] [ ] [] [!] \ \a \* \/ ! # \\ - [a-] [-a] [a\]b] [\!-b] [a 1 ^"
    r" [/] [a/b] [[:] [[:]] [:a:] . ~ \~"
)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("seed", range(3))
def test_random_lines_ignore_what_git_ignores(tmp_path, seed):
    chance = random.Random(seed)
    names, pieces = ([each.replace("~", " ") for each in of.split()] for of in (NAMES, PIECES))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    paths = sorted({"/".join(chance.choices(names, k=chance.randint(1, 4))) for _ in range(80)})
    for _ in range(60):
        lines = ["".join(chance.choices(pieces, k=chance.randint(1, 6))) for _ in range(2)]
        (tmp_path / ".gitignore").write_text("\n".join(lines))
        asked = subprocess.run(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"],
            cwd=tmp_path,
            input="\0".join(paths).encode(),
            stdout=subprocess.PIPE,
            check=False,
        )

        ours = [path for path in paths if is_left_out(path, tmp_path)]
        assert (lines, ours) == (lines, asked.stdout.decode().split("\0")[:-1])


def is_left_out(path, folder):
    """Whether a file or a folder above it is ignored."""
    rules = (read_rules(os.fspath(folder), 0),)
    parts = path.split("/")
    above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
    return any(is_ignored(each, rules, is_folder=True) for each in above) or is_ignored(
        path, rules, is_folder=False
    )
