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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from xml.parsers import expat
from xml.parsers.expat import errors
from zipfile import BadZipFile, ZipFile, ZipInfo

from simdup.extract.cleanup import NotReadable
from simdup.extract.html import words_of_styles
from simdup.extract.packed import allowance

# Real files have up to 2,900 members. Each costs memory before anything is read.
MOST_MEMBERS = 10_000

# The rule for members that are not read. Formatting may change without a remark: fonts, colours,
# and how a package is packed. Of styles, settings, numbering, masters and layouts only the words
# count: texts such as those of a header, and the attributes in `_WORDS`. All other members count
# byte by byte, as the kind that their names tell.
_FORMATTING = re.compile(
    r"(?i)^(\[content_types\]\.xml|mimetype|settings\.xml|layout-cache|configurations2/.*"
    r"|meta-inf/(container|manifest|encryption|rights)\.xml"
    r"|(word|xl|ppt)/(websettings|fonttable|presprops|viewprops|tablestyles|calcchain)\.xml"
    r"|.*/(theme|fonts)/.*|.*\.(rels|ttf|otf|woff2?|odttf))$"
)
_WORDED = {
    "headers and footers": re.compile(r"(?i)^styles\.xml$"),
    "master texts": re.compile(r"(?i)^ppt/(\w+masters|slidelayouts)/[^/]+\.xml$"),
    "numbering": re.compile(r"(?i)^word/numbering\.xml$"),
    "styles": re.compile(r"(?i)^((word|xl)/styles\w*\.xml|.*\.css)$"),
    "settings": re.compile(r"(?i)^(word/settings|ppt/presentation)\.xml$"),
    "sheet names": re.compile(r"(?i)^xl/workbook\.xml$"),
    "tables of contents": re.compile(r"(?i)\.ncx$"),
}
_WORDS = {
    *(("lvlText", "val"), ("docVar", "val"), ("numFmt", "formatCode"), ("sheet", "name")),
    *(
        (f"list-level-style-{kind}", f"num-{end}")
        for kind in ("number", "bullet")
        for end in ("prefix", "suffix")
    ),
    *(("outline-level-style", "num-prefix"), ("outline-level-style", "num-suffix")),
}
_KINDS = {
    "metadata": re.compile(r"(?i)^(docprops/|meta\.xml$|.*\.opf$|thumbnails/|manifest\.rdf$)"),
    "pictures": re.compile(
        r"(?i)(^|/)(media|pictures)/|\.(png|jpe?g|gif|svg|bmp|tiff?|webp|[ew]mf)$"
    ),
    "embedded objects": re.compile(r"(?i)(^|/)(embeddings|activex)/|^object|vbaproject"),
    "charts": re.compile(r"(?i)(^|/)(charts|diagrams|drawings)/"),
    "comments": re.compile(r"(?i)comments|annotations"),
    "notes": re.compile(r"(?i)(^|/)notesslides/"),
    "headers and footers": re.compile(r"(?i)(^|/)(header|footer)\d*\.xml$"),
    "form fields": re.compile(r"(?i)(^|/)ctrlprops/"),
    "scripts": re.compile(r"(?i)\.js$|^basic/|^scripts/"),
}

_CHUNK = 1 << 16
_MEMBER_SIGN = b"PK\x01\x02"
ENCRYPTED = 1  # a bit in a member's flags
_OLE, _OLE_ENCRYPTED = b"\xd0\xcf\x11\xe0", "EncryptedPackage".encode("utf-16-le")

# The errors of `zipfile` for damaged files, by its documentation and by fuzzing.
TROUBLE = (
    *(BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, LookupError, NotImplementedError, OverflowError),
)


class Handler:
    """Receives the XML events of a member; names come without prefix."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the beginning of an element."""

    def end(self, name: str) -> None:
        """Handle the end of an element."""

    def characters(self, data: str) -> None:
        """Handle characters within the innermost element."""


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


def members(data: bytes) -> Sequence[str]:
    """The names in a zip file; none if it is damaged, or if they are too many to list."""
    try:
        return zip_file(data).namelist()
    except NotReadable:
        return ()


