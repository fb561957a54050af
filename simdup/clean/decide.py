"""The files of one group in, which of them go and for which other one out.

Copies are decided first: a file goes for one with the same bytes or, with consent, the same text.
Files that must stay come first there, since they stay anyway. Then a file that is merely similar
goes, with consent, for the one file that the rules prefer to all others of its group: never for
one that only happens to be protected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simdup.clean.candidates import Candidate
from simdup.clean.records import Act
from simdup.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simdup.clean.records import Consents

#: Why the file stays that the rules prefer to all others of its group, if none goes for it.
PREFERRED = "stays: the rules prefer it to the others"
NEAR_ASKS = "near: wants --near FLOOR, or --review"
TEXT_ASKS = "identical text, other bytes: wants --text"
FORMATS_ASKS = "identical text, a document or packed: wants --formats-too"
BYTES_ONLY = "not identical in bytes"
UNCERTAIN = "its text is damaged or came from --convert"
NEAR_FORMATS_ASKS = "near, a document or packed: wants --near FLOOR and --formats-too"
SAME_FILE = "another name of the kept file: frees nothing"
SHORT = "near, and too short to tell"


@dataclass(frozen=True, slots=True, eq=False)
class Gone:
    """A file that goes, the one that is kept for it, and how they are the same."""

    file: Candidate
    keep: Candidate
    kind: Kind
    similarity: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What happens with the files of a group."""

    gone: tuple[Gone, ...]
    """Files that go for the file which the rules prefer come first."""
    left: tuple[tuple[Candidate, str], ...]
    """The other files, if nothing goes for them, and why they stay; the preferred one first."""


def text_refusal(one: Candidate, other: Candidate, consents: Consents, act: Act) -> str:
    """Why a file does not go for another one with the same text and other bytes; "" if it does."""
    if act.is_of_bytes:
        return BYTES_ONLY
    if not (one.is_text_certain and other.is_text_certain):
        return UNCERTAIN
    if one.is_plain and other.is_plain:
        return "" if consents.text else TEXT_ASKS
    return "" if consents.formats else FORMATS_ASKS


def near_refusal(one: Candidate, other: Candidate, consents: Consents, act: Act) -> str:
    """Why a file does not go for a similar one, however similar; "" if it does."""
    if act.is_of_bytes:
        return BYTES_ONLY
    if consents.near is None:
        return NEAR_ASKS
    if not ((one.is_plain and other.is_plain) or consents.formats):
        return NEAR_FORMATS_ASKS
    if not (one.is_text_certain and other.is_text_certain):
        return UNCERTAIN
    return SHORT if one.document.is_short or other.document.is_short else ""


class _Kept:
    """The files of a group that are kept so far."""

    def __init__(self) -> None:
        self.by_path: dict[str, Candidate] = {}
        self._by_bytes: dict[bytes, Candidate] = {}
        # Of each text the first file of each sort that `text_refusal` tells apart.
        self._by_text: dict[bytes, dict[tuple[bool, bool], Candidate]] = {}

    def add(self, file: Candidate) -> None:
        """Keep a file."""
        self.by_path[file.id.path] = file
        self._by_bytes.setdefault(file.id.byte_digest, file)
        sort = file.is_text_certain, file.is_plain
        self._by_text.setdefault(file.id.text_digest, {}).setdefault(sort, file)

    def like(
        self, file: Candidate, copy: Candidate | None, consents: Consents, act: Act
    ) -> tuple[Candidate | None, str]:
        """The kept file with the same bytes or else text, and why a file does not go for it.

        `copy` comes first, if it is kept and has the same text.
        """
        found = self._by_text.get(file.id.text_digest, {}).values()
        refusal, other = "", None
        for each in (copy, self._by_bytes.get(file.id.byte_digest), *found):
            if each is None:
                continue
            if each.id.byte_digest == file.id.byte_digest:
                return each, ""
            why = text_refusal(file, each, consents, act)
            if not why:
                return each, ""
            if other is None or why == TEXT_ASKS:
                other, refusal = each, why
        return other, refusal


def with_text(files: Iterable[Candidate], digest: bytes) -> list[Candidate]:
    """The first file with this text of each sort that `near_refusal` tells apart."""
    found: dict[tuple[bool, bool], Candidate] = {}
    for each in files:
        if each.id.text_digest == digest:
            found.setdefault((each.is_text_certain, each.is_plain), each)
    return list(found.values())


def decide_group(
    pool: Sequence[Candidate],
    copy_of: Mapping[str, str],
    alike: Mapping[bytes, float],
    consents: Consents,
    act: Act = Act.TRASH,
) -> Decided:
    """What happens with the files of a group, the one that the rules prefer first.

    `copy_of` has the files whose whole folder goes, each with its copy in the folder that stays.
    `alike` has the similarity to the first file of each text that no `near_refusal` rules out.
    """
    if len(pool) < 2:
        return Decided((), ())
    order = sorted(pool, key=lambda each: (not each.stays, each.id.path in copy_of))
    gone, kept, left = dict[str, Gone](), _Kept(), dict[str, tuple[Candidate, str]]()
    for file in order:
        copy = kept.by_path.get(copy_of.get(file.id.path, ""))
        other, refusal = kept.like(file, copy, consents, act)
        if other is not None and file.id.identity == other.id.identity:
            refusal = SAME_FILE
        if other is not None and not refusal and not file.stays:
            gone[file.id.path] = Gone(file, other, file.id.kind_with(other.id))
            continue
        if other is not None:
            left[file.id.path] = file, file.stays or refusal
        kept.add(file)
    _decide_near(pool, list(kept.by_path.values()), alike, (consents, act), gone, left)
    keeps = {each.keep.id.path for each in gone.values()}
    if pool[0].id.path not in gone:
        left = {pool[0].id.path: (pool[0], PREFERRED), **left}
    place = {each.id.path: place for place, each in enumerate(pool)}
    return Decided(
        tuple(sorted(gone.values(), key=lambda each: place[each.keep.id.path])),
        tuple(each for path, each in left.items() if path not in keeps),
    )


def _decide_near(  # noqa: PLR0913, PLR0917  (one decision on what `decide_group` holds)
    pool: Sequence[Candidate],
    kept: Sequence[Candidate],
    alike: Mapping[bytes, float],
    wished: tuple[Consents, Act],
    gone: dict[str, Gone],
    left: dict[str, tuple[Candidate, str]],
) -> None:
    """Add the similar files that go, and those that could have gone, to `gone` and `left`."""
    first = pool[0]
    # All files with the preferred text that stay; the preferred one itself may go for one of them.
    tops = with_text(sorted(kept, key=lambda each: each.key), first.id.text_digest)
    for file in kept:
        if file.id.text_digest == first.id.text_digest:
            continue
        refusals = [near_refusal(file, each, *wished) for each in tops]
        if file.stays or "" not in refusals:
            left.setdefault(file.id.path, (file, file.stays or refusals[0]))
            continue
        similarity, floor = alike[file.id.text_digest], wished[0].near
        if floor is None or similarity < floor:
            left.setdefault(file.id.path, (file, f"near: only {similarity:.3f} alike"))
            continue
        top = tops[refusals.index("")]
        left.pop(file.id.path, None)
        gone[file.id.path] = Gone(file, top, Kind.NEAR, similarity)
        for path, each in gone.items():
            if each.keep is file:
                gone[path] = Gone(each.file, top, Kind.NEAR, similarity)
