"""The page in headless Chromium, for an ordinary reader and with hostile names and texts."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import copy, copytree, which
from time import monotonic
from urllib.parse import unquote_to_bytes

import pytest
from conftest import ENGLISH, SIMPLIFIED, TRADITIONAL
from patience import patient

from simdup.clean.plan import read_plan
from simdup.findings.identical import with_sets
from simdup.records import FolderPair, Group, Kind, Part, Reason, Skipped, Stats, Unread
from simdup.report.page import groups
from simdup.report.wording import percent, printable
from simdup.settings import SIMILARITY, Settings
from tests.clean.test_rules import reasons
from tests.report.test_accuracy import KINDS, row
from tests.report.test_page import (
    FOLDERS,
    WORDS,
    accuracy_page,
    answers_page,
    corpus_page,
    family,
    group,
    member,
    page_of,
    result,
    similar,
    with_copies,
    with_versions,
)

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")]


def axe_core():
    """The path of axe-core: what SIMDUP_AXE names, or what the package brings; None without it."""
    named, package = os.environ.get("SIMDUP_AXE", ""), find_spec("axe_playwright_python")
    brought = [Path(package.origin).with_name("axe.min.js")] if package else []
    return next((path for path in (Path(named), *brought) if path.is_file()), None)


AXE = axe_core()
WIDE, PHONE = (1440, 900), (390, 844)

HOSTILE = [
    "<img src=x onerror=window.hacked=1>.txt",
    "\"'><svg onload=window.hacked=1>.txt",
    "evil\u202etxt.exe",
    "red\x1b[31m.txt",
    "line\nbreak.txt",
    "</script><script>window.hacked=1<.txt",
]
PAYLOAD = (
    "<script>window.hacked=1</script> </textarea><!-- \u202eright to left\u202c "
    "\x1b[31mred\x1b[0m <img src=x onerror=window.hacked=1> \u200b\ufeff ${window.hacked=1}\n"
)


def edited(text):
    return text.replace("grey seal", "brown otter").replace("钟表", "眼镜").replace("candles", "")


def make_files(folder):
    """Groups of each kind, hostile names and contents, and a skipped file."""
    files = {
        "letters/harbour.txt": ENGLISH.encode(),
        "letters/harbour-2.txt": edited(ENGLISH).encode(),
        "letters/harbour-3.txt": ENGLISH.replace(", ", " ").replace("museum", "library").encode(),
        "钟表/clock.txt": SIMPLIFIED.encode(),
        "钟表/clock-gbk.txt": SIMPLIFIED.encode("gb18030"),
        "钟表/glasses.txt": edited(SIMPLIFIED).encode(),
        "bytes/a.txt": TRADITIONAL.encode(),
        "bytes/b.txt": TRADITIONAL.encode(),
        "hostile/</script><script>window.hacked=1<.png": b"\x89PNG\r\n\x1a\n\0\0",
    }
    hostile = (PAYLOAD * 3 + " ".join(reversed(ENGLISH.split()))).encode()
    files |= {f"hostile/{name}": hostile for name in HOSTILE}
    files["hostile/other.txt"] = hostile.replace(b"right to left", b"left to right")
    for path, content in files.items():
        whole = os.path.join(folder, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        Path(whole).write_bytes(content)
    Path(os.fsdecode(os.path.join(os.fsencode(folder), b"hostile/\xff\xfe.txt"))).write_bytes(
        hostile
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The address of the page of a scan of all these files."""
    folder = tmp_path_factory.mktemp("page")
    make_files(folder / "files")
    command = [sys.executable, "-m", "simdup", "scan", "files", "--html", "page.html", "--no-cache"]
    subprocess.run([*command, "-q", "--lang", "en"], cwd=folder, check=True, capture_output=True)
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def troubles():
    """What the tabs complained about, and the addresses that they asked for."""
    return []


