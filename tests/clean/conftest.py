"""What the tests of simdup.clean share."""

from __future__ import annotations

import os

import pytest
from plans import part

from simdup.clean.plan import Act


@pytest.fixture
def data(monkeypatch, tmp_path_factory):
    """The folder of the user's data, the trash among it, away from the files of the test."""
    place = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(place))
    return place


@pytest.fixture
def no_descriptor_is_left():
    """Nothing that a test opened is open after it."""
    before = set(os.listdir("/dev/fd"))
    yield
    assert not set(os.listdir("/dev/fd")) - before


@pytest.fixture
def act(request, monkeypatch):
    """What is done with files; "far" moves them to another file system."""
    if request.param != "far":
        return request.param
    part(monkeypatch)
    return Act.MOVE
