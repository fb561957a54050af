"""simdup finds files that hold the same text: same bytes, another encoding, or edited.

Begin with `scan`, which does all of it; its stages can be called one by one:
`fingerprint_texts`, `pairs_within`, `exact_similarities`, `group`. In the source, read
the rooms in the order of a scan: walk, decode, features, simhash, search, verify,
groups, match, documents, scan. `evaluate` measures how accurate all that is. `Index` keeps a
collection, to be asked what is like a text.
"""

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
