"""How many texts are read right in each encoding, by length, beside plain chardet.

    python tests/bench/detection.py [--json FILE]

Texts of our own from fixtures, each joined with those that follow it, are encoded and cut to a
length: from their beginning, up to 100 bytes from their middle as well, each time ending with a
whole character and, where these have several bytes, once more inside one. Right is who gets back
the same text, whatever becomes of the cut character. What is ASCII alone is left out. Below are
simdup's wrong guesses: counted at 20 bytes, listed from 100. Last is what a guess takes, in
microseconds of CPU time, the least of three rounds through the samples.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import chardet
from report import Report, options, reported

from simdup.text.encodings import LOST, Encoding, decode, detect

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = Path(__file__).parents[2] / "fixtures"

SIZES = (20, 100, 1_000, 10_000)

# Up to here samples are also taken from the middle, and wrong guesses only counted below it.
SHORT = 100

# Lengths of the samples that are timed, and how often.
TIMED, ROUNDS = (100, 1_000, 10_000, 60_000), 3

BOM = "\ufeff"

# Rare characters of names, and a picture: GB18030 takes four bytes for each. A sample gets one
# of them after its third character.
FOUR_BYTES, BEFORE_RARE = "䶮𠮷㛃😀", 3

# Characters of the first column.
WIDTH, WRONG_WIDTH = 28, 70


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table: which texts, and how they are encoded."""

    name: str
    folder: str
    codec: str
    mark: str = ""
    rare: str = ""


