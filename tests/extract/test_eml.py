"""The text of mails."""

from __future__ import annotations

from time import process_time

import makers
import pytest
from patience import grows_evenly, patient
from shown import shown

from simdup.extract import html
from simdup.extract.cleanup import NotReadable, unread_of
from simdup.extract.eml import eml, mbox
from simdup.extract.sniff import HEAD, format_of


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "big5"])
def test_subject_and_plain_text_without_attachments(charset):
    assert eml(makers.eml("明天見。\n四點。", "下午茶", charset)) == "下午茶\n明天見。\n四點。"


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
        assert eml(source) == expected
    else:
        with pytest.raises(NotReadable, match="^no text in it$"):
            eml(source)


@pytest.mark.parametrize("end", [b"", b"<plist><key>flags</key></plist>\n"])
@pytest.mark.parametrize("count", [b"%d\n", b"%-10d\r\n"])
def test_a_mail_that_apple_mail_keeps_is_the_mail(count, end):
    mail = makers.eml("four o'clock", "Tea")

    data = count % len(mail) + mail + end

    assert format_of(data, "a.emlx") == "eml"
    assert eml(data) == eml(mail)


PAGE = makers.site_page("The page has a long text. " * 9).decode()
SAVED = "MIME-Version: 1.0\nSubject: tea\n"
OF_PART = "Content-Type: text/html; charset=utf-8\nContent-Location: http://a.org/\n\n"


@pytest.mark.parametrize(
    "head", [f"From: <Saved by Blink>\nSnapshot-Content-Location: http://a.org/\n{SAVED}", SAVED]
)
def test_a_page_saved_as_a_mail_is_the_page_without_its_frames(head):
    frame = "Content-Type: text/html\n\n<p>an advertisement"
    parts = "".join(f"--b\n{part}\n" for part in (OF_PART + PAGE, frame))
    data = f"{head}Content-Type: multipart/related; boundary=b\n\n{parts}--b--\n".encode()

    assert format_of(data, "a.mhtml") == "eml"
    assert eml(data) == html.text(PAGE.encode())
    assert {"bodies", "mail headers"} <= {each.kind for each in unread_of(eml(data))}


def test_a_mail_to_somebody_is_no_saved_page():
    assert eml(f"To: b\n{SAVED}{OF_PART}<nav>menu</nav>{PAGE}".encode()).startswith("tea\nmenu")


def test_a_text_that_begins_with_a_number_is_no_mail():
    assert format_of(b"12\nFrom: Ada\n\nmore", "a.txt") is None
    assert format_of(b"12\nFrom: Ada\n\nmore", "a.emlx") == "eml"


@pytest.mark.parametrize("fold", ["\n ", "\r\n\t"])
def test_a_boundary_may_be_folded(fold):
    head = f'Content-Type: multipart/mixed;{fold}boundary="one{fold}two"'
    edge = "one" + fold.strip("\r\n") + "two"

    assert eml(f"{head}\n\n--{edge}\n\nbody\n--{edge}--\n".encode()) == "body"


PLAIN, HTML = "Content-Type: text/plain\n\n", "Content-Type: text/html\n\n<p>"
ATTACHED = "Content-Disposition: attachment; filename=a.txt\n"


def with_parts(kind, *parts):
    """A mail, or a part of one, with these parts."""
    edge = f"b{len(parts)}{kind[0]}"
    inner = "".join(f"--{edge}\n{part}\n" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={edge}\n\n{inner}--{edge}--\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *shown("eml"),
        (with_parts("alternative", PLAIN + "see the page", HTML + "much " * 50), "much " * 50),
        (with_parts("mixed", PLAIN + " ", ATTACHED + HTML + "one"), "one"),
    ],
)
def test_which_parts_are_the_text_of_a_mail(source, expected):
    assert eml(source.encode()) == expected.strip()


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("alternative", (PLAIN + "one", HTML + "{}")),
        ("mixed", (PLAIN + "one", ATTACHED + PLAIN + "{}")),
        ("mixed", (ATTACHED + PLAIN + "one", ATTACHED + PLAIN + "{}")),
    ],
)
def test_parts_that_are_not_the_text_of_a_mail_are_accounted_for(kind, parts):
    found = [eml(with_parts(kind, *parts).format(word).encode()) for word in ("a", "b")]

    assert found == ["one", "one"]
    assert found[0].unread != found[1].unread


