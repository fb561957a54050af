"""How alike a text stays in every format of document, and how fast each is read.

    python tests/bench/formats.py [--runs 5] [--json FILE]

Our own originals (fixtures/pairs), written as files of each format by other programs' libraries
and read by simdup: exact similarity to the source over pairs of tokens, and files per second in
this process. PDF has 30 lines a page, a running header and page numbers; `pdftotext` is beside it
where it is installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from report import options, reported
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from simdup import exact_similarities
from simdup.extract.documents import READERS, kind
from simdup.records import SIMILARITY

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parent.parent))
import makers

COLUMNS = {
    "files": ",",
    "found": ",",
    "least alike": ".3f",
    "median": ".3f",
    "files/s": ",.0f",
}


def pdf(text: str) -> bytes:
    """A PDF of a text, in a font that every reader has."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    out = BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    lines = [part for line in text.split("\n") for part in wrapped(line)]
    for page, first in enumerate(range(0, len(lines), 30), 1):
        canvas.setFont("STSong-Light", 11)
        canvas.drawString(60, 800, "A running header")
        for row, line in enumerate(lines[first : first + 30]):
            canvas.drawString(60, 760 - 22 * row, line)
        canvas.drawString(290, 30, f"- {page} -")
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def wrapped(line: str) -> list[str]:
    """A paragraph in lines of a page."""
    if not line.isascii():
        return [line[at : at + 38] for at in range(0, len(line), 38)]
    lines, words = [""], line.split(" ")
    for word in words:
        if len(lines[-1]) + len(word) > 80:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


FORMATS: dict[str, Callable[[str], bytes]] = {
    "html": makers.html_page,
    "html, gbk": lambda text: makers.html_page(text, "gbk"),
    "docx": makers.docx,
    "odt": makers.odt,
    "epub": makers.ebooklib_epub,
    "rtf": makers.rtf,
    "eml": makers.eml,
    "pptx": makers.pptx,
    "xlsx": makers.xlsx,
    "pdf": pdf,
}


def by_simdup(data: bytes) -> str:
    found = kind(data, "")
    return READERS[found](data) if found else ""


def by_pdftotext(data: bytes) -> str:
    done = subprocess.run(["pdftotext", "-", "-"], input=data, capture_output=True, check=True)
    return done.stdout.decode()


def main() -> None:
    given = options(__doc__).parse_args()
    texts = list(makers.ORIGINALS.values())
    with reported(given, ["pypdfium2", "reportlab", "python-docx"]) as report:
        report.table("Originals in files of other formats, read again", COLUMNS, 24)
        jobs = [(name, make, by_simdup) for name, make in FORMATS.items()]
        if shutil.which("pdftotext"):
            jobs.append(("pdf, pdftotext", pdf, by_pdftotext))
        for name, make, read in jobs:
            files = [make(text) for text in texts]
            times = []
            for _ in range(given.runs):
                began = perf_counter()
                again = [read(data) for data in files]
                times.append(perf_counter() - began)
            n = np.arange(len(texts))
            alike = exact_similarities([*texts, *again], n, n + len(n))
            found = int((alike >= SIMILARITY).sum())
            speed = len(texts) / median(times)
            report.row(name, len(texts), found, alike.min(), float(np.median(alike)), speed)


if __name__ == "__main__":
    main()
