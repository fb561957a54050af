"""A JSON report in, the result that it tells of out, checked field by field.

What a report does not tell is empty: most digests, times of change of the entry, and the
documents that are in no group.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64decode
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simdup.errors import InputError
from simdup.recipe import Recipe
from simdup.records import (
    Candidates,
    Document,
    Group,
    Kind,
    Member,
    Reason,
    ScanResult,
    Skipped,
    Source,
    Stats,
)
from simdup.report.json_csv import SCHEMA_VERSION
from simdup.settings import FORMATS, Settings
from simdup.text.encodings import encoding_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.search.hamming import Rows

Name = TypeVar("Name", bound=Enum)

# Further from 1970 no file system goes, in seconds.
_END_OF_TIME = 2.0**40

_NOT_BLANK = re.compile(r"[^ \t\r\n]")


class _WrongError(Exception):
    """What is wrong with the report, and where."""


def load(data: bytes, name: str) -> ScanResult:
    """The result that `simdup scan --format json` or `jsonl` printed as `data`.

    Raises InputError, one line that begins with `name`, for anything else.
    """
    try:
        return _result(_objects(data))
    except _WrongError as wrong:
        raise InputError(f"{name!r}: no result of `simdup scan`: {wrong}") from None


class _Fields:
    """The fields of a JSON object; each question checks its answer, or raises _WrongError."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _WrongError(f"{where or 'it'} is no object")
        self._value, self._where = value, where

    def _of(self, key: str, kinds: tuple[type, ...], what: str) -> Any:  # noqa: ANN401
        value = self._value.get(key)
        # bool is an int, and no number.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.wrong(key, f"must be {what}")
        return value

    def wrong(self, key: str, what: str) -> _WrongError:
        """What to raise about a field."""
        return _WrongError(f"{self.place(key)} {what}")

    def place(self, key: str) -> str:
        """Where a field stands."""
        return f"{self._where}.{key}" if self._where else key

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self._value.get(key) is not None

    def text(self, key: str) -> str:
        """Any Unicode text."""
        value = self._of(key, (str,), "a text")
        if not _is_unicode(value):
            raise self.wrong(key, "must be valid Unicode")
        return str(value)

    def truth(self, key: str) -> bool:
        """True or false."""
        return bool(self._of(key, (bool,), "true or false"))

    def count(self, key: str, most: int = 2**63 - 1) -> int:
        """A whole number that is not negative; 1.0 is one, as some programs write it."""
        value = self._of(key, (int, float), "a whole number")
        if not _is_whole(value):
            raise self.wrong(key, "must be a whole number")
        if not 0 <= value <= most:
            raise self.wrong(key, f"must be from 0 to {most}")
        return int(value)

    def number(self, key: str, least: float, most: float) -> float:
        """A number within limits."""
        value = self._of(key, (int, float), "a number")
        if not least <= value <= most:
            raise self.wrong(key, f"must be from {least:g} to {most:g}")
        return float(value)

    def counts(self) -> list[int]:
        """The fields of an object of which all are whole numbers."""
        return [self.count(key) for key in self._value]

    def numbers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        values = self._of(key, (list,), "a list")
        if not all(map(_is_whole, values)):
            raise self.wrong(key, "must be whole numbers")
        return tuple(map(int, values))

    def share(self, key: str) -> float:
        """From 0 to 1; what rounding made of 1 is 1."""
        return min(1.0, self.number(key, 0, 1 + 1e-6))

    def choice(self, key: str, kind: type[Name]) -> Name:
        """One of an enumeration, by its value."""
        try:
            return kind(self.text(key))
        except ValueError:
            raise self.wrong(key, f"is unknown: {self._value[key]!r}") from None

    def inner(self, key: str) -> _Fields:
        """An object."""
        return _Fields(self._of(key, (dict,), "an object"), self.place(key))

    def each(self, key: str) -> Iterator[_Fields]:
        """The objects of a list."""
        for place, value in enumerate(self._of(key, (list,), "a list")):
            yield _Fields(value, f"{self.place(key)}[{place}]")

    def encoding(self, key: str) -> str:
        """The name of an encoding of text: Python has codecs that are none."""
        name = self.text(key)
        try:
            encoding_named(name)
        except ValueError:
            raise self.wrong(key, f"is unknown: {name!r}") from None
        return name

    def path(self) -> str:
        """The name of a file, by the bytes that it may have beside it."""
        if not self.has("path_base64"):
            return self.text("path")
        try:
            return os.fsdecode(b64decode(self.text("path_base64"), validate=True))
        except ValueError:
            raise self.wrong("path_base64", "is no base64") from None


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _objects(data: bytes) -> _Fields:
    """The report as one object, whether it was one or JSON Lines."""
    try:
        values = list(_values(data.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        raise _WrongError("it is no JSON") from None
    (_, first), *others = values or [(1, None)]
    is_lines = isinstance(first, dict) and first.get("type") == "scan"
    if not values or (others and not is_lines):
        raise _WrongError("it is no JSON")
    header = _Fields(first, "")
    if header.has("tool") and header.text("tool") != "simdup":
        raise header.wrong("tool", "must be 'simdup'")
    version = header.count("schema_version")
    if version > SCHEMA_VERSION:
        raise _WrongError(
            f"schema_version {version} is of a newer simdup, {SCHEMA_VERSION} is the newest known"
        )
    return _Fields(first | _by_type(others), "") if is_lines else header


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """Each value of JSON, and its line: of JSON Lines one a line, unless jq laid them out anew."""
    decoder, line, passed = json.JSONDecoder(), 1, 0
    while begin := _NOT_BLANK.search(text, passed):
        at = begin.start()
        line += text.count("\n", passed, at)
        value, passed = decoder.raw_decode(text, at)
        yield line, value
        line += text.count("\n", at, passed)


def _by_type(values: list[tuple[int, Any]]) -> dict[str, list[Any]]:
    """What follows the header of JSON Lines. Lines that were cut off are missed."""
    kinds: dict[object, list[Any]] = {"group": [], "skipped": []}
    for line, value in values:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise _WrongError(f"line {line} is of no known type")
        kinds[kind].append(value)
    return {"groups": kinds["group"], "skipped": kinds["skipped"]}


def _result(fields: _Fields) -> ScanResult:
    settings = _settings(fields.inner("settings"))
    bits = settings.recipe.bits
    groups = tuple(_group(each, bits) for each in fields.each("groups"))
    skipped = tuple(
        Skipped(each.path(), each.choice("reason", Reason), each.text("detail"))
        for each in fields.each("skipped")
    )
    stats = fields.inner("stats")
    if sum(stats.inner("skipped").counts()) != len(skipped):
        raise stats.wrong("skipped", "counts others than are listed: is the file whole?")
    members = [member for group in groups for member in group.members]
    return ScanResult(
        settings,
        tuple(member.document for member in members),
        _rows(members, bits),
        groups,
        skipped,
        _candidates(fields.inner("candidates")) if fields.has("candidates") else None,
        _stats(stats),
        complete=fields.truth("complete"),
    )


def _rows(members: Iterable[Member], bits: int) -> Rows:
    joined = b"".join(member.fingerprint for member in members)
    return np.frombuffer(joined, np.uint8).reshape(-1, bits // 8)


def _settings(fields: _Fields) -> Settings:
    """The settings of the scan, without dictionaries: a report has only their digests."""
    recipe = fields.inner("recipe")
    options: dict[str, Any] = {"features": recipe.text("features"), "hash": recipe.text("hash")}
    options["bits"] = fields.count("bits")
    if recipe.has("ngram"):
        options["ngram"] = recipe.numbers("ngram")
    if recipe.has("top"):
        options |= {"top": recipe.count("top"), "weights": recipe.text("weights")}
    verified = fields.truth("verified")
    threshold: dict[str, Any] = (
        {"similarity": fields.number("similarity", 0, 1)} if verified else {"k": fields.count("k")}
    )
    encoding = fields.encoding("encoding") if fields.has("encoding") else None
    try:
        return Settings(
            Recipe(**options), linkage=fields.text("linkage"), encoding=encoding, **threshold
        )
    except (ValueError, TypeError) as wrong:
        raise fields.wrong("recipe", f"cannot be: {wrong}") from None


def _candidates(fields: _Fields) -> Candidates:
    return Candidates(
        fields.count("k"), fields.count("wanted"), fields.share("recall"), fields.count("pairs")
    )


def _stats(fields: _Fields) -> Stats:
    return Stats(
        fields.count("found"),
        fields.count("fingerprinted"),
        fields.count("bytes"),
        fields.number("seconds", 0, _END_OF_TIME),
        fields.count("from_store"),
        fields.count("ignored") if fields.has("ignored") else 0,
    )


def _group(fields: _Fields, bits: int) -> Group:
    members = tuple(_member(each, bits) for each in fields.each("members"))
    if len(members) < 2:
        raise fields.wrong("members", "must be two or more")
    return Group(
        fields.count("id"),
        fields.choice("kind", Kind),
        fields.count("diameter", bits),
        members,
        # Reports that are older than the field have exact diameters.
        fields.truth("diameter_exact") if fields.has("diameter_exact") else True,
    )


def _member(fields: _Fields, bits: int) -> Member:
    try:
        fingerprint = bytes.fromhex(fields.text("fingerprint"))
    except ValueError:
        raise fields.wrong("fingerprint", "is no hexadecimal number") from None
    if len(fingerprint) * 8 != bits:
        raise fields.wrong("fingerprint", f"must have {bits} bits")
    return Member(
        _document(fields),
        fingerprint,
        fields.choice("kind", Kind),
        fields.count("distance", bits),
        fields.share("similarity") if fields.has("similarity") else None,
    )


def _document(fields: _Fields) -> Document:
    form = fields.text("format")
    if not form or "/" in form:
        raise fields.wrong("format", f"is unknown: {form!r}")
    seconds = fields.number("mtime", -_END_OF_TIME, _END_OF_TIME)
    # A float has no digit to lose: by Decimal, a microsecond stays one.
    source = Source(fields.path(), fields.count("size"), int(Decimal(seconds) * 10**9), 0, 0, 0)
    return Document(
        source,
        # One that is not ours is the ending of a file that a converter read.
        fields.encoding("encoding") if form == "text" else "." * (form not in FORMATS) + form,
        fields.share("confidence"),
        fields.count("damaged"),
        fields.count("features"),
        b"",
        _digest(fields, "text_digest"),
        b"",
    )


def _digest(fields: _Fields, key: str) -> bytes:
    """Sixteen bytes in hexadecimal; none in reports that are older than the field."""
    if not fields.has(key):
        return b""
    text = fields.text(key)
    if not re.fullmatch(r"[0-9a-f]{32}", text):
        raise fields.wrong(key, "must be 32 hexadecimal digits")
    return bytes.fromhex(text)
