"""`simdup report`, and `--html` of scans: what is written, what is read, what is refused."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from pathlib import Path

import pytest
from conftest import filled_form
from reports import data_in, scripts, texts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("files")]


@pytest.fixture
def files(write, english):
    write("docs/a.txt", english)
    write("docs/b.txt", english.replace("grey", "brown"))


@pytest.fixture
def result(run):
    """The name of a saved result of the files."""
    run("scan", "docs", "--format", "json", "-o", "r.json", "-q")
    return "r.json"


def test_a_scan_writes_a_page_with_its_texts_besides_its_report(run, english):
    ended = run("scan", "docs", "--html", "p.html", "-q")

    assert ended.out.startswith(b"Group 1: 99 % in the kept file, 2 files")
    assert texts()["texts"][0] == english
    assert texts()["found"] == [0, 1]


def test_a_saved_result_shows_siblings_if_it_has_them(run, write):
    for number in range(10):
        write(f"forms/{number}", filled_form(number))
    scanned = run("scan", "forms", "--siblings", "--format", "json", "-o", "r.json")
    run("scan", "forms", "--format", "json", "-o", "without.json")

    for form in ((), ("--format", "csv")):
        shown = run("report", "r.json", "--siblings", *form)
        assert shown.out == run("scan", "forms", "--siblings", *form).out
        assert b"same pattern" in shown.out
        plain = run("report", "r.json", *form)
        assert plain.out == run("scan", "forms", *form).out
        assert b"same pattern" not in plain.out
    assert scanned.err.decode().splitlines()[1:] == ["set aside 45 pairs of one pattern"]
    assert b"(--siblings shows them)" in run("report", "r.json").err
    without = run("report", "without.json", "--siblings")
    assert without.out == b""
    assert without.err.endswith(b"set aside 45 pairs of one pattern\n")


def test_html_texts_none_writes_a_page_without_texts(run):
    run("scan", "docs", "--html", "p.html", "--html-texts", "none", "-q")

    assert "texts-1" not in scripts()


def test_documents_are_in_the_page_as_they_were_read(run, write, english):
    write("docs/a.html", f"<title>x</title><p>{english}</p>")
    write("docs/b.txt", english)
    run("scan", "docs", "--html", "p.html", "-q")

    assert all("<p>" not in text and "harbour master" in text for text in texts()["texts"])


def test_converted_documents_are_in_the_page_of_a_scan_but_not_of_a_saved_result(
    run, write, english
):
    write("docs/a.shout", english.upper())
    write("docs/b.txt", english)
    convert = ("--convert", "shout=tr A-Z a-z")
    run("scan", "docs", *convert, "--html", "p.html", "--format", "json", "-o", "r.json", "-q")
    assert all(text.startswith("the harbour") for text in map(str.lower, texts()["texts"]))
    assert data_in()["codings"] == ["utf-8", "shout"]

    run("report", "r.json", "--html", "p.html", "--html-texts", "groups")
    assert "no text extracted" in texts()["found"]
    assert run("report", "r.json", "-q").out == run("scan", "docs", *convert, "-q").out


def test_the_page_of_an_index_has_no_texts_by_default(run):
    run("index", "build", "i.simdup", "docs")
    run("scan", "--index", "i.simdup", "--no-verify", "--html", "p.html", "-q")
    assert "texts-1" not in scripts()

    run("scan", "--index", "i.simdup", "--html", "p.html", "--html-texts", "groups", "-q")
    assert texts()["found"] == [0, 1]


def test_a_report_takes_json_lines_from_stdin(simdup):
    lines = simdup("scan", "docs", "--format", "jsonl", "-q").stdout
    again = simdup("report", "-", "-q", input=lines)

    assert again.stdout == simdup("scan", "docs", "-q").stdout
    assert again.returncode == 0


def test_a_page_of_a_saved_result_opens_no_file_that_it_names(run, result, refused):
    for name in ("docs/a.txt", "docs/b.txt"):
        refused(name)
        Path(name).unlink()
    ended = run("report", result, "--html", "p.html", "-q")

    assert (ended.code, ended.out, ended.err) == (0, b"", b"")
    assert "texts-1" not in scripts()


def test_a_page_and_a_format_are_both_made(run, result):
    ended = run("report", result, "--html", "p.html", "--format", "names", "-q")

    assert ended.out == b"docs/a.txt\ndocs/b.txt\n\n"
    assert scripts()


def test_texts_are_read_again_only_from_files_that_are_as_they_were(run, result, english):
    assert run("report", result, "--html", "p.html", "--html-texts", "groups").code == 0
    assert texts()["texts"][0] == english

    status = os.stat("docs/a.txt")
    Path("docs/a.txt").write_text(english.replace("grey", "blue"))
    os.utime("docs/a.txt", ns=(status.st_atime_ns, status.st_mtime_ns + 2_000_000))
    Path("docs/b.txt").unlink()
    run("report", result, "--html", "p.html", "--html-texts", "groups")
    assert texts()["found"] == ["changed while read", "not found"]


def test_a_result_without_digests_brings_no_text_into_a_page(run, result, english):
    """Whoever made such a result may not know the texts of the files that it names."""
    report = json.loads(Path(result).read_text())
    first, second = report["groups"][0]["members"]
    first["byte_digest"] = second["byte_digest"] = second["text_digest"] = None
    Path(result).write_text(json.dumps(report))

    run("report", result, "--html", "p.html", "--html-texts", "groups")

    assert texts()["texts"][0] == english
    assert [each for each in texts()["found"] if each] == ["unreadable"]


def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(run, result):
    report = json.loads(Path(result).read_text())
    report["groups"][0]["members"][0]["path"] = "/dev/zero"
    os.mkfifo("docs/fifo")
    report["groups"][0]["members"][1] |= {"path": "docs/fifo", "size": 0}
    report["groups"][0]["members"][1]["mtime_ns"] = os.stat("docs/fifo").st_mtime_ns
    Path(result).write_text(json.dumps(report))
    run("report", result, "--html", "p.html", "--html-texts", "groups")

    assert texts()["found"] == ["not a regular file"] * 2


def test_an_interrupted_result_is_shown_as_such(run, result):
    report = json.loads(Path(result).read_text()) | {"complete": False, "groups": []}
    Path(result).write_text(json.dumps(report))
    ended = run("report", result, "--html", "p.html")

    assert run("report", result, "-q").err == ended.err
    assert ended.err == b"simdup: this scan was interrupted: it has no groups\n"
    assert data_in()["complete"] is False


def test_the_old_page_stays_when_the_new_one_fails(run, monkeypatch):
    Path("p.html").write_text("old")
    monkeypatch.setattr("simdup.files.read.read_again", lambda *_: 1 / 0)

    assert run("scan", "docs", "--html", "p.html").code == 70
    assert Path("p.html").read_text() == "old"
    assert sorted(os.listdir()) == ["docs", "p.html"]


def test_the_page_is_written_even_if_the_output_pipe_closes(simdup):
    read, write = os.pipe()
    os.close(read)
    ended = simdup("scan", "docs", "--html", "p.html", "-q", capture_output=False, stdout=write)
    os.close(write)

    assert ended.returncode == 0
    assert texts()


def test_the_page_leaves_its_language_to_the_browser_or_opens_as_told(simdup):
    locale = {"LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh_CN.UTF-8"}
    simdup("scan", "docs", "--html", "p.html", environment=locale)
    assert data_in()["language"] is None

    simdup("scan", "docs", "--html", "p.html", "--lang", "en", environment=locale)
    assert data_in()["language"] == "en"


def test_the_page_opens_in_the_browser_of_the_user(simdup, tmp_path):
    opened = tmp_path / "opened"
    browser = f"{sys.executable} -c \"open({str(opened)!r}, 'w').write('%s')\""
    environment = {"BROWSER": browser, "TMPDIR": str(tmp_path)}
    ended = simdup("scan", "docs", "--open", "-q", environment=environment)

    address = opened.read_text("utf-8")
    (page_file,) = tmp_path.glob("simdup-*/page.html")
    assert address == page_file.as_uri()
    assert f"the page is open: {page_file}".encode() in ended.stderr
    assert 'id="data"' in page_file.read_text("utf-8")

    ended = simdup("scan", "docs", "--open", "--html", "p.html", "-q", environment=environment)
    assert opened.read_text("utf-8").endswith("/p.html")
    assert b"the page is open: p.html" in ended.stderr


def test_without_a_browser_one_line_says_where_the_page_is(run, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    ended = run("scan", "docs", "--open", "--html", "p.html", "-q")

    assert ended.code == 0
    assert b"the page found no browser: p.html\n" in ended.err
    assert texts()


def test_the_page_of_a_saved_result_has_the_day_of_that_file(simdup):
    simdup("scan", "docs", "--format", "json", "-o", "r.json")
    os.utime("r.json", (10**9, 10**9))
    simdup("report", "r.json", "--html", "p.html")
    assert data_in()["day"] == 10**9

    simdup("report", "-", "--html", "p.html", input=Path("r.json").read_bytes())
    assert data_in()["day"] is None