@pytest.fixture(scope="module")
def tab(troubles):
    """`tab(**options)`: the tab with these options, one for all tests: a new one costs a second."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)

        @cache
        def with_options(**options):
            context = browser.new_context(**options)
            context.set_default_timeout(patient(60) * 1000)
            context.on("console", lambda message: troubles.append(message.text))
            context.on("weberror", lambda failed: troubles.append(str(failed.error)))
            context.on("dialog", lambda dialog: troubles.append(dialog.message))
            context.on("request", lambda asked: troubles.append(asked.url))
            return context.new_page()

        yield with_options
        browser.close()


@pytest.fixture
def opened(tab, troubles):
    """`opened(address)`: the page, which in the end must have no error and no network request."""
    pages = {}
    troubles.clear()

    def opening(address, ready="#views button, #now tbody", size=(1280, 720), **options):
        pages[address] = page = tab(**options)
        resize(page, *size)
        page.emulate_media(media="screen", color_scheme="light")
        page.goto(address)
        page.wait_for_selector(ready)
        return page

    yield opening
    for page in pages.values():
        page.evaluate("localStorage.clear()")
    assert [each for each in troubles if each not in pages] == []


def resize(page, width, height):
    page.set_viewport_size({"width": width, "height": height})


@pytest.fixture
def shown(opened, tmp_path):
    """`shown(text)`: the page with this text."""

    def showing(text, **options):
        path = tmp_path / "page.html"
        path.write_text(text, "utf-8")
        return opened(path.as_uri(), **options)

    return showing


@pytest.fixture
def rendered(shown):
    """`rendered(result, read)`: the page of a made-up result."""

    def rendering(found, read=None, language="en", day=None, **options):
        return shown(page_of(found, language, read, day), **options)

    return rendering


@pytest.fixture
def page(opened, report):
    return opened(report)


@pytest.fixture
def printed(run):
    """`printed("undo journal", ...)`: what a run that goes well prints on both streams."""

    def printing(command, *more):
        ended = run(*command.split(), *more)
        assert ended.code == 0, ended.err
        return (ended.out + ended.err).decode()

    return printing


@pytest.fixture
def scanned(opened, printed, tmp_path):
    """`scanned("docs")`: the page of a scan of this folder."""

    def scanning(command, **options):
        printed(f"scan {command} --html page.html --no-cache -q --lang en")
        return opened((tmp_path / "page.html").as_uri(), **options)

    return scanning


@pytest.fixture
def pairs(scanned, tmp_path):
    """`pairs(6)`: the page of so many groups of two files, of every kind; with result.json."""
    docs = tmp_path / "docs"
    docs.mkdir()

    def making(number, **options):
        draw = random.Random(6)
        for place in range(number):
            words = ["".join(draw.choices("abcdefghij", k=6)) for _ in range(200)]
            text = " ".join(words)
            other = "\ufeff" * (place % 5 == 1) + text
            if place % 3 == 0:
                other = " ".join([*words[:-3], "other", "words", "here"])
            elif place % 5 == 4:
                other = ", ".join(words)
            names = f"{place:02}-one.txt", f"{place:02}-two.txt"
            if place == 1:
                names = "01 it's $(touch hacked); one.txt", "01 `x`\n\x1b \\ two.txt"
            for age, (name, content) in enumerate(zip(names, (text, other), strict=True)):
                (docs / name).write_text(content, "utf-8")
                os.utime(docs / name, (10**9 + 1000 * age, 10**9 + 1000 * age))
        if number > 2:
            os.rename(docs / "02-two.txt", os.path.join(os.fsencode(docs), b"02-\xff.txt"))
        return scanned("docs --format json -o result.json", **options)

    return making


def heads(page):
    """The names of the groups that are listed."""
    paths = ".head > .title > .path:first-child"
    return page.eval_on_selector_all(paths, "all => all.map(each => each.textContent)")


def view(page, name):
    page.locator(f"#views [data-view={name}]").click()


def choose(page, part):
    """Choose the group whose row has this text, and return its members as text."""
    page.locator(".head", has_text=part).first.click()
    return page.locator(".member").all_inner_texts()


def compare(page, part):
    """Compare the representative with the member whose row contains this text."""
    page.locator(".member", has_text=part).locator(".compare").click()
    page.locator(".diff th", has_text=part).wait_for()
    return page.locator(".diff")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_the_sheet_about_the_scan_says_what_was_found(page):
    assert page.locator("h1").inner_text().startswith("simdup Duplicates in files, ")
    assert page.title().endswith("20" + page.locator("#title").inner_text()[-2:] + " · simdup")
    view(page, "about")
    figures = page.locator("#figures").inner_text()
    assert "16" in figures
    assert "groups of duplicates" in figures
    assert f"similarity of {percent(SIMILARITY)}" in page.locator("#settings").inner_text()
    assert "1 binary" in page.locator(".reasons").inner_text()
    titles = page.eval_on_selector_all("#histogram title", "all => all.map(e => e.textContent)")
    assert sum(int(title.split()[0]) for title in titles) == 12
    assert "near from 80.0 %" in page.locator("#histogram").text_content()


def test_searching_shows_the_groups_with_all_words_in_one_path(page):
    page.fill("#search", "HARBOUR let")
    assert [head.split(" > ")[0] for head in heads(page)] == ["letters/harbour"]
    assert page.locator("#count").inner_text() == "1 of 4 groups"

    page.fill("#search", "harbour clock")
    assert page.locator("#list").inner_text() == "Nothing here fits the search and the filters."

    page.click("#reset")
    assert len(heads(page)) == 4


def test_a_filter_shows_only_matching_groups(page):
    hostile, same, clocks = "\\xff\\xfe.txt hostile", "a.txt bytes", "clock.txt 钟表"
    page.click("#unfold")
    for field, value, found in (
        ("kind", "identical bytes", [hostile, same]),
        ("folder", "钟表", [clocks]),
        ("coding", "gb18030", [clocks]),
    ):
        page.select_option(f"#{field}", value)
        assert heads(page) == found
        page.click("#reset")

    page.fill("#low", "100")
    assert sorted(heads(page)) == [hostile, same, clocks]
    page.fill("#low", "")
    page.fill("#high", "99.9")
    found = page.locator(".head .match .name").all_inner_texts()
    assert sorted(found) == ["glasses.txt", "harbour.txt", "other.txt"]


SAME = {"text_digest": b"t" * 16, "words_digest": b"w" * 16}


def test_what_can_go_is_listed_before_what_wants_a_look(rendered):
    same = {"bytes_digest": b"b" * 16} | SAME
    small, large = (
        group(number, f"{number}a", f"{number}b", size=size, **same)
        for number, size in ((3, 10), (4, 9000))
    )
    found = with_sets([group(1, "a", "b"), small, large])[0]
    page = rendered(result(*found))

    sections = page.locator(".section").all_inner_texts()
    assert heads(page) == ["4a", "3a", "a"]
    assert [" ".join(each.split()) for each in sections] == [
        "Can go safely 2 groups · 9.0 kB",
        "Wants a look 1 group",
    ]
    page.click("#unfold")
    page.select_option("#order", "path")
    assert heads(page) == ["3a", "4a", "a"]
    assert page.locator(".section").count() == 0


def test_the_chosen_group_shows_its_members(page):
    rows = choose(page, "harbour")

    assert len(rows) == 3
    assert "representative" in rows[0]
    assert "%" in rows[1]
    assert "letters" in rows[1]
    assert page.locator(".head[aria-current=true]").count() == 1
    assert page.locator("#pane .pane-head").inner_text().startswith("near · 3 files")


def of_scores():
    """A group of a text, a version of it, one that others share too, and a part of it."""
    first = member("letters/a", Kind.IDENTICAL_BYTES, 1.0, features=400)
    others = (
        ("letters/b", 0.7, 0.9, 900),
        ("letters/c", 0.9, 0.5, 400),
        ("letters/d", 0.5, 1.0, 100),
    )
    members = (
        member(path, similarity=alike, own_share=own, features=features)._replace(
            tier="related" if path == "letters/c" else "near"
        )
        for path, alike, own, features in others
    )
    return Group(1, Kind.NEAR, 20, (first._replace(tier="near"), *members), score=1.0)


def test_a_reader_sees_how_much_is_in_the_first_file_and_other_figures_behind_it(rendered):
    page = rendered(result(of_scores()))
    rows = [each.split("\n") for each in choose(page, "a letters")]

    assert page.locator(".head .alike").inner_text() == "46.6 % to 100 %"
    assert [row[-2] for row in rows[1:]] == ["46.6 %", "90.0 %", "100 %"]
    assert [row[1].split(" · ")[3:] for row in rows[1:]] == [
        ["100 % of the first in it"],
        ["related"],
        [],
    ]
    assert page.locator(".comparison h2").inner_text() == "Comparison 46.6 % of it in the first"
    figures = (
        "46.6 % of it in the first · score 90.0 % · similarity 70.0 % · own share 90.0 %"
        " · 100 % of the first in it · 20 bits"
    )
    assert page.locator(".figures").inner_text() == figures
    page.get_by_label("Left").select_option("2")
    assert page.locator(".comparison h2").inner_text() == "Comparison similarity ~100 %"
    page.click("#unfold")
    page.fill("#high", "50")
    assert page.locator(".head .match .name").all_inner_texts() == ["b"]
    page.click("#language")
    assert "见于第一个文件" in page.locator("#finer").inner_text()


def test_without_scores_similarities_are_estimated_and_called_so(rendered):
    bare = replace(Settings(), verified=False)
    made = member("a", Kind.IDENTICAL_BYTES, None), member("b", similarity=None)
    page = rendered(result(Group(1, Kind.NEAR, 20, made), settings=bare))
    choose(page, "a")

    assert page.locator(".head .alike").inner_text() == "~97.0 %"
    assert page.locator(".comparison h2").inner_text() == "Comparison ~97.0 % of it in the first"
    assert page.locator(".figures").inner_text() == "~97.0 % of it in the first · 20 bits"
    page.click("#unfold")
    assert "In the first file" in page.locator("#finer").inner_text()


def test_an_identical_set_has_a_heading_with_its_number_and_the_row_says_how_much_can_go(
    rendered,
):
    page = rendered(result(with_copies(), group(2, "a.txt", "b.txt")))
    rows = [*map(str.split, choose(page, "first.txt"))]

    names = ["first.txt", "copy.txt", "near.txt", "set-1.txt", "set-3.txt", "set-2.txt"]
    assert [row[0] for row in rows] == names
    for said in ("6 files, 4 identical", "300 B can go"):
        assert said in page.locator(".head").first.inner_text()
    assert page.locator(".set").all_inner_texts() == [
        "2 identical files",
        "3 files with the same text, 2 of them identical · 52.0 % of it in the first",
    ]
    words = ["", "same bytes", "70.0 %", "52.0 %", "same bytes", "same text"]
    assert all(
        word in row
        for word, row in zip(words, page.locator(".member").all_inner_texts(), strict=True)
    )
    assert page.locator(".member.inside .name").all_inner_texts() == [*names[:2], *names[3:]]
    page.click("#unfold")
    for kind, found in {"identical bytes": 1, "identical text": 1, "near": 2}.items():
        page.select_option("#kind", kind)
        assert len(heads(page)) == found


def test_the_heading_of_a_group_of_versions_is_their_chain(rendered):
    page = rendered(replace(result(*with_versions()), roots=("in",)))

    assert sorted(heads(page)) == [
        "a1 > a2 > a3, newest last",
        "b",
        "lease v1 > v2.txt, newest last; 12\u00a0% changed",
    ]
    page.click("#language")
    assert "lease v1 > v2.txt（从旧到新），依次改动 12\u00a0%" in heads(page)


def test_folders_are_a_tree_with_whole_copies_first_and_nothing_without_an_identical_file(rendered):
    others = (
        FolderPair(path, other, *(size, size, size), same, 0, None)
        for path, other, size, same in (
            ("weak", "other", 4, 0),
            ("code/old/lib", "code/spare", 9, 9),
            ("x/copy", "x/docs", 2, 2),
        )
    )
    page = rendered(result(group(1, "a", "b"), folders=(*others, *FOLDERS)))
    view(page, "folders")
    rows = page.locator(".pair")

    assert [each.split("\n")[0] for each in rows.all_inner_texts()] == [
        "a/docs ~ b/docs",
        "x/copy ~ x/docs",
        "code/old ~ code/new\\x1b",
        "code/old/lib ~ code/spare",
    ]
    assert [each.get_attribute("data-level") for each in rows.all()] == [*"0001"]
    assert "471 identical, 9 not compared; newer: new\\x1b" in rows.nth(2).inner_text()
    page.get_by_role("button", name="Show 1 more pair without an identical file").click()
    assert "weak ~ other" in rows.last.inner_text()
    page.fill("#search", "docs")
    assert page.locator("#count").inner_text() == "2 of 5 pairs of folders"
    page.click("#language")
    assert "4 个文件中有 4 个的副本，其中 4 个文字相同" in rows.first.inner_text()


def test_files_that_were_compared_for_identity_only_are_counted(rendered):
    stats = Stats(9, 8, 1234, 0.5, identity_only=(("lock file", 2), ("SVG image", 1)))
    page = rendered(replace(result(group(1, "a", "b")), stats=stats))

    view(page, "about")
    words = "Compared for identity only: 2 lock files, 1 SVG image."
    assert words in page.locator("#settings").inner_text()
    page.click("#language")
    words = "只查找完全相同者：2 个锁定文件、1 个矢量图。"
    assert words in page.locator("#settings").inner_text()


def test_english_is_compared_by_words_and_chinese_by_characters(page):
    for name, other, gone, new in (
        ("harbour", "harbour-2.txt", {"grey seal", "library"}, {"brown otter"}),
        ("clock.txt", "glasses.txt", {"钟表"}, {"眼镜"}),
    ):
        choose(page, name)
        table = compare(page, other)
        assert gone <= {*table.locator("del").all_inner_texts()}
        assert new <= {*table.locator("ins").all_inner_texts()}


def test_equal_passages_are_folded_and_both_sides_are_as_wide(page):
    choose(page, "clock.txt")
    table = compare(page, "glasses.txt")
    left, right = (table.locator("th").nth(place).bounding_box()["width"] for place in (0, 1))
    before = table.locator("tr.same").count()
    fold = table.locator(".fold button").first
    folded = int(fold.inner_text().split()[0])
    fold.click()

    assert folded > 1
    assert table.locator("tr.same").count() == before + folded
    assert abs(left - right) < 2


def test_the_comparison_is_open_from_the_start_and_of_any_two_members(page):
    choose(page, "harbour")
    page.wait_for_selector(".diff")
    page.get_by_label("Left").select_option(label="letters/harbour-3.txt")
    page.locator("th .name", has_text="harbour-3.txt").wait_for()
    gone = page.locator(".diff del").all_inner_texts()
    page.get_by_label("Right").select_option(label="letters/harbour-3.txt")

    assert "library" in gone
    page.get_by_text("Both texts are the same.").wait_for()


def test_lines_have_their_numbers_however_the_text_is_wrapped(page):
    han, long = "一" * 30, "A line of more than fifty characters that goes on in the"
    text = f"{han}\n{han}。\n\n{long}\nnext one. Then another.\r\n\rThe end."

    lines = page.evaluate("text => passagesOf(text, text).map(({lines}) => lines.left)", text)
    assert lines == [1, 4, 5, 7]


def test_changes_are_visited_one_after_the_other(rendered):
    text = "\n".join(f"This is line number {number} of the text." for number in range(90))
    read = {"a": text, "b": re.sub("line(?= number [36]?5 )", "row", text)}
    page = rendered(result(group(1, "a", "b")), lambda each: read[each.path])
    page.wait_for_selector(".diff")
    here = ".diff .here td:first-child"

    assert page.locator(".diff .changed td[data-line]").first.get_attribute("data-line") == "6"
    press(page, ".", ".")
    assert page.locator(here).get_attribute("data-line") == "36"
    page.get_by_role("button", name="Next change").click()
    assert page.locator(here).get_attribute("data-line") == "66"
    press(page, ".", ",")
    assert page.locator(here).get_attribute("data-line") == "36"
    assert page.locator(".diff .fold").first.inner_text() == "4 passages unchanged"


def test_the_same_words_say_so_and_their_layout_is_shown_on_demand(rendered):
    texts = {"a": "One line\nof text.", "b": "One  line of text."}
    members = tuple(
        member(path, bytes_digest=path.encode(), **SAME | {"text_digest": path.encode()})
        for path in texts
    )
    pictures = members[1].document._replace(unread=(Unread("pictures", 2, "0"),))
    made = Group(1, Kind.SAME_WORDS, 0, (members[0], members[1]._replace(document=pictures)))
    page = rendered(result(*with_sets([made])[0]), lambda each: texts[each.path])

    page.get_by_text("The same words: the texts differ only in layout").wait_for()
    said = page.locator(".verdict").inner_text()
    assert "b also holds what was not compared: pictures (2)." in said
    assert page.locator(".diff").count() == 0
    page.get_by_role("button", name="Show what differs").click()
    assert page.locator(".diff td del").all_inner_texts() == ["·", "↵\n"]
    assert page.locator(".diff td ins").all_inner_texts() == ["··", "·"]


@pytest.fixture
def siblings(rendered):
    """The page of one group, one of related texts, and two families of siblings."""
    related = group(4, "recipes/a", "recipes/b")
    related = related._replace(members=tuple(m._replace(tier="related") for m in related.members))
    found = replace(
        result(group(1, "letters/a", "letters/b"), related),
        patterns=(
            family(2, (0.62, 0.12), (0.5, 0.1), folder="forms/"),
            family(3, (0.58, 0.48), folder="leases/"),
        ),
        stats=Stats(9, 8, 1234, 0.5, siblings=4),
    )
    return rendered(found, lambda document: f"The text of {document.path}.")


def test_related_texts_and_files_of_one_pattern_have_own_views_and_are_no_duplicates(siblings):
    views = siblings.locator("#views button").all_inner_texts()
    assert views == ["Groups 1", "Related 1", "One pattern 2", "About"]
    assert heads(siblings) == ["a letters"]

    view(siblings, "related")
    assert heads(siblings) == ["a recipes"]
    view(siblings, "patterns")
    assert heads(siblings) == ["form-0 forms", "form-0 leases"]
    view(siblings, "groups")
    assert heads(siblings) == ["a letters"]
    view(siblings, "about")
    figures = siblings.locator("#figures .value").all_inner_texts()
    assert figures[1:4] == ["1", "2", "100 B"]


def test_a_family_says_who_else_has_what_its_files_share(siblings):
    view(siblings, "patterns")
    rows = choose(siblings, "forms")

    said = siblings.locator("#pane").inner_text()
    assert "50.0 % to 62.0 % alike, nearly all of it shared with about " in said
    assert "62.0 %" in rows[1]
    assert compare(siblings, "form-1").locator("td ins").all_inner_texts() == ["1"]
    choose(siblings, "leases")
    said = siblings.locator("#pane").inner_text()
    assert "58.0 % alike, half of it shared with about 5 other files" in said
    siblings.click("#language")
    assert "约一半也见于约" in siblings.locator("#pane").inner_text()
    view(siblings, "about")
    titles = siblings.eval_on_selector_all("#histogram title", "all => all.map(e => e.textContent)")
    assert titles == ["80 % 起：1 个文件"]
    assert "有 4 对文件虽然相似" in siblings.locator("#settings").inner_text()


def test_the_sheet_counts_what_can_go_and_what_wants_a_look(rendered):
    found = replace(
        result(with_copies(), *with_versions()[:1], group(3, "x", "y")),
        patterns=(family(4, (0.62, 0.12)),),
    )
    page = rendered(found)
    view(page, "about")

    assert page.locator("#tiers p").all_inner_texts() == [
        "Can go safely: same bytes 2 (200 B), same text 1 (100 B)",
        "Wants a look: versions 1, near 4 (400 B), same pattern 1",
    ]


def test_the_language_is_that_of_the_browser_unless_told(rendered):
    found = result(group(1, "a", "b"))
    cases = {("zh-CN", None): "zh-Hans", ("fr-FR", None): "en", ("fr-FR", "zh"): "zh-Hans"}

    for (locale, language), opened in cases.items():
        page = rendered(found, language=language, locale=locale, day=1_790_000_000)
        assert page.get_attribute("html", "lang") == opened
    assert page.locator("#title").inner_text() == "8 个文件中的重复文档，2026年9月21日"


def test_a_search_shows_and_marks_the_member_that_it_found(rendered):
    members = [f"in/{number}.txt" for number in range(300)]
    page = rendered(result(group(1, *members), group(2, "x", "y")))
    page.fill("#search", "n/287")

    assert page.locator(".head .match").inner_text() == "found: 287.txt in"
    assert page.locator(".head mark").all_inner_texts() == ["287", "n"]
    assert page.locator(".member.sought[aria-current]").inner_text().startswith("287.txt in")
    page.fill("#search", "in")
    assert page.locator(".member mark").count() > page.locator(".sought").count() == 0
    page.fill("#search", "")
    assert page.locator("mark, .match, .sought").count() == 0


def test_a_bar_of_the_histogram_shows_its_groups(rendered):
    page = rendered(result(with_copies(), group(2, "x", "y")))
    view(page, "about")
    page.get_by_role("button", name="1 file from 70 %").focus()
    press(page, "Enter")

    assert heads(page) == ["first.txt in"]
    assert page.locator(".match").inner_text() == "found: near.txt in"
    assert page.evaluate("document.activeElement.id") == "list"


def test_the_filters_and_the_group_are_in_the_address(rendered):
    page = rendered(result(with_copies(), group(2, "x", "y")))
    page.fill("#search", "near & <b>")
    page.click("#unfold")
    page.select_option("#kind", "identical bytes")
    page.wait_for_url(re.compile("kind"))
    page.reload()
    page.wait_for_selector("#list > li")
    values = [page.locator(each).input_value() for each in ("#search", "#kind")]
    assert values == ["near & <b>", "identical bytes"]

    page.click("#reset")
    page.wait_for_url(re.compile("#all$"))
    page.evaluate("location.hash = '#low=75&high=85&kind=no&view=toString&row=2'")
    page.locator(".head", has_text="found: y").wait_for()
    assert heads(page) == ["x"]
    assert page.locator("#kind").input_value() == ""
    assert page.locator(".member .name").all_inner_texts() == ["x", "y"]


def test_what_changes_right_after_the_address_is_written_stays(rendered):
    page = rendered(result(group(1, "a", "b"), group(2, "x", "y")), size=PHONE)

    page.evaluate("open(page.shown[0]); stepRow(1)")
    page.wait_for_url(re.compile("row=2"))
    page.evaluate("byId('low').value = 1; writeAddress(); byId('low').value = 2; keepAddress()")
    page.wait_for_url(re.compile("low=2"))


def test_on_a_phone_the_group_is_a_screen_of_its_own_with_names_above_buttons(opened, report):
    page = opened(report, size=PHONE)

    def shown():
        return [page.locator(each).is_visible() for each in ("#queue", "#pane")]

    assert page.locator(".row").first.bounding_box()["y"] < 300
    assert shown() == [True, False]
    page.locator(".head").nth(2).click()
    assert shown() == [False, True]
    name, keep = (page.locator(f".member {each}").first for each in (".name", ".keep"))
    assert abs(name.bounding_box()["x"] - keep.bounding_box()["x"]) <= 1
    page.get_by_role("button", name="Back to the list").click()
    assert page.evaluate("document.activeElement.matches('.head[aria-current]')")
    page.locator(".head").first.click()
    for go, seen in ((page.go_back, "#queue"), (page.go_forward, "#pane")):
        go()
        page.locator(seen).wait_for()
        assert shown() == [seen == "#queue", seen == "#pane"]


def test_the_language_switches(page):
    choose(page, "harbour")
    page.wait_for_selector(".diff")
    page.click("#language")

    assert page.get_attribute("html", "lang") == "zh-Hans"
    assert page.title().startswith("files 中的重复文档，20")
    page.get_by_text("处段落有差异").wait_for()
    both = page.evaluate("Object.values(WORDS).map((both) => both.map((one) => typeof one))")
    assert all(one == other for one, other in both if "string" not in (one, other))


def test_the_theme_switches_and_follows_the_system_at_first(page):
    def colour():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    bright = colour()
    page.emulate_media(color_scheme="dark")
    page.reload()
    black = colour()
    page.click("#theme")
    assert (colour(), bright != black) == (bright, True)
    page.click("#theme")
    assert colour() == black


def test_every_key_works_wherever_the_focus_is(page):
    def place():
        return page.evaluate("[page.shown.indexOf(page.chosen), page.place]")

    press(page, "Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    press(page, "/", *"harbour")
    assert page.evaluate("document.activeElement.id") == "search"
    assert len(heads(page)) == 1
    press(page, "Escape")
    assert len(heads(page)) == 4
    press(page, "Escape", "k")
    assert place() == [2, 1]
    press(page, "j", "j")
    assert place() == [3, 1]
    press(page, "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp")
    assert place() == [3, 0]
    press(page, "ArrowDown", "ArrowDown", "c")
    assert page.evaluate("document.activeElement.className") == "comparison"
    press(page, "Tab")
    assert page.evaluate("document.activeElement.closest('.comparison') !== null")
    press(page, "Escape")
    assert page.evaluate("document.activeElement.dataset.place") == "2"
    press(page, "Escape")
    assert page.evaluate("document.activeElement.className") == "head"
    press(page, "c", "d")
    assert page.locator(".goes").count() == 1
    press(page, "u", "?")
    assert page.locator("#helping").is_visible()
    assert page.locator("kbd").all_inner_texts()[:4] == ["j", "k", "↓", "↑"]
    press(page, "j", "Escape")
    assert not page.locator("#helping").is_visible()
    assert page.locator(".goes").count() == 0


def test_focus_can_be_seen(page):
    for _ in range(14):
        press(page, "Tab")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(style) in {"solid", "auto"}


def test_hostile_names_are_text(page):
    choose(page, "hostile")
    names = page.locator(".members .name").all_inner_texts()

    assert {*HOSTILE[:2], r"evil\u202etxt.exe", r"red\x1b[31m.txt"} <= {*names}
    assert {r"line\nbreak.txt", r"\xff\xfe.txt", HOSTILE[-1].rpartition("/")[2]} <= {*names}
    view(page, "about")
    page.click("#settings summary")
    page.locator(".names li").first.wait_for()
    assert "</script><script>window.hacked=1<.png" in page.locator(".names").inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main :is(img, script)").count() == 0


def test_hostile_contents_are_text(page):
    choose(page, "hostile")
    table = compare(page, "other.txt")
    shown = table.inner_text()

    escapes = r"\u202e", r"\x1b[31mred\x1b[0m", r"\u200b", r"\ufeff", "${window.hacked=1}"
    assert all(piece in shown for piece in ("<script>window.hacked=1</script> </te", *escapes))
    assert not {"\u202e", "\x1b", "\u200b"} & set(shown)
    assert page.evaluate("window.hacked") is None
    assert table.locator("img, script").count() == 0


def test_markup_and_scripts_from_elsewhere_are_refused(page, troubles):
    with pytest.raises(api.Error, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>text</b>'")
    with pytest.raises(api.Error, match="TrustedScript"):
        page.add_script_tag(content="window.hacked = 1")

    troubles.clear()


def test_print_has_all_groups_and_no_controls(page):
    page.emulate_media(media="print")

    assert not page.locator("#filters").is_visible()
    assert not page.locator(".top .tools").is_visible()
    assert page.locator(".row").last.is_visible()
    assert len(page.pdf()) > 1000


def test_many_groups_are_laid_out_as_one_scrolls(page):
    page.evaluate(
        """page.shown = Array.from({length: 500}, (_, i) => ({...groups[0], id: i + 1}));
        drawList()"""
    )
    first = page.locator(".row").count()
    page.evaluate("byId('scroller').scrollTo(0, 1e6)")
    page.locator(".row").nth(first).wait_for(state="attached")

    assert first < 200


def test_many_members_are_laid_out_when_asked_for(page):
    page.evaluate(
        """groups[0].members = Array.from({length: 500}, () => groups[0].members[1]);
        choose(groups[0])"""
    )
    assert page.locator(".member").count() == 200
    page.locator(".members .fold button").click()
    page.locator(".members .fold button").click()

    assert page.locator(".member").count() == 500


def test_a_full_page_says_so_and_where(rendered, monkeypatch):
    monkeypatch.setattr(groups, "LARGEST_PAGE", groups.FRAME + 3000)
    noise = "".join(map(chr, range(200, 3000)))
    page = rendered(
        result(group(1, "one", "two"), group(2, "three", "four")),
        lambda document: noise if document.path == "three" else "text",
    )
    choose(page, "three")

    warnings = page.locator(".warnings").first.inner_text()
    assert "The texts of 1 group are not in this page" in warnings
    page.get_by_text("This text is not in the page, which is full.").wait_for()


def test_a_cut_or_missing_text_is_marked_in_its_group(rendered, monkeypatch):
    monkeypatch.setattr(groups, "LONGEST_TEXT", 5)
    read = {"one": "1 2 3 4", "two": "2 2 3 4", "six": Skipped("six", Reason.CHANGED)}
    page = rendered(result(group(1, *read)), lambda document: read[document.path])
    page.get_by_text("Only the first").wait_for()

    page.get_by_label("Right").select_option(label="six")
    page.get_by_text("changed while read").wait_for()


def test_files_known_from_before_are_not_called_read(rendered):
    for known, complete, words in (0, True, "read"), (1, True, "compared"), (1, False, "read"):
        stats = Stats(9, 8, 1234, 0.5, from_store=known)
        page = rendered(replace(result(group(1, "one", "two")), stats=stats, complete=complete))
        view(page, "about")
        assert page.locator("#figures dt").first.inner_text() == f"files {words}"


PARTS = tuple(Part(f"in/{name}\x1b", "in/book.txt", 0.982, 1200, 3400) for name in "ab")


STATES = {
    "nothing found": (lambda _: page_of(result()), "no two of these files"),
    "interrupted": (lambda _: page_of(result(complete=False)), "Run it again"),
    "one group": (lambda _: page_of(result(group(1, "a", "b")), read=str), "1 of 1"),
    "no texts": (lambda _: page_of(result(group(1, "a", "b"))), "made without texts"),
    "no digests": (lambda _: page_of(result(with_copies())), "nothing can be decided here"),
    "parts": (lambda _: page_of(replace(result(), parts=PARTS)), "in in/book.txt, characters"),
    "folders": (lambda _: page_of(result(folders=FOLDERS)), "471 identical"),
    "undecided": (None, "0 of 6 decided; 0 B go"),
    "everything decided": (None, "Everything is decided"),
    "rules": (None, "6 of 6 groups ticked"),
    "rows": (lambda folder: corpus_page(folder, *similar(1, "grey seal", "brown otter")), "2 rows"),
    "answers": (lambda _: answers_page(("first", "lib/a", "lib/b"), ("second",)), "2 documents"),
    "evaluation": (lambda _: accuracy_page(row(16), row(64)), "64 bits"),
}


TOO_LOW = """least => [...document.querySelectorAll('button, a:not(.skip), select, input, summary')]
    .map((each) => [each, each.type === 'checkbox' ? each.closest('label') : each])
    .filter(([, box]) => box.checkVisibility() && box.getBoundingClientRect().height < least - 0.5)
    .map(([each]) => each.outerHTML)"""


def flaws(page):
    """What is too wide, too low to hit, or wrong by axe-core on the screen of a page."""
    width = page.viewport_size["width"]
    found = page.evaluate(TOO_LOW, 24 if width >= 1000 else 44)
    if page.evaluate("document.documentElement.scrollWidth") > width:
        found.append("too wide")
    for scheme in ("light", "dark") if AXE else ():
        page.emulate_media(color_scheme=scheme)
        page.evaluate(AXE.read_text("utf-8"))
        for each in page.evaluate("axe.run()")["violations"]:
            found.append((scheme, each["id"], [node["html"] for node in each["nodes"]]))
    return found


def enter(page, state):
    """Do what a state needs."""
    if state == "folders":
        view(page, "folders")
    elif state == "everything decided":
        press(page, *"dddddd")
    elif state == "rules":
        page.click("#rules")
        page.select_option("#scope", "near")


@pytest.mark.parametrize("state", STATES)
def test_every_state_fits_every_screen_and_axe_finds_no_fault(shown, pairs, tmp_path, state):
    make, words = STATES[state]
    options = {"bypass_csp": True, "size": WIDE}
    page = shown(make(tmp_path), **options) if make else pairs(6, **options)
    enter(page, state)
    page.get_by_text(words).locator("visible=true").first.wait_for()

    for width, height in (WIDE, (1024, 768), PHONE, (360, 640)):
        resize(page, width, height)
        assert flaws(page) == [], width
        if width < 1000 and page.locator(".head").first.is_visible() and state != "rules":
            page.locator(".head").first.click()
            assert flaws(page) == [], (width, "group")
            page.locator(".back").click()


def test_a_difference_gives_both_texts_back(page):
    """For any two texts, the joined passages of each side are the text of that side."""
    draw = random.Random(7)
    words = [*"abcde", "two", "字", "句", "。", ". ", " ", "\n", "X", ", ", "\n\n", "12"]
    pairs = []
    for size in [0, 1, 3, 10, 40, 200, 1500]:
        for change in (0.02, 0.3, 1.0):
            left = draw.choices(words, k=size)
            right = [each for each in left if draw.random() > change / 2]
            for _ in range(int(size * change)):
                right.insert(draw.randint(0, len(right)), draw.choice(words))
            pairs.append(("".join(left), "".join(right)))
    for layout in (False, True):
        sides = page.evaluate(
            """([pairs, layout]) => pairs.map(([a, b]) => {
                const rows = passagesOf(a, b, layout);
                const side = (name) =>
                    rows.flatMap(row => row[name].map(piece => piece[0])).join('');
                const same = (name) => rows.flatMap(row =>
                    row[name].filter(piece => !piece[1]).map(piece => piece[0])).join('');
                return [side('left'), side('right'), same('left'), same('right'),
                    unwrapped(a, layout).text, unwrapped(b, layout).text];
            })""",
            [pairs, layout],
        )

        for left, right, same_left, same_right, a, b in sides:
            assert (left, right) == (a, b)
            if layout:
                assert same_left == same_right
            assert "".join(same_left.split()) == "".join(same_right.split())


def test_the_shortest_edit_is_found(page):
    """As many tokens match as in the longest common subsequence, computed as in a textbook."""
    draw = random.Random(8)
    pairs = [
        [[draw.randrange(4) for _ in range(draw.randrange(30))] for _ in range(2)]
        for _ in range(200)
    ]
    found = page.evaluate(
        "pairs => pairs.map(([a, b]) => [...matched(Int32Array.from(a), Int32Array.from(b))])",
        pairs,
    )

    for (a, b), match in zip(pairs, found, strict=True):
        places = [place for place in match if place >= 0]
        assert places == sorted(set(places))
        assert all(j < 0 or a[i] == b[j] for i, j in enumerate(match))
        assert len(places) == common(a, b)


def common(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        above, row = row, [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
    return row[-1]


def test_long_texts_with_little_in_common_are_compared_quickly(page):
    draw = random.Random(9)
    left, right = (" ".join(str(draw.randrange(3000)) for _ in range(40_000)) for _ in range(2))

    began = monotonic()
    page.evaluate("([a, b]) => passagesOf(a, b).length", [left, right])

    # A second on a machine at rest; without bounds some minutes, and then no memory.
    assert monotonic() - began < patient(60)


VECTORS = json.loads((Path(__file__).parents[1] / "clean/rules.json").read_text("utf-8"))


def test_the_page_has_the_rules_of_clean(page):
    """Every example of `simdup clean --prefer`, asked of the scripts of the page."""
    cases = [
        {
            "rules": case["rules"],
            "files": [
                {key: str(value) if key == "mtime_ns" else value for key, value in each.items()}
                for each in (VECTORS["defaults"] | each for each in case["files"])
            ],
            "reasons": [reasons(each) for each in case["files"]],
        }
        for case in VECTORS["cases"]
    ]
    found = page.evaluate(
        """cases => cases.map(({rules: texts, files, reasons}) => {
            const rules = rulesOf(texts);
            const ranked = files.map((each, at) => ({
                ...each, reasons: reasons[at],
                mtime: BigInt(each.mtime_ns), isFirst: each.representative,
            })).reverse().sort((a, b) => preference(a, b, rules).order);
            const why = ranked.slice(1).map((each) => preference(ranked[0], each, rules).why);
            return [ranked.map((each) => each.path), why];
        })""",
        cases,
    )

    assert found == [[case["order"], case["why"]] for case in VECTORS["cases"]]
    assert len(found) > 20


def saved(page, name):
    """The content of a file that the open dialog of the export offers."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save {name}").click()
    return Path(waiting.value.path()).read_bytes()


