"""Seeded texts, made on the spot: English, Chinese, and a tree of files of both.

python tests/bench/corpus.py FILES FOLDER
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from simdup.words import idf

LETTERS = "etaoinshrdlucmwfgypb"


class Corpus:
    """Texts of random words from a vocabulary of its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        lengths = [self.random.randint(2, 9) for _ in range(30_000)]
        self.english_words = ["".join(self.random.choices(LETTERS, k=k)) for k in lengths]
        self.chinese_words = [
            word
            for word in self.random.sample(idf()[0], 60_000)
            if word.encode("gb2312", "ignore").decode("gb2312") == word
        ]

    def english(self, size: int) -> str:
        """Some `size` bytes of words."""
        return " ".join(self.random.choices(self.english_words, k=size // 6))

    def chinese(self, size: int) -> str:
        """Some `size` bytes, in UTF-8, of phrases of five words."""
        phrases = (self.random.choices(self.chinese_words, k=5) for _ in range(size // 33))
        return "，".join("".join(words) for words in phrases)

    def edited(self, text: str) -> str:
        """The text with one in twenty of its words, or characters if Chinese, replaced."""
        between = " " if " " in text else ""
        tokens = text.split(" ") if between else list(text)
        for _ in range(len(tokens) // 20):
            tokens[self.random.randrange(len(tokens))] = "edited" if between else "改"
        return between.join(tokens)


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


if __name__ == "__main__":
    make_tree(int(sys.argv[1]), Path(sys.argv[2]))
