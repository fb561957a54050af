"""The text of a mail: its subject, and all its parts of text; of alternatives one.

Other headers, attachments and mails within the mail (forwarded or attached) are left out. A mail
without a body of its own has the text of the first part that is marked as an attachment, or of the
mails within it, below its subject. A mailbox has the texts of all its mails.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, a2b_qp
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email import errors
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from functools import reduce
from itertools import groupby
from typing import TypeAlias

from simdup.extract import cleanup
from simdup.extract import html as html_text
from simdup.extract.frames import Frames
from simdup.extract.sniff import EMLX, mails
from simdup.text.encodings import LOST, Encoding, declared_or_likely, decode, encoding_named

# Lines that begin a part: each costs time in proportion to its depth. Real mails have up to 60.
MOST_PARTS = 1000

# Bytes of a subject in which encoded words are sought, in time by the square of their number.
LONGEST_SUBJECT = 10_000

# Types of a part that is a mail (RFC 2046 and 6532); other types `message/*` are for programs.
_MAILS = {"message/rfc822", "message/global"}

# Headers of which a copy of a mail has the same.
_HEADERS = ("From", "To", "Cc", "Date", "Message-ID")

# A header of pages that browsers save.
_SAVED = "Snapshot-Content-Location"

# Types of a body: alternatives of other types, such as invitations, say it for programs.
_BODIES = ("text/plain", "text/html")

# An alternative says more than another if it has twice its bytes and so many more.
_LITTLE = 100

# A word of a subject in ASCII: its charset (and language), encoding and content (RFC 2047, 2231).
_WORD = re.compile(rb"=\?([^?*\s]+)(?:\*[^?\s]*)?\?([bq])\?(.*?)\?=", re.IGNORECASE | re.DOTALL)

_MARKED_UP = ("text/enriched", "text/richtext")
# Their markup (RFC 1896); "<<" is a "<" of the text.
_ENRICHED = re.compile(r"<<|<param>[^<]*</param>|</?[a-z][\w-]*>", re.IGNORECASE)

# The word of a transfer encoding, after comments and quotes.
_TRANSFER = re.compile(r'(?:[\s"]|\([^)]*\))*([\w-]*)')

# The parser's errors for damaged mails, found by fuzzing; it recurses into nested parts.
_TROUBLE = (errors.MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


# Parts of a mail, each with its text. Subjects have no part; a mail within it has no text here.
_Pieces: TypeAlias = "Sequence[tuple[Message | None, str]]"
_Shown: TypeAlias = "list[tuple[Message, str]]"


class _Raw(Compat32):
    """Headers keep their bytes beyond ASCII, as surrogates; a transfer encoding is one word.

    The headers of a part are unfolded, which may have a boundary or a name on two lines.
    """

    def header_fetch_parse(self, name: str, value: str) -> str:
        if not name.lower().startswith("content-"):
            return value
        is_word = name.lower() == "content-transfer-encoding"
        found = _TRANSFER.match(value) if is_word else None
        return found[1] if found else value.replace("\r", "").replace("\n", "")


def eml(data: bytes) -> str:
    """The subject of a mail and its body. Raises NotReadable."""
    with _trouble_named():
        message, properties = _parsed(data)
        pieces = _subject_and_body(message)
        text = "\n".join(piece for _, piece in pieces)
        others = [*_others(message, pieces), *properties]
        return cleanup.with_unread(cleanup.unless_empty(text), others)


def attachments(data: bytes) -> list[tuple[str, bytes]]:
    """The name and the bytes of each part of a mail that is attached. Raises NotReadable."""
    with _trouble_named():
        message, _ = _parsed(data)
        parts = (part for part in message.walk() if not part.is_multipart())
        attached = [part for part in parts if _is_attached(part)]
        return [(_name(part, number), _content(part)) for number, part in enumerate(attached, 1)]


def _name(part: Message, number: int) -> str:
    """The name of an attachment, or its number."""
    header = part.get_filename() or f"{number}"
    return _decoded(header.encode("utf-8", "surrogateescape"), part)


@contextmanager
def _trouble_named() -> Iterator[None]:
    """Raise NotReadable for the parser's errors."""
    try:
        yield
    except _TROUBLE as error:
        raise cleanup.NotReadable(f"damaged mail: {error}") from None