def drop_all(page, number):
    """Let the second file of each group go, by keyboard alone."""
    press(page, *"d" * number)
    assert page.locator("#going").inner_text().startswith(f"{number} of ")


# What Chromium does to some pages of files: until it answers a question, it keeps nothing for them.
FORGETFUL = """
    let isKnown = false;
    const { getItem } = Storage.prototype;
    const { persisted } = StorageManager.prototype;
    Storage.prototype.getItem = function (key) { return isKnown ? getItem.call(this, key) : null; };
    StorageManager.prototype.persisted = async function () {
        const answer = await persisted.call(this);
        isKnown = true;
        if (isRefused) throw Error('refused');
        return answer;
    };
"""


@pytest.mark.parametrize("answer", ["given", "refused", "none"])
def test_decisions_are_read_once_the_browser_has_answered_the_page(pairs, answer):
    page = pairs(2)
    drop_all(page, 2)
    decided = page.locator("#going").inner_text()

    again = page.context.new_page()
    again.add_init_script(
        "Object.defineProperty(navigator, 'storage', {value: undefined})"
        if answer == "none"
        else f"const isRefused = {str(answer == 'refused').lower()};" + FORGETFUL
    )
    again.goto(page.url)
    again.locator("#going", has_text=decided).wait_for()
    assert "Everything is decided" in again.locator("#pane").inner_text()
    again.close()


