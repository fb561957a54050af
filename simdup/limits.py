"""Limits of a run: how much is read, held in memory or searched at most.

`Settings.limits` carries them through all stages. No user sets them. Tests make small ones, so
that little data reaches what much data would.

Only numbers that decide when a run goes another way belong here. Constants of an algorithm and
of a file format, and sizes of blocks that only one function knows, stand in their modules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run.

    whole_bytes: Longer files are streamed; their encoding is detected from this many first bytes.
    document_bytes: Larger documents (as opposed to plain texts) and archives are skipped.
    unguarded_bytes: Documents of some formats are read without a sandbox up to this size: see
        `readers.UNGUARDED`. The worst files take some seconds.
    task_bytes, task_files: The most bytes and files of a task: enough to outweigh sending it to a
        worker, few enough that workers end together and that its texts fit in memory several times.
    sketch_bytes: Sketches beyond this number of bytes lie in a temporary file.
    sieve_from: Collections of more texts also get fingerprints of `candidates.SIEVE_BITS`. These
        cost half as much again as the features, and drop nearly all pairs that are near by chance.
    by_distance: Up to this many texts, fingerprints are compared all with all. Beyond that, going
        through lists costs less than looking at the pairs that are near by chance.
    candidates: Up to this many candidate pairs are always looked at: some seconds of work.
    candidates_per_text: Candidate pairs for each text, where that is more than `candidates`: the
        work stays linear.
    near_pairs: The most pairs of near fingerprints that a search may find: they take 1.2 GB.
    measured_from: With fewer texts no recall is measured, since texts would be read for that
        alone. Their candidates are all pairs within a distance, whose recall is known in theory.
    sampled: The most texts on which recall is measured. Each costs about 12 ns of processor time
        for every text of the collection, where a scan takes over 100,000 ns.
    sampled_one_in: At most one text in so many is sampled.
    near_per_sampled: The most texts looked at of the ones that may be alike to a sampled text.
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
    sketch_bytes: int = 1 << 24
    sieve_from: int = 1000
    by_distance: int = 10_000
    candidates: int = 1_000_000
    candidates_per_text: int = 64
    near_pairs: int = 50_000_000
    measured_from: int = 1000
    sampled: int = 250
    sampled_one_in: int = 20
    near_per_sampled: int = 16
    batch_documents: int = 4096
    batch_seconds: float = 5.0
    batch_values: int = 1 << 22
    part_candidates: int = 1000


#: The limits of a run, unless a caller has others.
USUAL = Limits()
