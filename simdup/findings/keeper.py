"""Groups of files in, the same groups out: the file that a person would keep leads each of them.

`Reason` lists the reasons in their order; the first one by which two files differ decides. Each
file of a group has a `Key` with a field for each reason, and the file with the smallest key is
kept. `simdup clean` uses the same keys, and tells the page of a result what it decides.

Groups are formed by content alone, and no name or time changes them. Only the leader of a group,
and with it the similarities shown, depend on names and times.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, lru_cache
from itertools import islice
from operator import xor
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias
from unicodedata import normalize

import numpy as np

from simdup.arrays import Indices
from simdup.findings.exports import Known, for_print, pair_key, pairs_to_compare
from simdup.findings.marks import are_copies, is_name_of_copy
from simdup.match.tiers import NEAR, RELATED, scores
from simdup.recipe import Recipe
from simdup.records import Document, FolderPair, Group, Kind, Member, ScanResult

Pairs: TypeAlias = Sequence[tuple[Document, Document]]
# The similarity and the own share of a pair.
Figures: TypeAlias = tuple[float | None, float | None]

# Files that were unpacked or copied together are as old as each other.
NS_OF_A_MINUTE = 60_000_000_000

# Encodings that lose no character, the usual one first; all others come after them.
_UNICODE = {"utf-8": 0, "ascii": 0, "utf-8-sig": 1, "utf-16-le": 2, "utf-16-be": 2}


def _at_an_end(words: str, cjk: str) -> str:
    """A pattern for names that begin or end with one of the words, or are one."""
    begins = rf"(?:(?:{words})(?![^\W\d_])|{cjk}).*"
    return rf"[\W\d_]*{begins}|.*(?:(?<![^\W\d_])(?:{words})|{cjk})[\W\d_]*"


# What a folder of old files may be called after: the machine or the disk that was replaced.
_MACHINES = (
    r"(?:laptops?|computers?|pcs?|mac(?:book)?s?|desktops?|phones?|disks?|drives?|hard ?drives?|hdd"
    r"|machines?|servers?|usb(?: stick)?|rechner|festplatten?|handys?|ordinateurs?|portables?"
    r"|disques?(?: durs?)?|ordenador(?:es)?|portátil(?:es)?|discos?(?: duros?)?|backups?|home)"
)

# The names of folders for copies, the worst first: as the fields of `Key` from trash to desktop.
_PLACES = {
    "trash": r"[\W\d_]*(?:trash(?:es)?|recycled?|recycler|recycle.?bin"
    r"|wastebasket|rubbish|deleted(?: items| files)?|papierkorb|corbeille|papelera"
    r"(?: de reciclaje)?|回收站|废纸篓|垃圾箱|垃圾桶|資源回收筒|ごみ箱|ゴミ箱"
    r"|tmp|temp|temporary(?: files| items)?|cache|lost\+found|temporär|temporaire|temporal"
    r"|临时(?:文件)?|缓存|臨時|暫存|一時(?:ファイル)?)[\W\d_]*",
    "downloads": r"[\W\d_]*(?:(?:my |meine |mes |mis )?(?:downloads?|downloaded"
    r"|heruntergeladen(?:es)?|téléchargements?|descargas?)|(?:我的)?下[载載]|ダウンロード"
    r"|whatsapp(?: documents| images)?|telegram(?: desktop)?|wechat files|bluetooth|airdrop)"
    r"[\W\d_]*",
    "backup": _at_an_end(
        "backups?|back-ups?|bak|sicherung(?:en)?|sicherungskopien?|datensicherung(?:en)?"
        "|sauvegardes?|respaldos?|copias? de seguridad|copies? de sauvegarde",
        "(?:备份|備份|バックアップ)",
    ),
    "device": r"[\W\d_]*(?:(?:from |my |mein |mon |mi |old |altes |ancien )?(?:i?phones?|android"
    r"|smartphones?|handys?|mobile(?: phone)?|t[eé]l[eé]phone|m[oó]vil"
    r"|usb(?:[ -]?(?:sticks?|drives?|disks?))?|sd(?:[ -]?cards?)?|memory[ -]?sticks?"
    r"|speicherkarten?|clés?[ -]usb|pendrives?)"
    r"(?: (?:documents?|files?|copy))?|(?:我的|旧|舊)?(?:手机|手機|携帯|スマホ|[u优]盘|隨身碟))"
    r"[\W\d_]*",
    "copied": r"(?:copy|copies|kopie|copie|copia)(?: \(\d+\))? (?:of|von|de|du) .*"
    r"|(?:.*[\W_])?(?:copy|copies|kopien?|copies?|copias?)[\W\d_]*"
    r"|.*(?:副本|复件|拷贝|拷貝|複製|コピー|转码|轉碼)[\W\d_]*|converted|konvertiert",
    "old": r"[\W\d_]*(?:old|previous)(?: files| stuff"
    r"| versions?| docs)?[\W\d_]*|.*[\W_]old[\W\d_]*|[\W\d_]*(?:archived?|archives|archiv|altes?"
    r"|alte dateien|vieux|ancien(?:ne)?s?|antigu[oa]s?|viej[oa]s?|archivad[oa]s?|[旧舊]的?"
    r"|[旧老]文件|旧版|舊檔案?"
    r"|归档|存档|歸檔|封存|古い|旧ファイル|アーカイブ|保管|[旧舊老古]い?"
    r"(?:的)?(?:电脑|電腦|笔记本|筆電|手机|手機|硬盘|硬碟|机器|パソコン|pc|mac))[\W\d_]*"
    rf"|(?:my |mein |mon |mi )?(?:old|previous|alte[rs]?|anciens?|vieux|viej[oa]s?|antigu[oa]s?)"
    rf"[\W_]+{_MACHINES}[\W\d_]*|{_MACHINES}[\W_]+(?:vieux|anciens?|viej[oa]s?|antigu[oa]s?)[\W\d_]*",
    "desktop": r"[\W\d_]*(?:desktop|schreibtisch|bureau|escritorio|桌面|デスクトップ)"
    r"[\W\d_]*",
}
_PLACE = [re.compile(pattern) for pattern in _PLACES.values()]


class Reason(Enum):
    """Why one file is kept and not another, in the order in which reasons are asked."""

    UNLIKE = "like all others"
    ARCHIVE = "not inside an archive"
    REFERENCE = "in a folder of --against"
    KEEP_UNDER = "under a folder to keep"
    LET_GO_UNDER = "not under a folder to let go"
    VERSION = "the newest version"
    TRASH = "not in a trash or temporary folder"
    DOWNLOADS = "not in a downloads folder"
    BACKUP = "not in a backup folder"
    DEVICE = "not in a folder of a phone or a removable disk"
    COPIED = "not in a copied folder"
    OLD = "not in a folder of old files"
    DESKTOP = "not on the desktop"
    MARK = "its name has no mark of a copy"
    FOLDER = "not in a folder that is a copy of another"
    DAMAGE = "no damaged characters"
    FOR_PRINT = "it can be edited, and is not made for print"
    LENGTH = "the longer text"
    FORMAT = "a format that holds more"
    ENCODING = "in UTF-8"
    AGE = "the older file"
    PATH = "shorter path"
    NAME = "order of names"


class Key(NamedTuple):
    """What the reasons ask of one file; of several files the one with the smallest key is kept.

    keep_under: The place of the first folder to keep that it lies under.
    version: How many versions are newer.
    trash: How many folders of its path are called like a trash; so for the next ones.
    mark: Whether its name is that of a copy of another file with the same words.
    folder: In how many folders it lies that are copies of others.
    for_print: Whether it was made from another file of its group.
    length: The number of its features, below 0.
    age: When it was changed, in minutes.
    """

    unlike: int
    archive: int
    reference: int
    keep_under: int
    let_go_under: int
    version: int
    trash: int
    downloads: int
    backup: int
    device: int
    copied: int
    old: int
    desktop: int
    mark: int
    folder: int
    damage: int
    for_print: int
    length: int
    format: int
    encoding: int
    age: int
    path: int
    name: bytes


#: The first half of a key, which few files have for themselves, and the second half.
_Half: TypeAlias = tuple[int, ...]

# Ages of texts with the same words are below this number, so that those of chains come before them.
_MOST_TEXTS = 1 << 20

_STRENGTH = {kind: position for position, kind in enumerate(Kind)}


class Matching(Protocol):
    """The documents that were compared in full, and questions about pairs of them."""

    @property
    def documents(self) -> Sequence[Document]:
        """Return these documents."""

    def similarities(self, pairs: Pairs) -> Sequence[float]:
        """Compute the exact similarities of pairs of documents, whose texts are read again."""

    def own_shares(self, pairs: Pairs) -> Sequence[float | None]:
        """Return the own share of each pair; None if it is unknown."""


def is_under(path: str, folder: str) -> bool:
    """Whether a path is this folder or lies in it, at any depth.

    >>> is_under("/mnt/ab/c", "/mnt/a"), is_under("/mnt/a/c", "/mnt/a"), is_under("/mnt", "/")
    (False, True, True)
    """
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def reason(kept: Key, other: Key) -> Reason:
    """Why a file with one key is kept and not a file with another key."""
    pairs = zip(Reason, kept, other, strict=True)
    return next((reason for reason, one, two in pairs if one != two), Reason.NAME)


def newest_of(group: Group, keys: Sequence[Key]) -> list[bool]:
    """Which members have the newest version of a chain, or of several with the same words."""
    words = [member.document.bare_words for member in group.members]
    older = {own for own, key in zip(words, keys, strict=True) if key.version}
    return [
        not key.version and (bool(group.versions) or own in older)
        for own, key in zip(words, keys, strict=True)
    ]


def ranks(documents: Sequence[Document]) -> Indices:
    """The rank of each document by its own key, from 0 on, whatever group it is in."""
    keys = list(_own_keys(documents))
    rank = np.empty(len(keys), np.int64)
    rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return rank


def keys_of(result: ScanResult, known: Known = MappingProxyType({})) -> list[list[Key]]:
    """The key of each member of each group: of a group, the file with the smallest one is kept.

    `known` has similarities besides those to the first members.
    """
    groups = result.groups
    own = _own_keys(each.document for group in groups for each in group.members)
    joined = (Key._make((*first, *last)) for first, last in own)
    keys = [[*islice(joined, len(group.members))] for group in groups]
    if result.keep_under or result.let_go_under:
        _add_wishes(result, keys)
    for group, of_group in zip(groups, keys, strict=True):
        _put(of_group, "mark", _marks(group))
        are_made, are_older = for_print(group, known, result.settings.recipe)
        if any(are_made):
            _put(of_group, "for_print", are_made)
        if any(ages := _ages(group, are_older)):
            _put(of_group, "version", ages)
        if any(unlike := _unlike_others(group)):
            _put(of_group, "unlike", unlike)
    _add_folders(result.folders, groups, keys)
    return keys


def _unlike_others(group: Group) -> list[bool]:
    """Which members never lead a group, unless all are so.

    Members of a near group that are only related, and ones that the user called different.
    """
    digests = {each.document.path: each.document.text_digest for each in group.members}
    called = {digests[path] for pair in group.not_duplicates for path in pair}
    is_near = group.tier == NEAR
    return [
        each.document.text_digest in called
        or (is_near and each.tier == RELATED and not each.document.source.is_reference)
        for each in group.members
    ]


def _put(keys: list[Key], field: str, values: Iterable[Any]) -> None:
    """Set one field of the keys."""
    keys[:] = [key._replace(**{field: value}) for key, value in zip(keys, values, strict=True)]


def _own_keys(documents: Iterable[Document]) -> Iterator[tuple[_Half, tuple[int | bytes, ...]]]:
    """The keys of documents in two halves, as far as each document by itself tells them.

    Equal first halves are one tuple, since few differ, and one tuple is soon compared with itself.
    """
    of_folder, halves = cache(places), dict[_Half, _Half]()
    for each in documents:
        source = each.source
        folder, _, name = source.path.rpartition(os.sep)
        first = (
            *(0, source.archive is not None, not source.is_reference, 0, 0, 0),
            *(*of_folder(folder), is_name_of_copy(name), 0),
            *(bool(each.damaged or each.doubt), 0),
        )
        age, path = source.mtime_ns // NS_OF_A_MINUTE, os.fsencode(source.path)
        unusual = _UNICODE.get(each.encoding, 3) if each.format == "text" else 0
        second = -each.features, each.format_place, unusual, age, len(source.path), path
        yield halves.setdefault(first, first), second


def places(folder: str) -> tuple[int, ...]:
    """How many folders of a path are places for copies of each sort."""
    sorts = Counter(map(_place, folder.split(os.sep)))
    return tuple(sorts[number] for number in range(len(_PLACE)))


@lru_cache(1 << 14)
def _place(name: str) -> int | None:
    """The sort of places for copies that a name of a folder tells; None for any other folder."""
    folded = normalize("NFKC", name).casefold()
    return next((n for n, each in enumerate(_PLACE) if each.fullmatch(folded)), None)


def _add_wishes(result: ScanResult, keys: list[list[Key]]) -> None:
    """Say which files lie under the folders that the user rather keeps, or rather lets go."""
    base = result.base or os.curdir
    real = cache(os.path.realpath)
    wishes = [
        [real(os.path.join(base, folder)) for folder in folders]
        for folders in (result.keep_under, result.let_go_under)
    ]
    for group, of_group in zip(result.groups, keys, strict=True):
        folders = [
            real(os.path.join(base, os.path.dirname(each.document.path))) for each in group.members
        ]
        kept, let_go = ([_first_above(f, wish) for f in folders] for wish in wishes)
        _put(of_group, "keep_under", kept)
        _put(of_group, "let_go_under", [place < len(wishes[1]) for place in let_go])


def _first_above(folder: str, folders: Sequence[str]) -> int:
    """The place of the first of these folders that a folder lies in; their number if in none."""
    inside = (place for place, each in enumerate(folders) if is_under(folder, each))
    return next(inside, len(folders))


def _ages(group: Group, are_older: Sequence[bool]) -> list[int]:
    """How many versions are newer than the version that each member is a copy of.

    A copy in another format may have slightly other words, but its name tells the version. Among
    files with the same words, their names and times tell it. `are_older` are those that were made
    for print, or from which such a file was made, before the other one was changed.
    """
    from simdup.findings.versions import ages_of, names_of  # noqa: PLC0415  slow to import

    documents = [member.document for member in group.members]
    ages = [int(is_older) for is_older in are_older]
    for same in _same_words(documents):
        for place, age in zip(same, ages_of([documents[at] for at in same]), strict=True):
            ages[place] += age
    if not group.versions:
        return ages
    chain = [version.path for version in group.versions[::-1]]
    words = {document.path: document.bare_words for document in documents}
    of_chain = {words[path]: place for place, path in enumerate(chain)}
    by_name = dict(zip(names_of(chain), range(len(chain)), strict=True))
    names = names_of(words)
    return [
        own + _MOST_TEXTS * of_chain.get(document.bare_words, by_name.get(name, len(chain)))
        for own, document, name in zip(ages, documents, names, strict=True)
    ]


def _same_words(documents: Sequence[Document]) -> list[list[int]]:
    """The places of documents with the same words, where there are several."""
    same: dict[bytes, list[int]] = {}
    for place, document in enumerate(documents):
        same.setdefault(document.bare_words, []).append(place)
    return [places for places in same.values() if len(places) > 1]


def _marks(group: Group) -> list[bool]:
    """Which members have the name of a copy, beside one with the same words."""
    documents = [member.document for member in group.members]
    marks = [False] * len(documents)
    for same in _same_words(documents):
        names = [os.path.basename(documents[place].path) for place in same]
        for place, is_copy in zip(same, are_copies(names), strict=True):
            marks[place] = is_copy
    return marks


class Copy(NamedTuple):
    """A file in the first folder of a pair, and the one at the same place in the other folder.

    All but `kind`, which says how the two are alike, are places: of the pair, of the group, and of
    the two files in that.
    """

    pair: int
    group: int
    file: int
    other: int
    kind: Kind


def _add_folders(
    pairs: Sequence[FolderPair], groups: Sequence[Group], keys: list[list[Key]]
) -> None:
    """Say which files lie in a folder that goes as a whole, since another one has its files.

    The folder with fewer files goes. Of two with equally many, the one that has fewer of the files
    which all other reasons keep.
    """
    copies, votes = [*copies_in(pairs, groups)], Counter[int]()
    for each in copies:
        one, other = keys[each.group][each.file], keys[each.group][each.other]
        votes[each.pair] += (one < other) - (other < one)
    parts = [[0] * len(of_group) for of_group in keys]
    for each in copies:
        pair = pairs[each.pair]
        stays = pair.files == pair.other_files and votes[each.pair] > 0
        parts[each.group][each.other if stays else each.file] += 1
    for of_group, of_files in zip(keys, parts, strict=True):
        if any(of_files):
            _put(of_group, "folder", of_files)


def copies_in(pairs: Sequence[FolderPair], groups: Sequence[Group]) -> Iterator[Copy]:
    """Yield the copies with the same words, at the same place in both folders of a pair."""
    return (copy for copy in files_beside(pairs, groups) if copy.kind is not Kind.NEAR)


def files_beside(pairs: Sequence[FolderPair], groups: Sequence[Group]) -> Iterator[Copy]:
    """Yield the files of groups that are at the same place in both folders of a pair."""
    first = {pair.path: number for number, pair in enumerate(pairs)}
    for number, group in enumerate(groups) if pairs else ():
        documents = [member.document for member in group.members]
        place = {document.path: at for at, document in enumerate(documents)}
        for at, document in enumerate(documents):
            for folder in first.keys() & set(folders_above(document.path)):
                inside = document.path[len(folder) + 1 :]
                other = place.get(os.path.join(pairs[first[folder]].other, inside))
                if other is not None:
                    kind = document.kind_with(documents[other])
                    yield Copy(first[folder], number, at, other, kind)


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a path lies in, the innermost first."""
    while os.sep in path:
        path = path[: path.rindex(os.sep)]
        yield path


