"""Sources in, documents with fingerprints out: read, decode, simhash.

Small files are read whole, and their texts are fingerprinted together. A large file is read,
decoded and counted in chunks, so that memory does not grow with it. A file that cannot be used
becomes a `Skipped` with its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import NamedTuple

import numpy as np

from simdup.arrays import Mask, Rows, Values
from simdup.errors import InputError
from simdup.extract.readers import NO_READERS, Readers
from simdup.files.read import (
    SkipError,
    StreamedText,
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
from simdup.fingerprint.sketch import Sketches, joined, of_each
from simdup.recipe import FeatureKind, Recipe
from simdup.records import Document, Reason, Skipped, Source, without_text
from simdup.settings import Converter, Settings
from simdup.text.chunking import chunks_of
from simdup.text.encodings import Encoding, count_lost, decode_chunks, encoding_named

# Texts are fingerprinted together until they have this many characters, so that files that unpack
# to much are not all in memory at once.
CHARACTERS_AT_ONCE = 1 << 25


class Fingerprinted(NamedTuple):
    """The documents and fingerprints of some sources, and the sources that were skipped."""

    found: tuple[Document | Skipped, ...]
    """One for each source, in their order."""
    rows: Rows
    """(documents among `found`, bits // 8)"""
    sketches: Sketches | None = None
    """One for each document, perhaps dense; None unless asked for."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """The files with a fingerprint, in the order of `rows`."""
        return tuple(each for each in self.found if isinstance(each, Document))

    @property
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


class _Made(NamedTuple):
    """A document and its fingerprint, which is all zeros for a text without features."""

    document: Document
    row: Rows
    sketch: Values | None


class FingerprintOptions(NamedTuple):
    """How files are read and fingerprinted.

    Plain text is decoded as `encoding`; None: it is detected. `converters`, and readers of these
    `formats`, extract the text of documents. `levels` says how dense sketches are, see
    `fingerprint.sketch`; None: there are no sketches.
    """

    recipe: Recipe
    encoding: str | None = None
    formats: tuple[str, ...] = ()
    converters: tuple[Converter, ...] = ()
    levels: int | None = None

    @classmethod
    def of(cls, settings: Settings, levels: int | None = None) -> FingerprintOptions:
        """The options that these settings name."""
        reading = settings.encoding, settings.formats, settings.converters
        return cls(settings.recipe, *reading, levels)

    @property
    def is_sketched(self) -> bool:
        """Whether there are sketches."""
        return self.levels is not None


def fingerprint_sources(sources: Sequence[Source], options: FingerprintOptions) -> Fingerprinted:
    """Read and fingerprint each source.

    All texts of small sources are in memory together, so the caller limits their number.
    """
    found: list[Document | Skipped] = []
    rows = [np.empty((0, options.recipe.bits // 8), np.uint8)]
    sketched: list[Values] = []
    reading = options.formats, options.converters, options.encoding
    with closing(Readers(*reading)) as readers:
        outcomes = _outcomes(sources, options, readers)
    for outcome in outcomes:
        if isinstance(outcome, Skipped):
            found.append(outcome)
            continue
        found.append(_unless_empty(outcome.document, options.recipe))
        if isinstance(found[-1], Document):
            rows.append(outcome.row[None])
            if outcome.sketch is not None:
                sketched.append(outcome.sketch)
    sketches = of_each(sketched) if options.is_sketched else None
    return Fingerprinted(tuple(found), np.concatenate(rows), sketches)


def _unless_empty(document: Document, recipe: Recipe) -> Document | Skipped:
    """Return the document, or why there is nothing in it to compare."""
    if document.source.size == 0:
        return Skipped(document.path, Reason.EMPTY, "0 bytes")
    if document.features == 0:
        is_keyword = recipe.features is FeatureKind.KEYWORDS
        detail = "no keyword" if is_keyword else "no letter or digit"
        source, encoding = document.source, document.encoding
        is_text = document.format == "text"
        about = encoding, document.bytes_digest, document.packing
        file = None if is_text else without_text(source, *about)
        return Skipped(document.path, Reason.EMPTY, detail, file)
    return document


def without_degenerate(made: Fingerprinted, bits: int) -> Fingerprinted:
    """Skip documents whose first `bits` bits are all equal, if these are at least 32."""
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
    kept = np.flatnonzero(~is_flat)
    sketches = None if made.sketches is None else made.sketches.take(kept)
    return Fingerprinted(found, made.rows[kept], sketches)


def rows_of_sources(sources: Sequence[Source], recipe: Recipe, encoding: str | None = None) -> Rows:
    """One fingerprint for each source: (n, bits // 8); all zeros for a text without features.

    Raises InputError for the first source that cannot be used.
    """
    rows = [np.empty((0, recipe.bits // 8), np.uint8)]
    for outcome in _outcomes(sources, FingerprintOptions(recipe, encoding), NO_READERS):
        if isinstance(outcome, Skipped):
            raise InputError(str(outcome))
        rows.append(outcome.row[None])
    return np.concatenate(rows)


def _outcomes(
    sources: Sequence[Source], options: FingerprintOptions, readers: Readers
) -> list[_Made | Skipped]:
    """The document and fingerprint of each source, or why it was skipped."""
    known = None if options.encoding is None else encoding_named(options.encoding)
    waiting: list[tuple[int, Text]] = []
    outcomes: dict[int, _Made | Skipped] = {}

    def fingerprint_waiting() -> None:
        texts = [text.text for _, text in waiting]
        prints = fingerprint_texts(texts, options.recipe, options.levels)
        for row, (index, text) in enumerate(waiting):
            outcomes[index] = _made(sources[index], text, count_lost(text.text), prints, row)
        waiting.clear()

    size = 0
    for index, source in enumerate(sources):
        try:
            if is_streamed(source, readers):
                outcomes[index] = _streamed(source, options, known)
                continue
            text = read_text(source, known, readers)
        except SkipError as skip:
            outcomes[index] = skip.at(source.path)
            continue
        waiting.append((index, text))
        size += len(text.text)
        if size > CHARACTERS_AT_ONCE:
            fingerprint_waiting()
            size = 0
    fingerprint_waiting()
    return [outcomes[index] for index in range(len(sources))]


def _made(source: Source, text: Text, lost: int, prints: Fingerprints, row: int) -> _Made:
    """The document whose fingerprint is this row; `lost` characters could not be decoded."""
    encoding, features = text.encoding, int(prints.counts[row])
    digests = text.bytes_digest, text.text_digest, prints.digests[row].tobytes()
    about = encoding.name, encoding.confidence, lost, features
    words = b"" if prints.words is None else prints.words[row].tobytes()
    others = text.noise, text.packing, text.doubt
    document = Document(source, *about, *digests, *others, words_digest=words, unread=text.unread)
    sketch = None if prints.sketches is None else prints.sketches[row]
    return _Made(document, prints.rows[row], sketch)


def _streamed(source: Source, options: FingerprintOptions, known: Encoding | None) -> _Made:
    """The document of a large file and its fingerprint. Raises SkipError."""
    streamed = StreamedText(source, known or encoding_of_large(source))
    prints = fingerprint_chunks(streamed.pieces(), options.recipe, options.levels)
    return _made(source, streamed.about(), streamed.lost, prints, 0)


def features_of(
    texts: Iterable[Iterable[Document]],
    recipe: Recipe,
    formats: Collection[str] = (),
    converters: Sequence[Converter] = (),
    encoding: str | None = None,
) -> tuple[Features, list[Skipped]]:
    """The features of texts, each read again from the first unchanged one of its documents.

    `formats`, `converters` and `encoding` must be the ones that the fingerprints were made with.

    Also returns the documents that changed. A text whose documents all changed has no features.
    """
    parts, waiting, changed = [features([], recipe)], list[str](), list[Skipped]()
    size = 0
    with closing(Readers(formats, converters, encoding)) as readers:
        for copies in texts:
            text = _first_unchanged(copies, recipe, readers, changed)
            if isinstance(text, str):
                waiting.append(text)
                size += len(text)
            if size > CHARACTERS_AT_ONCE or not isinstance(text, str):
                parts.append(all_features(waiting, recipe))
                waiting, size = [], 0
            if not isinstance(text, str):
                parts.append(text)
    return concatenated([*parts, all_features(waiting, recipe)]), changed


def _first_unchanged(
    copies: Iterable[Document], recipe: Recipe, readers: Readers, changed: list[Skipped]
) -> str | Features:
    """The text or features of the first unchanged document; changed ones go into `changed`."""
    for document in copies:
        try:
            return _read_again(document, recipe, readers)
        except SkipError as skip:
            changed.append(skip.at(document.path))
    return ""


def text_again(document: Document, settings: Settings) -> Iterator[str]:
    """Yield the text of a document in chunks, read again. Raises SkipError if it changed."""
    with closing(Readers(*settings.reading)) as readers:
        if _is_large(document):
            yield from _chunks_again(document)
            return
        yield from chunks_of(_unchanged(document, readers))


def _is_large(document: Document) -> bool:
    return document.format == "text" and not document.packing and is_streamed(document.source)


def _chunks_again(document: Document) -> Iterator[str]:
    """Yield the text of a large file in chunks. Raises SkipError if it changed."""
    encoding = Encoding(document.encoding, document.confidence)
    for piece in decode_chunks(read_chunks(document.source), encoding):
        yield from chunks_of(piece)


def _read_again(document: Document, recipe: Recipe, readers: Readers) -> str | Features:
    """The text of a document, or its features if it is long. Raises SkipError if it changed."""
    if _is_large(document):
        return merged(segments(_chunks_again(document), recipe), recipe)
    return _unchanged(document, readers)


def _unchanged(document: Document, readers: Readers) -> str:
    """The text of a document. Raises SkipError if it changed."""
    text, digest = read_again(document, readers)
    if digest != document.bytes_digest:
        raise SkipError(Reason.CHANGED, "between reading it and comparing it")
    return text
