"""simdup.clean.planning: from a saved result to the files that go, and why the others stay."""

from __future__ import annotations

import gzip
import os
import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from simdup.clean.apply import apply
from simdup.clean.checks import Reading
from simdup.clean.plan import Act, Action, Consents, FileId, Header, Plan, parsed_plan, plan_lines
from simdup.clean.planning import Wishes, excess, make_plan, narrowed
from simdup.clean.protection import Protection
from simdup.clean.refusals import Refusal
from simdup.clean.rules import Rules, rule_of
from simdup.errors import InputError
from simdup.extract.readers import Readers
from simdup.files.scan import scan
from simdup.files.walk import Filters
from simdup.fingerprint.features import all_features
from simdup.match.parts import shares_of
from simdup.match.tiers import NEAR_SCORE
from simdup.recipe import Recipe
from simdup.records import Kind, Source, Version
from simdup.report.json_csv import render_json
from simdup.report.load import load
from simdup.settings import Converter, Limits, Settings

WORDS = ["".join(random.Random(n).choices("abcdefghijklmnop", k=6)) for n in range(2000)]


def text(seed, words=300, changed=0):
    """A text of its own for every seed; some words of it are others."""
    chosen = random.Random(seed).choices(WORDS, k=words)
    chosen[:changed] = [f"other{n}" for n in range(changed)]
    return " ".join(chosen)


@pytest.fixture
def tree(tmp_path):
    """A function that writes files: contents by relative path; the earlier is the older."""

    def write(**contents):
        for place, (name, content) in enumerate(contents.items()):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            os.utime(path, (1_000_000 + place, 1_000_000 + place))
        return tmp_path

    return lambda contents: write(**contents)


def saved(*paths, settings=None, **options):
    """The result of a scan, written as JSON and read again."""
    result = scan([str(each) for each in paths], settings, **options)
    return load("\n".join(render_json(result)).encode(), "found.json")


def altered(result, name, **fields):
    """The result of one group in which the source of the file with this name is another."""
    (group,) = result.groups
    members = list(group.members)
    place = next(n for n, each in enumerate(members) if each.document.path.endswith(f"/{name}"))
    document = members[place].document
    document = document._replace(source=document.source._replace(**fields))
    members[place] = members[place]._replace(document=document)
    return replace(result, groups=(group._replace(members=tuple(members)),))


def planned(result, *rules, protection=None, act=Act.TRASH, **consents):
    wishes = Wishes(
        Rules([rule_of(each) for each in rules]),
        protection or Protection(),
        Consents(**consents | ({act.option: True} if act.option else {})),
        act,
    )
    plan = make_plan(result, wishes, "found.json", "0" * 32)
    assert parsed_plan([line.encode() for line in plan_lines(plan)], "p") == plan
    return narrowed(plan, wishes.consents, wishes.protection, is_dry=True)


def names(plan):
    """The names of the files that go, each with the one that is kept for it."""
    return {os.path.basename(a.file.path): os.path.basename(a.keep.path) for a in plan.actions}


def left(plan):
    """The names of the files that are left, each with the reason."""
    return {
        os.path.basename(each.file.path): each.why.refusal
        for each in plan.left
        if each.why.refusal is not Refusal.PREFERRED
    }


# What goes


def test_identical_bytes_go_for_the_file_that_the_rules_prefer(tree):
    result = saved(tree({"a": text(1), "b": text(1), "c": text(1)}))

    plan = planned(result, "newest")

    assert names(plan) == {"a": "c", "b": "c"}
    assert {each.kind for each in plan.actions} == {Kind.IDENTICAL_BYTES}
    assert {each.why for each in plan.actions} == {"newest"}
    assert plan.left == ()


def test_copies_of_a_similar_file_go_for_that_one_and_not_for_the_representative(tree):
    result = saved(
        tree({"a": text(1), "b": text(1, changed=20), "c": text(1, changed=20), "d": text(1)})
    )
    assert len(result.groups) == 1

    plan = planned(result, "oldest")

    assert names(plan) == {"c": "b", "d": "a"}
    assert left(plan) == {}


