"""How soon the page of a large result is there in headless Chromium, and how large it is.

    python tests/bench/page.py [--groups 2000] [--members 5] [--size 4000] [--picture FILE]

Every group is a text of so many bytes, Chinese and English mixed, and edited copies of it. A
browser is started anew for each run; seconds are medians, from asking for the page until its
first groups are laid out, and until each of some things that a reader does is done. Says so
and ends where there is no Chromium or no playwright. With --pictures it only draws the overview and
a near group of the office of the tests, as they are in the README.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parents[1]))

from corpus import Corpus
from office import make_office
from report import options, reported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

STEPS = {
    "opened": lambda page: page.wait_for_selector("#overview h2"),
    "list shown": lambda page: seen(page, lambda: page.keyboard.press("2"), ".member"),
    "compared": lambda page: page.wait_for_selector(".diff"),
    "next group": lambda page: seen(page, lambda: page.keyboard.press("j"), ".member"),
    "decided": lambda page: seen(page, lambda: page.keyboard.press("r"), ".member.removed"),
    "searched": lambda page: seen(page, lambda: page.fill("#search", "copy-1 "), ".head mark"),
    "back": lambda page: seen(page, lambda: page.evaluate("showTab('overview')"), "#overview h2"),
}
COLUMNS = {"groups": ",", "files": ",", "runs": "", "page, MB": ".1f", "seconds": ".2f"}


def seen(page: Page, act: Callable[[], object], selector: str) -> None:
    """Do something, and wait until what it brings is there."""
    act()
    page.wait_for_selector(selector, state="attached")


def make_files(groups: int, members: int, size: int, folder: Path) -> None:
    corpus = Corpus(5)
    for number in range(groups):
        text = corpus.mixed(size)
        for copy in range(members):
            path = folder / f"{number % 50}" / f"{number}-copy-{copy}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(corpus.edited(text) if copy else text, "utf-8")


def scan(folder: Path, target: Path) -> None:
    """The page of a scan of the folder."""
    command = [
        *(sys.executable, "-m", "simdup", "scan", folder, "--html", target, "--no-cache", "-q"),
        *("--lang", "en"),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def opened(path: str, **options: Any) -> Iterator[Page]:
    """A page of a browser of its own."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser.new_page(locale="en-GB", **options)
        browser.close()


def draw(browser: str, folder: Path, pictures: Path) -> None:
    """Two PNGs of the page of an office: its overview, and a group of near files."""
    make_office(folder / "office")
    os.chdir(folder)
    scan(Path("office"), folder / "page.html")
    with opened(browser, viewport={"width": 1440, "height": 900}) as page:
        page.goto((folder / "page.html").as_uri())
        page.screenshot(path=pictures / "overview.png")
        page.keyboard.press("a")
        page.evaluate("goTo('look', looks.find(({title}) => title.startsWith('Heating')))")
        page.wait_for_selector(".diff")
        page.evaluate("document.activeElement.blur(); say('')")
        page.screenshot(path=pictures / "near.png")


def timed(browser: str, target: Path) -> list[float]:
    """Seconds of each step."""
    with opened(browser) as page:
        times = []
        for name, step in STEPS.items():
            began = perf_counter()
            if name == "opened":
                page.goto(target.as_uri(), wait_until="commit")
            step(page)
            times.append(perf_counter() - began)
    return times


def main() -> None:
    parser = options(__doc__)
    for name, default in (("groups", 2000), ("members", 5), ("size", 4000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw these, no more")
    given = parser.parse_args()
    browser = which("chromium") or which("chromium-browser")
    if browser is None or find_spec("playwright") is None:
        print("page.py: left out, for there is no chromium or no playwright here")
        return
    if given.pictures:
        with TemporaryDirectory() as folder:
            draw(browser, Path(folder), given.pictures.absolute())
        return
    with reported(given, ["playwright"]) as report, TemporaryDirectory() as folder:
        files, target = Path(folder, "files"), Path(folder, "page.html")
        files.mkdir()
        make_files(given.groups, given.members, given.size, files)
        scan(files, target)
        runs = [timed(browser, target) for _ in range(given.runs)]
        report.table("A page in Chromium", COLUMNS, 16)
        size = target.stat().st_size / 1e6
        for name, times in zip(STEPS, zip(*runs, strict=True), strict=True):
            count = given.groups * given.members
            report.row(name, given.groups, count, len(times), size, median(times))


if __name__ == "__main__":
    main()
