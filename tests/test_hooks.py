""".pre-commit-hooks.yaml: what pre-commit is told, and what it then runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from simdup.settings import FORMATS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def hook():
    """The only hook, as pre-commit reads it."""
    yaml = pytest.importorskip("yaml", reason="needs pyyaml")
    (only,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    return only


@pytest.fixture
def hooked(hook, run):
    """`hooked()`: what pre-commit runs, in `folder`."""

    def running():
        program, *entry = shlex.split(hook["entry"])
        assert program == "simdup"
        return run(*entry, *hook["args"])

    return running


def test_pre_commit_is_told_what_it_needs(hook):
    assert {"id", "name", "entry", "language"} <= {*hook}
    assert (hook["id"], hook["language"]) == ("simdup", "python")
    assert all(isinstance(each, str) for each in hook["args"])


def test_the_whole_tree_is_compared_whatever_is_committed(hook):
    assert hook["pass_filenames"] is False
    assert hook["args"][-1] == "."


def test_the_documents_that_it_takes_need_no_extra(hook):
    taken = {each.removeprefix("--include=*.") for each in hook["args"] if "=*." in each}

    assert {"md", "rst", "txt"} <= taken
    assert "pdf" not in taken
    sheets_and_slides = {"ods", "odp", "pptx", "xlsx", "ppt", "xls"}
    mails = {"eml", "mbox", "msg"}
    code, packed = {"ipynb", "man"}, {"gz", "bz2", "xz", "zst"}
    subtitles = {"srt", "vtt", "ass"}
    left_out = {"pdf"} | sheets_and_slides | mails | code | packed | subtitles
    assert {*FORMATS} - taken == left_out


def test_a_copy_of_a_document_fails(hooked, write, english):
    write("README.md", english)
    write("docs/guide.md", english.replace("grey", "white"))
    write("docs/other.rst", english[::-1])

    ended = hooked()

    assert ended.code == 1
    assert re.findall(rb"\./\S+", ended.out) == [b"./README.md", b"./docs/guide.md"]
    assert ended.err.startswith(b"1 group of 2 files; ")


def test_code_and_what_git_ignores_and_files_of_one_template_pass(hooked, write, english):
    write("README.md", english)
    write("a.py", f'"""{english}"""')
    write("b.py", f'"""{english}"""')
    write("build/README.md", english)
    write(".gitignore", "build/\n")
    write("form.txt", english[: len(english) // 2] + english[::-1][: len(english) // 2])

    ended = hooked()

    assert (ended.code, ended.out) == (0, b"")
    assert ended.err.startswith(b"no two files hold the same text; read 2 of 2 files ")
