"""The kind of document a file is, by its first bytes; its name only breaks ties.

Every other file is plain text or binary, which `text.encodings` finds out: source code and XML
of unknown kinds are read as text, tags and all.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Sequence

from simdup.extract.text_formats import written_as
from simdup.settings import FORMATS

#: So many first bytes of a file show its format; a zip file may need more.
HEAD = 1 << 16


#: Formats of text files of which readers leave out a part. A file that is damaged, or very long, is
#: plain text.
TEXTS = frozenset(("srt", "vtt", "ass", "md", "ipynb", "tex", "man"))

_ENDINGS = {f".{each}": each for each in FORMATS} | {
    **dict.fromkeys((".htm", ".xhtml", ".xht"), "html"),
    **dict.fromkeys((".docm", ".dotx"), "docx"),
    **dict.fromkeys((".pptm", ".ppsx"), "pptx"),
    **dict.fromkeys((".xlsm", ".xlsb"), "xlsx"),
    ".ott": "odt",
    ".ots": "ods",
    ".otp": "odp",
    ".fodt": "odt",
    ".fods": "ods",
    ".fodp": "odp",
    **dict.fromkeys((".emlx", ".mht", ".mhtml"), "eml"),
}

#: How a zip file begins, and a compound file, as old Office files are.
ZIP, COMPOUND = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# Office Open XML, by its main folder; ODF and EPUB, by the type they begin with.
_OFFICE = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_TYPES = {
    b"application/epub+zip": "epub",
    _OPEN_DOCUMENT + b"text": "odt",
    _OPEN_DOCUMENT + b"spreadsheet": "ods",
    _OPEN_DOCUMENT + b"presentation": "odp",
}
# Compound files, by a stream in them.
_STREAMS = {
    "worddocument": "doc",
    "workbook": "xls",
    "book": "xls",
    "powerpoint document": "ppt",
    "__properties_version1.0": "msg",
}
_ENCRYPTED = "encryptedpackage"
_ZIPPED = frozenset((*_OFFICE.values(), *_TYPES.values()))
# The name and the contents of a zip file's first member lie within this many bytes.
_FIRST_MEMBER = 256

# PDF readers look for the mark in this many bytes; we do so only if the name agrees.
_PDF_MARK, _PDF_HEAD = b"%PDF-", 1024

# Documents that are one file of XML: the root says the type, or names the folder of the main part.
_PROLOG = re.compile(r"\s+|<!--.*?-->|<\?[^>]*>", re.DOTALL)
_FLAT = re.compile(
    r"<office:document\s[^>]*?office:mimetype=[\"']([^\"'>]+)"
    r"|<(?:\w+:)?package\s[^>]*?xmlPackage[\"'].*?Target=[\"']/?(word/|ppt/|xl/)",
    re.DOTALL,
)
_SKIPPED = re.compile(r"\s+|<!--.*?-->|<\?xml\b[^>]*>", re.DOTALL | re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html\b|<(?:html|head|body|meta)[\s/>]", re.IGNORECASE)
_ANY_TAG = re.compile(r"<!?[a-z]", re.IGNORECASE)

# Mail begins with header lines. Only programs write MIME-Version; without it the name must
# say that the file is mail, so that notes that begin with "From: ..." stay text.
_HEADERS = re.compile(rb"(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?(?:\n|\Z)")
_FROM = re.compile(rb"^From:", re.IGNORECASE | re.MULTILINE)
_MIME = re.compile(rb"^MIME-Version:", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(rb"^(?:Date|Message-ID|Received):", re.IGNORECASE | re.MULTILINE)
# Headers that go on beyond the first bytes need not show those. Then headers that only programs
# write, or a list of addresses on several lines, say that it is mail.
_LONG = re.compile(
    rb"^(?:MIME-Version|Message-ID|Return-Path|DKIM-Signature):"
    rb"|^(?:To|Cc|Bcc):[^@:]*@[^\n]*\n[ \t]",
    re.IGNORECASE | re.MULTILINE,
)
_MBOX = re.compile(rb"From [^\n]*\n")
#: How Apple Mail begins a mail: with its length in bytes.
EMLX = re.compile(rb"(\d{1,12}) *\r?\n(?=[!-9;-~]+:)")

# A line of a mailbox that begins a mail says who sent it and when (RFC 4155), and any header
# follows. Some programs write less, even "From " alone: then a header that mails have follows. A
# line with many times of day is searched once, since `re` never goes back into `(?=...)`.
_TIMED = rb"From \S+ (?=[^\n]*\d:\d\d)[^\n]*\n"
_KNOWN = (
    rb"(?=(?i:from|to|date|subject|received|message-id|mime-version|return-path|delivered-to"
    rb"|envelope-to|reply-to|sender|status|content-type|x-[a-z-]+):)"
)
#: Where a mail begins in a mailbox.
SENT = re.compile(rb"(?:" + _TIMED + rb"(?=[!-9;-~]+:)|From [^\n]*\n" + _KNOWN + rb")")
_BEGIN = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))" + SENT.pattern + rb"|(?<=\n)" + _TIMED + _KNOWN
)


def format_of(
    head: bytes, name: str, members: Callable[[], Sequence[str]] | None = None
) -> str | None:
    """The kind of the document that begins with `head` (HEAD bytes will do); None if it is none.

    `members` lists the names in a zip file or compound file, none if it is damaged; it is called
    only if `head` does not decide.

    >>> format_of(b"%PDF-1.7 ...", "paper.txt"), format_of(b"# About <html>", "readme.md")
    ('pdf', None)
    """
    named = _ENDINGS.get(os.path.splitext(name)[1].lower())
    if head.startswith(ZIP):
        return _zipped(head, named, members)
    if head.startswith(COMPOUND):
        return _in_compound_file(named, members() if members else ())
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if head.startswith(_PDF_MARK) or (named == "pdf" and _PDF_MARK in head[:_PDF_HEAD]):
        return "pdf"
    return _of_text(head, name, named)


def _of_text(head: bytes, name: str, named: str | None) -> str | None:
    """The kind of a file of plain text: a page, a mail, or one of TEXTS."""
    text = _ascii(head)
    if flat := _FLAT.match(text, _after(_PROLOG, text)):
        return _OFFICE.get(flat[2]) or _TYPES.get((flat[1] or "").encode("latin-1", "replace"))
    if _is_html(text, named):
        return "html"
    if _is_mail(head, named):
        return "mbox" if SENT.match(head) else "eml"
    return written_as(text, name)


def _zipped(
    head: bytes, named: str | None, members: Callable[[], Sequence[str]] | None
) -> str | None:
    """The kind of document in a zip file, by its first member or by the names of all."""
    first = head[:_FIRST_MEMBER]
    for sign, found in _TYPES.items():
        if b"mimetype" + sign in first:
            return found
    if names := members() if members else ():
        return _with_members(names, named)
    return named if named in _ZIPPED else None


def _with_members(names: Sequence[str], named: str | None) -> str | None:
    """The kind of document in a zip file with members of these names."""
    plain = [name.lower().replace("\\", "/").removeprefix("./") for name in names]
    if any(name.endswith("meta-inf/container.xml") for name in plain):
        return "epub"  # some lie in a folder of the zip file
    if "content.xml" in plain:
        return named if named in _TYPES.values() else None
    if "[content_types].xml" not in plain:
        return None
    for folder, found in _OFFICE.items():
        if any(name.startswith(folder) for name in plain):
            return found
    return None


def _in_compound_file(named: str | None, names: Sequence[str]) -> str | None:
    """The kind of a document in a compound file; a newer Office file in it is encrypted."""
    if found := [_STREAMS[name] for name in _STREAMS if name in names]:
        return found[0]
    if named in _OFFICE.values() or _ENCRYPTED in names:
        return named if named in _OFFICE.values() else "docx"
    return named if named in _STREAMS.values() else None


def _is_html(text: str, named: str | None) -> bool:
    """Whether the first tag after comments is a page's; any tag, if the file is named as a page."""
    wanted = _ANY_TAG if named == "html" else _HTML
    return wanted.match(text, _after(_SKIPPED, text)) is not None