KINDS = (
    Kind("GBK", "simplified", "gbk"),
    Kind("GBK, traditional", "traditional", "gbk"),
    Kind("GB18030, rare characters", "simplified", "gb18030", rare=FOUR_BYTES),
    Kind("Big5", "traditional", "big5hkscs"),
    Kind("UTF-8", "simplified", "utf-8"),
    Kind("UTF-8, mark", "simplified", "utf-8", mark=BOM),
    Kind("UTF-16 LE, mark", "simplified", "utf-16-le", mark=BOM),
    Kind("UTF-16 BE, mark", "simplified", "utf-16-be", mark=BOM),
    Kind("UTF-16 LE, Chinese", "simplified", "utf-16-le"),
    Kind("UTF-16 BE, Chinese", "simplified", "utf-16-be"),
    Kind("UTF-16 LE, western", "western", "utf-16-le"),
    Kind("UTF-16 BE, western", "western", "utf-16-be"),
    Kind("Shift_JIS", "japanese", "cp932"),
    Kind("EUC-JP", "japanese", "euc_jp"),
    Kind("EUC-KR", "korean", "euc_kr"),
    Kind("windows-1252", "western", "cp1252"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """The bytes of a file, and the text that is in them."""

    name: str
    data: bytes
    text: str

    def has(self, text: str) -> bool:
        """Whether that is the text, with or without a sign for the cut character."""
        return text in (self.text, self.text + LOST)


@dataclass(frozen=True, slots=True)
class Guess:
    """What one reader makes of a sample."""

    encoding: str
    is_right: bool


@cache
def texts(folder: str) -> dict[str, str]:
    """The texts of a folder by name, with Chinese ones of the labelled pairs."""
    found = {
        f"{folder}/{path.stem}": path.read_text("utf-8")
        for path in sorted((FIXTURES / "encodings" / folder).glob("*.txt"))
    }
    with (FIXTURES / "pairs" / "documents.csv").open(encoding="utf-8", newline="") as file:
        originals = [row for row in csv.DictReader(file) if row["path"].startswith("originals/zh")]
    for row in originals:
        path = FIXTURES / "pairs" / row["path"]
        text = path.read_bytes().decode(row["encoding"])
        is_traditional = text == encodable(text, "big5hkscs")
        if folder == ("traditional" if is_traditional else "simplified"):
            found[path.stem] = text
    return found


def encodable(text: str, codec: str) -> str:
    """What of the text the encoding has."""
    return text.encode(codec, "ignore").decode(codec)


def samples(kind: Kind, size: int) -> Iterator[Sample]:
    """Every text as files of up to `size` bytes."""
    known = texts(kind.folder)
    names, rare = list(known), kind.rare or [""]
    for number, name in enumerate(names):
        joined = "\n".join(known[each] for each in names[number:] + names[:number])
        places = {" beginning": 0, " middle": len(known[name]) // 2} if size <= SHORT else {"": 0}
        for place, begin in places.items():
            text = encodable(joined[begin : begin + size], kind.codec)
            parts = text[:BEFORE_RARE], rare[number % len(rare)], text[BEFORE_RARE:]
            text = kind.mark + "".join(parts)
            yield from of_size(f"{name}{place}", text, kind.codec, size)


def of_size(name: str, text: str, codec: str, size: int) -> Iterator[Sample]:
    """The text's first `size` bytes without half characters, and all but the last of these."""
    sizes = [len(character.encode(codec)) for character in text]
    count = sum(end <= size for end in accumulate(sizes))
    whole = text[:count]
    if not whole.isascii():
        yield Sample(name, whole.encode(codec), whole.removeprefix(BOM))
    last = max((n for n in range(count) if sizes[n] > 1), default=0)
    if not text[:last].isascii():
        data = text[: last + 1].encode(codec)[:-1]
        yield Sample(f"{name}, cut", data, text[:last].removeprefix(BOM))


def by_simdup(sample: Sample) -> Guess:
    found = detect(sample.data)
    if not isinstance(found, Encoding):
        return Guess("binary", is_right=False)
    return Guess(found.name, sample.has(decode(sample.data, found)))


def by_chardet(sample: Sample) -> Guess:
    name = chardet.detect(sample.data)["encoding"]
    text = sample.data.decode(name, "replace") if name else ""
    return Guess(name or "binary", sample.has(text.removeprefix(BOM)))


def show_right(report: Report) -> None:
    columns = {f"{who}{size:,}": "" for size in SIZES for who in ("", "chardet ")}
    report.table("Samples read right, by length in bytes, beside plain chardet", columns, WIDTH)
    for kind in KINDS:
        cells = (
            f"{sum(reader(each).is_right for each in taken)}/{len(taken)}"
            for size in SIZES
            for taken in [list(samples(kind, size))]
            for reader in (by_simdup, by_chardet)
        )
        report.row(kind.name, *cells)


def show_wrong(report: Report) -> None:
    wrong = [
        (kind.name, size, sample.name, guess.encoding)
        for kind in KINDS
        for size in SIZES
        for sample in samples(kind, size)
        if not (guess := by_simdup(sample)).is_right
    ]
    report.table(f"Wrong guesses below {SHORT} bytes", {"samples": "", "guess": ""}, WIDTH)
    counts = Counter((kind, guess) for kind, size, _, guess in wrong if size < SHORT)
    for (kind, guess), count in counts.items():
        report.row(kind, count, guess)
    report.table(f"Wrong guesses from {SHORT} bytes", {"bytes": ",", "guess": ""}, WRONG_WIDTH)
    for kind, size, name, guess in wrong:
        if size >= SHORT:
            report.row(f"{kind}: {name}", size, guess)


def show_times(report: Report) -> None:
    columns = {f"{size:,}": ",.0f" for size in TIMED}
    report.table("Microseconds for a guess, by length in bytes", columns, WIDTH)
    for kind in KINDS:
        report.row(kind.name, *(microseconds([*samples(kind, size)]) for size in TIMED))


def microseconds(taken: list[Sample]) -> float:
    """The time of a guess on average; the first round also loads chardet."""
    rounds = []
    for _ in range(ROUNDS):
        began = process_time()
        for each in taken:
            detect(each.data)
        rounds.append(process_time() - began)
    return 1e6 * min(rounds) / len(taken)


def main() -> None:
    with reported(options(__doc__).parse_args()) as report:
        show_right(report)
        show_wrong(report)
        show_times(report)


if __name__ == "__main__":
    main()
