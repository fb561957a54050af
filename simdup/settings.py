"""Settings, which decide the answer of a scan or a comparison.

They are frozen: made once, and passed down through all stages.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from simdup.arguments import check_number, check_truth, check_type, check_whole, tuple_of
from simdup.errors import BadValueError
from simdup.recipe import Recipe
from simdup.theory import UNRELATED, chance_distance, threshold

#: Two documents with at least this exact cosine may be near-duplicates, unless the user says
#: otherwise; short and very long ones need more (`match.own_share.least_similarity`). The manual
#: page accuracy says how it was chosen, and OWN_SHARE.
SIMILARITY = 0.35

#: The least own share of near-duplicates: the part of their common wording no others have, see
#: `match.own_share`.
OWN_SHARE = 0.58

#: The share of a text that must stand in a larger one, where parts are asked for.
PARTS = 0.8

#: Without verification the distance alone decides, so it represents at least this similarity:
#: unrelated texts of one kind, such as laws, reach .2 to .3.
BARE_SIMILARITY = 0.6

#: Without verification, at most this share of unrelated pairs may be within the distance. That
#: allows 35 of 128 bits; of 256 bits BARE_SIMILARITY allows fewer. With a share ten times as large,
#: small fingerprints do a little better on a thousand texts, but ten thousand texts would give
#: five thousand false pairs.
CHANCE = 1e-5

#: How pairs become groups: see `groups`.
LINKAGES = ("star", "components")

#: Which row of a group stays in a corpus without near-duplicates.
KEEPS = ("first", "longest", "representative")

#: How a file may be packed, by its usual ending.
PACKINGS = ("gz", "xz", "bz2", "zst")

#: Kinds of documents whose text is extracted, by their usual ending; all others are plain text.
FORMATS = (
    *("html", "epub", "docx", "odt", "ods", "odp", "pptx", "xlsx", "doc", "xls", "ppt"),
    *("msg", "rtf", "pdf", "eml", "mbox", "srt", "vtt", "ass", "md", "ipynb", "tex", "man"),
    *PACKINGS,
)

#: Formats from the one that holds the most of a document to the one that holds the least: sources
#: that people edit stand before what programs make from them.
FORMAT_ORDER = (
    *("docx", "odt", "doc", "pptx", "odp", "ppt", "xlsx", "ods", "xls", "rtf", "ipynb", "tex"),
    *("man", "md", "epub", "html", "mbox", "eml", "msg", "pdf", "ass", "vtt", "srt", "text"),
)

#: Kinds of files whose rows are documents of a corpus.
ROW_FORMATS = ("jsonl", "csv", "tsv", "parquet")


@dataclass(frozen=True, slots=True)
class Converter:
    """A program that prints the text of files with a certain ending.

    >>> Converter.of("doc=antiword -m UTF-8.txt {}").command
    ('antiword', '-m', 'UTF-8.txt', '{}')

    ending: The ending of the file's name, in lower case, without its dot.
    command: The program and its arguments; in these, {} is replaced by the file's path.
    """

    ending: str
    command: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Converter:
        """The converter that EXT=COMMAND names. Raises ValueError for any other string."""
        ending, _, command = text.partition("=")
        ending = ending.strip().lstrip(".").lower()
        if not ending or "/" in ending or not command.strip():
            raise BadValueError(f"{text!r} is not EXT=COMMAND such as 'doc=antiword {{}}'")
        try:
            return cls(ending, tuple(shlex.split(command)))
        except ValueError as error:
            raise BadValueError(f"{text!r}: {str(error).lower()}") from None

    def __str__(self) -> str:
        """EXT=COMMAND."""
        return f"{self.ending}={shlex.join(self.command)}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run: how much is read, held in memory or searched at most.

    No user sets them. Tests make small ones, so that little data reaches what much data would.
    Only numbers that decide when a run goes another way belong here. Constants of an algorithm and
    of a file format, and sizes of blocks that only one function knows, stand in their modules.

    whole_bytes: Longer files are streamed; their encoding is detected from this many first bytes.
    document_bytes: Larger documents (as opposed to plain texts) and archives are skipped.
    unguarded_bytes: Documents of some formats are read without a sandbox up to this size: see
        `readers.UNGUARDED`. The worst files take some seconds.
    task_bytes, task_files: The most bytes and files of a task: enough to outweigh sending it to a
        worker, few enough that workers end together and that its texts fit in memory several times.
    text_characters: Texts are fingerprinted together until they have this many characters, so that
        files that unpack to much are not all in memory at once.
    sketch_bytes: Sketches beyond this number of bytes lie in a temporary file.
    sieve_from: Collections of more texts whose features weigh differently, so that sketches cannot
        compare them, also get fingerprints of `candidates.SIEVE_BITS`. These cost half as much
        again as the features, and drop nearly all pairs that are near by chance.
    by_distance: Up to this many texts, fingerprints are compared all with all. Beyond that, going
        through lists costs less than looking at the pairs that are near by chance.
    whole_hashes_from: From this many texts on, Spark lists texts by whole hashes. Sketches keep
        halves, and too many strangers have the same half. Texts are read once more for them.
    candidates: Up to this many candidate pairs are always looked at: some seconds of work.
    candidates_per_text: Candidate pairs for each text, where that is more than `candidates`: the
        work stays linear.
    near_pairs: The most pairs of near fingerprints that a search may find: they take 1.2 GB.
    measured_from: With fewer texts no recall is measured: their candidates are all pairs within a
        distance, whose recall is known in theory.
    sampled: The most texts on which recall is measured. Each costs about 12 ns of processor time
        for every text of the collection, where a scan takes over 100,000 ns.
    sampled_one_in: At most one text in so many is sampled.
    near_per_sampled: The most texts looked at of the ones that may be alike to a sampled text.
    faulty_rows: A report lists at most this many flaws of each fault.
    result_bytes: The most bytes of results that a store keeps in all; the least recently used ones
        go first.
    batch_documents, batch_seconds, batch_values: What is added to an index is written when there
        are this many documents, after these seconds, or when sketches have this many values, which
        are 16 MB.
    part_candidates: At most this many texts are read for a question, to find its parts: the texts
        that seem to share most.
    """

    whole_bytes: int = 1 << 24
    document_bytes: int = 1 << 28
    unguarded_bytes: int = 1 << 20
    task_bytes: int = 1 << 22
    task_files: int = 512
    text_characters: int = 1 << 25
    sketch_bytes: int = 1 << 24
    sieve_from: int = 1000
    by_distance: int = 1000
    whole_hashes_from: int = 100_000_000
    candidates: int = 1_000_000
    candidates_per_text: int = 64
    near_pairs: int = 50_000_000
    measured_from: int = 1000
    sampled: int = 250
    sampled_one_in: int = 20
    near_per_sampled: int = 16
    faulty_rows: int = 1000
    result_bytes: int = 1 << 25
    batch_documents: int = 4096
    batch_seconds: float = 5.0
    batch_values: int = 1 << 22
    part_candidates: int = 1000


