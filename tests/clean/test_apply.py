"""What is done with the files of a plan, and what is refused."""

from __future__ import annotations

import gzip
import os
import shutil
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from plans import ACTS, TEXT, action, part, plan, reasons, seen, tree, write

from simdup.clean.acting import Acting
from simdup.clean.apply import apply
from simdup.clean.journal import Journal, begun, read_journal
from simdup.clean.plan import Act, Consents, Plan
from simdup.clean.planning import narrowed
from simdup.clean.protection import Protection
from simdup.clean.refusals import Refusal
from simdup.clean.undo import resume, undo
from simdup.errors import InputError
from simdup.extract.readers import Readers
from simdup.files.read import CHUNK, SkipError
from simdup.records import Reason
from simdup.settings import Limits

pytestmark = pytest.mark.usefixtures("folder", "data")


def test_a_copy_goes_to_the_trash_and_comes_back(data):
    write(a=TEXT, in__b=TEXT)
    os.utime("in", ns=(1, 2_000_000_001))
    before = tree(".")

    outcome = apply(plan(("a", "in/b")), Consents())

    assert (outcome.planned, outcome.done, outcome.refused, outcome.left) == (1, 1, [], 0)
    assert outcome.code == 0
    assert not os.path.lexists("in/b")
    assert (data / "Trash/files/b").read_text() == TEXT
    back = undo(outcome.journal, apply=True)
    assert (back.done, back.refused) == (1, [])
    assert tree(".") == before
    assert not any((data / "Trash/info").iterdir())
    again = undo(outcome.journal, apply=True)
    assert (again.planned, again.done, again.left, again.code) == (1, 0, 1, 0)


def test_the_last_line_adds_up_and_one_refusal_leaves_the_others(data):
    write(a=TEXT, b=TEXT, c=TEXT, d=TEXT)
    made = plan(("a", "b"), ("a", "c"), ("a", "d"))
    Path("c").write_text("edited")

    outcome = apply(made, Consents())

    assert (outcome.planned, outcome.done, len(outcome.refused), outcome.left) == (3, 2, 1, 0)
    assert outcome.code == 3
    assert reasons(outcome) == ["changed since the scan"]
    assert sorted(os.listdir()) == ["a", "c"]
    assert sorted(os.listdir(data / "Trash/files")) == ["b", "d"]


