"""A plan: files as they were seen and what happens to each; as JSON Lines, and back.

    {"simdup": "plan", "version": 1, "made": ..., "actions": 2}
    {"group": 7, "keep": {"path": ...}, "act": "trash", "file": {"path": ...}, "kind": ...}
    {"group": 9, "leave": {"path": ...}, "why": "near, and less alike than --near: 0.912"}

Every line stands alone, so any line but the first may be deleted. A plan is not trusted: if
anything is unknown or contradicts another line, the whole plan is refused. A plan names no program.
Paths are written without loss, and words for people printable. `simdup.clean` says what counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from heapq import merge
from typing import Any

from simdup.clean.refusals import Consent, Why
from simdup.errors import InputError
from simdup.fields import Fields, WrongFieldError, path_fields, printable
from simdup.records import MOST_TIME_NS, Identity, Kind


class Act(Enum):
    """What is done with a file; the value is the word in a plan file.

    LINK: Replace the file by a hard link to the kept one.
    REFLINK: Let the file share the blocks of the kept one.
    """

    TRASH = "trash"
    MOVE = "move"
    LINK = "link"
    REFLINK = "reflink"
    DELETE = "delete"

    @property
    def option(self) -> str:
        """The option that asks for the act, without its dashes; "" for the trash."""
        return {"trash": "", "move": "to", "delete": "permanently"}.get(self.value, self.value)

    @property
    def can_come_back(self) -> bool:
        """Whether `simdup undo` can take the act back."""
        return self not in {Act.DELETE, Act.REFLINK}

    @property
    def is_of_bytes(self) -> bool:
        """Whether the act takes identical bytes only, since other bytes could not be restored."""
        return self in {Act.LINK, Act.REFLINK, Act.DELETE}


@dataclass(frozen=True, slots=True)
class FileId:
    """A regular file exactly as a scan saw it.

    path: Absolute, with no symbolic link among its folders when the plan was made.
    byte_digest: BLAKE2b of the bytes, 16 bytes long; as `Document.bytes_digest`.
    text_digest: The digest of the text, as `Document.text_digest`.
    links: The number of hard links that the file had; with several, removing one frees nothing.
    words_digest: The digest of the words, as `Document.words_digest`; empty if unknown.
    is_whole_text: As `Document.is_whole_text`.
    is_packed: Whether the text is in a compressed file.
    """

    path: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    byte_digest: bytes
    text_digest: bytes
    links: int = 1
    words_digest: bytes = b""
    is_whole_text: bool = True
    is_packed: bool = False

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode, as `identity_of` returns them."""
        return self.device, self.inode

    @property
    def state(self) -> tuple[int, int, int, int, int]:
        """Device, inode, size and both times in ns, which tell whether the file changed."""
        return self.device, self.inode, self.size, self.mtime_ns, self.ctime_ns

    @property
    def is_plain(self) -> bool:
        """Whether it is plain text, as `Document.is_plain`, without damage."""
        return self.is_whole_text and not self.is_packed

    @property
    def content(self) -> Identity:
        """What decides how it is the same as another file, as `Document.identity`."""
        text = self.text_digest if self.is_whole_text else self.byte_digest
        return Identity(self.words_digest or text, text, self.byte_digest)

    def kind_with(self, other: FileId) -> Kind:
        """How the two files are the same by their digests.

        Two texts with the same words are only near: the layout of code and poems has a meaning.
        """
        kind = self.content.kind_with(other.content)
        are_texts = self.is_whole_text and other.is_whole_text
        return Kind.NEAR if kind is Kind.SAME_WORDS and are_texts else kind


