"""The page in headless Chromium, for an ordinary reader and with hostile names and texts."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from shutil import copy, copytree, which
from time import monotonic
from urllib.parse import quote, unquote_to_bytes

import pytest
from conftest import ENGLISH, SIMPLIFIED, TRADITIONAL
from patience import patient

from simdup.clean.decide import terms_of
from simdup.clean.plan import read_plan
from simdup.clean.suggestion import suggested
from simdup.findings.identical import with_sets
from simdup.records import Group, Kind, Part, Reason, Skipped, Stats, Unread
from simdup.report.load import load
from simdup.report.page import groups
from simdup.report.page.decisions import _term
from simdup.report.page.render import render
from simdup.report.wording import percent, printable
from simdup.settings import SIMILARITY, Settings
from tests.office import BOATS, make_office
from tests.report.test_accuracy import KINDS, row
from tests.report.test_page import (
    FOLDERS,
    WORDS,
    accuracy_page,
    answers_page,
    corpus_page,
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
# Once the screen is drawn and no colour changes any more.
SETTLED = """() => new Promise(requestAnimationFrame)
    .then(() => Promise.all(document.getAnimations().map((each) => each.finished)))"""

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

    def opening(address, ready="#tabs button, #now tbody", size=WIDE, **options):
        pages[address] = page = tab(**options)
        resize(page, *size)
        page.emulate_media(media="screen", color_scheme="light")
        page.goto(address)
        page.wait_for_selector(ready, state="attached")
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

    def rendering(found, read=None, language="en", day=None, texts=None, **options):
        if texts is None:
            return shown(page_of(found, language, read, day), **options)
        lines = render(found, language, texts, day, has_texts=False)
        return shown("\n".join(lines) + "\n", **options)

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


@pytest.fixture(scope="module")
def office_folder(tmp_path_factory):
    """A folder with the office, its page and its result."""
    folder = tmp_path_factory.mktemp("page")
    make_office(folder / "office")
    command = [sys.executable, "-m", "simdup", "scan", "office", "--no-cache", "-q", "--lang", "en"]
    more = ["--html", "page.html", "--format", "json", "-o", "result.json"]
    subprocess.run([*command, *more], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def office(opened, office_folder):
    """`office(size=PHONE)`: the page of the office."""
    return lambda **options: opened((office_folder / "page.html").as_uri(), **options)


def view(page, name):
    page.locator(f"#tabs [data-tab={name}]").click()


def titles(page):
    """The names in the list."""
    return page.eval_on_selector_all(".row .name", "all => all.map(each => each.textContent)")


def choose(page, part):
    """Choose the entry of the list that has this text, and return its files as text."""
    page.locator(".row .head", has_text=part).first.click()
    return page.locator(".member").all_inner_texts()


def compared(page, name=None):
    """Choose a file of the group, and wait for its comparison."""
    if name is not None:
        page.locator(".pick", has_text=name).first.click()
        page.locator("#comparison .other .name", has_text=name).wait_for()
    page.locator(".diff").wait_for()
    return page.locator(".diff")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def planned(page):
    return page.locator("#planned").inner_text().replace("\u00a0", " ")


def words_of(text):
    """A text with single blanks."""
    return " ".join(text.split())


MAIN = "all => all.filter((each) => each.checkVisibility()).map((each) => each.innerText)"


def main_buttons(page):
    """The words of the filled buttons on the screen."""
    return page.eval_on_selector_all(".main", MAIN)


# ----- What a reader sees.


def test_the_first_screen_has_one_filled_button_whose_number_is_the_one_of_clean(
    office, office_folder, printed
):
    page = office()
    (words,) = main_buttons(page)
    told = printed(f"clean {office_folder}/result.json --color never")

    number = int(re.match(r"Remove (\d+) copies", words)[1])
    assert number == int(re.search(r"(?m)^(\d+) files of", told)[1]) == 11
    assert page.locator("h2").first.inner_text().startswith("11 copies, ")
    assert page.locator(".small code").inner_text() == "simdup clean found.json"
    places = page.locator(".beside .bars li").all_inner_texts()
    assert [words_of(each).split(" files")[0] for each in places] == [
        "USB stick (E) 9",
        "Downloads 2",
    ]
    assert "Kept in Office" in page.locator(".beside").inner_text()


def test_below_the_suggestion_stand_what_differs_the_folders_and_what_is_related(office):
    cards = [words_of(each) for each in office().locator(".rest .card").all_inner_texts()]

    assert cards[0].startswith("3 groups want a look 3 2 with the same words, 1 near: up to ")
    assert "Heating invoice March final other numbers: 412.50 / 397.10 " in cards[0]
    assert "Boat hire terms same words; other layout 2 files" in cards[0]
    assert "9 of 11 files are also in Office; part of the 11" in cards[1]
    assert cards[2] == "Related texts and forms 5 1 related, 1 form. Nothing to remove."


def test_the_list_of_identical_files_has_no_near_file(office):
    page = office()
    press(page, "2")
    for _ in titles(page):
        sections = page.locator("#files h3").all_inner_texts()
        assert [each.split("\n")[0] for each in sections] == ["Identical"]
        kept = page.locator(".member.kept").count()
        assert page.locator(".member").count() == kept + page.locator(".member.suggested").count()
        assert len(main_buttons(page)) == 1
        press(page, "j")


def test_the_kept_file_comes_first_is_green_and_has_a_reason_and_the_first_difference_is_seen(
    office,
):
    page = office()
    press(page, "3")
    choose(page, "Heating")
    table = compared(page)
    first = page.locator(".member").first

    assert "Keep: not in a folder that is a copy of another" in first.inner_text()
    washes = page.evaluate(
        """['.member.kept .pick', '.heads .keep', '.member .circle']
        .map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)"""
    )
    assert washes == ["rgb(227, 243, 234)"] * 2 + ["rgb(23, 112, 74)"]
    files, comparison = (page.locator(each).bounding_box() for each in ("#files", "#comparison"))
    assert files["x"] + files["width"] <= comparison["x"] + 1
    box = table.locator(".changed").first.bounding_box()
    assert box["y"] + box["height"] < 800
    assert [words_of(each) for each in page.locator(".chip").all_inner_texts()[:3]] == [
        "412.50 / 397.10", "61.40 / 46.00", "28 March. / none",
    ]  # fmt: skip
    assert page.locator(".only b").inner_text() == "397.10, 46.00"
    assert main_buttons(page) == []


def test_same_words_and_near_differ_in_colour_and_in_sign(office):
    page = office()
    signs = page.evaluate(
        """['words', 'near'].map((sort) => {
            const sign = document.querySelector(`.sign.${sort}`);
            const { color, backgroundColor } = getComputedStyle(sign);
            return [color, backgroundColor, sign.querySelector('path').getAttribute('d')];
        })"""
    )

    assert all(one != other for one, other in zip(*signs, strict=True))


def test_the_bars_of_folders_add_up_and_one_button_removes_the_identical_files(office):
    page = office()
    press(page, "4")
    lead = page.locator("#sheet .lead").inner_text()

    assert page.locator("#sheet h2").inner_text() == "81\u00a0% of USB stick (E) is also in Office"
    assert "9 of its 11 files are there too, at the same place and with the same bytes" in lead
    assert "0 files" not in page.locator("#sheet").inner_text().replace("10 files", "")
    bars = page.evaluate(
        """[...document.querySelectorAll('#sheet .bar')].map((bar) =>
            [...bar.children].map((part) => Number(part.style.flexGrow)))"""
    )
    whole, *rows = bars[1:]
    assert sum(whole) == 11
    assert sum(sum(row[:-1]) for row in rows) == 11
    assert main_buttons(page)[0].startswith("Remove 9 copies")
    press(page, "a")
    assert planned(page).startswith("Remove 9 files, ")
    assert main_buttons(page) == []
    press(page, "u")
    assert "not in the other folder" in page.locator("#sheet .halves").inner_text()
    press(page, "o")
    assert page.locator(".card.gone h3").inner_text() == "Office"
    # What remains was listed of the other folder.
    assert "not in the other folder" not in page.locator("#sheet .halves").inner_text()


def test_copies_whose_kept_file_is_removed_with_its_folder_are_suggested_no_more(office):
    page = office()
    press(page, "4", "o", "a", "1")

    assert main_buttons(page)[0].startswith("Remove 2 copies")
    press(page, "a")
    assert page.locator("#toast").inner_text().startswith("2 copies are in the plan")
    assert planned(page).startswith("Remove 11 files, ")


def test_a_form_has_its_places_numbered_and_its_pattern_and_nothing_to_remove(office):
    page = office()
    press(page, "5")
    page.get_by_role("radio", name="Forms").click()
    rows = page.locator("#sheet tbody tr").all_inner_texts()

    assert page.locator("#sheet thead .number").all_inner_texts() == ["1", "2", "3", "4"]
    assert sorted(row.split("\t")[1] for row in rows) == sorted(BOATS)
    page.get_by_role("button", name="Berth contract 09.txt").click()
    assert page.locator(".reading").first.inner_text() == "1Little Otter"
    assert "For the boat 1Little Otter the office" in page.locator(".pattern").inner_text()
    assert page.locator("#review").locator(".remove, .main, .circle").count() == 0


def test_related_texts_are_only_to_know(office):
    page = office()
    press(page, "5")
    compared(page)

    assert "perhaps of one series" in page.locator("#files header").inner_text()
    assert page.locator("#files h3").all_inner_texts() == ["Related"]
    review = page.locator("#review")
    assert review.locator(".remove, .main, button.circle, [data-key=i]").count() == 0
    press(page, " ", "r", "i")
    assert planned(page) == "Nothing in the plan yet"


def test_the_suggestion_leads_on_to_the_next_step_and_at_the_end_to_the_export(office):
    page = office()
    headings = []
    for keys in ("a", "abbb", ""):
        headings.append(page.locator("#overview h2").inner_text().split(",")[0])
        press(page, *keys)
    assert headings == ["11 copies", "Next: 3 groups want a look", "Remove 11 files"]
    assert page.locator("#overview .mark").first.inner_text() == "Everything is decided"
    assert [each.split("\n")[0] for each in main_buttons(page)] == ["Save plan.jsonl"]
    assert "Kept although alike" in page.locator(".beside").inner_text()
    ticks = page.locator("#tabs .icon").count()
    assert ticks == 2


def test_text_in_another_encoding_is_added_by_one_word_and_is_never_in_the_number(office):
    page = office()
    assert "1 more has the same text in other bytes" in page.locator(".small").inner_text()
    page.get_by_role("button", name="Add them").click()

    assert planned(page).startswith("Remove 1 file, ")
    assert main_buttons(page)[0].startswith("Remove 11 copies")


def test_another_order_of_reasons_changes_the_suggestion_and_its_command(office):
    page = office()
    press(page, "a", "2")
    page.locator(".rule select").select_option(label="the newest")
    press(page, "1")

    assert planned(page) == "Nothing in the plan yet"
    assert page.locator(".small code").inner_text().endswith("found.json --prefer newest")
    assert "Office and 1 more" in page.locator(".beside p.kept").inner_text()
    press(page, "3")
    choose(page, "Boat hire")
    assert page.locator(".member.kept .note").inner_text().startswith("Downloads")
    press(page, "r")
    assert page.evaluate("actionsOf().map(({file}) => file.path.split('/').at(-2))") == ["Office"]


def test_files_without_a_kept_copy_are_not_suggested_and_say_why(scanned, tmp_path):
    for name in ("new/a.txt", "old/a.txt", "old/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(ENGLISH, "utf-8")
    page = scanned("new --against old")
    press(page, "2")

    assert main_buttons(page)[0].startswith("Remove 1 copy")
    assert "kept: protected: --against" in page.locator("#files").inner_text()
    assert page.locator("button.circle").count() == 1


# ----- Screens, languages and schemes.


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_cuts_nothing_and_shows_the_main_button_and_the_decision(office, width):
    page = office(size=(width, 844))

    def overflow():
        return page.evaluate("document.documentElement.scrollWidth")

    assert overflow() <= width
    box = page.locator(".main").bounding_box()
    assert box["y"] + box["height"] < 844
    page.get_by_role("button", name="3 groups want a look").click()
    assert overflow() <= width
    page.locator(".row .head", has_text="Heating").click()
    page.locator(".diff").wait_for()
    assert overflow() <= width
    for name in ("Keep both", "Remove"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert 780 < box["y"] + box["height"] <= 844
        assert box["height"] >= 44
    assert page.locator(".diff .both").first.is_visible()
    assert not page.locator(".diff .side").first.is_visible()
    assert page.locator("#title").inner_text().startswith("Wants a look · 3 of 3")
    page.get_by_role("button", name="Remove", exact=True).click()
    page.locator("#toast", has_text="Removed: Heating").wait_for()
    page.locator("#toast").get_by_role("button", name="Undo").click()
    assert page.evaluate("decisions.of.size") == 0


def test_on_a_phone_the_way_back_leads_from_the_group_to_the_list_and_the_overview(office):
    page = office(size=PHONE)
    page.evaluate("showTab('identical')")
    page.locator(".row .head").nth(1).click()
    seen = [page.locator("#files").is_visible()]
    for go in (page.go_back, page.go_forward, page.locator("#back").click):
        go()
        page.evaluate(SETTLED)
        seen.append(page.locator("#files").is_visible())
    assert seen == [True, False, True, False]
    page.locator("#back").click()
    assert page.locator("#overview").is_visible()


def test_between_phone_and_wide_the_list_is_behind_a_button(office):
    page = office(size=(1024, 768))
    press(page, "3")
    assert page.locator("#queue").is_visible()
    choose(page, "Heating")

    assert not page.locator("#queue").is_visible()
    assert page.locator(".way:visible").inner_text().split("\n")[0] == "3 of 3"
    assert page.locator("#files").bounding_box()["width"] == 320
    page.locator(".way:visible").get_by_role("button", name="List").click()
    assert page.locator("#queue").is_visible()


COLOURS = """(names) => names.map((name) => {
    const style = getComputedStyle(document.querySelector(name));
    return [style.backgroundColor, style.color].map((each) => each.match(/[\\d.]+/g).map(Number));
})"""


def luminance(colour):
    parts = ((each / 255 + 0.055) / 1.055 for each in colour[:3])
    return sum(
        share * part**2.4 for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
    )


def test_in_the_dark_washes_are_seen_and_nothing_is_pure_white(office):
    page = office()
    page.emulate_media(color_scheme="dark")
    press(page, "3")
    choose(page, "Heating")
    compared(page)

    names = "#files", ".member.kept .pick", ".heads .other", ".text ins", ".text del", ".sign.near"
    (card, _), *washes = page.evaluate(COLOURS, names)
    for wash, text in washes:
        one, other = sorted((luminance(wash), luminance(card)))
        assert (other + 0.05) / (one + 0.05) > 1.1
        one, other = sorted((luminance(wash), luminance(text)))
        assert (other + 0.05) / (one + 0.05) > 4.5
    white = page.evaluate(
        """[...document.querySelectorAll('body *')].filter((each) => each.checkVisibility()
            && ['color', 'backgroundColor'].some((key) =>
                getComputedStyle(each)[key] === 'rgb(255, 255, 255)')).length"""
    )
    assert white == 0


# Latin letters that belong to Chinese pages too: names, units, and what is typed.
LATIN = re.compile(
    r"simdup(?: \w+)?|\w+\.(?:jsonl|txt)|utf-8-sig|[kM]?B\b|--[\w-]+|Space|Esc|English|JSON|HTML"
)
SPOKEN = """[...document.querySelectorAll('body *')]
    .filter((each) => each.checkVisibility())
    .filter((each) => !each.closest('bdi, code, kbd, .text, .chips, .only b, td, #language'))
    .flatMap((each) => [...each.childNodes].filter((node) => node.nodeType === 3)
        .map((node) => node.textContent).concat(each.ariaLabel ?? [], each.placeholder ?? []))"""


def test_a_chinese_page_has_no_english_but_names(office, office_folder):
    names = {each.name for each in (office_folder / "office").rglob("*")} | {"office"}
    page = office()
    page.click("#language")
    for keys in ("", "2", "3", "4", "5", "1a", "1ae", "?"):
        press(page, *keys)
        page.evaluate(SETTLED)
        for text in page.evaluate(SPOKEN):
            plain = text.replace(os.fspath(office_folder), "")
            for name in sorted(names, key=len, reverse=True):
                plain = plain.replace(name, "").replace(name.removesuffix(".txt"), "")
            assert not re.search("[A-Za-z]{3,}", LATIN.sub("", plain)), (keys, text)
    assert page.get_attribute("html", "lang") == "zh-Hans"


def test_the_language_is_that_of_the_browser_unless_told(rendered):
    found = result(group(1, "a", "b"))
    cases = {("zh-CN", None): "zh-Hans", ("fr-FR", None): "en", ("fr-FR", "zh"): "zh-Hans"}

    for (locale, language), opened in cases.items():
        page = rendered(found, language=language, locale=locale, day=1_790_000_000)
        assert page.get_attribute("html", "lang") == opened
    assert page.locator("#title").inner_text().endswith("2026年9月21日")
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


def test_nothing_moves_where_the_reader_wants_no_motion(office):
    page = office()
    duration = "getComputedStyle(document.querySelector('.main')).transitionDuration"
    moving = page.evaluate(duration)
    page.emulate_media(reduced_motion="reduce")

    assert moving.split(", ")[0] == "0.12s"
    assert page.evaluate(duration) == "0s"
    page.emulate_media(reduced_motion="no-preference")


# ----- Keys and focus.


def test_from_the_skip_link_eight_tabs_reach_the_decision_and_the_focus_is_seen(office):
    page = office()
    press(page, "3")
    choose(page, "Heating")
    compared(page)
    page.locator(".skip").focus()
    stops = []
    for _ in range(8):
        press(page, "Tab")
        stops.append(page.evaluate("document.activeElement.className"))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) in {"solid", "auto"}
        if "remove" in stops[-1]:
            break
    assert "remove" in stops[-1], stops
    assert [each for each in stops if each == "head"] == ["head"]
    assert [each for each in stops if each == "pick"] == ["pick"]


def test_letters_are_keys_again_after_a_search(office):
    page = office()
    press(page, "2", "/", "0", "Enter")
    for leave in ("Enter", "Escape"):
        press(page, "/")
        assert page.evaluate("document.activeElement.id") == "search"
        press(page, leave)
        before = page.evaluate("page.shown.indexOf(page.chosen)")
        press(page, "j")
        assert page.evaluate("page.shown.indexOf(page.chosen)") == before + 1
        assert page.evaluate("document.activeElement.className") == "head"


def test_a_search_that_finds_nothing_gives_the_keys_back_too(office):
    page = office()
    press(page, "2")
    for leave in ("Enter", "Escape"):
        press(page, "/", *"zzz", leave)
        assert page.evaluate("document.activeElement.id") != "search"
    press(page, "3")
    assert page.evaluate("page.tab") == "look"


def test_every_key_works_wherever_the_focus_is(office):
    page = office()

    def place():
        return page.evaluate("[page.tab, page.shown.indexOf(page.chosen), page.place]")

    press(page, "3", "j", "j")
    assert place() == ["look", 2, 2]
    press(page, "k", "j", "ArrowUp")
    assert place() == ["look", 2, 0]
    press(page, "ArrowDown")
    compared(page)
    press(page, ".")
    assert page.locator("#change").inner_text() == "1 of 3"
    press(page, ".", ".", ",")
    assert page.locator("#change").inner_text() == "2 of 3"
    page.locator(".member[data-place='2'] .pick").focus()
    press(page, " ")
    assert page.locator(".member.removed").count() == 1
    press(page, "u")
    assert page.locator(".member.removed").count() == 0
    press(page, "r")
    assert place()[1] == 0
    press(page, "u")
    assert place() == ["look", 2, 2]
    press(page, "i")
    assert "not duplicates" in page.locator(".row", has_text="Heating").inner_text()
    press(page, "u", "e", "?")
    assert page.locator("#helping").is_visible()
    assert page.locator("kbd:visible").first.inner_text()
    press(page, "j", "Escape", "Escape")
    assert not page.locator("#helping").is_visible()
    assert place()[0] == "overview"


def test_a_file_is_removed_for_the_kept_one_that_is_shown_whatever_else_is_kept(scanned, tmp_path):
    (tmp_path / "docs").mkdir()
    words = [f"word{place}" for place in range(300)]
    for place, name in enumerate(("lease v1", "lease v2", "lease v3")):
        edits = [f"edit{number}" for number in range(4 * place)]
        (tmp_path / f"docs/{name}.txt").write_text(" ".join([*edits, *words[len(edits) :]]))
    page = scanned("docs")
    press(page, "2")
    choose(page, "lease")

    kept, removed = page.evaluate(
        """(() => {
            const group = page.chosen;
            decide(group, 1, 'keep');
            decide(group, 2, 'drop');
            const [{ file, keep }] = actionsOf();
            return [keep.path, file.path].map((path) => path.split('/').pop());
        })()"""
    )
    assert kept == "lease v3.txt"
    assert removed == page.evaluate("page.chosen.members[2].name")


def test_the_command_of_a_plan_asks_for_no_share_that_clean_refuses(office):
    page = office()
    command = "commandOf([{ needs: ['--near'], contained: 0.002 }, { needs: [], contained: null }])"

    assert page.evaluate(command) == "simdup clean plan.jsonl --near 0.01"


def test_what_would_be_lost_is_told_before_what_only_the_kept_file_has(office):
    page = office()
    press(page, "3")
    choose(page, "Heating")

    said = page.evaluate(
        """(() => {
            data.differences[page.chosen.id] = { 1: [[], [], 0, 5, 2, 0] };
            return differencesOf(page.chosen, 1);
        })()"""
    )
    assert [line.split()[0] for line in said] == ["2", "5"]


def test_keeping_another_file_instead_removes_the_first_one(office):
    page = office()
    press(page, "3")
    choose(page, "Heating")
    compared(page)
    press(page, "o")
    choose(page, "Heating")

    kept = page.locator(".member.kept").first.inner_text()
    assert kept.startswith("Heating invoice March.txt")
    assert "Keep: chosen by hand" in kept
    assert page.locator(".member.removed").inner_text().startswith("Heating invoice March final")


def test_a_screen_reader_hears_words_as_labels(office):
    page = office()
    labels = page.evaluate("[...document.querySelectorAll('[aria-label]')].map((e) => e.ariaLabel)")
    assert "Lists" in labels
    assert not [each for each in labels if "[object" in each]


# ----- Lists, search and address.


def test_searching_shows_the_entries_with_all_words_in_one_path_and_marks_them(page):
    press(page, "3")
    everything = titles(page)
    page.fill("#search", "HARBOUR-2 let")
    assert titles(page) == ["harbour-3"]
    assert page.locator("#count").inner_text() == f"1 of {len(everything)}"
    assert page.locator(".row .line mark").all_inner_texts() == ["let", "harbour-2"]
    assert page.locator(".pick[aria-current] .name").text_content() == "harbour-2.txt"
    page.fill("#search", "harbour clock")
    assert page.locator("#list").inner_text() == "Nothing here fits the search."
    page.click("#reset")
    assert titles(page) == everything


def test_a_search_finds_folders_formats_and_encodings_too(page):
    press(page, "3")
    for words in ("钟表", "gb18030 clock"):
        page.fill("#search", words)
        assert titles(page) == ["clock"]


def test_the_list_the_search_and_the_group_are_in_the_address(page):
    press(page, "3")
    page.fill("#search", "clock")
    page.locator(".row .head").click()
    page.wait_for_url(re.compile("row="))
    page.reload()
    page.locator(".row").first.wait_for()

    assert page.locator("#search").input_value() == "clock"
    assert page.locator("#tabs [aria-current]").get_attribute("data-tab") == "look"
    assert titles(page) == ["clock"]
    page.evaluate("location.hash = '#tab=toString&row=2'")
    page.locator("#overview h2").wait_for()


def test_what_changes_right_after_the_address_is_written_stays(rendered):
    page = rendered(result(group(1, "a", "b"), group(2, "x", "y")), size=PHONE)

    page.evaluate("showTab('look'); open(page.shown[0]); stepRow(1)")
    page.wait_for_url(re.compile("row=2"))
    page.evaluate("byId('search').value = 'x'; writeAddress(); byId('search').value = 'y'")
    page.evaluate("keepAddress()")
    page.wait_for_url(re.compile("search=y"))


def test_many_groups_are_laid_out_as_one_scrolls(page):
    press(page, "3")
    page.evaluate(
        """page.shown = Array.from({length: 500}, (_, i) => ({...looks[0], id: i + 1}));
        drawList()"""
    )
    first = page.locator(".row").count()
    page.evaluate("byId('scroller').scrollTo(0, 1e6)")
    page.locator(".row").nth(first).wait_for(state="attached")

    assert first < 200


def test_many_files_are_laid_out_when_asked_for(rendered):
    page = rendered(result(group(1, *(f"in/{number}" for number in range(501)))))
    press(page, "3" if page.locator("[data-tab=identical]").count() else "2")
    assert page.locator(".member").count() == 201
    for _ in range(2):
        page.locator("#files li > .link").click()

    assert page.locator(".member").count() == 501


def test_print_has_the_list_and_no_controls(page):
    press(page, "3")
    page.emulate_media(media="print")

    assert not page.locator("#seeking").is_visible()
    assert not page.locator(".tools").is_visible()
    assert page.locator(".row").last.is_visible()
    assert len(page.pdf()) > 1000


# ----- Comparison.


def test_english_is_compared_by_words_and_chinese_by_characters(page):
    press(page, "3")
    for name, other, kept, new in (
        ("harbour", "harbour-2.txt", {"grey seal"}, {"brown otter"}),
        ("clock", "glasses.txt", {"钟表"}, {"眼镜"}),
    ):
        choose(page, name)
        table = compared(page, other)
        assert kept <= {*table.locator(".side ins").all_inner_texts()}
        assert new <= {*table.locator(".side del").all_inner_texts()}


def test_equal_passages_are_folded_and_both_sides_are_as_wide(page):
    press(page, "3")
    choose(page, "clock")
    table = compared(page, "glasses.txt")
    sides = table.locator(".changed .side")
    left, right = (sides.nth(place).bounding_box()["width"] for place in (0, 1))
    before = table.locator(".same").count()
    fold = table.locator(".fold button").first
    folded = int(fold.inner_text().split()[0])
    fold.click()

    assert folded > 1
    assert table.locator(".same").count() == before + folded
    assert abs(left - right) < 2


def test_a_narrow_comparison_is_one_text_with_both_versions(office):
    page = office(size=PHONE)
    page.evaluate("goTo('look', looks.find(({title}) => title.startsWith('Heating')))")
    compared(page)
    line = page.locator(".changed .both").first

    assert (
        line.inner_text().strip()
        == "The amount for March is 412.50 397.10 euros, payable within 30 days."
    )
    assert line.locator("ins, del").all_inner_texts() == ["412.50", " 397.10"]
    assert page.locator(".legend").is_visible()


def test_lines_have_their_numbers_however_the_text_is_wrapped(page):
    han, long = "一" * 30, "A line of more than fifty characters that goes on in the"
    text = f"{han}\n{han}。\n\n{long}\nnext one. Then another.\r\n\rThe end."

    lines = page.evaluate("text => passagesOf(text, text).map(({lines}) => lines.left)", text)
    assert lines == [1, 4, 5, 7]


def test_a_paragraph_that_only_one_side_has_is_a_passage_of_its_own(page):
    one, two = "First line.\n\nOne more.\n\nLast line.", "First line.\n\nLast line."

    passages = page.evaluate(
        """([one, two]) => passagesOf(one, two).filter(({changed}) => changed)
            .map(({left, right}) => [left.map((each) => each[0]).join(''), right.length])""",
        [one, two],
    )
    assert [[text.strip(), right] for text, right in passages] == [["One more.", 0]]


def test_the_same_words_say_so_and_their_layout_is_shown_on_demand(rendered):
    texts = {"a": "One line\nof text.", "b": "One  line of text."}
    same = {"words_digest": b"w" * 16}
    members = tuple(
        member(path, bytes_digest=path.encode(), text_digest=path.encode(), **same)
        for path in texts
    )
    pictures = members[1].document._replace(unread=(Unread("pictures", 2, "0"),))
    made = Group(1, Kind.SAME_WORDS, 0, (members[0], members[1]._replace(document=pictures)))
    page = rendered(result(*with_sets([made])[0]), lambda each: texts[each.path])
    press(page, "2")

    page.get_by_text("Only layout differs").wait_for()
    said = page.locator(".verdict").inner_text()
    assert "b also holds what was not compared: pictures (2)." in said
    assert page.locator(".diff").count() == 0
    page.get_by_role("button", name="Show what differs").click()
    assert page.locator(".side ins").all_inner_texts() == ["·", "↵\n"]
    assert page.locator(".side del").all_inner_texts() == ["··", "·"]


def test_identical_files_show_one_text(office):
    page = office()
    press(page, "2")
    page.get_by_text("Nothing differs: both texts are the same.").wait_for()

    assert page.locator(".whole").count() == 1
    assert page.locator(".diff, ins, del").count() == 0


def test_a_full_page_says_so_and_where(rendered, monkeypatch):
    monkeypatch.setattr(groups, "LARGEST_PAGE", groups.FRAME + 4000)
    noise = "".join(map(chr, range(200, 3000)))
    page = rendered(
        result(group(1, "one", "two"), group(2, "three", "four")),
        lambda document: noise if document.path == "three" else "text",
    )
    warnings = page.locator(".warning").all_inner_texts()
    assert [each for each in warnings if "The texts of 1 group are not in this page" in each]
    press(page, "2")
    choose(page, "three")
    page.get_by_text("This text is not in the page, which is full.").wait_for()


def test_a_cut_or_missing_text_is_marked_in_its_group(rendered, monkeypatch):
    monkeypatch.setattr(groups, "LONGEST_TEXT", 5)
    read = {"one": "1 2 3 4", "two": "2 2 3 4", "six": Skipped("six", Reason.CHANGED)}
    page = rendered(result(group(1, *read)), lambda document: read[document.path])
    press(page, "2")
    page.get_by_text("Only the first").wait_for()

    page.locator(".pick", has_text="six").click()
    page.get_by_text("changed while read").wait_for()


def test_a_page_without_texts_still_says_what_differs(rendered):
    read = {"a": "due 412.50", "b": "due 397.10"}
    texts = [(1, [partial(read.get, name) for name in read])]
    page = rendered(result(group(1, *read)), texts=texts)
    press(page, "2")

    assert page.locator(".row .line").inner_text() == "other numbers: 412.50 / 397.10"
    page.get_by_text("made without texts").wait_for()
    assert words_of(page.locator(".chip").first.inner_text()) == "412.50 / 397.10"


def test_what_is_known_of_a_group_of_versions_is_their_chain(rendered):
    page = rendered(replace(result(*with_versions()), roots=("in",)))
    press(page, "2")

    lines = page.locator(".row .line").all_inner_texts()
    assert "versions: lease v1, v2; 12\u00a0% changed" in lines
    page.click("#language")
    assert "版本：lease v1、v2；改动 12\u00a0%" in page.locator(".row .line").all_inner_texts()


def test_a_group_says_why_it_is_near_and_which_of_its_files_are_only_related(rendered):
    near = group(1, "a", "b", "c")
    tiers = ("near", ""), ("near", "name"), ("related", "")
    members = zip(near.members, tiers, strict=True)
    decided = (each._replace(tier=tier, near_because=why) for each, (tier, why) in members)
    page = rendered(result(near._replace(members=tuple(decided))))
    press(page, "2")

    assert "near: the same rare name" in page.locator("#files header").inner_text()
    assert page.locator("#files h3").all_inner_texts() == ["Near", "Related"]
    page.click("#language")
    assert "近似：同一少见的名称" in page.locator("#files header").inner_text()


def test_similarities_that_fingerprints_estimate_have_a_tilde(rendered):
    bare = replace(Settings(), verified=False)
    made = member("a", Kind.IDENTICAL_BYTES, None), member("b", similarity=None)
    page = rendered(result(Group(1, Kind.NEAR, 20, made), settings=bare))
    press(page, "2")

    assert page.locator(".pick .figure").inner_text() == "~97\u00a0%"
    assert (
        page.locator(".pick .figure").get_attribute("title") == "similarity ~97.0\u00a0% · 20 bits"
    )


# ----- Hostile input.


def test_hostile_names_are_text(page):
    press(page, "2")
    choose(page, "hostile")
    names = page.eval_on_selector_all(".member .name", "all => all.map((e) => e.textContent)")

    assert {*HOSTILE[:2], r"evil\u202etxt.exe", r"red\x1b[31m.txt"} <= {*names}
    assert {r"line\nbreak.txt", r"\xff\xfe.txt", HOSTILE[-1].rpartition("/")[2]} <= {*names}
    press(page, "?")
    page.click("#helping summary")
    page.locator(".names li").first.wait_for()
    assert "</script><script>window.hacked=1<.png" in page.locator(".names").inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main :is(img, script)").count() == 0


def test_hostile_contents_are_text(page):
    page.evaluate("goTo('look', looks.find(({first}) => first.path.startsWith('hostile')))")
    shown = compared(page, "other.txt").inner_text()

    escapes = r"\u202e", r"\x1b[31mred\x1b[0m", r"\u200b", r"\ufeff", "${window.hacked=1}"
    assert all(piece in shown for piece in ("<script>window.hacked=1</script> </te", *escapes))
    everything = page.evaluate("document.body.innerText")
    assert not {"\u202e", "\x1b", "\u200b"} & set(everything)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main :is(img, script)").count() == 0


def test_markup_and_scripts_from_elsewhere_are_refused(page, troubles):
    with pytest.raises(api.Error, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>text</b>'")
    with pytest.raises(api.Error, match="TrustedScript"):
        page.add_script_tag(content="window.hacked = 1")

    troubles.clear()


def test_a_name_keeps_its_spaces_and_is_cut_in_its_middle(rendered):
    long = "two  spaces in a very long name of a document that has no end (1).txt"
    page = rendered(result(group(1, "docs/\u0645\u0644\u0641.txt", f"docs/{long}")))
    press(page, "2")
    name = page.locator(".pick .name").last

    assert name.text_content() == long
    ends = page.evaluate(
        """[...document.querySelectorAll('.pick .name')].at(-1).lastChild.getBoundingClientRect()"""
    )
    box = page.locator(".pick").last.bounding_box()
    assert ends["right"] < box["x"] + box["width"]
    assert name.locator("span").last.text_content() == long[-10:]


# ----- Decisions, kept and exported.


STATES = {
    "nothing found": (lambda _: page_of(result()), "Nothing here repeats anything"),
    "interrupted": (lambda _: page_of(result(complete=False)), "Run the scan again"),
    "one group": (lambda _: page_of(result(group(1, "a", "b")), read=str), "1 group wants a look"),
    "no digests": (lambda _: page_of(result(with_copies())), "nothing can be decided here"),
    "parts": (lambda _: page_of(replace(result(), parts=PARTS)), "2 parts. Nothing to remove"),
    "folders": (lambda _: page_of(result(folders=FOLDERS)), "2 folders are mostly in another"),
    "overview": (None, "11 copies"),
    "identical": (None, "1 removed by the suggestion"),
    "look": (None, "Only here: "),
    "pair": (None, "The other way round"),
    "form": (None, "What differs from file to file"),
    "search": (None, "Reset"),
    "help": (None, "How they were found"),
    "next": (None, "Next: "),
    "everything decided": (None, "Everything is decided"),
    "rows": (
        lambda folder: corpus_page(folder, *similar(1, "grey seal", "brown otter")),
        "1 group",
    ),
    "answers": (lambda _: answers_page(("first", "lib/a", "lib/b"), ("second",)), "2 documents"),
    "evaluation": (lambda _: accuracy_page(row(16), row(64)), "64 bits"),
}
ENTER = {
    "identical": "2", "look": "3nn", "pair": "4", "form": "5", "help": "?",
    "search": ["2", "/", "0"], "next": "a", "everything decided": "aarbb",
}  # fmt: skip
PARTS = tuple(Part(f"in/{name}\x1b", "in/book.txt", 0.982, 1200, 3400) for name in "ab")

TOO_LOW = """least => [...document.querySelectorAll('button, a:not(.skip), select, input, summary')]
    .filter((each) => each.checkVisibility() && !each.matches('.circle')
        && each.getBoundingClientRect().height < least - 0.5)
    .map((each) => each.outerHTML)"""


def flaws(page):
    """What is too wide, too low to hit, or wrong by axe-core on the screen of a page."""
    width = page.viewport_size["width"]
    found = page.evaluate(TOO_LOW, 24 if width > 860 else 44)
    if page.evaluate("document.documentElement.scrollWidth") > width:
        found.append("too wide")
    for scheme in ("light", "dark") if AXE else ():
        page.emulate_media(color_scheme=scheme)
        page.evaluate(SETTLED)
        page.evaluate(AXE.read_text("utf-8"))
        for each in page.evaluate("axe.run()")["violations"]:
            found.append((scheme, each["id"], [node["html"] for node in each["nodes"]]))
    return found


@pytest.mark.parametrize("state", STATES)
def test_every_state_fits_every_screen_and_axe_finds_no_fault(shown, office, tmp_path, state):
    make, words = STATES[state]
    options = {"bypass_csp": True, "size": WIDE}
    page = shown(make(tmp_path), **options) if make else office(**options)
    press(page, *ENTER.get(state, ""))
    if state == "form":
        page.get_by_role("radio", name="Forms").click()
    if state == "look":
        choose(page, "Heating")
    page.get_by_text(words).locator("visible=true").first.wait_for()

    for width, height in (WIDE, (1024, 768), PHONE, (320, 640)):
        resize(page, width, height)
        page.evaluate(SETTLED)
        assert flaws(page) == [], width


def test_the_page_looks_up_the_terms_that_clean_decides(pairs):
    page, known = pairs(20), load(Path("result.json").read_bytes(), "result.json")
    files, names = suggested(known).files, list[str]()
    for offered in known.groups:
        one, other = (files[os.path.abspath(each.document.path)] for each in offered.members)
        names += [str(_term(terms_of(*both))) for both in ((one, other), (other, one))]

    found = page.evaluate(
        """every.flatMap((group) => [[0, 1], [1, 0]].map((both) => {
            const { kind, needs, refusal } = termsOf(group, ...both);
            return JSON.stringify([kind, needs, refusal]);
        }))"""
    )

    assert sorted(found) == sorted(each.replace("'", '"').replace(", ", ",") for each in names)
    assert len({*found}) > 2


def saved(page, name):
    """The content of a file that the page offers to save."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save {name}").click()
    return Path(waiting.value.path()).read_bytes()


