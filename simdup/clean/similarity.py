"""Files in, their documents and similarities out, as simdup reads the files now.

The yardstick is always the same: all formats, no converters, the default recipe, and detected
encodings unless the user's own command line names one. What a result or a plan says of any of
these may come from somebody else, and is ignored.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from simdup.extract.readers import Readers
from simdup.files.read import SkipError, StreamedText, encoding_of_large, is_streamed, read_text
from simdup.fingerprint.features import all_features, concatenated, merged, segments
from simdup.match.verify import cosines, decide
from simdup.recipe import Recipe
from simdup.records import Document
from simdup.settings import FORMATS
from simdup.text.encodings import count_lost, encoding_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simdup.files.read import ReadChunks
    from simdup.fingerprint.features import Features
    from simdup.records import Source

_RECIPE = Recipe()


class Reading:
    """Reads files as they are now; close it."""

    def __init__(self, encoding: str | None) -> None:
        """Take plain texts to be in this encoding; None: it is detected for each."""
        self._readers = Readers(FORMATS, encoding=encoding)
        self._known = None if encoding is None else encoding_named(encoding)
        self.close = self._readers.close

    def document(self, source: Source, read: ReadChunks | None = None) -> tuple[Document, Features]:
        """The document in a file, and its features. Raises SkipError."""
        if is_streamed(source, self._readers, read):
            encoding = self._known or encoding_of_large(source, read)
            streamed = StreamedText(source, encoding, read)
            features = merged(segments(streamed.pieces(), _RECIPE), _RECIPE)
            text, lost = streamed.about(), streamed.lost
        else:
            text = read_text(source, self._known, self._readers, read)
            features, lost = all_features([text.text], _RECIPE), count_lost(text.text)
        about = *text.encoding, lost, int(features.counts[0])
        digests = text.bytes_digest, text.text_digest, b""
        words = b"" if features.words is None else features.words[0].tobytes()
        others = text.noise, text.packing, text.doubt
        document = Document(
            source, *about, *digests, *others, words_digest=words, unread=text.unread
        )
        return document, features


def similarity(one: Features, other: Features) -> float:
    """The exact cosine of two texts."""
    found = cosines(concatenated([one, other]), np.array([0]), np.array([1]))
    return float(found[0])


def similarities(
    pairs: Sequence[tuple[Document, Document]], encoding: str | None
) -> tuple[list[float], dict[str, Document]]:
    """The exact cosine of the texts of each pair, and each document as it is now, by its path.

    A file that changed or cannot be read has the similarity 0, and is not among the documents.
    """
    documents = {each.path: each for pair in pairs for each in pair}
    listed, place = list(documents.values()), {path: n for n, path in enumerate(documents)}
    now: dict[str, Document] = {}

    def features(known: Document) -> Features:
        try:
            found, features = reading.document(known.source)
        except SkipError:
            return all_features([""], _RECIPE)
        if found.bytes_digest != known.bytes_digest:
            return all_features([""], _RECIPE)
        now[known.path] = found
        return features

    def load(asked: NDArray[np.int64]) -> Features:
        return concatenated([features(listed[index]) for index in asked.tolist()])

    places = np.array([[place[one.path], place[two.path]] for one, two in pairs], np.int64)
    counts = np.array([each.features for each in listed], np.int64)
    values = np.zeros(len(pairs))
    with closing(Reading(encoding)) as reading:
        for part, found in decide(places.reshape(-1, 2), counts, load) if pairs else ():
            values[part] = found
    return values.tolist(), now
