"""Rules and files in, an order out: which file of several is kept.

    "newest", "format=docx,odt", "under=/archive"  ->  a key; the smallest one is kept

Rules apply in the order given, and the first one by which two files differ decides. Where none
does, the reasons of `findings.keeper` decide, by which a scan orders its groups too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from simdup.clean.refusals import Why
from simdup.errors import BadValueError
from simdup.findings.keeper import Key, is_under, reason
from simdup.findings.marks import is_name_of_copy
from simdup.records import Document
from simdup.settings import FORMATS


class Placed(NamedTuple):
    """A member of a group, where its file really is, with the facts that the rules use.

    scanned: The path in the result.
    document: With an absolute path, with no symbolic link among its folders.
    is_representative: Whether its group has it as the representative.
    reasons: Its key among the files of its group: see `findings.keeper`.
    root: The place of the root that the file lies under; the number of roots if under none.
    unfit: Why the file can be neither kept nor removed; None if it can.
    """

    scanned: str
    document: Document
    is_representative: bool
    reasons: Key
    root: int
    unfit: Why | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and its value; see `rule_of`."""

    name: str
    value: tuple[str, ...] = ()

    def place(self, file: Placed) -> int:
        """The place of a file by this rule; of two files the one with the lower place is kept."""
        return _TAKING[self.name](file, self.value) if self.value else _PLAIN[self.name](file)

    @property
    def typed(self) -> str:
        """The value as it is typed after --prefer, or after --prefer-under."""
        value = ",".join(self.value)
        return value if self.name == "under" else self.name + ("=" + value) * bool(value)

    def __str__(self) -> str:
        """The rule in words, for people."""
        return f"{self.name} {', '.join(self.value)}" if self.value else self.name


_PLAIN: dict[str, Callable[[Placed], int]] = {
    "newest": lambda file: -file.document.source.mtime_ns,
    "oldest": lambda file: file.document.source.mtime_ns,
    "longest": lambda file: -file.document.features,
    "largest": lambda file: -file.document.source.size,
    "shortest-path": lambda file: len(file.document.path),
    "shallowest": lambda file: file.document.path.count(os.sep),
    "deepest": lambda file: -file.document.path.count(os.sep),
    "first": lambda file: file.root,
    "representative": lambda file: not file.is_representative,
    "original-name": lambda file: is_name_of_copy(os.path.basename(file.document.path)),
    "format": lambda file: file.document.format_place,
}

_TAKING: dict[str, Callable[[Placed, Sequence[str]], int]] = {
    "format": lambda file, names: _among(file.document.format, names),
    "encoding": lambda file, names: _among(file.document.encoding, names),
    "name": lambda file, globs: (
        not any(fnmatchcase(os.path.basename(file.document.path), glob) for glob in globs)
    ),
    "under": lambda file, folders: not any(is_under(file.document.path, each) for each in folders),
}

#: The names of all rules; a rule with a value is followed by an example or the kind of value.
NAMES = (*_PLAIN, "format=docx,...", "encoding=utf-8,...", "name=GLOB", "under=DIR")


def rule_of(text: str) -> Rule:
    """The rule in NAME or NAME=VALUE. Raises ValueError for anything else.

    >>> rule_of("format=docx,pdf")
    Rule(name='format', value=('docx', 'pdf'))
    """
    name, sign, value = text.partition("=")
    if not sign and name in _PLAIN:
        return Rule(name)
    if not (value and name in _TAKING):
        raise BadValueError(f"{text!r} is none of {', '.join(NAMES)}")
    values = tuple(value.split(",")) if name in {"format", "encoding"} else (value,)
    known = {*FORMATS, "text"}
    if name == "format" and (unknown := next((v for v in values if v not in known), None)):
        raise BadValueError(f"{unknown!r} is none of {', '.join((*FORMATS, 'text'))}")
    if name == "encoding":
        from simdup.text.encodings import encoding_named  # noqa: PLC0415

        values = tuple(encoding_named(each).name for each in values)
    return Rule(name, values)


class RuleKey(NamedTuple):
    """The key of a file: of several files the one with the smallest key is kept.

    places: Its place by each of the given rules.
    """

    places: tuple[int, ...]
    reasons: Key


class Rules:
    """The given rules in their order; then the reasons."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self.rules = tuple(rules)

    def key(self, file: Placed) -> RuleKey:
        """The key of a file of a group."""
        return RuleKey(tuple(rule.place(file) for rule in self.rules), file.reasons)

    def deciding(self, kept: RuleKey, other: RuleKey) -> str:
        """The rule or reason that prefers one key to another, in words."""
        for rule, one, two in zip(self.rules, kept.places, other.places, strict=True):
            if one != two:
                return str(rule)
        return reason(kept.reasons, other.reasons).value


def _among(name: str, names: Sequence[str]) -> int:
    """The place of a name among the names; after all of them if it is not there."""
    return names.index(name) if name in names else len(names)
