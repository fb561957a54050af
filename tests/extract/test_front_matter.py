"""Markdown without its front matter."""

from __future__ import annotations

import pytest

from simdup.extract.cleanup import NotReadable
from simdup.extract.text_formats import markdown as text


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: a\n---\n",
        "---\ntitle: a\n...\n",
        '---\r\ntitle: "a: b"\r\ntags: [a,\r\n  b]\r\nlist:\r\n- c\r\n  # d\r\n\r\n"e": f\r\n---\r\n',
        "---\n标题：还是\n键: 值\n---\n".replace("标题：还是", "标题: 值"),
        "---   \ntext: |\n  ---\n  b\n--- \n",
        "+++\ntitle = 'a'\n[extra]\nb = [\n  1,\n]\n+++\n",
        "\n---\ntitle: a\n---\n",
    ],
)
def test_what_follows_is_the_text_as_it_stands(front):
    body = "\n# Tea\n\n    warm the pot\n\n---\na: b\n---\n"

    assert text((front + body).encode()) == body[1:]


@pytest.mark.parametrize(
    "source",
    [
        "---\nA line that has no key\n---\n\nText\n",
        "---\ntitle: a\nand a line of prose\n---\nText\n",
        "---\ntitle: a\n\nText that goes on for ever\n",
        "---\nhttps://example.org/a\n---\nText\n",
        "+++\ntitle: a\n+++\nText\n",
        "***\na: b\n***\nText\n",
    ],
)
def test_rules_are_no_front_matter(source):
    with pytest.raises(NotReadable, match="^no front matter$"):
        text(source.encode())


def test_a_file_that_is_nothing_else():
    with pytest.raises(NotReadable, match="^nothing but front matter$"):
        text(b"---\ntitle: a\n---\n \n")