def test_text_in_another_encoding_goes_only_with_consent(tree):
    result = saved(tree({"a": text(1), "b": text(1).encode("utf-16")}))

    assert planned(result).actions == ()
    assert left(planned(result)) == {"b": Refusal.TEXT}
    plan = planned(result, text=True)
    assert names(plan) == {"b": "a"}
    assert plan.actions[0].kind is Kind.IDENTICAL_TEXT


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Due 412.50 on 3 May", "Due 397.10 on 4 May", "397.10 / 412.50, 1 more"),
        ("seat B-14", "seat C-61", "C-61 / B-14"),
        ("应付三百元", "应付五百元", "五百元 / 三百元"),
        ("balance -500 in all", "balance 500 in sum", "500 / -500"),
    ],
)
def test_a_near_file_with_other_facts_than_the_kept_one_is_kept(tree, one, other, why):
    result = saved(tree({"a": f"{one} {text(1)}", "b": f"{other} {text(1)}"}))

    plan = planned(result, "oldest", near=0.8)

    assert names(plan) == {}
    assert [str(each.why) for each in plan.left if each.why.detail] == [
        f"near, but with other facts (--review asks): other numbers: {why}"
    ]


@pytest.mark.parametrize(("one", "other"), [("", "page 7"), ("page 7", ""), ("7, 8", "8, 7, 7")])
def test_a_near_file_goes_if_only_one_of_the_texts_has_facts_of_its_own(tree, one, other):
    result = saved(tree({"a": f"{one} {text(1)}", "b": f"{other} {text(1)}"}))

    assert names(planned(result, "oldest", near=0.8)) == {"b": "a"}


def test_facts_do_not_keep_a_version_from_going_for_a_newer_one(tree):
    versions = {f"lease v{n}": f"rent {n}00 {text(1)}" for n in (1, 2, 3)}
    result = saved(tree(versions))
    assert result.groups[0].versions

    expected = {"lease v1": "lease v3", "lease v2": "lease v3"}
    assert names(planned(result, near=0.8)) == expected


def test_names_of_versions_alone_make_no_chain_if_the_scan_found_none(tree):
    result = saved(tree({"lease v1": f"rent 100 {text(1)}", "lease v2": f"rent 200 {text(1)}"}))
    (group,) = result.groups
    assert group.versions

    result = replace(result, groups=(group._replace(versions=()),))

    assert {*left(planned(result, near=0.8)).values()} == {Refusal.FACTS}


def test_a_chain_that_only_the_result_claims_lets_no_file_with_other_facts_go(tree):
    result = saved(tree({"north": f"rent 100 {text(1)}", "south": f"rent 200 {text(1)}"}))
    (group,) = result.groups
    versions = tuple(Version(each.document.path, None) for each in group.members)

    result = replace(result, groups=(group._replace(versions=versions),))

    assert {*left(planned(result, near=0.8, newest=True)).values()} == {Refusal.FACTS}


def test_facts_of_near_texts_come_from_the_one_time_they_are_read(tree, monkeypatch):
    reads = []
    document = Reading.document
    monkeypatch.setattr(
        Reading, "document", lambda *given: (reads.append(given[1].path), document(*given))[1]
    )
    result = saved(tree({"a": f"due 1 {text(1)}", "b": f"due 2 {text(1)}"}))

    planned(result, "oldest", near=0.8)

    assert sorted(map(os.path.basename, reads)) == ["a", "b"]


@pytest.mark.parametrize("whole", [1000, 1 << 20])
def test_facts_of_streamed_texts_are_compared_like_all_others(tree, monkeypatch, whole):
    readers = partial(Readers, limits=Limits(whole_bytes=whole))
    monkeypatch.setattr("simdup.clean.checks.Readers", readers)
    result = saved(tree({"a": f"due 1\n{text(1)}\n3", "b": f"due 2\n{text(1)}\n3"}))

    assert left(planned(result, "oldest", near=0.8)) == {"b": Refusal.FACTS}


def contained_exactly(one, other):
    """How much of a text stands in another one, counted by its distinct word pairs."""
    features = all_features([one, other], Recipe())
    return shares_of(features, np.array([0]), np.array([1]))[0]


def test_a_document_with_the_same_text_goes_only_with_consent(tree):
    html = f"<html><body><p>{text(1)}</p></body></html>"
    result = saved(tree({"a": text(1), "b.html": html, "c": text(1).encode("utf-16")}))

    assert names(planned(result, "format=html", text=True)) == {"c": "a"}
    assert left(planned(result, "format=html", text=True)) == {}
    assert left(planned(result, "format=text", text=True)) == {"b.html": Refusal.WORDS}
    plan = planned(result, "format=html", text=True, formats=True)
    assert names(plan) == {"a": "b.html", "c": "b.html"}


