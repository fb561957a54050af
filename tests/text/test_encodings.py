"""simdup.text.encodings: sentences in every encoding it reads, and bytes that are no text."""

from __future__ import annotations

import codecs
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from time import process_time

import makers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import patient

from simdup.text import encodings
from simdup.text.east_asian import clear_encoding, likelier_encoding, points
from simdup.text.encodings import (
    EDITION,
    Encoding,
    NotText,
    count_lost,
    decode,
    decode_chunks,
    detect,
    edition,
    encoding_named,
)

pytestmark = pytest.mark.slow

ENGLISH = "The ferry left at dawn, and nobody on the pier remembered to wave. "
SIMPLIFIED = (
    "清晨的渡船离开码头时，岸上没有人记得挥手。老船工把绳子盘好，说今年的鱼比去年少了三成，"
    "不过风倒是顺的。孩子们趴在栏杆上数海鸥，数到十七便争吵起来：“你把同一只数了两遍！”\n"
    "到了对岸，集市刚刚开张，卖豆腐的、修钟表的、写信的，都还记得她小时候的样子。\n"
)
TRADITIONAL = (
    "清晨的渡船離開碼頭時，岸上沒有人記得揮手。老船工把繩子盤好，說今年的魚比去年少了三成，"
    "不過風倒是順的。孩子們趴在欄杆上數海鷗，數到十七便爭吵起來：「你把同一隻數了兩遍！」\n"
    "到了對岸，集市剛剛開張，賣豆腐的、修鐘錶的、寫信的，都還記得她小時候的樣子。\n"
)
MIXED = f"第1章 Ferry\n{SIMPLIFIED}{ENGLISH}\n"
FRENCH = "Le café était fermé à midi ; la patronne, malade, était partie en forêt où rêvait l'été. "
GERMAN = "Die Bäckerei öffnet früh, aber schon vorher stehen müde Gäste vor der großen Tür. "
RUSSIAN = "Утром он вышел из дома и увидел, что река замёрзла и дети катаются на санках. "
GREEK = "Το πλοίο έφυγε την αυγή, και κανείς στην προβλήτα δεν θυμήθηκε να χαιρετήσει. "
JAPANESE = "朝の電車は混んでいて、窓の外の景色を見る余裕もなかった。駅に着くと雨が降りだしていた。"
KOREAN = "아침마다 그는 강가를 따라 걸었다. 바람이 차가워도 새들은 여전히 노래했고 물은 맑았다. "

CODECS = [
    *("utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030", "big5", "big5hkscs"),
    *("shift_jis", "euc-jp", "euc-kr", "windows-1252", "windows-1251", "koi8-r", "cp866"),
]


def name(data, **options):
    """The name of the encoding that `detect` finds; fails if it finds no text."""
    found = detect(data, **options)
    assert isinstance(found, Encoding), found
    return found.name


def read(data):
    """The text as simdup reads it."""
    return decode(data, detect(data))


@pytest.mark.parametrize(
    ("text", "codec", "expected"),
    [
        (ENGLISH, "ascii", "utf-8"),
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "utf-8-sig", "utf-8-sig"),
        (SIMPLIFIED, "gb2312", "gb18030"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (TRADITIONAL, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (TRADITIONAL, "cp950", "big5"),
        (MIXED, "gbk", "gb18030"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc-jp", "euc-jp"),
        (KOREAN, "euc-kr", "euc-kr"),
        (FRENCH, "windows-1252", "windows-1252"),
        (GERMAN, "latin-1", "windows-1252"),
        (RUSSIAN, "windows-1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
    ],
)
def test_a_paragraph_is_read_in_its_own_encoding(text, codec, expected):
    data = text.encode(codec)

    assert name(data) == expected
    assert read(data) == text


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        *(("参见", "gbk"), ("# zhujie：读", "gbk"), ("1. 打开电源\n2. 等待\n", "gbk")),
        *(("// 使用 `allow` 来抑制", "gbk"), ("请向 <https://example.org> 报告", "gbk")),
        *(("您好！\n附件已收到，谢谢。\n", "gbk"), ("柳堡镇图书室·冬夜书", "gbk")),
        *(("請向 <https://example.org> 回報", "gbk"), ("各位鄰居：停水三天", "gbk")),
        *(("參見 SEE ALSO", "big5"), ("本頁面中文版由中文 man", "big5"), ("檔案不存在", "big5")),
        *(("名前: 田中", "shift_jis"), ("名前: 田中", "euc-jp"), ("옵션: 파일 이름", "euc-kr")),
        ("-   交 完 !", "shift_jis"),  # which chardet takes for two signs in windows-1252
    ],
)
def test_a_line_or_less_is_read_in_its_own_encoding(text, codec):
    assert read(text.encode(codec)) == text


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        *(("à", "windows-1252"), ("Impossible d’écrire ici", "windows-1252")),
        *(("Käännä mökkipäiväkirja", "windows-1252"), ("Größe: 5 m²", "windows-1252")),
        *(("E1209: Непра", "windows-1251"), ("март\nмай", "koi8-r"), ("Привет, мир", "koi8-r")),
    ],
)
def test_a_few_letters_of_europe_are_not_taken_for_chinese(text, codec):
    assert name(text.encode(codec)) == codec


