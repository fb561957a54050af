"""Two texts in, what differs between them out: figures that a page can show without the texts.

The kept file's text is on the left. Of its sentences, some may stand nowhere on the right, some
only on the right, and others are changed: they share at least half of their words with a sentence
of the other text. Only words count; `Document.other_signs` tells of punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simdup.fields import printable
from simdup.text.facts import Facts, OtherFacts

#: The most facts of each text that are shown, and the most characters of a sentence.
MOST_FACTS, LONGEST = 3, 120

#: Sentences are compared with each other if these are no more pairs; otherwise all count as
#: changed.
MOST_PAIRS = 20_000

# A line break inside a long line is only layout.
_WRAP = re.compile(
    r"(?<=[^\n]{50})(?<![.!?。！？:])\n(?=\w)|(?<=[\u3000-\u9fff]{24})\n(?=[\u3000-\u9fff])"
)
_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_])|(?<=[。！？])|\n+")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")


class Differences(NamedTuple):
    """What differs between the kept text and another one.

    kept_facts: The first facts that only the kept text has; see `text.facts`.
    other_facts: The first facts that only the other text has.
    facts: How many facts the text has that has more facts of its own.
    only_kept: How many sentences stand only in the kept text.
    only_other: How many sentences stand only in the other text.
    changed: How many sentences are in both, but changed.
    sentence: How the first sentence begins that stands only in the other text; "" for none.
    """

    kept_facts: Sequence[str]
    other_facts: Sequence[str]
    facts: int
    only_kept: int
    only_other: int
    changed: int
    sentence: str

    @property
    def is_nothing(self) -> bool:
        """Whether the texts have the same facts and sentences."""
        return not (self.facts or self.only_kept or self.only_other or self.changed)


class KeptText:
    """The text of a kept file, with which other texts are compared."""

    def __init__(self, text: str) -> None:
        self._facts, self._sentences = Facts([text]), _sentences(text)

    def differences(self, text: str) -> Differences:
        """What differs in another text."""
        facts = OtherFacts.of(self._facts, Facts([text]))
        sentences = _sentences(text)
        left = {
            words: sentence for words, sentence in self._sentences.items() if words not in sentences
        }
        right = {
            words: sentence for words, sentence in sentences.items() if words not in self._sentences
        }
        if len(left) * len(right) > MOST_PAIRS:
            only_left, only_right = [], []
        else:
            only_left, only_right = _alone(left, right), _alone(right, left)
        return Differences(
            [printable(fact)[:LONGEST] for fact in facts.left[:MOST_FACTS]],
            [printable(fact)[:LONGEST] for fact in facts.right[:MOST_FACTS]],
            max(len(facts.left), len(facts.right)),
            len(only_left),
            len(only_right),
            max(len(left) - len(only_left), len(right) - len(only_right)),
            printable(only_right[0])[:LONGEST] if only_right else "",
        )


def _sentences(text: str) -> dict[tuple[str, ...], str]:
    """The sentences of a text by their words, in the order in which each first appears."""
    sentences = dict[tuple[str, ...], str]()
    for piece in _END.split(_WRAP.sub(" ", text)):
        if words := tuple(_WORD.findall(piece.lower())):
            sentences.setdefault(words, " ".join(piece.split()))
    return sentences


def _alone(sentences: dict[tuple[str, ...], str], others: Iterable[tuple[str, ...]]) -> list[str]:
    """The sentences that share fewer than half of their words with each of the others."""
    sets = [frozenset(words) for words in others]
    return [
        sentence
        for words, sentence in sentences.items()
        if not any(2 * len(other.intersection(words)) >= len({*words}) for other in sets)
    ]