@pytest.mark.parametrize("packed", [lambda data: data, gzip.compress])
@pytest.mark.parametrize(("sign", "other"), [(", ", "; "), (". ", "! "), (" ", "\n")])
def test_plain_texts_with_the_same_words_go_only_as_near(tree, sign, other, packed):
    contents = {"a": f"a {sign} b {text(1)}", "b": packed(f"a {other} b {text(1)}".encode())}
    contents |= {"c": f"a {sign} b {text(2, 9)}", "d": packed(f"a {other} b {text(2, 9)}".encode())}
    result = saved(tree(contents))

    asked = {"b": Refusal.LAYOUT if sign == " " else Refusal.NEAR, "d": Refusal.SHORT}
    assert left(planned(result, text=True, formats=True)) == asked
    plan = planned(result, near=1.0, formats=True)
    assert names(plan) == {"b": "a"}
    assert [(each.kind, each.contained) for each in plan.actions] == [(Kind.NEAR, 1.0)]
    assert left(plan)["d"] == Refusal.SHORT


@pytest.mark.parametrize("packed", [lambda data: data, gzip.compress])
@pytest.mark.parametrize(
    ("sign", "other"), [("==", "!="), ("*", "+"), (": -1", ": 1"), ("餘", "余")]
)
def test_texts_with_the_same_words_and_other_signs_never_go(tree, sign, other, packed):
    contents = {"a": f"a {sign} b {text(1)}", "b": packed(f"a {other} b {text(1)}".encode())}

    plan = planned(saved(tree(contents)), near=0.9, text=True, formats=True)

    assert not plan.actions
    assert left(plan)["b"] is Refusal.NEAR_OTHER_CONTENT


def test_similar_files_go_only_with_a_floor_and_by_their_likeness_to_the_kept_one(tree):
    contents = {"a": text(1), "b": text(1, changed=6), "c": text(1, changed=50)}
    result = saved(tree(contents))
    assert len(result.groups) == 1

    assert left(planned(result, "oldest")) == {"b": Refusal.NEAR, "c": Refusal.NEAR}
    plan = planned(result, "oldest", near=0.9)
    assert names(plan) == {"b": "a"}
    assert 0.9 < plan.actions[0].contained < 1
    assert left(plan)["c"] is Refusal.BELOW
    # Two members are less like each other than like the representative.
    assert names(planned(result, "newest", near=0.9)) == {}


def test_a_file_goes_for_none_that_the_user_called_different(tree):
    root = tree({"a": text(1), "b copy": text(1, changed=2), "c copy": text(1, changed=3)})
    digest = {os.path.basename(each.path): each.text_digest for each in scan(root).documents}

    found = saved(root, ignored=[(digest["a"], digest["b copy"])])

    assert names(planned(found, near=0.8)) == {"a": "c copy", "b copy": "c copy"}
    plan = planned(found, "name=a", near=0.8)
    assert names(plan) == {"c copy": "a"}
    assert left(plan) == {"b copy": Refusal.DIFFERENT}


def test_related_files_stay_however_low_the_floor_is(tree):
    result = saved(tree({"a": text(1), "b": text(1, changed=6), "c": text(1, changed=90)}))
    (group,) = result.groups
    assert [each.similarity < NEAR_SCORE for each in group.members] == [False, False, True]

    plan = planned(result, "oldest", near=0.1)
    assert names(plan) == {"b": "a"}
    assert left(plan) == {"c": Refusal.RELATED}


def test_a_similar_file_goes_for_another_copy_of_the_preferred_text_if_consent_is_lacking(tree):
    html = f"<html><body><p>{text(1)}</p></body></html>"
    result = saved(tree({"a.html": html, "b": text(1, changed=6), "c": text(1)}))

    plan = planned(result, "oldest", near=0.9)

    assert names(plan) == {"b": "c"}
    assert left(plan) == {}


def test_a_copy_of_a_similar_file_that_goes_goes_with_it(tree):
    near = text(1, changed=6)
    result = saved(tree({"a": text(1), "b": near, "c": near}))

    plan = planned(result, "oldest", near=0.9)

    assert names(plan) == {"b": "a", "c": "a"}
    assert {each.kind for each in plan.actions} == {Kind.NEAR}


def test_likeness_is_computed_from_the_files_as_they_are_now(tree):
    root = tree({"a": text(1), "b": text(1, changed=6)})
    result = saved(root)
    status = (root / "b").stat()
    (root / "b").write_text(text(1, changed=6)[::-1])
    os.utime(root / "b", ns=(status.st_atime_ns, status.st_mtime_ns))

    assert left(planned(result, "oldest", near=0.9)) == {"b": Refusal.CHANGED}