def test_repeated_characters_count_once_as_evidence():
    once, often = ("plików ".encode("iso8859-2") * count for count in (1, 20))

    assert points(once)["gb18030"] == points(often)["gb18030"] > 0
    assert clear_encoding(often) is None


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        *((SIMPLIFIED, "gb18030"), (TRADITIONAL, "big5hkscs"), (KOREAN, "cp949")),
        *((JAPANESE, "cp932"), (JAPANESE, "euc_jis_2004")),
    ],
)
def test_a_paragraph_has_a_clear_encoding(text, codec):
    data = text.encode(codec)

    found, confidence = clear_encoding(data)

    assert found == codec == likelier_encoding(data, None) == likelier_encoding(data, "cp1252")
    assert 0.9 < confidence < 1


def test_a_guess_stands_unless_another_encoding_has_clearly_more_points():
    assert likelier_encoding(FRENCH.encode("cp1252"), "cp1252") == "cp1252"
    assert likelier_encoding(b"", None) is None


@pytest.mark.parametrize(
    "text", [ENGLISH * 8, SIMPLIFIED * 4, TRADITIONAL * 4, MIXED * 3, KOREAN * 9]
)
@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf16_is_recognised_with_and_without_a_mark(text, order, mark):
    data = (mark + text).encode(order)

    assert name(data) == order
    assert read(data) == text


@pytest.mark.parametrize("codec", ["utf-32-le", "utf-32-be", "gb18030"])
def test_other_marks_are_recognised_and_removed(codec):
    data = f"\ufeff{SIMPLIFIED}".encode(codec)

    assert detect(data) == Encoding(codec, 1.0)
    assert read(data) == SIMPLIFIED


def test_hong_kong_characters_choose_the_larger_big5():
    text = f"{TRADITIONAL}佢哋喺度食嘢，啲人都話好嘢嚟㗎。\n"

    assert name(text.encode("big5hkscs")) == "big5hkscs"
    assert read(text.encode("big5hkscs")) == text


def test_noise_that_only_hong_kong_big5_can_decode_does_not_replace_big5():
    good = (TRADITIONAL * 2).encode("big5")

    # Of this noise Taiwan's Big5 loses four characters, Hong Kong's one.
    assert name(good[:188] + bytes.fromhex("bb8b90cdc1b094b6") + good[188:]) == "big5"


def test_chinese_after_a_long_english_beginning_is_found():
    text = ENGLISH * 2000 + SIMPLIFIED

    assert read(text.encode("gbk")) == text


def test_an_empty_file_is_utf8():
    assert detect(b"") == Encoding("utf-8", 1.0)
    assert read(b"") == ""


def test_strict_utf8_and_marks_are_certain_and_statistics_are_not():
    assert detect(SIMPLIFIED.encode()).confidence == 1.0
    assert 0 < detect(SIMPLIFIED.encode("gbk")).confidence <= 1.0


@pytest.mark.parametrize("codec", ["utf-8", "gbk"])
@pytest.mark.parametrize("complete", [True, False])
def test_a_character_cut_at_the_end_does_not_hide_the_encoding(codec, complete):
    data = SIMPLIFIED.rstrip("。\n").encode(codec)[:-1]

    encoding = detect(data, complete=complete)

    assert encoding.name == {"utf-8": "utf-8", "gbk": "gb18030"}[codec]
    assert count_lost(decode(data, encoding)) == 1


