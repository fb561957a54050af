"""The bin of macOS and Windows, with a stand-in for Send2Trash."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from plans import ACTS, plan, reasons

from simdup.clean import trash
from simdup.clean.apply import apply
from simdup.clean.plan import Act, Consents
from simdup.clean.undo import undo
from simdup.errors import ExtraMissingError, InputError


@pytest.fixture(autouse=True)
def _elsewhere(folder, monkeypatch):
    for module in ("acting", "trash"):
        monkeypatch.setattr(f"simdup.clean.{module}.is_bin_used", lambda: True)
    for name in "ab":
        (folder / name).write_text("the same text in both files\n")


@pytest.fixture
def bin_(monkeypatch):
    """A module that puts files into a folder."""
    module = ModuleType("send2trash")
    module.send2trash = lambda path: os.rename(path, "in-the-bin")
    monkeypatch.setitem(sys.modules, "send2trash", module)
    return module


@pytest.fixture
def _without_folders(monkeypatch):
    """As on Windows, which opens no folders."""
    for module in ("system", "apply"):
        monkeypatch.setattr(f"simdup.clean.{module}.HAS_FOLDERS", False)


@pytest.mark.usefixtures("bin_")
def test_a_file_goes_to_the_bin_and_a_person_takes_it_out():
    outcome = apply(plan(("a", "b")), Consents())

    assert (outcome.done, outcome.refused) == (1, [])
    assert Path("in-the-bin").exists()
    assert reasons(undo(outcome.journal, apply=True)) == [
        "in the bin of the system: take it out there"
    ]


@pytest.mark.usefixtures("bin_", "_without_folders")
def test_where_folders_cannot_be_opened_files_only_go_to_the_bin():
    assert apply(plan(("a", "b")), Consents()).done == 1
    Path("b").write_text(Path("a").read_text())
    for act in (Act.MOVE, Act.LINK, Act.REFLINK, Act.DELETE):
        with pytest.raises(InputError, match="only go to the bin"):
            apply(plan(("a", "b"), act=act), ACTS, to="to")
    assert Path("b").exists()


def test_without_send2trash_nothing_begins(monkeypatch):
    monkeypatch.setitem(sys.modules, "send2trash", None)

    with pytest.raises(ExtraMissingError, match="simdup\\[trash\\]"):
        apply(plan(("a", "b")), Consents(), journal="journal")

    assert not Path("journal").exists()


def test_a_bin_that_does_nothing_is_not_believed(bin_):
    bin_.send2trash = lambda _: None

    assert reasons(apply(plan(("a", "b")), Consents())) == [
        "the system refused it (it is still there)"
    ]


@pytest.mark.usefixtures("bin_")
def test_a_drive_of_windows_without_a_bin_is_refused(monkeypatch):
    monkeypatch.setattr(trash.sys, "platform", "win32")
    monkeypatch.setattr(trash, "_has_bin", lambda _: False)

    assert reasons(apply(plan(("a", "b")), Consents())) == [
        "no trash on its file system (its drive has none)"
    ]
    assert Path("b").exists()