def _after(skipped: re.Pattern[str], text: str) -> int:
    """Where a text goes on after what comes before its first tag."""
    position = 0
    while found := skipped.match(text, position):
        position = found.end()
    return position


def _ascii(head: bytes) -> str:
    """The first bytes as text whose ASCII can be trusted, without a byte order mark."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return head.decode("utf-32", "replace")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "replace")
    return head.removeprefix(codecs.BOM_UTF8).decode("latin-1")


def _is_mail(head: bytes, named: str | None) -> bool:
    """Whether the file begins with the header lines of a mail."""
    begin = found.end() if (found := _MBOX.match(head) or EMLX.match(head)) else 0
    is_cut = len(head) >= HEAD
    headers = _HEADERS.match(head + b"x:\n" if is_cut else head, begin)
    if headers is None:
        return False
    block, goes_on = headers.group(), headers.end() > len(head)
    is_sent = SENT.match(head) is not None and (goes_on or _DATE.search(block) is not None)
    is_named = named == "eml" or is_sent
    if is_named and (goes_on or _FROM.search(block)):
        return True
    return (_LONG if goes_on else _MIME).search(block) is not None


def mails(data: bytes) -> list[slice]:
    r"""The place of each mail in a mailbox, without the line that begins it.

    >>> mails(b"From a@b Mon Jan  1 10:00:00 2024\nSubject: c\n\nd\n")
    [slice(34, 48, None)]
    """
    lines = [line.span() for line in _BEGIN.finditer(data)]
    following = [*lines[1:], (len(data), 0)]
    return [slice(begin, end) for (_, begin), (end, _) in zip(lines, following, strict=False)]