#: The limits of a run, unless a caller has others.
USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Settings:
    """Options that decide the answer of a scan or a comparison. Bad values raise ValueError.

    similarity: Exact cosine from which two documents may be near-duplicates.
    k: The largest distance of near-duplicates in bits, when nothing is verified; None: see
        `distance`.
    verified: Whether exact similarities decide; always False if `k` is given.
    encoding: The encoding of every plain text; None: it is detected for each.
    formats: The formats of documents whose text is extracted.
    converters: Programs that extract the text of other files; they come before `formats`.
    own_share: The least own share of near-duplicates; 0: any.
    parts: The least share of a text's distinct shingles that stand in a larger text of which it is
        a part, see `match.parts`; None: no parts are looked for.
    limits: How much a run reads, holds and searches; no user sets them.
    """

    recipe: Recipe = Recipe()  # noqa: RUF009  (frozen)
    similarity: float = SIMILARITY
    k: int | None = None
    verified: bool = True
    linkage: str = "star"
    encoding: str | None = None
    formats: tuple[str, ...] = FORMATS
    converters: tuple[Converter, ...] = ()
    own_share: float = OWN_SHARE
    parts: float | None = None
    limits: Limits = USUAL

    def __post_init__(self) -> None:
        """Refuse bad values; turn `verified` off if `k` is given."""
        self._check_types()
        if not 0 < self.similarity <= 1:
            raise BadValueError(f"similarity must be above 0 and at most 1, not {self.similarity}")
        if not 0 <= self.own_share <= 1:
            raise BadValueError(f"own_share must be from 0 to 1, not {self.own_share}")
        self._check_parts()
        if self.k is not None and not 0 <= self.k <= self.recipe.bits:
            raise BadValueError(f"k must be from 0 to the {self.recipe.bits} bits, not {self.k}")
        if self.linkage not in LINKAGES:
            raise BadValueError(
                f"linkage must be one of {', '.join(LINKAGES)}, not {self.linkage!r}"
            )
        if unknown := next((name for name in self.formats if name not in FORMATS), None):
            raise BadValueError(f"formats must be among {', '.join(FORMATS)}, not {unknown!r}")
        object.__setattr__(self, "verified", self.verified and self.k is None)

    def _check_parts(self) -> None:
        """Raise ValueError for an impossible share, and for settings that cannot find parts."""
        if self.parts is None:
            return
        if not 0 < self.parts <= 1:
            raise BadValueError(f"parts must be above 0 and at most 1, not {self.parts}")
        if not self.recipe.has_equal_weights:
            features = self.recipe.features.value
            raise BadValueError(f"parts are found by shingles; leave out features {features!r}")
        if self.recipe.fields:
            raise BadValueError("parts are found in texts of one field; leave out the others")
        if self.k is not None or not self.verified:
            raise BadValueError("parts need exact shares; leave out k and ask for verification")

    def _check_types(self) -> None:
        """Raise TypeError that names a value of a wrong type."""
        check_type(self.recipe, "recipe", Recipe)
        check_number(self.similarity, "similarity")
        check_number(self.own_share, "own_share")
        if self.parts is not None:
            check_number(self.parts, "parts")
        if self.k is not None:
            check_whole(self.k, "k")
        check_truth(self.verified, "verified")
        if self.encoding is not None:
            check_type(self.encoding, "encoding", str)
        object.__setattr__(self, "formats", tuple_of(self.formats, "formats", str))
        object.__setattr__(self, "converters", tuple_of(self.converters, "converters", Converter))

    @property
    def reading(self) -> tuple[tuple[str, ...], tuple[Converter, ...], str | None, Limits]:
        """How the texts of files are read: the arguments of `extract.readers.Readers`."""
        return self.formats, self.converters, self.encoding, self.limits

    @property
    def distance(self) -> int:
        """`k` if it is given, else the distance that fits `similarity`.

        Where nothing is verified, BARE_SIMILARITY and CHANCE limit it.
        """
        if self.k is not None:
            return self.k
        bits = self.recipe.bits
        if self.verified:
            return threshold(self.similarity, bits)
        k = threshold(max(self.similarity, BARE_SIMILARITY), bits)
        return min(k, chance_distance(UNRELATED, bits, CHANCE))
