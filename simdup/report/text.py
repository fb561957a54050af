"""The results of scans and comparisons as text for people."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, islice, pairwise, repeat, takewhile
from itertools import chain as chained
from typing import TypeVar

import numpy as np

from simdup.findings.identical import Found, entries, identity_of
from simdup.findings.keeper import is_under
from simdup.fingerprint.signs import first_signs
from simdup.match.own_share import least_similarity
from simdup.match.tiers import RELATED, in_words, scores
from simdup.records import (
    DIFFERENCES,
    Candidates,
    Comparison,
    Document,
    FolderPair,
    Group,
    InOthers,
    Kind,
    Part,
    Reason,
    ScanResult,
    Skipped,
    Stats,
    Version,
)
from simdup.report import order
from simdup.report.order import View
from simdup.report.terminal import ASIDE, HEADING, KINDS, PLAIN, REMARK, TerminalStyle, width
from simdup.report.wording import FORM, count, date, percent, printable, set_aside, size, whose
from simdup.settings import Settings
from simdup.text.facts import other_facts
from simdup.text.unicode import representatives
from simdup.theory import contained, similarity_at, standard_error

T = TypeVar("T")

#: The fewest groups that are shown, however small the terminal.
FEWEST_GROUPS = 3

#: The most files of a group on a terminal; if just one more is left, it is shown and not counted.
MOST_FILES = 4

#: The most parts on a terminal; if just one more is left, it is shown and not counted.
MOST_PARTS = 8

#: A report says how much of the first of a group stands in a member if it is this share or more,
#: and less of the member stands in the first: then the member is the longer text.
MOSTLY = 0.8

#: Two scripts differ if one text has this many times as many traditional characters as the other:
#: simplified texts have some too.
SCRIPTS_APART = 4

#: The most pairs of folders on a terminal, as MOST_FILES.
MOST_FOLDERS = 5

# A common beginning or end of names must not cut through a word, a number or a date.
_UNFINISHED = re.compile(r"[A-Za-z\d第]$|\d[-._年月 ]$")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z\d]{0,5}$|[-_ ][^\W\d]")

_DAY = "%Y-%m-%d"

# Why a document was not read, if it is for the lack of an extra.
_INSTALLS = re.compile(r"needs \w+: (pip install 'simdup\[[a-z]+\]')", re.ASCII)
_COLOUR = re.compile("\x1b\\[[0-9]*m")

# The most names in a line of `left_out` or `doubtful`.
_MOST_NAMES = 5

_RELATED = "Related texts: alike, but perhaps just two of a series"

# The figures besides the number of a file: how much of the kept file stands in it is the last one.
_FIGURES = "score {}", "similarity {}", "own share {}", "{} of the first in it"
_SECTION = "Filled-in forms and the like: not duplicates, since other files share the same wording"


def render(
    result: ScanResult,
    look: TerminalStyle = PLAIN,
    view: View = order.WHOLE,
    *,
    siblings: bool = False,
    related: bool = False,
) -> Iterator[str]:
    """The groups, the most useful last, and how many more there are.

    With `siblings`, the families of siblings come first, in a section of their own; with
    `related`, groups of related texts are the next section; then parts.
    """
    everything, settings = result, result.settings
    view = view._replace(is_kept=order.protected_in(result.base))
    result, others = order.by_tier(everything)
    result = replace(result, groups=_not_of_parts(result)) if result.parts else result
    yield from _section(result.patterns if siblings else (), _SECTION, settings, look, view)
    yield from _section(others if related else (), _RELATED, settings, look, view)
    parts = list(part_lines(result.parts, look, MOST_PARTS if view.is_brief else None))
    folders = _folders(result, look, view)
    if parts:
        yield from (*parts, "")
    last = closing(everything, siblings=siblings, related=related)
    groups = _shown(result, look, view, (parts, folders, last))
    for group in _last_is_best(groups, view):
        yield from _group(group, settings, look, view)
        if not view.is_brief:
            yield ""
    if view.is_brief and groups:
        yield ""
    if folders:
        yield from (*folders, "")
    if len(groups) < len(result.groups):
        yield from (_more(result, len(groups), view), "")


def _not_of_parts(result: ScanResult) -> tuple[Group, ...]:
    """The groups without those of a text and its parts only, which the list of parts has."""
    parts = {(part.path, part.whole) for part in result.parts}
    return tuple(
        group
        for group in result.groups
        if not parts.issuperset(_with_first([member.document.path for member in group.members]))
    )


def _with_first(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each path but the first one, with the first one."""
    return zip(paths[1:], repeat(paths[0]))


def _section(
    groups: Iterable[Group], heading: str, settings: Settings, look: TerminalStyle, view: View
) -> Iterator[str]:
    """Yield the lines of a section of groups that are no near-duplicates; none without groups."""
    shown = order.ranked(groups, view.sort)[: view.limit]
    if shown:
        yield from (look.painted(heading, HEADING), "")
    for group in _last_is_best(shown, view):
        yield from (*_group(group, settings, look, view), "")


