"""Plans and journals of somebody else: at worst a file goes to the trash whose text stays."""

from __future__ import annotations

import json
import os
import shutil
from binascii import crc32
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from plans import ACTS, TEXT, action, plan, reasons, seen, tree, write

from simdup.clean import settle
from simdup.clean.apply import apply
from simdup.clean.journal import Intent
from simdup.clean.plan import Act, Consents, Plan, action_line, plan_lines
from simdup.clean.system import Place
from simdup.clean.undo import resume, undo
from simdup.errors import InputError


@pytest.fixture(autouse=True)
def home(folder, data):  # noqa: ARG001  (files are in `folder`)
    write(docs__a=TEXT, docs__b=TEXT, docs__in__c=TEXT, secret=TEXT)
    return data


def forged(*paths, act=Act.TRASH):
    """A plan whose file has another path than the one that was looked at."""
    header = plan(roots=["docs"]).header
    actions = [
        action("docs/a", replace(seen("docs/b"), path=path), act, line)
        for line, path in enumerate(paths, 2)
    ]
    return Plan(tuple(actions), (), header)


HERE = "{here}"
PATHS = (
    *("docs/b", "", "..", "/", "{here}/docs/../secret", "{here}/docs/in/../../secret"),
    *("{here}/secret", "{here}/docs//b", "{here}/docs/b/", "{here}/docs/./b", "{here}/docs/b\0"),
    *("{here}/docs", "{here}/docs/link/b", "/dev/null", "/proc/self/mem", "/etc/passwd"),
    "{here}/docs/in\nrm -rf",
)


@pytest.mark.parametrize("act", list(Act))
@pytest.mark.parametrize("path", PATHS)
def test_no_path_of_a_plan_leads_anywhere_else(home, path, act):
    os.symlink("../docs", "docs/link")
    before = tree(".")

    made = forged(path.replace(HERE, os.path.realpath(".")), act=act)
    everything = replace(ACTS, text=True, formats=True, near=0.8)
    outcome = apply(made, everything, to=home / "to", journal=home / "journal")

    assert len(outcome.refused) == 1
    assert tree(".") == before


LAW = "The two parties agree on a yearly price of {} thousand euros, paid in advance. Signed.\n"
FRAME = " ".join(f"frame{n}" for n in range(900))
PAGE = f'<html><body><!-- {FRAME} --><p id="x">{{}}</p></body></html>'
WORDS = [" ".join(f"w{(n * step) % 101}" for n in range(101)) for step in (1, 7)]
FORGED = {
    "gbk": [LAW.format(each).encode("gbk") for each in "五九"],
    "cp1251": [(word * 40).encode("cp1251") for word in ("абвгд", "жзикл")],
    "page": [PAGE.format(each).encode() for each in WORDS],
    "order": [each.encode() for each in WORDS],
}