@dataclass(frozen=True, slots=True)
class Action:
    """A file that goes, and the one that stays in its place.

    line: The line in the plan file; the header is line 1.
    group: The number of the group in the result.
    keep: The file that stays, which need not be the group's representative.
    contained: How much of the file stands in the kept one, as `theory.contained`; None unless
        `kind` is NEAR.
    why: The rule or reason that chose the kept file, for people.
    is_newest: Whether the newest version of a chain goes for an older one. A plan that does not say
        it of a near file may hide it, so it counts as said.
    is_reviewed: Whether a person saw both files and decided; then other facts do not keep the file.
    depth: How many parts at the end of its path lie in a folder that is removed whole; 0 if it is
        removed for itself.
    """

    line: int
    group: int
    keep: FileId
    act: Act
    file: FileId
    contained: float | None
    why: str
    is_newest: bool = False
    is_reviewed: bool = False
    depth: int = 0

    @property
    def kind(self) -> Kind:
        """How the file is the same as the kept one, by their digests."""
        return self.file.kind_with(self.keep)

    @property
    def folders(self) -> tuple[str, str] | None:
        """The folder that is removed whole and the one that is kept, if there are such folders.

        Both files are at the same place in them, whatever a plan says.
        """
        if not self.depth:
            return None
        one, other = (file.path.rsplit(os.sep, self.depth) for file in (self.file, self.keep))
        is_same_place = len(one) == len(other) == self.depth + 1 and one[1:] == other[1:]
        return (one[0] or os.sep, other[0] or os.sep) if is_same_place else None


@dataclass(frozen=True, slots=True)
class Left:
    """A file of a group that is neither kept nor acted on.

    line: The line in the plan file.
    """

    line: int
    group: int
    file: FileId
    why: Why


