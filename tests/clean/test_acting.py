"""simdup.clean.acting: what each action leaves, also when a step of it fails or comes too late."""

from __future__ import annotations

import errno
import os
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from plans import ACTS, TEXT, action, part, plan, reasons, write

from simdup.clean import acting, system
from simdup.clean.acting import Acting, check_linkable
from simdup.clean.apply import apply
from simdup.clean.checks import held
from simdup.clean.journal import Done, begun, read_journal
from simdup.clean.outcome import RefusedError
from simdup.clean.plan import Act, Consents, Plan
from simdup.clean.refusals import Refusal
from simdup.clean.system import Place, make_folder
from simdup.clean.undo import resume
from simdup.errors import InputError

pytestmark = pytest.mark.usefixtures("folder", "data", "no_descriptor_is_left")

NEW, OTHER = "a newer version\n", "somebody else's text\n"
BROKEN = "the system refused it (Input/output error)"
REPLACED = "another program replaced it at the last moment"


@pytest.fixture(autouse=True)
def _files(folder):  # noqa: ARG001  (files are in `folder`)
    write(a=TEXT, in__b=TEXT)


@pytest.fixture
def far(monkeypatch):
    """The folder for moved files is taken for another file system."""
    part(monkeypatch)


@pytest.fixture
def synced(monkeypatch):
    """The inodes of the folders that were synced, in order."""
    found, sync = [], acting.sync_folder

    def recorded(folder):
        found.append(os.fstat(folder).st_ino)
        sync(folder)

    for module in (acting, system):
        monkeypatch.setattr(module, "sync_folder", recorded)
    return found


def broken(*_, **__):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def meanwhile(monkeypatch, step, happens, of=acting):
    """Let something happen once, right before a step of an action; the step fails if that does."""
    function, waiting = getattr(of, step), [happens]

    def watched(*given):
        if waiting:
            waiting.pop()()
        return function(*given)

    monkeypatch.setattr(of, step, watched)


def acted(act, *files):
    made = plan(*(("a", each) for each in files or ["in/b"]), act=act)
    return apply(made, ACTS, journal="journal", to="to")


@contextmanager
def ready(act):
    """What `Acting.act` takes, and the object whose method it is, for one action."""
    (planned,) = plan(("a", "in/b"), act=act).actions
    with (
        closing(Acting([planned], os.path.realpath("to"))) as doing,
        closing(held(planned.keep, is_kept=True)) as kept,
        closing(held(planned.file)) as file,
    ):
        yield doing, (planned, doing.intent(planned), file, kept)


def inode(path):
    return os.stat(path).st_ino


def edit_kept():
    Path("a").write_text(NEW)


def edit_and_set_the_time_back():
    """Only the time that nobody can set tells that the file is another one now."""
    path = next(each for each in (Path("in/b"), *Path("in").iterdir()) if each.exists())
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_text(TEXT.swapcase())
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("act", "also"),
    [
        (Act.TRASH, ["Trash", "Trash", "Trash/files", "Trash/info"]),
        (Act.MOVE, ["to", "."]),
        (Act.LINK, []),
        (Act.DELETE, []),
    ],
)
def test_every_folder_in_which_a_name_comes_or_goes_is_synced(data, synced, act, also):
    made = plan(("a", "in/b"), act=act)

    assert apply(made, ACTS, to=data / "to").done == 1

    assert sorted(synced) == sorted([inode("in"), *(inode(data / each) for each in also)])


def test_a_folder_that_cannot_be_kept_open_is_synced_at_once(monkeypatch, synced):
    monkeypatch.setattr(os, "dup", broken)

    assert acted(Act.DELETE).done == 1

    assert synced == [inode("in")]


def test_closing_syncs_what_was_done_and_leaves_no_folder_open(synced):
    with ready(Act.DELETE) as (doing, given):
        doing.act(*given)
        assert synced == []

    assert synced == [inode("in")]


def test_the_folder_in_which_one_is_made_is_synced(synced):
    path = os.path.realpath("in/new")

    make_folder(path)
    make_folder(path)

    assert os.path.isdir(path)
    assert synced == [inode("in")]


@pytest.mark.usefixtures("far")
def test_a_copy_has_its_name_on_the_disk_before_the_file_goes(monkeypatch, synced):
    before = []
    os.mkdir("to")
    meanwhile(monkeypatch, "unlink", lambda: before.extend(synced), Place)

    assert acted(Act.MOVE).done == 1

    assert before == [inode("to")]
    assert os.listdir("to") == ["b"]


def test_only_the_moved_files_say_which_folders_they_keep():
    write(x__y__b=TEXT, z__c=TEXT)
    actions = action("a", "x/y/b", Act.MOVE, 2), action("a", "z/c", Act.TRASH, 3)

    assert apply(Plan(actions, (), plan().header), Consents(), to="to").done == 2

    assert os.listdir("to") == ["b"]