def test_utf8_that_is_cut_in_a_character_is_certain():
    assert detect("你好你好".encode()[:-1]) == Encoding("utf-8", 1.0)
    assert detect("你好\x01你好\x01你".encode()[:-1]) == Encoding("utf-8", 1.0)


def test_an_accent_at_the_end_of_ascii_is_no_cut_utf8():
    data = f"{ENGLISH}He ordered a second café".encode("latin-1")

    assert name(data) == "windows-1252"
    assert name(data, complete=False) == "utf-8"


@pytest.mark.parametrize("codec", ["utf-8", "gbk", "big5"])
def test_a_few_wrong_bytes_are_counted_and_the_rest_is_read(codec):
    text = TRADITIONAL * 3
    good = text.encode(codec)
    line = good.index(b"\n")

    damaged = read(good[:line] + b"\xff" + good[line:])

    assert count_lost(damaged) == 1
    assert damaged.replace("\ufffd", "") == text


def test_up_to_one_character_in_twenty_may_be_damaged_in_utf8():
    assert detect(("字" * 20).encode() + b"\xff\n") == Encoding("utf-8", 1 - 1 / 21)
    assert detect(("字" * 19).encode() + b"\xff\n") == Encoding("utf-8", 1 - 1 / 20)
    assert detect(("字" * 18).encode() + b"\xff\n") == NotText("no known encoding")


def test_damage_long_before_other_characters_does_not_hide_utf8():
    data = b"\xff" + (ENGLISH * 1000).encode() + ("字" * 99).encode()

    assert detect(data) == Encoding("utf-8", 1 - 1 / 100)


@pytest.mark.parametrize(("codec", "expected"), [("gbk", "gb18030"), ("big5", "big5")])
def test_a_run_of_noise_does_not_hide_the_encoding(codec, expected):
    good = (TRADITIONAL * 4).encode(codec)
    noise = random.Random(4).choices(range(0x80, 0x100), k=20)

    assert name(good[:300] + bytes(noise) + good[300:]) == expected


def test_a_replacement_character_in_the_file_counts_as_damage():
    assert count_lost(read("one \ufffd two \ufffd".encode())) == 2


def test_a_character_cut_at_the_end_is_not_damage_in_utf8():
    data = ("é" * 19).encode() + b"\xff"

    for end in (b"", "é".encode()[:1]):
        assert detect(data + end, complete=False) == Encoding("utf-8", 1 - 1 / 20)


def test_gbk_is_not_decoded_as_utf8_to_see_how_much_is_lost(monkeypatch):
    monkeypatch.delattr(encodings, "_lost")

    assert name(SIMPLIFIED.encode("gbk")) == "gb18030"


PARAGRAPHS = {
    "utf-8": SIMPLIFIED,
    "utf-8-sig": TRADITIONAL,
    "ascii": ENGLISH * 3,
    "gb18030": SIMPLIFIED,
    "big5": TRADITIONAL,
    "shift_jis": JAPANESE,
    "cp1252": FRENCH,
    "utf-16": SIMPLIFIED,
    "utf-16-le": ENGLISH * 8,
    "utf-16-be": SIMPLIFIED * 4 + "一",
    "utf-32": RUSSIAN,
}


@pytest.mark.parametrize("count", [1, 2, 3, 58, 512, 100_000])
@pytest.mark.parametrize("codec", PARAGRAPHS)
def test_nuls_at_the_end_are_no_part_of_a_text(codec, count):
    text = PARAGRAPHS[codec]
    data = text.encode(codec)

    assert detect(data + bytes(count)) == detect(data)
    assert read(data + bytes(count)) == read(data) == text


@pytest.mark.parametrize("word", ["a", "hello", "two words", "你好", "1\n"])
@pytest.mark.parametrize("count", [1, 2, 3, 58])
def test_nuls_after_a_word_are_no_part_of_it(word, count):
    assert read(word.encode() + bytes(count)) == word
    assert name(word.encode() + bytes(count)) == "utf-8"


