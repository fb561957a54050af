"""Write our documents by the programs that people use, and pack the files for `test_real.py`.

    python tests/extract/real/make.py

Needs, on Debian: chromium, wkhtmltopdf, calibre, libreoffice-writer-nogui, -calc-nogui and
-impress-nogui, pandoc, groff, texlive-latex-recommended, mutt, mpack, fonts-wqy-zenhei,
fonts-urw-base35 and ghostscript.
The test needs none of them.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
LANGUAGES = ("en", "zh")
SHEETS, SLIDES = ("xls", "xlsx", "ods"), ("ppt", "odp")
# What writes each file from others of the same language; a later command may read an earlier file.
COMMANDS = {
    **{
        f"pandoc.{ending}": "pandoc -s {md} -o {file} --metadata title=-"
        for ending in ("docx", "odt", "epub", "rtf", "html", "tex", "ipynb")
    },
    "pandoc.man": "pandoc -s -t man {md} -o {file}",
    "pandoc.pptx": "pandoc --slide-level 2 {md} -o {file}",
    **{
        f"libreoffice.{ending}": f"soffice --headless {{filter}}--convert-to {ending}"
        " --outdir out {source} && mv out/* {file}"
        for ending in ("doc", "docx", "rtf", "odt", "epub", "html", "pdf", *SHEETS, *SLIDES)
    },
    "chromium.pdf": "chromium --headless --no-sandbox --print-to-pdf={file} {html}",
    "wkhtmltopdf.pdf": "wkhtmltopdf -q --footer-center [page] {html} {file}",
    # Without Latin Modern, whose fonts are large.
    "pdflatex.pdf": "sed '/lmodern/d; /T1.*fontenc/d' {tex} > plain.tex"
    " && pdflatex -interaction=batchmode plain && mv plain.pdf {file}",
    "groff.pdf": "pandoc -s -t ms {md} | groff -k -t -ms -Tpdf | ps2pdf - {file}",
    **{f"calibre.{ending}": "ebook-convert {html} {file}" for ending in ("epub", "docx", "rtf")},
    "mutt.eml": "mutt -n -F muttrc -s - someone@example.org < {txt}; mv sent {file}",
    "mpack.eml": "mpack -s - -d {txt} -o {file} {html}",
}
# Programs that have no Chinese letters here, or take too much room for them.
ENGLISH = ("pdflatex.pdf", "groff.pdf", "chromium.pdf", "libreoffice.odt", "libreoffice.odp")


def words_of(source: str) -> str:
    """The text that each document must give: the paragraphs, and the notes at the end."""
    notes = re.findall(r"^\[\^\w+\]: (.*)$", source, re.MULTILINE)
    text = re.sub(r"(?m)^\[\^\w+\]: .*$|^[#-] |^#+ |\[\^\w+\]|^\|[-|]+\|$", "", source)
    return re.sub(r"\n{2,}", "\n", text.replace("|", " ")) + "\n".join(notes) + "\n"


def table_of(source: str) -> str:
    """The table of a document as CSV."""
    rows = re.findall(r"^\| (.*) \|$", source, re.MULTILINE)
    return "\n".join(re.sub(r" +\| +", ",", row) for row in rows) + "\n"


def mail(text: str, page: str) -> bytes:
    """A mail with the text, and with the page as its alternative, by Python's classes."""
    message = EmailMessage()
    message["From"], message["Subject"] = "someone@example.org", ""
    message.set_content(text)
    message.add_alternative(page, subtype="html")
    return message.as_bytes()


def make(language: str, folder: Path) -> None:
    """Write all files of a language into a folder."""
    source = (HERE / f"{language}.md").read_text("utf-8")
    (folder / f"{language}.txt").write_text(words_of(source), "utf-8")
    (folder / f"{language}.csv").write_text(table_of(source), "utf-8")
    (folder / "sendmail").write_text(f"#!/bin/sh\ncat > {folder}/sent\n")
    (folder / "sendmail").chmod(0o755)
    (folder / "muttrc").write_text(f"set sendmail={folder}/sendmail\nset copy=no\n")
    for name, command in COMMANDS.items():
        if language != "en" and name in ENGLISH:
            continue
        ending = name.rpartition(".")[2]
        office = f"{language}.csv" if ending in SHEETS else f"{language}.pandoc.odt"
        office = f"{language}.pandoc.pptx" if ending in SLIDES else office
        importing = "--infilter=CSV:44,34,76 " if ending in SHEETS else ""
        of = {each: f"{language}.pandoc.{each}" for each in ("html", "tex")}
        of |= {
            "md": HERE / f"{language}.md",
            "txt": f"{language}.txt",
            "source": office,
            "filter": importing,
        }
        line = command.format(file=f"{language}.{name}", **of)
        done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, check=False)
        if not (folder / f"{language}.{name}").exists():
            print(line, (done.stdout + done.stderr).decode()[-500:])
    page = (folder / f"{language}.pandoc.html").read_text("utf-8")
    (folder / f"{language}.python.eml").write_bytes(mail(words_of(source), page))


def main() -> None:
    """Write the files and pack them."""
    with (
        TemporaryDirectory() as name,
        tarfile.open(HERE / "documents.tar.xz", "w:xz", preset=9) as packed,
    ):
        for language in LANGUAGES:
            make(language, Path(name))
        for path in sorted(Path(name).glob("??.*")):
            if path.is_file() and path.suffix not in {".aux", ".log", ".out"}:
                packed.add(path, path.name)


if __name__ == "__main__":
    main()