def test_the_suggestion_accepted_by_a_key_is_the_plan_of_clean(
    office, office_folder, printed, tmp_path
):
    page = office()
    press(page, "a", "e")
    (tmp_path / "page.jsonl").write_bytes(saved(page, "plan.jsonl"))
    printed(f"clean {office_folder}/result.json -o clean.jsonl")

    ours, theirs = (read_plan(os.fspath(tmp_path / name)) for name in ("page.jsonl", "clean.jsonl"))
    plans = [
        sorted((replace(each, line=0) for each in plan.actions), key=str) for plan in (ours, theirs)
    ]
    assert plans[0] == plans[1]
    assert len(plans[0]) == 11
    assert ours.header.roots == theirs.header.roots
    assert page.locator("#overview code").first.inner_text() == "simdup clean plan.jsonl"


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
def test_decisions_are_read_once_the_browser_has_answered_the_page(office, answer):
    page = office()
    press(page, "a")
    decided = planned(page)

    again = page.context.new_page()
    again.add_init_script(
        "Object.defineProperty(navigator, 'storage', {value: undefined})"
        if answer == "none"
        else f"const isRefused = {str(answer == 'refused').lower()};" + FORGETFUL
    )
    again.goto(page.url)
    again.locator("#planned", has_text="Remove 11 files").wait_for()
    assert planned(again) == decided
    assert again.locator("#overview h2").inner_text().startswith("Next: ")
    again.close()