def closest_first(members: Sequence[Member], recipe: Recipe) -> tuple[Member, ...]:
    """The first member of a group, and then the others, those with the highest scores first."""
    if len(members) < 3:
        return tuple(members)

    def order(place: int) -> tuple[int, float, int, str]:
        member, score = members[place], found[place] or 0
        return _STRENGTH[member.kind], -score, member.distance, member.document.path

    found = scores(members, recipe)
    return tuple(members[place] for place in (0, *sorted(range(1, len(members)), key=order)))


def with_keepers(result: ScanResult, matching: Matching) -> tuple[Group, ...]:
    """The groups of a result, each led by the file that is kept, and seen from there."""
    keys = keys_of(result, _similarities(result, matching))
    chosen = [min(range(len(each)), key=each.__getitem__) for each in keys]
    pairs = [
        pair
        for group, first in zip(result.groups, chosen, strict=True)
        for pair in _unknown(group, first)
    ]
    alike: Sequence[float | None] = [None] * len(pairs)
    if pairs and result.settings.verified:
        alike = list(map(float, matching.similarities(pairs)))
    figures = zip(alike, matching.own_shares(pairs), strict=True)
    known = {_key(*pair): each for pair, each in zip(pairs, figures, strict=True)}
    return tuple(
        _led(group, first, known, result.settings.recipe)._replace(why=_why(first, of_group))
        for group, first, of_group in zip(result.groups, chosen, keys, strict=True)
    )