def decided_by_keys(page):
    """Decide about each group in turn; return the paths that go, each with the one that stays."""
    goes = {}
    for turn in range(20):
        assert page.locator("#going").inner_text().startswith(f"{turn} of 20 decided; ")
        first, second = page.evaluate("page.chosen.members.map(({file}) => file.shown)")
        if turn % 7 == 2:
            press(page, *"xx")
        elif turn % 7 == 4:
            press(page, "ArrowUp", "c", "d")
            goes[first] = second
        else:
            press(page, "d")
            goes[second] = first
    return goes


def test_a_review_by_keys_alone_becomes_a_plan_that_clean_carries_out_and_undo_takes_back(
    printed, pairs, tmp_path
):
    def contents():
        return {os.fspath(each): each.read_bytes() for each in (tmp_path / "docs").iterdir()}

    page, before = pairs(20), contents()
    goes = decided_by_keys(page)
    assert page.locator("#going").inner_text().startswith("20 of 20 decided; ")
    page.wait_for_url(lambda url: "row=" not in url)  # which is written some time after a key
    page.reload()
    page.get_by_text("Everything is decided.").wait_for()

    while page.evaluate("document.activeElement.textContent") != "Export …":
        press(page, "Tab")
    press(page, "Enter")
    command = page.locator("dialog code").inner_text().removeprefix("simdup ")
    with page.expect_download() as waiting:
        press(page, "Enter")
    waiting.value.save_as(tmp_path / "plan.jsonl")
    listed = saved(page, "files.txt")
    printed(f"{command} -o again.jsonl")
    for name in ("plan.jsonl", "again.jsonl"):
        plan = read_plan(os.fspath(tmp_path / name))
        assert {
            printable(each.file.path): printable(each.keep.path) for each in plan.actions
        } == goes
    assert all(os.fsencode(each.file.path) + b"\n" in listed for each in plan.actions)

    assert f"{len(goes)} files of" in printed(command, "--color", "never")
    assert contents() == before
    (tmp_path / "gone").mkdir()
    printed(command + " --apply --to gone --journal journal")
    assert {each.file.path for each in plan.actions} == {*before} - {*contents()}
    printed("undo --apply journal")
    assert contents() == before