def _more(result: ScanResult, shown: int, view: View) -> str:
    """How many groups a report leaves out, and how to see them."""
    in_folders = result.in_folders if view.is_folded else ()
    inside = sum(each.id in in_folders for each in result.groups)
    left = len(result.groups) - shown
    said = count(left, "more group")
    if left == inside:
        said = f"{count(left, 'group')} of files in these folders not listed"
    elif inside:
        said += f", {inside:,} of them of files in these folders"
    return f"{said}: --all, --html page.html, or --format json"


def _folders(result: ScanResult, look: TerminalStyle, view: View) -> list[str]:
    """The lines for pairs of folders, the pair with the most copies last."""
    shown = [*result.folders]
    if view.is_brief:
        shown = [each for each in shown if not _is_inside(each, shown)]
        shown = shown if len(shown) <= MOST_FOLDERS + 1 else shown[:MOST_FOLDERS]
    leaders = [each.members[0].document.path for each in result.groups]
    lines = [folder_line(pair, leaders, look) for pair in shown]
    if left := len(result.folders) - len(shown):
        lines.append(f"and {count(left, 'more pair')} of folders")
    return lines[::-1]


def _is_inside(pair: FolderPair, pairs: Iterable[FolderPair]) -> bool:
    """Whether one folder of a pair lies in each folder of another pair."""
    return any(
        is_under(pair.path, one) and is_under(pair.other, two)
        for each in pairs
        if each is not pair
        for one, two in ((each.path, each.other), (each.other, each.path))
    )


def folder_line(pair: FolderPair, leaders: Sequence[str], look: TerminalStyle = PLAIN) -> str:
    """How many files of a folder are copies; of two equal folders, of which fewer files stay.

    `leaders` are the files that lead their groups.
    """
    names, end = (pair.path, pair.other), ""
    if pair.files == pair.other_files:
        stay = [sum(is_under(path, each) for path in leaders) for each in names]
        names = names if stay[0] <= stay[1] else (pair.other, pair.path)
    one, other = (look.painted(printable(each), HEADING) for each in names)
    if pair.not_compared:
        end = f"; {pair.not_compared:,} not compared"
    of_files = f"{pair.copies:,} of {count(pair.files, 'file')}"
    if pair.identical == pair.files:
        return f"{one} is a {'' if end else 'full '}copy of {other}: {of_files}{end}"
    if newer := newer_name(pair):
        end += f"; newer: {newer}"
    similar = pair.copies - pair.identical
    kinds = [f"{pair.identical:,} identical"] * bool(pair.identical)
    kinds += [f"{similar:,} similar"] * bool(similar)
    return f"{one} has {of_files} in {other}: {', '.join(kinds)}{end}"


def newer_name(pair: FolderPair) -> str:
    """The name of the newer folder, its whole path if both have the same name; "" for none."""
    newer = pair.newer or ""
    names = {os.path.basename(each) for each in (pair.path, pair.other)}
    is_enough = len(names) == 2 and all(name.strip(os.curdir) for name in names)
    return printable(os.path.basename(newer) if is_enough else newer)


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


def containments(group: Group, place: int, settings: Settings) -> tuple[float | None, float | None]:
    """How much of a member is in the first of its group, and of the first in the member.

    The share is of the distinct shingles. None where nothing was verified, a text has no shingle,
    or features weigh differently.
    """
    alike, features = group.members[place].similarity, group.members[place].document.features
    of_first = group.members[0].document.features
    if alike is None or not (settings.recipe.has_equal_weights and features and of_first):
        return None, None
    return contained(alike, features, of_first), contained(alike, of_first, features)


def in_first(group: Group, place: int, settings: Settings) -> float:
    """How much of a member stands in the first of its group, which is the number beside it.

    It is estimated from the distance where nothing was verified, and the similarity where features
    weigh differently.
    """
    member, first, recipe = group.members[place], group.members[0].document, settings.recipe
    alike = estimate(member.similarity, member.distance, recipe.bits)
    return member.document.share_in(first, alike) if recipe.has_equal_weights else alike


def _shown(
    result: ScanResult, look: TerminalStyle, view: View, others: Sequence[Sequence[str]]
) -> list[Group]:
    """The groups that a report shows, the most useful first.

    A terminal also has to hold blocks of `others` lines, of which the last is the summary, the
    line about hidden groups, and five lines: the command, the next step, the next prompt and two
    empty ones.
    """
    inside = result.in_folders if view.is_folded else ()
    groups = order.ranked((each for each in result.groups if each.id not in inside), view.sort)
    groups = groups[: view.limit]
    if view.lines is None:
        return groups
    settings, columns = result.settings, look.columns or 80
    blocks = (_rows(_group(group, settings, look, view), columns) for group in groups)
    taken = _rows(chained(*others, [_more(result, 0, view)]), columns)
    room = view.lines - taken - 5 - sum(map(bool, others[:-1]))
    return groups[: max(FEWEST_GROUPS, sum(end <= room for end in accumulate(blocks)))]