def test_the_last_character_of_utf16_counts_too():
    # Its second byte is a NUL, as padding is.
    assert detect("ab".encode("utf-16-le")) == Encoding("utf-16-le", 1.0)
    assert detect("abcdefghi\x80".encode("utf-16-le")) == Encoding("utf-16-le", 0.9)
    assert detect("一".encode("utf-16-le")) == Encoding("utf-16-le", 1.0)


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_has_few_nul_characters(order):
    assert detect(f"{ENGLISH}{chr(0) * 9}{ENGLISH}".encode(order)) == NotText("NUL bytes")


def test_nuls_that_come_in_pieces_are_as_many_as_there_were(monkeypatch):
    monkeypatch.setattr(encodings, "_NULS_AT_ONCE", 4)

    found = decode_chunks([b"begin", bytes(7), b"end"], Encoding("utf-8", 1.0))
    assert "".join(found) == f"begin{chr(0xFFFD) * 7}end"


@pytest.mark.parametrize("codec", [*PARAGRAPHS][:9])
def test_a_stray_nul_within_a_long_text_is_a_damaged_byte(codec):
    text = PARAGRAPHS[codec] * 60
    data = text.encode(codec)
    clean = [f"{line}\n" for line in text.split("\n")]
    middle = len("".join(clean[: len(clean) // 2]).encode(codec)) if len(clean) > 1 else 60
    nul = "\0".encode(codec.removesuffix("-sig") if codec != "utf-16" else "utf-16-le")

    damaged = data[:middle] + nul + data[middle:]
    assert detect(damaged).name == detect(data).name
    assert count_lost(read(damaged)) == 1
    assert read(damaged).replace("\ufffd", "") == text


def test_stray_nuls_are_few_and_alone():
    text = ENGLISH.encode() * 100
    spread = b"\0".join(text[at : at + 1500] for at in range(0, len(text), 1500))

    assert count_lost(read(spread)) == spread.count(b"\0") == 4
    assert count_lost(read(text[:1000] + bytes(6) + text[1000:] + bytes(9))) == 6
    assert detect(text[:1000] + bytes(8) + text[1000:]) == NotText("NUL bytes")
    assert detect(text[:1000] + bytes(512) + text[1000:]) == NotText("NUL bytes")


@pytest.mark.parametrize(
    "data",
    [
        bytes(1),
        bytes(100_000),
        b"key=value\0" * 9 + bytes(40),
        makers.tar({"a": ENGLISH * 20_000}),
        makers.tar(dict.fromkeys("abcdefghi", SIMPLIFIED)),
        b"\0".join([b"./notes/one.txt"] * 900),
        ENGLISH.encode() + b"\0" + ENGLISH.encode(),
        bytes(9) + ENGLISH.encode() * 2000,
        codecs.BOM_UTF8 + bytes(9),
    ],
)
@pytest.mark.parametrize("complete", [True, False])
def test_formats_with_nuls_by_design_are_binary(data, complete):
    found = detect(data, complete=complete)

    assert isinstance(found, NotText)
    assert found.detail in {"NUL bytes", "NUL characters", "tar"}


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"%PDF-1.7\nplain as it looks", "PDF"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "ELF"),
        (makers.tar({"a": ENGLISH * 40}), "tar"),
        (ENGLISH.encode() * 2000 + bytes(512) + ENGLISH.encode(), "NUL bytes"),
        ("\ufeffone\0two".encode("utf-16-le"), "NUL characters"),
        (b"\x01\x02\x03\x04abcdef", "40 % control bytes"),
        (SIMPLIFIED.encode("gbk")[:90] + b"\x01" * 10, "10 % control bytes"),
        (bytes(range(0x80, 0x100)) * 3, "no known encoding"),
    ],
)
def test_the_detail_names_the_binary_format(data, detail):
    assert detect(data) == NotText(detail)


@pytest.mark.parametrize("size", [50, 200, 1000, 10_000])
def test_random_bytes_are_not_text(size):
    source = random.Random(size)  # fixes the 200 files: 2 of 1,000 slip through at 50 bytes

    texts = [size for _ in range(200) if isinstance(detect(source.randbytes(size)), Encoding)]

    assert len(texts) <= 2


