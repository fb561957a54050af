"""What TeX files read like."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest
from patience import patient

from simdup.extract.cleanup import NotReadable
from simdup.extract.tex import text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\textbf{Tea} and \emph{milk \textit{hot}}", "Tea and milk hot"),
        (r"\section*{One}\label{a}Two~\ref{a}, \cite[p.~3]{b}\citep{c}.", "OneTwo , ."),
        (r"\parbox{3cm}{a} \resizebox{1cm}{!}{b} \rotatebox{90}{c} \cline{2-3}d", "a b c d"),
        (r"\begin{tabularx}{1cm}{ll}a\end{tabularx}\begin{longtable}{ll}b\end{longtable}", "a\nb"),
        (r"50\,\% \& \$3 \#1 a\_b \{c\} \textbackslash x", "50 % & $3 #1 a_b {c} \\x"),
        (
            r"Caf\'e M\"{u}ller \c{c}a \v Skoda \'{\i} \~n \ss{} \ae on",
            "Café Müller ça Škoda í ñ ß æon",
        ),
        ("``a'' --- b -- c - d", "“a” — b – c - d"),
        ("a % no\nb \\% c %no\n%no\n  d\\\\% no\ne", "a b % c d\ne"),
        ("a \\\\[2pt] b \\\\ c", "a\nb\nc"),
        (r"\begin{tabular}{l|r} a & b \\ c & d \end{tabular}", "a   b\nc   d"),
        (r"\begin{itemize}\item a \item[b] c\end{itemize}", "a\n[b] c"),
        (r"\newcommand{\x}[1]{no #1}\newcommand\y{no}\def\z#1{no}a", "a"),
        (r"\renewenvironment{p}{no}{no}\setlength{\parindent}{0pt}\setlength\parskip{1ex}a", "a"),
        (r"\includegraphics[width=1cm]{no.png}\caption[no]{Tea}", "Tea"),
        (r"\href{http://no}{tea} \url{http://yes} \textcolor{red}{hot}", "tea http://yes hot"),
        (r"\footnote{A note.} \foreignlanguage{german}{Tee}", "A note. Tee"),
        (r"\verb|a{\b}%c| \verb+$+ \lstinline[language=C]!x!", "a{\\b}%c $ !x!"),
        ("\\begin{verbatim}\n\\a{b}\n\\end{verbatim}", "\\a{b}"),
        ("\\begin{lstlisting}[language=C]\nint a;\n\\end{lstlisting}", "int a;"),
        (r"\begin{tikzpicture}\node{no};\end{tikzpicture}\begin{comment}no\end{comment}a", "a"),
        (r"$\alpha^2 \le \Omega$ and \[ x \times y \]", "α^2 ≤Ω and x ×y"),
        ("春眠不\n觉晓\nab\ncd", "春眠不觉晓\nab\ncd"),
        (r"\unknown{a}{b}[c]", "ab[c]"),
        (r"\textbf{never closed", "never closed"),
        (r"closed} again}", "closed again"),
        (r"a \iffalse b \ifx\x y c \fi d \else e \fi f", "a e f"),
        ("a \\iffalse b %\\fi\n c \\iff d\\fi e \\iftrue f\\else g\\fi h", "a e fh"),
        (r"\newif\ifdraft a \if0 b \ifdraft c\fi d\fi\iffalse e \verb|f|", "a e f"),
        (r"a \verb|\iffalse| b \iffalse c\fi d", "a \\iffalse b d"),
    ],
)
def test_what_is_read(source, expected):
    assert text(source.encode()).replace("  ", " ") == expected.replace("  ", " ")


def test_a_document_begins_with_its_title():
    source = r"""\documentclass{article}
no
\title{On \emph{Tea}}\author{Ann}
\newtheorem{no}{no}
\begin{document}
\maketitle
Warm the pot.
\end{document}
no
"""

    assert text(source.encode()) == "On Tea\nAnn\nWarm the pot."


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
