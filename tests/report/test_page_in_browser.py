"""The page in headless Chromium, for an ordinary reader and with hostile names and texts."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from urllib.parse import unquote_to_bytes

import pytest
from conftest import ENGLISH, SIMPLIFIED, TRADITIONAL
from patience import LONG, patient

from simdup.clean.plan import read_plan
from simdup.records import Part, Reason, Skipped, Stats
from simdup.report.page import groups
from simdup.report.wording import percent
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
needs_axe = pytest.mark.skipif(
    AXE is None, reason="no axe-core: install axe-playwright-python, or name it in SIMDUP_AXE"
)

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
def browser():
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """`opened(address)`: the page, which in the end must have no error and no network request."""
    contexts, troubles = [], []

    def opening(address, ready="#list > li", **options):
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(LONG * 1000)
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda asked: troubles.extend({asked.url} - {address}))
        page.goto(address)
        page.wait_for_selector(ready)
        return page

    yield opening
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def rendered(opened, tmp_path):
    """`rendered(result, read)`: the page of a made-up result."""

    def rendering(found, read=None, language="en", day=None, **options):
        path = tmp_path / "page.html"
        path.write_text(page_of(found, language, read, day), "utf-8")
        return opened(path.as_uri(), **options)

    return rendering


@pytest.fixture
def page(opened, report):
    return opened(report)


def heads(page):
    """The names of the groups that are shown."""
    paths = ".group > h2 > .head > :nth-child(4) > .path:first-child"
    return page.eval_on_selector_all(paths, "all => all.map(each => each.textContent)")


def open_group(page, part):
    """Open the group whose heading contains this text, and return it."""
    group = page.locator(".group", has=page.locator(".head", has_text=part)).first
    group.locator(".head").click()
    return group


def compare(group, part):
    """Compare the representative with the member whose row contains this text."""
    group.locator(".members tr", has_text=part).locator(".compare button:not(.tool)").click()
    group.locator(".diff").wait_for()
    return group.locator(".diff")


def test_a_summary_says_what_was_found(page):
    assert page.locator("h1").inner_text().startswith("simdup Duplicates in files, ")
    assert page.title().endswith("20" + page.locator("#title").inner_text()[-2:] + " · simdup")
    figures = page.locator("#figures").inner_text()
    assert "16" in figures
    assert "groups of duplicates" in figures
    assert f"similarity of {percent(SIMILARITY)}" in page.locator("#settings").inner_text()
    assert "1 binary" in page.locator(".reasons").inner_text()


def test_the_histogram_has_all_files_and_the_threshold(page):
    titles = page.eval_on_selector_all("#histogram title", "all => all.map(e => e.textContent)")

    assert sum(int(title.split()[0]) for title in titles) == 12
    assert f"threshold {percent(SIMILARITY)}" in page.locator("#histogram").text_content()


def test_searching_shows_the_groups_with_all_words_in_one_path(page):
    page.fill("#search", "HARBOUR let")
    assert [head.split(" > ")[0] for head in heads(page)] == ["files/letters/harbour"]
    assert page.locator("#count").inner_text() == "1 of 4 groups"

    page.fill("#search", "harbour clock")
    assert page.locator("#list").inner_text() == "No group fits the search and the filters."

    page.click("#reset")
    assert len(heads(page)) == 4


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("kind", "identical bytes", ["files/bytes/a.txt", "files/hostile/\\xff\\xfe.txt"]),
        ("folder", "files/钟表", ["files/钟表/clock.txt"]),
        ("coding", "gb18030", ["files/钟表/clock.txt"]),
    ],
)
def test_a_filter_shows_only_matching_groups(page, field, value, found):
    page.select_option(f"#{field}", value)

    assert heads(page) == found


def test_a_range_of_similarity_is_a_filter(page):
    page.fill("#low", "100")
    found = ["files/bytes/a.txt", "files/hostile/\\xff\\xfe.txt", "files/钟表/clock.txt"]
    assert sorted(heads(page)) == found

    page.fill("#low", "")
    page.fill("#high", "99.9")
    found = page.locator(".head .match .path").all_inner_texts()
    assert sorted(found) == [
        "files/hostile/other.txt",
        "files/letters/harbour.txt",
        "files/钟表/glasses.txt",
    ]


def test_groups_are_sorted(page):
    page.select_option("#order", "files")
    counts = [int(text.split()[0]) for text in page.locator(".head .count").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)

    page.select_option("#order", "path")
    assert heads(page) == sorted(heads(page))


def test_an_open_group_shows_its_members_and_their_distance(page):
    group = open_group(page, "harbour")
    rows = group.locator(".members tbody tr").all_inner_texts()

    assert len(rows) == 3
    assert rows[0].split("\t")[1] == "representative"
    assert "%" in rows[1]
    assert "bit" in rows[1]
    group.locator(".head").click()
    assert page.locator(".members").count() == 0


def test_an_identical_set_has_a_heading_with_its_number(rendered):
    page = rendered(result(with_copies(), group(2, "a.txt", "b.txt")))
    opened = open_group(page, "first.txt")
    rows = opened.locator(".members tbody tr").all_inner_texts()

    assert "6 files, 4 identical" in opened.locator(".head").inner_text()
    assert rows[0].strip() == "2 identical files"
    assert rows[1].startswith("representative")
    assert "copy.txt" in rows[2]
    assert "same bytes" in rows[2]
    assert "near.txt" in rows[3]
    heading = "3 files with the same text, 2 of them identical, 52.0 % like the representative"
    assert rows[4].strip() == heading
    assert all(p in row for p, row in zip(("set-1", "set-3", "set-2"), rows[5:], strict=True))
    assert "20 bits" in rows[5]
    assert "same bytes" in rows[6]
    assert "same text" in rows[7]
    inside = opened.locator(".members .inside").all_inner_texts()
    assert [next(n for n in ("first", "copy", "set") if n in row) for row in inside] == [
        *("first", "copy", "set", "set", "set")
    ]
    for kind, found in {"identical bytes": 1, "identical text": 1, "near": 2}.items():
        page.select_option("#kind", kind)
        assert len(heads(page)) == found


def test_the_heading_of_a_group_of_versions_is_their_chain(rendered):
    page = rendered(result(*with_versions()))

    assert heads(page) == [
        "in/lease v1 > v2.txt, newest last; 12 % changed",
        "a1 > a2 > a3, newest last",
        "b",
    ]
    page.click("#language")
    assert heads(page)[0] == "in/lease v1 > v2.txt（从旧到新），依次改动 12 %"


def test_a_pair_of_folders_is_one_row_that_opens_into_its_groups(rendered):
    groups = group(1, "code/old/a", "code/new/a"), group(2, "b", "c")
    page = rendered(result(*groups, folders=FOLDERS))
    rows = page.locator(".pair .head")

    assert heads(page) == ["b"]
    assert page.locator("#count").inner_text() == "2 groups"
    assert rows.nth(0).inner_text().split("\n")[0] == "97.6 %"
    assert (
        "code/old ~ code/new\\x1b: 500 of 512 files, 471 identical, 9 not compared;"
        " newer: new\\x1b" in rows.nth(0).inner_text()
    )
    assert "a/docs ~ b/docs: 4 of 4 files, 4 identical" in rows.nth(1).inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert heads(page) == ["code/old/a", "b"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#group-1 .members").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    assert heads(page) == ["b"]
    page.fill("#search", "new/a")
    assert page.locator(".pair").count() == 1
    assert page.locator("#count").inner_text() == "1 of 2 groups"
    page.fill("#search", "docs")
    assert "a/docs" in page.locator("#list").inner_text()
    page.click("#language")
    assert "：4 个文件中有 4 个的副本，其中 4 个文字相同" in rows.nth(0).inner_text()


def test_files_that_were_compared_for_identity_only_are_counted(rendered):
    stats = Stats(9, 8, 1234, 0.5, identity_only=(("lock file", 2), ("SVG image", 1)))
    page = rendered(replace(result(group(1, "a", "b")), stats=stats))

    words = "Compared for identity only: 2 lock files, 1 SVG image."
    assert words in page.locator("#settings").inner_text()
    page.click("#language")
    words = "只查找完全相同者：2 个锁定文件、1 个矢量图。"
    assert words in page.locator("#settings").inner_text()


@pytest.mark.parametrize(
    ("name", "other", "gone", "new"),
    [
        ("harbour", "harbour-2.txt", {"grey seal", "library"}, {"brown otter"}),
        ("clock.txt", "glasses.txt", {"钟表"}, {"眼镜"}),
    ],
)
def test_english_is_compared_by_words_and_chinese_by_characters(page, name, other, gone, new):
    table = compare(open_group(page, name), other)

    assert gone <= {*table.locator("del").all_inner_texts()}
    assert new <= {*table.locator("ins").all_inner_texts()}


def test_equal_passages_are_folded_and_can_be_unfolded(page):
    table = compare(open_group(page, "clock.txt"), "glasses.txt")
    before = table.locator("tr.same").count()
    fold = table.locator(".fold button").first
    folded = int(fold.inner_text().split()[0])
    fold.click()

    assert folded > 1
    assert table.locator("tr.same").count() == before + folded


def test_any_two_members_are_put_side_by_side(page):
    group = open_group(page, "harbour")
    compare(group, "harbour-2.txt")
    group.get_by_label("Left").select_option(label="harbour-3.txt")
    group.locator("th .name", has_text="harbour-3.txt").wait_for()
    gone = group.locator("del").all_inner_texts()
    group.get_by_label("Right").select_option(label="harbour-3.txt")

    assert "library" in gone
    group.get_by_text("Both texts are the same.").wait_for()


@pytest.fixture
def siblings(rendered):
    """The page of one group and two families of siblings."""
    found = replace(
        result(group(1, "letters/a", "letters/b")),
        patterns=(
            family(2, (0.62, 0.12), (0.5, 0.1), folder="forms/"),
            family(3, (0.58, 0.48), folder="leases/"),
        ),
        stats=Stats(9, 8, 1234, 0.5, siblings=4),
    )
    return rendered(found, lambda document: f"The text of {document.path}.")


def test_related_texts_are_shown_only_if_they_are_chosen(rendered):
    related = group(2, "recipes/a", "recipes/b")._replace(score=0.5)
    page = rendered(result(group(1, "letters/a", "letters/b"), related))
    assert heads(page) == ["letters/a"]
    assert page.locator("#count").inner_text() == "1 group"

    page.get_by_role("button", name="group of related texts").click()
    assert heads(page) == ["recipes/a"]


def test_files_of_one_pattern_are_shown_only_if_they_are_asked_for(siblings):
    switch = siblings.get_by_label("also show files of one pattern (2 groups)")
    assert not switch.is_checked()
    assert heads(siblings) == ["letters/a"]
    assert siblings.locator("#kind option").all_inner_texts() == ["all", "near"]

    switch.check()
    assert heads(siblings) == ["letters/a", "forms/form-0", "leases/form-0"]
    assert siblings.locator("#count").inner_text() == "3 groups"
    siblings.select_option("#kind", "same pattern")
    assert heads(siblings) == ["forms/form-0", "leases/form-0"]
    siblings.select_option("#folder", "leases")
    assert heads(siblings) == ["leases/form-0"]

    switch.uncheck()
    assert heads(siblings) == ["letters/a"]
    assert siblings.locator("#folder option").all_inner_texts() == ["all", "letters"]


def test_a_family_says_who_else_has_what_its_files_share(siblings):
    siblings.check("#patterns")
    family = open_group(siblings, "forms")
    rows = family.locator(".members tbody tr").all_inner_texts()

    assert "50.0 % to 62.0 % alike, nearly all of it shared with about " in family.inner_text()
    assert "own share 12.0 %" in rows[1]
    assert "own share" not in rows[0]
    assert "copies" not in family.locator(".head").inner_text()
    assert compare(family, "form-1").locator("ins").all_inner_texts() == ["1"]
    lease = open_group(siblings, "leases")
    assert "58.0 % alike, half of it shared with about 5 other files" in lease.inner_text()

    siblings.click("#language")
    assert "几乎全部也见于约" in siblings.locator("#group-2").inner_text()
    assert siblings.get_by_label("同时显示同一模板的文件（2 组）").is_checked()


def test_families_are_in_no_figure_and_in_the_words_about_the_scan(siblings):
    siblings.check("#patterns")
    titles = siblings.eval_on_selector_all("#histogram title", "all => all.map(e => e.textContent)")

    assert [int(title.split()[0]) for title in titles] == [1]
    assert "groups of duplicates\n1\n" in siblings.locator("#figures").inner_text()
    assert "4 pairs of files fell short" in siblings.locator("#settings").inner_text()


def test_the_keyboard_switches_files_of_one_pattern_on(siblings):
    focused = "document.activeElement.id"
    while siblings.evaluate(focused) != "patterns":
        siblings.keyboard.press("Tab")
    siblings.keyboard.press("Space")
    assert len(heads(siblings)) == 3
    siblings.keyboard.press("/")
    assert siblings.evaluate(focused) == "search"

    open_group(siblings, "leases")
    siblings.keyboard.press("Escape")
    assert siblings.locator(".members").count() == 0


def test_what_can_go_and_what_wants_a_look_are_filters(rendered):
    found = replace(
        result(with_copies(), *with_versions()[:1], group(3, "x", "y")),
        patterns=(family(4, (0.62, 0.12)),),
    )
    page = rendered(found)
    names = ["safe", "look"]
    texts = [page.locator(f".{name}").inner_text().split("\n") for name in names]

    assert texts == [
        ["Can go safely", "2 identical copies 200 B", "1 copy of the same text 100 B"],
        [
            "Wants a look",
            "1 group of versions",
            "4 near-duplicates 400 B",
            "1 group of one pattern",
        ],
    ]
    shown = {"identical copies": ["in/first.txt"], "group of one pattern": ["form-0"]}
    shown["of versions"] = ["in/lease v1 > v2.txt, newest last; 12 % changed"]
    for text, expected in shown.items():
        button = page.locator("#facets button", has_text=text)
        button.click()
        assert heads(page) == expected
        assert button.get_attribute("aria-pressed") == "true"
        assert page.locator('#facets [aria-pressed="true"]').count() == 1
        button.click()
        assert page.locator('#facets [aria-pressed="true"]').count() == 0
        assert len(heads(page)) == 3


def test_the_language_is_that_of_the_browser_unless_told(rendered):
    found = result(group(1, "a", "b"))
    cases = {("zh-CN", None): "zh-Hans", ("fr-FR", None): "en", ("en-GB", "zh"): "zh-Hans"}

    for (locale, language), opened in cases.items():
        page = rendered(found, language=language, locale=locale, day=1_790_000_000)
        assert page.get_attribute("html", "lang") == opened
    assert page.locator("#title").inner_text() == "8 个文件中的重复文档，2026年9月21日"


def test_a_search_shows_and_marks_the_member_that_it_found(rendered):
    members = [f"in/{number}.txt" for number in range(300)]
    page = rendered(result(group(1, *members), group(2, "x", "y")))
    page.fill("#search", "n/287")

    assert page.locator(".head .match").inner_text() == "found: in/287.txt"
    assert page.locator(".head mark").all_inner_texts() == ["n/", "287"]
    open_group(page, "287")
    assert page.locator(".members .sought").inner_text().split("\t")[2] == "in/287.txt"
    page.fill("#search", "")
    assert page.locator("mark, .match, .sought").count() == 0


def test_a_bar_of_the_histogram_shows_its_groups(rendered):
    page = rendered(result(with_copies(), group(2, "x", "y")))
    bar = page.get_by_role("button", name="1 file from 69 %")
    bar.focus()
    page.keyboard.press("Enter")

    assert heads(page) == ["in/first.txt"]
    assert page.locator(".match").inner_text() == "found: in/near.txt"
    assert page.evaluate("document.activeElement.id") == "list"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.className") == "head"


def test_the_filters_are_in_the_address(rendered):
    page = rendered(result(with_copies(), group(2, "x", "y")))
    page.fill("#search", "near & <b>")
    page.select_option("#kind", "identical bytes")
    page.wait_for_url(re.compile("kind"))
    page.reload()
    page.wait_for_selector("#list > li")
    assert page.locator("#search").input_value() == "near & <b>"
    assert page.locator("#kind").input_value() == "identical bytes"

    page.click("#reset")
    page.wait_for_url(re.compile("#all$"))
    page.evaluate("location.hash = '#low=75&high=85&kind=no'")
    page.locator(".head", has_text="found: y").wait_for()
    assert heads(page) == ["x"]
    assert page.locator("#kind").input_value() == ""


def test_pairs_are_compared_one_after_the_other(rendered):
    read = {"in/a 1": "one two", "in/a 2": "one three", "in/a 3": "six", "x/b": "b", "y/b": "b c"}
    page = rendered(
        result(group(1, *list(read)[:3]), group(2, "x/b", "y/b")), lambda each: read[each.path]
    )
    compare(open_group(page, "a 1"), "a 2")
    about = page.locator(".pairs .note")
    assert about.inner_text() == "Pair 1 of 2 in group 1: 80.0 % alike"
    assert page.evaluate("document.activeElement.className") == "comparison"
    assert page.locator(".diff th").all_inner_texts() == ["a 1", "a 2"]
    page.get_by_label("Left").select_option(label="a 3")
    assert about.inner_text() == "Pair 2 of 2 in group 1: ~100 % alike"

    page.get_by_role("button", name="Next pair").click()
    assert about.inner_text() == "Pair 1 of 1 in group 2: 80.0 % alike"
    page.locator(".diff th", has_text="x/b").wait_for()
    box = page.locator(".comparison").bounding_box()
    assert 0 <= box["y"] < 400
    page.get_by_role("button", name="Previous pair").click()
    assert about.inner_text() == "Pair 2 of 2 in group 1: 80.0 % alike"
    page.keyboard.press("Escape")
    assert page.locator(".comparison").count() == 0
    assert page.locator("#group-1 .members").is_visible()


def test_the_first_group_is_on_the_first_screen_of_a_phone(opened, report):
    page = opened(report, viewport={"width": 390, "height": 844})

    assert page.locator(".group").first.bounding_box()["y"] < 500
    assert not page.locator("#kind").is_visible()
    page.get_by_role("button", name="More filters").click()
    assert page.locator("#kind").is_visible()


def test_the_language_switches(page):
    compare(open_group(page, "harbour"), "harbour-2.txt")
    page.click("#language")

    assert page.get_attribute("html", "lang") == "zh-Hans"
    assert page.title().startswith("files 中的重复文档，20")
    assert "重复分组" in page.locator("#figures").inner_text()
    page.get_by_text("处段落有差异").wait_for()
    page.click("#language")
    assert page.get_attribute("html", "lang") == "en"


def test_the_theme_switches_and_follows_the_system_at_first(opened, report):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = opened(report, color_scheme="light")
    dark = opened(report, color_scheme="dark")
    system = light.evaluate(colour), dark.evaluate(colour)
    for page in (light, dark):
        page.click("#theme")
    chosen = light.evaluate(colour), dark.evaluate(colour)
    light.click("#theme")

    assert system[0] != system[1]
    assert chosen == (system[0], system[0])
    assert light.evaluate(colour) == system[1]


def test_the_keyboard_alone_is_enough(page):
    focused = "document.activeElement.closest('.group')?.id ?? document.activeElement.id"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    assert page.evaluate(focused) == "search"
    page.keyboard.type("harbour")
    assert len(heads(page)) == 1
    page.keyboard.press("Escape")
    assert len(heads(page)) == 4

    ids = page.eval_on_selector_all(".group", "all => all.map(each => each.id)")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == ids[0]
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == "search"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == ids[1]
    page.keyboard.press("End")
    assert page.evaluate(focused) == ids[-1]
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator(f"#{ids[0]} .members").is_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    page.locator(".diff").wait_for()
    assert page.evaluate("document.activeElement.className") == "comparison"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator(".members").count() == 0
    assert page.evaluate("document.activeElement.className") == "head"


def test_focus_can_be_seen(page):
    for _ in range(14):
        page.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(style) in {"solid", "auto"}


def test_hostile_names_are_text(page):
    group = open_group(page, "hostile")
    names = group.locator(".members .name").all_inner_texts()

    assert "<img src=x onerror=window.hacked=1>.txt" in names
    assert "\"'><svg onload=window.hacked=1>.txt" in names
    assert r"evil\u202etxt.exe" in names
    assert r"red\x1b[31m.txt" in names
    assert r"line\nbreak.txt" in names
    assert r"\xff\xfe.txt" in names
    assert "script><script>window.hacked=1<.txt" in names
    page.click("#settings summary")
    page.locator(".names li").first.wait_for()
    assert "</script><script>window.hacked=1<.png" in page.locator(".names").inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main :is(img, script)").count() == 0


def test_hostile_contents_are_text(page):
    table = compare(open_group(page, "hostile"), "other.txt")
    shown = table.inner_text()

    for piece in (
        "<script>window.hacked=1</script> </textarea><!-- ",
        r"\u202e",
        r"\x1b[31mred\x1b[0m",
        r"\u200b",
        r"\ufeff",
        "${window.hacked=1}",
    ):
        assert piece in shown
    assert not {"\u202e", "\x1b", "\u200b"} & set(shown)
    assert page.evaluate("window.hacked") is None
    assert table.locator("img, script").count() == 0


def test_markup_and_scripts_from_elsewhere_are_refused(browser, report):
    page = browser.new_page()
    page.goto(report)

    with pytest.raises(api.Error, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>text</b>'")
    with pytest.raises(api.Error, match="TrustedScript"):
        page.add_script_tag(content="window.hacked = 1")
    page.close()


@pytest.mark.parametrize("width", [320, 800])
def test_nothing_is_wider_than_a_phone(opened, report, width):
    page = opened(report, viewport={"width": width, "height": 800})
    compare(open_group(page, "harbour"), "harbour-2.txt")

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_has_all_groups_and_no_controls(page):
    page.emulate_media(media="print")

    assert not page.locator("#filters").is_visible()
    assert not page.locator(".tools").is_visible()
    assert len(page.pdf()) > 1000


def test_many_groups_are_laid_out_as_one_scrolls(page):
    page.evaluate(
        """page.shown = Array.from({length: 500}, (_, i) => ({...groups[0], id: i + 1}));
        drawGroups()"""
    )
    first = page.locator(".group").count()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.locator(".group").nth(first).wait_for(state="attached")

    assert first < 200


def test_many_members_and_differences_are_laid_out_when_asked_for(page):
    page.evaluate(
        """groups[0].members = Array.from({length: 500}, () => groups[0].members[1]);
        drawGroups()"""
    )
    page.locator(".head").first.click()
    rows = page.locator(".members tbody tr")
    assert rows.count() == 201
    rows.last.get_by_role("button").click()
    rows.last.get_by_role("button").click()

    assert rows.count() == 500


def test_both_sides_of_a_comparison_have_the_same_width(page):
    table = compare(open_group(page, "clock.txt"), "glasses.txt")
    left, right = (table.locator("th").nth(place).bounding_box()["width"] for place in (0, 1))

    assert abs(left - right) < 2
    assert abs(left + right - table.bounding_box()["width"]) < 4


def test_a_page_without_texts_says_so(rendered):
    page = rendered(result(group(1, "a", "b")))
    assert not page.locator("#patterns").is_visible()
    opened = open_group(page, "a")
    opened.get_by_role("button", name="Compare").click()

    opened.get_by_text("This page was made without texts").wait_for()
    assert opened.locator(".diff").count() == 0


def test_a_full_page_says_so_and_where(rendered, monkeypatch):
    monkeypatch.setattr(groups, "LARGEST_PAGE", groups.FRAME + 3000)
    noise = "".join(map(chr, range(200, 3000)))
    page = rendered(
        result(group(1, "one", "two"), group(2, "three", "four")),
        lambda document: noise if document.path == "three" else "text",
    )
    opened = open_group(page, "three")
    opened.get_by_role("button", name="Compare").click()

    assert "The texts of 1 group are not in this page" in page.locator(".warning").inner_text()
    opened.get_by_text("This text is not in the page, which is full.").wait_for()


def test_a_cut_or_missing_text_is_marked_in_its_group(rendered, monkeypatch):
    monkeypatch.setattr(groups, "LONGEST_TEXT", 5)
    read = {"one": "1 2 3 4", "two": "2 2 3 4", "six": Skipped("six", Reason.CHANGED)}
    page = rendered(result(group(1, *read)), lambda document: read[document.path])
    opened = open_group(page, "one")
    compare(opened, "two")
    assert "Only the first" in opened.locator(".verdict").inner_text()

    opened.get_by_label("Right").select_option(label="six")
    opened.get_by_text("changed while read").wait_for()


@pytest.mark.parametrize(
    ("known", "complete", "words"),
    [(0, True, "files read"), (1, True, "files compared"), (1, False, "files read")],
)
def test_files_known_from_before_are_not_called_read(rendered, known, complete, words):
    stats = Stats(9, 8, 1234, 0.5, from_store=known)
    page = rendered(replace(result(group(1, "one", "two")), stats=stats, complete=complete))

    assert page.locator("#figures dt").first.inner_text() == words


def test_an_interrupted_scan_and_an_empty_one_say_so(rendered):
    page = rendered(result(complete=False))
    assert "interrupted" in page.locator(".warning").inner_text()

    page = rendered(result())
    assert "no two of these files" in page.locator("#list").inner_text()
    assert page.locator(".warning").count() == 0


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
    sides = page.evaluate(
        """pairs => pairs.map(([a, b]) => {
            const rows = passagesOf(a, b);
            const side = (name) => rows.flatMap(row => row[name].map(piece => piece[0])).join('');
            const same = (name) => rows.flatMap(row =>
                row[name].filter(piece => !piece[1]).map(piece => piece[0])).join('');
            return [side('left'), side('right'), same('left'), same('right'),
                unwrapped(a), unwrapped(b)];
        })""",
        pairs,
    )

    for left, right, same_left, same_right, a, b in sides:
        assert (left, right) == (a, b)
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

    seconds = page.evaluate(
        """([a, b]) => {
            const began = performance.now();
            passagesOf(a, b);
            return (performance.now() - began) / 1000;
        }""",
        [left, right],
    )

    assert seconds < patient(20)


def faults(page):
    """What axe-core finds wrong with a page, and where."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [
        (each["id"], each["impact"], [node["html"] for node in each["nodes"]]) for each in found
    ]


