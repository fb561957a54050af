"""simdup.records: what passes between rooms."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, astuple

import pytest

from simdup.records import Document, Source, new_document, new_source

SOURCE = Source("in/a", 10, 1_000, 2_000, 5, 77, is_reference=True, links=3)
DOCUMENT = Document(SOURCE, "utf-8", 1.0, 0, 100, b"bytes", b"text", b"features", "numbers")


each_record = pytest.mark.parametrize(
    ("record", "maker"),
    [(SOURCE, new_source), (DOCUMENT, new_document)],
    ids=["source", "document"],
)


@each_record
def test_a_record_that_a_maker_makes_is_like_any_other(record, maker):
    kind = type(record)

    made = maker(*(getattr(record, name) for name in kind.__slots__))

    assert type(made) is kind
    assert made == record
    assert hash(made) == hash(record)
    assert repr(made) == repr(record)
    assert astuple(made) == astuple(record)
    with pytest.raises(FrozenInstanceError):
        setattr(made, kind.__slots__[0], None)


@each_record
def test_a_record_goes_to_another_process_by_its_maker(record, maker):
    kept = pickle.dumps(record)

    assert pickle.loads(kept) == record
    assert type(pickle.loads(kept)) is type(record)
    assert maker.__name__.encode() in kept


def test_a_maker_wants_every_field():
    with pytest.raises(TypeError, match="links"):
        new_source("in/a", 10, 1_000, 2_000, 5, 77)