@pytest.mark.parametrize(
    ("subject", "charset", "body", "label"),
    [
        ("Слово и дело", "koi8-r", "Слово".encode("koi8-r"), "koi8-r"),
        ("Слово и дело", "koi8-r", b"word", "koi8-r"),
        ("年度報告", "big5", "這是今年的年度報告，請查收。".encode("big5"), "utf-8"),
        ("会议改到下周二下午三点", "gb18030", b"hello", "us-ascii"),
        ("明日の会議", "iso-2022-jp", b"hello", "us-ascii"),
        ("会议", "utf-8", "会议改到下周二".encode("gbk"), "gbk"),
    ],
)
@pytest.mark.parametrize("before", ["", "=?utf-8?q?Re:?= ", "Fwd: =?utf-8?b?w7w=?= "])
def test_a_raw_subject_is_utf_8_or_in_the_encoding_of_the_body_or_detected(
    subject, charset, body, label, before
):
    head = f"Content-Type: text/plain; charset={label}\nSubject: {before}".encode()
    shown = before.replace("=?utf-8?q?Re:?=", "Re:").replace("=?utf-8?b?w7w=?=", "ü")

    assert eml(head + subject.encode(charset) + b"\n\n" + body).startswith(f"{shown}{subject}\n")


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("a =?utf-8?q?b?=\n c", "a b c"),
        ("=?utf-8?b?5L0=?= =?utf-8?b?oOWlvQ==?=", "你好"),
        ("=?utf-8*en?Q?a_b?= C:\\users", "a b C:\\users"),
        ("ü" * 20_000, "ü" * 20_000),
    ],
)
def test_encoded_words_of_a_subject(subject, expected):
    assert eml(f"Subject: {subject}\n\n".encode()) == expected


def test_senders_and_file_names_that_differ_beyond_ascii_are_other_content():
    source = f"From: 王@b\n{ATTACHED}Content-Type: image/png\n\n".replace("a.txt", "小.png")
    made = [
        eml(b"Subject: a\n" + source.replace(*pair).encode("gbk"))
        for pair in (("", ""), ("王", "李"), ("小", "大"))
    ]

    assert len({each.unread for each in made}) == 3


@pytest.mark.parametrize(
    "encoding",
    [
        "base64 ",
        "Base64\t",
        "base64 ; x=y",
        "base64 (as sent)",
        "(a) base64",
        '"base64"',
        "\n base64",
    ],
)
def test_a_transfer_encoding_with_blanks_and_comments(encoding):
    assert eml(f"Content-Transfer-Encoding: {encoding}\n\nYQo=".encode()) == "a"


@pytest.mark.parametrize("label", ["us-ascii", "utf-8"])
@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("Größere Änderungen für die Straße", "cp1252"),
        ("Собрание перенесено на вторник", "cp1251"),
        ("會議改到下週二下午三點，請準時參加。", "big5"),
        ("Größere Änderungen", "utf-8"),
    ],
)
def test_a_false_charset_does_not_count(label, body, charset):
    head = f"Content-Type: text/plain; charset={label}\n\n".encode()

    assert eml(head + body.encode(charset)) == body


TO = "To: " + ",\n ".join(f"member {n} <m{n}@example.org>" for n in range(3000)) + "\n"


@pytest.mark.parametrize(
    ("head", "name", "is_mail"),
    [
        (f"From: a@b\n{TO}MIME-Version: 1.0\n", "a", True),
        (f"{TO}From: a@b\n", "a.eml", True),
        (f"Message-ID: <1@b>\nReferences: {'<2@b> ' * 20_000}\nFrom: a@b\n", "a", True),
        ("Received: by b\n" * 9000 + "From: a@b\n", "a.eml", True),
        ("From: from\nDate: date\n" + "word: other word\n" * 9000, "words.yaml", False),
        (f"Notes\n{TO}", "a.eml", False),
    ],
)
def test_a_mail_may_have_long_headers(head, name, is_mail):
    data = f"{head}Subject: s\n\nbody\n".encode()

    assert len(data) > HEAD
    assert (format_of(data[:HEAD], name) == "eml") == is_mail
    assert not is_mail or eml(data) == "s\nbody"