@pytest.mark.parametrize("stray", ["\x1b[1m", "\f", "\a", "\x1a", "N\bNA\bAM\bME\bE"])
@pytest.mark.parametrize("codec", ["utf-8", "gbk"])
def test_stray_control_characters_do_not_make_a_text_binary(stray, codec):
    text = SIMPLIFIED + stray

    assert read(text.encode(codec)) == text


@pytest.mark.parametrize("codec", ["gbk", "windows-1252"])
def test_one_control_character_does_not_make_a_very_short_text_binary(codec):
    text = {"gbk": "参见\a下文", "windows-1252": "été\a"}[codec]

    assert read(text.encode(codec)) == text
    assert detect(text.encode(codec) + b"\a\a").detail.endswith("control bytes")


@pytest.mark.parametrize("codec", CODECS)
def test_newlines_become_one_kind(codec):
    encoding = encoding_named(codec)

    assert decode("a\r\nb\rc\nd\r".encode(codec), encoding) == "a\nb\nc\nd\n"


def test_only_a_byte_order_mark_at_the_very_beginning_is_removed():
    data = b"\xef\xbb\xbf\xef\xbb\xbfone"

    assert read(data) == "\ufeffone"


@given(st.binary(max_size=80), st.sampled_from(CODECS), st.lists(st.integers(0, 80)))
def test_chunks_of_any_size_give_the_same_text(data, codec, cuts):
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[a:b] for a, b in pairwise(places)]

    assert "".join(decode_chunks(chunks, encoding_named(codec))) == decode(
        data, encoding_named(codec)
    )


