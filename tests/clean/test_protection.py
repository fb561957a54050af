"""simdup.clean.protection: files that are kept, whatever the rules prefer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simdup.clean.protection import Protection
from simdup.clean.refusals import Refusal


def reason(path, **wishes):
    return Protection(**wishes).reason()(str(path))


@pytest.mark.parametrize("mark", [".git", ".hg", ".svn", ".jj"])
@pytest.mark.parametrize("place", ["a.txt", "src/deep/a.txt"])
def test_files_of_a_work_tree_are_kept_at_any_depth(tmp_path, mark, place):
    (tmp_path / "project" / mark).mkdir(parents=True)
    (tmp_path / "beside").mkdir()

    assert reason(tmp_path / "project" / place) is Refusal.WORK_TREE
    assert reason(tmp_path / "project" / place, work_trees_too=True) is None
    assert reason(tmp_path / "beside" / place) is None


def test_a_work_tree_may_have_a_file_instead_of_the_folder_of_git(tmp_path):
    (tmp_path / "module").mkdir()
    (tmp_path / "module" / ".git").write_text("gitdir: ../.git/modules/module\n")

    assert reason(tmp_path / "module" / "a.txt") is Refusal.WORK_TREE


@pytest.mark.parametrize("names", [("HEAD", "objects/", "refs/"), ("format", "db/", "hooks/")])
def test_files_of_a_repository_without_a_work_tree_are_kept(tmp_path, names):
    for name in names:
        if name.endswith("/"):
            (tmp_path / "project.git" / name).mkdir(parents=True)
        else:
            (tmp_path / "project.git").mkdir(exist_ok=True)
            (tmp_path / "project.git" / name).write_text("x")

    assert reason(tmp_path / "project.git" / "config") is Refusal.WORK_TREE
    assert reason(tmp_path / "project.git" / "info" / "exclude") is Refusal.WORK_TREE
    (tmp_path / "project.git" / names[0]).unlink()
    assert reason(tmp_path / "project.git" / "config") is None


def test_a_folder_is_a_work_tree_of_cvs_only_by_what_cvs_keeps_in_it(tmp_path):
    (tmp_path / "CVS").mkdir()
    assert reason(tmp_path / "a.txt") is None

    (tmp_path / "CVS" / "Entries").write_text("D\n")
    assert reason(tmp_path / "a.txt") is Refusal.WORK_TREE


@pytest.mark.parametrize("name", ["node_modules", "site-packages"])
def test_files_of_installed_packages_are_kept(tmp_path, name):
    assert reason(tmp_path / name / "package" / "README.md") is Refusal.PACKAGE
    assert reason(tmp_path / f"my {name}" / "README.md") is None


@pytest.mark.parametrize(
    ("page", "folder"),
    [
        ("Harbour.html", "Harbour_files"),
        ("Harbour.htm", "Harbour.files"),
        ("Hafen.html", "Hafen-Dateien"),
        ("Port.html", "Port_fichiers"),
    ],
)
def test_files_of_a_saved_page_are_kept_while_the_page_is_there(tmp_path, page, folder):
    Path(tmp_path / page).write_text("<p>")

    assert reason(tmp_path / folder / "style.css") is Refusal.SAVED_PAGE
    assert reason(tmp_path / folder / "more" / "style.css") is Refusal.SAVED_PAGE
    os.remove(tmp_path / page)
    assert reason(tmp_path / folder / "style.css") is None


def test_a_protected_file_of_a_work_tree_is_named_as_protected(tmp_path):
    (tmp_path / ".git").mkdir()

    assert reason(tmp_path / "a.txt", names=("*.txt",)) is Refusal.PROTECTED_NAME
