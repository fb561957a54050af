"""The page put together: template, style, scripts, data, and the policy that holds it to them."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from simdup.report.page.contents import LONGEST_TEXT, Contents, contents
from simdup.report.page.payload import payload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.records import Group, ScanResult
    from simdup.report.page.contents import Read

#: The languages of the page.
LANGUAGES = ("en", "zh")

#: Bytes of a page, unless the names alone take more; texts take what is left.
LARGEST_PAGE = 20_000_000

#: What template, style and scripts take of that, and some air.
FRAME = 500_000

# In this order: each uses only those before it, but for what runs later.
SCRIPTS = (
    "words",
    "elements",
    "diff",
    "texts",
    "data",
    "histogram",
    "summary",
    "comparison",
    "groups",
    "filters",
    "page",
)


def render(
    result: ScanResult,
    language: str,
    read: Read | None = None,
    groups: Iterable[Group] | None = None,
) -> Iterator[str]:
    """The lines of the page, in one of LANGUAGES.

    `read` gives the texts that the page is to have; None: it has none. `groups` are those
    of the result, if progress is to be shown while their texts are read.
    """
    data = payload(result)
    found = Contents({}, 0)
    if read is not None:
        room = LARGEST_PAGE - FRAME - len(_json(data).encode("utf-8", "backslashreplace"))
        found = contents(result.groups if groups is None else groups, read, room)
    data |= {
        "language": language,
        "texts": read is not None,
        "leftOut": found.left_out,
        "longestText": LONGEST_TEXT,
        "largestPage": LARGEST_PAGE,
    }
    # Not str.join over texts: a page may have many megabytes of them.
    before, after = _frame(language).split("<!-- texts -->\n")
    yield before.rstrip("\n")
    for number, block in found.blocks.items():
        yield f'<script type="text/plain" id="texts-{number}">{block}</script>'
    yield f'<script type="application/json" id="data">{_json(data)}</script>'
    yield after.rstrip("\n")


def _frame(language: str) -> str:
    """The page without its data."""
    style = _part("page.css")
    script = "'use strict';\n" + "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_source(script)}",
            f"style-src {_source(style)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )
    return Template(_part("page.html")).substitute(
        language=language, policy=policy, style=style, script=script
    )


def _part(name: str) -> str:
    return files("simdup.report.page").joinpath(name).read_text("utf-8")


def _source(text: str) -> str:
    """What a policy calls this very script or style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:  # noqa: ANN401
    """JSON that no name in it can end: neither `</script>` nor `<!--` keeps its `<`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
