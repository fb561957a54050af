"""The main content of pages, without the frame of a site."""

from __future__ import annotations

from itertools import combinations

import makers
import numpy as np
import pytest
from patience import grows_evenly

from simdup import exact_similarities
from simdup.extract.eml import eml
from simdup.extract.html import text

TEA = "Warm the pot. " * 12 + "Pour."


def shown(markup):
    return text(markup.encode())


@pytest.mark.parametrize(
    "frame",
    [
        *("<nav>no</nav>", "<NAV class=a>no</NAV>", "<nav>no<nav>no</nav>no</nav>"),
        "<div role=navigation>no<div>no</div></div>",
        "<div\nROLE = 'navigation'><div role=main>no</div></div>",
        *('<div class="a" role="search">no</div>', "<search>no</search>"),
        *("<form action='/search'>no<select><option>no</select></form>", "<footer>no</footer>"),
        *("<div role=contentinfo>no</div>", "<div role=banner>no</div>", "<aside>no</aside>"),
        *("<ul role=menu><li>no</ul>", "<div role=dialog>no</div>"),
        "<form id=searchform action=/>no</form>",
        f"<form class='site-search' role=search><p>{'no ' * 99}</form>",
    ],
)
@pytest.mark.parametrize("page", ["{frame}<p>{tea}</p>{frame}", "<main><p>{tea}</p></main>{frame}"])
def test_what_is_left_out(page, frame):
    assert shown(page.format(frame=frame, tea=TEA)) == TEA


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("no<main>{tea}</main>no", "{tea}"),
        ("no<div role=main><div>{tea}</div></div>no", "{tea}"),
        ("<main>one {tea}</main>no<main>two</main>", "one {tea}two"),
        ("<main><main>{tea}</main>yes</main>no", "{tea}yes"),
        ("<title>the title</title>no<main>{tea}</main>", "the title\n{tea}"),
        ("<header>no</header><article><header>yes</header>{tea}</article>", "yes\n{tea}"),
        ("<main><header>yes</header>{tea}<footer>yes</footer></main>", "yes\n{tea}\nyes"),
        ("<article>{tea}<aside>yes</aside></article>", "{tea}\nyes"),
        ("<main>{tea}<nav>no</nav><div role=navigation>no</div></main>", "{tea}"),
        # What a page does not mark stays.
        ("<div class=nav>yes</div>{tea}<div id=footer>yes</div>", "yes\n{tea}\nyes"),
        ("<header><h1>yes</h1></header>{tea}", "yes\n{tea}"),
        ("<menu><li>yes</menu>{tea}<form action=order>yes</form>", "yes\n{tea}\nyes"),
        ("{tea}<form action=/research/1>yes</form>", "{tea}\nyes"),
        ("{tea}<form id='research' class=searchable action=s.aspx>{tea}</form>", "{tea}\n{tea}"),
        ("<form id=f action='./Search.aspx?q=2'>{tea}</form>yes", "{tea}\nyes"),
        # And so does everything where the page is broken, or where little else would be left.
        ("<nav>yes{tea}", "yes{tea}"),
        ("yes<main>{tea}", "yes{tea}"),
        ("</main></nav>{tea}</footer>", "{tea}"),
        ("<nav>yes {tea}</nav><p>short", "yes {tea}\nshort"),
        ("yes {tea}<main>short</main>", "yes {tea}\nshort"),
        # Attributes that only look like a role.
        ("<p title='the role=navigation'>{tea}</p>", "{tea}"),
        ("<p data-role=navigation>yes</p>{tea}<nav>no</nav>", "yes\n{tea}"),
    ],
)
def test_what_stays(page, expected):
    found = shown(page.replace("{tea}", TEA))

    assert found.replace("\n", "") == expected.replace("{tea}", TEA).replace("\n", "")


def test_pages_of_one_site_are_as_alike_as_their_texts():
    texts = list(makers.ORIGINALS.values())
    pages = [text(makers.site_page(each, f"page {n}", n)) for n, each in enumerate(texts)]
    left, right = map(np.array, zip(*combinations(range(len(texts)), 2), strict=True))

    of_pages = exact_similarities(pages, left, right)

    assert not any("Unseen" in page for page in pages)
    assert np.abs(of_pages - exact_similarities(texts, left, right)).max() < 0.05


def test_a_mail_has_no_frame():
    mail = f"Subject: a\nContent-Type: text/html\n\n<nav>yes</nav><main>{TEA}</main>"

    assert eml(mail.encode()) == f"a\nyes\n{TEA}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *("<nav>", "</nav>", "<main>", "<nav></nav>", "<main></main>a", "<div role="),
        *("<a role=main>", "<a  role", "<form"),
    ],
)
def test_time_grows_with_the_page_and_no_faster(piece):
    def read(n):
        text(f"<main>{TEA}</main>{piece * n}".encode())

    assert grows_evenly(read, 40_000)


def test_blanks_where_a_role_is_missing_are_looked_at_once():
    def read(n):
        text(f"<p>{TEA}</p><div role={' ' * n}".encode())

    assert grows_evenly(read, 16_000)