def test_a_copy_that_is_read_in_several_chunks_is_deleted():
    long = "".join(f"{number} {TEXT}" for number in range(2 * CHUNK // len(TEXT)))
    write(a=long, b=long)

    assert apply(plan(("a", "b"), act=Act.DELETE), ACTS).done == 1
    assert os.listdir() == ["a"]


def test_an_empty_plan_writes_no_journal():
    outcome = apply(plan(), Consents())

    assert (outcome.planned, outcome.code, outcome.journal) == (0, 0, None)


def edited_with_its_time_and_size():
    status = os.stat("in/b")
    Path("in/b").write_text(TEXT.swapcase())
    os.utime("in/b", ns=(status.st_atime_ns, status.st_mtime_ns))


def behind_a_link(path):
    os.rename(path, "elsewhere")
    os.symlink(os.path.abspath("elsewhere"), path)


def replaced_by(make):
    os.unlink("in/b")
    make("in/b")


SPOILT = {
    "gone": (lambda: os.unlink("in/b"), "gone already"),
    "edited": (lambda: Path("in/b").write_text(TEXT.upper()), "changed since the scan"),
    "of the same time and size": (
        edited_with_its_time_and_size,
        "not what the plan says of it and the kept file (their bytes differ)",
    ),
    "a link": (lambda: behind_a_link("in/b"), "no longer a regular file"),
    "in a link": (
        lambda: behind_a_link("in"),
        "reached through a symbolic link, or a folder of its path is gone",
    ),
    "a folder": (lambda: replaced_by(os.mkdir), "no longer a regular file"),
    "a FIFO": (lambda: replaced_by(os.mkfifo), "no longer a regular file"),
    "kept gone": (lambda: os.unlink("keep/a"), "the kept file is gone"),
    "kept edited": (
        lambda: Path("keep/a").write_text(TEXT.upper()),
        "the kept file changed since the scan",
    ),
    "kept in a link": (
        lambda: behind_a_link("keep"),
        "the kept file is gone (reached through a symbolic link, or a folder of its path is gone)",
    ),
    "kept touched": (lambda: os.utime("keep/a", ns=(0, 0)), "the kept file changed since the scan"),
}


@pytest.mark.parametrize("act", [Act.TRASH, Act.DELETE, Act.LINK])
@pytest.mark.parametrize("name", ["keep/a", "in/b"])
def test_a_file_with_the_noted_bytes_size_and_time_is_the_file(name, act):
    """As after an undo across file systems, or of links: ctime and inode are others."""
    write(keep__a=TEXT, in__b=TEXT)
    made = plan(("keep/a", "in/b"), act=act)
    Path("new").write_text(TEXT)
    os.utime("new", ns=(0, os.stat(name).st_mtime_ns))
    os.replace("new", name)
    before = tree(".")

    assert narrowed(made, ACTS, Protection(), is_dry=True).actions == made.actions
    outcome = apply(made, ACTS)

    assert (outcome.done, outcome.refused) == (1, [])
    if act is not Act.DELETE:
        assert undo(outcome.journal, apply=True).refused == []
        assert tree(".") == before


@pytest.mark.parametrize("act", Act)
@pytest.mark.parametrize(("spoil", "why"), SPOILT.values(), ids=SPOILT)
def test_what_is_not_as_the_scan_saw_it_is_left_alone(spoil, why, act):
    write(keep__a=TEXT, in__b=TEXT)
    made = plan(("keep/a", "in/b"), act=act)
    spoil()
    before = tree(".")

    outcome = apply(made, ACTS, to="to")

    assert reasons(outcome) == [why]
    assert tree(".") == before


def forged(file=None, keep=None, act=Act.TRASH):
    """A plan whose ids are not those that a scan would have seen."""
    return Plan((action(keep or seen("a"), file or seen("b"), act),), (), plan().header)


def test_equal_files_are_not_acted_on_if_their_bytes_are_not_those_of_the_plan():
    write(a=TEXT, b=TEXT)
    keep, file = (replace(seen(name), byte_digest=bytes(16)) for name in "ab")

    outcome = apply(forged(file, keep), Consents())

    assert reasons(outcome) == [
        "not what the plan says of it and the kept file (its bytes are not those of the plan)"
    ]


def test_a_kept_file_that_is_longer_is_not_the_same():
    write(a=TEXT + "more", b=TEXT)
    digest = seen("b").byte_digest

    outcome = apply(forged(keep=replace(seen("a"), byte_digest=digest)), Consents())

    assert reasons(outcome)[0].startswith("not what the plan says")


def test_the_kept_file_under_another_name_is_not_acted_on():
    write(a=TEXT)
    os.link("a", "b")

    outcome = apply(plan(("a", "b")), Consents())

    assert reasons(outcome) == ["the kept file itself, under another name"]
    assert sorted(os.listdir()) == ["a", "b"]


def test_a_kept_file_that_goes_keeps_nothing():
    write(a=TEXT, b=TEXT, c=TEXT)

    outcome = apply(plan(("a", "b"), ("b", "c"), ("c", "a")), Consents())

    assert reasons(outcome) == [
        f"the kept file is itself acted on (by line {line})" for line in (4, 2, 3)
    ]
    assert sorted(os.listdir()) == ["a", "b", "c"]


def test_a_kept_file_that_goes_under_its_other_name_keeps_nothing():
    write(a=TEXT, b=TEXT, c=TEXT)
    os.link("a", "a2")

    outcome = apply(plan(("a", "b"), ("c", "a2")), Consents())

    assert [why.partition(" (")[0] for why in reasons(outcome)] == [
        "the kept file is itself acted on"
    ]
    assert sorted(os.listdir()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "kept", [".git/a", ".Trash-1000/files/a", "Trash/files/a", ".snapshots/1/a"]
)
def test_nothing_in_a_trash_or_snapshot_is_kept_or_acted_on(kept):
    name = kept.replace("/", "__")
    write(**{name: TEXT, "b": TEXT})

    for pair in ((kept, "b"), ("b", kept)):
        (why,) = reasons(apply(plan(pair), Consents()))
        assert why.startswith("in a folder of a trash, a cache, snapshots or version control")
    assert Path("b").exists()
    assert Path(kept).exists()


def test_nothing_outside_the_roots_is_touched():
    write(docs__a=TEXT, docs__b=TEXT, documents__c=TEXT)

    outcome = apply(
        plan(("docs/a", "documents/c"), ("documents/c", "docs/b"), roots=["docs"]), Consents()
    )

    assert [why.partition(" (")[0] for why in reasons(outcome)] == [
        "outside the folders of the scan"
    ] * 2


def test_consents_come_from_the_command_line_alone():
    write(a="Grüße " + TEXT, c="another text altogether\n", d=TEXT, e=TEXT.replace("two", "three"))
    Path("b").write_bytes(("Grüße " + TEXT).encode("utf-16"))
    write(h=f"<html><body><p>{TEXT}</p></body></html>", i=TEXT.strip())
    made = plan(("a", "b"), ("d", "e"), ("i", "h"))

    lacking = "not allowed on the command line ({})".format
    assert reasons(apply(made, Consents())) == [
        *map(lacking, (Refusal.TEXT.value, Refusal.NEAR.value, Refusal.WORDS.value))
    ]
    assert reasons(apply(made, Consents(text=True)))[1:] == [lacking(Refusal.WORDS.value)]
    assert not os.path.lexists("b")
    assert reasons(apply(made, Consents(formats=True))) == [
        *map(lacking, (Refusal.TEXT.value, Refusal.NEAR.value))
    ]
    assert not os.path.lexists("h")


def test_a_text_whose_bytes_are_not_those_of_the_plan_is_not_acted_on():
    write(a="Grüße " + TEXT)
    Path("b").write_bytes(("Grüße " + TEXT).encode("utf-16"))
    other = replace(seen("b"), byte_digest=bytes(16))

    assert reasons(apply(forged(other), Consents(text=True))) == ["changed since the scan"]


def test_a_compressed_text_is_a_document_whatever_a_plan_says_of_it():
    write(a=TEXT)
    Path("b").write_bytes(gzip.compress(TEXT.encode()))

    plain = replace(seen("b"), is_packed=False)
    (why,) = reasons(apply(forged(plain), Consents(text=True)))

    assert why.endswith(f"({Refusal.PACKED.value})")


def test_plain_texts_with_the_same_words_do_not_go_as_documents_whatever_a_plan_says_of_them():
    write(a=TEXT + "if a:\n  b\nc", b=TEXT + "if a:\n  b\n  c")
    files = [replace(seen(each), words_digest=bytes(16), is_whole_text=False) for each in "ba"]

    (why,) = reasons(apply(forged(*files), Consents(text=True, formats=True)))

    assert why == f"not allowed on the command line ({Refusal.LAYOUT.value})"
    assert os.path.exists("b")


def test_documents_with_the_same_words_and_other_signs_do_not_go_whatever_a_plan_says_of_them():
    write(a=TEXT + "a == b", b=TEXT + "a != b")
    files = [replace(seen(each), words_digest=bytes(16), is_whole_text=False) for each in "ba"]

    (why,) = reasons(apply(forged(*files), Consents(text=True, formats=True)))

    assert why.endswith("(their signs differ)")
    assert os.path.exists("b")


def test_a_similar_document_goes_with_both_consents():
    write(a=TEXT, h=f"<html><body><p>{TEXT.replace('two', 'three')}</p></body></html>")
    made = plan(("a", "h"))

    (why,) = reasons(apply(made, Consents(near=0.5)))
    outcome = apply(made, Consents(near=0.5, formats=True))

    assert why.endswith(f"({Refusal.NEAR_DOCUMENT.value})")
    assert outcome.done == 1


def test_the_similarity_to_the_kept_file_is_computed_now():
    write(a=TEXT, b=TEXT.replace("two", "three"))
    made = plan(("a", "b"))
    made = replace(made, actions=(replace(made.actions[0], contained=0.999),))

    (why,) = reasons(apply(made, Consents(near=0.99)))
    outcome = apply(made, Consents(near=0.5))

    assert why.startswith("not similar enough to the kept file (88.")
    assert outcome.done == 1


INVOICE = f"Invoice {{}} of 3 May 2025\n{TEXT}"


def test_a_near_file_with_other_facts_than_the_kept_one_is_refused():
    write(a=INVOICE.format(4711), b=INVOICE.format(4712))

    outcome = apply(plan(("a", "b")), Consents(near=0.5))

    kept = "not similar enough to the kept file (other numbers: 4712 / 4711)"
    assert reasons(outcome) == [kept]
    assert os.path.exists("b")


def test_facts_are_those_of_the_texts_when_a_plan_is_carried_out():
    write(a=INVOICE.format(4711), b=INVOICE.format(4711).replace("two", "three"))
    made = plan(("a", "b"))

    write(b=INVOICE.format(4712))
    made = replace(made, actions=(replace(made.actions[0], file=seen("b")),))

    assert reasons(apply(made, Consents(near=0.5)))[0].endswith("(other numbers: 4712 / 4711)")
    assert os.path.exists("b")


def test_a_near_file_with_other_facts_goes_if_a_person_decided():
    write(a=INVOICE.format(4711), b=INVOICE.format(4712))
    made = plan(("a", "b"))

    made = replace(made, actions=(replace(made.actions[0], is_reviewed=True),))
    (why,) = reasons(apply(made, Consents()))
    outcome = apply(made, Consents(near=0.5))

    assert why == f"not allowed on the command line ({Refusal.NEAR.value})"
    assert outcome.done == 1


@pytest.mark.parametrize(
    ("names", "done"),
    [(("lease v2", "lease v1"), 1), (("lease final", "lease"), 1), (("north", "south"), 0)],
)
def test_facts_keep_no_file_whose_name_makes_it_a_version_of_the_kept_one(names, done):
    kept, file = names
    write(**{kept: INVOICE.format(4711), file: INVOICE.format(4712)})

    assert apply(plan((kept, file)), Consents(near=0.5)).done == done


def test_a_text_that_is_not_what_the_plan_says_is_not_acted_on():
    write(a="Grüße " + TEXT)
    Path("b").write_bytes(("Grüße " + TEXT.upper()).encode("utf-16"))
    other = replace(seen("b"), text_digest=seen("a").text_digest)

    (why,) = reasons(apply(forged(other), Consents(text=True)))

    assert why.endswith("(their texts differ)")


@pytest.mark.parametrize("end", ["\r\n", " end"])
@pytest.mark.parametrize("whole", [100, 1 << 20])
def test_texts_of_which_one_has_a_damaged_character_prove_nothing(monkeypatch, whole, end):
    """Two different characters may both have become U+FFFD."""
    readers = partial(Readers, limits=Limits(whole_bytes=whole))
    monkeypatch.setattr("simdup.clean.checks.Readers", readers)
    damaged = TEXT.strip() + "\ufffd" + TEXT
    for name, ending in (("a", "\n"), ("b", end)):
        Path(name).write_bytes((damaged.strip() + ending).encode())

    outcome = apply(plan(("a", "b")), Consents(text=True, formats=True, near=0.5))

    assert reasons(outcome) == [f"one of the texts proves nothing ({Refusal.UNCERTAIN.value})"]


def test_short_texts_are_never_merely_similar_whatever_a_plan_says():
    write(a="one two three four five six seven", b="one two three four five six eight")

    outcome = apply(plan(("a", "b")), Consents(near=0.1))

    assert reasons(outcome) == [f"one of the texts proves nothing ({Refusal.SHORT.value})"]


@pytest.mark.parametrize("act", [Act.MOVE, Act.LINK, Act.REFLINK, Act.DELETE])
def test_each_act_but_the_trash_needs_its_own_word(act):
    write(a=TEXT, b=TEXT)
    made, wish = plan(("a", "b"), act=act), f"not consented: {act.value} needs --{act.option}"
    others = replace(ACTS, text=True, formats=True, near=0.5, **{act.option: False})
    before = tree(".")

    (left,) = narrowed(made, others, Protection()).left

    assert str(left.why) == wish
    begun("journal", made.header, made.actions, to=os.path.abspath("to")).close()
    if act is Act.MOVE:
        for run in (lambda: apply(made, others), lambda: resume("journal", others)):
            with pytest.raises(InputError, match="--to DIR says where"):
                run()
    else:
        refusals = [f"not allowed on the command line ({wish})"]
        assert reasons(apply(made, others)) == reasons(resume("journal", others)) == refusals
    assert {"./journal": tree(".").pop("./journal"), **before}.keys() == tree(".").keys()
    assert not os.path.samefile("a", "b")


def test_a_run_goes_on_only_with_the_folder_of_its_journal():
    write(a=TEXT, b=TEXT)
    made = plan(("a", "b"), act=Act.MOVE)
    begun("journal", made.header, made.actions, to=os.path.abspath("to")).close()
    os.mkdir("to")

    with pytest.raises(InputError, match=r"moves files to '.*/to', not to '.*/elsewhere'"):
        resume("journal", Consents(), to="elsewhere")
    assert resume("journal", Consents(), to="to").done == 1
    assert os.listdir("to") == ["b"]


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        (Reason.CHANGED, "changed since the scan (changed while read)"),
        (Reason.BINARY, "its text could not be read again (binary)"),
    ],
)
def test_a_text_that_cannot_be_read_again_is_not_acted_on(monkeypatch, reason, why):
    write(a="Grüße " + TEXT)
    Path("b").write_bytes(("Grüße " + TEXT).encode("utf-16"))

    def skipped(*_):
        raise SkipError(reason)

    made = plan(("a", "b"))
    monkeypatch.setattr("simdup.clean.checks.read_text", skipped)

    assert reasons(apply(made, Consents(text=True))) == [why]