def test_a_review_by_keys_alone_becomes_a_plan_that_clean_carries_out_and_undo_takes_back(
    printed, pairs, tmp_path
):
    def contents():
        return {os.fspath(each): each.read_bytes() for each in (tmp_path / "docs").iterdir()}

    page, before = pairs(150), contents()
    (words,) = main_buttons(page)
    assert words.startswith("Remove 60 copies")
    press(page, "a", "a")
    removed = page.evaluate("actionsOf().map(({file}) => file.shown)")
    for turn in range(60):
        one, other = page.evaluate(
            "[page.chosen.members[0], page.chosen.members[1]].map((m) => m.file.shown)"
        )
        press(page, "orb"[turn % 3])
        removed += [[one], [other], []][turn % 3]
    assert planned(page).startswith(f"Remove {len(removed)} files, ")

    press(page, "e")
    command = page.locator("#overview code").first.inner_text().removeprefix("simdup ")
    with page.expect_download() as waiting:
        press(page, "a")
    waiting.value.save_as(tmp_path / "plan.jsonl")
    listed = saved(page, "files.txt")
    printed(f"{command} -o again.jsonl")
    for name in ("plan.jsonl", "again.jsonl"):
        plan = read_plan(os.fspath(tmp_path / name))
        assert sorted(printable(each.file.path) for each in plan.actions) == sorted(removed)
    assert all(os.fsencode(each.file.path) + b"\n" in listed for each in plan.actions)

    assert contents() == before
    (tmp_path / "gone").mkdir()
    printed(f"{command} --apply --to gone --journal journal --yes-many {len(removed)}")
    assert {each.file.path for each in plan.actions} == {*before} - {*contents()}
    printed("undo --apply journal")
    assert contents() == before


