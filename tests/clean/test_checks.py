"""simdup.clean.checks: a file is held open only while it is the one that a plan means."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from plans import seen

from simdup.clean.acting import remove
from simdup.clean.checks import Held, held
from simdup.clean.outcome import RefusedError
from simdup.clean.refusals import Refusal
from simdup.clean.system import Place

pytestmark = pytest.mark.usefixtures("folder", "no_descriptor_is_left")


def write(name="a", text="one"):
    Path(name).write_text(text)
    return seen(name)


def refusal(file, **how):
    with pytest.raises(RefusedError) as refused:
        held(file, **how)
    return refused.value.refusal


def test_a_file_that_changes_while_it_is_held_is_told():
    with closing(held(write())) as file:
        file.check_unchanged()
        os.utime("a", ns=(1, 1))

        with pytest.raises(RefusedError, match=Refusal.CHANGING.value):
            file.check_unchanged()
        file.status = os.fstat(file.descriptor)
        file.check_unchanged()


def test_another_file_under_the_name_of_a_held_one_is_told():
    write("b")
    with closing(held(write())) as file:
        assert file.is_at(file.place)
        os.rename("a", "c")
        file.status = os.fstat(file.descriptor)
        assert not file.is_at(file.place)
        assert file.is_at(file.place.beside("c"))
        os.rename("b", "a")
        assert not file.is_at(file.place)

        with pytest.raises(RefusedError, match=Refusal.CHANGING.value):
            file.check_unchanged()


def test_a_name_that_is_taken_by_another_file_while_it_is_opened_is_told(monkeypatch):
    file, opening = write(), Place.open
    write("b")

    def raced(place):
        found = opening(place)
        os.replace("b", "a")
        return found

    monkeypatch.setattr(Place, "open", raced)

    assert refusal(file) is Refusal.CHANGING


@pytest.mark.parametrize("is_kept", [False, True])
def test_what_is_not_held_is_refused_as_the_file_or_as_the_kept_one(is_kept):
    file, folder = write(), replace(write(), path=os.path.abspath("in"))
    os.mkdir("in")
    gone = replace(file, path=os.path.abspath("gone"))
    changed = replace(file, size=4)

    assert [refusal(each, is_kept=is_kept) for each in (gone, folder, changed)] == (
        [Refusal.KEPT_GONE, Refusal.KEPT_GONE, Refusal.KEPT_CHANGED]
        if is_kept
        else [Refusal.GONE, Refusal.NOT_A_FILE, Refusal.CHANGED]
    )


def test_a_file_that_cannot_be_looked_at_a_last_time_is_put_back(monkeypatch):
    def refused(_file):
        raise OSError(5, "Input/output error")

    with closing(held(write("a"), is_kept=True)) as kept, closing(held(write("b"))) as file:
        monkeypatch.setattr(Held, "is_whole", refused)
        with pytest.raises(RefusedError, match=Refusal.REPLACED.value):
            remove(file, kept, file.place.beside("aside"))

    assert sorted(os.listdir()) == ["a", "b"]


def test_what_the_system_refuses_is_not_said_to_be_gone(monkeypatch):
    file = write()
    far = replace(file, path="/" + "n" * 300 + "/a")
    with pytest.raises(OSError, match="too long"):
        held(far)

    def refused(_place):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Place, "open", refused)
    with pytest.raises(PermissionError):
        held(file)