def _why(first: int, keys: Sequence[Key]) -> str:
    """Why the first member is kept and not the best one of the others."""
    others = (key for place, key in enumerate(keys) if place != first)
    return reason(keys[first], min(others)).value


def _key(one: Document, other: Document) -> frozenset[bytes]:
    return frozenset((one.features_digest, other.features_digest))


def _similarities(result: ScanResult, matching: Matching) -> dict[frozenset[bytes], float]:
    """The similarities of files made for print to those that they may be made from."""
    pairs = [pair for group in result.groups for pair in pairs_to_compare(group)]
    values = matching.similarities(pairs) if pairs and result.settings.verified else ()
    return {pair_key(*pair): value for pair, value in zip(pairs, values, strict=False)}


def _unknown(group: Group, first: int) -> Iterator[tuple[Document, Document]]:
    """Yield the new leader with one document of each text to which no similarity is known."""
    old, new = group.members[0].document, group.members[first].document
    if old.features_digest != new.features_digest:
        texts = {each.document.features_digest: each.document for each in group.members}
        others = texts.keys() - {old.features_digest, new.features_digest}
        yield from ((new, texts[each]) for each in sorted(others))


def _led(
    group: Group, first: int, known: Mapping[frozenset[bytes], Figures], recipe: Recipe
) -> Group:
    """The group with the member at place `first` as its first one, and figures to that one."""
    if not first:
        return group
    old, new = group.members[0], group.members[first]
    seen = [_seen(each, old, new, known) for each in group.members]
    in_order = closest_first([seen[first], *seen[:first], *seen[first + 1 :]], recipe)
    return group._replace(members=in_order)


def _seen(
    member: Member, old: Member, new: Member, known: Mapping[frozenset[bytes], Figures]
) -> Member:
    """A member with the figures of a pair with the new leader, instead of with the old one."""
    member = member._replace(kind=member.document.kind_with(new.document))
    of_member, of_old, of_new = (each.document.features_digest for each in (member, old, new))
    if of_old == of_new:
        return member
    figures = {of_new: _figures(old), of_old: _figures(new)}.get(of_member)
    similarity, own_share = figures or known[_key(member.document, new.document)]
    rows = (int.from_bytes(each.fingerprint, "big") for each in (member, new))
    distance = xor(*rows).bit_count()
    return member._replace(similarity=similarity, own_share=own_share, distance=distance)


def _figures(member: Member) -> Figures:
    return member.similarity, member.own_share