@pytest.mark.parametrize("cut", range(30))
def test_long_headers_may_be_cut_anywhere(cut):
    data = (f"Message-ID: <1@b>\n{'x' * (HEAD // 2 + cut)}: y\n" + "To: a,\n  b\n" * 9000).encode()

    assert format_of(data[:HEAD], "a") == "eml"


def test_the_first_mail_of_a_mailbox_may_have_long_headers():
    data = f"From - \n{TO}Date: today\nSubject: s\n\nbody\n\nFrom - \nSubject: t\n\nend\n".encode()

    assert format_of(data[:HEAD], "sent") == "mbox"
    assert mbox(data) == "s\nbody\nt\nend"


def forwarded(own=None, disposition="inline"):
    """A mail with another one in it, below a text of its own or without one."""
    parts = [] if own is None else [PLAIN + own]
    parts.append(
        f"Content-Type: message/rfc822\nContent-Disposition: {disposition}\n\n"
        "Subject: lunch\nContent-Type: text/html\n\n<p>At noon."
    )
    return f"Subject: Fwd: lunch\n{with_parts('mixed', *parts)}".encode()


@pytest.mark.parametrize("disposition", ["inline", "attachment"])
def test_a_mail_within_a_mail_is_not_its_text(disposition):
    assert eml(forwarded("See below.", disposition)) == "Fwd: lunch\nSee below."


@pytest.mark.parametrize("own", [None, "", " \n"])
@pytest.mark.parametrize("disposition", ["inline", "attachment"])
def test_a_mail_without_a_body_is_read_as_the_mail_within_it(own, disposition):
    assert eml(forwarded(own, disposition)) == "Fwd: lunch\nlunch\nAt noon."


def nested(depth):
    part = b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n'
    return b"".join([b"Subject: a\n", *(part % (n, n) for n in range(depth)), b"\ntext"])


@pytest.mark.parametrize("depth", [50, 1000, 100_000])
def test_parts_in_parts(depth):
    begin = process_time()
    if depth == 50:
        assert eml(nested(depth)) == "a\ntext"
    else:
        with pytest.raises(NotReadable):
            eml(nested(depth))

    assert process_time() - begin < patient(5)


SENT = b"From a@b Mon Jan  1 10:00:00 2024\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_mailbox_has_the_texts_of_all_its_mails(end):
    quoted = b"c\n\n>From here on\n\nFrom now on: d\n"
    mails = [b"Subject: a\n\nb\n\n", b"Subject: q\n\n" + quoted + b"\n", b"Subject: e\n\nf"]
    data = b"".join(SENT + mail for mail in mails)

    assert mbox(data.replace(b"\n", end)) == "a\nb\nq\nc\n>From here on\nFrom now on: d\ne\nf"


@pytest.mark.parametrize("first", ["From ", "From - ", "From a@b Mon Jan 1 2024", "From - Mon"])
@pytest.mark.parametrize("second", ["\nFrom ", "\nFrom -", "From a@b Mon Jan  1 10:00:00 2024"])
def test_mails_of_a_mailbox_begin_with_less_than_a_date(first, second):
    head = "Subject: a\nFrom: a@b\nDate: today\n\n"
    data = f"{first}\n{head}b\n{second}\n{head}c".encode()

    assert mbox(data) == "a\nb\na\nc"
    assert format_of(data, "sent") == "mbox"


def test_a_damaged_mail_costs_a_mailbox_that_mail_alone():
    data = SENT + b"Subject: a\n\nb\n\n" + SENT + nested(1000) + b"\n\n" + SENT + b"Subject: c\n\nd"

    assert mbox(data) == "a\nb\nc\nd"
    with pytest.raises(NotReadable, match="^no text in it$"):
        mbox(SENT + nested(1000))


@pytest.mark.parametrize(
    "piece", [SENT, SENT + b"\n", b"\n\nFrom ", b"From 1:11", b"\n\nFrom a 1:11 "]
)
def test_time_grows_with_a_hostile_mailbox_and_no_faster(piece):
    head = SENT + b"Subject: a\n\nb\n\n"

    assert grows_evenly(lambda n: mbox(head + piece * n), 8000)