@pytest.mark.parametrize(
    "settings",
    [
        Settings(Recipe(ngram=(1,)), own_share=0),
        Settings(Recipe(features="tokens"), own_share=0),
        Settings(formats=(), own_share=0),
        Settings(encoding="koi8-r", formats=()),
    ],
)
def test_likeness_is_that_of_the_texts_as_simdup_reads_them_whatever_the_scan_did(tree, settings):
    frame = "<!-- " + text(9, 900) + " -->"
    texts = [text(1).replace(" ", " é"), text(1, changed=30).replace(" ", " é")]
    pages = [f"<html><body><p>{each}</p></body></html>" for each in texts]
    root = tree({name: frame + page for name, page in zip(("a", "b"), pages, strict=True)})
    result = saved(root, settings=settings)
    assert len(result.groups) == 1

    (action,) = planned(result, "oldest", near=0.1, formats=True).actions

    assert action.contained == pytest.approx(contained_exactly(*texts[::-1]))
    assert left(planned(result, "oldest", near=0.1)) == {"b": Refusal.NEAR_DOCUMENT}


def test_only_the_users_own_word_names_the_encoding_of_texts(tree):
    contents = {"a": (text(1) + "\n").encode("cp500"), "b": (text(1) + "\r\n").encode("cp500")}
    result = saved(tree(contents), settings=Settings(encoding="cp500"))

    plan = planned(result, "oldest", text=True)

    assert names(plan) == {"b": "a"}
    ((_, why),) = apply(plan, Consents(text=True)).refused
    assert why.endswith("(their texts differ)")
    assert apply(plan, Consents(text=True, encoding="cp500")).done == 1


@pytest.mark.parametrize("settings", [Settings(k=20), Settings(verified=False)])
def test_an_unverified_result_lets_only_copies_go(tree, settings):
    result = saved(tree({"a": text(1), "b": text(1), "c": text(1, changed=2)}), settings=settings)

    assert names(planned(result, "oldest")) == {"b": "a"}
    with pytest.raises(InputError, match="only copies may go"):
        planned(result, near=0.9)


def test_a_converted_file_goes_only_if_its_bytes_are_the_same(tree):
    root = tree({"a.doc": text(1), "b.doc": text(1) + " ", "c.doc": text(1)})
    settings = Settings(converters=(Converter.of("doc=cat {}"),))
    result = saved(root, settings=settings)
    assert len(result.groups) == 1

    plan = planned(result, "oldest", text=True, formats=True, near=0.8)

    assert names(plan) == {"c.doc": "a.doc"}
    assert left(plan) == {"b.doc": Refusal.OTHER_CONTENT}


@pytest.mark.parametrize("act", [Act.LINK, Act.REFLINK, Act.DELETE])
def test_acts_without_a_way_back_take_identical_bytes_only(tree, act):
    contents = {"a": text(1), "b": text(1), "c": text(1).encode("utf-16"), "d": text(1, changed=2)}
    result = saved(tree(contents))

    plan = planned(result, "oldest", act=act, text=True, near=0.8)

    assert names(plan) == {"b": "a"}
    assert {each.act for each in plan.actions} == {act}


# What is protected


def test_a_protected_file_stays_and_is_kept_whatever_ranks(tree):
    root = tree({"new/a": text(1), "old/b": text(1), "old/c": text(1)})

    plan = planned(saved(root), "oldest", protection=Protection((str(root / "old"),)))

    assert names(plan) == {"a": "b"}
    assert plan.actions[0].why == "the kept file is protected"
    assert left(plan) == {"c": Refusal.PROTECTED}


@pytest.mark.parametrize(
    ("contents", "protected", "expected"),
    [
        (["a", "old/deep/er/b", "older/c"], "old", {"a": "b", "c": "b"}),
        (["a", "b", "c"], "b", {"a": "b", "c": "b"}),
        (["a", "really/b"], "link", {"a": "b"}),
    ],
    ids=["what is deep in a folder, and no neighbour", "a file", "what a link leads to"],
)
def test_a_path_protects(tree, contents, protected, expected):
    root = tree(dict.fromkeys(contents, text(1)))
    (root / "link").symlink_to("really")

    plan = planned(saved(root), "oldest", protection=Protection((str(root / protected),)))

    assert names(plan) == expected


def test_a_group_of_protected_files_is_left(tree):
    root = tree({"a": text(1), "b": text(1)})

    assert planned(saved(root), protection=Protection((str(root),))).actions == ()
    assert planned(saved(root), protection=Protection((), (), ("?",))).actions == ()


