"""What users of other programs lost or wished, by issue, and what happens here."""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import replace
from pathlib import Path

import pytest
from plans import ACTS, TEXT, action, plan, reasons, seen, tree, write

from simdup.clean.apply import apply
from simdup.clean.copying import _RANGE, _TARGET
from simdup.clean.plan import Act, Consents, Plan
from simdup.clean.undo import undo

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder", "data")]


def scanned(run, *arguments):
    assert run("scan", ".", *arguments, "--format", "json", "-o", "found.json").code == 0


def kernel(monkeypatch, answer):
    """Let the kernel answer requests to share blocks: by a status, and the bytes it shared."""
    asked = []

    def ioctl(_, request, argument):
        at, length, *_ = _RANGE.unpack_from(argument)
        target, *_ = _TARGET.unpack_from(argument, _RANGE.size)
        asked.append((request, at, length))
        status = answer(at)
        shared = length if status == 0 else 0
        argument[_RANGE.size :] = _TARGET.pack(target, at, shared, status, 0)

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    return asked


def test_fclones_293_the_kernel_compares_before_blocks_are_shared(monkeypatch):
    write(a=TEXT, b=TEXT)
    asked = kernel(monkeypatch, lambda _: 1)
    before = tree(".")

    outcome = apply(plan(("a", "b"), act=Act.REFLINK), ACTS)

    assert reasons(outcome) == [
        "not what the plan says of it and the kept file (the kernel finds other bytes)"
    ]
    assert asked == [(0xC0189436, 0, len(TEXT))]
    assert tree(".") == before


def test_blocks_are_shared_in_pieces_to_the_end_of_the_file(monkeypatch):
    write(a=TEXT * 100, b=TEXT * 100)
    monkeypatch.setattr("simdup.clean.copying._SHARED_AT_ONCE", 3000)
    asked = kernel(monkeypatch, lambda _: 0)
    before = tree(".")

    outcome = apply(plan(("a", "b"), act=Act.REFLINK), ACTS)

    assert outcome.done == 1
    assert [at for _, at, _ in asked] == list(range(0, len(TEXT) * 100, 3000))
    assert sum(length for *_, length in asked) == len(TEXT) * 100
    assert tree(".") == before
    assert undo(outcome.journal, apply=True).left == 1


def test_a_file_system_that_cannot_share_blocks_says_so():
    write(a=TEXT, b=TEXT)

    (why,) = reasons(apply(plan(("a", "b"), act=Act.REFLINK), ACTS))

    assert why.startswith("the file system cannot share blocks")


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EMLINK, errno.EPERM, errno.ENOSPC])
def test_fclones_203_no_symbolic_link_is_made_where_no_hard_link_can_be(monkeypatch, number):
    write(a=TEXT, b=TEXT)

    def link(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    before = tree(".")

    outcome = apply(plan(("a", "b"), act=Act.LINK), ACTS)

    assert reasons(outcome) == [f"the system refused it ({os.strerror(number)})"]
    assert tree(".") == before


def test_fclones_231_a_preferred_folder_is_a_folder_and_no_glob(run):
    write(docs__a=TEXT, old__a=TEXT)
    scanned(run)

    assert b"no such folder" in run("clean", "found.json", "--prefer-under", "do*").err
    assert run("clean", "found.json", "--prefer-under", "docs", "--apply").code == 0
    assert os.path.exists("docs/a")
    assert not os.path.exists("old/a")


def test_geeqie_782_a_symbolic_link_is_not_the_copy_that_stays():
    write(real=TEXT)
    os.symlink("real", "link")
    keep = replace(seen("real"), path=os.path.realpath(".") + "/link")

    made = Plan((action(keep, seen("real")),), (), plan().header)

    assert len(apply(made, Consents()).refused) == 1
    assert Path("real").read_text() == TEXT


def test_rdfind_109_97_75_hard_links_are_not_torn_apart():
    write(a=TEXT, b=TEXT)
    os.link("b", "b2")
    before = tree(".")

    outcome = apply(plan(("a", "b"), act=Act.LINK), ACTS)
    assert reasons(outcome) == ["it has other hard links (which are not in the plan)"]
    assert tree(".") == before

    outcome = apply(plan(("a", "b"), ("a", "b2"), act=Act.LINK), ACTS)
    assert outcome.done == 2
    assert os.stat("a").st_nlink == 3
    assert undo(outcome.journal, apply=True).done == 2
    assert tree(".") == before


@pytest.mark.parametrize("differ", ["mode", "attribute"])
def test_a_link_takes_no_mode_and_no_attribute_from_a_file(differ):
    write(a=TEXT, b=TEXT)
    if differ == "mode":
        Path("b").chmod(0o600)
    else:
        try:
            os.setxattr("b", "user.from", b"ann")
        except OSError:
            pytest.skip("no attributes on this file system")

    outcome = apply(plan(("a", "b"), act=Act.LINK), ACTS)

    assert reasons(outcome) == ["owner, mode or attributes differ from the kept file's"]


def test_send2trash_files_of_one_name_thrown_away_at_once_are_all_there(data):
    """Four processes with 50 files each; of 600 files Send2Trash lost two."""
    pids = []
    for process in range(4):
        root = Path(f"p{process}")
        write(**{f"p{process}__keep": "kept"})
        for number in range(50):
            write(**{f"p{process}__{number}__same.txt": f"text {process} {number}"})
            write(**{f"p{process}__{number}__kept.txt": f"text {process} {number}"})
        pairs = [(f"{root}/{n}/kept.txt", f"{root}/{n}/same.txt") for n in range(50)]
        made = plan(*pairs, roots=[str(root)])
        Path(f"journals{process}").mkdir()
        if (pid := os.fork()) == 0:
            code = 1
            try:
                outcome = apply(made, Consents(), journal=f"journals{process}/j")
                code = 0 if outcome.done == 50 else 2
            finally:
                os._exit(code)
        pids.append(pid)

    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]

    assert codes == [0] * 4
    texts = {path.read_text() for path in (data / "Trash/files").iterdir()}
    assert texts == {f"text {process} {number}" for process in range(4) for number in range(50)}
    assert len(list((data / "Trash/info").iterdir())) == 200