def test_a_large_text_is_read_in_pieces_and_compared(monkeypatch):
    readers = partial(Readers, limits=Limits(whole_bytes=1000))
    monkeypatch.setattr("simdup.clean.checks.Readers", readers)
    monkeypatch.setattr("simdup.clean.checks.read_text", None)
    long = "".join(f"{TEXT} {number}\n" for number in range(100))
    write(a=long, c=long.replace("one", "1"))
    Path("b").write_bytes(long.encode("utf-16"))

    outcome = apply(plan(("a", "b"), ("a", "c")), Consents(text=True, near=0.5))

    assert (outcome.done, outcome.refused) == (2, [])


def test_in_a_container_files_have_other_devices_than_their_folders(data, monkeypatch):
    """An overlay file system, of which folders have one device and files those of its layers."""
    write(docs__a=TEXT, docs__b=TEXT, docs__c=TEXT)
    layer, status, of_open = 12345, os.stat, os.fstat

    def moved(found):
        if found.st_mode & 0o040000:
            return found
        times = (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)
        named = {f"st_{name}time_ns": value for name, value in zip("amc", times, strict=True)}
        return os.stat_result((*found[:2], layer, *found[3:10]), named)

    monkeypatch.setattr(os, "stat", lambda *given, **named: moved(status(*given, **named)))
    monkeypatch.setattr(os, "lstat", lambda path: moved(status(path, follow_symlinks=False)))
    monkeypatch.setattr(os, "fstat", lambda descriptor: moved(of_open(descriptor)))

    outcome = apply(plan(("docs/a", "docs/b"), roots=["docs"]), Consents())
    moved_ = apply(plan(("docs/a", "docs/c"), act=Act.MOVE, roots=["docs"]), Consents(), to="to")

    assert (outcome.done, moved_.done) == (1, 1)
    assert (data / "Trash/files/b").exists()
    assert os.listdir("docs") == ["a"]
    assert undo(moved_.journal, apply=True).done == 1
    assert undo(outcome.journal, apply=True).done == 1


