"""Data and texts in, the lines of a page that contains them out.

A page is page.html with a main part of its own, page.css and its scripts, all from the folder
`screen`, and a policy that allows no other style or script.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from simdup.report.page import LANGUAGES
from simdup.versions import version

# The scripts of every page of groups, after its words.
_GROUPS = (
    *("elements", "shell", "diff", "texts", "data", "folders", "forms", "summary"),
    *("tabs", "files", "decisions", "progress", "comparison", "members", "list", "search"),
    *("overview", "export", "address", "keys"),
)

#: The scripts of each kind of page, by the field "page" of its data, in running order: a script
#: that another one needs at once comes before it. `words_answers` and `words_rows` replace some
#: words of the other scripts.
PAGES = {
    "files": ("words", *_GROUPS),
    "answers": ("words", "words_answers", *_GROUPS),
    "rows": ("words", "words_rows", *_GROUPS),
    "accuracy": ("words", "words_accuracy", "elements", "shell", "chart", "accuracy"),
}

#: Bytes reserved for template, style and scripts, which take somewhat less.
FRAME = 500_000


def page_lines(
    data: dict[str, Any], blocks: Mapping[int, str], language: str | None
) -> Iterator[str]:
    """Yield the lines of a page with its data and its blocks of texts, by id.

    `language` is one of LANGUAGES; None follows the reader's browser.
    """
    data |= {"version": version("simdup"), "language": language}
    # Line by line and not joined: the texts may have many megabytes.
    before, after = _frame(data["page"], language or LANGUAGES[0]).split("<!-- texts -->\n")
    yield before.rstrip("\n")
    for number, block in blocks.items():
        yield f'<script type="text/plain" id="texts-{number}">{block}</script>'
    yield f'<script type="application/json" id="data">{page_json(data)}</script>'
    yield after.rstrip("\n")


def page_json(value: Any) -> str:  # noqa: ANN401
    """JSON in which every `<` is escaped, so that no name can end the script around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def page_bytes(value: Any) -> int:  # noqa: ANN401
    """The bytes that a value takes in a page."""
    return len(page_json(value).encode("utf-8", "backslashreplace"))


def _frame(page: str, language: str) -> str:
    """A page of PAGES without its data; its skip link, for keyboard users, leads to `target`."""
    from string import Template  # noqa: PLC0415  slow to import

    style = _part("page.css")
    script = "'use strict';\n" + "\n".join(_part(f"{name}.js") for name in PAGES[page])
    main, target = ("accuracy.html", "k") if page == "accuracy" else ("groups.html", "list")
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)};"
        " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    return Template(_part("page.html")).substitute(
        language=language,
        policy=policy,
        style=style,
        target=target,
        main=_part(main),
        script=script,
    )


def _part(name: str) -> str:
    from importlib.resources import files  # noqa: PLC0415  slow to import

    return (files("simdup.report.page") / "screen" / name).read_text("utf-8")


def _source(text: str) -> str:
    """The name by which a policy allows exactly this script or style: its digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
