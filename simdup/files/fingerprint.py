"""Sources in, documents with fingerprints out: read, decode, simhash.

A file is read at once and shares a batch with others; a large one is read, decoded and
counted in chunks, so that memory does not grow with it. What cannot be used becomes a
`Skipped` with its reason.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from simdup.errors import InputError
from simdup.extract.readers import Readers
from simdup.files.read import (
    SkipError,
    Text,
    encoding_of_large,
    is_streamed,
    read_again,
    read_chunks,
    read_text,
)
from simdup.fingerprint.features import (
    Features,
    all_features,
    concatenated,
    features,
    merged,
    segments,
)
from simdup.fingerprint.simhash import (
    Fingerprints,
    are_degenerate,
    fingerprint_chunks,
    fingerprint_texts,
)
from simdup.recipe import FeatureKind
from simdup.records import Document, Reason, Skipped, Source, without_text
from simdup.text.chunking import chunks_of
from simdup.text.encodings import Encoding, count_lost, decode_chunks, encoding_named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simdup.recipe import Recipe
    from simdup.settings import Converter


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """What was made of some sources."""

    found: tuple[Document | Skipped, ...]
    """One for each source, in their order."""
    rows: NDArray[np.uint8]
    """(documents among `found`, bits // 8)"""

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents that have a fingerprint: the row with the same index."""
        return tuple(each for each in self.found if isinstance(each, Document))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The files that have no fingerprint, with the reason."""
        return tuple(each for each in self.found if isinstance(each, Skipped))


@dataclass(frozen=True, slots=True)
class _Made:
    """A document and where its fingerprint is."""

    document: Document
    prints: Fingerprints
    row: int


def fingerprint_sources(
    sources: Sequence[Source],
    recipe: Recipe,
    encoding: str | None = None,
    formats: Collection[str] = (),
    converters: Sequence[Converter] = (),
) -> Fingerprinted:
    """What was made of each source.

    Texts of sources that are not streamed are in memory together: the caller says how
    many there are. `encoding` is used for every plain text instead of detecting its own; the
    text of documents of these `formats` is extracted, or by `converters`.
    """
    with closing(Readers(formats, converters)) as readers:
        made, skipped = _made(sources, recipe, encoding, readers)
    found: list[Document | Skipped] = []
    rows = [np.empty((0, recipe.bits // 8), np.uint8)]
    for index in range(len(sources)):
        outcome = (
            skipped[index] if index in skipped else _unless_empty(made[index].document, recipe)
        )
        found.append(outcome)
        if isinstance(outcome, Document):
            rows.append(made[index].prints.rows[made[index].row][None])
    return Fingerprinted(tuple(found), np.concatenate(rows))


def _unless_empty(document: Document, recipe: Recipe) -> Document | Skipped:
    """The document, or why there is nothing in it to compare."""
    if document.source.size == 0:
        return Skipped(document.path, Reason.EMPTY, "0 bytes")
    if document.features == 0:
        is_keyword = recipe.features is FeatureKind.KEYWORDS
        detail = "no keyword" if is_keyword else "no letter or digit"
        source, encoding = document.source, document.encoding
        is_text = document.format == "text"
        file = None if is_text else without_text(source, encoding, document.bytes_digest)
        return Skipped(document.path, Reason.EMPTY, detail, file)
    return document


def without_degenerate(made: Fingerprinted, bits: int) -> Fingerprinted:
    """Skip documents whose first `bits` bits are all equal, from 32 bits on."""
    is_flat = are_degenerate(made.rows, bits)
    if not is_flat.any():
        return made
    flags = iter(is_flat.tolist())
    found = tuple(
        Skipped(each.path, Reason.DEGENERATE)
        if isinstance(each, Document) and next(flags)
        else each
        for each in made.found
    )
    return Fingerprinted(found, made.rows[~is_flat])


def rows_of_sources(
    sources: Sequence[Source], recipe: Recipe, encoding: str | None = None
) -> NDArray[np.uint8]:
    """One row for each source, (n, bits // 8); all zeros for a text without a feature.

    Raises InputError for the first one that cannot be used.
    """
    made, skipped = _made(sources, recipe, encoding, None)
    for index in sorted(skipped):
        raise InputError(str(skipped[index]))
    rows = [made[index].prints.rows[made[index].row] for index in range(len(sources))]
    return np.array(rows, np.uint8).reshape(-1, recipe.bits // 8)


def _made(
    sources: Sequence[Source], recipe: Recipe, encoding: str | None, readers: Readers | None
) -> tuple[dict[int, _Made], dict[int, Skipped]]:
    """By the index of the source: what was made of it, or why nothing was."""
    known = None if encoding is None else encoding_named(encoding)
    waiting: list[tuple[int, Text]] = []
    made: dict[int, _Made] = {}
    skipped: dict[int, Skipped] = {}
    for index, source in enumerate(sources):
        try:
            if is_streamed(source, readers):
                made[index] = _streamed(source, recipe, known)
            else:
                waiting.append((index, read_text(source, known, readers)))
        except SkipError as skip:
            skipped[index] = skip.at(source.path)
    prints = fingerprint_texts([found.text for _, found in waiting], recipe)
    for row, (index, found) in enumerate(waiting):
        made[index] = _Made(_document(sources[index], found, prints, row), prints, row)
    return made, skipped


def _document(source: Source, found: Text, prints: Fingerprints, row: int) -> Document:
    return Document(
        source,
        found.encoding.name,
        found.encoding.confidence,
        count_lost(found.text),
        int(prints.counts[row]),
        found.bytes_digest,
        found.text_digest,
        prints.digests[row].tobytes(),
    )


def _streamed(source: Source, recipe: Recipe, known: Encoding | None) -> _Made:
    """The document of a large file and its fingerprint. Raises SkipError."""
    of_bytes, of_text, damaged = blake2b(digest_size=16), blake2b(digest_size=16), 0
    encoding = known or encoding_of_large(source)

    def chunks() -> Iterator[bytes]:
        for chunk in read_chunks(source):
            of_bytes.update(chunk)
            yield chunk

    def pieces() -> Iterator[str]:
        nonlocal damaged
        for text in decode_chunks(chunks(), encoding):
            of_text.update(text.encode("utf-8", "surrogatepass"))
            damaged += count_lost(text)
            yield from chunks_of(text)

    prints = fingerprint_chunks(pieces(), recipe)
    document = Document(
        source,
        encoding.name,
        encoding.confidence,
        damaged,
        int(prints.counts[0]),
        of_bytes.digest(),
        of_text.digest(),
        prints.digests[0].tobytes(),
    )
    return _Made(document, prints, 0)


def features_of(
    texts: Iterable[Iterable[Document]],
    recipe: Recipe,
    changed: list[Skipped],
    formats: Collection[str] = (),
    converters: Sequence[Converter] = (),
) -> Features:
    """The features of texts, read again from the first of their documents that is unchanged.

    A text of which there is none left has no features. Each document that is no longer
    what it was is added to `changed`.
    """
    parts, waiting = [features([], recipe)], list[str]()
    with closing(Readers(formats, converters)) as readers:
        for copies in texts:
            found: str | Features = ""
            for document in copies:
                try:
                    found = _again(document, recipe, readers)
                    break
                except SkipError as skip:
                    changed.append(skip.at(document.path))
            if isinstance(found, str):
                waiting.append(found)
            else:
                parts += [all_features(waiting, recipe), found]
                waiting = []
    return concatenated([*parts, all_features(waiting, recipe)])


def _again(document: Document, recipe: Recipe, readers: Readers) -> str | Features:
    """The text of a document, or its features if it is long. Raises SkipError if it changed."""
    if document.format == "text" and is_streamed(document.source):
        return _streamed_features(document, recipe)
    found = read_again(document, readers)
    if found.bytes_digest != document.bytes_digest:
        raise SkipError(Reason.CHANGED, "between reading it and comparing it")
    return found.text


def _streamed_features(document: Document, recipe: Recipe) -> Features:
    encoding = Encoding(document.encoding, document.confidence)
    pieces = decode_chunks(read_chunks(document.source), encoding)
    chunks = (chunk for piece in pieces for chunk in chunks_of(piece))
    return merged(segments(chunks, recipe), recipe)