def test_deleting_leads_to_no_undo():
    write(a=TEXT, b=TEXT)

    outcome = apply(plan(("a", "b"), act=Act.DELETE), ACTS)

    assert outcome.done == 1
    assert os.listdir() == ["a"]
    back = undo(outcome.journal, apply=True)
    assert reasons(back) == ["deleted for good"]
    assert back.code == 3


@pytest.mark.parametrize("act", [Act.DELETE, Act.LINK, Act.REFLINK])
def test_only_identical_bytes_are_deleted_or_linked(act):
    write(a="Grüße " + TEXT)
    Path("b").write_bytes(("Grüße " + TEXT).encode("utf-16"))

    everything = replace(ACTS, text=True, formats=True, near=0.8)
    (why,) = reasons(apply(plan(("a", "b"), act=act), everything))

    assert why == "not allowed on the command line (not identical in bytes)"
    assert Path("b").exists()


def test_moved_files_keep_their_folders_and_take_no_name(tmp_path_factory):
    to = tmp_path_factory.mktemp("away") / "sub"
    write(a=TEXT, x__y__b=TEXT, x__c=TEXT)
    to.mkdir()
    (to / "c").write_text("mine")
    before = tree(".")

    outcome = apply(plan(("a", "x/y/b"), ("a", "x/c"), act=Act.MOVE), Consents(), to=to)

    assert outcome.done == 2
    assert sorted(p.relative_to(to).as_posix() for p in to.rglob("*") if p.is_file()) == [
        *("c", "c (2)", "y/b")
    ]
    assert (to / "c").read_text() == "mine"
    assert undo(outcome.journal, apply=True).done == 2
    assert tree(".") == before
    assert os.listdir(to) == ["c"]


