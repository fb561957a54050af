"""simdup finds files that hold the same text: same bytes, another encoding, or edited.

Begin with `scan`, which does all of it; its stages can be called one by one:
`fingerprint_texts`, `pairs_within`, `exact_similarities`, `group`. In the source, read
the rooms in the order of a scan: walk, decode, features, simhash, search, verify,
groups, match, documents, scan. `evaluate` measures how accurate all that is. `Index` keeps a
collection, to be asked what is like a text.

Nothing is imported before it is asked for, so that whoever starts the program can be told
in a line what is missing on this machine, even memory for numpy.
"""

import importlib
import sys
import types
import typing

if typing.TYPE_CHECKING:
    from simdup.compare import compare
    from simdup.corpora import CorpusResult, RowGroups
    from simdup.corpus.keep import rewritten
    from simdup.corpus.scan import group_texts, identities, scan_rows
    from simdup.errors import (
        ExtraMissingError,
        InputError,
        InterruptedScan,
        SimdupError,
        TooManyPairsError,
    )
    from simdup.evaluate import evaluate
    from simdup.groups import group
    from simdup.hamming import hamming_distances
    from simdup.index import Index
    from simdup.library import exact_similarities, fingerprint_files, fingerprint_texts
    from simdup.measured import Evaluated, Evaluation
    from simdup.recipe import Recipe
    from simdup.records import (
        Answer,
        Changes,
        Comparison,
        Document,
        Group,
        Match,
        Member,
        ScanResult,
        Skipped,
    )
    from simdup.scan import scan
    from simdup.search import iter_pairs, pairs_within
    from simdup.settings import Settings
    from simdup.walk import Filters

__all__ = [
    "Answer",
    "Changes",
    "Comparison",
    "CorpusResult",
    "Document",
    "Evaluated",
    "Evaluation",
    "ExtraMissingError",
    "Filters",
    "Group",
    "Index",
    "InputError",
    "InterruptedScan",
    "Match",
    "Member",
    "Recipe",
    "RowGroups",
    "ScanResult",
    "Settings",
    "SimdupError",
    "Skipped",
    "TooManyPairsError",
    "compare",
    "evaluate",
    "exact_similarities",
    "fingerprint_files",
    "fingerprint_texts",
    "group",
    "group_texts",
    "hamming_distances",
    "identities",
    "iter_pairs",
    "pairs_within",
    "rewritten",
    "scan",
    "scan_rows",
]

# Where each public name is.
_ROOMS = {
    "compare": "compare",
    "CorpusResult": "corpora",
    "RowGroups": "corpora",
    "rewritten": "corpus.keep",
    "group_texts": "corpus.scan",
    "identities": "corpus.scan",
    "scan_rows": "corpus.scan",
    "ExtraMissingError": "errors",
    "InputError": "errors",
    "InterruptedScan": "errors",
    "SimdupError": "errors",
    "TooManyPairsError": "errors",
    "evaluate": "evaluate",
    "group": "groups",
    "hamming_distances": "hamming",
    "Index": "index",
    "exact_similarities": "library",
    "fingerprint_files": "library",
    "fingerprint_texts": "library",
    "Evaluated": "measured",
    "Evaluation": "measured",
    "Recipe": "recipe",
    "Answer": "records",
    "Changes": "records",
    "Comparison": "records",
    "Document": "records",
    "Group": "records",
    "Match": "records",
    "Member": "records",
    "ScanResult": "records",
    "Skipped": "records",
    "scan": "scan",
    "iter_pairs": "search",
    "pairs_within": "search",
    "Settings": "settings",
    "Filters": "walk",
}


class _Package(types.ModuleType):
    """The type of this package, which imports a public name when it is first asked for."""

    def __getattr__(self, name: str) -> typing.Any:  # noqa: ANN401
        if name not in _ROOMS:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        setattr(self, name, getattr(importlib.import_module(f"simdup.{_ROOMS[name]}"), name))
        return self.__dict__[name]

    def __setattr__(self, name: str, value: object) -> None:
        # Python leaves a module that it has imported here, under its name; of three modules that
        # name is that of the public function in it.
        if isinstance(value, types.ModuleType) and _ROOMS.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *__all__})


sys.modules[__name__].__class__ = _Package