@needs_axe
@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "zh")])
def test_axe_finds_no_fault(opened, report, scheme, language):
    page = opened(report, color_scheme=scheme, bypass_csp=True)
    if language == "zh":
        page.click("#language")
    compare(open_group(page, "harbour"), "harbour-2.txt")
    page.locator(".members .drop").first.click()
    page.click("#ruling summary")

    assert faults(page) == []


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


def scanned(folder, number=20):
    """The address of a page of so many groups of two files, of every kind.

    The result as JSON is beside it.
    """
    draw = random.Random(6)
    docs = folder / "docs"
    docs.mkdir()
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
    run(folder, "scan docs --html page.html --no-cache -q --lang en --format json -o result.json")
    return (folder / "page.html").as_uri()


def run(folder, command, *more, code=0):
    """Run simdup there, and return what it printed on both streams."""
    words = [sys.executable, "-m", "simdup", *command.split(), *more]
    ended = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    assert ended.returncode == code, ended.stderr
    return (ended.stdout + ended.stderr).decode()


def saved(page, name):
    """The content of a file that the open dialog of the export offers."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save {name}").click()
    return Path(waiting.value.path()).read_bytes()


def drop_all(page, number):
    """Let the second file of each group go, by keyboard alone."""
    for _ in range(number):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("d")


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


@pytest.mark.parametrize("answer", ["given", "refused"])
def test_decisions_are_read_once_the_browser_has_answered_the_page(opened, tmp_path, answer):
    page = opened(scanned(tmp_path, 2))
    page.add_init_script(f"const isRefused = {str(answer == 'refused').lower()};" + FORGETFUL)
    drop_all(page, 2)
    decided = page.locator("#going").inner_text()
    assert decided.startswith("2 files go, ")

    page.reload()
    page.wait_for_selector("#list > li")
    assert page.locator("#going").inner_text() == decided


def test_a_browser_that_has_no_question_of_storage_shows_the_page(opened, tmp_path):
    page = opened(scanned(tmp_path, 2))
    page.add_init_script("Object.defineProperty(navigator, 'storage', {value: undefined})")
    page.reload()
    page.wait_for_selector("#list > li")
    assert page.evaluate("navigator.storage") is None
    drop_all(page, 2)
    assert page.locator("#going").inner_text().startswith("2 files go, ")


def test_decisions_by_keyboard_become_a_plan_that_clean_carries_out_and_undo_takes_back(
    opened, tmp_path
):
    page = opened(scanned(tmp_path))
    before = {each.name: each.read_bytes() for each in (tmp_path / "docs").iterdir()}
    drop_all(page, 20)
    assert page.locator("#going").inner_text().startswith("20 files go, ")
    page.reload()
    page.wait_for_selector("#list > li")
    assert page.locator("#going").inner_text().startswith("20 files go, ")

    page.focus("#export")
    page.keyboard.press("Enter")
    command = page.locator("dialog code").inner_text()
    (tmp_path / "plan.jsonl").write_bytes(saved(page, "plan.jsonl"))
    listed = saved(page, "files.txt")
    plan = read_plan(os.fspath(tmp_path / "plan.jsonl"))
    goes = [each.file.path for each in plan.actions]
    assert len(goes) == 20
    assert listed.count(b"\n") == 21  # a name has one
    assert all(os.fsencode(path) + b"\n" in listed for path in goes)
    assert command.startswith("simdup clean plan.jsonl --text --near 0.9")

    dry = run(tmp_path, command.removeprefix("simdup "), "--color", "never")
    assert "20 files of" in dry
    assert "would go to the trash" in dry
    assert {each.name: each.read_bytes() for each in (tmp_path / "docs").iterdir()} == before
    gone, journal = tmp_path / "gone", tmp_path / "journal"
    gone.mkdir()
    acts = command.removeprefix("simdup ") + " --apply --to gone --journal journal"
    run(tmp_path, acts)
    assert sorted(goes) == sorted(
        os.path.join(tmp_path, "docs", name)
        for name in before
        if not os.path.lexists(tmp_path / "docs" / name)
    )
    run(tmp_path, "undo --apply", os.fspath(journal))
    assert {each.name: each.read_bytes() for each in (tmp_path / "docs").iterdir()} == before


def test_a_rule_decides_as_clean_does(opened, tmp_path):
    address = scanned(tmp_path)
    for rule, scope, options in (
        ("newest", "identical bytes", ""),
        ("oldest", "identical text", "--text"),
        ("newest", "same words", "--text --formats-too"),
        ("original-name", "near", "--text --near 0.8"),
    ):
        page = opened(address)
        page.click("#ruling summary")
        page.select_option("#rule", rule)
        page.select_option("#scope", scope)
        page.get_by_role("button", name="Apply").click()
        page.click("#export")
        (tmp_path / "page.jsonl").write_bytes(saved(page, "plan.jsonl"))
        run(tmp_path, f"clean result.json --prefer {rule} {options} -o {scope[:4]}.jsonl")

        plans = (tmp_path / "page.jsonl", tmp_path / f"{scope[:4]}.jsonl")
        ours, theirs = (read_plan(os.fspath(each)) for each in plans)
        assert len(ours.actions) > 5
        wanted = [replace(each, line=0, similarity=None) for each in theirs.actions]
        found = [replace(each, line=0, similarity=None) for each in ours.actions]
        assert sorted(found, key=str) == sorted(wanted, key=str)
        alike = {each.file.path: each.similarity for each in theirs.actions}
        for each in ours.actions:
            assert each.similarity == pytest.approx(alike[each.file.path], abs=1e-5)
        assert ours.header.rules == theirs.header.rules == ("--prefer", rule)
        assert ours.header.roots == theirs.header.roots


def test_groups_that_are_no_duplicates_become_commands_of_ignore(opened, tmp_path):
    page = opened(scanned(tmp_path, 5))
    # Two are near and one has the same words; files with the very same text cannot be ignored.
    for _ in range(5):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("x")
    shown = page.locator("#going").inner_text()
    assert shown == "0 files go, 0 B · 3 groups marked as not duplicates"
    assert "the very same text" in page.locator("#said").inner_text()
    page.click("#export")
    (tmp_path / "ignore.sh").write_bytes(saved(page, "ignore.sh"))
    script = f'simdup() {{ "{sys.executable}" -m simdup "$@"; }}\n. ./ignore.sh\n'
    environment = os.environ | {"SIMDUP_IGNORED": os.fspath(tmp_path / "ignored.jsonl")}
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=environment, check=True)

    assert len((tmp_path / "ignored.jsonl").read_text("utf-8").splitlines()) == 3
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


def test_the_last_file_of_a_group_stays_and_decisions_are_taken_back(opened, tmp_path):
    page = opened(scanned(tmp_path, 1))
    drop_all(page, 1)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("d")
    assert page.locator("#said").inner_text() == "The last file of a group stays."
    assert page.locator(".goes").count() == 1

    page.keyboard.press("o")
    assert page.locator('.decide [aria-pressed="true"]').all_inner_texts() == ["Keep", "Drop"]
    page.keyboard.press("z")
    page.keyboard.press("z")
    assert page.locator("#going").inner_text() == "Nothing is decided yet."
    page.locator(".members .drop").first.click()
    assert page.locator(".goes .name").inner_text() == "00-one.txt"
    page.get_by_role("button", name="Clear").click()
    page.keyboard.press("Escape")
    assert page.locator("#going").inner_text() == "Nothing is decided yet."


def test_a_rule_leaves_alone_what_was_decided_by_hand(opened, tmp_path):
    page = opened(scanned(tmp_path, 6))
    drop_all(page, 1)
    by_hand = page.locator(".goes .name").inner_text()
    page.click("#ruling summary")
    page.select_option("#rule", "under")
    page.select_option("#scope", "near")
    page.get_by_role("button", name="Apply").click()

    assert page.locator("#going").inner_text().startswith("6 files go, ")
    assert page.locator(".goes .name").inner_text() == by_hand


def test_a_browser_that_keeps_nothing_is_said_openly(opened, rendered, tmp_path):
    address = scanned(tmp_path, 1)
    page = opened(address)
    drop_all(page, 1)
    assert "kept in this browser, for this page only" in page.locator("#kept").inner_text()
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('no'); }; }")
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert "decisions are lost when it is closed" in page.locator("#kept").inner_text()

    page = rendered(result(group(1, "a", "b")))  # does not say which files it saw
    assert not page.locator("#decisions, #ruling").first.is_visible()
    assert open_group(page, "a").locator(".decide").count() == 0


def test_files_that_nobody_acts_on_cannot_be_dropped(opened, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "old").mkdir()
    for name in ("new/a.txt", "old/a.txt"):
        (tmp_path / name).write_text(ENGLISH, "utf-8")
    run(tmp_path, "scan new --against old --html page.html --no-cache -q --lang en")
    page = opened((tmp_path / "page.html").as_uri())
    open_group(page, "a.txt")

    assert page.locator(".decide").all_inner_texts().count("stays") == 1
    page.locator(".member", has_text="old/").focus()
    page.keyboard.press("d")
    assert page.locator("#said").inner_text() == "It stays: protected: --against."
    page.click("#ruling summary")
    page.get_by_role("button", name="Apply").click()
    assert page.locator(".goes .path").inner_text() == "new/a.txt"


def test_a_file_opens_and_its_path_is_copied(opened, tmp_path):
    page = opened(scanned(tmp_path, 3))
    for head in page.locator(".head").all():
        head.click()
    links = page.eval_on_selector_all("a.tool", "all => all.map((each) => each.href)")

    paths = [os.fsencode(unquote_to_bytes(each.removeprefix("file://"))) for each in links]
    assert sorted(paths) == sorted(
        os.path.join(os.fsencode(tmp_path), b"docs", name)
        for name in os.listdir(os.fsencode(tmp_path / "docs"))
    )
    page.get_by_role("button", name="Copy the path", exact=False).first.click()
    page.locator("#said", has_text="opied").wait_for()


def test_parts_of_larger_files_stand_above_the_groups(rendered):
    parts = tuple(Part(f"in/{name}\x1b", "in/book.txt", 0.982, 1200, 3400) for name in "ab")
    page = rendered(replace(result(group(1, "a", "b")), parts=parts, settings=Settings(parts=0.8)))
    rows = page.locator("#parts li")

    assert rows.all_inner_texts() == [
        f"98.2 % in/{name}\\x1b is in in/book.txt, characters 1,200 to 3,400" for name in "ab"
    ]
    assert "at least 80.0 % stands in a larger one" in page.locator("#settings").inner_text()
    button = page.locator("#facets button", has_text="2 parts of larger files")
    for is_filtered in (False, True, False):
        assert page.locator(".group").is_visible() == (not is_filtered)
        assert page.locator("#parts").is_visible()
        button.click()
    page.click("#language")
    assert rows.nth(0).inner_text().endswith("见于 in/book.txt，第 1,200 至 3,400 字")


@pytest.fixture
def asked(opened, tmp_path):
    """`asked(*questions)`: the page of answers; see `answers_page`."""

    def asking(*questions, **options):
        path = tmp_path / "page.html"
        path.write_text(answers_page(*questions, **options), "utf-8")
        return opened(path.as_uri())

    return asking


def test_the_answers_to_a_single_question_stand_beside_it_at_once(asked):
    page = asked((HOSTILE[0], "lib/near.txt", "lib/other.txt"))
    page.wait_for_selector(".diff")

    assert page.title().startswith("Answers from lib.simdup")
    assert page.locator(".members tbody tr").all_inner_texts()[0].startswith("question")
    heads = page.locator(".diff th").all_inner_texts()
    assert heads == [HOSTILE[0], "lib/near.txt"]
    assert "Document 1 of 2 for question 1: 80.0 % alike" in page.locator(".pairs").inner_text()
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "c"):
        page.keyboard.press(key)
    page.wait_for_selector(".diff th:has-text('other.txt')")
    page.locator(".sides select").first.select_option("1")
    page.wait_for_selector(".diff th:has-text('near.txt')")
    # Of two documents nobody knows how alike they are.
    assert page.locator(".pairs .note").inner_text() == "Document 2 of 2 for question 1"
    page.click("#language")
    assert page.locator("h1").inner_text() == "simdup lib.simdup 的查询结果"
    assert page.evaluate("window.hacked") is None


def test_documents_that_were_too_many_to_be_read_are_said_above_the_answers(asked):
    page = asked(("first", "lib/a"), ("second", "lib/b"), unread=600)

    said = "1,200 more documents may share enough too: too many to be read"
    assert page.locator("#parts li").all_inner_texts() == [said]
    page.click("#language")
    assert page.locator("#parts li").inner_text().startswith("另有 1,200 个文档")


def test_questions_are_rows_and_one_without_an_answer_says_so(asked):
    page = asked(("first", "lib/a"), ("second",), ("third", "lib/b", "lib/c"))

    rows = page.locator(".head").all_inner_texts()
    assert [row.split("\n")[-1].strip() for row in rows] == ["1 document", "nothing", "2 documents"]
    page.fill("#search", "lib/c")
    assert page.locator("#count").inner_text() == "1 of 3 questions"
    assert "found: lib/c" in page.locator(".head").inner_text()
    page.locator(".head").click()
    page.locator(".compare button").first.click()
    previous = page.locator(".pairs button").first
    previous.click()
    assert page.locator(".comparison").count() == 1
    page.click("#reset")
    previous.click()
    page.get_by_text("Document 1 of 1 for question 1").wait_for()


def test_rows_of_a_corpus_are_found_by_id_and_text_and_compared(opened, tmp_path):
    texts = [*similar(1, "grey seal", "brown otter", "brown otter"), *similar(2, PAYLOAD, "end")]
    ids = ["<img src=x onerror=window.hacked=1>", "b", "c", "d", "e"]
    (tmp_path / "p.html").write_text(corpus_page(tmp_path, *texts, ids=ids), "utf-8")
    page = opened((tmp_path / "p.html").as_uri())

    assert sorted(page.locator(".head .count").all_inner_texts()) == ["2 rows", "3 rows"]
    page.fill("#search", "w2x0")
    (name,) = page.locator(".head > :nth-child(4)").all_inner_texts()
    assert name.splitlines()[1].startswith("w2x0 w2x1")
    page.fill("#search", "img src")
    assert page.locator("#count").inner_text() == "1 of 2 groups"
    page.click(".head")
    rows = page.locator(".members tbody tr").all_inner_texts()
    assert rows[0].startswith("2 rows with the same text")
    assert rows[1].split("\t")[-2] == f"{len(texts[1])} characters"
    page.locator(".member").nth(2).focus()
    page.keyboard.press("c")
    page.wait_for_selector(".diff")
    assert page.locator("ins").all_inner_texts()[-1] == "grey seal"
    page.get_by_label("Right").select_option("1")
    page.get_by_text("Both texts are the same.").wait_for()
    page.click("#language")
    assert page.locator(".head .count").inner_text() == "3 行"
    assert page.evaluate("window.hacked") is None


def page_of_rows(place):
    return corpus_page(place, *similar(1, "grey seal", "brown otter"))


def page_of_answers(_):
    return answers_page(("first", "lib/a", "lib/b"), ("second",))


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("made", [page_of_rows, page_of_answers])
def test_axe_finds_no_fault_with_rows_and_answers(opened, tmp_path, made, scheme):
    (tmp_path / "p.html").write_text(made(tmp_path), "utf-8")
    page = opened((tmp_path / "p.html").as_uri(), color_scheme=scheme, bypass_csp=True)
    page.locator(".head").first.click()
    page.locator(".compare button").first.click()
    page.wait_for_selector(".diff")

    assert faults(page) == []


@pytest.fixture
def measured(opened, tmp_path):
    """`measured(*rows)`: the page of an evaluation; see `accuracy_page`."""

    def measuring(*found, **options):
        shown = {name: options.pop(name) for name in ("kinds",) if name in options}
        (tmp_path / "p.html").write_text(accuracy_page(*found, **shown), "utf-8")
        return opened((tmp_path / "p.html").as_uri(), "#now tbody", **options)

    return measuring


def now(page):
    """The figures at the chosen k: F1, precision, recall, accuracy."""
    cells = page.locator("#now tbody td:nth-child(2)").all_inner_texts()
    return [cell.split()[0] for cell in cells]


def test_k_slides_and_every_size_follows(measured):
    page = measured(row(16, 3), row(64, 13), row(128, 26))

    assert page.locator("#sizes [aria-pressed=true] b").inner_text() == "64 bits"
    recall = ["0.203", "0.219", "0.500", "0.031"]
    assert now(page)[2] == recall[0]
    page.focus("#k")
    page.keyboard.press("ArrowRight")
    assert now(page) == ["0.759", "0.750", recall[1], "0.625"]
    assert page.locator("#k").get_attribute("aria-valuetext").startswith("k = 14 of 64 bits")
    assert page.locator("#now tbody td:last-child").first.inner_text().startswith("0.667")
    every = page.locator("#every tbody tr").all_inner_texts()
    assert [line.split("\t")[:2] for line in every] == [
        ["16 bits", "4"],
        ["64 bits", "14"],
        ["128 bits", "28"],
    ]
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


def test_undefined_figures_and_names_of_kinds_are_shown_as_they_are(measured):
    named = replace(KINDS[0], kind=HOSTILE[0])
    page = measured(row(), row(8, recipe=WORDS), kinds=(named, KINDS[1]))

    assert HOSTILE[0] in page.locator("#kinds").inner_text()
    assert page.locator("#kinds tbody tr").nth(1).inner_text().split("\t")[1:] == [
        *("1,200", "0.1 %", "25.0 %", "0.0 %")
    ]
    page.locator("#k").fill("0")
    assert now(page)[1] == "–"
    assert page.locator("#curves circle").count() == 3
    page.select_option("#recipe", "1")
    assert page.locator("#caption").inner_text().startswith("words, hash mix64, 8 bits")
    assert page.evaluate("window.hacked") is None


def test_the_page_of_an_evaluation_fits_a_phone_in_chinese_and_dark(measured):
    shape = {"viewport": {"width": 360, "height": 800}, "color_scheme": "dark"}
    page = measured(*(row(bits) for bits in (16, 32, 64, 128, 256)), **shape)
    page.click("#language")

    assert page.locator("h1").inner_text() == "simdup 指纹在pairs.csv上的准确度"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(228, 230, 233)"


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_with_an_evaluation(measured, scheme):
    page = measured(row(16), row(64), color_scheme=scheme, bypass_csp=True)

    assert faults(page) == []