def test_nothing_is_acted_on_outside_of_only_under(tree):
    root = tree({"in/a": text(1), "in/b": text(1), "out/c": text(1), "out/d": text(1)})

    plan = planned(saved(root), "oldest", protection=Protection((), (str(root / "in"),)))

    assert names(plan) == {"a": "c", "b": "c"}
    assert left(plan) == {"d": Refusal.NOT_UNDER}


def test_references_of_the_scan_are_protected(tree):
    root = tree({"new/a": text(1), "ref/b": text(1), "ref/c": text(1)})
    result = saved(root / "new", against=[str(root / "ref")])

    plan = planned(result, "oldest")

    assert names(plan) == {"a": "b"}
    assert set(left(plan).values()) <= {Refusal.AGAINST}


def test_a_similar_file_that_the_rules_prefer_does_not_go_for_a_protected_one(tree):
    root = tree({"ref/a": text(1), "new/b": text(1, changed=6)})
    protection = Protection((str(root / "ref"),))

    assert names(planned(saved(root), "newest", protection=protection, near=0.8)) == {}
    assert names(planned(saved(root), "oldest", protection=protection, near=0.8)) == {"b": "a"}


def test_a_folder_that_does_not_exist_cannot_be_protected(tree):
    root = tree({"a": text(1), "b": text(1)})

    with pytest.raises(InputError, match="no such file or folder"):
        planned(saved(root), protection=Protection((str(root / "gone"),)))


@pytest.mark.parametrize(
    "folder", [".git", "node_modules", ".Trash-1000/files", "Trash/files", ".snapshots", ".GIT"]
)
def test_a_file_in_a_folder_of_noise_is_neither_kept_nor_acted_on(tree, folder):
    root = tree({f"{folder}/a": text(1), "b": text(1), "c": text(1)})

    result = saved(root, filters=Filters(noise=True, hidden=True))
    plan = planned(result, "oldest", protection=Protection(work_trees_too=True))

    assert names(plan) == {"c": "b"}
    assert left(plan) == {"a": Refusal.NOISE}


def test_a_file_behind_a_link_out_of_the_scanned_folders_is_left(tree):
    root = tree({"in/a": text(1), "in/b": text(1), "out/c": text(1)})
    (root / "in" / "way").symlink_to(root / "out")

    plan = planned(saved(root / "in", filters=Filters(follow_symlinks=True)), "newest")

    assert names(plan) == {"a": "b"}
    assert left(plan) == {"c": Refusal.OUTSIDE}


# Files that are not as they were seen


def test_a_file_that_changed_or_is_gone_is_neither_kept_nor_acted_on(tree):
    root = tree({name: text(1) for name in "abcdefg"})
    result = saved(root)
    (root / "a").unlink()
    (root / "b").write_text("other")
    (root / "c").unlink()
    (root / "c").symlink_to("d")
    (root / "g").unlink()
    (root / "g").mkdir()

    plan = planned(result, "oldest")

    assert names(plan) == {"e": "d", "f": "d"}
    assert left(plan) == {
        "a": Refusal.GONE,
        "b": Refusal.CHANGED,
        "c": Refusal.NOT_A_FILE,
        "g": Refusal.NOT_A_FILE,
    }


def test_a_file_of_which_only_the_ctime_is_another_is_the_file_if_its_bytes_are_the_same(tree):
    root = tree({"a": text(1), "b": text(1), "c": text(1)})
    result = saved(root)
    now = (root / "c").stat()
    (root / "c").write_text(text(1).swapcase())
    for name in "bc":
        os.utime(root / name, ns=(now.st_atime_ns, (root / name).stat().st_mtime_ns))
    os.utime(root / "c", ns=(now.st_atime_ns, now.st_mtime_ns))
    (root / "b").chmod(0o600)

    plan = planned(result, "oldest")

    assert names(plan) == {"b": "a"}
    assert left(plan) == {"c": Refusal.CHANGED}
    assert plan.actions[0].file.ctime_ns == (root / "b").stat().st_ctime_ns


def test_a_similar_file_that_changed_is_to_go_and_is_refused(tree):
    root = tree({"a": text(1), "b": text(1, changed=6)})
    result = saved(root)
    (root / "b").write_text("other")
    wishes = Wishes(Rules([rule_of("oldest")]), consents=Consents(near=0.9))

    outcome = apply(make_plan(result, wishes, "found.json", "0" * 32), wishes.consents)

    assert [why for _, why in outcome.refused] == ["changed since the scan"]


