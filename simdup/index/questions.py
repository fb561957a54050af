"""What an index is asked: texts, files or fingerprints, made comparable with what is in it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.arguments import path_list
from simdup.files.fingerprint import Fingerprinted, without_degenerate
from simdup.files.read import digest
from simdup.files.walk import listed
from simdup.files.workers import How, fingerprint_all, tasks
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.records import Document, Reason, Skipped, Source
from simdup.text.encodings import count_lost

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from simdup.search.hamming import Rows
    from simdup.settings import Settings

    AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Wish:
    """What counts as an answer."""

    settings: Settings
    top: int | None = None
    """So many of each at most; None: all."""
    is_any_alike: bool = False
    """The `top` nearest are wanted, however little they are alike."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked for: fingerprints, and the texts that they were made of if they are known."""

    names: tuple[str, ...]
    rows: Rows
    documents: tuple[Document | None, ...]
    """What is known of each text; None: nothing but its fingerprint."""
    texts: tuple[str, ...] = ()
    """The texts, unless they are files, or only fingerprints are known."""


def of_files(
    paths: AnyPath | Iterable[AnyPath], settings: Settings
) -> tuple[Questions, list[Skipped]]:
    """Files as questions, and those that cannot be asked for, with the reason."""
    skipped, sources = list[Skipped](), list[Source]()
    for path in path_list(paths):
        for each in listed([path]):  # alone: a file that is asked for twice is answered twice
            if isinstance(each, Source):
                sources.append(each)
            else:
                skipped.append(each)
    how = How(settings.recipe, settings.encoding, settings.formats, settings.converters)
    documents, rows = list[Document](), [np.empty((0, how.recipe.bits // 8), np.uint8)]
    for _, part in fingerprint_all(deque(tasks(sources)), how, 1):
        made = without_degenerate(part, how.recipe.bits)
        documents += made.documents
        rows.append(made.rows)
        skipped += made.skipped
    names = tuple(document.path for document in documents)
    return Questions(names, np.concatenate(rows), tuple(documents)), skipped


def of_texts(
    names: Sequence[str], texts: Sequence[str], settings: Settings
) -> tuple[Questions, list[Skipped]]:
    """Texts as questions, and those that have nothing to compare."""
    made = fingerprint_texts(texts, settings.recipe)
    found = tuple(
        _document(name, text, int(made.counts[row]), made.digests[row].tobytes())
        if made.counts[row]
        else Skipped(name, Reason.EMPTY, "no letter or digit")
        for row, (name, text) in enumerate(zip(names, texts, strict=True))
    )
    with_rows = Fingerprinted(found, made.rows[made.counts > 0])
    asked = without_degenerate(with_rows, settings.recipe.bits)
    kept = [row for row, each in enumerate(asked.found) if isinstance(each, Document)]
    questions = Questions(
        tuple(names[row] for row in kept),
        asked.rows,
        asked.documents,
        tuple(texts[row] for row in kept),
    )
    return questions, list(asked.skipped)


def of_rows(names: Sequence[str], rows: Rows) -> Questions:
    """Fingerprints as questions."""
    return Questions(tuple(names), rows, (None,) * len(names))


def _document(name: str, text: str, count: int, of_features: bytes) -> Document:
    """What a store would know of a text, were it a file in UTF-8."""
    data = text.encode("utf-8", "surrogatepass")
    unified = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    of_text = digest(unified.encode("utf-8", "surrogatepass"))
    source = Source(name, len(data), 0, 0, 0, 0)
    return Document(
        source, "utf-8", 1.0, count_lost(text), count, digest(data), of_text, of_features
    )
