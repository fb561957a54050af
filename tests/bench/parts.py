"""How many labelled parts of larger texts are found, where, and what looking for them takes.

    python tests/bench/parts.py [--share S] [--time FOLDER]

The labelled parts are those of fixtures/parts.py, one folder for each language. A part counts as
found if it is listed, or in one group with the larger text. A place is right if it begins and ends
within 5 % of the length: of the larger text, and of the part itself. A pair that is listed and has
no label counts as wrong, unless one of the two is another version of a labelled section.

The rows of an index are those of `index build --parts`, which is asked with each labelled part, and
in turn with each larger text. Below them is how large it is, and what asking takes.

With --time, the files of a folder, such as one that corpus.py makes, are scanned in turn without
and with parts; the figures are the least of three rounds, in seconds of the processor.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING

from report import Report, options, reported

from simdup.files.scan import scan
from simdup.index.index import Index
from simdup.records import Part
from simdup.settings import PARTS, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.records import Group

sys.path.insert(0, str(Path(__file__).parents[2] / "fixtures"))
from parts import LANGUAGES, Collection, write

ROUNDS = 3
CLOSE = 0.05
WIDTH = 28
COLUMNS = {"parts": ",", "recall": ".3f", "others": ",", "precision": ".3f", "listed": ","} | {
    f"in {what}": ".3f" for what in ("whole", "part")
}


def measured(
    collection: Collection, root: Path, parts: Sequence[Part], found: Sequence[Group] = ()
) -> Counter[str]:
    """How many labelled pairs of a collection were found, placed and taken for parts wrongly."""

    def name(path: str) -> str:
        return Path(path).relative_to(root).as_posix()

    listed = {(name(part.path), name(part.whole)): part for part in parts}
    groups = [{name(each.document.path) for each in group.members} for group in found]
    counts = Counter[str]()
    labels = set()
    for part, whole, is_part, _, start, end in collection.rows():
        pair = part, whole
        labels.add(pair)
        is_found = pair in listed or any({*pair} <= group for group in groups)
        counts["parts" if is_part else "others"] += 1
        counts["found" if is_part else "wrong"] += is_found if is_part else pair in listed
        if is_part and pair in listed:
            error = max(abs(listed[pair].start - start), abs(listed[pair].end - end))
            counts["listed"] += 1
            counts["in whole"] += error <= CLOSE * len(collection.files[whole])
            counts["in part"] += error <= CLOSE * (end - start)
    counts["wrong"] += sum(pair not in labels and ".v" not in "".join(pair) for pair in listed)
    return counts


def accuracy(report: Report, share: float) -> None:
    """A table with a row for each language and way to ask, and the figures of indexes."""
    costs, settings = [], Settings(parts=share)
    report.table("labelled parts", COLUMNS, WIDTH)
    with TemporaryDirectory() as folder:
        write(Path(folder))
        for language in LANGUAGES:
            root, labels = Path(folder, language), Collection(language)
            found = scan(root, settings)
            row(report, language, measured(labels, root, found.parts, found.groups))
            path = Path(folder, f"{language}.simdup")
            with Index.create(path, settings) as index:
                index.add(root)
                for name, asked in (("by its parts", 0), ("by its wholes", 1)):
                    began = process_time()
                    questions = sorted({root / row[asked] for row in labels.rows()})
                    parts = list(asked_for(index, questions, settings))
                    each = 1000 * (process_time() - began) / len(questions)
                    costs.append((f"{language}, {name}: ms a question", each))
                    row(report, f"{language}, index {name}", measured(labels, root, parts))
            with Index.create(f"{path}-plain") as plain:
                plain.add(root)
                costs.append((f"{language}: bytes without samples", plain.info().bytes))
                costs.append((f"{language}: bytes with samples", index.info().bytes))
    report.table("indexes", {"": ",.1f"})
    for cost in costs:
        report.row(*cost)


def asked_for(index: Index, questions: Sequence[Path], settings: Settings) -> Iterator[Part]:
    """The parts that an index finds for some questions."""
    answers, _ = index.query_files(questions, settings)
    for answer in answers:
        for part in answer.parts:
            names = answer.question, part.document.path
            path, whole = names if part.is_whole else names[::-1]
            yield Part(path, whole, part.share, part.start or 0, part.end or 0)


def row(report: Report, name: str, counts: Counter[str]) -> None:
    recall = counts["found"] / counts["parts"]
    precision = counts["found"] / max(counts["found"] + counts["wrong"], 1)
    placed = [counts[each] / max(counts["listed"], 1) for each in ("in whole", "in part")]
    cells = counts["parts"], recall, counts["others"], precision, counts["listed"], *placed
    report.row(name, *cells)


def times(report: Report, folder: str) -> None:
    """The seconds of a scan without and with parts, with one process and without a store."""
    least = dict.fromkeys((None, PARTS), float("inf"))
    for _ in range(ROUNDS):
        for share in least:
            began = process_time()
            scan(folder, Settings(parts=share))
            least[share] = min(least[share], process_time() - began)
    without, with_parts = least.values()
    report.table("seconds of the processor", {"seconds": ".1f", "times": ".2f"}, WIDTH)
    report.row("without parts", without, None)
    report.row("with parts", with_parts, with_parts / without)


def main() -> None:
    """Print the table, and the times if asked."""
    parser = options(__doc__)
    parser.add_argument("--share", type=float, default=PARTS)
    parser.add_argument("--time", metavar="FOLDER")
    given = parser.parse_args()
    with reported(given) as report:
        accuracy(report, given.share)
        if given.time:
            times(report, given.time)


if __name__ == "__main__":
    main()
