"""Pairs of documents in, their exact similarities out, computed from the files as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.files.fingerprint import features_of
from simdup.match.verify import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simdup.fingerprint.features import Features
    from simdup.records import Document
    from simdup.settings import Settings


def similarities(pairs: Sequence[tuple[Document, Document]], settings: Settings) -> list[float]:
    """The exact cosine of the texts of each pair; 0 for a file that changed or cannot be read.

    Texts are read and compared as the settings say, and never by a converter.
    """
    documents = {each.path: each for pair in pairs for each in pair}
    listed, place = list(documents.values()), {path: n for n, path in enumerate(documents)}

    def load(asked: NDArray[np.int64]) -> Features:
        texts = ([listed[index]] for index in asked.tolist())
        return features_of(texts, settings.recipe, settings.formats, (), settings.encoding)[0]

    places = np.array([[place[one.path], place[two.path]] for one, two in pairs], np.int64)
    counts = np.array([each.features for each in listed], np.int64)
    found = np.zeros(len(pairs))
    for part, values in decide(places.reshape(-1, 2), counts, load) if pairs else ():
        found[part] = values
    return [float(value) for value in found]