def test_a_group_of_which_all_files_changed_says_so_of_those_that_would_have_gone(tree):
    root = tree({"a": text(1), "b": text(1), "c": text(1)})
    result = saved(root)
    for name in "abc":
        (root / name).write_text("other")

    plan = make_plan(result, Wishes(Rules([rule_of("oldest")])), "found.json", "0" * 32)

    assert names(plan) == {"b": "a", "c": "a"}


def test_paths_of_a_plan_have_no_link_among_their_folders(tree):
    root = tree({"really/a": text(1), "really/b": text(1)})
    (root / "link").symlink_to("really")

    plan = planned(saved(root / "link"), "oldest")

    assert plan.actions[0].file.path == str(root / "really" / "b")
    assert plan.header.roots == (str(root / "really"),)


def test_relative_paths_of_a_result_are_below_the_folder_of_the_scan(tree, monkeypatch):
    root = tree({"docs/a": text(1), "docs/b": text(1)})
    monkeypatch.chdir(root)
    result = saved("docs")
    monkeypatch.chdir("/")

    assert planned(result, "oldest").actions[0].file.path == str(root / "docs" / "b")


def test_files_named_one_by_one_are_acted_on_in_their_folders_only(tree):
    root = tree({"x/a": text(1), "y/b": text(1)})
    result = saved(root / "x" / "a", root / "y" / "b", are_files=True)

    plan = planned(result, "oldest")

    assert {*plan.header.roots} == {str(root / "x"), str(root / "y")}
    assert names(plan) == {"b": "a"}


# Folders


# The files of a folder.
FOUR = {f"{n}.txt": text(n) for n in range(4)}


def folders(contents):
    return {
        f"{folder}/{name}": each
        for folder, files in contents.items()
        for name, each in files.items()
    }


def test_a_folder_whose_files_all_stand_in_another_goes_whole(tree):
    root = tree(folders({"copy": FOUR, "docs": FOUR | {"5.txt": text(5)}}))

    # By default the older files would be kept, those in "copy".
    plan = planned(saved(root))

    assert {os.path.dirname(each.file.path) for each in plan.actions} == {str(root / "copy")}
    assert {each.why for each in plan.actions} == {
        f"all of {root / 'copy'} is in {root / 'docs'} too"
    }


def test_the_users_rules_come_before_a_whole_folder(tree):
    root = tree(folders({"copy": FOUR, "docs": FOUR | {"5.txt": text(5)}}))

    plan = planned(saved(root), "oldest")

    assert {os.path.dirname(each.file.path) for each in plan.actions} == {str(root / "docs")}
    assert {each.why for each in plan.actions} == {"oldest"}


def test_of_two_folders_with_the_same_files_the_one_that_the_rules_prefer_stays(tree):
    root = tree(folders({"a": FOUR, "b": FOUR}))
    for name in ("0.txt", "1.txt", "2.txt"):
        os.utime(root / "b" / name, (2_000_000, 2_000_000))
    os.utime(root / "a" / "3.txt", (3_000_000, 3_000_000))

    plan = planned(saved(root), "newest")

    assert {os.path.dirname(each.file.path) for each in plan.actions} == {str(root / "a")}


@pytest.mark.parametrize("protected", ["a", "b"])
def test_the_folder_without_a_protected_file_is_removed_whole(tree, protected):
    root = tree(folders({"a": FOUR, "b": FOUR}))
    protection = Protection((str(root / protected / "0.txt"),))

    plan = planned(saved(root), "newest", protection=protection)

    removed = {os.path.dirname(each.file.path) for each in plan.actions}
    assert removed == {str(root / ("b" if protected == "a" else "a"))}
    assert len(plan.actions) == len(FOUR)


def test_no_file_is_removed_of_two_folders_that_both_have_a_protected_file(tree):
    root = tree(folders({"a": FOUR, "b": FOUR}))
    protection = Protection((str(root / "a" / "0.txt"), str(root / "b" / "1.txt")))

    plan = planned(saved(root), "newest", protection=protection)

    assert plan.actions == ()
    assert {each.why.refusal for each in plan.left} == {
        *(Refusal.PARTED, Refusal.PREFERRED, Refusal.PROTECTED)
    }