def test_a_folder_is_decided_as_one_whatever_copies_are_elsewhere_and_clean_says_so(
    printed, scanned, tmp_path
):
    draw = random.Random(3)
    (tmp_path / "all/docs/deep").mkdir(parents=True)
    for name in ("a.txt", "deep/b.txt", "c.txt", "d.txt", "e.txt"):
        words = ("".join(draw.choices("abcdefghij", k=6)) for _ in range(200))
        (tmp_path / "all/docs" / name).write_text(" ".join(words), "utf-8")
    copytree(tmp_path / "all/docs", tmp_path / "all/Backup")
    copy(tmp_path / "all/docs/a.txt", tmp_path / "all/elsewhere.txt")
    page = scanned("all")
    view(page, "folders")
    assert page.locator(".pair .title").all_inner_texts() == ["Backup ~ docs"]

    press(page, "ArrowDown", "ArrowUp", "d")
    assert page.locator("#going").inner_text().startswith("4 of 5 decided; ")
    assert page.locator(".pair .state").inner_text() == "5 files go"
    assert page.locator("#pane [aria-pressed=true]").all_inner_texts() == ["Drop", "Keep"]
    page.click("#export")
    (tmp_path / "plan.jsonl").write_bytes(saved(page, "plan.jsonl"))
    shown = printed("clean plan.jsonl --color never")
    assert "Folder: all of Backup is in docs too" in shown
    page.locator("#exporting").get_by_role("button", name="Close").click()
    press(page, "ArrowUp", "x")
    assert page.locator("#going").inner_text() == "0 of 5 decided; 0 B go"