@given(st.text(max_size=60), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_marked_text_comes_back_from_chunks_of_one_byte(text, codec):
    data = f"x{text}".encode(codec)
    chunks = [data[i : i + 1] for i in range(len(data))]
    encoding = encoding_named({"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(codec, codec))

    back = "".join(decode_chunks(chunks, encoding))

    whole = f"x{text}".rstrip("\0").replace("\r\n", "\n").replace("\r", "\n")
    assert back == whole.replace("\0", "\ufffd")


@given(st.text(max_size=20), st.integers(0, 9), st.text(max_size=20), st.integers(0, 9))
@pytest.mark.parametrize("codec", ["utf-8", "gb18030", "utf-16-le", "utf-16-be", "utf-32-be"])
def test_nuls_within_a_text_are_damage_and_at_its_end_are_dropped(
    codec, left, within, right, after
):
    left, right = (text.replace("\0", "").replace("\r", "") for text in (left, right))
    data = f"x{left}{chr(0) * within}y{right}".encode(codec) + bytes(after)
    cut = [data[at : at + 3] for at in range(0, len(data), 3)]

    for chunks in (cut, [data]):
        found = "".join(decode_chunks(chunks, encoding_named(codec)))
        assert found == f"x{left}{chr(0xFFFD) * within}y{right}"


# Bytes that meet often in no real file: parts of marks, surrogates, lead bytes, controls.
HOSTILE = st.lists(
    st.sampled_from(
        b"\0\r\n\x1b\x81\x8e\xff\xfe\xef\xbb\xbf\xd8\xdc\xe4\xb8\x84\x31\x95\x33"
        + "你好é".encode("gb18030")
        + "你好é".encode("utf-16-le")
    ),
    max_size=60,
).map(bytes)


@given(st.binary(max_size=200) | HOSTILE, st.booleans())
def test_decoding_never_fails_and_every_text_can_be_encoded_again(data, complete):
    encoding = detect(data, complete=complete)

    if isinstance(encoding, Encoding):
        assert 0 < encoding.confidence <= 1
        assert decode(data, encoding).encode("utf-8") is not None


@pytest.mark.parametrize(
    ("given_name", "expected"),
    [
        *(("GBK", "gb18030"), ("gb2312", "gb18030"), ("cp936", "gb18030"), ("UTF8", "utf-8")),
        *(("latin-1", "windows-1252"), ("cp950", "big5"), ("Big5", "big5"), ("sjis", "shift_jis")),
        *(("utf-16le", "utf-16-le"), ("utf-8-sig", "utf-8-sig"), ("iso8859-2", "iso-8859-2")),
    ],
)
def test_every_alias_of_an_encoding_gives_one_name(given_name, expected):
    assert encoding_named(given_name) == Encoding(expected, 1.0)
    assert codecs.lookup(encoding_named(given_name).name)


@pytest.mark.parametrize(
    "wrong",
    [
        *["klingon", "base64", "rot13", "zlib", "hex", "undefined", "idna", "replacement"],
        "",
        "a\0b",
    ],
)
def test_an_unknown_encoding_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match="unknown encoding") as refusal:
        encoding_named(wrong)

    assert str(refusal.value) == f"unknown encoding {wrong!r}"


def test_the_edition_names_chardet_or_the_named_encoding():
    assert edition(None).startswith(f"edition {EDITION}, chardet ")
    assert edition("GBK") == edition("gb2312") == f"edition {EDITION}, gb18030"


def test_utf32_must_be_named_with_its_byte_order():
    with pytest.raises(ValueError, match="'utf-32' leaves the byte order open: say utf-32-le or"):
        encoding_named("utf-32")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le"])
def test_utf16_without_a_byte_order_is_read_by_its_mark_or_as_on_windows(codec):
    data = SIMPLIFIED.encode(codec)

    assert decode(data, encoding_named("utf-16")) == SIMPLIFIED
    assert "".join(decode_chunks([data[:3], data[3:]], encoding_named("utf-16"))) == SIMPLIFIED


# Labels of the WHATWG Encoding Standard that Python's codecs do not know, and false friends.
with open(Path(__file__).with_name("labels.txt"), encoding="utf-8") as file:
    LABELS = dict(line.split(": ") for line in file)


@pytest.mark.parametrize(
    ("declaration", "word", "codec", "expected"),
    [
        ("<?xml version='1.0' encoding='windows-1251'?>", "Чай", "cp1251", "windows-1251"),
        (
            '<?xml version="1.0" encoding="ISO-8859-2" standalone="yes"?>',
            "łyżka",
            "l2",
            "iso-8859-2",
        ),
        ("\n<?xml version='1.1'\n encoding = 'x-mac-cyrillic' ?>", "Чай", "mac-cyrillic", None),
        ("<?xml version='1.0' encoding='koi8-r'?>", "Чай", "utf-8", "utf-8"),
        ("<?xml version='1.0' encoding='utf-8'?>", "春眠不觉晓，处处闻啼鸟。", "gbk", "gb18030"),
        ("<?xml version='1.0' encoding='no such'?>", "春眠不觉晓，处处闻啼鸟。", "gbk", "gb18030"),
        (
            "<?xml version='1.0' encoding='iso-2022-jp'?>",
            "春眠不觉晓，处处闻啼鸟。",
            "gbk",
            "gb18030",
        ),
    ],
)
def test_xml_is_in_the_encoding_that_it_declares_if_that_can_read_it(
    declaration, word, codec, expected
):
    data = f"{declaration}<a>{word}</a>".encode(codec)

    found = detect(data)
    assert found.name == (expected or codec)
    assert decode(data, found) == f"{declaration}<a>{word}</a>"


@pytest.mark.parametrize("piece", [b"<?xml ", b"<?xml encoding=", b" ", b"encoding= "])
def test_a_megabyte_of_broken_declarations_takes_no_time(piece):
    began = process_time()
    detect(b"<?xml " + piece * (1_000_000 // len(piece)) + "é".encode("l1"))

    assert process_time() - began < patient(10)


@pytest.mark.parametrize("expected", LABELS)
def test_labels_of_the_web_and_of_mail_are_known(expected):
    assert {encoding_named(f" {label.title()} ").name for label in LABELS[expected].split()} == {
        expected
    }


@pytest.mark.parametrize(
    ("text", "codec", "expected"),
    [
        (f"{JAPANESE}\n(株)ABC ", "iso2022_jp", "iso-2022-jp"),
        ("半角 ﾔﾏﾀﾞ と、丂 と JIS", "iso2022_jp_ext", "iso-2022-jp"),
        ("俱 ① 鄧 倶楽部", "iso2022_jp_2004", "iso-2022-jp"),
        (f"{KOREAN}\n{ENGLISH}", "iso2022_kr", "iso-2022-kr"),
    ],
)
def test_iso_2022_shows_by_its_escapes(text, codec, expected):
    data = text.encode(codec)

    assert name(data) == expected
    assert read(data) == text
    assert "".join(decode_chunks([data[:9], data[9:]], encoding_named(codec))) == text


def test_characters_that_windows_adds_to_iso_2022_jp():
    assert read(b"\x1b$B-!-j\x1b(B and \x1b$BF|K\\\x1b(B") == "①㈱ and 日本"


def test_escapes_of_terminals_are_no_iso_2022():
    assert name(b"\x1b[1mbold\x1b(B\x1b[m costs \x1b$5") == "utf-8"
    assert name(b"\x1b$)C") == "utf-8"  # the mark of ISO-2022-KR, and no text after it


@pytest.mark.parametrize("codec", ["utf-7", "iso-2022-jp", "iso-2022-kr"])
def test_damaged_escapes_are_lost_characters(codec):
    data = bytes(random.Random(3).choices(b"\x1b$B(J)C\x0e\x0f~ab\n\xff+-AZ", k=5000))

    assert decode(data, encoding_named(codec)).encode("utf-8")


THAI = "อาหารไทยขึ้นชื่อเรื่องการปรุงแต่งอย่างสมดุลของรสชาติพื้นฐาน คือเปรี้ยว หวาน เค็ม ๑๒๓ "
HEBREW = "שָׁלוֹם לְכֻלָּם, הַפְּגִישָׁה נִדְחֲתָה לְיוֹם שְׁלִישִׁי בְּשָׁעָה שָׁלוֹשׁ. "
ARABIC = "قُلْ هُوَ اللَّهُ أَحَدٌ اللَّهُ الصَّمَدُ لَمْ يَلِدْ وَلَمْ يُولَدْ "


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (THAI, "cp874"),
        (THAI * 20, "tis-620"),
        ("กรุณาส่งเอกสารนี้ให้ผู้จัดการก่อนวันศุกร์ด้วย\n", "cp874"),
        (HEBREW * 20, "cp1255"),
        (ARABIC * 20, "cp1256"),
        ("ｵﾚﾝｼﾞｼﾞｭｰｽ 120ｴﾝ\nﾊﾟﾝ 200ｴﾝ\nｷﾞｭｳﾆｭｳ 180ｴﾝ\n", "cp932"),
        ("｢ｺﾝﾆﾁﾊ｣､ﾜﾀｼﾊ ﾃﾞﾝｼｬﾃﾞ ｶｲｼｬﾆ ｲｷﾏｽ｡", "cp932"),
    ],
)
def test_marks_of_letters_and_small_letters_are_text(text, codec):
    assert read(text.encode(codec)) == text


@pytest.mark.parametrize("data", [b"\x80 5 \xc6\xb1", b"\xc6\xb1\x805", b"\x80\xc6\xb1\x80"])
def test_the_euro_sign_of_windows_in_gbk(data):
    gbk = encoding_named("gbk")
    expected = data.replace(b"\x80", "€".encode("gb18030")).decode("gb18030")

    assert decode(data, gbk) == expected
    assert "".join(decode_chunks([bytes([byte]) for byte in data], gbk)) == expected


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        *(THAI, HEBREW, ARABIC, "नमस्ते, कल दोपहर तीन बजे बैठक होगी।\n", "ეს მოკლე ტექსტია.\n"),
        "ይህ በአማርኛ የተጻፈ አጭር ጽሑፍ ነው።\n",
        "Đây là một đoạn văn bản ngắn.\n",
        "བོད་ཡིག་ནི་བོད་པའི་ཡི་གེ་ཡིན།\n",
    ],
)
def test_utf16_without_a_mark_is_recognised_in_any_script(text, order):
    assert name(text.encode(order)) == order


