"""The library: fingerprints and similarities with plain arguments.

`options` are the fields of `Recipe`: ngram, top, weights, hash, user_dict, stop_words and
fold_variants. An impossible value raises ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simdup.arguments import AnyPath, path_list, text_list
from simdup.arrays import Indices, Rows
from simdup.compute.compiled import load_kernels_if_worth
from simdup.errors import InputError
from simdup.files.fingerprint import FingerprintOptions, fingerprint_sources
from simdup.files.walk import source_at
from simdup.files.workers import tasks
from simdup.fingerprint.simhash import fingerprint_texts as _fingerprint_texts
from simdup.match.groups import shaped_array
from simdup.match.verify import exact_similarities as _exact_similarities
from simdup.recipe import Recipe, default_bits
from simdup.records import Document, Reason, Source
from simdup.settings import Settings


def fingerprint_texts(
    texts: Iterable[str],
    bits: int | None = None,
    features: str = "shingles",
    **options: Any,  # noqa: ANN401
) -> Rows:
    """The SimHash of every text: (n, bits // 8), first bit highest.

    A text without a letter or digit gets all zeros, which is no fingerprint: leave it out of
    comparisons. `bits` default to 256, or to 128 for the hash 'string'. Source: Charikar 2002.

    >>> a, b = fingerprint_texts(["Hello, world", "hello world!"], bits=64)
    >>> bool((a == b).all()), a.shape
    (True, (8,))
    """
    recipe, listed_texts = _recipe(bits, features, options), text_list(texts)
    load_kernels_if_worth(characters=sum(map(len, listed_texts)))
    return _fingerprint_texts(listed_texts, recipe).rows


def simhash(
    text: str,
    bits: int | None = None,
    features: str = "shingles",
    **options: Any,  # noqa: ANN401
) -> int:
    """The SimHash of a text as a whole number; see `fingerprint_texts`.

    >>> simhash("Hello, world", bits=64) ^ simhash("hello world!", bits=64)
    0
    """
    return int.from_bytes(fingerprint_texts([text], bits, features, **options)[0], "big")


def fingerprint_files(
    paths: AnyPath | Iterable[AnyPath],
    bits: int | None = None,
    features: str = "shingles",
    *,
    encoding: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Rows:
    """The SimHash of every file's text: (n, bits // 8), in the order of the paths.

    `paths` may be a single path. The encoding of each file is detected unless `encoding` is
    given. A text without a letter or digit gets all zeros. Raises InputError for the first file
    that is missing, a folder, unreadable or binary; `scan` skips such files.
    """
    recipe = _recipe(bits, features, options)
    sources = [source_at(path) for path in path_list(paths)]
    rows = [np.empty((0, recipe.bits // 8), np.uint8)]
    settings = Settings(recipe, encoding=encoding, formats=())
    for task in tasks(sources):
        load_kernels_if_worth(characters=sum(source.size for source in task))
        rows.append(_rows(task, FingerprintOptions(settings)))
    return np.concatenate(rows)


def _rows(task: list[Source], options: FingerprintOptions) -> Rows:
    """A row for each source: zeros for one without features. Raises InputError for others."""
    made = fingerprint_sources(task, options)
    for skipped in made.skipped:
        if skipped.reason is not Reason.EMPTY:
            raise InputError(str(skipped))
    rows = np.zeros((len(task), options.recipe.bits // 8), np.uint8)
    rows[[isinstance(each, Document) for each in made.found]] = made.rows
    return rows


def exact_similarities(
    texts: Iterable[str],
    i: ArrayLike,
    j: ArrayLike,
    features: str = "shingles",
    **options: Any,  # noqa: ANN401
) -> NDArray[np.float64]:
    """The cosine of the weighted features of texts i[p] and j[p]; (m,), from 0 to 1.

    The distance of two fingerprints estimates this similarity. A text without a letter or digit
    has similarity 0 to everything. Raises IndexError for an index that no text has, and
    ValueError unless i and j are arrays (m,).

    >>> exact_similarities(["a b c", "a b d", "e f"], [0, 0], [1, 2]).round(2).tolist()
    [0.5, 0.0]
    """
    recipe, listed_texts = _recipe(None, features, options), text_list(texts)
    left, right = (_indices(each, name, len(listed_texts)) for each, name in ((i, "i"), (j, "j")))
    if len(left) != len(right):
        raise ValueError(f"i and j must be equally long, not {len(left)} and {len(right)}")
    load_kernels_if_worth(characters=sum(map(len, listed_texts)))
    return _exact_similarities(listed_texts, left, right, recipe)


def _indices(values: ArrayLike, name: str, n: int) -> Indices:
    """Whole numbers from 0 to n - 1. Raises IndexError, or ValueError for another shape."""
    indices = shaped_array(values, name, "(n,)")
    if indices.size and not np.issubdtype(indices.dtype, np.integer):
        raise IndexError(f"indices must be whole numbers, not {indices.dtype}")
    if indices.size and not 0 <= indices.min() <= indices.max() < n:
        wrong = indices[(indices < 0) | (indices >= n)][0]
        raise IndexError(f"there is no text {wrong} among {n}")
    return indices.astype(np.int64)


def _recipe(bits: int | None, features: str, options: dict[str, Any]) -> Recipe:
    bits = default_bits(options.get("hash", "")) if bits is None else bits
    return Recipe(bits=bits, features=features, **options)  # type: ignore[arg-type]
