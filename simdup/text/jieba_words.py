"""Chinese words and their IDF, by jieba, or by rjieba where it is installed.

rjieba cuts runs of Han as jieba does, some ten times faster; a user's own dictionary needs
jieba itself. Both are imported only when needed: jieba's dictionary takes most of a second.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from simdup.errors import InputError
from simdup.text.unicode import representatives

_Tokenizer: TypeAlias = Any  # jieba has no types
Logarithms = Mapping[str, Mapping[str, float]]


@lru_cache(maxsize=4)
def cutter(
    package: str, user_dict: str | None = None, *, variants: bool = False
) -> Callable[[str], Iterable[str]]:
    """A function that cuts a text into its words, in order and without losing a character.

    `package` is "jieba" or "rjieba" (which takes no `user_dict`). With `variants`, the words
    of `user_dict` are folded, since the texts to cut come with their variants folded. Raises
    InputError when the dictionary cannot be read.
    """
    if package == "rjieba":
        import rjieba  # noqa: PLC0415  (loaded only when words are asked for)

        rust_cut: Callable[[str], Iterable[str]] = rjieba.Jieba().cut
        return rust_cut
    cut: Callable[[str], Iterable[str]] = _tokenizer(user_dict, variants=variants).cut
    return cut


@lru_cache(maxsize=4)
def keywords(
    user_dict: str | None = None, stop_words: str | None = None
) -> Callable[[str, int], list[tuple[str, float]]]:
    """A function from (text, how many) to its keywords and their TF-IDF, highest first.

    It works like the assignment's program: the text is cut into words, "|" joins them, and
    `jieba.analyse.extract_tags` cuts and weighs the result, so that a word that jieba only
    guessed from its neighbours falls apart again. Of equal weights the first to occur comes
    first. Raises InputError for a file that cannot be read.
    """
    tokenizer = _tokenizer(user_dict)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba 0.42.1 leaves the table's file to be closed
        import jieba.analyse  # noqa: PLC0415  (reads 260,000 IDF values when imported)

        extractor = jieba.analyse.TFIDF()
    extractor.tokenizer = tokenizer
    extractor.stop_words.update(read_stop_words(stop_words))

    def extract(text: str, top: int) -> list[tuple[str, float]]:
        joined = "|".join(tokenizer.cut(text))
        found: list[tuple[str, float]] = extractor.extract_tags(joined, topK=top, withWeight=True)
        return found

    return extract


@lru_cache(maxsize=1)
def idf() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The words of jieba's IDF table and their values, in the table's order."""
    from importlib.resources import files  # noqa: PLC0415  slow to import

    lines = files("jieba").joinpath("analyse/idf.txt").read_text("utf-8").split()
    return tuple(lines[::2]), tuple(map(float, lines[1::2]))


def read_stop_words(path: str | None) -> list[str]:
    """The lines of a UTF-8 file; none if the path is None. Raises InputError."""
    if path is None:
        return []
    try:
        with open(path, encoding="utf-8-sig") as file:
            return [line.strip() for line in file.read().splitlines()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path!r}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path!r}: {error.strerror}") from None


@lru_cache(maxsize=4)
def _tokenizer(user_dict: str | None, *, variants: bool = False) -> _Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba 0.42.1 on new Pythons and with old setuptools
        import jieba.finalseg  # noqa: PLC0415
    # jieba's own function gives the same words, but its time grows with the square of the longest
    # run of characters that make no known word.
    jieba.finalseg.viterbi = _most_likely
    tokenizer = jieba.Tokenizer()
    # jieba would cache the dictionary in a world-writable folder, and unmarshal whatever lies
    # there; parsing the dictionary's text costs 0.6 s instead.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    if user_dict is not None:
        _load_user_dict(tokenizer, user_dict, variants=variants)
    return tokenizer


def _load_user_dict(tokenizer: _Tokenizer, path: str, *, variants: bool) -> None:
    try:
        with open(path, "rb") as file:
            tokenizer.load_userdict(map(_folded, file) if variants else file)
    except OSError as error:
        raise InputError(f"{path!r}: {error.strerror}") from None
    except ValueError as error:  # jieba also raises it for text other than UTF-8
        raise InputError(f"{path!r}: not a dictionary for jieba: {error}") from None


def _folded(line: bytes) -> str:
    """A line of a dictionary, its variants folded. Raises ValueError unless it is UTF-8."""
    return line.decode("utf-8-sig").translate(representatives())


# The states that may precede each state: a character begins a word (B), is in its middle (M),
# ends it (E), or is a word by itself (S).
_BEFORE = {"B": "ES", "M": "MB", "S": "SE", "E": "BM"}
_NEVER = -3.14e100


def _most_likely(
    observed: Sequence[str],
    states: str,
    begins: Mapping[str, float],
    moves: Logarithms,
    shows: Logarithms,
) -> tuple[float, list[str]]:
    """The most likely states of a hidden Markov model, and the logarithm of their probability.

    `begins`, `moves` and `shows` are logarithms of the probabilities that a state comes first,
    that it follows another, and that it shows a character. Source: Viterbi, "Error bounds for
    convolutional codes and an asymptotically optimum decoding algorithm", 1967; each step notes
    only where each state came from.
    """
    likely = {each: begins[each] + shows[each].get(observed[0], _NEVER) for each in states}
    steps = list[dict[str, str]]()
    for character in observed[1:]:
        best = {
            each: max(
                (likely[last] + moves[last].get(each, _NEVER) + shown, last)
                for last in _BEFORE[each]
            )
            for each in states
            for shown in (shows[each].get(character, _NEVER),)
        }
        steps.append({each: last for each, (_, last) in best.items()})
        likely = {each: value for each, (value, _) in best.items()}
    value, last = max((likely[each], each) for each in "ES")
    found = [last]
    for step in reversed(steps):
        found.append(step[found[-1]])
    return value, found[::-1]
