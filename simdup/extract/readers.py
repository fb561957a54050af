"""Bytes of a document in, its text out, by the reader for its format."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from simdup.extract.cleanup import NotReadable, ReaderFailed
from simdup.extract.packed import can_unpack, packing_of
from simdup.extract.sniff import TEXTS, ZIP, Format, format_of
from simdup.records import Reason
from simdup.settings import PACKINGS
from simdup.text.encodings import decode, encoding_named
from simdup.versions import version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import NoReturn

    from simdup.extract.sandbox import Guard
    from simdup.settings import Converter


def _late(module: str, name: str) -> Callable[[bytes], str]:
    """A reader whose module is imported for the first document it reads."""

    def reader(data: bytes) -> str:
        text: str = getattr(import_module(f"simdup.extract.{module}"), name)(data)
        return text

    return reader


READERS: dict[Format, Callable[[bytes], str]] = {
    Format.HTML: _late("html", "text"),
    Format.EPUB: _late("office", "epub_text"),
    Format.DOCX: _late("office", "docx_text"),
    Format.ODT: _late("office", "odf_text"),
    Format.ODS: _late("office", "odf_text"),
    Format.ODP: _late("office", "odf_text"),
    Format.PPTX: _late("office", "pptx_text"),
    Format.XLSX: _late("office", "xlsx_text"),
    Format.RTF: _late("rtf", "text"),
    Format.PDF: _late("pdf", "text"),
    Format.EML: _late("eml", "text"),
    Format.MBOX: _late("eml", "mailbox"),
    Format.SRT: _late("subtitles", "srt"),
    Format.VTT: _late("subtitles", "vtt"),
    Format.ASS: _late("subtitles", "ass"),
    Format.MD: _late("front_matter", "text"),
    Format.IPYNB: _late("notebook", "text"),
    Format.TEX: _late("tex", "text"),
    Format.MAN: _late("roff", "text"),
}
# Formats read without a sandbox up to this size: one regular expression cuts them, in time and
# memory proportional to the file, and the worst files of UNGUARDED_BYTES take some seconds. The
# other formats have parsers that a small hostile file can keep busy for minutes.
UNGUARDED = frozenset({Format.HTML, Format.RTF}) | TEXTS - {Format.IPYNB}
UNGUARDED_BYTES = 1 << 20
_PACKAGES = {Format.PDF: "pypdfium2"}
_INSTALL = "pip install 'simdup[docs]'"

#: Raised with every change that gives the same document another text.
EDITION = 6

# So many first bytes of a file show its format; a zip file may need more.
HEAD = 1 << 16


class NotInstalled(NotReadable):
    """The package that reads such documents is not installed."""

    kind = Reason.MISSING_EXTRA


def kind(data: bytes, path: str) -> Format | None:
    """The kind of document that a whole file is; None if it is plain text or binary."""
    return format_of(data[:HEAD], path, lambda: _members(data))


class Readers:
    """Reads the text of documents; close it when done."""

    def __init__(
        self,
        formats: Collection[str],
        converters: Sequence[Converter] = (),
        encoding: str | None = None,
    ) -> None:
        """Read these formats (values of `Format`); `converters` come before them.

        `encoding` is the encoding of all text files; None: it is detected.
        """
        self._packings = frozenset(formats) & frozenset(PACKINGS)
        self._formats = frozenset(map(Format, frozenset(formats) - self._packings))
        self._converters = tuple(converters)
        self._encoding = None if encoding is None else encoding_named(encoding)
        self._guard: Guard | None = None

    @property
    def are_idle(self) -> bool:
        """Whether there is no format to read."""
        return not self._formats and not self._packings and not self._converters

    def packing(self, head: bytes, path: str) -> str | None:
        """How a file with this beginning is packed, if it is to be unpacked: one of PACKINGS."""
        found = packing_of(head)
        is_wanted = found in self._packings and not self._converter(path)
        return found if is_wanted else None

    def take(self, head: bytes, path: str, *, is_file: bool = True) -> bool:
        """Whether data with this beginning may be a document to read, so that all of it is needed.

        With `is_file` the data is the file at this path, and not only part of it.
        """
        if self.know(head, path, is_file=is_file):
            return True
        return head.startswith(ZIP) and not self.are_idle and format_of(head, path) is None

    def know(self, head: bytes, path: str, *, is_file: bool = True) -> bool:
        """Whether data with this beginning is a document to read, whatever follows."""
        if self.are_idle:
            return False
        if self._converter(path, is_file=is_file):
            return True
        return format_of(head, path) in self._formats

    def know_text(self, head: bytes, path: str, *, is_file: bool = True) -> bool:
        """Whether data with this beginning is a text file, which may be plain text after all."""
        return not self._converter(path, is_file=is_file) and format_of(head, path) in TEXTS

    def kind(self, data: bytes, path: str, *, is_file: bool = True) -> str | None:
        """The format of a document, as `records.Document.encoding` has it; None if it is none."""
        if converter := self._converter(path, is_file=is_file):
            return f".{converter.ending}"
        found = kind(data, path)
        return found.value if found in self._formats else None

    def text(self, data: bytes, path: str, *, is_file: bool = True) -> tuple[str, str] | None:
        """The text of a document and its format, as `records.Document.encoding` has it.

        None if it is not a document after all. Raises NotReadable.
        """
        if converter := self._converter(path, is_file=is_file):
            from simdup.extract.convert import converted  # noqa: PLC0415  few runs have converters

            return converted(converter, data, path), f".{converter.ending}"
        found = kind(data, path)
        if found is None or found not in self._formats:
            return None
        package = _PACKAGES.get(found)
        if package and not find_spec(package):
            raise NotInstalled(f"needs {package}: {_INSTALL}")
        if found in TEXTS:
            return self._of_text_file(found, data)
        return self._read(found, data), found.value

    def _of_text_file(self, found: Format, data: bytes) -> tuple[str, str] | None:
        """The text of a text file and its format; None if it only begins like such a file."""
        if self._encoding is not None:
            data = decode(data, self._encoding).encode("utf-8", "surrogatepass")
        try:
            return self._read(found, data), found.value
        except ReaderFailed:
            raise
        except NotReadable:
            return None

    def _read(self, found: Format, data: bytes) -> str:
        """The text of a document of this format. Raises NotReadable."""
        if found in UNGUARDED and len(data) <= UNGUARDED_BYTES:
            return READERS[found](data)
        if self._guard is None:
            from simdup.extract.sandbox import Guard  # noqa: PLC0415  few files want it

            self._guard = Guard()
        return self._guard.text(found, data)

    def _converter(self, path: str, *, is_file: bool = True) -> Converter | None:
        """The converter for a file; see `convert.converter_for`."""
        if not self._converters:
            return None
        from simdup.extract.convert import converter_for  # noqa: PLC0415  few runs have converters

        return converter_for(path, self._converters, is_file=is_file)

    def close(self) -> None:
        """End the reading process, if there is one."""
        if self._guard is not None:
            self._guard.close()


def check_unpacks(packing: str) -> None:
    """Raise NotInstalled if a file with this packing cannot be unpacked."""
    if not can_unpack(packing):
        raise NotInstalled(f"needs zstandard: {_INSTALL}")


def edition(formats: Collection[str], converters: Sequence[Converter] = ()) -> str:
    """A string that changes whenever the same documents may give other texts or become readable."""
    packages = {package for name, package in _PACKAGES.items() if name.value in formats}
    versions = [f"{name} {version(name)}" for name in sorted(packages) if find_spec(name)]
    locked = [f"no {name}" for name in PACKINGS if name in formats and not can_unpack(name)]
    told = *sorted(formats), *versions, *locked, *map(_program, converters)
    return f"{EDITION}: {', '.join(told)}"


def _program(converter: Converter) -> str:
    """A string that changes whenever a converter or its program does."""
    from simdup.extract import convert  # noqa: PLC0415  few runs have converters

    return convert.edition(converter)


def serve(*, is_tied: bool) -> NoReturn:
    """Answer the questions of a `Guard`, as its process."""
    from simdup.extract import sandbox  # noqa: PLC0415  few files want it

    sandbox.serve(READERS, is_tied=is_tied)


def _members(data: bytes) -> Sequence[str]:
    """The names in a zip file."""
    from simdup.extract.zip_xml import members  # noqa: PLC0415  imports zipfile and expat

    return members(data)
