"""Whether `simdup query` finds the other editions of a text in an index of one of them.

    python tests/bench/asking.py [FOLDER...] [--json FILE]

A FOLDER holds documents and a pairs.csv (left, right, duplicate). What lies in one folder is an
edition, and editions beside one another are of the same work. One edition of each work is
indexed in turn and the documents of all others are asked for, at the default setting and by
fingerprints alone. Right is what is labelled as a duplicate; recall is its share that is found,
precision the share of what is found that is right. Of simdup's own texts the originals are
indexed, and copies, texts by other hands and translations asked for.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from report import Report, options, reported

from simdup import Index, Settings
from simdup.evaluation.labels import own_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup import Answer, Match

    Pairs = set[tuple[str, str]]

COLUMNS = {
    "indexed": ",",
    "asked": ",",
    "to find": ",",
    "found": ",",
    "right": ",",
    "recall": ".4f",
    "precision": ".4f",
    "best is right": ".4f",
    "seconds": ",.1f",
}


@dataclass(frozen=True)
class Collection:
    """Documents below a folder, and which pairs of them are duplicates."""

    name: str
    root: Path
    documents: tuple[str, ...]
    right: Pairs
    """In both orders."""
    unjudged: Pairs

    @property
    def editions(self) -> list[list[str]]:
        """The folders that have documents, by work."""
        folders = sorted({os.path.dirname(path) for path in self.documents})
        return [list(each) for _, each in groupby(folders, os.path.dirname)]

    def below(self, folders: Sequence[str]) -> list[str]:
        """The documents right in some folders."""
        return [path for path in self.documents if os.path.dirname(path) in folders]


def collection(table: Path, name: str) -> Collection:
    root = table.parent
    right, unjudged, seen = set(), set(), set()
    with table.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            pair = str(root / line["left"]), str(root / line["right"])
            seen.update(pair)
            if line["duplicate"] != "0":
                (right if line["duplicate"] == "1" else unjudged).update((pair, pair[::-1]))
    return Collection(name, root, tuple(sorted(seen)), right, unjudged)


def splits(texts: Collection) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders to be indexed, and those to be asked for."""
    every = [folder for work in texts.editions for folder in work]
    names = {os.path.relpath(each, texts.root): each for each in every}
    if "originals" in names:
        others = [names[each] for each in names if not each.startswith(("originals", "template"))]
        yield "originals", [names["originals"]], others
        return
    for turn in range(max(map(len, texts.editions))):
        indexed = [work[turn % len(work)] for work in texts.editions]
        yield (
            ", ".join(map(os.path.basename, indexed)),
            indexed,
            [each for each in every if each not in indexed],
        )


def show(report: Report, texts: Collection) -> None:
    report.table(f"{texts.name}: editions that are indexed", COLUMNS, 34)
    for name, indexed, asked in splits(texts):
        questions = texts.below(asked)
        with TemporaryDirectory() as folder, Index.create(f"{folder}/index") as index:
            index.add(texts.below(indexed))
            for how, verified in ((name, True), ("  by fingerprints alone", False)):
                began = perf_counter()
                answers, _ = index.query_files(questions, Settings(verified=verified))
                seconds = perf_counter() - began
                figures = judged(texts, indexed, asked, answers)
                report.row(how, len(index), len(questions), *figures, seconds)


def judged(
    texts: Collection, indexed: Sequence[str], asked: Sequence[str], found: Sequence[Answer]
) -> tuple[float, ...]:
    """Of pairs: those to find, found, right; recall, precision, and how often the best is right."""
    known, questions = set(texts.below(indexed)), set(texts.below(asked))
    wanted = {(left, right) for left, right in texts.right if left in questions and right in known}
    by_question = [
        [pair for match in each.matches if (pair := _pair(each, match)) not in texts.unjudged]
        for each in found
    ]
    pairs = {pair for each in by_question for pair in each}
    first = [each[0] in wanted for each in by_question if each]
    right = len(pairs & wanted)
    shares = right / len(wanted), right / len(pairs), sum(first) / len(first)
    return len(wanted), len(pairs), right, *shares


def _pair(answer: Answer, match: Match) -> tuple[str, str]:
    return answer.question, match.document.path


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    with reported(given) as report:
        with own_table() as table:
            show(report, collection(Path(table), "simdup's own"))
        for folder in given.folders:
            show(report, collection(folder.resolve() / "pairs.csv", folder.name))


if __name__ == "__main__":
    main()
