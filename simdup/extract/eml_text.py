"""The text of a mail: its subject, and its body as plain text or else as HTML.

Other headers, attachments and forwarded mails are left out.
"""

from __future__ import annotations

from email import errors
from email.header import decode_header
from email.parser import BytesParser
from typing import TYPE_CHECKING

from simdup.decode import Encoding, decode, detect, forced
from simdup.extract import html_text
from simdup.extract.plain import Gathered, NotReadable, unless_empty

if TYPE_CHECKING:
    from email.message import Message

# Lines that begin a part; each costs time in proportion to how deep it is. Real mails have
# up to 60.
MOST_PARTS = 1000

# Characters of a subject that are decoded, which takes time by their square.
LONGEST_SUBJECT = 10_000

# What the parser raises for damaged mails, found by trying; it calls itself for nested parts.
_TROUBLE = (errors.MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


def text(data: bytes) -> str:
    """The subject of a mail and its body. Raises NotReadable."""
    if data.count(b"\n--") > MOST_PARTS and data.count(b"boundary=") > MOST_PARTS // 10:
        raise NotReadable(f"more than {MOST_PARTS:,} parts")
    try:
        message = BytesParser().parsebytes(data.removeprefix(b"\xef\xbb\xbf"))
        return unless_empty(f"{_subject(message)}\n{_body(message)}")
    except _TROUBLE as error:
        raise NotReadable(f"damaged mail: {error}") from None


def _subject(message: Message) -> str:
    """The subject line, its encoded words decoded."""
    parts = decode_header(str(message.get("Subject", ""))[:LONGEST_SUBJECT])
    return "".join(
        part if isinstance(part, str) else decode(part, _encoding(part, charset))
        for part, charset in parts
    )


def _body(message: Message) -> str:
    """The parts that are plain text; where there are none, those that are HTML."""
    plain, html = Gathered(), Gathered()
    for part in message.walk():
        kind = part.get_content_type()
        if part.get_content_disposition() == "attachment" or part.is_multipart():
            continue
        if kind == "text/plain":
            plain.add(_text(part) + "\n")
        elif kind == "text/html":
            html.add("\n".join(html_text.title_and_body(_text(part))) + "\n")
    return str(plain) if str(plain).strip() else str(html)


def _text(part: Message) -> str:
    """The characters of a part without parts."""
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    return decode(data, _encoding(data, part.get_content_charset()))


def _encoding(data: bytes, charset: str | None) -> Encoding:
    """The encoding a part declares; if it declares none that is known, what it looks like."""
    try:
        if charset:
            return forced(charset)
    except ValueError:
        pass
    found = detect(data)
    return found if isinstance(found, Encoding) else forced("windows-1252")
