"""Sources in, documents with fingerprints out: read, decode, simhash.

Small files are read whole, and their texts are fingerprinted together. A large file is read,
decoded and counted in chunks, so that memory does not grow with it. A file that cannot be used
becomes a `Skipped` with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from sys import maxsize
from typing import NamedTuple

import numpy as np

from simdup.arrays import Digests, Mask, Rows
from simdup.extract.readers import Readers
from simdup.files.read import (
    SkipError,
    StreamedText,
    Text,
    is_streamed,
    read_again,
    read_chunks,
    read_text,
)
from simdup.fingerprint import simhash
from simdup.fingerprint.features import Features, all_features, concatenated, merged, segments
from simdup.fingerprint.signs import words_in_bytes
from simdup.fingerprint.sketch import Sketches, joined
from simdup.recipe import FeatureKind, Recipe
from simdup.records import Document, Reason, Skipped, Source, without_text
from simdup.settings import Settings
from simdup.text.chunking import batched, chunks_of
from simdup.text.encodings import Encoding, decode_chunks


@dataclass(frozen=True, eq=False)
class Fingerprinted:
    """The documents and fingerprints of some sources, and the sources that were skipped.

    found: One for each source, in their order.
    rows: (documents among `found`, bits // 8)
    sketches: One for each document, perhaps dense; None unless asked for.
    """

    found: tuple[Document | Skipped, ...]
    rows: Rows
    sketches: Sketches | None = None

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The files with a fingerprint, in the order of `rows`."""
        return tuple(each for each in self.found if isinstance(each, Document))

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """The files that have no fingerprint, with the reason."""
        return tuple(each for each in self.found if isinstance(each, Skipped))

    @classmethod
    def joined(
        cls, parts: Iterable[Fingerprinted], bits: int, *, is_sketched: bool
    ) -> Fingerprinted:
        """Join several of these, in order; rows have `bits` bits."""
        parts = list(parts)
        none = np.empty((0, bits // 8), np.uint8)
        sketches = [each.sketches for each in parts if each.sketches is not None]
        return cls(
            tuple(chain.from_iterable(each.found for each in parts)),
            np.concatenate([none, *(each.rows for each in parts)]),
            joined(sketches) if is_sketched else None,
        )

    def keeping(self, kept: Mask) -> Fingerprinted:
        """Return these of the documents, and all files that were skipped."""
        if kept.all():
            return self
        flags = iter(kept.tolist())
        found = tuple(each for each in self.found if isinstance(each, Skipped) or next(flags))
        sketches = None if self.sketches is None else self.sketches.take(np.flatnonzero(kept))
        return Fingerprinted(found, self.rows[kept], sketches)


class _Streamed(NamedTuple):
    """The document of a file that was read in chunks, and its fingerprint."""

    document: Document
    prints: simhash.Fingerprints


class FingerprintOptions(NamedTuple):
    """How files are read and fingerprinted.

    `levels` says how dense sketches are, see `fingerprint.sketch`; None: there are no sketches.
    """

    settings: Settings
    levels: int | None = None

    @property
    def recipe(self) -> Recipe:
        """The recipe of the fingerprints."""
        return self.settings.recipe


def fingerprint_sources(sources: Sequence[Source], options: FingerprintOptions) -> Fingerprinted:
    """Read and fingerprint each source.

    All texts of small sources are in memory together, so the caller limits their number.
    """
    limit = options.settings.limits.text_characters
    with closing(Readers(*options.settings.reading)) as readers:
        read = (_read(source, options, readers) for source in sources)
        batches = batched(read, _characters, limit, len(sources))
        parts = [fingerprint_read(batch, options) for batch in batches]
    is_sketched = options.levels is not None
    return Fingerprinted.joined(parts, options.recipe.bits, is_sketched=is_sketched)


def without_degenerate(made: Fingerprinted, bits: int) -> Fingerprinted:
    """Skip documents whose first `bits` bits are all equal, if these are at least 32."""
    is_flat = simhash.are_degenerate(made.rows, bits)
    if not is_flat.any():
        return made
    flags = iter(is_flat.tolist())
    found = tuple(
        Skipped(each.path, Reason.DEGENERATE)
        if isinstance(each, Document) and next(flags)
        else each
        for each in made.found
    )
    return replace(made.keeping(~is_flat), found=found)


def _characters(read: Text | _Streamed | Skipped | str | Features) -> int:
    """The size of a text that waits for its features; a streamed file is a batch of its own."""
    if isinstance(read, Text | Skipped):
        return len(read.text) if isinstance(read, Text) else 0
    return len(read) if isinstance(read, str) else maxsize


def _read(
    source: Source, options: FingerprintOptions, readers: Readers
) -> Text | _Streamed | Skipped:
    """The text of a small source, the fingerprint of a large one, or why it is skipped."""
    try:
        if not is_streamed(source, readers):
            return read_text(source, readers)
        streamed = StreamedText(source, readers)
        prints = simhash.fingerprint_chunks(streamed.pieces(), options.recipe, options.levels)
        return _Streamed(streamed.document(), prints)
    except SkipError as skip:
        return skip.at(source.path)


def fingerprint_read(
    batch: Sequence[Text | _Streamed | Skipped], options: FingerprintOptions
) -> Fingerprinted:
    """Fingerprint texts that are in memory; or return what is known of one streamed file."""
    streamed = [each.prints for each in batch if isinstance(each, _Streamed)]
    texts = [each.text for each in batch if isinstance(each, Text)]
    prints = (
        streamed[0]
        if streamed
        else simhash.fingerprint_texts(texts, options.recipe, options.levels)
    )
    words = repeat(b"") if prints.words is None else words_in_bytes(prints.words)
    about = zip(prints.counts.tolist(), _bytes_of_each(prints.digests), words, strict=False)
    found = tuple(
        each if isinstance(each, Skipped) else _with_prints(each.document, options, *next(about))
        for each in batch
    )
    kept = np.flatnonzero(prints.counts)
    sketches = None if prints.sketches is None else prints.sketches.take(kept)
    return Fingerprinted(found, prints.rows[kept], sketches)


def _bytes_of_each(digests: Digests) -> list[bytes]:
    """Each digest of an array of shape (n, 2) as 16 bytes."""
    data = digests.tobytes()
    return [data[begin : begin + 16] for begin in range(0, len(data), 16)]


def _with_prints(
    document: Document, options: FingerprintOptions, features: int, digest: bytes, words: bytes
) -> Document | Skipped:
    """The document with its features and digests, or why there is nothing in it to compare."""
    if features:
        return document._replace(features=features, features_digest=digest, words_digest=words)
    path = document.path
    if document.source.size == 0:
        return Skipped(path, Reason.EMPTY, "0 bytes")
    is_keyword = options.recipe.features is FeatureKind.KEYWORDS
    detail = "no keyword" if is_keyword else "no letter or digit"
    about = document.encoding, document.bytes_digest, document.packing
    file = None if document.format == "text" else without_text(document.source, *about)
    return Skipped(path, Reason.EMPTY, detail, file)


def features_of(
    texts: Iterable[Iterable[Document]], settings: Settings
) -> tuple[Features, list[Skipped]]:
    """The features of texts, each read again from the first unchanged one of its documents.

    The settings must be the ones that the fingerprints were made with. Also returns the documents
    that changed. A text whose documents all changed has no features.
    """
    recipe, changed = settings.recipe, list[Skipped]()
    parts = [all_features([], recipe)]
    with closing(Readers(*settings.reading)) as readers:
        read = (_first_unchanged(copies, recipe, readers, changed) for copies in texts)
        for batch in batched(read, _characters, settings.limits.text_characters, maxsize):
            parts += [each for each in batch if isinstance(each, Features)]
            parts.append(all_features([each for each in batch if isinstance(each, str)], recipe))
    return concatenated(parts), changed


def _first_unchanged(
    copies: Iterable[Document], recipe: Recipe, readers: Readers, changed: list[Skipped]
) -> str | Features:
    """The text of the first unchanged document, or its features if it is long.

    Changed documents go into `changed`; if there are no others, the text is empty.
    """
    for document in copies:
        try:
            if _is_large(document, readers):
                return merged(segments(_chunks_again(document), recipe), recipe)
            return _unchanged(document, readers)
        except SkipError as skip:
            changed.append(skip.at(document.path))
    return ""


def text_again(document: Document, settings: Settings) -> Iterator[str]:
    """Yield the text of a document in chunks, read again. Raises SkipError if it changed."""
    with closing(Readers(*settings.reading)) as readers:
        if _is_large(document, readers):
            yield from _chunks_again(document)
            return
        yield from chunks_of(_unchanged(document, readers))


def _is_large(document: Document, readers: Readers) -> bool:
    is_long = document.source.size > readers.limits.whole_bytes
    return is_long and document.format == "text" and not document.packing


def _chunks_again(document: Document) -> Iterator[str]:
    """Yield the text of a large file in chunks. Raises SkipError if it changed."""
    encoding = Encoding(document.encoding, document.confidence)
    for piece in decode_chunks(read_chunks(document.source), encoding):
        yield from chunks_of(piece)


def _unchanged(document: Document, readers: Readers) -> str:
    """The text of a document. Raises SkipError if it changed."""
    read = read_again(document, readers)
    if read.document.bytes_digest != document.bytes_digest:
        raise SkipError(Reason.CHANGED, "between reading it and comparing it")
    return read.text