def test_a_page_under_any_name_exports_its_plan(printed, opened, tmp_path):
    (tmp_path / "docs").mkdir()
    for name in "ab":
        (tmp_path / "docs" / name).write_text(ENGLISH, "utf-8")
    path = os.path.join(os.fsencode(tmp_path), b"report-\xb1\xa8.html")
    printed("scan docs --no-cache -q --lang en --html", path)
    page = opened("file://" + quote(path))
    press(page, "a", "e")

    (tmp_path / "plan.jsonl").write_bytes(saved(page, "plan.jsonl"))
    assert len(read_plan(os.fspath(tmp_path / "plan.jsonl")).actions) == 1


def test_a_folder_that_is_removed_whole_is_called_so_by_clean(printed, scanned, tmp_path):
    draw = random.Random(3)
    (tmp_path / "all/docs/deep").mkdir(parents=True)
    for name in ("a.txt", "deep/b.txt", "c.txt", "d.txt", "e.txt"):
        words = ("".join(draw.choices("abcdefghij", k=6)) for _ in range(200))
        (tmp_path / "all/docs" / name).write_text(" ".join(words), "utf-8")
    copytree(tmp_path / "all/docs", tmp_path / "all/Backup")
    page = scanned("all")
    press(page, "3")
    assert page.locator("#sheet h2").inner_text() == "100\u00a0% of Backup is also in docs"
    press(page, "1", "a", "e")

    (tmp_path / "plan.jsonl").write_bytes(saved(page, "plan.jsonl"))
    assert "all of Backup is in docs too" in printed("clean plan.jsonl --color never")


