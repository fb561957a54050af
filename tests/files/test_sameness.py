"""The kind of sameness of two files: how they are told apart, and what a report says of them."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from email.message import EmailMessage

import makers
import pytest

from simdup import Document, Kind, compare, scan
from simdup.clean.plan import Consents
from simdup.clean.refusals import Refusal
from simdup.clean.terms import Terms, alike_of, detail, sort_of, terms
from simdup.files.compare import document_at
from simdup.report import json_csv, text
from simdup.report.order import repeated
from simdup.report.page import render
from simdup.settings import Settings

ALL = Consents(text=True, formats=True)


def terms_of(one: Document, other: Document) -> Terms:
    """The terms under which one document may be removed for another one."""
    alike, has_other = alike_of(one, other), bool(one.other_unread(other))
    return terms(sort_of(one), sort_of(other), alike, has_other_content=has_other)


TEXT = "One line of a text that is long enough to be compared with any other.\nA second line.\n"

# The same words in all formats that makers.py writes without further parts.
SAME_WORDS = {
    "a.txt": TEXT.encode(),
    "b.txt": TEXT.replace(" ", " \n").replace(".", " .").encode(),
    "c.html": makers.html_page(TEXT),
    "d.docx": makers.docx(TEXT),
    "e.odt": makers.odt(TEXT),
    "f.rtf": makers.rtf(TEXT),
    "g.eml": makers.eml(TEXT),
}


def kind(tmp_path, one, other, names=("a.txt", "b.txt")):
    paths = [tmp_path / name for name in names]
    for path, data in zip(paths, (one, other), strict=True):
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return compare(*paths).kind


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (TEXT, TEXT, Kind.IDENTICAL_BYTES),
        (TEXT, TEXT.encode("utf-16"), Kind.IDENTICAL_TEXT),
        (TEXT, TEXT.replace("\n", "\r\n"), Kind.IDENTICAL_TEXT),
        (TEXT, gzip.compress(TEXT.encode(), mtime=0), Kind.IDENTICAL_TEXT),
        (TEXT, TEXT.replace(".", "!"), Kind.NEAR),
        (TEXT, TEXT.upper(), Kind.NEAR),
        (TEXT, TEXT.replace(" ", "\n"), Kind.SAME_WORDS),
        ("test " * 10, "test " * 500, Kind.NEAR),
        ("a b a c a b " * 9, "a b a c a b " * 8 + "a c a b a b", Kind.NEAR),
    ],
)
def test_two_text_files(tmp_path, one, other, expected):
    assert kind(tmp_path, one, other) is expected


def test_text_with_a_damaged_byte_is_never_identical(tmp_path):
    lost = TEXT.replace("second", "se\ufffdcond")

    assert kind(tmp_path, lost, lost.encode("utf-16")) is Kind.SAME_WORDS


def test_documents_that_a_reader_extracted_are_identical_in_bytes_or_not_at_all(tmp_path):
    page = makers.html_page(TEXT)
    names = "a.html", "b.html"

    assert kind(tmp_path, page, page, names) is Kind.IDENTICAL_BYTES
    assert kind(tmp_path, page, page.replace(b"<p>", b"<p class='x'>"), names) is Kind.SAME_WORDS


def test_the_same_words_in_all_formats_are_one_set_that_wants_a_look(tmp_path):
    for name, data in SAME_WORDS.items():
        (tmp_path / name).write_bytes(data)

    result = scan([tmp_path])

    (group,) = result.groups
    assert {each.set_id for each in group.members} == {1}
    assert {each.set_kind for each in group.members} == {Kind.SAME_WORDS}
    found = repeated(result.groups)
    assert (found.words.files, found.total.files) == (len(SAME_WORDS) - 1, len(SAME_WORDS) - 1)
    assert next(text.render(result)).startswith(
        "Group 1: same words, another layout or format, 7 files"
    )
    (look,) = text.what_to_do(result)
    assert look == "needs a look: 6 files with the same words"


def test_json_has_the_digest_of_the_words(tmp_path):
    for name in ("a.txt", "d.docx"):
        (tmp_path / name).write_bytes(SAME_WORDS[name])

    (group,) = json.loads("".join(json_csv.render_json(scan([tmp_path]))))["groups"]

    assert len({each["words_digest"] for each in group["members"]}) == 1
    assert {each["set_kind"] for each in group["members"]} == {"words"}


def mail(attachment, **headers):
    message = EmailMessage()
    message["Subject"] = "The plan"
    for name, value in headers.items():
        message[name] = value
    message.set_content(TEXT)
    message.add_attachment(attachment, maintype="application", subtype="zip", filename="a.zip")
    return message.as_bytes()


# Documents of one format with the same words, and the kind of content in which they differ.
OTHERS = {
    "attachments": ("a.eml", mail(b"one"), mail(b"two")),
    "mail headers": ("a.eml", mail(b"one", To="ada@x.org"), mail(b"one", To="bob@x.org")),
    "links": ("a.html", *(f"<p><a href='http://{n}.org'>{TEXT}</a>".encode() for n in "ab")),
    "pictures": ("a.html", *(f"<html><p>{TEXT}<img src='{n}.png'>".encode() for n in "ab")),
    "form fields": ("a.html", *(f"<html><p>{TEXT}<input value={n}>".encode() for n in "ab")),
    "hidden text": ("a.html", *(f"<html><!-- {n} --><p>{TEXT}".encode() for n in "ab")),
    "metadata": ("a.rtf", *(rb"{\rtf1{\info %b}%b}" % (n, TEXT.encode()) for n in (b"a", b"b"))),
    "comments": (
        "a.docx",
        *(makers.docx_of(f"<w:p><w:r><w:t>{TEXT}</w:t></w:r></w:p>", comments=n) for n in "ab"),
    ),
    "embedded objects": (
        "a.odt",
        *(
            makers.odf_of(f"<text:p>{TEXT}</text:p>", **{"Object 1/content.xml": f"<{n}/>"})
            for n in "ab"
        ),
    ),
    "outputs": ("a.ipynb", *(makers.notebook(TEXT).replace(b"unseen", n) for n in (b"x", b"y"))),
}


@pytest.mark.parametrize("differing", OTHERS)
def test_same_words_with_other_content_are_never_said_to_be_the_same_without_a_remark(
    tmp_path, differing
):
    name, *contents = OTHERS[differing]
    for folder, data in zip("xy", contents, strict=True):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
    paths = [tmp_path / folder / name for folder in "xy"]

    comparison, result = compare(*paths), scan([tmp_path])

    assert comparison.kind is Kind.SAME_WORDS
    assert next(text.render_comparison(comparison)).endswith(f"; other {differing}")
    assert f"(other {differing}" in "\n".join(text.render(result))
    (group,) = json.loads("".join(json_csv.render_json(result)))["groups"]
    assert group["members"][1]["other_unread"] == [differing]
    (row,) = render._data(result)["groups"]  # noqa: SLF001
    assert row[7] == {1: (differing,)}
    one, other = comparison.left, comparison.right
    asked = terms_of(one, other)
    assert asked.refusal is Refusal.OTHER_CONTENT
    assert str(detail(asked.refusal, one, other)) == f"same words, other content: {differing}"
    assert terms_of(one, one._replace(bytes_digest=b"x")).lacking(ALL) is None


def test_a_diff_of_the_same_words_shows_layout_and_punctuation_with_the_lines_of_the_file(
    tmp_path, run
):
    (tmp_path / "a").write_text(f"A title\n\n{TEXT}春眠，不觉晓\n", "utf-8")
    (tmp_path / "b").write_text(f"A title\n\n{TEXT}春眠不觉晓\n".replace("A second", "A  second"))

    shown = run("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--diff").out.decode()

    assert shown.splitlines()[-9:] == [
        "the same words; other punctuation",
        f"--- {tmp_path / 'a'}",
        f"+++ {tmp_path / 'b'}",
        "@@ -3,3 +3,3 @@",
        f" 3 {TEXT.splitlines()[0]}",
        "-4 A[- -]second line.",
        "-5 春眠[-，-]不觉晓",
        "+4 A{+  +}second line.",
        "+5 春眠不觉晓",
    ]


def documents(tmp_path, *texts):
    for number, content in enumerate(texts):
        (tmp_path / f"{number}.html").write_bytes(makers.html_page(content))
    return [document_at(tmp_path / f"{number}.html", Settings())[0] for number in range(len(texts))]


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        ("at -5 degrees, 余", ("signs",)),
        ("at 5 degrees 余", ("punctuation",)),
        ("At 5 degrees, 余", ("letter case",)),
        ("at 5 degrees, 餘", ("variants of characters",)),
    ],
)
def test_the_same_words_with_other_signs_are_near_and_say_what_differs(tmp_path, other, differing):
    whole = TEXT * 2
    one, two = documents(tmp_path, f"{whole}at 5 degrees, 余", whole + other)

    assert one.kind_with(two) is Kind.NEAR
    assert one.other_signs(two) == two.other_content(one) == differing
    assert text.other_content(one, two) == f"other {differing[0]}"
    why = terms_of(one, two).lacking(replace(ALL, near=0.9))
    is_of_meaning = differing[0] in {"signs", "variants of characters"}
    assert why is (Refusal.NEAR_OTHER_CONTENT if is_of_meaning else None)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("漢書裏的發現，在 5 度時", "the scripts differ (traditional and simplified)"),
        ("汉书裏的发现，在 5 度时", "the scripts differ (traditional and simplified)"),
        (
            "漢書裏的發現，在 -5 度時",
            "other signs: none / -, the scripts differ (traditional and simplified)",
        ),
        ("汉书里的发现，在 -5 度时", "other signs: none / -"),
    ],
)
def test_a_comparison_says_that_the_scripts_differ(tmp_path, other, says):
    for name, content in (("a", "汉书里的发现，在 5 度时"), ("b", other)):
        (tmp_path / name).write_text(content * 9, "utf-8")

    found = compare(tmp_path / "a", tmp_path / "b")

    assert text.same_words(found) == f"the same words; {says}"


def test_a_simplified_text_with_a_traditional_name_is_simplified(tmp_path):
    for name, content in (("a", "于謙的发现，汉书里的发现"), ("b", "于謙的發現，漢書裏的發現")):
        (tmp_path / name).write_text(content * 9, "utf-8")

    found = compare(tmp_path / "a", tmp_path / "b")

    verdict = next(text.render_comparison(found))
    assert verdict.endswith("the same words; the scripts differ (traditional and simplified)")


def test_variants_on_both_sides_are_no_scripts(tmp_path):
    for name, content in (("a", "漢书里的发现"), ("b", "汉書里的发现")):
        (tmp_path / name).write_text(content * 9, "utf-8")

    found = compare(tmp_path / "a", tmp_path / "b")

    assert text.same_words(found) == "the same words; other variants of characters"


def test_digests_of_earlier_results_compare_words_alone(tmp_path):
    one, two = documents(tmp_path, TEXT, TEXT.replace(".", "!"))
    one, two = (each._replace(words_digest=each.words_digest[:16]) for each in (one, two))

    assert one.kind_with(two) is Kind.SAME_WORDS
    assert one.other_signs(two) == ()