def test_a_plan_removes_nothing_of_a_folder_of_which_one_file_has_changed(tree):
    root = tree(folders({"a": FOUR, "b": FOUR}))
    plan = planned(saved(root))
    changed = plan.actions[2]
    with open(changed.file.path, "a", encoding="utf-8") as file:
        file.write("More.\n")

    dry = narrowed(plan, Consents(), Protection(), is_dry=True)
    assert dry.actions == ()
    assert sorted(each.why.refusal.name for each in dry.left) == ["CHANGED", *["PARTED"] * 3]
    assert narrowed(plan, Consents(), Protection()).actions == (changed,)


# Hard links


def test_another_name_of_the_kept_file_is_left(tree):
    root = tree({"a": text(1), "b": text(1)})
    os.link(root / "a", root / "link")
    result = saved(root)  # has one name of each file
    (group,) = result.groups
    links = altered(result, "a", path=str(root / "link")).groups[0].members
    members = {*group.members, *links}
    both = replace(result, groups=(group._replace(members=tuple(members)),))

    plan = planned(both, "oldest", "shortest-path")

    assert names(plan) == {"b": "a"}
    assert left(plan) == {"link": Refusal.SAME_FILE}
    assert plan.actions[0].keep.links == 2


# Results that will not do


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("base", "/a\0b", "is no possible name of a file"),
        ("roots", ("/a\0b",), "is no possible name of a file"),
        ("references", ("/a\0b",), "is no possible name of a file"),
        ("complete", False, "this scan was interrupted"),
        ("links", 0, "does not say exactly which files"),
        ("ctime_ns", 0, "does not say exactly which files"),
    ],
)
def test_a_result_that_will_not_do_is_refused(tree, field, value, words):
    result = saved(tree({"a": text(1), "b": text(1)}))
    change = altered if field in Source._fields else replace
    given = (result, "a") if change is altered else (result,)

    with pytest.raises(InputError, match=rf"'found\.json': .*{words}"):
        planned(change(*given, **{field: value}))


@pytest.mark.parametrize("odd", ["{root}/in/.", "{root}/in/..", "{root}/in/", "{root}/in//b"])
def test_a_path_of_a_result_that_a_plan_cannot_name_makes_no_plan_that_is_refused(tree, odd):
    root = tree({"in/a": text(1), "in/b": text(1)})

    plan = planned(altered(saved(root), "b", path=odd.format(root=root)), "oldest")

    assert {*names(plan)} <= {"b"}


# A plan that was written before


def test_a_plan_needs_the_consents_again(tree):
    contents = {"a": text(1), "b": text(1), "c": text(1).encode("utf-16"), "d": text(1, changed=6)}
    plan = planned(saved(tree(contents)), "oldest", text=True, near=0.8)
    assert {*names(plan)} == {"b", "c", "d"}

    assert {*names(narrowed(plan, Consents(), Protection(), None))} == {"b"}
    assert {*names(narrowed(plan, Consents(text=True), Protection(), None))} == {"b", "c"}
    assert {*names(narrowed(plan, Consents(near=0.8), Protection(), None))} == {"b", "d"}
    assert {*names(narrowed(plan, Consents(near=0.99), Protection(), None))} == {"b"}
    deleted = narrowed(plan, Consents(text=True, near=0.8), Protection(), Act.DELETE)
    assert deleted.actions == ()


def test_a_plan_obeys_what_is_protected_now(tree):
    root = tree({"a": text(1), "b": text(1), "c": text(1)})
    plan = planned(saved(root), "oldest")

    kept = narrowed(plan, Consents(), Protection((str(root / "b"),)), None)

    assert names(kept) == {"c": "a"}
    assert left(kept) == {"b": Refusal.PROTECTED}


@pytest.mark.parametrize(
    ("path", "refusal"), [("/etc/passwd", Refusal.OUTSIDE), ("{root}/.git/config", Refusal.NOISE)]
)
@pytest.mark.parametrize("which", ["file", "keep"])
def test_a_forged_plan_reaches_nothing_outside_its_roots_and_nothing_in_noise(
    tree, path, refusal, which
):
    root = tree({"a": text(1), "b": text(1)})
    plan = planned(saved(root), "oldest")
    (action,) = plan.actions
    file = replace(getattr(action, which), path=path.format(root=root))
    forged = replace(plan, actions=(replace(action, **{which: file}),))

    kept = narrowed(forged, Consents(), Protection(), None)

    assert kept.actions == ()
    assert {each.why.refusal for each in kept.left} == {refusal}


