"""Seeded texts, made on the spot: English, Chinese, mixed, skewed, and a tree of files.

python tests/bench/corpus.py FILES FOLDER
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTERS = "etaoinshrdlucmwfgypb"

# Words of English, and of Chinese where they are skewed.
COMMON = 30_000

# Bytes of a word on average, with what stands between two; and of five Chinese ones.
WORD_BYTES, PHRASE_BYTES = 6, 28

# Of rows: how many are copies, what shares of them are replaced, and how many others wait to
# be copied.
COPIES, SHARES, WAITING = 0.2, (0.0, 0.02, 0.05, 0.1, 0.2, 0.3), 4000

# Methods of Corpus that make a text.
KINDS = ("english", "chinese", "mixed", "skewed")

# Bytes of an English and a Chinese sentence together.
SENTENCES_BYTES = 126


@dataclass(frozen=True)
class Vocabulary:
    """Words, and their weights summed up; None where all are as common."""

    words: Sequence[str]
    weights: Sequence[float] | None = None


class Corpus:
    """Texts of random words from vocabularies of its own; sizes are bytes in UTF-8, roughly."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        lengths = [self.random.randint(2, 9) for _ in range(COMMON)]
        words = ["".join(self.random.choices(LETTERS, k=k)) for k in lengths]
        zipf = list(accumulate(1 / rank for rank in range(1, COMMON + 1)))
        self.english_words = Vocabulary(words)
        self.chinese_words = jieba_words()
        self.skewed_english = Vocabulary(words, zipf)
        self.skewed_chinese = Vocabulary(self.chinese_words.words[:COMMON], zipf)

    def english(self, size: int, words: Vocabulary | None = None) -> str:
        """Words, each as common as the others unless told."""
        return " ".join(self._drawn(words or self.english_words, size // WORD_BYTES))

    def chinese(self, size: int, words: Vocabulary | None = None) -> str:
        """Phrases of five words, these as common as in jieba's dictionary unless told."""
        drawn = self._drawn(words or self.chinese_words, 5 * (size // PHRASE_BYTES))
        return "，".join("".join(drawn[at : at + 5]) for at in range(0, len(drawn), 5))

    def _drawn(self, words: Vocabulary, count: int) -> list[str]:
        return self.random.choices(words.words, cum_weights=words.weights, k=count)

    def mixed(self, size: int) -> str:
        """English and Chinese sentences in turn."""
        pairs = range(-(-size // SENTENCES_BYTES))
        return " ".join(f"{self.english(60)}. {self.chinese(56)}。" for _ in pairs)

    def skewed(self, size: int) -> str:
        """English or Chinese whose words follow Zipf's law: the first is one in eleven."""
        if self.random.random() < 0.5:
            return self.english(size, self.skewed_english)
        return self.chinese(size, self.skewed_chinese)

    def edited(self, text: str) -> str:
        """The text with one in twenty of its words, or characters if Chinese, replaced."""
        between = " " if " " in text else ""
        tokens = text.split(" ") if between else list(text)
        for _ in range(len(tokens) // 20):
            tokens[self.random.randrange(len(tokens))] = "edited" if between else "改"
        return between.join(tokens)

    def replaced(self, text: str, share: float) -> str:
        """The text with just this share of its words, or characters if Chinese, replaced."""
        is_english = " " in text
        tokens = text.split(" ") if is_english else list(text)
        places = self.random.sample(range(len(tokens)), round(share * len(tokens)))
        words = self.english_words.words if is_english else self.chinese_words.words
        for place in places:
            word = words[self.random.randrange(len(words))]
            tokens[place] = word if is_english else word[0]
        return (" " if is_english else "").join(tokens)


def jieba_words() -> Vocabulary:
    """The words of jieba's dictionary that GB2312 has, commonest first, by their frequencies."""
    lines = files("jieba").joinpath("dict.txt").read_text("utf-8").splitlines()
    found = [
        (int(frequency), word)
        for word, frequency, _ in map(str.split, lines)
        if word.encode("gb2312", "ignore").decode("gb2312") == word
    ]
    found.sort(reverse=True)
    summed = list(accumulate(frequency for frequency, _ in found))
    return Vocabulary([word for _, word in found], summed)


def make_tree(files: int, folder: Path) -> None:
    """Files of 0.5 to 4 kB: half Chinese, a quarter GBK, a tenth edited copies of another."""
    corpus = Corpus(3)
    text = ""
    for number in range(files):
        (folder / str(number // 1000)).mkdir(parents=True, exist_ok=True)
        size = corpus.random.randint(500, 4000)
        if text and corpus.random.random() < 0.1:
            text = corpus.edited(text)
        elif corpus.random.random() < 0.5:
            text = corpus.chinese(size)
        else:
            text = corpus.english(size)
        is_gbk = " " not in text and corpus.random.random() < 0.5
        path = folder / str(number // 1000) / f"{number}.txt"
        path.write_bytes(text.encode("gbk" if is_gbk else "utf-8"))


def make_rows(rows: int, size: int, path: Path, kind: str = "skewed") -> None:
    """JSON Lines of texts of so many bytes and one of KINDS: a fifth edited copies.

    Each row says of which other it is a copy, if it is, and what share of it is replaced.
    """
    corpus, waiting = Corpus(5), list[tuple[int, str]]()
    made = getattr(corpus, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            copied, share = None, None
            if len(waiting) > WAITING // 2 and corpus.random.random() < COPIES:
                # No row is copied twice, so that what is a pair is beyond doubt.
                at = corpus.random.randrange(len(waiting))
                (copied, text), waiting[at] = waiting[at], waiting[-1]
                waiting.pop()
                share = corpus.random.choice(SHARES)
                text = corpus.replaced(text, share)
            else:
                text = made(size)
                waiting.append((number, text))
            row = {"id": number, "text": text, "copied": copied, "share": share}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            if len(waiting) > WAITING:
                waiting.pop(corpus.random.randrange(len(waiting)))


def make_file(megabytes: float, path: Path) -> None:
    """One mixed text in UTF-8, a line a kilobyte."""
    corpus = Corpus(4)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(corpus.mixed(1000) + "\n" for _ in range(int(1000 * megabytes)))


if __name__ == "__main__":
    make_tree(int(sys.argv[1]), Path(sys.argv[2]))
