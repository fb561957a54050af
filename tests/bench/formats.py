"""How alike a text stays in every format of document, and what reading it costs.

    python tests/bench/formats.py [--runs 5] [--copies 10] [--only srt,tex] [--json FILE]

Our 48 originals (fixtures/pairs), written as files of each format by other programs' libraries
(text files, RTF and PDF as tests/makers.py does, PDF with a running header and page numbers), and all of them,
--copies times, as one large file. Each case is read in a fresh process: by simdup's reader, and by
the bare library for the format, as its manual has it. "Guarded" is simdup's reader in the process of its own that a scan keeps for it.

Similarity is exact, to the source, over pairs of tokens. Memory is the most that the process had;
an empty row shows what it has with nothing read. What is read lies in the page cache.

"site" is the originals as pages of one site, and a second table shows how alike these unrelated
pages are to each other: as texts, as simdup reads them, and as others do.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from functools import partial
from html.parser import HTMLParser
from importlib import import_module
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from report import fresh, measured, options, peak_memory, reported

from simdup import exact_similarities
from simdup.extract.readers import READERS, UNGUARDED, Readers, kind
from simdup.settings import FORMATS, SIMILARITY

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypdfium2 import PdfPage

sys.path.insert(0, str(Path(__file__).parent.parent))
import makers

COLUMNS = {
    "found": ",",
    "least alike": ".3f",
    "median": ".3f",
    "files/s": ",.0f",
    "guarded": ",.0f",
    "MB": ",.0f",
    "large, s": ".2f",
    "large, MB": ",.0f",
}
PAIR_COLUMNS = {"pairs": ",", "most alike": ".3f", "median": ".3f", "near": ","}
NAME_WIDTH = 24
PEERS = (
    *("pypdfium2", "python-docx", "odfpy", "ebooklib", "striprtf", "python-pptx", "openpyxl"),
    *("reportlab", "trafilatura", "pysrt", "webvtt-py", "ass", "pyyaml", "nbformat", "pylatexenc"),
)


def simdup(path: Path) -> str:
    data = path.read_bytes()
    found = kind(data, path.name)
    return READERS[found](data) if found else ""


class Shown(HTMLParser):
    """The characters of a page that are no script or style."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.is_hidden = False

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.is_hidden = tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.is_hidden = False

    def handle_data(self, data: str) -> None:
        if not self.is_hidden:
            self.pieces.append(data)


def shown(markup: str) -> str:
    parser = Shown()
    parser.feed(markup)
    return "".join(parser.pieces)


def html_parser(path: Path) -> str:
    return shown(path.read_text("utf-8"))


def ebooklib(path: Path) -> str:
    from ebooklib import ITEM_DOCUMENT, epub

    chapters = epub.read_epub(path, {"ignore_ncx": True}).get_items_of_type(ITEM_DOCUMENT)
    return "\n".join(shown(each.get_content().decode()) for each in chapters)


def python_docx(path: Path) -> str:
    from docx import Document

    return "\n".join(each.text for each in Document(str(path)).paragraphs)


def odfpy(path: Path) -> str:
    from odf.opendocument import load
    from odf.teletype import extractText
    from odf.text import P

    return "\n".join(map(extractText, load(path).getElementsByType(P)))


def striprtf(path: Path) -> str:
    from striprtf.striprtf import rtf_to_text

    return rtf_to_text(path.read_text("ascii"))


def email(path: Path) -> str:
    from email import message_from_bytes, policy

    mail = message_from_bytes(path.read_bytes(), policy=policy.default)
    return mail.get_body(("plain", "html")).get_content()


def trafilatura(path: Path) -> str:
    from trafilatura import extract

    return extract(path.read_text("utf-8"), include_comments=False) or ""


def mailbox(path: Path) -> str:
    from email import policy
    from email.parser import BytesParser

    box = import_module("mailbox").mbox(path, BytesParser(policy=policy.default).parse)
    with closing(box):
        return "\n".join(mail.get_body(("plain", "html")).get_content() for mail in box)


def pysrt(path: Path) -> str:
    return "\n".join(each.text_without_tags for each in import_module("pysrt").open(str(path)))


def webvtt(path: Path) -> str:
    return "\n".join(each.text for each in import_module("webvtt").read(path))


def ass(path: Path) -> str:
    with path.open(encoding="utf-8-sig") as file:
        events = import_module("ass").parse(file).events
    return "\n".join(each.text for each in events if each.TYPE == "Dialogue")


def yaml(path: Path) -> str:
    """What follows the front matter that PyYAML has read."""
    _, front, text = path.read_text("utf-8").split("---\n", 2)
    import_module("yaml").safe_load(front)
    return text


def nbformat(path: Path) -> str:
    return "\n\n".join(each.source for each in import_module("nbformat").read(path, 4).cells)


def pylatexenc(path: Path) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text().latex_to_text(path.read_text("utf-8"))


def groff(path: Path) -> str:
    command = ["groff", "-k", "-man", "-Tutf8", "-P-cbou", "-rLL=1000n", "-rHY=0", str(path)]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode()


def python_pptx(path: Path) -> str:
    from pptx import Presentation

    shapes = (shape for slide in Presentation(str(path)).slides for shape in slide.shapes)
    return "\n".join(each.text_frame.text for each in shapes if each.has_text_frame)


def openpyxl(path: Path) -> str:
    from openpyxl import load_workbook

    with closing(load_workbook(path, read_only=True)) as book:
        rows = (row for sheet in book for row in sheet.iter_rows(values_only=True))
        return "\n".join("\t".join(str(cell) for cell in row if cell) for row in rows)