def test_confidence_is_that_of_chardet_also_where_everyday_characters_decide():
    found = detect("的".encode("big5"))

    assert found.name == "big5"
    assert found.confidence > 0.9


def test_everyday_characters_decide_alone_where_chardet_has_no_answer(monkeypatch):
    no_answer = {"encoding": None, "confidence": 0.0, "language": None}
    monkeypatch.setattr("chardet.detect_all", lambda *_, **__: [no_answer])

    assert detect("的".encode("big5")) == Encoding("big5", 0.1)
    assert detect("，".encode("big5")[:1]) == NotText("no known encoding")


def test_signs_alone_are_text_in_an_east_asian_encoding_and_in_no_other(monkeypatch):
    for codec, expected in (("gb18030", "gb18030"), ("cp1252", None)):
        monkeypatch.setattr(encodings, "_answers", lambda *_, codec=codec: [Encoding(codec, 0.3)])

        found = detect("＞".encode("gbk"))

        assert found == (Encoding(expected, 0.3) if expected else NotText("no known encoding"))


RARE = [
    ("cp1253", "Η συμφωνία αντικαθιστά κάθε προηγούμενη πράξη και ισχύει από αύριο."),
    ("iso8859-7", "Η συμφωνία αντικαθιστά κάθε προηγούμενη πράξη και ισχύει από αύριο."),
    ("koi8-u", "Угода набирає чинності завтра, її підписали всі їхні представники."),
    ("cp866", "Договор вступает в силу завтра, его подписали все участники собрания."),
    ("cp855", "Договор вступает в силу завтра, его подписали все участники собрания."),
    ("iso8859-5", "Договор вступает в силу завтра, его подписали все участники собрания."),
    ("cp850", "Der Vertrag über die Häuser tritt übermorgen für alle Schlösser in Kraft."),
    ("cp437", "Après l'été, la société a été créée à côté de l'école où il était né."),
    ("mac-roman", "Après l'été, la société a été créée à côté de l'école où il était né."),
    ("cp852", "Żaden wójt nie mógł sięgnąć głębiej niż źródło, które ledwie płynęło."),
    ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy a všichni ho přes řeku slyšeli."),
    ("cp1257", "Žmonės ąžuolų šešėlyje kalbėjosi apie žiemą, ėjo į mišką, grįžo vėlų vakarą."),
    ("iso8859-16", "Umowa wchodzi w życie jutro: „żaden wójt nie mógł sięgnąć głębiej”, rzekł."),
    ("iso8859-6", "تدخل الاتفاقية حيز التنفيذ غدا بعد أن وقع عليها جميع المشاركين"),
    ("cp1254", "Anlaşma yarın yürürlüğe giriyor, bütün katılımcılar öğleden sonra imzaladı."),
    (
        "cp1258",
        "Ho\u0323 đa\u0303 đê\u0301n tha\u0300nh phô\u0301 va\u0300o buô\u0309i sa\u0301ng.",
    ),
]