class Package:
    """A zip file whose members can be read until too much has been unpacked."""

    def __init__(self, data: bytes) -> None:
        """Raises NotReadable if it is encrypted, damaged or has too many members."""
        if data.startswith(_OLE):
            raise NotReadable("encrypted" if _OLE_ENCRYPTED in data else "old Office file")
        self._left, self._zip = allowance(len(data)), zip_file(data)
        self._members = {_plain(info.filename): info for info in self._zip.infolist()}
        self._folded = {name.lower(): info for name, info in reversed(self._members.items())}
        self._read = set[int]()  # where each member that was read begins

    def __contains__(self, name: str) -> bool:
        """Whether the zip file has a member of this name, in capitals or small letters."""
        return name.lower() in self._folded

    def __iter__(self) -> Iterator[str]:
        """The names of the members, in the order of the zip file."""
        return iter(self._members)

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises NotReadable."""
        self._note_read(name)
        return b"".join(self._chunks(name))

    def parse(self, name: str, handler: Handler, *, is_text: bool = True) -> None:
        """Send the XML events of a member to a handler. Raises NotReadable."""
        if is_text:
            self._note_read(name)
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, found: handler.start(_local(tag), found)
        parser.EndElementHandler = lambda tag: handler.end(_local(tag))
        parser.CharacterDataHandler = handler.characters
        parser.EntityDeclHandler = _refuse_entity
        try:
            for chunk in self._chunks(name):
                parser.Parse(chunk, False)  # noqa: FBT003 takes no keywords
            parser.Parse(b"", True)  # noqa: FBT003
        except expat.ExpatError as error:
            if error.code == errors.codes[errors.XML_ERROR_NO_MEMORY]:
                raise MemoryError from None
            raise NotReadable(f"damaged: {name}, {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError):
            raise NotReadable(f"damaged: {name}, unknown encoding") from None

    def _chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of a member in pieces, each as long as all before it. Raises NotReadable.

        Pieces grow since expat before 2.6 reads a long tag anew with every piece.
        """
        info = self._info(name)
        if info is None:
            raise NotReadable(f"damaged: {name} is missing")
        if info.flag_bits & ENCRYPTED:
            raise NotReadable("encrypted")
        size = _CHUNK
        try:
            with self._zip.open(info) as member:
                while chunk := member.read(size):
                    yield self._counted(chunk)
                    size += len(chunk)
        except TROUBLE:
            raise NotReadable(f"damaged: {name}") from None

    def _info(self, name: str) -> ZipInfo | None:
        return self._members.get(name) or self._folded.get(name.lower())

    def _note_read(self, name: str) -> None:
        if info := self._info(name):
            self._read.add(info.header_offset)

    def unread(self) -> Iterator[tuple[str, bytes]]:
        """The kind of each member that was not read and is no layout, and what tells its bytes."""
        for name, info in self._members.items():
            if info.header_offset in self._read or info.is_dir() or _FORMATTING.search(name):
                continue
            content, kind = b"%d %d" % (info.CRC, info.file_size), _kind(_WORDED, name)
            if kind:
                with suppress(NotReadable):  # a damaged one counts byte by byte
                    content = self._words(name)
            if content:
                yield kind or _kind(_KINDS, name) or "unknown parts", content

    def _words(self, name: str) -> bytes:
        """The words of a member that is otherwise formatting. Raises NotReadable."""
        if name.lower().endswith(".css"):
            css = b"".join(self._chunks(name)).decode("latin-1")
            return words_of_styles(css).encode()
        found = _Words()
        self.parse(name, found, is_text=False)
        return "\n".join(found.words).encode("utf-8", "surrogatepass")

    def _counted(self, chunk: bytes) -> bytes:
        self._left -= len(chunk)
        if self._left < 0:
            raise NotReadable("unpacks to too much")
        return chunk


class _Words(Handler):
    """Collects the characters of a member, and the attributes that are words."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Keep the attributes in `_WORDS`."""
        self.words += [each for key, each in attributes.items() if (name, _local(key)) in _WORDS]

    def characters(self, data: str) -> None:
        """Keep characters other than blanks."""
        if not data.isspace():
            self.words.append(data)


class _Elements(Handler):
    """Collects the attributes of some elements, in order."""

    def __init__(self, wanted: tuple[str, ...]) -> None:
        self.found: list[tuple[str, dict[str, str]]] = []
        self._wanted = wanted

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Keep a wanted element."""
        if name in self._wanted:
            self.found.append((name, attributes))


def elements(package: Package, name: str, *wanted: str) -> list[tuple[str, dict[str, str]]]:
    """Name and attributes of each wanted element of a member; none if the member is missing.

    The member does not count as read. Raises NotReadable.
    """
    found = _Elements(wanted)
    if name in package:
        package.parse(name, found, is_text=False)
    return found.found


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


def _kind(kinds: dict[str, re.Pattern[str]], name: str) -> str:
    """The kind of a member of this name; "" if no pattern tells it."""
    return next((kind for kind, names in kinds.items() if names.search(name)), "")


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def _refuse_entity(*_: object) -> None:
    raise NotReadable("XML that declares entities")
