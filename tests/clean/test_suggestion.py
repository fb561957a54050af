"""simdup.clean.suggestion: what is suggested is what `clean` does, in a home like that of a person.

The home has two work trees with the same library, saved web pages, documents with their PDF,
versions with the same words, conflicts of synchronising, downloads, a backup and a phone.
"""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import pytest

from simdup.clean.plan import Consents
from simdup.clean.planning import Wishes, make_plan
from simdup.clean.refusals import Consent, Refusal
from simdup.clean.rules import Rules, rule_of
from simdup.clean.suggestion import suggested
from simdup.files.scan import scan
from simdup.report.json_csv import render_json
from simdup.report.load import load
from simdup.report.page.decisions import ORDERS, plan_fields
from tests.makers import docx, html_page, odt, printed

PLACES = "Downloads", "Backup", "Phone"


def prose(seed):
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnop", k=6)) for _ in range(150)]
    return [" ".join(words[place : place + 10]).capitalize() + "." for place in range(0, 150, 10)]


def edited(lines):
    """The same words with other commas and paragraphs."""
    return "\n\n".join(line.replace(" ", ", ", 1) for line in lines)


@cache
def files():
    """The content of each file by its path; the first is the oldest."""
    made = {}
    for at, (make, ending) in enumerate(((docx, "docx"), (odt, "odt"), (str.encode, "txt"))):
        lines, letter = prose(f"essay{at}"), prose(f"letter{at}")
        texts = "\n".join(lines), "\n".join(letter), edited(letter)
        essay, draft, final = map(make, texts)
        made[f"Documents/essay{at}.{ending}"] = made[f"Downloads/essay{at}.{ending}"] = essay
        made[f"Documents/essay{at}.pdf"] = printed(texts[0])
        for place, name, content in (
            *(("Backup", "draft", draft), ("Documents", "draft", draft)),
            *(("Documents", "final", final), ("Phone", "final", final)),
        ):
            made[f"{place}/letter{at}_{name}.{ending}"] = content
    for at, name in enumerate(("diary.sync-conflict-20250926-224656-C5H6PTH", "diary 2", "diary")):
        made[f"Sync/{name}.txt"] = "\n".join(prose("diary")).encode()
        made[f"{PLACES[at]}/note{at}.txt"] = "\n".join(prose(f"note{at}")).encode("utf-16")
        made[f"Documents/note{at}.txt"] = "\n".join(prose(f"note{at}")).encode()
    for project in ("one", "two"):
        made[f"code/{project}/.git/HEAD"] = b"ref: refs/heads/main\n"
        for at in range(2):
            made[f"code/{project}/lib/module{at}.py"] = "\n".join(prose(f"lib{at}")).encode()
        made[f"Pages/{project}.html"] = html_page("\n".join(prose(project)))
        made[f"Pages/{project}_files/style.css"] = "\n".join(prose("style")).encode()
    made["Downloads/original.docx"] = docx("\n".join(prose("original")))
    made["Documents/original.pdf"] = printed("\n".join(prose("original")))
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    for hour, (name, content) in enumerate(files().items()):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (10**9 + 3600 * hour, 10**9 + 3600 * hour))
    return home


@pytest.fixture(scope="module")
def result(home):
    return load("\n".join(render_json(scan([str(home)]))).encode(), "found.json")


def planned(result, *rules, **consents):
    wishes = Wishes(Rules([*map(rule_of, rules)]), consents=Consents(**consents))
    return make_plan(result, wishes, "found.json", "0" * 32)


def paths(plan, home):
    return {
        os.path.relpath(each.file.path, home): os.path.relpath(each.keep.path, home)
        for each in plan.actions
    }


def test_neither_a_newest_text_nor_an_original_is_removed(result, home):
    removed = paths(planned(result, text=True, formats=True), home)

    assert len(removed) > 10
    contents = files()
    left = {contents[name] for name in contents.keys() - removed.keys()}
    for name in contents:
        if "final" in name or ("essay" in name and not name.endswith("pdf")) or "/diary." in name:
            assert contents[name] in left
    assert "Downloads/original.docx" not in removed


