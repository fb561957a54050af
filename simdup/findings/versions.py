"""Groups in, the same groups out, with chains of versions where their names or times tell them.

    names without versions and dates -> an order -> exact similarities of neighbours -> a chain

A false chain is worse than none. So all texts of a group must be in it, under names that differ
in nothing but versions, dates and numbers. Names that say no more than a number, and times, count
only if no other file has such a name, and if neighbours are very similar. Dates and other periods
name the members of a series too, for example monthly statements. So they count only if three texts
or more are near, since `match` sets texts that were filled in from one form aside.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias
from unicodedata import normalize

from simdup.match.tiers import is_near
from simdup.records import Document, Group, Kind, Member, Version

Pairs = Sequence[tuple[Document, Document]]
#: Files whose times differ by less have no order: a copy or a checkout writes many files at once.
CLEARLY_LATER_NS = 60 * 10**9

#: How similar neighbours in a chain must be, where its names have words for versions, and where
#: they have only dates, numbers or times or belong to a larger series.
LEAST, LEAST_OF_NUMBERS = 0.35, 0.7

#: A person does not write more versions of one document.
MOST_VERSIONS = 50

#: Python makes no number of more than 4,300 digits; members of archives can have such names.
MOST_DIGITS = 1000

# Features of texts that are read again for the similarities of neighbours, at most.
_MOST_FEATURES = 1 << 25

# The worth of words for versions: no word is worth 0, and the sum decides.
_WORDS = {
    -4: "old|orig|original|原稿|原版|旧版",
    -2: "draft|wip|entwurf|brouillon|borrador|初稿|初版|草稿|草案|讨论稿|征求意见稿|送审稿|下書き",
    1: "new|revised|updated|edited|corrected|amended|überarbeitet|korrigiert|révisé|corrigé"
    "|revisado|修改稿|修改版|修改|修订稿|更新版|更新|新版|改訂版|改訂|修正版",
    3: "final|signed|endgültig|endfassung|unterschrieben|définitif|signé|definitivo|firmado"
    "|最终版|最终稿|最终|终版|终稿|定稿|正式版|正式稿|最終版|最終|完成版",
}
_WORTH = {word: worth for worth, words in _WORDS.items() for word in words.split("|")}

_MARK = re.compile(
    rf"""
      (?<!\d)(?P<date>(?:19|20)\d\d(?P<gap>[-._ ]?)(?:0[1-9]|1[0-2])
        (?:(?P=gap)(?:0[1-9]|[12]\d|3[01]))?)(?!\d)
    | (?P<date_in_words>(?:19|20)\d\d年\d{{1,2}}月(?:\d{{1,2}}[日号])?)
    | (?<!\d)(?P<day_first>\d{{1,2}}\.\d{{1,2}}\.(?:19|20)\d\d)(?!\d)
    | (?<![a-z])(?:version|revision|ver|rev|v)[ ._-]?(?P<version>\d+(?:\.\d+)*)(?![a-z\d])
    | 第(?P<chinese>\d+|[一二三四五六七八九十]+)[版稿]
    | (?P<nth>[一二三四五六七八九])稿
    | (?:修订版|版本|修订)(?P<edition>\d+)
    | (?:(?<![a-z])(?P<word>{"|".join(sorted(_WORTH, key=len, reverse=True))})(?![a-z]))
        (?:[ ._-]?(?P<of_word>\d{{1,3}})(?!\d))?
    | (?<![a-z])(?:copy(?:\ of)?|backup|bak)(?![a-z])(?:[ ._-]?\d{{1,2}}(?!\d))? | 副本 | 备份
    | \(\d{{1,2}}\)
    | (?P<number>(?:(?<![a-z\d])\d+(?:\.\d+)*|\d+(?:\.\d+)*(?![a-z\d])))
    """,
    re.VERBOSE,
)
# What tells the members of a series apart: dates, years and other large numbers, quarters, weeks
# and months, with the numbers beside them. In folded text.
_PERIOD = re.compile(
    r"""
      (?:\d{1,2}\.){0,2}(?<!\d)[1-9]\d\d+(?:[-_ ]\d{1,2}(?!\d)){0,2}
    | (?<!\d)\d\d([-_.])\d\d\1\d\d(?!\d)
    | (?:\d{1,2}[-_. ]*)?(?<![^\W\d_])(?:jan(?:uary?|v|vier)?|enero|feb(?:ruary?|rero)?|févr(?:ier)?
        |m[aä]r(?:ch|s|z|zo)?|a[pv]r(?:il)?|abr(?:il)?|mai|mayo?|juin|jun(?:[ei]|io)?|juillet
        |jul(?:[iy]|io)?|aug(?:ust)?|août|ago(?:sto)?|sept?(?:i?embre|ember)?|o[ck]t(?:ober)?
        |octu?bre|nov(?:i?embre|ember)?|d[eé][cz](?:ember|embre)?|dic(?:iembre)?)(?![^\W\d_])
        (?:[-_. ]*\d{1,2}(?!\d))?
    | (?<![a-z])(?:[qht]|[kc]?w|fy|[sw]s|day|tag|term|w(?:ee)?k|woche|semaine|semana|quart(?:al|er)
        |trimest(?:er|re))[-_. ]?\d{1,2}(?!\d)
    | \d(?:[. ]*quartal|[qh](?![a-z])(?:\d\d)?)
    | (?:\d{1,2}|[一二三四五六七八九十]+)(?:月|季|期|[周週](?!年))
    | (?:平成|令和)(?:\d{1,2}|元)
    """,
    re.VERBOSE,
)
_EXTENSION = re.compile(r"(?<=.)\.[a-z][a-z\d]{0,5}(?:\.(?:gz|bz2|xz|zst))?$", re.MULTILINE)
_BETWEEN = re.compile(r"(?:[^\w\n]|_)+")
_DIGITS = "零一二三四五六七八九十"


class _Mark(NamedTuple):
    """The version of a document by its name; marks ascend from older to newer.

    dates: Year, month and day; 0 for a day that the name does not say.
    """

    dates: tuple[tuple[int, ...], ...] = ()
    numbers: tuple[tuple[int, ...], ...] = ()
    worth: int = 0
    versions: tuple[tuple[int, ...], ...] = ()


def _date(text: str) -> tuple[int, ...]:
    return (int(text[:4]), *map(int, re.findall(r"\d\d?", text[4:])), 0)[:3]


def _dotted(text: str) -> tuple[int, ...]:
    return tuple(map(_whole, text.split(".")))


def _whole(digits: str) -> int:
    return int(digits[:MOST_DIGITS])


def _ordinal(text: str) -> tuple[int]:
    """A number in digits, or a Chinese one up to 99."""
    if text.isdecimal():
        return (_whole(text),)
    tens, ten, ones = text.rpartition("十")
    return ((_DIGITS.find(tens or "一") * 10 if ten else 0) + max(0, _DIGITS.find(ones or "零")),)


# Groups of _MARK: the field of a mark that their text belongs to, and how it is read.
_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "date": ("dates", _date),
    "date_in_words": ("dates", _date),
    "day_first": ("dates", lambda text: _dotted(text)[::-1]),
    "number": ("numbers", _dotted),
    "word": ("worth", _WORTH.__getitem__),
    "version": ("versions", _dotted),
    **dict.fromkeys(("chinese", "nth", "edition", "of_word"), ("versions", _ordinal)),
}


class Name(NamedTuple):
    """The name of a document, without its folder and extension.

    stem: The name without its versions, dates and numbers, in lower case.
    """

    stem: str
    mark: _Mark


class _Named(NamedTuple):
    """A document, and what its name says."""

    document: Document
    stem: str
    mark: _Mark

    @property
    def folder(self) -> str:
        """The path of its folder."""
        return folder_and_name(self.document.path)[0]

    @property
    def name(self) -> str:
        """The name of the file."""
        return folder_and_name(self.document.path)[1]


# The documents of each text of a group.
_Copies: TypeAlias = list[list[_Named]]


class _Chain(NamedTuple):
    """Documents from the oldest to the newest, one for each text of a group.

    is_told_by_words: Whether words for versions tell the order, not only dates, numbers or times.
    least: How similar neighbours must be.
    """

    group: Group
    documents: tuple[Document, ...]
    is_told_by_words: bool
    least: float

    @property
    def steps(self) -> list[tuple[Document, Document]]:
        """Each document with the next newer one."""
        return list(pairwise(self.documents))


def with_versions(
    groups: Sequence[Group],
    names: Names,
    similarities: Callable[[Pairs], Sequence[float]] | None = None,
) -> tuple[Group, ...]:
    """The groups, each with its chain of versions if it is one.

    `names` has the names in these groups. `similarities` returns the exact similarities of pairs
    of documents, whose texts it reads again; without it only words tell versions, and nothing is
    known about what changed.
    """
    chains = [chain for group in groups if (chain := names.chain(group)) is not None]
    alike = _similarities(chains, similarities)
    found: dict[int, tuple[Version, ...]] = {}
    for chain in chains:
        values = [alike.get(_key(step)) for step in chain.steps]
        if all(chain.is_told_by_words if v is None else v >= chain.least for v in values):
            paths = [each.path for each in chain.documents]
            changed = [None, *(None if value is None else 1 - value for value in values)]
            found[chain.group.id] = tuple(map(Version, paths, changed))
    return tuple(each._replace(versions=found.get(each.id, ())) for each in groups)


def are_versions(one: Document, other: Document) -> bool:
    """Whether words in the names of two near files, such as "draft", say that they are versions.

    Dates, numbers and times do not: they may also count the members of a series.
    """
    pair = [file._replace(features_digest=file.text_digest) for file in (one, other)]
    members = tuple(Member(document, b"", Kind.NEAR, 0, None) for document in pair)
    group = Group(1, Kind.NEAR, 0, members)
    return bool(with_versions([group], Names([group], pair))[0].versions)


def names_of(paths: Iterable[str]) -> list[Name]:
    """The version in the name of each file, and the rest of the name.

    The names are searched as one text with a line for each, in a third of the time.
    """
    names = [folder_and_name(path)[1] for path in paths]
    said: list[dict[str, list[Any]]] = [{} for _ in names]
    text, pieces = _as_lines(names), list[str]()
    at = line = 0
    for found in _MARK.finditer(text):
        before = text[at : found.start()]
        at, line = found.end(), line + before.count("\n")
        pieces += before, " "
        for part, (field, read) in _READ.items():
            if value := found[part]:
                said[line].setdefault(field, []).append(read(value))
    stems = _stems_on("".join((*pieces, text[at:])))
    return [Name(stem, _mark(each)) for stem, each in zip(stems, said, strict=False)]


def _mark(said: dict[str, list[Any]]) -> _Mark:
    if not said:
        return _Mark()
    dates, numbers, worth, versions = (said.get(field, ()) for field in _Mark._fields)
    return _Mark(tuple(dates), tuple(numbers), sum(worth), tuple(versions))


def stems_of(names: Iterable[str]) -> list[str]:
    """The stems of names, without what `names_of` finds out about versions, in less time."""
    names = [*names]
    return _stems_on(_MARK.sub(" ", _as_lines(names)))[: len(names)]


def ages_of(same: Sequence[Document]) -> list[int]:
    """How many of these files with the same words are newer than each, as names and times tell.

    Commas, capitals or paragraphs differ. A number that only some names have is that of a copy,
    unless the file was clearly changed later. Times alone tell nothing of files that differ in
    nothing but layout, which are copies.
    """
    if len({document.text_digest for document in same}) < 2:
        return [0] * len(same)
    texts: dict[bytes, list[_Named]] = {}
    for document, name in zip(same, names_of(file.path for file in same), strict=True):
        texts.setdefault(document.text_digest, []).append(_Named(document, *name))
    chain = _in_order(list(texts.values()))
    if chain is None or not _tells_more_than_copies(chain):
        return [0] * len(same)
    age = {named.document.text_digest: place for place, named in enumerate(chain[::-1])}
    by_mark = {named.mark: place for place, named in enumerate(chain[::-1])}
    marks = {file.document.path: file.mark for named in texts.values() for file in named}
    return [
        age.get(document.text_digest, by_mark.get(marks[document.path], len(chain)))
        for document in same
    ]


def _tells_more_than_copies(chain: Sequence[_Named]) -> bool:
    """Whether texts with the same words, from the oldest to the newest, are versions."""
    if len({named.mark for named in chain}) == 1:
        return len({named.document.identity.words for named in chain}) > 1
    return all(
        one.mark.numbers == other.mark.numbers
        or bool(one.mark.numbers and other.mark.numbers)
        or _is_later(one, other)
        for one, other in pairwise(chain)
    )


def folder_and_name(path: str) -> tuple[str, str]:
    """The path of a file's folder, with the separator at its end, and the file's name."""
    begin = path.rfind(os.sep) + 1
    return path[:begin], path[begin:]


def _as_lines(names: Iterable[str]) -> str:
    """The names without their extensions, folded, on a line each."""
    text = "\n".join(name.replace("\n", " ") for name in names)
    return _EXTENSION.sub("", normalize("NFKC", text).casefold())


def _stems_on(lines: str) -> list[str]:
    """The stem on each line, from which the marks of versions have been taken."""
    return [each.strip() for each in _BETWEEN.sub(" ", lines).split("\n")]


class Names:
    """The names of all documents that were scanned.

    of_path: What the names of the files in groups of near texts say, by path.
    """

    def __init__(self, groups: Iterable[Group], documents: Sequence[Document]) -> None:
        """Read the names in the groups; the names of all documents are counted when needed."""
        near = (group.members for group in groups if group.kind is Kind.NEAR)
        paths = {member.document.path: None for members in near for member in members}
        self.of_path = dict(zip(paths, names_of(paths), strict=True))
        self._documents = documents
        self._stems: dict[str, Counter[str]] = {}

    def chain(self, group: Group) -> _Chain | None:
        """The texts of a group from the oldest to the newest, if names or times tell that."""
        copies = self._copies(group)
        named = _in_order(copies)
        if named is None:
            return None
        marks = {each.mark for each in named}
        are_told_apart = len(marks) == len(named)
        besides_words = {(mark.dates, mark.numbers) for mark in marks}
        is_told_by_words = are_told_apart and len(besides_words) == 1
        are_alone = self._are_alone(copies, named, are_told_apart=are_told_apart)
        if not (is_told_by_words or are_alone) or _lack_history(group, named):
            return None
        least = LEAST if is_told_by_words and are_alone else LEAST_OF_NUMBERS
        return _Chain(group, tuple(each.document for each in named), is_told_by_words, least)

    def _are_alone(self, copies: _Copies, named: Sequence[_Named], *, are_told_apart: bool) -> bool:
        """Whether no document outside the group has such a name.

        Dates and numbers may also count the parts of something, such as chapters. Then some of
        its other parts are in the same folders. Times only count for documents whose name no
        document in another folder has: not for every README.
        """
        inside = [each for same in copies for each in same]
        if not are_told_apart:
            names = {each.name for each in named}
            own = sum(each.name in names for each in inside)
            if sum(self._with_name[name] for name in names) > own:
                return False
        folders, stem = {each.folder for each in named}, named[0].stem
        own = sum(each.stem == stem and each.folder in folders for each in inside)
        return sum(self.in_folder(folder)[stem] for folder in folders) <= own

    def _copies(self, group: Group) -> _Copies:
        """The documents of each text of a group; none if there are too few texts or too many."""
        texts = dict[bytes, list[Document]]()
        for member in group.members if group.kind is Kind.NEAR else ():
            texts.setdefault(member.document.features_digest, []).append(member.document)
        if not 2 <= len(texts) <= MOST_VERSIONS:
            return []
        return [
            [_Named(document, *self.of_path[document.path]) for document in same]
            for same in texts.values()
        ]

    @cached_property
    def _with_name(self) -> Counter[str]:
        """The number of documents with each name, in any folder."""
        return Counter(name for names in self._names.values() for name in names)

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """The names of the documents in each folder."""
        found: dict[str, list[str]] = {}
        for each in self._documents:
            folder, name = folder_and_name(each.path)
            found.setdefault(folder, []).append(name)
        return found

    def in_folder(self, folder: str) -> Counter[str]:
        """The number of documents in a folder, by stem; its path ends with a separator."""
        if folder not in self._stems:
            self._stems[folder] = Counter(stems_of(self._names.get(folder, ())))
        return self._stems[folder]


def have_other_periods(paths: Iterable[str]) -> bool:
    """Whether the names of files or folders tell members of a series apart, such as months.

    >>> have_other_periods(["minutes 2024-01.txt", "minutes 2024-02.txt"])
    True
    """
    lines = _as_lines(path.replace(os.sep, " ") for path in paths).split("\n")
    periods = {tuple(match.group() for match in _PERIOD.finditer(line)) for line in lines}
    # A path with fewer periods is no other member of the series.
    return len(periods) > len({*map(len, periods)})


def _lack_history(group: Group, named: Sequence[_Named]) -> bool:
    """Whether texts may be a series: two have no history, and only periods tell them apart.

    The periods may be in the names of folders, such as "2025/03/statement.txt".
    """
    are_others = have_other_periods([file.document.path for file in named])
    words = {(each.mark.worth, each.mark.versions) for each in named}
    has_history = len(named) > 2 and is_near(group.score)
    return are_others and len(words) < len(named) and not has_history


def _in_order(copies: _Copies) -> list[_Named] | None:
    """One document for each text of a group, from the oldest to the newest by name or time.

    None if their names differ in more than versions, or if neither tells an order.
    """
    stem = _common_stem(copies) if copies else None
    if stem is None:
        return None
    named = [_most_telling([each for each in same if each.stem == stem]) for same in copies]
    if not stem and len({each.folder for each in named}) > 1:
        return None
    named = _folded(named)
    return _ordered(named) if len(named) > 1 else None


def _folded(named: Sequence[_Named]) -> list[_Named]:
    """One document for each version: others of its name in another format are its copies.

    A PDF that was made from a version may have slightly other words.
    """
    versions = dict[_Mark, list[_Named]]()
    for each in named:
        versions.setdefault(each.mark, []).append(each)
    if len(versions) == len(named):
        return [*named]
    found = list[_Named]()
    for same in versions.values():
        formats = [each.document.format for each in same]
        is_folded = len(set(formats)) == len(same)
        found += [min(same, key=lambda each: each.document.format_place)] if is_folded else same
    return found


def _most_telling(copies: Sequence[_Named]) -> _Named:
    """The copy of a text with the name that says the most about its version."""
    return copies[0] if len(copies) == 1 else max(copies, key=_telling)


def _telling(copy: _Named) -> tuple[_Mark, int, int, str]:
    """Sorts the copies of a text: the name that says the most about its version is the last.

    A number says little, since a browser puts one behind the name of a second copy.
    """
    mark, path = copy.mark, copy.document.path
    return mark._replace(numbers=()), -len(mark.numbers), -len(path), path


def _common_stem(copies: _Copies) -> str | None:
    """The stem that each text has among the names of its copies; None if there is none."""
    common = set.intersection(*({each.stem for each in same} for same in copies))
    if len(common) < 2:
        return next(iter(common), None)
    used = Counter(each.stem for same in copies for each in same)
    return max(common, key=lambda stem: (used[stem], len(stem), stem))


def _ordered(named: Sequence[_Named]) -> list[_Named] | None:
    """Documents from the oldest to the newest by marks, and by time where these are equal.

    None if neither tells. Times tell nothing of names that differ, such as those of a text and of
    its copy. The one name without any mark is the oldest, unless it was clearly written last:
    people give a number to the second version, or to what they put aside. A word such as "final"
    is of a newer version whatever the times are.
    """
    if not _are_comparable([each.mark for each in named]):
        return None
    found = sorted(
        named, key=lambda each: (each.mark, each.document.source.mtime_ns, each.document.path)
    )
    undecided = [(one, other) for one, other in pairwise(found) if one.mark == other.mark]
    if any(one.name != other.name or not _is_later(one, other) for one, other in undecided):
        return None
    unmarked = [each for each in found if each.mark == _Mark()]
    others = [each for each in found if each.mark != _Mark()]
    if len(unmarked) == 1 and all(
        each.mark.worth <= 0 and _is_later(each, unmarked[0]) for each in others
    ):
        return others + unmarked
    return found


def _are_comparable(marks: Sequence[_Mark]) -> bool:
    """Whether all names with dates have equally many of them, and all names with numbers too."""
    dates = {len(mark.dates) for mark in marks} - {0}
    numbers = {len(mark.numbers) for mark in marks} - {0}
    return len(dates) < 2 and len(numbers) < 2


def _is_later(one: _Named, other: _Named) -> bool:
    return other.document.source.mtime_ns - one.document.source.mtime_ns >= CLEARLY_LATER_NS


def _key(step: tuple[Document, Document]) -> frozenset[bytes]:
    return frozenset(each.features_digest for each in step)


def _similarities(
    chains: Iterable[_Chain], similarities: Callable[[Pairs], Sequence[float]] | None
) -> dict[frozenset[bytes], float]:
    """The similarity of each step, by the digests of its texts.

    Similarities to a representative are in its group and not computed again. Texts of at most
    _MOST_FEATURES in all are read again; further steps are left out.
    """
    known: dict[frozenset[bytes], float] = {}
    unknown: dict[frozenset[bytes], tuple[Document, Document]] = {}
    features = 0
    for chain in chains:
        first = chain.group.members[0].document
        for member in chain.group.members:
            if member.similarity is not None:
                known[_key((first, member.document))] = member.similarity
        for step in chain.steps:
            if _key(step) not in known and _key(step) not in unknown:
                features += sum(each.features for each in step)
                if features <= _MOST_FEATURES:
                    unknown[_key(step)] = step
    if similarities is not None and unknown:
        found = similarities(list(unknown.values()))
        known |= dict(zip(unknown, map(float, found), strict=True))
    return known
