"""simdup finds files that hold the same text: same bytes, another encoding, or edited.

Begin with `scan`, which runs all stages. The stages can also be called one by one:
`fingerprint_texts`, `pairs_within`, `exact_similarities`, `group`. `evaluate` measures how
accurate the answers are, and `Index` keeps a collection and finds the texts similar to a given one.

README.md beside this file describes each folder.
A public name is imported when it is first used, so `import simdup` costs almost nothing.
Source: PEP 562.
"""

# ruff: noqa: F401  (type checkers read these imports, Python reads the table below)
TYPE_CHECKING = False  # instead of importing it from `typing`, which is slow
if TYPE_CHECKING:
    import typing

    from simdup.corpus.records import CorpusResult, RowGroups
    from simdup.corpus.rewrite import rewritten
    from simdup.corpus.scan import group_texts, identities, scan_rows
    from simdup.errors import (
        ExtraMissingError,
        InputError,
        InterruptedScan,
        SimdupError,
        TooManyPairsError,
    )
    from simdup.evaluation.evaluate import evaluate
    from simdup.evaluation.metrics import Evaluated, Evaluation
    from simdup.files.compare import compare
    from simdup.files.library import exact_similarities, fingerprint_files, fingerprint_texts
    from simdup.files.scan import scan
    from simdup.files.walk import Filters
    from simdup.index.index import Index
    from simdup.index.records import Answer, Changes, Match
    from simdup.match.groups import group
    from simdup.recipe import Recipe
    from simdup.records import (
        Comparison,
        Document,
        FolderPair,
        Group,
        Kind,
        Member,
        Reason,
        ScanResult,
        Skipped,
        Source,
        Stats,
    )
    from simdup.search.hamming import hamming_distances
    from simdup.search.pairs import iter_pairs, pairs_within
    from simdup.settings import Settings
    from simdup.storage.store import Store
del TYPE_CHECKING

_HOME = {
    "simdup.corpus.records": ("CorpusResult", "RowGroups"),
    "simdup.corpus.rewrite": ("rewritten",),
    "simdup.corpus.scan": ("group_texts", "identities", "scan_rows"),
    "simdup.errors": (
        *("ExtraMissingError", "InputError", "InterruptedScan", "SimdupError"),
        "TooManyPairsError",
    ),
    "simdup.evaluation.evaluate": ("evaluate",),
    "simdup.evaluation.metrics": ("Evaluated", "Evaluation"),
    "simdup.files.compare": ("compare",),
    "simdup.files.library": ("exact_similarities", "fingerprint_files", "fingerprint_texts"),
    "simdup.files.scan": ("scan",),
    "simdup.files.walk": ("Filters",),
    "simdup.index.index": ("Index",),
    "simdup.index.records": ("Answer", "Changes", "Match"),
    "simdup.match.groups": ("group",),
    "simdup.recipe": ("Recipe",),
    "simdup.records": (
        *("Comparison", "Document", "FolderPair", "Group", "Kind", "Member", "Reason"),
        *("ScanResult", "Skipped", "Source", "Stats"),
    ),
    "simdup.search.hamming": ("hamming_distances",),
    "simdup.search.pairs": ("iter_pairs", "pairs_within"),
    "simdup.settings": ("Settings",),
    "simdup.storage.store": ("Store",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605  (the names of the table)


def __getattr__(name: str) -> "typing.Any":  # noqa: ANN401  (classes and functions alike)
    """Import the module of a public name when the name is first used, and return its value."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'simdup' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  not before it is needed

    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the module, with the public names that are not imported yet."""
    return sorted({*globals(), *__all__})
