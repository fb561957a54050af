"""The text of a mail: its subject, and its body as plain text or else as HTML.

Other headers, attachments and mails within the mail (forwarded or attached) are left out. A mail
without a body of its own has the text of the mails within it, below its subject. A mailbox has
the texts of all its mails.
"""

from __future__ import annotations

from email import errors
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from typing import TYPE_CHECKING

from simdup.extract import html as html_text
from simdup.extract.cleanup import (
    NotReadable,
    TextBuilder,
    unless_empty,
    unread_of,
    with_unread,
)
from simdup.extract.sniff import mails
from simdup.text.encodings import Encoding, declared_or_detected, decode, encoding_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Lines that begin a part: each costs time in proportion to its depth. Real mails have up to 60.
MOST_PARTS = 1000

# Characters of a subject that are decoded, in time by the square of their number.
LONGEST_SUBJECT = 10_000

# Types of a part that is a mail (RFC 2046 and 6532); other types `message/*` are for programs.
_MAILS = {"message/rfc822", "message/global"}

# Headers of which a copy of a mail has the same.
_HEADERS = ("From", "To", "Cc", "Date", "Message-ID")

# The text of a mail is in parts of the first type that it has.
_READ = ("text/plain", "text/html")

# The parser's errors for damaged mails, found by fuzzing; it recurses into nested parts.
_TROUBLE = (errors.MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


def text(data: bytes) -> str:
    """The subject of a mail and its body. Raises NotReadable."""
    if data.count(b"\n--") > MOST_PARTS and data.count(b"boundary=") > MOST_PARTS // 10:
        raise NotReadable(f"more than {MOST_PARTS:,} parts")
    try:
        message = BytesParser().parsebytes(data.removeprefix(b"\xef\xbb\xbf"))
        return with_unread(unless_empty(_subject_and_body(message)), _others(message))
    except _TROUBLE as error:
        raise NotReadable(f"damaged mail: {error}") from None


def mailbox(data: bytes) -> str:
    """The subjects and bodies of all mails in a mailbox, without mails that cannot be read.

    Raises NotReadable if no mail can be read, or there is too much text.
    """
    texts, others = TextBuilder(), list[tuple[str, bytes]]()
    for place in mails(data):
        try:
            found = text(data[place])
        except NotReadable:
            others.append(("mails without text", data[place]))
            continue
        texts.add(f"{found}\n")
        others += [(each.kind, repr(each).encode()) for each in unread_of(found)]
    return with_unread(unless_empty(str(texts)), others)


def _subject_and_body(message: Message) -> str:
    """The subject line of a mail, and its body."""
    return f"{_subject(message)}\n{_body(message)}"


def _subject(message: Message) -> str:
    """The subject line, its encoded words decoded."""
    parts = decode_header(str(message.get("Subject", ""))[:LONGEST_SUBJECT])
    return "".join(
        part if isinstance(part, str) else decode(part, _encoding(part, charset))
        for part, charset in parts
    )


def _body(message: Message) -> str:
    """The parts in plain text, else the parts in HTML, else the mails within it."""
    plain, html, inner = TextBuilder(), TextBuilder(), list[Message]()
    for part in _parts(message):
        kind = part.get_content_type()
        if kind == "text/plain":
            plain.add(_text(part) + "\n")
        elif kind == "text/html":
            html.add("\n".join(html_text.title_and_body(_text(part))) + "\n")
        elif kind in _MAILS:
            inner += _inner(part)
    return next(filter(str.strip, map(str, (plain, html))), "") or _joined(inner)


def _others(message: Message) -> Iterator[tuple[str, bytes]]:
    """Who wrote a mail to whom and when, and all parts that are not its text."""
    known = [f"{name}: {message[name]}" for name in _HEADERS if message[name] is not None]
    if known:
        yield "mail headers", "\n".join(known).encode("utf-8", "replace")
    shown = {id(part) for part in _parts(message)}
    kinds = [part.get_content_type() for part in message.walk() if id(part) in shown]
    read = next((each for each in _READ if each in kinds), None)
    for part in message.walk():
        kind = part.get_content_type()
        if part.is_multipart() or (id(part) in shown and (kind == read or kind in _MAILS)):
            continue
        content = part.get_payload(decode=True)
        about = f"{part.get_filename()} {kind}\n".encode("utf-8", "replace")
        yield _kind_of(part), about + (content if isinstance(content, bytes) else b"")


def _kind_of(part: Message) -> str:
    """The word for a part that is not the text of its mail."""
    if part.get_content_disposition() == "attachment" or part.get_filename():
        return "attachments"
    return {"image": "pictures", "text": "bodies"}.get(part.get_content_maintype(), "attachments")


def _parts(part: Message) -> Iterator[Message]:
    """The innermost parts, without attachments; a mail within the mail is one part."""
    if part.get_content_maintype() == "message":
        yield part
    elif part.get_content_disposition() == "attachment":
        return
    elif part.is_multipart():
        for inner in _inner(part):
            yield from _parts(inner)
    else:
        yield part


def _inner(part: Message) -> list[Message]:
    """The parts of a part, or the mail in it; none if it has text."""
    content = part.get_payload()
    within = content if isinstance(content, list) else []
    return [each for each in within if isinstance(each, Message)]


def _joined(mails: Sequence[Message]) -> str:
    """The subjects and bodies of some mails."""
    found = TextBuilder()
    for mail in mails:
        found.add(_subject_and_body(mail) + "\n")
    return str(found)


def _text(part: Message) -> str:
    """The text of a part without parts of its own."""
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    return decode(data, _encoding(data, part.get_content_charset()))


def _encoding(data: bytes, charset: str | None) -> Encoding:
    """The encoding of a part that may declare one."""
    found = declared_or_detected(data, charset)
    return found if isinstance(found, Encoding) else encoding_named("windows-1252")