@pytest.mark.parametrize(("codec", "text"), RARE)
def test_rare_encodings_are_found_in_one_line(codec, text):
    assert read(text.encode(codec)) == text


@pytest.mark.parametrize("words", ["圖書館 學校", "火車站", "電腦 再見 文化"])
def test_few_chinese_words_in_big5_in_an_english_text_are_read(words):
    text = f"Our guide wrote {words} on the board, and we went home."

    assert detect(text.encode("big5")).name == "big5"
    assert read(text.encode("big5")) == text


@pytest.mark.parametrize("text", ["The A×B matrix is fine.", "The Java™based tool is fine."])
def test_a_sign_between_two_letters_is_no_other_encoding(text):
    assert read(text.encode("cp1252")) == text


def test_a_language_with_two_accented_letters_is_windows_1252():
    assert detect("Shqipëria është e bukur, më thanë".encode("cp1252")).name == "windows-1252"


def test_two_accented_letters_without_a_plain_one_are_windows_1252():
    assert detect("ßà".encode("cp1252")).name == "windows-1252"


@pytest.mark.parametrize("data", ["一 one".encode(), SIMPLIFIED[:40].encode("gbk")])
def test_chardet_is_not_loaded_for_utf8_nor_for_a_line_of_gbk(data):
    program = (
        f"import sys; from simdup.text.encodings import detect; detect({data!r});"
        "sys.exit('chardet' in sys.modules)"
    )

    assert (
        subprocess.run([sys.executable, "-X", "utf8", "-c", program], check=False).returncode == 0
    )


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_alone_is_an_empty_text(name):
    assert detect("\ufeff".encode(name)) == Encoding(name, 1.0)
