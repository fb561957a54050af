"""simdup.records: what passes between rooms."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, astuple

import pytest

from simdup.records import Document, Source, maker

SOURCE = Source("in/a", 10, 1_000, 2_000, 5, 77, is_reference=True, links=3)
DOCUMENT = Document(SOURCE, "utf-8", 1.0, 0, 100, b"bytes", b"text", b"features", "numbers")


@pytest.mark.parametrize("record", [SOURCE, DOCUMENT], ids=lambda record: type(record).__name__)
def test_a_record_that_a_maker_makes_is_like_any_other(record):
    kind = type(record)

    made = maker(kind)(*(getattr(record, name) for name in kind.__slots__))

    assert type(made) is kind
    assert made == record
    assert hash(made) == hash(record)
    assert repr(made) == repr(record)
    assert astuple(made) == astuple(record)
    with pytest.raises(FrozenInstanceError):
        setattr(made, kind.__slots__[0], None)


def test_a_maker_wants_every_field():
    with pytest.raises(TypeError, match="links"):
        maker(Source)("in/a", 10, 1_000, 2_000, 5, 77)
