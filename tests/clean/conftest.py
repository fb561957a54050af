"""What the tests of simdup.clean share."""

from __future__ import annotations

import pytest


@pytest.fixture
def data(monkeypatch, tmp_path_factory):
    """The folder of the user's data, the trash among it, away from the files of the test."""
    place = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(place))
    return place
