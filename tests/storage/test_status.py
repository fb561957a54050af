"""Packed statuses of files."""

import pytest

from simdup.records import Source
from simdup.storage.status import STATUS_SIZE, status, status_in

# The first and last seconds of ext4 and of XFS, and around the end of 64 bits of nanoseconds.
TIMES = [-(2**31), -1, 0, 9_223_372_036, 9_223_372_037, 15_032_385_535, 16_299_260_424]


@pytest.mark.parametrize("seconds", TIMES)
def test_a_status_is_read_as_it_was_written(seconds):
    time = seconds * 10**9 + 5
    source = Source("a", 7, time, time - 1, 1, 2**64 - 1)

    assert len(status(source)) == STATUS_SIZE
    assert status_in(status(source)) == (2**64 - 1, 7, time, time - 1)