def test_a_file_that_is_moved_within_a_file_system_is_the_same_one():
    before = inode("in/b")

    assert acted(Act.MOVE).done == 1

    assert inode("to/b") == before


def test_a_journal_that_names_no_folder_for_moved_files_moves_none():
    made = plan(("a", "in/b"), act=Act.MOVE)
    begun("journal", made.header, made.actions).close()

    for to, words in ((None, "--to DIR says where"), ("to", "moves files to None, not to '/")):
        with pytest.raises(InputError, match=words):
            resume("journal", Consents(), to=to)
    assert os.listdir("in") == ["b"]


def test_it_is_noted_when_a_file_and_its_folder_were_changed_by_the_action(data):
    acted(Act.TRASH)

    (story,) = read_journal("journal").stories.values()
    assert story.done.ctime_ns == os.stat(data / "Trash/files/b").st_ctime_ns
    assert story.done.folder_ns == os.stat("in").st_mtime_ns


def test_what_is_done_is_done_if_its_times_cannot_be_read(monkeypatch):
    monkeypatch.setattr(acting, "share_blocks", lambda *_: None)

    with ready(Act.REFLINK) as (doing, given), monkeypatch.context() as blind:
        blind.setattr(os, "fstat", broken)
        assert doing.act(*given) == Done(2, *given[2].identity, 0, 0)


def test_a_file_that_cannot_be_thrown_away_leaves_no_note_in_the_trash(monkeypatch, data):
    monkeypatch.setattr(acting, "rename_at_once", broken)

    assert reasons(acted(Act.TRASH)) == [BROKEN]

    assert os.listdir("in") == ["b"]
    assert os.listdir(data / "Trash/info") == []


def test_what_cannot_be_put_back_from_the_trash_has_its_note_there(monkeypatch, data):
    rename = acting.rename_at_once

    def raced(source, target):
        Path("in/b").unlink()
        Path("in/b").write_text(OTHER)
        renamed = rename(source, target)
        Path("in/b").write_text(NEW)
        return renamed

    monkeypatch.setattr(acting, "rename_at_once", raced)

    there = data / "Trash/files/b"
    assert reasons(acted(Act.TRASH)) == [f"{REPLACED} (it is {there} now: File exists)"]
    assert (there.read_text(), Path("in/b").read_text()) == (OTHER, NEW)
    assert os.listdir(data / "Trash/info") == ["b.trashinfo"]


@pytest.mark.parametrize("act", [Act.TRASH, Act.MOVE, Act.DELETE, Act.LINK, "far"], indirect=True)
def test_a_file_stays_if_the_kept_one_is_edited_at_the_last_moment(monkeypatch, act):
    meanwhile(monkeypatch, "exchange" if act is Act.LINK else "rename_at_once", edit_kept)

    assert reasons(acted(act)) == [REPLACED]

    assert (Path("a").read_text(), Path("in/b").read_text()) == (NEW, TEXT)
    assert os.listdir("in") == ["b"]
    assert not os.path.exists("to") or os.listdir("to") == []


@pytest.mark.usefixtures("far")
@pytest.mark.parametrize(
    ("step", "of"), [("rename_new", acting), ("sync_folder", acting), ("unlink", Place)]
)
def test_a_file_that_cannot_be_moved_leaves_no_copy(monkeypatch, step, of):
    meanwhile(monkeypatch, step, broken, of)

    assert reasons(acted(Act.MOVE)) == [BROKEN]

    assert os.listdir("in") == ["b"]
    assert not os.path.exists("to")


@pytest.mark.usefixtures("far")
def test_a_copy_that_cannot_be_looked_at_does_not_stay(monkeypatch):
    copy_to = acting.copy_to

    with ready(Act.MOVE) as (doing, given), monkeypatch.context() as blind:

        def copied(*what):
            made = copy_to(*what)
            blind.setattr(os, "fstat", broken)
            return made

        blind.setattr(acting, "copy_to", copied)
        with pytest.raises(OSError, match="Input/output"):
            doing.act(*given)

    assert os.listdir("in") == ["b"]
    assert not os.path.exists("to")


@pytest.mark.usefixtures("far")
def test_a_file_that_is_edited_after_it_was_copied_is_not_removed(monkeypatch):
    os.mkdir("to")
    meanwhile(monkeypatch, "sync_folder", edit_and_set_the_time_back)

    assert reasons(acted(Act.MOVE)) == [REPLACED]

    assert Path("in/b").read_text() == TEXT.swapcase()
    assert (os.listdir("in"), os.listdir("to")) == (["b"], [])


@pytest.mark.usefixtures("far")
def test_what_took_the_name_of_a_copy_stays_if_the_file_cannot_be_removed(monkeypatch):
    def raced():
        Path("new").write_text(OTHER)
        os.replace("new", "to/b")
        broken()

    meanwhile(monkeypatch, "unlink", raced, Place)

    assert reasons(acted(Act.MOVE)) == [BROKEN]

    assert (Path("in/b").read_text(), Path("to/b").read_text()) == (TEXT, OTHER)