def _parsed(data: bytes) -> tuple[Message, list[tuple[str, bytes]]]:
    """A mail, and what Apple Mail adds to it. Raises NotReadable."""
    data, properties = _without_envelope(data)
    if data.count(b"\n--") > MOST_PARTS and data.count(b"boundary=") > MOST_PARTS // 10:
        raise cleanup.NotReadable(f"more than {MOST_PARTS:,} parts")
    mail = data.removeprefix(b"\xef\xbb\xbf")
    return BytesParser(policy=_Raw()).parsebytes(mail), properties


def _without_envelope(data: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    """A mail as it was sent, and what Apple Mail adds: its length before, properties after it."""
    if not (length := EMLX.match(data)):
        return data, []
    begin, end = length.end(), length.end() + int(length[1])
    return data[begin:end], [("metadata", data[end:])]


def mbox(data: bytes) -> str:
    """The subjects and bodies of all mails in a mailbox, without mails that cannot be read.

    Raises NotReadable if no mail can be read, or there is too much text.
    """
    texts, others = cleanup.TextBuilder(), list[tuple[str, bytes]]()
    for place in mails(data):
        try:
            found = eml(data[place])
        except cleanup.NotReadable:
            others.append(("mails without text", data[place]))
            continue
        texts.add(f"{found}\n")
        others += cleanup.others_of(found)
    return cleanup.with_unread(cleanup.unless_empty(str(texts)), others)


def _subject_and_body(message: Message) -> _Pieces:
    """The subject line of a mail, and its body; of a page that was saved as a mail, the page."""
    if (page := _saved_page(message)) and (text := _text(page, Frames)):
        return [(page, text)]
    return [(None, _subject(message)), *_body(message)]


def _saved_page(message: Message) -> Message | None:
    """The page that a browser saved (MHTML), without the pages in its frames; None for a mail."""
    for part in message.walk():
        if part.get_content_type() == "text/html":
            is_saved = _SAVED in message or ("To" not in message and "Content-Location" in part)
            return part if is_saved else None
    return None


def _subject(message: Message) -> str:
    """The subject line."""
    return _decoded(message.get("Subject", "").encode("ascii", "surrogateescape"), message)


def _decoded(header: bytes, message: Message) -> str:
    """The text of a header, its encoded words decoded."""
    words = list(_words(re.sub(rb"[\r\n]", b"", header)))
    around = _of_header(b"".join(data for charset, data in words if not charset), message)
    joined = (
        (charset, b"".join(data for _, data in group))
        for charset, group in groupby(words, lambda word: word[0])
    )
    return "".join(
        decode(data, declared_or_likely(data, charset) if charset else around)
        for charset, data in joined
    )


def _words(line: bytes) -> Iterator[tuple[str, bytes]]:
    """The encoded words of a header with their charsets, and with "" the text around them."""
    end = 0
    for word in _WORD.finditer(line, 0, LONGEST_SUBJECT):
        between = line[end : word.start()]
        if between.strip() or not end:  # blanks between two encoded words do not count
            yield "", between
        charset, how, content = word.groups()
        is_base64 = how.lower() == b"b"
        data = a2b_base64(content + b"===") if is_base64 else a2b_qp(content, header=True)
        yield charset.decode("latin-1").lower(), data
        end = word.end()
    yield "", line[end:]


def _of_header(data: bytes, message: Message) -> Encoding:
    """The encoding of text in a header: UTF-8, the one of a body or its label, or as detected."""
    utf_8, detected = encoding_named("utf-8"), declared_or_likely(data, None)
    if data.isascii():
        return detected
    bodies = [part for part in message.walk() if part.get_content_maintype() == "text"]
    of_bodies = [declared_or_likely(_content(part), part.get_content_charset()) for part in bodies]
    labels = [declared_or_likely(data, part.get_content_charset()) for part in bodies]
    tried = dict.fromkeys((utf_8, *of_bodies, *labels, detected))
    return next((each for each in tried if LOST not in decode(data, each)), detected)


def _body(message: Message) -> _Pieces:
    """The parts of text; without one, the mails within the mail, or a text attached to it."""
    own = _shown(message)
    if any(piece for _, piece in own):
        return own
    for part, piece in _shown(message, attached=True):
        kind = part.get_content_type()
        if kind in _MAILS:
            break
        if piece and kind in _BODIES:
            return [*own, (part, piece)]
    inner = (mail for part, _ in own for mail in _inner(part))
    return [*own, *(piece for mail in inner for piece in _subject_and_body(mail))]


def _shown(part: Message, *, attached: bool = False) -> _Shown:
    """The parts of text that are shown, and mails, without attachments unless `attached`."""
    kind = part.get_content_type()
    if part.get_content_maintype() == "message":
        return [(part, "")] if kind in _MAILS else []
    if part.get_content_disposition() == "attachment" and not attached:
        return []
    if part.is_multipart():
        found = [_shown(inner, attached=attached) for inner in _inner(part)]
        if kind == "multipart/alternative":
            return reduce(_richer, found, [])
        return [piece for each in found for piece in each]
    return [(part, _text(part))] if part.get_content_maintype() == "text" else []


def _richer(one: _Shown, other: _Shown) -> _Shown:
    """The first alternative, unless it says little beside the other, as "see the web page" does."""
    size = _bytes_shown(one)
    most = 2 * size + _LITTLE if size > 1 else size
    return other if _bytes_shown(other) > most else one


def _bytes_shown(pieces: _Shown) -> int:
    """How much text an alternative has in its bodies; 1 if it has other text alone."""
    bodies = (piece for part, piece in pieces if part.get_content_type() in _BODIES)
    size = sum(len(piece.encode("utf-8", "replace")) for piece in bodies)
    return size or any(piece for _, piece in pieces)


def _others(message: Message, pieces: _Pieces) -> Iterator[tuple[str, str | bytes]]:
    """Who wrote a mail to whom and when, and all parts that are not its text."""
    names = _HEADERS if pieces[0][0] is None else (*_HEADERS, "Subject")
    known = [f"{name}: {message[name]}" for name in names if message[name] is not None]
    if known:
        yield "mail headers", "\n".join(known)
    for _, piece in pieces:
        yield from cleanup.others_of(piece)
    read = {id(part) for part, _ in pieces}
    for part in message.walk():
        if part is not message and part.get("Subject") is not None:
            yield "attachments", f"{part['From']} {part['Subject']}"
        if part.is_multipart() or id(part) in read:
            continue
        about = f"{part.get_filename()} {part.get_content_type()}\n"
        yield _kind_of(part), about.encode("utf-8", "surrogatepass") + _content(part)


def _kind_of(part: Message) -> str:
    """The word for a part that is not the text of its mail."""
    if _is_attached(part):
        return "attachments"
    return {"image": "pictures", "text": "bodies"}.get(part.get_content_maintype(), "attachments")


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or part.get_filename() is not None


def _inner(part: Message) -> list[Message]:
    """The parts of a part, or the mail in it; none if it has text."""
    content = part.get_payload()
    within = content if isinstance(content, list) else []
    return [each for each in within if isinstance(each, Message)]


def _text(part: Message, frames: type[Frames] | None = None) -> str:
    """The tidied text of a part without parts of its own; of a page also without its `frames`."""
    data, kind = _content(part), part.get_content_type()
    found = decode(data, declared_or_likely(data, part.get_content_charset()))
    if kind.endswith("html"):
        page = html_text.page(found, frames(found) if frames else None)
        return cleanup.with_unread(cleanup.tidied(f"{page.title}\n{page.body}"), page.others)
    if kind in _MARKED_UP:
        found = _ENRICHED.sub(lambda tag: "<" if tag.group() == "<<" else "", found)
    return cleanup.tidied(found)


def _content(part: Message) -> bytes:
    """The bytes of a part without parts of its own."""
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""
