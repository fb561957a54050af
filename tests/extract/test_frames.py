"""The main content of pages, without the frame of a site."""

from __future__ import annotations

from itertools import combinations

import makers
import numpy as np
import pytest
from patience import grows_evenly
from shown import shown

from simdup import exact_similarities
from simdup.extract.eml import eml
from simdup.extract.html import text

TEA = "Warm the pot. " * 12 + "Pour."


def read(markup):
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
    assert read(page.format(frame=frame, tea=TEA)) == TEA


@pytest.mark.parametrize(("page", "expected"), shown("frames"))
def test_what_stays(page, expected):
    found = read(page.replace("{tea}", TEA))

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