def test_a_name_keeps_its_spaces_and_stands_before_its_folder_in_any_script(rendered):
    page = rendered(result(group(1, "docs/\u0645\u0644\u0641.txt", "docs/two  spaces.txt")))
    names, folders = page.locator(".member .name"), page.locator(".member .folder")

    assert names.first.bounding_box()["x"] < folders.first.bounding_box()["x"]
    assert names.last.inner_text() == "two  spaces.txt"


def test_only_the_chosen_group_looks_chosen_wherever_the_mouse_is(page):
    edges = []
    for head in page.locator(".head").all()[:2]:
        head.hover()
        edges.append(head.evaluate("each => getComputedStyle(each).borderInlineStartColor"))

    assert edges[0] != edges[1] == "rgba(0, 0, 0, 0)"


def test_a_group_that_a_key_marks_as_not_duplicates_shows_it(page):
    choose(page, "harbour")
    for state in ("true", "false"):
        press(page, "i")
        assert page.locator(".unrelated").get_attribute("aria-pressed") == state


def test_where_every_file_stays_there_is_nothing_to_export(pairs):
    page = pairs(2)
    press(page, *"xxxx")

    assert "every file stays" in page.locator("#pane").inner_text()
    assert page.locator("#export").is_disabled()


def propose(page, rule, scope):
    page.click("#rules")
    page.select_option("#rule", rule)
    page.select_option("#scope", scope)
    return page.locator("#proposals li")


