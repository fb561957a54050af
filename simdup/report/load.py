"""A saved JSON report in, the scan result that it describes out, checked field by field.

A report does not contain the documents that are in no group.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from simdup import records
from simdup.errors import InputError
from simdup.fields import Fields, WrongFieldError, printable
from simdup.findings.identical import with_sets
from simdup.match.tiers import NEAR, RELATED
from simdup.recipe import Recipe
from simdup.report.json_csv import FOLDER_COUNTS, PATHS, SCHEMA_VERSION
from simdup.settings import FORMATS, PACKINGS, Settings
from simdup.text.encodings import known_encoding
from simdup.text.noise import DOUBTS

# Seconds from 1970; no file system goes further.
_END_OF_TIME = 2**40

_NOT_BLANK = re.compile(r"[^ \t\r\n]")


def load(data: bytes, name: str) -> records.ScanResult:
    """The result of a scan, from the report that `--format json` or `jsonl` printed.

    Raises InputError, whose message begins with `name`, if `data` is anything else.
    """
    try:
        return _result(_report(data))
    except WrongFieldError as wrong:
        raise InputError(f"{name!r}: not a result of `simdup scan`: {wrong}") from None


def _report(data: bytes) -> Fields:
    """The report as one object, whether it was saved as one or as JSON Lines."""
    try:
        (_, first), *others = _values(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise WrongFieldError("it is not JSON, or only a part of it") from None
    is_lines = isinstance(first, dict) and first.get("type") == "scan"
    if others and not is_lines:
        raise WrongFieldError("it is not JSON")
    header = Fields(first)
    if header.has("tool") and header.text("tool") != "simdup":
        raise header.wrong("tool", "must be 'simdup'")
    version = header.count("schema_version")
    if version != SCHEMA_VERSION:
        known = f"this one reads {SCHEMA_VERSION}"
        raise header.wrong("schema_version", f"{version} is of another simdup; {known}")
    return Fields(first | _lists(others)) if is_lines else header


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """Each JSON value with the number of its line; tools like jq may spread one over several."""
    decoder, line, passed = json.JSONDecoder(), 1, 0
    while begin := _NOT_BLANK.search(text, passed):
        at = begin.start()
        line += text.count("\n", passed, at)
        value, passed = decoder.raw_decode(text, at)
        yield line, value
        line += text.count("\n", at, passed)


def _lists(values: list[tuple[int, Any]]) -> dict[str, list[Any]]:
    """The lists of objects, by name, that follow the first line of JSON Lines."""
    names = "groups", "patterns", "parts", "folders", "doubtful", "skipped"
    name_of = {name.removesuffix("s"): name for name in names}
    lists: dict[str, list[Any]] = {name: [] for name in names}
    for line, value in values:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in name_of:
            raise WrongFieldError(f"line {line} is of no known type")
        lists[name_of[kind]].append(value)
    return lists


def _result(fields: Fields) -> records.ScanResult:
    settings = _settings(fields.inner("settings"))
    bits = settings.recipe.bits
    groups, patterns = with_sets(
        [_group(each, bits) for each in fields.each("groups")],
        # Only a report with --siblings has families.
        [_group(each, bits) for each in fields.each_if_any("patterns")],
    )
    skipped = tuple(
        records.Skipped(each.path(), each.choice("reason", records.Reason), each.text("detail"))
        for each in fields.each("skipped")
    )
    stats = fields.inner("stats")
    reasons = stats.inner("skipped")
    if sum(map(reasons.count, reasons.value)) != len(skipped):
        raise stats.wrong("skipped", "counts others than are listed: is the file whole?")
    members = [member for group in groups for member in group.members]
    return records.ScanResult(
        settings,
        tuple(member.document for member in members),
        np.frombuffer(b"".join(m.fingerprint for m in members), np.uint8).reshape(-1, bits // 8),
        groups,
        skipped,
        _candidates(fields.inner("candidates")) if fields.has("candidates") else None,
        _stats(stats),
        complete=fields.truth("complete"),
        patterns=patterns,
        parts=tuple(map(_part, fields.each_if_any("parts"))),
        base=fields.maybe("base", fields.path),
        roots=fields.paths("roots"),
        **{name: fields.paths(name) or () for name in PATHS},
        folders=tuple(map(_folder_pair, fields.each("folders"))),
        doubtful=tuple(
            records.Doubtful(each.path(), _doubt(each)) for each in fields.each("doubtful")
        ),
    )


def _settings(fields: Fields) -> Settings:
    """The settings of the scan, without dictionaries: a report has only their digests."""
    recipe = fields.inner("recipe")
    details: dict[str, Any] = {name: recipe.text(name) for name in ("features", "hash")}
    details["bits"] = fields.count("bits")
    details["fold_variants"] = recipe.has("variants")
    if recipe.has("ngram"):
        details["ngram"] = recipe.numbers("ngram")
    if recipe.has("top"):
        details |= {"top": recipe.count("top"), "weights": recipe.text("weights")}
    options: dict[str, Any] = {"linkage": fields.text("linkage")}
    options["formats"] = fields.texts("formats")
    if fields.truth("verified"):
        options["similarity"] = fields.number("similarity", 0, 1)
        options["own_share"] = fields.share("own_share")
        options["parts"] = fields.maybe("parts", fields.share)
    else:
        options["k"] = fields.count("k")
    if fields.has("encoding"):
        options["encoding"] = _encoding(fields)
    try:
        return Settings(Recipe(**details), **options)
    except (ValueError, TypeError) as wrong:
        raise fields.wrong("recipe", f"cannot be: {wrong}") from None


def _encoding(fields: Fields) -> str:
    """The field "encoding", which must name a text encoding; codecs such as zlib are refused."""
    name = fields.text("encoding")
    if known_encoding(name) is None:
        raise fields.wrong("encoding", f"is unknown: {name!r}")
    return name


def _candidates(fields: Fields) -> records.Candidates:
    k, wanted = (fields.maybe(name, fields.count) for name in ("k", "wanted"))
    found = fields.count("pairs"), k, wanted, fields.maybe("at_threshold", fields.share)
    if not fields.has("recall"):
        return records.Candidates(*found)
    recall = fields.inner("recall")
    interval = records.Interval(*(recall.share(name) for name in ("value", "low", "high")))
    return records.Candidates(*found, interval, fields.count("sampled"))


def _stats(fields: Fields) -> records.Stats:
    names = "found", "fingerprinted", "bytes", "from_store", "ignored", "siblings"
    kinds = fields.inner("identity_only")
    return records.Stats(
        **{name: fields.count(name) for name in names},
        seconds=fields.number("seconds", 0, _END_OF_TIME),
        identity_only=tuple((kind, kinds.count(kind)) for kind in kinds.value),
    )


def _group(fields: Fields, bits: int) -> records.Group:
    members = tuple(_member(each, bits) for each in fields.each("members"))
    if len(members) < 2:
        raise fields.wrong("members", "must be two or more")
    versions = tuple(
        records.Version(each.path(), each.maybe("changed", each.share))
        for each in fields.each("versions")
    )
    told = fields.each_if_any("not_duplicates")
    pairs = tuple((each.path(), each.path("other")) for each in told)
    paths = {each.document.path for each in members}
    named = {"versions": [each.path for each in versions], "not_duplicates": chain(*pairs)}
    for key, those in named.items():
        if not paths.issuperset(those):
            raise fields.wrong(key, "must be members of the group")
    return records.Group(
        fields.count("id"),
        fields.choice("kind", records.Kind),
        fields.count("diameter", bits),
        members,
        fields.truth("diameter_exact"),
        versions,
        why=printable(fields.text("why")) if fields.has("why") else "",
        not_duplicates=pairs,
        score=fields.maybe("score", fields.share),
    )


def _part(fields: Fields) -> records.Part:
    start, end = fields.count("start"), fields.count("end")
    if end < start:
        raise fields.wrong("end", "must not be before the start")
    return records.Part(fields.path(), fields.path("of"), fields.share("share"), start, end)


def _folder_pair(fields: Fields) -> records.FolderPair:
    path, other = fields.path(), fields.path("other")
    newer = fields.maybe("newer", fields.text)
    if newer not in {None, "path", "other"}:
        raise fields.wrong("newer", "must be 'path' or 'other'")
    return records.FolderPair(
        path=path,
        other=other,
        **{name: fields.count(name) for name in FOLDER_COUNTS},
        newer=None if newer is None else path if newer == "path" else other,
        groups=fields.numbers("groups"),
    )


def _member(fields: Fields, bits: int) -> records.Member:
    try:
        fingerprint = bytes.fromhex(fields.text("fingerprint"))
    except ValueError:
        raise fields.wrong("fingerprint", "is not a hexadecimal number") from None
    if len(fingerprint) * 8 != bits:
        raise fields.wrong("fingerprint", f"must have {bits} bits")
    return records.Member(
        _document(fields),
        fingerprint,
        fields.choice("kind", records.Kind),
        fields.count("distance", bits),
        fields.maybe("similarity", fields.share),
        fields.maybe("own_share", fields.share),
        tier=fields.maybe("tier", lambda key: fields.one_of(key, (NEAR, RELATED))),
        near_because=fields.maybe("near_because", fields.text) or "",
    )


def _document(fields: Fields) -> records.Document:
    form = fields.text("format")
    if not form or "/" in form:
        raise fields.wrong("format", f"is unknown: {form!r}")
    archive, last = fields.maybe("archive", fields.path), records.MOST_TIME_NS
    source = records.Source(
        fields.path(),
        fields.count("size"),
        fields.known("mtime_ns", -last, last),
        fields.known("ctime_ns", -last, last),
        fields.known("device"),
        fields.known("inode"),
        is_reference=fields.truth("reference"),
        links=fields.known("links"),
        # A report says nothing about the archive of a member but where it is.
        archive=None if archive is None else records.Source(archive, 0, 0, 0, 0, 0),
    )
    packing = fields.one_of("packing", PACKINGS) if fields.has("packing") else None
    return records.Document(
        source,
        # A format that simdup does not read itself is the suffix of a file for a converter.
        _encoding(fields) if form == "text" else "." * (form not in FORMATS) + form,
        fields.share("confidence"),
        fields.count("damaged"),
        fields.count("features"),
        fields.digest("byte_digest"),
        fields.digest("text_digest"),
        b"",
        packing=packing,
        doubt=fields.maybe("doubt", lambda _: _doubt(fields)),
        words_digest=fields.digest("words_digest", 64) if fields.has("words_digest") else b"",
        unread=tuple(
            records.Unread(each.text("kind"), each.count("number"), each.text("digest"))
            for each in fields.each_if_any("unread")
        ),
    )


def _doubt(fields: Fields) -> str:
    return fields.one_of("doubt", DOUBTS)