def test_the_root_has_its_name(scanned, tmp_path):
    (tmp_path / "docs/old").mkdir(parents=True)
    for name in "abcde":
        text = " ".join(random.Random(name).choices("abcdefghij", k=300))
        (tmp_path / "docs" / name).write_text(text, "utf-8")
        (tmp_path / "docs/old" / name).write_text(text, "utf-8")
    page = scanned("docs")

    assert page.locator("#title bdi").inner_text() == "docs"
    view(page, "folders")
    assert "in docs" in page.locator("#sheet h2").inner_text()
    assert "(at the top)" in page.locator("#sheet table").inner_text()


def test_groups_that_are_no_duplicates_become_commands_of_ignore(pairs, run, tmp_path):
    page = pairs(5)
    press(page, "3")
    # Two are near and one has the same words; files with the very same text cannot be ignored.
    assert len(titles(page)) == 4
    for title in titles(page):
        choose(page, title)
        press(page, "i")
    assert page.evaluate("decisions.unrelated.size") == 3
    press(page, "e")
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


def test_the_last_file_of_a_group_is_kept_and_decisions_are_taken_back(pairs):
    page = pairs(1)
    press(page, "2", "r")
    press(page, "2", "ArrowUp")
    page.evaluate("decide(page.chosen, page.place, 'drop')")
    assert page.evaluate("actionsOf().length") == 1
    assert page.locator("#toast").inner_text() == "The last file of a group is kept."
    press(page, "u")
    assert page.evaluate("actionsOf().length") == 0
    press(page, "2", "r", "e")
    page.get_by_role("button", name="Take all decisions back").click()
    assert planned(page) == "Nothing in the plan yet"