@pytest.mark.parametrize("to", ["x/old/deep", "x/y", "old", "."])
def test_a_tree_is_as_before_if_files_were_moved_within_it(to):
    write(a=TEXT, x__y__b=TEXT, x__c=TEXT)
    for each in (".", *Path().rglob("*")):
        os.utime(each, ns=(0, 1_700_000_000_123_456_789))
    made, before = plan(("a", "x/y/b"), ("a", "x/c"), act=Act.MOVE), tree(".")

    outcome = apply(made, Consents(), to=to)

    assert outcome.done == 2
    assert undo(outcome.journal, apply=True).done == 2
    assert tree(".") == before


def test_a_file_with_another_name_is_not_moved_to_another_file_system(monkeypatch):
    part(monkeypatch)
    write(a=TEXT, b=TEXT)
    os.link("b", "c")

    outcome = apply(plan(("a", "b"), act=Act.MOVE), Consents(), to="to")

    assert reasons(outcome) == ["it has other hard links (another file system would part them)"]
    assert os.path.samefile("b", "c")


def test_a_name_in_the_trash_is_no_name_that_a_link_replaces():
    write(a=TEXT, b=TEXT)
    os.link("b", "c")
    actions = action("a", "b", Act.TRASH, 2), action("a", "c", Act.LINK, 3)

    outcome = apply(Plan(actions, (), plan().header), ACTS)

    assert outcome.done == 1
    assert reasons(outcome) == ["it has other hard links (which are not in the plan)"]


