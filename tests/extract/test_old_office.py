"""The text of old Office files and of Outlook's mails."""

from __future__ import annotations

import struct
import tracemalloc
from contextlib import closing
from random import Random

import makers
import old_office as made
import pytest

from simdup.extract import rtf
from simdup.extract.cleanup import NotReadable, unread_of
from simdup.extract.old_office import doc, msg, ppt
from simdup.extract.readers import READERS, Readers, kind
from simdup.settings import FORMATS

FILES = {
    "doc": made.doc("one thing"),
    "ppt": made.ppt(("one", "thing")),
    "msg": made.msg("one thing"),
    "xls": made.xls("one thing"),
}
NOTICE = "今天下午三点在会议室讨论新项目的进度和预算，请各部门负责人准时参加。"


@pytest.mark.parametrize("found", FILES)
@pytest.mark.parametrize("name", ["a.wps", "letter", "a.dot", "a.docx"])
def test_the_streams_decide_whatever_the_name(found, name):
    assert kind(FILES[found], name) == found


def test_a_document_embedded_in_another_does_not_decide():
    inner = {"WordDocument": b"x", "__properties_version1.0": b"y"}

    assert kind(made.compound({"Workbook": b"z", "MBD1": inner}), "a") == "xls"


@pytest.mark.parametrize("name", ["a.doc", "a.xls", "a", "a.xlsx"])
def test_every_file_with_a_password_is_encrypted(name):
    locked = made.compound({"EncryptedPackage": bytes(5000), "EncryptionInfo": bytes(100)})

    with closing(Readers(FORMATS)) as readers, pytest.raises(NotReadable, match="encrypted"):
        readers.text(readers.settled(readers.identify(locked, name), locked), locked)


def test_other_compound_files_are_binary():
    assert kind(made.compound({"VisioDocument": b"x"}), "a.vsd") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\rtwo\x0bthree\x0cfour", "one\ntwo\nthree\nfour"),
        ("a\x07b\x07\x07c", "a\nb\nc"),
        ("well\x1eknown co\x1foperate", "well-known cooperate"),
        ('see \x13HYPERLINK "http://a"\x14the page\x15!', "see the page!"),
        ("\x13TOC\x14\x13PAGEREF _1\x14one 3\x15\rtwo\x15", "one 3\ntwo"),
        ("\x13IF \x13PAGE\x141\x15 = 1\x14yes\x15 no", "yes no"),
        (
            "\x13 EQ \\\\o\\\\ad(\\\\s\\\\up 9(とうきょう),東京)\x15へ".replace("\\\\", "\\"),
            "東京へ",
        ),
        ("caf\xe9 “x” 中文 ok", "café “x” 中文 ok"),
    ],
)
def test_a_word_document_shows_the_results_of_fields(text, expected):
    assert doc(made.doc(text)) == expected


def test_fields_may_stand_in_fields_and_marks_alone():
    deep = 20_000

    assert doc(made.doc("\x13A" * deep + "\x14one" + "\x15" * deep + " two")) == "two"
    assert doc(made.doc("\x13A\x14" * deep + "one" + "\x15" * deep + " two")) == "one two"
    assert doc(made.doc("\x14one\x15 \x13two")) == "one two"


def test_slides_that_overlap_are_damage():
    slides = [("one", "much " * 99), *[("two", "little")] * 9]
    data = bytearray(made.ppt(*slides))
    places = data.index(struct.pack("<I", 11 << 20 | 1)) + 8
    data[places : places + 40] = data[places : places + 4] * 10

    assert ppt(made.ppt(*slides)).count("little") == 9
    with pytest.raises(NotReadable, match="slides overlap"):
        ppt(bytes(data))


def test_notes_and_boxes_follow_the_text_and_the_rest_is_unread():
    found = doc(made.doc("text\r", "note\r", "head\r", "macro", "said\r", "end\r", "box\r"))

    assert found == "text\nnote\nend\nbox"
    assert {"headers and footers", "comments"} < {each.kind for each in unread_of(found)}


@pytest.mark.parametrize("change", [{"head": "other\r"}, {"said": "other\r"}, {"Data": b"picture"}])
def test_what_a_word_document_does_not_show_tells_it_from_another(change):
    def unread(head="head\r", said="said\r", **streams):
        return unread_of(doc(made.doc("text\r", "", head, "", said, **streams)))

    assert unread() != unread(**change)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gbk", NOTICE),
        ("big5", "今天下午三點在會議室討論新項目的進度和預算，請各部門負責人準時參加。"),
        ("cp1252", "The Café at the end of the road is closed, says the “Gazette”."),
        (
            "cp1251",
            "Сегодня в три часа мы обсудим бюджет нового проекта. Просьба не опаздывать. " * 20,
        ),
    ],
)
def test_a_document_of_word_6_is_read_in_the_encoding_of_its_bytes(encoding, text):
    assert doc(made.word_6(text, encoding, " end")) == f"{text.strip()}\nend"


@pytest.mark.parametrize(
    "text", ["Le café est fermé à l’été.", "Über die Straße gehen fünf Gäste."]
)
def test_a_document_of_the_macintosh_is_read_in_its_encoding(text):
    data = bytearray(made.word_6(text, "mac-roman"))
    struct.pack_into("<H", data, 512 + 0x14, 256)

    assert doc(bytes(data)) == text


def test_a_presentation_has_its_slides_once_in_their_order():
    found = ppt(made.ppt(("一", "first box"), ("two", "二"), stale="an older slide"))

    assert found == "一\nfirst box\ntwo\n二"


@pytest.mark.parametrize("encoding", [None, 1251, 65001])
def test_a_mail_is_its_subject_and_body(encoding):
    assert msg(made.msg("Завтра в три.", "Встреча", encoding)) == "Встреча\nЗавтра в три."