def test_a_plan_remembers_what_was_protected_when_it_was_made(tree):
    root = tree({"new/a": text(1), "ref/b": text(1)})
    result = saved(root / "new", against=[str(root / "ref")])
    plan = planned(result, "oldest", protection=Protection((str(root / "new" / "a"),)))
    assert {*plan.header.protected} == {str(root / "new" / "a"), str(root / "ref")}
    (action,) = planned(result, "oldest").actions
    forged = replace(plan, actions=(replace(action, file=action.keep, keep=action.file),))

    for each in (forged, replace(forged, actions=(action,))):
        assert narrowed(each, Consents(), Protection(), None).actions == ()


def test_a_dry_run_of_a_plan_leaves_what_a_link_leads_to_now(tree):
    root = tree({"one/a": text(1), "two/b": text(1), "two/c": text(2), "one/d": text(2)})
    plan = planned(saved(root), "under=" + str(root / "one"))
    assert names(plan) == {"b": "a", "c": "d"}

    os.rename(root / "two", root / "was-two")
    os.symlink("was-two", root / "two")

    kept = narrowed(plan, Consents(), Protection(), is_dry=True)
    assert (kept.actions, left(kept)) == (
        (),
        {"b": Refusal.LINK_IN_PATH, "c": Refusal.LINK_IN_PATH},
    )


@pytest.mark.parametrize(
    "protection", [Protection(names=("b*",)), Protection(only_under=("{root}/new",))]
)
def test_a_plan_remembers_names_and_only_under_too(tree, protection):
    root = tree({"new/a": text(1), "old/b": text(1)})
    only = tuple(each.format(root=root) for each in protection.only_under)
    protection = replace(protection, only_under=only)
    plan = planned(saved(root), "under=" + str(root / "old"), protection=protection)
    assert names(plan) == {"a": "b"}
    (action,) = plan.actions
    turned = replace(plan, actions=(replace(action, file=action.keep, keep=action.file),))

    for now in (Protection(), Protection(only_under=(str(root / "old"),))):
        assert narrowed(turned, Consents(), now).actions == ()


# Archives and compressed files


def test_a_compressed_copy_goes_only_with_consent(tree):
    root = tree({"a": text(1), "b.gz": gzip.compress(text(1).encode(), mtime=0)})
    result = saved(root)

    assert left(planned(result, "oldest", text=True)) == {"b.gz": Refusal.PACKED}
    assert names(planned(result, "oldest", text=True, formats=True)) == {"b.gz": "a"}


def test_a_member_of_an_archive_and_a_doubtful_text_are_never_acted_on(tree):
    bad = text(1).replace(" ", " \ufffd")
    result = saved(tree({"a": text(1), "b": bad, "c": text(1), "d": text(1)}))

    plan = planned(altered(result, "a", archive=Source("z.zip", 1, 0, 0, 0, 0)), "oldest")

    assert names(plan) == {"d": "c"}
    assert left(plan) == {"a": Refusal.MEMBER, "b": Refusal.DOUBTFUL}


# Plans larger than anybody means

SEEN = FileId("/f", 1, 2, 3, 4, 5, b"b" * 16, b"t" * 16)
ACTION = Action(2, 1, SEEN, Act.TRASH, SEEN, None, "")


def losing(groups, found=0):
    """A plan whose groups lose so many files, in a scan of `found` files."""
    actions = [
        replace(ACTION, group=group) for group, size in enumerate(groups, 1) for _ in range(size)
    ]
    header = Header("", "", "", (), (), found)
    return Plan(tuple(actions), (), header)


@pytest.mark.parametrize(
    ("groups", "found", "words"),
    [
        ([20], 41, ""),
        ([21], 99, "21 files of group 1 would be removed, more than --most 20; kept: "),
        ([1, 21], 99, "21 files of group 2 would be removed, more than --most 20; kept: "),
        ([1] * 1000, 2000, ""),
        ([1] * 1001, 3000, "1,001 files would be removed, more than --most-files 1,000"),
        ([10, 10, 10], 60, ""),
        ([10, 10, 11], 60, "31 of the 60 files of the scan would be removed"),
        ([10, 9], 20, ""),
        ([], 0, ""),
    ],
)
def test_a_plan_that_is_unusually_large_says_so(groups, found, words):
    said = excess(losing(groups, found))
    assert said.startswith(words) if words else not said


def test_the_limits_are_the_users():
    said = excess(losing([3]), most=2)
    assert said.startswith("3 files of group 1 would be removed, more than --most 2; kept: ")
    assert excess(losing([3]), most=99, most_files=2)
    assert not excess(losing([99]), most=99, most_files=99)
