"""How many chains of successive versions stay near, each in a scan of its own.

    python tests/bench/histories.py FOLDER [--chains 300] [--seed 1] [--folder KEPT]

FOLDER has git repositories, bare ones too, at any depth. A file's versions are those along the
first parents of HEAD, under one path with an ending of TEXTS, with 500 to 65,536 bytes of UTF-8. A
version with the word pairs of the one before is left out. A chain is 3, 5 or 8 successive versions
of which each is at least 90 % like the one before. For each length the files are drawn in a random
order. Each gives at most one chain, at a random place in its history. Repositories take turns, and
one gives at most a fifth of the chains.

The versions of a chain are written as a.txt, b.txt and so on, with equal times, so that neither
names nor times tell their order. A chain is near if a scan finds one group, which is near and holds
all of them; it is related if that group is only related, and apart else. With --folder the chains
are kept there, and those that are not near are listed.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from report import options, place, reported

import simdup
from simdup.match.tiers import NEAR, RELATED

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

LENGTHS = (3, 5, 8)
APART = "apart"
LEAST = 0.9
# At most this share of the chains is from one repository, whose files may be alike.
MOST_OF_ONE = 0.2
TEXTS = ("*.md", "*.rst", "*.txt", "*.adoc", "*.html", "*.tex", "*.org")
SIZES = range(500, 65_537)
LOG = (
    *("log", "--reverse", "--first-parent", "--diff-merges=first-parent"),
    *("--no-renames", "--raw", "--no-abbrev", "-z", "--format="),
)
COLUMNS = {"chains": ",", "near": ",", "near, %": ".1f", "related": ",", "apart": ","}


class History(NamedTuple):
    """The versions of one file, oldest first, as the names of git's objects."""

    repository: Path
    path: str
    versions: list[str]


def repositories(folder: Path) -> list[Path]:
    """The git directories in a folder, in the order of their names."""
    heads = (path.parent for path in folder.rglob("HEAD"))
    return sorted(each for each in heads if (each / "objects").is_dir())


def git(repository: Path, *arguments: str) -> bytes:
    """What git prints about a repository."""
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def histories(repository: Path) -> list[History]:
    """The histories of all text files with enough versions for the shortest chain."""
    log = git(repository, *LOG, "--", *TEXTS).decode("utf-8", "replace")
    versions: dict[str, list[str]] = {}
    fields = iter(log.split("\0"))
    for about in fields:
        if about.strip().startswith(":"):  # modes, the objects before and after, and a letter
            path, after = next(fields), about.split()[3]
            versions.setdefault(path, []).append(after)
    return [
        History(repository, path, found)
        for path, found in sorted(versions.items())
        if len(found) >= min(LENGTHS)
    ]


def texts_of(history: History, begin: int, count: int) -> list[str]:
    """The texts of up to so many versions from one on, as far as all of them are taken."""
    texts = list[str]()
    for version in history.versions[begin : begin + count]:
        if not int(version, 16):  # the file was deleted
            break
        data = git(history.repository, "cat-file", "blob", version)
        if len(data) not in SIZES:
            break
        try:
            texts.append(data.decode())
        except UnicodeDecodeError:
            break
    return texts


def chain_in(history: History, length: int, random: Random) -> list[str] | None:
    """A chain of this length at a random place; None if there is none at that place."""
    begin = random.randrange(max(1, len(history.versions) - length + 1))
    # Some versions change no word.
    texts = texts_of(history, begin, length + 3)
    if len(texts) < length:
        return None
    places = np.arange(len(texts))
    alike = simdup.exact_similarities(texts, places[1:], places[:-1])
    changed = [(text, each) for text, each in zip(texts[1:], alike, strict=True) if each < 1]
    later = [text for text, each in changed[: length - 1] if each >= LEAST]
    return [texts[0], *later] if len(later) == length - 1 else None


def chains(
    found: Sequence[Sequence[History]], length: int, given: Namespace
) -> Iterator[list[str]]:
    """Chains of files in a random order, of the repositories in turn."""
    random, used = Random(f"{given.seed} {length}"), Counter[Path]()
    orders = [random.sample(each, len(each)) for each in found]
    for history in filter(None, chain.from_iterable(zip_longest(*orders))):
        repository = history.repository
        if used[repository] < MOST_OF_ONE * given.chains:
            texts = chain_in(history, length, random)
            if texts is not None:
                used[repository] += 1
                yield texts


def outcome(texts: Sequence[str], folder: Path) -> str:
    """Whether a scan of the texts, written into a folder, leaves them near, related or apart."""
    folder.mkdir(parents=True, exist_ok=True)
    for letter, text in zip(ascii_lowercase, texts, strict=False):
        (folder / f"{letter}.txt").write_text(text, "utf-8")
        os.utime(folder / f"{letter}.txt", (0, 0))
    groups = simdup.scan([folder], jobs=1).groups
    if [len(group.members) for group in groups] != [len(texts)]:
        return APART
    return groups[0].tier or APART


def outcomes(found: Sequence[Sequence[History]], given: Namespace, folder: Path) -> Iterator[str]:
    """What became of each chain of each length: "3-001 near"."""
    for length in LENGTHS:
        sample = islice(chains(found, length, given), given.chains)
        for number, texts in enumerate(sample, 1):
            name = f"{length}-{number:03}"
            yield f"{name} {outcome(texts, folder / name)}"


def main() -> None:
    parser = options(__doc__, keeps=True)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("--chains", type=int, default=300, help="of each length, at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with reported(given) as report, place(given.folder) as folder:
        found = [histories(each) for each in repositories(given.repositories)]
        files = sum(map(len, found))
        report.table(f"chains of {files:,} files in {len(found)} repositories", COLUMNS, 12)
        lines = list[str]()
        for length, of_length in groupby(
            outcomes(found, given, Path(folder)), lambda line: line[0]
        ):
            lines += (these := [*of_length])
            counts = Counter(line.split()[1] for line in these)
            near = counts[NEAR]
            others = counts[RELATED], counts[APART]
            report.row(f"{length} versions", len(these), near, 100 * near / len(these), *others)
    if given.folder:
        print("\n".join(line for line in lines if not line.endswith(NEAR)))


if __name__ == "__main__":
    main()