def _last_is_best(best_first: Sequence[T], view: View) -> Sequence[T]:
    """The items in the order of a report: by name, or with the best one last, at the prompt."""
    return best_first if view.sort == "name" else best_first[::-1]


def _rows(lines: Iterable[str], columns: int) -> int:
    """How many rows of a terminal the lines take; their colours take no room."""
    return sum(max(1, -(-width(_COLOUR.sub("", line)) // columns)) for line in lines)


def _group(group: Group, settings: Settings, look: TerminalStyle, view: View) -> list[str]:
    """The heading of a group, and a line for each of its files."""
    lines = [_heading(group, settings, look, view)]
    if group.kind is Kind.SAME_PATTERN:
        least, most, *middle = family_figures(group)
        span = f"{percent(least)} to " if least < most else ""
        lines.append(f"  {span}{percent(most)} alike, {whose(*middle)}")
    lines += [f"  {look.painted(each, REMARK)}" for each in _not_duplicates(group)]
    if group.versions:
        lines.append(f"  {look.painted(chain(group.versions, look), KINDS[group.kind])}")
        if view.is_brief:
            named = {each.path for each in group.versions}
            copies = sum(each.document.path not in named for each in group.members)
            return [*lines, f"  and {count(copies, 'copy')} of them"] if copies else lines
    lines += _member_lines(group, settings, look, view)
    aside = f"  and {group.aside:,} more {_are(group.aside)} related: --related"
    return [*lines, aside] if group.aside else lines


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _not_duplicates(group: Group) -> Iterator[str]:
    """A line for each of the first pairs that the user called different, and for the others."""
    for pair in group.not_duplicates[:MOST_FILES]:
        one, other = map(printable, pair)
        yield f"not duplicates of each other, as you said: {one} and {other}"
    if more := len(group.not_duplicates[MOST_FILES:]):
        yield f"and {count(more, 'more pair')} that you called different"


def chain(versions: Sequence[Version], look: TerminalStyle = PLAIN) -> str:
    """Versions from the oldest to the newest, and the change from each to the next."""
    taken = (look.columns or 0) // 2
    names, figures = chain_parts(versions)
    shown = " > ".join(look.fitted(each, taken) for each in names)
    if not figures:
        return f"{shown}, newest last"
    listed = " and ".join(filter(None, (", ".join(figures[:-1]), figures[-1])))
    return f"{shown}, newest last; {listed} % changed"


def chain_parts(versions: Sequence[Version]) -> tuple[list[str], list[str]]:
    """The names of versions, and the changes from each to the next in per cent, if known."""
    names = _told_apart([printable(each.path) for each in versions])
    return names, [_change(each.changed) for each in versions[1:] if each.changed is not None]


def _change(changed: float) -> str:
    """A change in whole per cent, rounded; "<1" if a change would round to 0."""
    percent = round(changed * 100)
    return "<1" if changed and not percent else str(percent)


def _told_apart(paths: list[str]) -> list[str]:
    """The paths without a common beginning (the first keeps it) and end (the last keeps it)."""
    if len({os.path.dirname(path) for path in paths}) > 1:
        return paths
    start = _common(paths)
    while start and _UNFINISHED.search(start):
        start = start[:-1]
    end = _common([path[len(start) :][::-1] for path in paths])[::-1]
    while end and not _ENDING.match(end):
        end = end[1:]
    differing = [path[len(start) : len(path) - len(end)] for path in paths]
    if not all(differing):
        return paths
    return [start + differing[0], *differing[1:-1], differing[-1] + end]


def _common(texts: Sequence[str]) -> str:
    """The beginning that all these texts have in common."""
    return texts[0][: _in_common(texts)]


def _in_common(lists: Iterable[Sequence[str]]) -> int:
    """How many items at the beginning all these lists have in common."""
    return sum(1 for _ in takewhile(lambda items: len({*items}) == 1, zip(*lists, strict=False)))


def _heading(group: Group, settings: Settings, look: TerminalStyle, view: View) -> str:
    """The number of a group, how much of its files is in the first, and how many are copies."""
    kind = _span(group, settings) if group.kind is Kind.NEAR else kind_in_words(group.kind)
    if group.versions:
        kind = f"versions, {kind}"
    name, kind = look.painted(f"Group {group.id}:", HEADING), look.painted(kind, KINDS[group.kind])
    heading = f"{name} {kind}, {count(len(group.members), 'file')}"
    if free := order.removable(group, view.is_kept).bytes:
        heading += f", {size(free)} can be removed"
    if group.diameter and look.is_verbose:
        heading += f", at most {group.diameter} of {settings.recipe.bits} bits apart"
    return heading


def _span(group: Group, settings: Settings) -> str:
    """How much of the near files is in the first one, as "62 to 82 % in the kept file"."""
    near = [place for place, member in enumerate(group.members) if member.kind is Kind.NEAR]
    shown = [_whole_percent(in_first(group, place, settings)) for place in near]
    least, most = min(shown), max(shown)
    about = "" if all(group.members[place].is_exact for place in near) else "~"
    span = f"{least} %" if least == most else f"{least} to {most} %"
    return f"{about}{span} {_in_which(group)}"


def _in_which(group: Group) -> str:
    """Words for the first file of a group, in which a share of the others stands."""
    return "in the kept file" if _has_kept(group) else "in the first"


def _has_kept(group: Group) -> bool:
    """Whether its first file is the one to keep: nothing is removed of related texts and forms."""
    return group.tier != RELATED and group.kind is not Kind.SAME_PATTERN


def _member_lines(group: Group, settings: Settings, look: TerminalStyle, view: View) -> list[str]:
    """A line with its number for each file of a group, and a heading for each identical set in it.

    A set that fills the group needs no heading, unless some of its files have the same bytes
    and others have not.
    """
    lines, number = list[str](), len(group.members)
    look = beside(look, [each.document for each in group.members])
    is_cut = view.is_brief and number > MOST_FILES + 1
    copies = list[int]()
    for entry in entries(group.members):
        first, size_of_set, place = entry[0][0], sum(map(len, entry)), len(copies)
        copies += [len(piece) for piece in entry for _ in piece]
        is_mixed = 1 < len(entry) < size_of_set
        is_headed = is_mixed or 1 < size_of_set < number
        share = percent(in_first(group, place, settings) if place else 1.0)
        share = share if first.is_exact else f"~{share}"
        made = entry_lines(
            entry,
            share if place else "",
            look,
            heading=f"{share} {_in_which(group)}" * bool(place) if is_headed else None,
            same="same" if place else share,
            remark=_remark(group, place, settings, look),
        )
        left = (MOST_FILES if is_cut else number) - place
        if left > 0:
            lines += islice(made, left + is_headed)
    return [*lines, _more_files(copies[MOST_FILES:])] if is_cut else lines


def beside(look: TerminalStyle, documents: Sequence[Document]) -> TerminalStyle:
    """How the lines of documents look that stand below each other.

    Their paths are shortened where they are alike, and their dates are shown if they differ; with
    the time of day if two of one day differ.
    """
    folders = [printable(each.path).split("/")[:-1] for each in documents]
    first = _in_common(folders)
    last = _in_common([each[first:][::-1] for each in folders])
    minutes = {each.source.mtime_ns // (60 * 10**9) for each in documents} or {0}
    days = {date(each * 60 * 10**9, _DAY) for each in minutes}
    dates = _DAY if len(days) == len(minutes) else f"{_DAY} %H:%M"
    is_one_time = max(minutes) - min(minutes) <= 1
    return look._replace(alike=(first, last), dates="" if is_one_time else dates)


def _more_files(copies: Sequence[int]) -> str:
    """The line for hidden files; `copies` says for each how many files have its bytes."""
    identical = sum(each > 1 for each in copies)
    of_them = f", {identical:,} of them identical to another" if identical else ""
    return f"  and {count(len(copies), 'more file')}{of_them}"


def entry_lines(  # noqa: PLR0913  (two words that differ from report to report)
    entry: Sequence[Sequence[Found]],
    alike: str,
    look: TerminalStyle,
    *,
    heading: str | None,
    same: str,
    noun: str = "file",
    remark: str = "",
) -> Iterator[str]:
    """The lines of an identical set, or the line of a single document.

    `alike` is the per cent of a single document. `heading` is what the line above a set says of it
    after its number, such as "52.0 % in the kept file"; None for no such line. In the lines of a
    set after the first, `same` stands for the per cent, and a word says whether a document has the
    bytes of the line above, or only its text or words.
    """
    first = entry[0][0]
    if heading is not None:
        words = set_in_words(list(map(len, entry)), noun, first.set_kind)
        if heading:
            words += f", {heading}"
        if look.is_verbose and first.kind is Kind.NEAR:
            words += f", {count(first.distance, 'bit')}"
        yield "  " + look.painted(words, KINDS[first.set_kind or first.kind])
        alike = ""
    yield document_line(first.document, first.kind, alike, first.distance, look, remark)
    for before, each in pairwise(chained.from_iterable(entry)):
        kind = identity_of(each).kind_with(identity_of(before))
        remark = other_content(each.document, first.document)
        yield document_line(each.document, kind, same, 0, look, remark)


def other_content(one: Document, other: Document) -> str:
    """A remark on signs and unread content that differ although the words are the same."""
    return ", ".join(f"other {kind}" for kind in one.other_content(other))


def same_words(comparison: Comparison) -> str:
    """What two documents with the same words differ in, for a line; "" if their words differ."""
    one, other = comparison.texts
    if comparison.kind is Kind.SAME_WORDS:
        differ = "only layout or format differs" if one != other else "the same layout too"
        return f"the same words and signs in the same order; {differ}"
    if not (kinds := comparison.left.other_signs(comparison.right)):
        return ""
    said = [f"other {kind}" for kind in kinds]
    if kinds[0] == DIFFERENCES[0]:
        said[0] += ": " + " / ".join(each or "none" for each in first_signs(one, other))
    variants = representatives().keys()
    simplified, traditional = sorted(sum(ord(c) in variants for c in text) for text in (one, other))
    if kinds[-1] == DIFFERENCES[-1] and traditional > SCRIPTS_APART * simplified:
        said[-1] = "the scripts differ (traditional and simplified)"
    return f"the same words; {', '.join(said)}"


def _remark(group: Group, place: int, settings: Settings, look: TerminalStyle) -> str:
    """Why the first member is the one to keep; of another one, how it belongs to the first."""
    if not place:
        return f"to keep: {group.why}" if group.why and _has_kept(group) else ""
    said = list[str]()
    (share, of_first), member = containments(group, place, settings), group.members[place]
    if look.is_verbose and member.kind in {Kind.NEAR, Kind.SAME_PATTERN}:
        score = scores((group.members[0], member), settings.recipe)[1]
        figures = score, member.similarity, member.own_share, of_first
        pairs = zip(_FIGURES, figures, strict=True)
        said += [name.format(percent(value)) for name, value in pairs if value is not None]
        said += [f"near: {in_words(member.near_because)}"] * bool(member.near_because)
    elif of_first is not None and of_first >= MOSTLY > (share or 0):
        said.append(_FIGURES[-1].format(percent(of_first)))
    said += filter(None, [other_content(member.document, group.members[0].document)])
    return ", ".join(said)


def set_in_words(copies: Sequence[int], noun: str, kind: Kind | None = None) -> str:
    """How many documents have one text or the same words, and how many of them the same bytes.

    `copies` has the number of documents with each content.

    >>> set_in_words([3], "file"), set_in_words([1, 1], "file")
    ('3 identical files', '2 files with the same text')
    >>> set_in_words([2, 1], "file")
    '3 files with the same text, 2 of them identical'
    >>> set_in_words([2, 3, 1], "file")
    '6 files with the same text, 5 of them identical in 2 sets'
    """
    number = sum(copies)
    if len(copies) == 1:
        return count(number, f"identical {noun}")
    words = f"{count(number, noun)} with the same text"
    if kind is Kind.SAME_WORDS:
        words = f"{count(number, noun)} with the {kind_in_words(kind)}"
    several = [each for each in copies if each > 1]
    if not several:
        return words
    sets = f" in {count(len(several), 'set')}" if len(several) > 1 else ""
    return f"{words}, {sum(several):,} of them identical{sets}"


def family_figures(pattern: Group) -> tuple[float, float, float, float]:
    """How alike siblings are to their first: least, most and median, and the median own share."""
    alike = sorted(member.similarity or 0 for member in pattern.members[1:])
    own = sorted(member.own_share or 0 for member in pattern.members[1:])
    middle = len(alike) // 2
    return alike[0], alike[-1], alike[middle], own[middle]


def document_line(  # noqa: PLR0913, PLR0917  (a column each)
    document: Document, kind: Kind, alike: str, distance: int, look: TerminalStyle, remark: str = ""
) -> str:
    """The line of a document; `alike` is how alike it is, or "" for a representative."""
    remarks = _remarks(document, remark)
    close = closeness(kind, distance, is_verbose=look.is_verbose) if alike else ""
    how, close = f"{alike:>7}", f"{close:<{8 if look.is_verbose else 5}}"
    what = f"{document.written_in:<12} {size(document.source.size):>8}"
    if look.dates:
        what += f"  {date(document.source.mtime_ns, look.dates)}"
    taken = width(f"  {how}  {close} {what}  {remarks}")
    return (
        f"  {look.painted(how, KINDS[kind]) if alike else how}  {close}"
        f" {look.painted(what, ASIDE)}  {look.fitted(printable(document.path), taken)}"
        f"{look.painted(remarks, REMARK)}"
    )


def estimate(similarity: float | None, distance: float, bits: int) -> float:
    """The exact similarity if it is known, else the one estimated from the distance, from 0 on."""
    return max(0.0, similarity_at(distance, bits)) if similarity is None else similarity


def kind_in_words(kind: Kind) -> str:
    """Name a kind, with an explanation where the name does not say enough."""
    return kind.value + ", another layout or format" * (kind is Kind.SAME_WORDS)


def likeness(similarity: float | None, distance: int, bits: int) -> str:
    """The exact similarity, or "~" and the similarity estimated from the distance."""
    return "~" * (similarity is None) + percent(estimate(similarity, distance, bits))


def _whole_percent(share: float) -> int:
    """A share in whole per cent, rounded; only 1 itself is 100.

    >>> _whole_percent(0.818), _whole_percent(0.9999), _whole_percent(1.0)
    (82, 99, 100)
    """
    return 100 if share == 1 else min(99, round(share * 100))


def closeness(kind: Kind, distance: int, *, is_verbose: bool) -> str:
    """The word "bytes", "text" or "words" for what is the same; else the bits apart if verbose."""
    if distance or kind in {Kind.NEAR, Kind.SAME_PATTERN}:
        return count(distance, "bit") if is_verbose else ""
    return kind.value.split()[-1]


def _remarks(document: Document, first: str = "") -> str:
    """Remarks about a file and its likeness, in brackets."""
    remarks = [first] if first else []
    if document.damaged:
        remarks.append(f"{count(document.damaged, 'character')} damaged")
    if document.is_short:
        remarks.append("short" if document.features else "no text to compare")
    if document.doubt:
        remarks.append(f"doubtful: {document.doubt}")
    return f"  ({', '.join(remarks)})" if remarks else ""


def in_groups(result: ScanResult) -> Iterator[list[str]]:
    """The paths of the files in each group."""
    return ([member.document.path for member in group.members] for group in result.groups)


def names(lists: Iterable[Iterable[str]]) -> Iterator[str]:
    """The paths, a printable line each, with an empty line after each list."""
    for paths in lists:
        yield from map(printable, paths)
        yield ""


def null_names(lists: Iterable[Iterable[str]]) -> Iterator[bytes]:
    """The exact bytes of the paths, each ended by NUL, and one more NUL after each list."""
    return (b"".join(os.fsencode(path) + b"\0" for path in paths) + b"\0" for paths in lists)


def skips(skipped: Iterable[Skipped]) -> dict[str, int]:
    """The number of files skipped for each reason, most frequent first."""
    return _most_first(each.reason.value for each in skipped)


def _most_first(words: Iterable[str]) -> dict[str, int]:
    """How often each word is there, most frequent first."""
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))


def missing_extras(skipped: Iterable[Skipped]) -> dict[str, int]:
    """The number of files that each command would make readable: it installs an extra."""
    details = (each.detail for each in skipped if each.reason is Reason.MISSING_EXTRA)
    # A saved result may be somebody else's: no other words of it become advice.
    return Counter(found[1] for each in details if (found := _INSTALLS.fullmatch(each)))


def skipped_in_words(skipped: Iterable[Skipped]) -> str:
    """How many files were skipped and why; nothing about the folders that `left_out` names."""
    others = skips(each for each in skipped if not _is_noise(each))
    return ", ".join(f"{n:,} {reason}" for reason, n in others.items())


def left_out(skipped: Iterable[Skipped], option: str = "--noise") -> list[str]:
    """A line that names the folders left out by default, if there are any, most frequent first.

    The option `option` reads them; a folder whose name begins with a dot needs `--hidden` too.
    """
    names = _most_first(os.path.basename(each.path) for each in skipped if _is_noise(each))
    if not names:
        return []
    numbers = [*names.values()]
    shown = [f"{n:,} x " * (n > 1) + printable(name) for name, n in names.items()]
    some = _some(shown, sum(numbers[_MOST_NAMES:]), "more folder")
    if any(name.startswith(".") for name in names):
        option += " --hidden"
    return [f"left out: {some} ({option} reads {'it' if numbers == [1] else 'them'})"]


def _is_noise(skipped: Skipped) -> bool:
    """Whether this is a folder that `--noise` enters; a skipped index has a detail."""
    return skipped.reason is Reason.NOISE and not skipped.detail


def summary(everything: ScanResult, *, siblings: bool = False, related: bool = False) -> list[str]:
    """Lines on the files found, compared and skipped, and on everything else worth knowing.

    `siblings` says that the families of siblings are in the report, and `related` that groups of
    related texts are.
    """
    result, others = order.by_tier(everything)
    stats, skipped, noise = result.stats, skipped_in_words(result.skipped), left_out(result.skipped)
    line = f"{_outcome(result)}; {_work(stats)}" if stats.found else "no file to compare was found"
    if skipped or not noise:
        line += f"; skipped {skipped or 'nothing'}"
    lines = [line, *noise]
    if stats.identity_only:
        shown = ", ".join(count(number, kind) for kind, number in stats.identity_only)
        lines.append(f"compared for identity only: {shown} (--noise compares them in full)")
    if others:
        near, more = len(result.groups), len(others)
        advice = "" if related else ": --related"
        are_near = f"{count(near, 'group')} {_are(near)} near (versions and copies)"
        lines.append(f"{are_near}, {more:,} {_are(more)} related{advice}")
    if stats.siblings:
        advice = " (--siblings shows them)" if result.patterns and not siblings else ""
        lines.append(set_aside(stats.siblings) + advice)
    lines += doubtful(result)
    lines += [
        f"{count(number, 'file')} left out: {command} reads them"
        for command, number in missing_extras(result.skipped).items()
    ]
    if result.settings.parts is not None:
        lines.append(parts_counted(len(result.parts), result.settings.parts))
    if stats.ignored:
        verb = "is" if stats.ignored == 1 else "are"
        lines.append(
            f"{count(stats.ignored, 'pair')} {verb} left out, as `simdup ignore list` says"
        )
    return [*lines, *searched(result.candidates, result.settings)]


def closing(result: ScanResult, *, siblings: bool = False, related: bool = False) -> list[str]:
    """The lines at the end of a scan: the summary, and then the bytes that can be freed."""
    return [*summary(result, siblings=siblings, related=related), *what_to_do(result)]


def known_so_far(documents: Iterable[Document]) -> list[str]:
    """A line on the exact copies that can be removed, before near-duplicates are computed."""
    copies = _copies(order.repeated_before_matching(documents))
    return [f"so far: {copies} can be removed; near-duplicates are searched"] * bool(copies)


def _copies(found: order.Repeated) -> str:
    """The files that `simdup clean` removes unasked, and their bytes; "" for none."""
    copies = found.identical
    return f"{count(copies.files, 'exact copy')}, {size(copies.bytes)}" if copies.files else ""


# What the files of each pile are called that nothing removes unasked.
_LOOK = {
    "text": ("file", " with the same text in other bytes"),
    "words": ("file", " with the same words"),
    "near": ("near file", ""),
    "part": ("part", " of longer texts"),
}


def what_to_do(result: ScanResult) -> list[str]:
    """Lines on the files that `simdup clean` removes unasked, and on those that need a look."""
    result, _ = order.by_tier(result)
    found = order.repeated(result.groups, order.protected_in(result.base))
    copies, piles = _copies(found), found._asdict()
    others = ", ".join(
        count(piles[name].files, noun) + rest
        for name, (noun, rest) in _LOOK.items()
        if piles[name].files
    )
    if others and (versions := sum(bool(group.versions) for group in result.groups)):
        others += f"; {count(versions, 'group')} look{'s' * (versions == 1)} like versions"
    if copies and skipped_in_words(result.skipped):
        copies += "; copies among skipped files are not counted"
    lines = [f"can be removed: {copies}"] * bool(copies)
    if number := found.kept.files:
        lines.append(f"kept: {count(number, 'exact copy')} in work trees, packages or saved pages")
    return lines + [f"needs a look: {others}"] * bool(others)


def _work(stats: Stats) -> str:
    """How many files were read, or were compared if some were known from an earlier scan."""
    verb, known = "read", ""
    if stats.from_store:
        everything = stats.from_store == stats.found
        verb = "compared"
        known = f"; {'all' if everything else f'{stats.from_store:,}'} known from before"
    return (
        f"{verb} {stats.fingerprinted:,} of {count(stats.found, 'file')}"
        f" ({size(stats.bytes)}{known}) in {stats.seconds:.1f} s"
    )


def _outcome(result: ScanResult) -> str:
    """How many groups were found, or that none was."""
    if result.groups:
        files = sum(len(group.members) for group in result.groups)
        return f"{count(len(result.groups), 'group')} of {count(files, 'file')}"
    if result.references or any(each.source.is_reference for each in result.documents):
        return "no file holds the same text as a reference"
    return "no two files hold the same text"


def doubtful(result: ScanResult) -> list[str]:
    """A line that counts the doubtful files for each reason, and names some, if there are any."""
    if not result.doubtful:
        return []
    shown = list[str]()
    for doubt, number in _most_first(each.doubt for each in result.doubtful).items():
        names = [printable(each.path) for each in result.doubtful if each.doubt == doubt]
        shown.append(f"{doubt} in {_some(names, number - _MOST_NAMES, 'more file')}")
    return [f"{count(len(result.doubtful), 'doubtful text')}: {'; '.join(shown)}"]


def _some(names: Sequence[str], more: int, noun: str) -> str:
    """The first names, and how many `more` there are."""
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {count(more, noun)}" if more > 0 else shown


def searched(candidates: Candidates | None, settings: Settings) -> Iterator[str]:
    """A line with the share of near-duplicates that was found, if a sample measured it.

    Then a warning if the search for candidates was narrower than the similarity asks for.
    """
    if candidates and (found := candidates.recall):
        yield (
            f"finds {percent(found.value)} of the near-duplicates (95 % interval:"
            f" {percent(found.low)} to {percent(found.high)}), measured on"
            f" {count(candidates.sampled, 'text')}"
        )
    if candidates and (narrowed := candidates.narrowed):
        wanted, k, chance = narrowed
        yield (
            f"candidates were narrowed from {wanted} to {k} bits, since there would have been too"
            f" many: a pair just {percent(settings.similarity)} alike is found with probability"
            f" {chance:.0%}; more --bits avoid this"
        )


def render_comparison(comparison: Comparison, look: TerminalStyle = PLAIN) -> Iterator[str]:
    """The verdict, how much of each is in the other, and both files; if verbose, all figures."""
    colour = HEADING if comparison.kind is None else KINDS[comparison.kind]
    yield f"verdict      {look.painted(_verdict(comparison), colour)}"
    if comparison.contained is not None:
        paths = [printable(each.path) for each in (comparison.left, comparison.right)]
        names = [os.path.basename(path) for path in paths]
        yield from contained_lines(comparison.contained, paths if names[0] == names[1] else names)
    alike, own = percent(comparison.similarity), comparison.own_share
    if look.is_verbose:
        yield f"similarity   {look.painted(alike, colour)}, exact"
    if own is not None:
        among = f"{percent(own)} among {count(comparison.among, 'file')}: {alike} alike"
        others = comparison.in_others
        yield f"own share    {among}" + (f"; {also_in(others)}" if others else "")
    if look.is_verbose and comparison.score is not None:
        yield f"score        {percent(comparison.score)}"
    if comparison.kind is not None and (facts := other_facts(*comparison.texts).in_words()):
        yield look.painted(facts, REMARK)
    files = zip((comparison.left, comparison.right), comparison.fingerprints, strict=True)
    for document, fingerprint in files:
        yield (
            f"{look.painted(printable(document.path), HEADING)}: {document.written_in}"
            f" ({percent(document.confidence)} sure), {size(document.source.size)},"
            f" {count(document.features, 'feature')}{look.painted(_remarks(document), REMARK)}"
        )
        if look.is_verbose:
            yield f"  fingerprint  {look.painted(fingerprint.hex(), ASIDE)}"
    if look.is_verbose:
        yield from _distance(comparison)
    is_near = comparison.kind is Kind.NEAR and comparison.score is not None
    if own is None and is_near and comparison.settings.own_share:
        yield "compared alone; --among FOLDER takes other files into account"


def also_in(others: InOthers) -> str:
    """Words for how much of the wording of two texts is in how many other files.

    >>> also_in(InOthers(1, 4, 1.0))
    'nearly all of the common wording is also in 1 other file'
    >>> also_in(InOthers(0, 2, 0.6))
    'half or more of the common wording is also in 2 other files'
    >>> also_in(InOthers(0, 0, 0.12))
    'at most 12.0 % of the common wording is in another file'
    >>> also_in(InOthers(0, 0, 0.0))
    'the common wording is in no other file'
    """
    for files, part in ((others.nearly_all, "nearly all"), (others.half, "half or more")):
        if files:
            return f"{part} of the common wording is also in {count(files, 'other file')}"
    most = f"at most {percent(others.most)} of the common wording is in another file"
    return most if others.most else "the common wording is in no other file"


def _distance(comparison: Comparison) -> Iterator[str]:
    """How far apart the fingerprints are, and the similarity estimated from that."""
    bits, distance = comparison.settings.recipe.bits, comparison.distance
    error = standard_error(estimate(None, distance, bits), bits)
    alike, low, high = (
        percent(estimate(None, min(bits, max(0, each)), bits))
        for each in (distance, distance + error, distance - error)
    )
    yield f"distance     {distance} of {bits} bits"
    yield f"estimate     {alike} alike ({low} to {high} within one standard error)"


def _verdict(comparison: Comparison) -> str:
    settings, kind = comparison.settings, comparison.kind
    if kind not in {None, Kind.NEAR}:
        others = other_content(comparison.left, comparison.right)
        return "; ".join(filter(None, (kind_in_words(kind), others)))
    features = min(comparison.left.features, comparison.right.features)
    asked = float(least_similarity(settings.similarity, np.array([features]))[0])
    least, bits = percent(asked), count(settings.distance, "bit")
    if kind is None:
        why = f"similarity below {least}" if settings.verified else f"not within {bits}"
        if settings.verified and comparison.similarity >= asked:
            share = f"own share below {percent(settings.own_share)}"
            why = f"same pattern: {share if comparison.own_share else FORM}"
        return f"neither near nor related ({why})"
    if comparison.score is None:
        return f"near (within {bits})"
    if comparison.tier == RELATED:
        return _RELATED.lower()
    if same := same_words(comparison):
        return f"near: {same}"
    because = "" if comparison.near_because == "score" else in_words(comparison.near_because)
    others = other_content(comparison.left, comparison.right)
    return "; ".join(filter(None, (f"near ({because})" if because else "near", others)))
