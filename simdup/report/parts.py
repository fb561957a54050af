"""Texts that stand in larger ones, as reports write them: parts, and the members of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from simdup.records import Document, Group, Part
from simdup.report.terminal import HEADING, PLAIN, TerminalStyle
from simdup.report.wording import count, path_fields, percent, printable
from simdup.settings import Settings
from simdup.theory import contained

#: The most parts on a terminal; if just one more is left, it is shown and not counted.
MOST_PARTS = 8

#: A report says how much of a member stands in the first of its group, or the other way round, if
#: it is this share or more while the two are less similar: then the lengths explain the similarity.
MOSTLY = 0.8


def part_lines(
    parts: Sequence[Part], look: TerminalStyle = PLAIN, most: int | None = None
) -> Iterator[str]:
    """The larger files, and the parts of each in the order in which they stand there.

    Beyond `most` parts, one line counts the others.
    """
    is_cut = most is not None and len(parts) > most + 1
    for whole, of_whole in groupby(parts[: most if is_cut else None], lambda part: part.whole):
        yield look.painted(f"Parts of {printable(whole)}:", HEADING)
        for part in of_whole:
            place = f"characters {part.start:,} to {part.end:,}"
            yield f"  {percent(part.share):>7} of {printable(part.path)}, {place}"
    if most is not None and is_cut:
        yield f"and {count(len(parts) - most, 'more part')}"


def parts_counted(number: int, share: float, noun: str = "file") -> str:
    """A line with the number of parts that were found; `noun` is the word for the larger texts.

    >>> parts_counted(1, 0.8)
    '1 part of larger files (at least 80.0 % in them)'
    """
    found = count(number, "part") if number else "no part"
    return f"{found} of larger {noun}s (at least {percent(share)} in them)"


def contained_lines(shares: tuple[float, float], names: Sequence[str]) -> list[str]:
    """How much of each of two files of these names is in the other.

    >>> contained_lines((0.97, 0.125), ("a.txt", "b.txt"))
    ['contained    97.0 % of a.txt is in b.txt', '             12.5 % of b.txt is in a.txt']
    """
    heads = "contained    ", " " * len("contained    ")
    pairs = zip(heads, shares, names, reversed(names), strict=True)
    return [f"{head}{percent(share)} of {name} is in {other}" for head, share, name, other in pairs]


def part_fields(part: Part) -> dict[str, Any]:
    """A part as fields of JSON."""
    figures = {"share": part.share, "start": part.start, "end": part.end}
    return path_fields(part.path) | path_fields(part.whole, "of") | figures


def contained_in(document: Document, other: Document, similarity: float | None) -> float | None:
    """The share of the distinct shingles of a document that another one has; None if unknown."""
    if similarity is None or not document.features or not other.features:
        return None
    return contained(similarity, document.features, other.features)


def containments(group: Group, place: int, settings: Settings) -> tuple[float | None, float | None]:
    """How much of a member is in the first of its group, and of the first in the member.

    None where nothing was verified, or features weigh differently.
    """
    first, member = group.members[0].document, group.members[place]
    alike = member.similarity if settings.recipe.has_equal_weights else None
    return contained_in(member.document, first, alike), contained_in(first, member.document, alike)