@dataclass(frozen=True, slots=True)
class Header:
    """What a plan was made from, and how.

    made: The time in UTC, as 2026-11-22T23:30:00+00:00.
    of: The result that the plan was made from, as it was named.
    of_digest: BLAKE2b of the result, 32 hexadecimal digits.
    rules: The rules as they were typed, such as "--prefer newest"; for people.
    roots: The folders and files that were searched: absolute, with no symbolic link.
    found: The number of files that the scan found.
    protected: Absolute paths that were protected when the plan was made, references among them.
    only_under: Absolute paths of folders outside of which nothing was acted on, if there were any.
    protected_names: Globs of the names of files that were protected.
    """

    made: str
    of: str
    of_digest: str
    rules: tuple[str, ...]
    roots: tuple[str, ...]
    found: int = 0
    protected: tuple[str, ...] = ()
    only_under: tuple[str, ...] = ()
    protected_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes, what stays for it, and what is left as it is."""

    actions: tuple[Action, ...]
    left: tuple[Left, ...]
    header: Header


@dataclass(frozen=True, slots=True)
class Consents:
    """What the user allowed on the command line; a plan file cannot allow anything.

    text: Act on plain text with the same characters as the kept file, but other bytes.
    formats: Act on packed files with the same text as the kept file, and on files with the same
        words if a reader extracted one of the two.
    near: Act on files of which at least this share is in the kept file; None: on no near file.
    newest: Act on the newest of a chain of versions too, where an older one is kept for it.
    encoding: The encoding of all plain texts, in the user's own word; None: it is detected for
        each.
    to: Act.MOVE is allowed; `apply` sets this if it is told the folder.
    link: Act.LINK is allowed.
    reflink: Act.REFLINK is allowed.
    permanently: Act.DELETE is allowed.
    hand: A person saw both files and decided.
    """

    text: bool = False
    formats: bool = False
    near: float | None = None
    newest: bool = False
    encoding: str | None = None
    to: bool = False
    link: bool = False
    reflink: bool = False
    permanently: bool = False
    hand: bool = False

    def lack(self, consent: Consent) -> bool:
        """Whether a consent was not given."""
        value: object = getattr(self, consent.value)
        return value is None or value is False


#: Increased when the meaning of a line changes.
VERSION = 1

# By this word earlier plans say that a person decided.
_REVIEWED = "reviewed"

# No line of a plan is longer. Only a header with very many roots is long.
_LONGEST_LINE = 1 << 24

_FILE = ("path", "path_base64", "id", "bytes", "text", "words", "whole", "packed", "links")
_FIELD, _SIZE = 2**64 - 1, 2**63 - 1


def plan_lines(plan: Plan) -> Iterator[str]:
    """The lines of a plan file, in the order of `line`; `read_plan` reads them back."""
    yield _json(header_fields(plan.header, len(plan.actions)))
    rows: Iterable[Action | Left] = merge(plan.actions, plan.left, key=lambda each: each.line)
    for each in rows:
        yield _json(action_fields(each) if isinstance(each, Action) else _left_fields(each))


def header_fields(header: Header, actions: int = 0) -> dict[str, Any]:
    """The fields of the first line of a plan with so many actions."""
    named = {"only_under": header.only_under, "protected_names": header.protected_names}
    return {
        "simdup": "plan",
        "version": VERSION,
        "made": printable(header.made),
        **path_fields(header.of, "of"),
        "of_digest": header.of_digest,
        "rules": [*map(printable, header.rules)],
        "roots": [path_fields(root) for root in header.roots],
        "protected": [path_fields(each) for each in header.protected],
        **{key: [path_fields(each) for each in paths] for key, paths in named.items() if paths},
        "found": header.found,
        "actions": actions,
    }


def action_line(action: Action) -> str:
    """The line of a plan file that holds this action."""
    return _json(action_fields(action))


def action_fields(action: Action) -> dict[str, Any]:
    """The fields of this line."""
    return {
        "group": action.group,
        "keep": _file_fields(action.keep),
        "act": action.act.value,
        "file": _file_fields(action.file),
        "kind": action.kind.value,
        "contained": action.contained,
        "why": printable(action.why),
        **({"newest": action.is_newest} if action.kind is Kind.NEAR or action.is_newest else {}),
        **({"reviewed": True} if action.is_reviewed else {}),
        **({"depth": action.depth} if action.depth else {}),
    }


def whole_words(removed: str, kept: str) -> str:
    """Why a file is removed with its whole folder."""
    return f"all of {printable(removed)} is in {printable(kept)} too"


def _left_fields(left: Left) -> dict[str, Any]:
    return {"group": left.group, "leave": _file_fields(left.file), "why": printable(str(left.why))}


def _file_fields(file: FileId) -> dict[str, Any]:
    several: dict[str, Any] = {"links": file.links} if file.links > 1 else {}
    if file.words_digest:
        several["words"] = file.words_digest.hex()
    if not file.is_whole_text:
        several["whole"] = False
    if file.is_packed:
        several["packed"] = True
    return path_fields(file.path) | {
        "id": list(file.state),
        "bytes": file.byte_digest.hex(),
        "text": file.text_digest.hex(),
        **several,
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_plan(path: str) -> Plan:
    """The plan in a file. Raises InputError that names the wrong line, and OSError."""
    with open(path, "rb") as file:
        return parsed_plan(iter(lambda: file.readline(_LONGEST_LINE), b""), path)


def parsed_plan(lines: Iterable[bytes], name: str) -> Plan:
    """The plan in these lines. Raises InputError, whose message begins with `name`."""
    actions, left, number = list[Action](), list[Left](), 1
    numbered = enumerate(lines, 1)
    try:
        header = header_of(json_object(next(numbered, (1, b""))[1]))
        for number, line in numbered:
            if line.isspace():
                continue
            fields = json_object(line)
            if fields.has("leave"):
                left.append(_left(fields, number))
            else:
                actions.append(action_of(fields, number))
    except WrongFieldError as wrong:
        raise InputError(f"{name!r}, line {number}: no plan: {wrong}") from None
    plan = Plan(tuple(actions), tuple(left), header)
    _check_contradictions(plan, name)
    return plan


def _check_contradictions(plan: Plan, name: str) -> None:
    """Raise InputError if a file is to go twice, or is to go and is kept for another one."""
    going: dict[str, int] = {}
    for each in plan.actions:
        other = going.setdefault(each.file.path, each.line)
        if other != each.line:
            raise InputError(f"{name!r}, line {each.line}: the file of line {other} again")
    for each in plan.actions:
        if (other := going.get(each.keep.path, 0)) > 0:
            raise InputError(
                f"{name!r}, line {each.line}: keeps the file that line {other} takes away"
            )


def json_object(line: bytes) -> Fields:
    """The JSON object in a line. Raises WrongFieldError."""
    try:
        return Fields(json.loads(line.decode("utf-8")))
    except (ValueError, RecursionError):
        raise WrongFieldError("it is no JSON") from None


def header_of(fields: Fields) -> Header:
    """The header in the first line of a plan. Raises WrongFieldError."""
    if fields.value.get("simdup") != "plan":
        raise fields.wrong("simdup", "must be 'plan'")
    if (version := fields.count("version")) != VERSION:
        raise fields.wrong("version", f"is {version}, and only {VERSION} is known")
    fields.only(
        *("simdup", "version", "made", "of", "of_base64", "of_digest", "rules"),
        *("roots", "protected", "only_under", "protected_names", "found", "actions"),
        "settings",  # of earlier plans; ignored
    )
    return Header(
        fields.text("made"),
        fields.path("of"),
        fields.digest("of_digest").hex(),
        fields.texts("rules"),
        tuple(map(_path, fields.each("roots"))),
        fields.count("found"),
        tuple(map(_path, fields.each("protected"))),
        tuple(map(_path, fields.each_if_any("only_under"))),
        fields.paths("protected_names") or (),
    )


def action_of(fields: Fields, line: int) -> Action:
    """The action in one line of a plan. Raises WrongFieldError."""
    fields.only(
        *("group", "keep", "act", "file", "kind", "contained", "why"),
        "similarity",  # of earlier plans; ignored
        *("newest", "reviewed", "depth"),
    )
    if fields.choice("kind", Kind) is Kind.SAME_PATTERN:
        raise fields.wrong("kind", "is none that may be acted on")
    file, keep = _file(fields.inner("file")), _file(fields.inner("keep"))
    act = fields.choice("act", Act)
    share = fields.maybe("contained", fields.share)
    group, why = fields.count("group"), printable(fields.text("why"))
    made = Action(line, group, keep, act, file, share, why)
    newest = fields.truth("newest") if fields.has("newest") else made.kind is Kind.NEAR
    is_copy = made.kind is not Kind.NEAR
    reviewed = fields.truth("reviewed") if fields.has("reviewed") else is_copy and why == _REVIEWED
    depth = fields.count("depth") if fields.has("depth") else _depth(made, why)
    return replace(made, is_newest=newest, is_reviewed=reviewed, depth=depth)


def _depth(action: Action, why: str) -> int:
    """The depth of an action of an earlier plan, whose words alone say which folder is removed."""
    for depth in range(1, action.file.path.count(os.sep) + 1):
        folders = replace(action, depth=depth).folders
        if folders is None:
            break
        if why == whole_words(*folders):
            return depth
    return 0


def _left(fields: Fields, line: int) -> Left:
    fields.only("group", "leave", "why")
    file, why = _file(fields.inner("leave")), Why.read(printable(fields.text("why")))
    return Left(line, fields.count("group"), file, why)


def _file(fields: Fields) -> FileId:
    fields.only(*_FILE)
    numbers = fields.numbers("id")
    if len(numbers) != 5:
        raise fields.wrong("id", "must be device, inode, size, mtime_ns, ctime_ns")
    device, inode, size, mtime_ns, ctime_ns = numbers
    are_fit = 0 <= device <= _FIELD and 0 <= inode <= _FIELD and 0 <= size <= _SIZE
    if not (are_fit and max(abs(mtime_ns), abs(ctime_ns)) <= MOST_TIME_NS):
        raise fields.wrong("id", "is out of range")
    digests = fields.digest("bytes"), fields.digest("text")
    if not all(digests):
        raise fields.wrong("bytes", "and text must be 32 hexadecimal digits")
    is_whole = fields.truth("whole") if fields.has("whole") else True
    is_packed = fields.truth("packed") if fields.has("packed") else False
    links, words = fields.known("links") or 1, fields.digest("words", 64)
    return FileId(_path(fields), *numbers, *digests, links, words, is_whole, is_packed)


def _path(fields: Fields) -> str:
    path = fields.path()
    if "\0" in path or not os.path.isabs(path) or os.path.normpath(path) != path:
        raise fields.wrong("path", "must be absolute, without '.' and '..'")
    return path
