"""What TeX files read like."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest
from patience import patient
from shown import shown

from simdup.extract.cleanup import NotReadable
from simdup.extract.tex import text


@pytest.mark.parametrize(("source", "expected"), shown("tex"))
def test_what_is_read(source, expected):
    assert text(source.encode()).replace("  ", " ") == expected.replace("  ", " ")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a\n%\\end{document}\nb", "a\nb"),
        (r"a \lstinline+\end{document}+ b", r"a \end{document} b"),
        (r"\begin{lstlisting}\end{document}\end{lstlisting} b", "\\end{document}\nb"),
        (r"\begin{comment}\end{document}\end{comment} b", "b"),
        (r"\newcommand{\x}{\end{document}} b", "b"),
        (r"a \iffalse \end{document} \fi b", "a b"),
    ],
)
@pytest.mark.parametrize(
    "before",
    [
        "no",
        "no\n% \\begin{document} no\n",
        r"\begin{filecontents}{a.tex}\begin{document}no\end{document}\end{filecontents}no",
        r"\iffalse\title{no}\begin{document}\fi",
    ],
)
def test_a_document_begins_and_ends_where_tex_says(before, body, expected):
    source = rf"{before}\begin{{document}}{body}\end{{document}}no"

    assert text(source.encode()) == expected


def test_a_style_has_no_text():
    with pytest.raises(NotReadable, match="^no text in it$"):
        text(rb"\documentclass{a}\usepackage[b]{c}% d")


@pytest.mark.slow
@pytest.mark.parametrize("command", [b"\\a{", b"{", b"\\footnote{", b"\\title{", b"\\begin{a}{"])
def test_nesting_costs_nothing(command):
    source = command * 50_000 + b"tea" + b"}" * 50_000
    begin = process_time()

    assert text(source + b"\\begin{document}a\\end{document}") == (
        "tea\na" if b"title" in command else "a"
    )
    assert text(source) == "tea"
    assert process_time() - begin < patient(5)


def test_titles_that_share_one_end_of_an_environment_take_little_memory(monkeypatch):
    monkeypatch.setattr("simdup.extract.cleanup.LONGEST_TEXT", 10_000)
    titles = r"\title{\begin{verbatim}}" * 1000
    tracemalloc.start()
    with pytest.raises(NotReadable, match="^more than 10,000 characters of text$"):
        text(rf"{titles}\begin{{document}}\end{{verbatim}}a".encode())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 2_000_000
