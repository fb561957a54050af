"""Where the mails are in a mailbox (mbox, RFC 4155)."""

from __future__ import annotations

import re

#: The line that begins a mail: who sent it, and when. The first header follows. A line with many
#: times of day is searched once, since `re` never goes back into a condition `(?=...)`.
SENT = re.compile(rb"From \S+ (?=[^\n]*\d:\d\d)[^\n]*\n(?=[!-9;-~]+:)")
_BEGIN = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))" + SENT.pattern)


def mails(data: bytes) -> list[slice]:
    r"""The place of each mail, without the line that begins it.

    >>> mails(b"From a@b Mon Jan  1 10:00:00 2024\nSubject: c\n\nd\n")
    [slice(34, 48, None)]
    """
    lines = [line.span() for line in _BEGIN.finditer(data)]
    following = [*lines[1:], (len(data), 0)]
    return [slice(begin, end) for (_, begin), (end, _) in zip(lines, following, strict=False)]