def test_two_files_that_move_together_get_two_names(tmp_path_factory):
    to = tmp_path_factory.mktemp("away")
    write(a=TEXT)
    write(**{"x__n.txt": TEXT, "x__n (2).txt": TEXT})
    (to / "n.txt").write_text("mine")
    actions = plan(("a", "x/n.txt"), ("a", "x/n (2).txt"), act=Act.MOVE).actions

    with closing(Acting(actions, str(to))) as acting:
        targets = [os.path.basename(acting.intent(each).target) for each in actions]

    assert targets == ["n (2).txt", "n (2) (2).txt"]


@pytest.mark.parametrize("act", [Act.TRASH, Act.MOVE])
def test_a_file_gets_a_name_though_others_always_take_the_next_ones(
    act, data, tmp_path_factory, monkeypatch
):
    """Another run goes on while this one syncs its journal, and takes three names each time."""
    to = tmp_path_factory.mktemp("away")
    write(a=TEXT, **{"in__n.txt": TEXT})
    place = to if act is Act.MOVE else data / "Trash" / "files"
    place.mkdir(parents=True, exist_ok=True)
    names = [f"n ({n}).txt" if act is Act.MOVE else f"n.{n}.txt" for n in range(2, 100)]
    waiting = iter(["n.txt", *names])
    sync = Journal.sync

    def sync_while_others_go_on(self):
        free = (each for each in waiting if not (place / each).exists())
        for name in islice(free, 3):
            (place / name).write_text("another run's")
        sync(self)

    monkeypatch.setattr(Journal, "sync", sync_while_others_go_on)

    outcome = apply(plan(("a", "in/n.txt"), act=act), Consents(), to=to)

    assert reasons(outcome) == []
    assert sum(each.read_text() == TEXT for each in place.iterdir()) == 1