def test_a_mail_without_plain_text_is_read_from_its_page():
    assert msg(made.msg("", "Tea", html="<p>at <b>three</b>")) == "Tea\nat three"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([b"x"], [b"y"]),
        ([b"x"], []),
        ([bytes(5000)], [bytes(4999) + b"1"]),
        ([b"xy"], [b"x", b"y"]),
    ],
)
def test_mails_with_other_attachments_have_other_unread_content(one, other):
    first, second = (msg(made.msg("see there", attachments=each)) for each in (one, other))

    kinds = {each.kind for each in {*first.unread} ^ {*second.unread}}
    assert first == second
    assert kinds == {"attachments"}


def test_the_same_mail_has_the_same_words_in_outlook_and_elsewhere():
    eml = READERS["eml"](makers.eml(NOTICE, "会议"))

    assert msg(made.msg(NOTICE, "会议")) == eml


@pytest.mark.parametrize(
    ("reader", "data", "reason"),
    [
        (doc, made.doc("x", flags=0x100), "encrypted"),
        (ppt, made.ppt(("a", "b"), token=0xF3D1C4DF), "encrypted"),
        (doc, made.doc(""), "no text in it"),
        (doc, made.doc("x")[:600], "damaged"),
        (doc, made.compound({"WordDocument": b"x" * 30}), "damaged"),
        (ppt, made.compound({"PowerPoint Document": b"x"}), "damaged, or of PowerPoint 95"),
        (msg, made.compound({"__properties_version1.0": b""}), "no text in it"),
    ],
)
def test_a_file_that_cannot_be_read_has_one_reason(reader, data, reason):
    with pytest.raises(NotReadable, match=reason):
        reader(data)


@pytest.mark.parametrize("found", FILES)
def test_damage_ends_in_a_text_or_a_reason(found):
    random = Random(41)
    for _ in range(100):
        data = bytearray(FILES[found])
        for place in random.sample(range(len(data)), 30):
            data[place] = random.choice((0, 1, 2, 255))
        try:
            READERS[found](bytes(data))
        except NotReadable as trouble:
            assert trouble.reason


def test_chains_that_bite_their_tail_end():
    data = bytearray(made.msg("x", attachments=[bytes(99_999)]))
    for place in range(512, len(data) - 4, 4):
        (number,) = struct.unpack_from("<I", data, place)
        if number == place // 4:
            struct.pack_into("<I", data, place, 1)

    assert msg(bytes(data)) == "x"


def test_a_chain_of_storages_takes_little_memory():
    streams = {}
    for _ in range(900):
        streams = {"漢" * 31: streams}
    data = made.compound({"WordDocument": b"x", **streams})

    tracemalloc.start()
    with pytest.raises(NotReadable, match="nested too deep"):
        doc(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20_000_000


@pytest.mark.parametrize("character", ["中", "a"])
def test_a_word_document_with_a_piece_beyond_its_end_is_damaged(character):
    data = made.doc(character * 3000)
    piece, longer = struct.pack("<II", 0, 3000), struct.pack("<II", 0, 5000)

    with pytest.raises(NotReadable, match="a piece of its text is missing"):
        doc(data.replace(piece, longer))


def moved(data, ending):
    """The compound file, the last sector of the stream with this ending moved to its end."""
    end = data.index(ending) + len(ending)
    last, new = (end - 1) // 512 - 1, len(data) // 512 - 1
    table = 512 * (struct.unpack_from("<I", data, 76)[0] + 1)
    found = bytearray(data + data[512 * (last + 1) : end])
    struct.pack_into("<I", found, table + 4 * (last - 1), new)
    struct.pack_into("<I", found, table + 4 * new, made.END)
    return bytes(found)


@pytest.mark.parametrize("lost", [1, 20, 513])
def test_a_mail_is_damaged_if_its_text_is_cut(lost):
    text = "\n".join(f"line {number}" for number in range(500))
    data = moved(made.msg(text), "line 499".encode("utf-16-le"))

    assert msg(data) == text
    with pytest.raises(NotReadable, match="cut short"):
        msg(data[:-lost])


def test_a_cut_attachment_does_not_cost_the_text_of_its_mail():
    data = moved(made.msg("see there", attachments=[bytes(5000) + b"end"]), b"end")

    assert msg(data[:-2]) == "see there"
    assert unread_of(msg(data[:-2])) != unread_of(msg(data))


@pytest.mark.parametrize(
    ("page", "codec"),
    [
        *((28592, "iso8859-2"), (28605, "iso8859-15"), (10029, "mac-latin2")),
        *((10007, "mac-cyrillic"), (54936, "gb18030"), (20866, "koi8-r")),
    ],
)
def test_mails_and_rtf_know_the_same_code_pages(page, codec):
    text = {"gb18030": "中文", "koi8-r": "Чай", "mac-cyrillic": "Чай"}.get(codec, "Žluťoučký")
    text = "Prix: 10€" if codec == "iso8859-15" else text
    mail = made.msg(text, text, page, codec=codec)
    escaped = "".join(f"\\'{byte:02x}" for byte in text.encode(codec))

    assert msg(mail) == f"{text}\n{text}"
    assert rtf.text(rf"{{\rtf1\ansi\ansicpg{page} {escaped}}}".encode()) == text


def test_the_page_of_a_mail_is_read_and_its_attributes_are_not():
    def unread(page):
        return unread_of(msg(made.msg("", "Tea", html=f"<p>at <b>three</b>{page}")))

    assert "bodies" not in {each.kind for each in unread("")}
    assert unread("<a href='http://a.org'></a>") != unread("<a href='http://b.org'></a>")
