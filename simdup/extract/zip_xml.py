"""Zip files of XML in, their members and XML events out, within bounds.

The XML is read event by event and never kept as a tree. Elements go by their names without
prefix, since prefixes differ from program to program. No entity may be declared, so that none
can be expanded or fetched. Unpacked bytes are counted and limited.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import TypeAlias
from xml.parsers import expat
from xml.parsers.expat import errors
from zipfile import BadZipFile, ZipFile

from simdup.extract import flat
from simdup.extract.cleanup import NotReadable
from simdup.extract.html import words_of_styles
from simdup.extract.packed import allowance
from simdup.extract.text_formats import kind_of, tables

# Real files have up to 2,900 members. Each costs memory before anything is read.
MOST_MEMBERS = 10_000

_TABLES = tables("zip_xml")
_ATTRIBUTES, _WORDS_OF = _TABLES.pop("attributes"), "words of "
_TAGS_OF_ATTRIBUTES = {each.partition("@")[0] for each in _ATTRIBUTES}

_MEMBER_SIGN = b"PK\x01\x02"
ENCRYPTED = 1  # a bit in a member's flags
_FLAT = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<")
_OLE, _OLE_ENCRYPTED = b"\xd0\xcf\x11\xe0", "EncryptedPackage".encode("utf-16-le")

# The errors of `zipfile` for damaged files, by its documentation and by fuzzing.
TROUBLE = (
    *(BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, LookupError, NotImplementedError, OverflowError),
)


#: Takes the name and the attributes of an element that begins.
Start: TypeAlias = "Callable[[str, dict[str, str]], None]"
#: Takes the name of an element that ends, or characters.
Take: TypeAlias = "Callable[[str], None]"


def check_members(number: int) -> None:
    """Raise NotReadable if an archive has more than MOST_MEMBERS members."""
    if number > MOST_MEMBERS:
        raise NotReadable(f"more than {MOST_MEMBERS:,} members")


def zip_file(data: bytes) -> ZipFile:
    """The zip file with this content. Raises NotReadable for damage and too many members."""
    check_members(data.count(_MEMBER_SIGN))
    try:
        return ZipFile(BytesIO(data))
    except TROUBLE:
        raise NotReadable("damaged zip file") from None


class Package:
    """A zip file, or a flat document, whose members can be read until too much is unpacked."""

    def __init__(self, data: bytes) -> None:
        """Raises NotReadable if it is encrypted, damaged or has too many members."""
        if data.startswith(_OLE):
            raise NotReadable("encrypted" if _OLE_ENCRYPTED in data else "old Office file")
        self._left = allowance(len(data))
        self._zip = zip_file(flat.zipped(data) if _FLAT.match(data) else data)
        self._members = {_plain(info.filename): info for info in self._zip.infolist()}
        self._folded = {name.lower(): info for name, info in reversed(self._members.items())}
        self._read = set[int]()  # where each member that was read begins

    def __contains__(self, name: str) -> bool:
        """Whether the zip file has a member of this name, in capitals or small letters."""
        return name.lower() in self._folded

    def __iter__(self) -> Iterator[str]:
        """The names of the members, in the order of the zip file."""
        return iter(self._members)

    def parse(
        self, name: str, start: Start, characters: Take, end: Take, *, is_text: bool = True
    ) -> None:
        """Send the XML events of a member to functions. Raises NotReadable."""
        data, parser = self.read(name, is_text=is_text), expat.ParserCreate()
        # All characters between two tags come at once, since both kinds of tags have a handler.
        parser.buffer_text, parser.buffer_size = True, len(data) + 1
        parser.StartElementHandler = lambda tag, found: start(_local(tag), found)
        parser.EndElementHandler = end if end is nothing else lambda tag: end(_local(tag))
        parser.CharacterDataHandler = characters
        parser.EntityDeclHandler = _refuse_entity
        try:
            parser.Parse(data, True)  # noqa: FBT003  (takes no keywords)
        except expat.ExpatError as error:
            if error.code == errors.codes[errors.XML_ERROR_NO_MEMORY]:
                raise MemoryError from None
            raise NotReadable(f"damaged: {name}, {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError):
            raise NotReadable(f"damaged: {name}, unknown encoding") from None

    def read(self, name: str, *, is_text: bool = True) -> bytes:
        """The bytes of a member, which counts as read if it `is_text`. Raises NotReadable."""
        info = self._members.get(name) or self._folded.get(name.lower())
        if info is None:
            raise NotReadable(f"damaged: {name} is missing")
        if info.flag_bits & ENCRYPTED:
            raise NotReadable("encrypted")
        try:
            with self._zip.open(info) as member:
                found = member.read(self._left + 1)
        except TROUBLE:
            raise NotReadable(f"damaged: {name}") from None
        self._left -= len(found)
        if self._left < 0:
            raise NotReadable("unpacks to too much")
        if is_text:
            self._read.add(info.header_offset)
        return found

    def kind(self, name: str) -> str:
        """The kind of content in a member of this name."""
        return kind_of(name, _TABLES)

    def is_read(self, name: str) -> bool:
        """Whether a member counts as read."""
        return self._folded[name.lower()].header_offset in self._read

    def counted(self, name: str) -> str:
        """What tells the bytes of a member, which is then no longer `unread`."""
        info = self._folded[name.lower()]
        self._read.add(info.header_offset)
        return f"{info.CRC} {info.file_size}"

    def unread(self) -> Iterator[tuple[str, bytes]]:
        """The kind of each member that was not read and is no layout, and what tells its bytes."""
        for name, info in self._members.items():
            title = kind_of(name, _TABLES)
            kind = title.removeprefix(_WORDS_OF)
            if info.header_offset in self._read or info.is_dir() or kind == "formatting":
                continue
            content = b"%d %d" % (info.CRC, info.file_size)
            if kind != title:
                with suppress(NotReadable):  # a damaged one counts byte by byte
                    content = self._words(name)
            if content:
                yield kind, content

    def _words(self, name: str) -> bytes:
        """The words of a member that is otherwise formatting. Raises NotReadable."""
        if name.lower().endswith(".css"):
            return words_of_styles(self.read(name, is_text=False).decode("latin-1")).encode()
        words = list[str]()

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag in _TAGS_OF_ATTRIBUTES:
                named = {f"{tag}@{_local(key)}": each for key, each in attributes.items()}
                words.extend(each for key, each in named.items() if key in _ATTRIBUTES)

        def characters(data: str) -> None:
            if not data.isspace():
                words.append(data)

        self.parse(name, start, characters, nothing, is_text=False)
        return "\n".join(words).encode("utf-8", "surrogatepass")


def elements(package: Package, name: str, wanted: str) -> list[dict[str, str]]:
    """The attributes of each wanted element of a member; none if the member is missing.

    The member does not count as read. Raises NotReadable.
    """
    found = list[dict[str, str]]()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == wanted:
            found.append(attributes)

    if name in package:
        package.parse(name, start, nothing, nothing, is_text=False)
    return found


def nothing(_: str) -> None:
    """Take nothing of a member."""


def inside(part: str, reference: str) -> str:
    r"""The name of the member that a part refers to.

    >>> inside("word/document.xml", "media\\a.png"), inside("word/document.xml", "/b.xml")
    ('word/media/a.png', 'b.xml')
    """
    return _plain(
        posixpath.join("/", posixpath.dirname(part), reference.replace("\\", "/"))
    ).lstrip("/")


def _plain(name: str) -> str:
    r"""A member's name in normal form: some programs store "./a" or "b\a"."""
    return posixpath.normpath(name.replace("\\", "/"))


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def _refuse_entity(*_: object) -> None:
    raise NotReadable("XML that declares entities")