def test_a_run_that_cannot_begin_leaves_neither_a_journal_nor_a_folder_for_moved_files():
    write(a=TEXT, b=TEXT)
    made = plan(("a", "b"), act=Act.MOVE)
    before = tree(".")

    for to, journal, words in (
        ("new", "missing/journal", "No such file"),
        ("a", "journal", r"cannot move files to '.*/a': not a folder"),
        ("a/b", "journal", r"cannot move files to '.*/a/b': Not a directory"),
    ):
        with pytest.raises(InputError, match=words):
            apply(made, Consents(), to=to, journal=journal)

    assert tree(".", times=False).keys() == before.keys()


def test_a_journal_that_is_there_is_not_written_over():
    write(a=TEXT, b=TEXT, journal="mine")

    with pytest.raises(InputError, match="cannot make the journal 'journal': File exists"):
        apply(plan(("a", "b")), Consents(), journal="journal")

    assert Path("journal").read_text() == "mine"
    assert Path("b").exists()


def test_undo_leaves_the_time_of_a_folder_that_somebody_else_changed_since():
    write(a=TEXT, in__b=TEXT)
    os.utime("in", ns=(1, 2_000_000_001))
    outcome = apply(plan(("a", "in/b")), Consents())
    os.utime("in", ns=(1, 3_000_000_001))

    assert undo(outcome.journal, apply=True).done == 1

    assert os.stat("in").st_mtime_ns > 3_000_000_001


def test_undo_puts_nothing_over_what_took_the_name():
    write(a=TEXT, b=TEXT)
    outcome = apply(plan(("a", "b")), Consents())
    os.symlink("a", "b")

    back = undo(outcome.journal, apply=True)

    assert reasons(back) == ["its name has been taken"]
    assert os.readlink("b") == "a"


@pytest.mark.parametrize("act", [Act.TRASH, Act.MOVE])
def test_undo_leaves_and_names_the_copy_of_a_file_that_the_user_copied_back(act, data):
    write(a=TEXT, in__b=TEXT)
    outcome = apply(plan(("a", "in/b"), act=act), ACTS, to="to")
    there = data / "Trash/files/b" if act is Act.TRASH else Path("to/b").resolve()
    shutil.copy2(there, "in/b")

    for acts in (False, True, True):
        back = undo(outcome.journal, apply=acts)

        assert reasons(back) == [f"it has its name again; its copy stays ({there})"]
        assert (back.done, back.code) == (0, 3)
    assert there.read_text() == Path("in/b").read_text() == TEXT


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda file: file.write_text("edited"), "not as simdup left it ({})"),
        (Path.unlink, "neither under its name nor where it was put; was the trash emptied?"),
    ],
    ids=["edited", "emptied"],
)
def test_undo_says_what_became_of_a_file_in_the_trash(data, change, words):
    write(a=TEXT, b=TEXT)
    outcome = apply(plan(("a", "b")), Consents())
    file = data / "Trash/files/b"
    change(file)

    assert reasons(undo(outcome.journal, apply=True)) == [words.format(file)]
    assert not Path("b").exists()


def test_undo_of_an_undo_is_refused():
    write(a=TEXT, b=TEXT)
    outcome = apply(plan(("a", "b")), Consents())
    back = undo(outcome.journal, apply=True)

    with pytest.raises(InputError, match="journal of an undo"):
        undo(back.journal, apply=True)


def test_the_journal_says_what_was_done_and_is_private():
    write(a=TEXT, b=TEXT, c=TEXT)
    made = plan(("a", "b"), ("a", "c"))
    os.unlink("c")

    outcome = apply(made, Consents())

    history = read_journal(outcome.journal)
    assert [each.action for each in history.stories.values()] == list(made.actions)
    first, second = history.stories.values()
    assert first.done is not None
    assert second.refused == "gone already"
    assert os.stat(outcome.journal).st_mode & 0o777 == 0o600
    assert history.header.roots == made.header.roots


def test_hard_links_that_both_go_are_both_noted_as_freeing_nothing():
    write(a=TEXT, b=TEXT)
    os.link("b", "b2")
    before = tree(".")

    outcome = apply(plan(("a", "b"), ("a", "b2")), Consents())

    assert (outcome.done, outcome.frees_nothing) == (2, 2)
    undo(outcome.journal, apply=True)
    assert tree(".") == before
