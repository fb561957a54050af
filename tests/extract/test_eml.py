"""The text of mails."""

from __future__ import annotations

from time import process_time

import makers
import pytest
from patience import grows_evenly, patient

from simdup.extract.cleanup import NotReadable
from simdup.extract.eml import mailbox, text
from simdup.extract.sniff import Format, format_of


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "big5"])
def test_subject_and_plain_text_without_attachments(charset):
    assert text(makers.eml("明天見。\n四點。", "下午茶", charset)) == "下午茶\n明天見。\n四點。"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"Subject: a\n\nb", "a\nb"),
        (b"Subject: =?gb2312?B?1tDOxA==?= x\n\nb", "中文 x\nb"),
        (b"Subject: =?nonsense?Q?ab?=\n\nb", "ab\nb"),
        (b"Content-Type: text/html; charset=utf-8\n\n<p>a<p>b", "a\nb"),
        (b"Content-Type: text/html\n\n<title>t</title><script>x</script>a", "t\na"),
        (b"Content-Type: text/plain; charset=gbk\n\n\xd6\xd0\xce\xc4", "中文"),
        (b"Content-Type: text/plain\n\n\xe4\xb8\xad\xe6\x96\x87", "中文"),
        (b"Content-Transfer-Encoding: base64\n\nYQo=", "a"),
        (b"Content-Transfer-Encoding: quoted-printable\n\na=\nb=20c", "ab c"),
        (b"Subject: a\nContent-Type: image/png\n\nxyz", "a"),
        (
            b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\nContent-Type: text/plain\n\ntwo\n--b--",
            "one\ntwo",
        ),
        (b"Content-Type: multipart/mixed; boundary=b\n\nno part", ""),
    ],
)
def test_what_a_mail_shows(source, expected):
    if expected:
        assert text(source) == expected
    else:
        with pytest.raises(NotReadable, match="^no text in it$"):
            text(source)


def forwarded(own=None, disposition="inline"):
    """A mail with another one in it, below a text of its own or without one."""
    parts = [] if own is None else [f"Content-Type: text/plain\n\n{own}"]
    parts.append(
        f"Content-Type: message/rfc822\nContent-Disposition: {disposition}\n\n"
        "Subject: lunch\nContent-Type: text/html\n\n<p>At noon."
    )
    inner = "".join(f"--b\n{part}\n" for part in parts)
    head = "Subject: Fwd: lunch\nContent-Type: multipart/mixed; boundary=b\n\n"
    return f"{head}{inner}--b--\n".encode()


@pytest.mark.parametrize("disposition", ["inline", "attachment"])
def test_a_mail_within_a_mail_is_not_its_text(disposition):
    assert text(forwarded("See below.", disposition)) == "Fwd: lunch\nSee below."


@pytest.mark.parametrize("own", [None, "", " \n"])
@pytest.mark.parametrize("disposition", ["inline", "attachment"])
def test_a_mail_without_a_body_is_read_as_the_mail_within_it(own, disposition):
    assert text(forwarded(own, disposition)) == "Fwd: lunch\nlunch\nAt noon."


def test_a_mail_that_is_nothing_but_another_mail():
    source = b"Subject: a\nContent-Type: message/rfc822\n\nSubject: b\n\nc"

    assert text(source) == "a\nb\nc"


def test_parts_of_an_attachment_are_not_the_text_of_a_mail():
    source = b"""Subject: a
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/alternative; boundary=c
Content-Disposition: attachment

--c
Content-Type: text/plain

attached
--c--
--b
Content-Type: message/delivery-status

Status: 5.1.1

Action: failed
--b
Content-Type: text/plain

own
--b--
"""

    assert text(source) == "a\nown"


def nested(depth):
    part = b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n'
    return b"".join([b"Subject: a\n", *(part % (n, n) for n in range(depth)), b"\ntext"])


@pytest.mark.parametrize("depth", [50, 1000, 100_000])
def test_parts_in_parts(depth):
    begin = process_time()
    if depth == 50:
        assert text(nested(depth)) == "a\ntext"
    else:
        with pytest.raises(NotReadable):
            text(nested(depth))

    assert process_time() - begin < patient(5)


SENT = b"From a@b Mon Jan  1 10:00:00 2024\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_mailbox_has_the_texts_of_all_its_mails(end):
    quoted = b"c\n\n>From here on\n\nFrom now on: d\n"
    mails = [b"Subject: a\n\nb\n\n", b"Subject: q\n\n" + quoted + b"\n", b"Subject: e\n\nf"]
    data = b"".join(SENT + mail for mail in mails)

    assert mailbox(data.replace(b"\n", end)) == "a\nb\nq\nc\n>From here on\nFrom now on: d\ne\nf"


@pytest.mark.parametrize("first", ["From ", "From - ", "From a@b Mon Jan 1 2024", "From - Mon"])
@pytest.mark.parametrize("second", ["\nFrom ", "\nFrom -", "From a@b Mon Jan  1 10:00:00 2024"])
def test_mails_of_a_mailbox_begin_with_less_than_a_date(first, second):
    head = "Subject: a\nFrom: a@b\nDate: today\n\n"
    data = f"{first}\n{head}b\n{second}\n{head}c".encode()

    assert mailbox(data) == "a\nb\na\nc"
    assert format_of(data, "sent") is Format.MBOX


def test_a_damaged_mail_costs_a_mailbox_that_mail_alone():
    data = SENT + b"Subject: a\n\nb\n\n" + SENT + nested(1000) + b"\n\n" + SENT + b"Subject: c\n\nd"

    assert mailbox(data) == "a\nb\nc\nd"
    with pytest.raises(NotReadable, match="^no text in it$"):
        mailbox(SENT + nested(1000))


@pytest.mark.parametrize(
    "piece", [SENT, SENT + b"\n", b"\n\nFrom ", b"From 1:11", b"\n\nFrom a 1:11 "]
)
def test_time_grows_with_a_hostile_mailbox_and_no_faster(piece):
    head = SENT + b"Subject: a\n\nb\n\n"

    assert grows_evenly(lambda n: mailbox(head + piece * n), 8000)
