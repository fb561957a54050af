"""A recipe: everything that decides the bits of a fingerprint, and nothing else.

`Recipe.key()` names it wherever fingerprints are kept, so that two fingerprints
are compared only when they were made alike.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec

from simdup.errors import BadValueError, InputError
from simdup.versions import version

#: Increased whenever the same options begin to give other bits.
FORMAT = 2

#: The data by which variants of Chinese characters are folded: simdup/text/variants.txt.
VARIANTS = "Unihan 15.0.0"

MAX_BITS = 4096
#: On novels a search two standard errors beyond the default similarity, which finds nearly all
#: true pairs, brings 14 candidates a text; with 128 bits 61.
DEFAULT_BITS = 256
#: Sizes of fingerprints that `simdup evaluate` compares unless the user says otherwise.
SIZES = (16, 32, 64, 128, 256)
MAX_NGRAM = 16
#: The largest weight of a field: each of its features then counts as this many.
MAX_FIELD_WEIGHT = 16
#: The assignment's hash has at most this many bits.
MAX_STRING_HASH_BITS = 128


def default_bits(hash_kind: str) -> int:
    """The default size of a fingerprint with this hash, in bits.

    >>> default_bits("mix64"), default_bits("string")
    (256, 128)
    """
    return MAX_STRING_HASH_BITS if hash_kind == HashKind.STRING.value else DEFAULT_BITS


def check_field_weight(name: str, weight: object) -> int:
    """The weight of a field of records. Raises ValueError for an impossible weight."""
    if isinstance(weight, int) and 1 <= weight <= MAX_FIELD_WEIGHT:
        return weight
    allowed = f"a whole number from 1 to {MAX_FIELD_WEIGHT}"
    raise BadValueError(f"the weight of field {name!r} must be {allowed}, not {weight!r}")


class Word(str, Enum):
    """A word among a few; `help` shows a default as this word."""

    __repr__ = str.__repr__


class FeatureKind(Word):
    """Kinds of features, which vote on the bits; the README says when each is best.

    SHINGLES: n consecutive tokens; each distinct one weighs 1.
    WORDS: jieba's words for Han, tokens for the rest; sqrt(count) x IDF.
    KEYWORDS: The words with the highest TF-IDF as jieba extracts them, weighing that much.
    TOKENS: The text between white space, unchanged; each occurrence weighs 1.
    """

    SHINGLES = "shingles"
    WORDS = "words"
    KEYWORDS = "keywords"
    TOKENS = "tokens"


class HashKind(Word):
    """How a feature becomes bits.

    MIX64: A polynomial over code points, then the mixer of splitmix64. Fast; every bit real.
    BLAKE2B: BLAKE2b of the feature's UTF-8. Slower; for comparison, not for any key.
    STRING: The assignment's hash: Python 2's string hash, in as many bits as the fingerprint has.
    """

    MIX64 = "mix64"
    BLAKE2B = "blake2b"
    STRING = "string"


class WeightKind(Word):
    """How the weight of a keyword is rounded.

    EXACT: To 1/65536, so that sums are exact.
    INT: The assignment's first way: the whole part, so most words of a long text weigh 0.
    INT10: The assignment's second way: the whole part of ten times the weight.
    FLOAT: The assignment's third way: not rounded; floats are added in the order of the keywords.
    """

    EXACT = "exact"
    INT = "int"
    INT10 = "int10"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a text becomes a fingerprint. Wrong values raise ValueError, one line each.

    >>> Recipe(bits=12)
    Traceback (most recent call last):
    simdup.errors.BadValueError: bits must be a multiple of 8 from 8 to 4096, not 12

    ngram: Lengths of the shingles in tokens; several lengths vote together.
    top: How many keywords vote.
    weights: For keywords only.
    user_dict: A dictionary for jieba: a word a line, with or without frequency and tag.
    stop_words: Words that do not vote, one a line.
    fold_variants: Whether traditional and simplified Chinese characters count as equal, for
        shingles and words; always False for other kinds of features.
    fields: The fields of a record and their weights: a feature counts only in its own field, and as
        many times as the field's weight says. Empty where a text has no fields.
    """

    features: FeatureKind = FeatureKind.SHINGLES
    ngram: tuple[int, ...] = (2,)
    top: int = 50
    weights: WeightKind = WeightKind.EXACT
    hash: HashKind = HashKind.MIX64
    bits: int = DEFAULT_BITS
    user_dict: str | None = None
    stop_words: str | None = None
    fold_variants: bool = True
    fields: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Turn names into enum members. Raises ValueError for impossible values or combinations."""
        for name, kind in (("features", FeatureKind), ("hash", HashKind), ("weights", WeightKind)):
            object.__setattr__(self, name, _choice(name, kind, getattr(self, name)))
        self._check_numbers()
        self._check_variants()
        self._check_fields()
        self._check_combination()

    def _check_numbers(self) -> None:
        """Sort `ngram`. Raises ValueError for a fraction or a number out of range."""
        lengths = (self.ngram,) if isinstance(self.ngram, int) else tuple(sorted(set(self.ngram)))
        for name, numbers in (("bits", (self.bits,)), ("top", (self.top,)), ("ngram", lengths)):
            if not all(isinstance(number, int) for number in numbers):
                raise BadValueError(f"{name} must be a whole number, not {getattr(self, name)!r}")
        object.__setattr__(self, "ngram", lengths)
        if not (8 <= self.bits <= MAX_BITS and self.bits % 8 == 0):
            raise BadValueError(
                f"bits must be a multiple of 8 from 8 to {MAX_BITS}, not {self.bits}"
            )
        if not lengths or not 1 <= lengths[0] <= lengths[-1] <= MAX_NGRAM:
            given = ",".join(map(str, lengths)) or "nothing"
            raise BadValueError(f"ngram must be from 1 to {MAX_NGRAM}, not {given}")
        if self.top < 1:
            raise BadValueError(f"top must be at least 1, not {self.top}")

    def _check_variants(self) -> None:
        """Turn `fold_variants` off for features without it. Raises ValueError unless a bool."""
        if not isinstance(self.fold_variants, bool):
            raise BadValueError(f"fold_variants must be true or false, not {self.fold_variants!r}")
        can = self.features in {FeatureKind.SHINGLES, FeatureKind.WORDS}
        object.__setattr__(self, "fold_variants", self.fold_variants and can)

    def _check_fields(self) -> None:
        """Raise ValueError for a bad weight, a field named twice, or a hash other than mix64."""
        fields = tuple((str(name), weight) for name, weight in self.fields)
        object.__setattr__(self, "fields", fields)
        for name, weight in fields:
            check_field_weight(name, weight)
        if len({name for name, _ in fields}) < len(fields):
            raise BadValueError(f"a field stands twice in {', '.join(name for name, _ in fields)}")
        if fields and self.hash is not HashKind.MIX64:
            raise BadValueError(f"several fields take only hash 'mix64', not {self.hash.value!r}")

    def _check_combination(self) -> None:
        """Raise ValueError for options that do not go together."""
        if self.features is FeatureKind.SHINGLES and self.hash is not HashKind.MIX64:
            raise BadValueError(f"shingles take only hash 'mix64', not {self.hash.value!r}")
        if self.hash is HashKind.STRING and self.bits > MAX_STRING_HASH_BITS:
            most = f"hash 'string' has at most {MAX_STRING_HASH_BITS} bits, not {self.bits}"
            raise BadValueError(f"{most}; 'mix64' has them all")
        if self.features is not FeatureKind.KEYWORDS and self.weights is not WeightKind.EXACT:
            raise BadValueError(f"weights {self.weights.value!r} go with features 'keywords' only")
        if not self.uses_words and (self.user_dict, self.stop_words) != (None, None):
            raise BadValueError(
                f"a dictionary or stop words change nothing for features {self.features.value!r};"
                " use 'words' or 'keywords'"
            )

    @property
    def uses_words(self) -> bool:
        """Whether the recipe needs jieba."""
        return self.features in {FeatureKind.WORDS, FeatureKind.KEYWORDS}

    @property
    def has_equal_weights(self) -> bool:
        """Whether every feature weighs 1, so that samples of features tell how alike texts are."""
        return self.features is FeatureKind.SHINGLES

    @property
    def cutter(self) -> str:
        """The package that cuts Han runs into words: rjieba if installed and able, else jieba."""
        can = self.features is FeatureKind.WORDS and not self.user_dict and find_spec("rjieba")
        return "rjieba" if can else "jieba"

    def key(self) -> str:
        """One line of JSON that differs whenever a bit of a fingerprint may differ.

        Raises InputError when the dictionary or the stop words cannot be read.
        """
        parts: dict[str, object] = {
            "format": FORMAT,
            "features": self.features.value,
            "hash": self.hash.value,
            "bits": self.bits,
            "unicode": unicodedata.unidata_version,
        }
        if self.features is FeatureKind.SHINGLES:
            parts["ngram"] = self.ngram
        if self.fold_variants:
            parts["variants"] = VARIANTS
        if self.fields:
            parts["fields"] = self.fields
        if self.features is FeatureKind.KEYWORDS:
            parts |= {"top": self.top, "weights": self.weights.value}
        if self.uses_words:
            parts["cutter"] = f"{self.cutter} {version(self.cutter)}"
            parts["idf"] = f"jieba {version('jieba')}"
            parts |= {"user_dict": _digest(self.user_dict), "stop_words": _digest(self.stop_words)}
        return json.dumps(parts, sort_keys=True)


def _choice(name: str, kind: type[Word], value: object) -> Word:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(repr(choice.value) for choice in kind)
        raise BadValueError(f"{name} must be one of {names}, not {value!r}") from None


def _digest(path: str | None) -> str | None:
    """Digest of a file's bytes, or None for no file."""
    if path is None:
        return None
    from hashlib import blake2b  # noqa: PLC0415  slow to import, and seldom needed

    try:
        with open(path, "rb") as file:
            return blake2b(file.read(), digest_size=16).hexdigest()
    except OSError as error:
        raise InputError(f"{path!r}: {error.strerror}") from None