def test_a_link_takes_the_name_where_names_cannot_be_swapped(monkeypatch):
    monkeypatch.setattr(acting, "exchange", lambda *_: False)

    assert acted(Act.LINK).done == 1

    assert os.path.samefile("a", "in/b")
    assert os.listdir("in") == ["b"]


def test_a_file_that_was_edited_is_no_link_afterwards_where_names_cannot_be_swapped(monkeypatch):
    def exchange(*_):
        edit_and_set_the_time_back()
        return False

    monkeypatch.setattr(acting, "exchange", exchange)

    assert reasons(acted(Act.LINK)) == [REPLACED]

    assert Path("in/b").read_text() == TEXT.swapcase()
    assert os.listdir("in") == ["b"]


def test_a_link_to_what_had_the_name_of_the_kept_file_for_a_moment_is_not_used(monkeypatch):
    link, before = os.link, inode("in/b")

    def raced(*given, **named):
        os.rename("a", "kept")
        write(a=OTHER)
        link(*given, **named)
        os.rename("a", "other")
        os.rename("kept", "a")

    monkeypatch.setattr(os, "link", raced)

    assert reasons(acted(Act.LINK)) == ["the kept file changed since the scan"]

    assert inode("in/b") == before
    assert os.listdir("in") == ["b"]
    assert [Path(each).read_text() for each in ("a", "in/b", "other")] == [TEXT, TEXT, OTHER]


@pytest.mark.parametrize("exchange", [acting.exchange, broken, lambda *_: False])
def test_a_link_that_has_become_the_only_copy_stays(monkeypatch, exchange):
    def part_with_both(*given):
        if os.path.exists("a"):
            os.unlink("a")
            Path("in/b").write_text(NEW)
        return exchange(*given)

    monkeypatch.setattr(acting, "exchange", part_with_both)

    assert len(reasons(acted(Act.LINK))) == 1

    assert Path("in/b").read_text() == NEW
    (other,) = set(os.listdir("in")) - {"b"}
    assert Path("in", other).read_text() == TEXT


@pytest.mark.parametrize("names", [["in/b"], ["in/b", "in/c"]])
@pytest.mark.parametrize(
    ("second", "error"),
    [(broken, "Input/output error"), (lambda *_: False, "Operation not supported")],
)
def test_a_file_that_cannot_be_given_its_name_again_stays_under_another(
    monkeypatch, names, second, error
):
    exchange, file = acting.exchange, inode("in/b")
    for each in names[1:]:
        os.link("in/b", each)

    def once(*given):
        edit_kept()
        monkeypatch.setattr(acting, "exchange", second)
        return exchange(*given)

    monkeypatch.setattr(acting, "exchange", once)

    why = reasons(acted(Act.LINK, *names))

    (other,) = set(os.listdir("in")) - {"b", "c"}
    assert why[0] == f"{REPLACED} (it is {os.path.realpath('in')}/{other} now: {error})"
    assert len(why) == len(names)
    assert inode(f"in/{other}") == file
    assert os.stat(f"in/{other}").st_nlink == len(names)
    assert Path("in", other).read_text() == TEXT


@pytest.mark.parametrize(
    ("act", "step"),
    [(Act.DELETE, "rename_new"), (Act.LINK, "exchange"), ("far", "rename_new")],
    indirect=["act"],
)
def test_a_file_that_can_neither_be_removed_nor_put_back_is_told(monkeypatch, act, step):
    unlink = Place.unlink

    def fails(_place):
        monkeypatch.setattr(Place, "unlink", unlink)
        monkeypatch.setattr(acting, step, broken)
        broken()

    monkeypatch.setattr(Place, "unlink", fails)

    (why,) = reasons(acted(act))

    (other,) = set(os.listdir("in")) - {"b"}
    assert why == (
        f"the system refused it (it is {os.path.realpath('in')}/{other} now: Input/output error)"
    )
    assert Path("in", other).read_text() == TEXT
    assert act is not Act.LINK or os.path.samefile("a", "in/b")


def test_a_name_stays_if_another_name_of_its_file_could_not_be_replaced(monkeypatch):
    os.link("in/b", "in/c")
    link = os.link

    def once(*_, **__):
        monkeypatch.setattr(os, "link", link)
        broken()

    monkeypatch.setattr(os, "link", once)

    assert reasons(acted(Act.LINK, "in/b", "in/c")) == [
        BROKEN,
        "it has other hard links (which are not in the plan)",
    ]
    assert os.path.samefile("in/b", "in/c")


def test_no_link_is_made_to_a_file_on_another_file_system():
    with ready(Act.LINK) as (_, (*_, file, kept)):
        check_linkable(file, kept, 1)
        status = file.status
        file.status = os.stat_result((*status[:2], status.st_dev + 1, *status[3:10]))
        with pytest.raises(RefusedError) as refused:
            check_linkable(file, kept, 1)

    assert refused.value.refusal is Refusal.OTHER_DEVICE