@pytest.mark.parametrize(
    "encoding", [None, "ascii", "utf-8", "latin-1", "cp437", "hz", "utf-16-le"]
)
@pytest.mark.parametrize("more", [{}, {"formats": []}, {"ngram": [1]}, {"features": "tokens"}])
@pytest.mark.parametrize("kind", ["identical text", "near"])
@pytest.mark.parametrize("texts", FORGED)
def test_a_plan_chooses_neither_the_yardstick_nor_how_texts_are_read(
    run, texts, kind, more, encoding
):
    """Two unlike texts, which some encoding, format or recipe would make the same."""
    for name, data in zip("ab", FORGED[texts], strict=True):
        Path(f"docs/{name}").write_bytes(data)
    header, *lines = plan_lines(plan(("docs/a", "docs/b"), roots=["docs"]))
    settings = {"encoding": encoding, "formats": ["html"], "ngram": [2]} | more
    made = [json.loads(each) for each in lines]
    made[0] |= {"kind": kind, "contained": 1.0}
    if kind == "identical text":
        made[0]["file"]["text"] = made[0]["keep"]["text"]
    made = [json.loads(header) | {"settings": settings}, *made]
    Path("plan.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made))

    ended = run("clean", "plan.jsonl", "--text", "--formats-too", "--near", "0.95", "--apply")

    assert ended.code == 3, ended.err
    assert Path("docs/b").exists()


def written(events, name="journal"):
    """A journal with these lines, each with its right CRC."""
    lines = []
    for event in events:
        rest = json.dumps(event)[1:]
        lines.append(f'{{"crc": "{crc32(rest[:-1].encode()):08x}", {rest}\n')
    Path(name).write_text("".join(lines))
    return name


def begin(to=None):
    header = json.loads(next(iter(plan_lines(Plan((), (), plan(roots=["docs"]).header)))))
    given = {"user": os.getuid(), "plan": header}
    start = {"event": "begin", "simdup": "journal", "version": 1, "made": "now", **given}
    return start | ({"to": to} if to else {})


def planned(file, act):
    line = json.loads(action_line(action("docs/a", file, act)))
    return {"event": "planned", "line": 2, "plan": line}


def intent(**fields):
    return {"event": "intent", "line": 2, "folder_ns": 0, **fields}


def a_journal(act, to=None, **fields):
    """A journal by which `secret` would come to lie at docs/new."""
    file = replace(seen("secret"), path=os.path.realpath("docs") + "/new")
    return written([begin(to), planned(file, act), intent(**fields)])


def test_a_journal_moves_no_file_that_simdup_could_not_have_put_there(home):
    here = os.path.realpath(".")
    secret = f"{here}/secret"
    aside = ".simdup-0123"
    journals = [
        lambda: a_journal(Act.TRASH, target=secret, trash=here),
        lambda: a_journal(Act.TRASH, target=secret),
        lambda: a_journal(Act.TRASH, target=secret, trash=f"{home}/Trash"),
        lambda: a_journal(Act.MOVE, target=secret, aside=aside),
        lambda: a_journal(Act.MOVE, to=f"{here}/docs", target=secret, aside=aside),
        lambda: a_journal(Act.DELETE, target=secret, aside="secret"),
        lambda: a_journal(Act.DELETE, target=f"{here}/docs/x", aside="../secret"),
        lambda: a_journal(Act.LINK, target=secret, aside=aside),
        lambda: a_journal(Act.MOVE, to=here, target=secret, aside="../../x"),
    ]
    for make in journals:
        journal = make()
        before = tree(".")
        outcome = undo(journal, apply=True)
        assert (outcome.done, len(outcome.refused)) == (0, 1)
        assert tree(".") == before


@pytest.mark.parametrize("ends", [(), ("done",)])
@pytest.mark.parametrize("name", ["secret", "my.simdup-copy"])
def test_a_journal_removes_no_file_that_has_the_bytes_of_another(name, ends):
    shutil.copy2("docs/b", name)
    given = {"target": os.path.realpath(name), "aside": ".simdup-0123"}
    done = {"event": "done", "line": 2, "file": [0, 0, 0], "folder_ns": 0, "there_ns": 0}
    steps = [intent(**given), *([done | {"mtime_ns": seen(name).mtime_ns}] if ends else [])]
    journal = written([begin(os.path.realpath(".")), planned("docs/b", Act.MOVE), *steps])
    before = tree(".")

    for acts in (False, True):
        outcome = undo(journal, apply=acts)

        assert reasons(outcome) == [f"it has its name again; its copy stays ({given['target']})"]
    assert tree(".") == before


def test_a_journal_puts_nothing_outside_the_roots():
    here = os.path.realpath(".")
    file = replace(seen("secret"), path=f"{here}/elsewhere")
    given = {"target": f"{here}/secret", "aside": ".simdup-1"}
    journal = written([begin(here), planned(file, Act.MOVE), intent(**given)])

    assert len(undo(journal, apply=True).refused) == 1
    assert Path("secret").exists()


def test_a_journal_that_goes_on_acts_only_on_what_passes_every_check():
    file = replace(seen("secret"), path=os.path.realpath("secret"))
    journal = written([begin(), planned(file, Act.DELETE)])
    before = tree("docs")

    outcome = resume(journal, Consents())

    assert len(outcome.refused) == 1
    assert Path("secret").exists()
    assert tree("docs") == before


@pytest.mark.parametrize("act", [Act.TRASH, Act.MOVE, Act.LINK])
def test_a_journal_is_undone_where_devices_have_other_numbers_than_when_it_was_written(act):
    before = tree("docs")
    assert apply(plan(("docs/a", "docs/b"), act=act), ACTS, journal="j", to="to").done == 1
    device = os.stat("docs/a").st_dev
    events = [json.loads(line) for line in Path("j").read_text().splitlines()]
    for each in events:
        each.pop("crc")
    moved = json.loads(json.dumps(events).replace(f"[{device},", f"[{device + 1},"))

    back = undo(written(moved), apply=True)

    assert (back.done, back.refused) == (1, [])
    assert tree("docs") == before


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("user", os.getuid() + 1, "another user"),
        ("version", 2, "only 1 is known"),
        ("simdup", "plan", "must be 'journal'"),
        ("plan", {}, r"no journal: plan\.simdup must be 'plan'"),
    ],
)
def test_a_journal_of_another_is_refused(field, value, why):
    journal = written([begin() | {field: value}])

    for run in (lambda: undo(journal, apply=True), lambda: resume(journal, Consents())):
        with pytest.raises(InputError, match=why):
            run()


def test_a_journal_that_another_user_owns_is_refused(monkeypatch):
    journal = written([begin()])
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)

    with pytest.raises(InputError, match="another user"):
        undo(journal, apply=False)


def test_a_link_in_place_of_a_journal_is_not_written_through():
    Path("precious").write_text("mine")
    os.symlink("precious", "journal")

    with pytest.raises(InputError):
        apply(plan(("docs/a", "docs/b"), roots=["docs"]), Consents(), journal="journal")

    assert Path("precious").read_text() == "mine"
    assert Path("docs/b").exists()


def test_only_beginnings_of_the_file_count_as_partial_copies_of_a_journal(tmp_path):
    intent = Intent(2, str(tmp_path / "b"), 0, aside=".simdup-x")
    (tmp_path / "a").write_bytes(b"the whole text")
    with closing(Place.of(str(tmp_path / "a"))) as place:
        part = tmp_path / settle.part_of(intent.aside, place).name
        for content, is_left in ((b"another text", True), (b"the whole", False)):
            part.write_bytes(content)

            settle._remove_parts(intent, place)  # noqa: SLF001

            assert part.exists() == is_left