def test_where_every_file_is_kept_there_is_nothing_to_export(pairs):
    page = pairs(1)
    press(page, "a", "b")

    assert page.locator("#overview h2").inner_text() == "Every file is kept"
    assert page.get_by_role("button", name="Export plan").is_disabled()


def test_undo_goes_back_to_where_the_decision_was_made(pairs):
    page = pairs(7)
    press(page, "3", "j")
    before = page.evaluate("[page.chosen.id, page.place]")
    press(page, "b", "j", "u")
    assert page.evaluate("[page.chosen.id, page.place]") == before


def test_a_browser_that_keeps_nothing_is_said_openly(office):
    page = office()
    press(page, "?")
    assert "kept in this browser, for this page only" in page.locator("#helping").inner_text()
    press(page, "Escape")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('no'); }; }")
    press(page, "a")
    assert "decisions are lost when it is closed" in page.locator(".small").inner_text()


def test_texts_that_were_called_different_are_not_removed_for_each_other(run, scanned, tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in (("a.txt", ENGLISH), ("b.txt", edited(ENGLISH))):
        (tmp_path / "docs" / name).write_text(text, "utf-8")
    copy(tmp_path / "docs/a.txt", tmp_path / "docs/a2.txt")
    assert run("ignore", "add", "docs/a.txt", "docs/b.txt").code == 0
    page = scanned("docs")

    assert page.evaluate("looks.length") == 0
    assert main_buttons(page)[0].startswith("Remove 1 copy")


def test_a_file_opens_and_its_path_is_copied(pairs, tmp_path):
    page = pairs(3)
    links = set()
    for keys in ("2", "3"):
        press(page, keys)
        for _ in titles(page):
            for place in page.locator(".member").all():
                place.locator(".pick").click()
                links |= {*page.eval_on_selector_all("a.link", "all => all.map((e) => e.href)")}
            press(page, "j")

    paths = [os.fsencode(unquote_to_bytes(each.removeprefix("file://"))) for each in links]
    assert sorted(paths) == sorted(
        os.path.join(os.fsencode(tmp_path), b"docs", name)
        for name in os.listdir(os.fsencode(tmp_path / "docs"))
    )
    page.get_by_role("button", name="Copy the path", exact=False).first.click()
    page.locator("#toast", has_text="opied").wait_for()


# ----- About the scan, and other pages of groups.


def test_the_help_says_what_was_found_and_how(page):
    press(page, "?")
    figures = words_of(page.locator("#figures").inner_text())
    assert "16 files read of 17 found" in figures
    assert "groups of duplicates" in figures
    settings = page.locator("#settings").inner_text().replace("\u00a0", " ")
    assert f"similarity of {percent(SIMILARITY)}" in settings
    assert "1 binary" in page.locator(".reasons").inner_text()


def test_files_known_from_before_are_not_called_read(rendered):
    for known, complete, words in (0, True, "read"), (1, True, "compared"), (1, False, "read"):
        stats = Stats(9, 8, 1234, 0.5, from_store=known)
        page = rendered(replace(result(group(1, "one", "two")), stats=stats, complete=complete))
        press(page, "?")
        assert f"8 files {words} of 9" in page.locator("#figures").inner_text()


def test_files_that_were_compared_for_identity_only_are_counted(rendered):
    stats = Stats(9, 8, 1234, 0.5, identity_only=(("lock file", 2), ("SVG image", 1)))
    page = rendered(replace(result(group(1, "a", "b")), stats=stats))
    press(page, "?")

    words = "Compared for identity only: 2 lock files, 1 SVG image."
    assert words in page.locator("#settings").inner_text()


def test_parts_of_larger_files_have_a_list_of_their_own(rendered):
    page = rendered(replace(result(group(1, "a", "b")), parts=PARTS, settings=Settings(parts=0.8)))
    view(page, "related")

    assert titles(page) == ["a\\x1b", "b\\x1b"]
    said = page.locator("#sheet").inner_text()
    assert "98\u00a0% of it stands in a larger text" in said
    assert "in/a\\x1b is in in/book.txt, characters 1,200 to 3,400" in said
    page.click("#language")
    assert "见于 in/book.txt，第 1,200 至 3,400 字" in page.locator("#sheet").inner_text()


def test_the_answers_to_a_question_stand_beside_it_at_once(shown):
    page = shown(answers_page((HOSTILE[0], "lib/near.txt", "lib/other.txt")))
    compared(page)

    assert page.locator("#title").inner_text().startswith("lib.simdup")
    assert "Question" in page.locator(".member").first.inner_text()
    heads = page.eval_on_selector_all(".heads .name", "all => all.map((e) => e.textContent)")
    assert heads == [HOSTILE[0], "near.txt"]
    assert page.locator(".heads .other .mark").inner_text() == "Near, 80\u00a0%"
    press(page, "ArrowDown")
    compared(page, "other.txt")
    page.click("#language")
    assert "索引查询结果" in page.locator("#title").inner_text()
    assert page.evaluate("window.hacked") is None


def test_questions_are_rows_and_unanswered_ones_are_said(shown):
    asked = ("first",), ("second", "lib/a"), ("third", "lib/b", "lib/c")
    page = shown(answers_page(*asked, unread=600, gone="lib/a"))

    lines = page.locator(".row .line").all_inner_texts()
    assert lines == ["nothing", "~80\u00a0% · a", "80\u00a0% · b"]
    page.fill("#search", "lib/c")
    assert page.locator("#count").inner_text() == "1 of 3"
    assert "c" in page.locator(".row mark").last.inner_text()


def test_rows_of_a_corpus_are_found_by_id_and_text_and_compared(shown, tmp_path):
    texts = [*similar(1, "grey seal", "brown otter", "brown otter"), *similar(2, PAYLOAD, "end")]
    ids = ["<img src=x onerror=window.hacked=1>", "b", "c", "d", "e"]
    page = shown(corpus_page(tmp_path, *texts, ids=ids))

    assert page.locator("#overview h2").inner_text().startswith("1 row repeats another, ")
    view(page, "look")
    page.fill("#search", "w2x0")
    assert page.locator(".row .line").inner_text().startswith("w2x0 w2x1")
    page.fill("#search", "img src")
    assert page.locator("#count").inner_text() == "1 of 2"
    assert f"{len(texts[1])} characters" in page.locator(".member").first.inner_text()
    compared(page)
    assert "grey seal" in page.locator(".side ins, .side del").all_inner_texts()
    view(page, "identical")
    page.get_by_text("Nothing differs").wait_for()
    page.click("#language")
    assert "3 行" in page.locator("#files, .row").all_inner_texts()[0] or page.locator("h2").count()
    assert page.evaluate("window.hacked") is None


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
    assert cells[1:] == ["1,200", "0.1\u00a0%", "25.0\u00a0%", "0.0\u00a0%"]
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