def test_a_rule_decides_as_clean_does(printed, pairs, tmp_path):
    page = pairs(20)
    for rule, scope, options in (
        ("newest", "identical bytes", ""),
        ("oldest", "identical text", "--text"),
        ("newest", "same words", "--text --formats-too"),
        ("original-name", "near", "--text --near 0.8"),
    ):
        propose(page, rule, scope)
        page.click("#apply")
        page.click("#export")
        (tmp_path / "page.jsonl").write_bytes(saved(page, "plan.jsonl"))
        printed(f"clean result.json --prefer {rule} {options} -o {scope[:4]}.jsonl")

        plans = (tmp_path / "page.jsonl", tmp_path / f"{scope[:4]}.jsonl")
        ours, theirs = (read_plan(os.fspath(each)) for each in plans)
        assert len(ours.actions) > 5
        wanted = [replace(each, line=0, contained=None) for each in theirs.actions]
        found = [replace(each, line=0, contained=None) for each in ours.actions]
        assert sorted(found, key=str) == sorted(wanted, key=str)
        alike = {each.file.path: each.contained for each in theirs.actions}
        for each in ours.actions:
            assert each.contained == pytest.approx(alike[each.file.path], abs=1e-5)
        assert ours.header.rules == theirs.header.rules == ("--prefer", rule)
        assert ours.header.roots == theirs.header.roots
        page.evaluate("localStorage.clear()")
        page.reload()


def test_a_rule_shows_what_it_would_do_and_only_ticked_groups_are_decided(pairs):
    page = pairs(6)
    press(page, "x", "x")
    proposals = propose(page, "newest", "near")

    assert proposals.count() == 5
    assert re.match(
        r"stays: 0\d-two.txt \(the newest\)\ngoes: 0\d-one.txt", proposals.last.inner_text()
    )
    assert page.locator("#going").inner_text() == "1 of 6 decided; 0 B go"
    left = proposals.last.locator(".goes .name").inner_text()
    dialog = page.get_by_role("dialog", name="Decide by a rule")
    dialog.get_by_role("button", name="Cancel").click()
    page.click("#language")
    proposals = propose(page, "newest", "near")
    assert "（最新的）\n删除：" in proposals.last.inner_text()
    press(page, "Escape")
    page.click("#language")
    proposals = propose(page, "newest", "near")
    proposals.last.locator("input").uncheck()
    assert page.locator("#apply").inner_text().startswith("Let 4 files go, ")
    press(page, "Escape")
    assert page.locator("#going").inner_text() == "1 of 6 decided; 0 B go"
    propose(page, "under", "near").last.locator("input").uncheck()
    page.click("#apply")
    assert page.locator("#going").inner_text().startswith("5 of 6 decided; ")
    assert "can go" not in "".join(page.locator(".head", has_text="✓").all_inner_texts())
    page.fill("#search", left)
    assert page.locator(".head .state").inner_text() == ""


def test_groups_that_are_no_duplicates_become_commands_of_ignore(pairs, run, tmp_path):
    page = pairs(5)
    # Two are near and one has the same words; files with the very same text cannot be ignored.
    for _ in range(5):
        press(page, "i", "j")
    assert page.locator("#going").inner_text() == "3 of 5 decided; 0 B go"
    press(page, "k", "k", "k", "k", "i")
    assert "the very same text" in page.locator("#said").inner_text()
    page.click("#export")
    (tmp_path / "ignore.sh").write_bytes(saved(page, "ignore.sh"))
    script = "simdup() { printf '%s\\0' \"$@\" ''; }\n. ./ignore.sh\n"
    given = subprocess.run(["bash", "-ec", script], check=True, capture_output=True).stdout
    for words in given.split(b"\0\0")[:-1]:
        assert run(*words.split(b"\0")).code == 0

    assert len(Path(os.environ["SIMDUP_IGNORED"]).read_text("utf-8").splitlines()) == 3
    assert not (tmp_path / "hacked").exists()


def test_any_name_is_one_word_of_a_shell(page):
    names = [b"it's", b"$(touch x) `y` \\ !", b"\xff\xfe", "信 \u202e\n\x1b".encode(), b"-n"]
    words = page.evaluate(
        """names => names.map((bytes) => {
            const raw = Uint8Array.from(bytes);
            const text = new TextDecoder().decode(raw);
            return quoted({raw: /[^ -~]/.test(text) ? raw : null, shown: text});
        })""",
        [[*name] for name in names],
    )

    printed = subprocess.run(
        ["bash", "-c", "printf '%s\\0' " + " ".join(words)], check=True, capture_output=True
    ).stdout
    assert printed.split(b"\0")[:-1] == names


def test_the_last_file_of_a_group_stays_and_decisions_are_taken_back(pairs):
    page = pairs(1)
    press(page, "d", "k")
    page.locator(".head").click()
    press(page, "ArrowUp", "d")
    assert page.locator("#said").inner_text() == "The last file of a group stays."
    assert page.locator(".goes").count() == 1

    press(page, "o")
    assert page.locator('.decide [aria-pressed="true"]').all_inner_texts() == ["Keep", "Drop"]
    press(page, "u", "u")
    assert page.locator("#going").inner_text() == "0 of 1 decided; 0 B go"
    page.locator(".members .drop").first.click()
    assert page.locator(".head .state").inner_text() == "✓ 1 file goes"
    page.locator(".head").click()
    assert page.locator(".goes .name").inner_text() == "00-one.txt"
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#going").inner_text() == "0 of 1 decided; 0 B go"


def test_undo_goes_back_to_where_the_decision_was_made(pairs):
    page = pairs(4)
    there = "[page.chosen.id, document.activeElement.dataset.place]"
    press(page, "j")
    before = page.evaluate(there)
    press(page, "d", "j", "u")
    assert page.evaluate(there) == before
    press(page, "d", "n", "n", "n")
    assert page.evaluate("page.shown.indexOf(page.chosen)") == 2


def test_a_browser_that_keeps_nothing_is_said_openly(pairs):
    page = pairs(2)
    drop_all(page, 1)
    page.click("#help")
    assert "kept in this browser, for this page only" in page.locator("#helping").inner_text()
    press(page, "Escape")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('no'); }; }")
    press(page, "d")
    assert "decisions are lost when it is closed" in page.locator("#said").inner_text()


def test_files_that_nobody_acts_on_cannot_be_dropped(scanned, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "old").mkdir()
    for name in ("new/a.txt", "old/a.txt"):
        (tmp_path / name).write_text(ENGLISH, "utf-8")
    page = scanned("new --against old")

    assert page.locator(".decide").all_inner_texts().count("stays") == 1
    page.locator(".member", has_text="old").click()
    press(page, "d")
    assert page.locator("#said").inner_text() == "It stays: protected: --against."
    propose(page, "newest", "identical bytes")
    page.click("#apply")
    assert page.locator(".member.goes .path").inner_text() == "a.txt new"


def test_texts_that_were_called_different_do_not_go_for_each_other(rendered):
    found = group(1, "a", "b", "c")._replace(not_duplicates=(("a", "c"),))
    page = rendered(result(found))
    refusals = page.evaluate(
        """groups[0].members.map((member, place, all) => {
            for (const each of all) each.file = {bytes: each.name, text: each.name, certain: true};
            return sameness(groups[0], place, (place + 2) % 3).refusal;
        })"""
    )

    assert [each == "different" for each in refusals] == [True, False, False]


def test_a_file_opens_and_its_path_is_copied(pairs, tmp_path):
    page = pairs(3)
    links = []
    for head in page.locator(".head").all():
        head.click()
        links += page.eval_on_selector_all("a.tool", "all => all.map((each) => each.href)")

    paths = [os.fsencode(unquote_to_bytes(each.removeprefix("file://"))) for each in links]
    assert sorted(paths) == sorted(
        os.path.join(os.fsencode(tmp_path), b"docs", name)
        for name in os.listdir(os.fsencode(tmp_path / "docs"))
    )
    page.get_by_role("button", name="Copy the path", exact=False).first.click()
    page.locator("#said", has_text="opied").wait_for()


