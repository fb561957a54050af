"""Kinds of files that are alike by nature: they are compared for identity only.

Two lock files or two SVG images share most of their text, although neither was made from the
other. So files of these kinds are duplicates only of files with exactly the same text. Source code
is compared like prose.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Sequence
from fnmatch import fnmatchcase

import numpy as np

from simdup.arrays import Mask
from simdup.extract.packed import inner_name
from simdup.records import Document

#: Kinds of files that are known by name, each with globs of the name, or of folder and name.
BY_NAME = {
    "lock file": (
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
        *("deno.lock", "composer.lock", "Gemfile.lock", "Cargo.lock", "go.sum", "mix.lock"),
        *("poetry.lock", "Pipfile.lock", "pdm.lock", "uv.lock", "pixi.lock", "conda-lock.yml"),
        *("flake.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "packages.lock.json"),
        *("gradle.lockfile", ".terraform.lock.hcl"),
    ),
    "minified file": ("*.min.js", "*.min.mjs", "*.min.css", "*.js.map", "*.css.map"),
    "SVG image": ("*.svg",),
    "translation": ("*.po", "*.pot", "*.xlf", "*.xliff"),
    "package metadata file": (
        *("*.dist-info/METADATA", "*.dist-info/RECORD", "*.dist-info/WHEEL"),
        *("*.dist-info/INSTALLER", "*.dist-info/REQUESTED", "*.dist-info/direct_url.json"),
        *("*.dist-info/*.txt", "*.egg-info/*.txt", "*.egg-info/PKG-INFO", "PKG-INFO"),
        *("*.egg-info",),
    ),
}

_GLOBS = [(glob, kind) for kind, globs in BY_NAME.items() for glob in globs]
_IN_FOLDERS = [(glob, kind) for glob, kind in _GLOBS if "/" in glob]
# Endings of names by what follows their last dot.
_ENDINGS: dict[str, list[tuple[str, str]]] = {}
for _glob, _kind in _GLOBS:
    if _glob[0] == "*" and "/" not in _glob:
        _ENDINGS.setdefault(_glob.rpartition(".")[2], []).append((_glob[1:], _kind))
_NAMES = {glob: kind for glob, kind in _GLOBS if glob[0] != "*" and "/" not in glob}


def kind_of(document: Document) -> str | None:
    """The name of the kind that a document belongs to; None for a document to compare in full.

    >>> from simdup.records import Document, Source
    >>> def named(path):
    ...     return Document(Source(path, 1, 0, 0, 0, 0), "utf-8", 1, 0, 9, b"", b"", b"")
    >>> kind_of(named("web/yarn.lock")), kind_of(named("jquery.min.js")), kind_of(named("a.js"))
    ('lock file', 'minified file', None)
    >>> kind_of(named("lib/six-1.16.dist-info/WHEEL"))
    'package metadata file'
    """
    path = inner_name(document.path) if document.packing else document.path
    above, _, name = path.replace(os.sep, "/").rpartition("/")
    if name in _NAMES:
        return _NAMES[name]
    for ending, kind in _ENDINGS.get(name.rpartition(".")[2], ()):
        if name.endswith(ending):
            return kind
    if "-info" in above[-10:]:
        ending = f"{above.rpartition('/')[2]}/{name}"
        for glob, kind in _IN_FOLDERS:
            if fnmatchcase(ending, glob):
                return kind
    return document.noise


def compared_in_full(
    documents: Sequence[Document], named: Container[str] | None
) -> tuple[Mask, tuple[tuple[str, int], ...]]:
    """Which documents are compared in full; and the kinds of the others, most frequent first.

    Each kind comes with the number of its files. A document is compared in full if its path is in
    `named`, or if another document with the same text is, so that identical texts are never
    separated. With `named` None all are compared in full.
    """
    are_named = [named is None or each.path in named for each in documents]
    kinds = [
        None if is_named else kind_of(each)
        for each, is_named in zip(documents, are_named, strict=True)
    ]
    of_kind = list(zip(documents, kinds, strict=True))
    texts = {document.text_digest for document, kind in of_kind if kind is None}
    aside = Counter(kind for each, kind in of_kind if kind and each.text_digest not in texts)
    are_full = np.array([each.text_digest in texts for each in documents], bool)
    return are_full, tuple(sorted(aside.items(), key=lambda item: (-item[1], item[0])))