def test_no_file_is_kept_in_a_place_for_copies_and_none_of_a_work_tree_is_removed(result, home):
    plan = planned(result, text=True, formats=True)
    removed = paths(plan, home)

    assert not [name for name in removed.values() if name.startswith(PLACES)]
    assert not [name for name in removed if name.startswith(("code", "Pages"))]
    reasons = [each.why.refusal for each in plan.left]
    assert reasons.count(Refusal.WORK_TREE) == 2
    assert reasons.count(Refusal.SAVED_PAGE) == 1
    assert sum(each.is_of_whole for each in reasons) == 3


def test_a_document_is_kept_and_not_its_pdf_and_a_plain_name_and_not_a_conflict(result, home):
    removed = paths(planned(result, text=True, formats=True), home)

    for at, ending in enumerate(("docx", "odt", "txt")):
        pdf = f"Documents/essay{at}.pdf"
        assert removed.get(pdf, f"Documents/essay{at}.{ending}") == f"Documents/essay{at}.{ending}"
        assert removed[f"Downloads/essay{at}.{ending}"] == f"Documents/essay{at}.{ending}"
    assert {keep for name, keep in removed.items() if name.startswith("Sync")} == {"Sync/diary.txt"}


@pytest.mark.parametrize("rules", ORDERS.values(), ids=ORDERS)
def test_what_is_suggested_is_what_clean_removes_by_default(result, home, rules):
    found, plan = suggested(result, rules), paths(planned(result, *rules), home)

    removed = {}
    for group, place in found.removed:
        members = result.groups[group].members
        offer = found.offers[group][place]
        assert (offer.terms.needs, offer.terms.refusal) == ((), None)
        both = (members[at].document.path for at in (place, offer.keep))
        one, other = (os.path.relpath(each, home) for each in both)
        removed[one] = other
    assert removed == plan
    assert len(removed) > 5


@pytest.mark.parametrize(
    "needs", [(Consent.TEXT,), (Consent.FORMATS,), (Consent.TEXT, Consent.FORMATS)]
)
def test_with_a_consent_clean_removes_what_is_offered_for_it_besides(result, home, needs):
    found = suggested(result)
    offered = {
        os.path.relpath(member.document.path, home)
        for group, offers in zip(result.groups, found.offers, strict=True)
        for member, offer in zip(group.members, offers, strict=True)
        if offer and not offer.terms.refusal and {*offer.terms.needs} <= {*needs}
        and os.path.abspath(member.document.path) not in found.kept
    }  # fmt: skip

    consents = {each.value: True for each in needs}
    assert offered == paths(planned(result, **consents), home).keys()


def test_no_file_is_looked_at(result, monkeypatch):
    def refuse(*_):
        raise AssertionError

    for name in ("changed_since", "as_it_is"):
        monkeypatch.setattr(f"simdup.clean.candidates.{name}", refuse)

    assert suggested(result).removed


def test_the_page_gets_all_offers_and_lists_an_order_only_where_it_differs(result):
    found, data = suggested(result), plan_fields(result, "0" * 32)

    first, *others = data["orders"]
    assert [each["name"] for each in data["orders"]] == [*ORDERS]
    assert first["options"] == []
    assert others[0]["options"] == ["--prefer", "newest"]
    for offers, listed in zip(found.offers, first["groups"], strict=True):
        for offer, fields in zip(offers, listed or offers, strict=True):
            if offer is None:
                assert fields is None
                continue
            kind, needs, refusal = data["terms"][fields[1]]
            assert (fields[0], data["reasons"][fields[2]]) == (offer.keep, offer.why)
            assert (kind, refusal or None) == (
                offer.terms.kind.value,
                offer.terms.refusal and offer.terms.refusal.name,
            )
            assert needs == [each.option for each in offer.terms.needs]
    assert data["terms"][0] == ["identical bytes", [], ""]
    assert any(groups != first["groups"] for groups in (each["groups"] for each in others))
    names = {each[0] for each in data["kept"] if each}
    assert {"WORK_TREE", "SAVED_PAGE"} <= names


def test_the_home_is_as_it_was(home):
    assert {
        os.path.relpath(path, home): Path(path).read_bytes()
        for path in home.rglob("*")
        if path.is_file()
    } == files()