def pypdfium2(path: Path) -> str:
    from pypdfium2 import PdfDocument

    with closing(PdfDocument(path)) as document:
        return "\n".join(map(of_page, document))


def of_page(page: PdfPage) -> str:
    with closing(page), closing(page.get_textpage()) as text:
        return text.get_text_range()


# What writes each format, and the libraries that read it.
FILES: dict[str, tuple[Callable[..., Any], ...]] = {
    "html": (makers.html_page, html_parser),
    "epub": (makers.ebooklib_epub, ebooklib),
    "docx": (makers.docx, python_docx),
    "odt": (makers.odt, odfpy),
    "rtf": (makers.rtf, striprtf),
    "eml": (makers.eml, email),
    "pptx": (makers.pptx, python_pptx),
    "xlsx": (makers.xlsx, openpyxl),
    "pdf": (makers.printed, pypdfium2),
    "site": (makers.site_page, html_parser, trafilatura),
    "mbox": (makers.mbox, mailbox),
    "srt": (makers.srt, pysrt),
    "vtt": (makers.vtt, webvtt),
    "ass": (makers.ass, ass),
    "md": (makers.markdown, yaml),
    "ipynb": (makers.notebook, nbformat),
    "tex": (makers.tex, pylatexenc),
    "man": (makers.man, *((groff,) if shutil.which("groff") else ())),
}


def write(folder: Path, copies: int) -> None:
    """Every original in every format, and all of them in one large file of each."""
    texts = makers.ORIGINALS
    # A blank line begins a slide: the large file has one for each text.
    large = "\n\n".join(
        text.replace("\n\n", "\n") for text in texts.values() for _ in range(copies)
    )
    for ending, (make, *_) in FILES.items():
        small, big = folder / ending, folder / f"large-{ending}"
        small.mkdir()
        big.mkdir()
        for name, text in texts.items():
            (small / f"{name}.{ending}").write_bytes(make(text))
        (big / f"large.{ending}").write_bytes(make(large))


def reading(read: Callable[[Path], str], folder: Path) -> Callable[[], list[str]]:
    """What reads all files of a folder; it has done so with one."""
    paths = sorted(folder.iterdir())
    read(paths[0])
    return partial(read_all, read, paths)


def read_all(read: Callable[[Path], str], paths: list[Path]) -> list[str]:
    return [read(path) for path in paths]


def guarded(folder: Path) -> Callable[[], int]:
    """What has all files of a folder read as a scan does; the process for it has been started."""
    readers, paths = Readers(FORMATS), sorted(folder.iterdir())
    read_guarded(readers, paths[:1])
    return partial(read_guarded, readers, paths)


def read_guarded(readers: Readers, paths: list[Path]) -> int:
    files = [(path.name, path.read_bytes()) for path in paths]
    return len([readers.text(readers.identify(data, name), data) for name, data in files])


def alike(texts: list[str]) -> tuple[int, float, float]:
    """How many texts are found, and the least and the median similarity to their sources."""
    n = np.arange(len(texts))
    found = exact_similarities([*makers.ORIGINALS.values(), *texts], n, n + len(n))
    return int((found >= SIMILARITY).sum()), float(found.min()), float(np.median(found))


def cells(folder: Path, ending: str, read: Callable[[Path], str], runs: int) -> tuple[object, ...]:
    """What stands in a row of the table."""
    small, large = folder / ending, folder / f"large-{ending}"
    of_small, of_large = (measured(partial(reading, read, each), runs) for each in (small, large))
    files = len(of_small.result)
    speed = None
    formats = {*FORMATS} - UNGUARDED
    if read is simdup and ending in formats:
        speed = files / measured(partial(guarded, small), runs).seconds
    similar = fresh(alike, of_small.result)
    of_files = files / of_small.seconds, speed, of_small.peak
    return *similar, *of_files, of_large.seconds, of_large.peak


def of_strangers(texts: list[str]) -> tuple[int, float, float, int]:
    """How alike all pairs of these texts are, and how many are near enough."""
    left, right = map(np.array, zip(*combinations(range(len(texts)), 2), strict=True))
    found = exact_similarities(texts, left, right)
    return len(found), found.max(), float(np.median(found)), int((found >= SIMILARITY).sum())


def site_pages(folder: Path, read: Callable[[Path], str]) -> tuple[int, float, float, int]:
    """The same for the pages of one site."""
    return of_strangers([read(path) for path in sorted((folder / "site").iterdir())])


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", help="these formats, with commas")
    parser.add_argument("--copies", type=int, default=10, help="of each text in the large files")
    given = parser.parse_args()
    with TemporaryDirectory() as place, reported(given, PEERS) as report:
        folder = Path(place)
        fresh(write, folder, given.copies)
        report.table("Originals in files of other formats, read again", COLUMNS, NAME_WIDTH)
        nothing = fresh(peak_memory)
        report.row("nothing read", *[None] * 5, nothing, None, None)
        for ending in given.only.split(",") if given.only else FILES:
            for read in (simdup, *FILES[ending][1:]):
                name = read.__name__.replace("_", "." if read is html_parser else "-")
                # In a process of its own, since this one grows, and Linux would count that.
                row = fresh(cells, folder, ending, read, given.runs)
                report.row(f"{ending}, {name}", *row)
        report.table("Unrelated pages of one site", PAIR_COLUMNS, NAME_WIDTH)
        report.row("the texts", *fresh(of_strangers, list(makers.ORIGINALS.values())))
        for read in (simdup, *FILES["site"][1:]):
            report.row(read.__name__.replace("_", "."), *fresh(site_pages, folder, read))


if __name__ == "__main__":
    main()