def test_parts_of_larger_files_are_a_view_of_their_own(rendered):
    page = rendered(replace(result(group(1, "a", "b")), parts=PARTS, settings=Settings(parts=0.8)))
    view(page, "parts")
    rows = page.locator("#parts li")

    assert rows.all_inner_texts() == [
        f"98.2 % in/{name}\\x1b is in in/book.txt, characters 1,200 to 3,400" for name in "ab"
    ]
    page.click("#language")
    assert rows.nth(0).inner_text().endswith("见于 in/book.txt，第 1,200 至 3,400 字")
    view(page, "about")
    assert "有至少 80.0 % 见于较大文件的" in page.locator("#settings").inner_text()


def test_a_screen_reader_hears_words_as_labels(page):
    labels = page.evaluate("[...document.querySelectorAll('[aria-label]')].map((e) => e.ariaLabel)")
    assert "Views" in labels
    assert not [each for each in labels if "[object" in each]


def test_the_answers_to_a_question_stand_beside_it_at_once(shown):
    page = shown(answers_page((HOSTILE[0], "lib/near.txt", "lib/other.txt")))
    page.wait_for_selector(".diff")

    assert page.title().startswith("Answers from lib.simdup")
    assert "question" in page.locator(".member").first.inner_text()
    assert page.locator(".diff th .name").all_inner_texts() == [HOSTILE[0], "near.txt"]
    assert page.locator(".comparison h2").inner_text() == "Comparison 80.0 % of the question in it"
    assert not page.locator("#kind, #order").first.is_visible()
    press(page, "ArrowDown")
    page.wait_for_selector(".diff th:has-text('other.txt')")
    page.locator(".sides select").first.select_option("1")
    page.wait_for_selector(".diff th:has-text('near.txt')")
    # Of two documents nobody knows how alike they are.
    assert page.locator(".comparison h2").inner_text() == "Comparison"
    page.click("#language")
    assert page.locator("h1").inner_text() == "simdup lib.simdup 的查询结果"
    assert page.evaluate("window.hacked") is None


def test_questions_are_rows_and_unanswered_ones_and_unread_documents_are_said(shown):
    asked = ("first",), ("second", "lib/a"), ("third", "lib/b", "lib/c")
    page = shown(answers_page(*asked, unread=600))

    rows = page.locator(".head .facts").all_inner_texts()
    assert [row.split(" · ")[:2][-1] for row in rows] == ["nothing", "1 document", "2 documents"]
    assert page.locator(".head[aria-current]").inner_text().startswith("second")
    press(page, "k")
    assert page.locator(".member").count() == 1
    assert page.locator(".comparison").count() == 0
    page.fill("#search", "lib/c")
    assert page.locator("#count").inner_text() == "1 of 3 questions"
    assert "found: c lib" in page.locator(".head").inner_text()
    view(page, "parts")
    said = "1,800 more documents may share enough too: too many to be read"
    assert page.locator("#parts li").all_inner_texts() == [said]


def test_the_row_of_a_question_has_a_tilde_only_if_its_best_document_is_estimated(shown):
    asked = ("first", "lib/a", "lib/gone"), ("second", "lib/gone", "lib/b")
    page = shown(answers_page(*asked, gone="lib/gone"))

    assert page.locator(".head .alike").all_inner_texts() == ["80.0 %", "~80.0 %"]


def test_rows_of_a_corpus_are_found_by_id_and_text_and_compared(shown, tmp_path):
    texts = [*similar(1, "grey seal", "brown otter", "brown otter"), *similar(2, PAYLOAD, "end")]
    ids = ["<img src=x onerror=window.hacked=1>", "b", "c", "d", "e"]
    page = shown(corpus_page(tmp_path, *texts, ids=ids))

    counts = [each.split(" · ")[1] for each in page.locator(".head .facts").all_inner_texts()]
    assert sorted(counts) == ["2 rows", "3 rows"]
    assert page.locator(".section h2").all_inner_texts() == ["The same text", "Wants a look"]
    page.fill("#search", "w2x0")
    assert page.locator(".beginning").inner_text().startswith("w2x0 w2x1")
    page.fill("#search", "img src")
    assert page.locator("#count").inner_text() == "1 of 2 groups"
    assert page.locator(".set").inner_text() == "2 rows with the same text"
    assert f"{len(texts[1])} characters" in page.locator(".member").first.inner_text()
    page.wait_for_selector(".diff")
    assert page.locator("td ins").all_inner_texts()[-1] == "grey seal"
    page.get_by_label("Right").select_option("1")
    page.get_by_text("Both texts are the same.").wait_for()
    page.click("#language")
    assert "3 行" in page.locator(".head .facts").inner_text()
    assert page.evaluate("window.hacked") is None


def now(page):
    """The figures at the chosen k: F1, precision, recall, accuracy."""
    cells = page.locator("#now tbody td:nth-child(2)").all_inner_texts()
    return [cell.split()[0] for cell in cells]


def test_k_slides_and_every_size_follows(shown):
    page = shown(accuracy_page(row(16, 3), row(64, 13), row(128, 26)))

    assert page.locator("#sizes [aria-pressed=true] b").inner_text() == "64 bits"
    recall = ["0.203", "0.219", "0.500", "0.031"]
    assert now(page)[2] == recall[0]
    page.focus("#k")
    page.keyboard.press("ArrowRight")
    assert now(page) == ["0.759", "0.750", recall[1], "0.625"]
    assert page.locator("#k").get_attribute("aria-valuetext").startswith("k = 14 of 64 bits")
    assert page.locator("#now tbody td:last-child").first.inner_text().startswith("0.667")
    sizes = re.findall(r"(\d+) bits\t(\d+)", page.locator("#every tbody").inner_text())
    assert sizes == [("16", "4"), ("64", "14"), ("128", "28")]
    page.keyboard.press("b")
    assert now(page)[2] == recall[2]
    page.get_by_text("default k = 13").click()
    assert now(page)[2] == recall[0]
    page.get_by_text("128 bits").first.click()
    assert page.locator("#k").input_value() == "26"
    assert page.evaluate("document.activeElement.innerText").startswith("128 bits")
    box = page.locator("#curves").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 36 + (box["width"] - 48) / 96 * 4, box["y"] + 50)
    page.mouse.up()
    assert page.locator("#k").input_value() == "4"
    assert now(page)[2] == recall[3]


def test_undefined_figures_and_names_of_kinds_are_shown_as_they_are(shown):
    named = replace(KINDS[0], kind=HOSTILE[0])
    page = shown(accuracy_page(row(), row(8, recipe=WORDS), kinds=(named, KINDS[1])))

    assert HOSTILE[0] in page.locator("#kinds").inner_text()
    cells = page.locator("#kinds tbody tr").nth(1).inner_text().split("\t")
    assert cells[1:] == ["1,200", "0.1 %", "25.0 %", "0.0 %"]
    page.locator("#k").fill("0")
    assert now(page)[1] == "–"
    assert page.locator("#curves circle").count() == 3
    page.select_option("#recipe", "1")
    assert page.locator("#caption").inner_text().startswith("words, hash mix64, 8 bits")
    assert page.evaluate("window.hacked") is None


def test_charts_keep_their_proportions_on_a_wide_screen(shown):
    page = shown(accuracy_page(row(16), row(64)), size=WIDE)

    shape = page.locator("#curves").bounding_box()
    assert 1.5 < shape["width"] / shape["height"] < 2.5
    assert page.locator("#sizes svg").first.bounding_box()["width"] < 220


def test_a_group_says_why_it_is_near_and_how_many_of_its_files_are_only_related(rendered):
    near = group(1, "a", "b", "c")
    tiers = ("near", ""), ("near", "name"), ("related", "")
    members = zip(near.members, tiers, strict=True)
    decided = (each._replace(tier=tier, near_because=why) for each, (tier, why) in members)
    page = rendered(result(near._replace(members=tuple(decided))))

    choose(page, "a")
    said = page.locator(".because")
    assert said.inner_text() == "near: the same rare name · 1 more is related"
    page.click("#language")
    assert said.inner_text() == "近似：同一少见的名称 · 另有 1 个仅为相关"
