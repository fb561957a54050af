"""Bytes of a document in, its text out, by the reader for its format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from simdup.extract.cleanup import NotReadable, ReaderFailed, with_unread
from simdup.extract.packed import can_unpack, packing_of
from simdup.extract.sniff import COMPOUND, HEAD, TEXTS, ZIP, format_of
from simdup.records import Reason
from simdup.settings import PACKINGS, USUAL, Converter, Limits
from simdup.text.encodings import decode, encoding_named
from simdup.versions import version

if TYPE_CHECKING:
    from simdup.extract.sandbox import Guard


# The formats that each module reads: one by its function `text`, several by functions with their
# names.
_MODULES = {
    "html": "html",
    "office": "epub docx odt ods odp pptx xlsx",
    "old_office": "doc ppt msg",
    "workbooks": "xls",
    "rtf": "rtf",
    "pdf": "pdf",
    "eml": "eml mbox",
    "text_formats": "srt vtt ass md ipynb",
    "tex": "tex",
    "roff": "man",
}
# Readers of these formats do not say what they leave out: all of the source counts as unread.
_LEFT_OUT = dict.fromkeys(("srt", "vtt", "ass"), "timings") | dict.fromkeys(
    ("tex", "man"), "commands and comments"
)


def _reader(module: str, name: str, function: str) -> Callable[[bytes], str]:
    """A reader whose module is imported for the first document it reads."""

    def read(data: bytes) -> str:
        text: str = getattr(import_module(f"simdup.extract.{module}"), function)(data)
        return with_unread(text, [(_LEFT_OUT[name], data)]) if name in _LEFT_OUT else text

    return read


READERS = {
    name: _reader(module, name, name if " " in names else "text")
    for module, names in _MODULES.items()
    for name in names.split()
}
# Formats read without a sandbox up to `Limits.unguarded_bytes`: one regular expression cuts them,
# in time and memory proportional to the file. The other formats have parsers that a small hostile
# file can keep busy for minutes.
UNGUARDED = frozenset({"html", "rtf"}) | TEXTS - {"ipynb"}
# The packages that read formats, and the extras that install packages.
_PACKAGES = {"pdf": "pypdfium2"}
_EXTRAS = {"pypdfium2": "docs", "zstandard": "docs"}

# Packages of members, whose names show the format.
_PACKAGED = (ZIP, COMPOUND)

#: Raised with every change that gives the same document another text or other unread content.
EDITION = 18


class NotInstalled(NotReadable):
    """The package that reads such documents is not installed."""

    kind = Reason.MISSING_EXTRA

    def __init__(self, package: str) -> None:
        super().__init__(f"needs {package}: pip install 'simdup[{_EXTRAS[package]}]'")


def kind(data: bytes, path: str) -> str | None:
    """The kind of document that a whole file is; None if it is plain text or binary."""
    return format_of(data[:HEAD], path, lambda: _members(data))


class Identified(NamedTuple):
    """What the first bytes and the name of a file show, of that which is to be read.

    packing: One of PACKINGS, if the file is to be unpacked.
    format: The format of a document. The whole of a package is certain about that; see `settled`.
    is_package: Whether it is a zip file or compound file whose format is not known yet.
    """

    name: str
    packing: str | None = None
    format: str | None = None
    converter: Converter | None = None
    is_package: bool = False

    @property
    def written_as(self) -> str | None:
        """The format as `records.Document.encoding` has it; None if there is nothing to extract."""
        return f".{self.converter.ending}" if self.converter else self.format


class Readers:
    """Reads the text of documents; close it when done."""

    def __init__(
        self,
        formats: Collection[str],
        converters: Sequence[Converter] = (),
        encoding: str | None = None,
        limits: Limits = USUAL,
    ) -> None:
        """Read these formats (of FORMATS); `converters` come before them.

        `encoding` is the encoding of all text files; None: it is detected.
        """
        self._formats = frozenset(formats)
        self._converters = tuple(converters)
        self.encoding = None if encoding is None else encoding_named(encoding)
        """The encoding that all text files are in; None if it is detected."""
        self.limits = limits
        self._guard: Guard | None = None

    @property
    def are_idle(self) -> bool:
        """Whether there is no format to read."""
        return not self._formats and not self._converters

    def identify(self, head: bytes, name: str, *, is_file: bool = True) -> Identified:
        """What data with this beginning is; HEAD bytes will do.

        With `is_file` the data is the file of this name, and not only part of it.
        """
        if self.are_idle:
            return Identified(name)
        if self._converters:
            from simdup.extract.convert import converter_for  # noqa: PLC0415  few runs have some

            if converter := converter_for(name, self._converters, is_file=is_file):
                return Identified(name, converter=converter)
        if packing := self._wanted(packing_of(head)):
            return Identified(name, packing)
        found = format_of(head[:HEAD], name)
        is_package = not found and head.startswith(_PACKAGED)
        return Identified(name, None, self._wanted(found), None, is_package)

    def settled(self, found: Identified, data: bytes) -> Identified:
        """What the data is, now that all of it is known: a package is what its members show."""
        if found.converter or not data.startswith(_PACKAGED):
            return found
        return Identified(found.name, format=self._wanted(kind(data, found.name)))

    def _wanted(self, found: str | None) -> str | None:
        return found if found in self._formats else None

    def text(self, found: Identified, data: bytes) -> str | None:
        """The text of a document; None if it is plain text after all. Raises NotReadable."""
        if found.converter is not None:
            from simdup.extract.convert import converted  # noqa: PLC0415  few runs have converters

            text = converted(found.converter, data, found.name)
            return with_unread(text, [("parts that a converter may leave out", data)])
        if found.format is None:
            return None
        package = _PACKAGES.get(found.format)
        if package and not find_spec(package):
            raise NotInstalled(package)
        if found.format in TEXTS:
            return self._of_text_file(found.format, data)
        return self._read(found.format, data)

    def _of_text_file(self, found: str, data: bytes) -> str | None:
        """The text of a text file; None if it only begins like a file of this format."""
        if self.encoding is not None:
            data = decode(data, self.encoding).encode("utf-8", "surrogatepass")
        try:
            return self._read(found, data)
        except ReaderFailed:
            raise
        except NotReadable:
            return None

    def _read(self, found: str, data: bytes) -> str:
        """The text of a document of this format. Raises NotReadable."""
        if found in UNGUARDED and len(data) <= self.limits.unguarded_bytes:
            return READERS[found](data)
        if self._guard is None:
            from simdup.extract.sandbox import Guard  # noqa: PLC0415  few files want it

            self._guard = Guard()
        return self._guard.text(found, data)

    def close(self) -> None:
        """End the reading process, if there is one."""
        if self._guard is not None:
            self._guard.close()


#: Reads every file as plain text.
NO_READERS = Readers(())


def check_unpacks(packing: str) -> None:
    """Raise NotInstalled if a file with this packing cannot be unpacked."""
    if not can_unpack(packing):
        raise NotInstalled("zstandard")


def edition(formats: Collection[str], converters: Sequence[Converter] = ()) -> str:
    """A string that changes whenever the same documents may give other texts or become readable."""
    packages = {package for name, package in _PACKAGES.items() if name in formats}
    versions = [f"{name} {version(name)}" for name in sorted(packages) if find_spec(name)]
    locked = [f"no {name}" for name in PACKINGS if name in formats and not can_unpack(name)]
    programs = [import_module("simdup.extract.convert").edition(each) for each in converters]
    told = *sorted(formats), *versions, *locked, *programs
    return f"{EDITION}: {', '.join(told)}"


def _members(data: bytes) -> Sequence[str]:
    """The names in a zip file, or of streams that no storage holds; none if it is damaged."""
    with suppress(NotReadable):
        if data.startswith(COMPOUND):
            from simdup.extract.old_office import Compound  # noqa: PLC0415  few files want it

            return [name for name in Compound(data) if "/" not in name]
        from simdup.extract.zip_xml import zip_file  # noqa: PLC0415  imports zipfile and expat

        return zip_file(data).namelist()
    return ()
