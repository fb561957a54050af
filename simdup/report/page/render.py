"""The page put together: template, style, scripts, data, and a policy that allows no others."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from simdup.report.page.contents import LONGEST_TEXT, contents
from simdup.report.page.payload import payload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.records import Group, ScanResult
    from simdup.report.page.contents import ReadText

#: The languages of the page.
LANGUAGES = ("en", "zh")

#: The largest page in bytes, unless names alone take more. Texts take what the rest leaves.
LARGEST_PAGE = 20_000_000

#: Bytes reserved for template, style and scripts, which take somewhat less.
FRAME = 500_000

#: The scripts, in the order in which they run: what each needs at once stands before it.
SCRIPTS = (
    *("words", "elements", "diff", "texts", "data", "histogram", "summary", "comparison"),
    *("groups", "filters", "page"),
)


def render(
    result: ScanResult,
    language: str,
    read: ReadText | None = None,
    groups: Iterable[Group] | None = None,
) -> Iterator[str]:
    """The lines of the page, in one of LANGUAGES.

    `read` reads the texts for the page; None makes a page without texts. `groups` may be the
    groups of the result wrapped in a progress bar, which advances while texts are read.
    """
    data = payload(result)
    blocks, left_out = dict[int, str](), 0
    if read is not None:
        room = LARGEST_PAGE - FRAME - len(_json(data).encode("utf-8", "backslashreplace"))
        blocks, left_out = contents(result.groups if groups is None else groups, read, room)
    data |= {
        "language": language,
        "texts": read is not None,
        "leftOut": left_out,
        "longestText": LONGEST_TEXT,
        "largestPage": LARGEST_PAGE,
    }
    # Line by line and not joined: the texts may have many megabytes.
    before, after = _frame(language).split("<!-- texts -->\n")
    yield before.rstrip("\n")
    for number, block in blocks.items():
        yield f'<script type="text/plain" id="texts-{number}">{block}</script>'
    yield f'<script type="application/json" id="data">{_json(data)}</script>'
    yield after.rstrip("\n")


def _frame(language: str) -> str:
    """The page without its data."""
    style = _part("page.css")
    script = "'use strict';\n" + "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)};"
        " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    return Template(_part("page.html")).substitute(
        language=language, policy=policy, style=style, script=script
    )


def _part(name: str) -> str:
    return files("simdup.report.page").joinpath(name).read_text("utf-8")


def _source(text: str) -> str:
    """The name by which a policy allows exactly this script or style: its digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:  # noqa: ANN401
    """JSON in which every `<` is escaped, so that no name can end the script around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
