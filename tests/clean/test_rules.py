"""simdup.clean.rules: which of several files is kept, by the vectors in rules.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simdup.clean.rules import NAMES, Placed, Rules, is_under, rule_of
from simdup.findings.keeper import Key, Reason
from simdup.records import Document, Source

VECTORS = json.loads(Path(__file__).with_name("rules.json").read_text("utf-8"))
CASES = VECTORS["cases"]


def reasons(fields):
    """The parts of the key of a file besides its path."""
    told = VECTORS["defaults"]["reasons"] | fields["reasons"]
    return [told.get(each.value, 0) for each in [*Reason][:-1]]


def ranked(fields):
    key = Key(*reasons(fields), fields["path"].encode())
    given = VECTORS["defaults"] | fields
    source = Source(given["path"], given["size"], given["mtime_ns"], 0, 0, 0)
    encoding = given["encoding"] if given["format"] == "text" else given["format"]
    document = Document(source, encoding, 1, 0, given["features"], b"", b"", b"")
    return Placed("", document, given["representative"], key, given["root"], None)


def test_there_is_a_vector_for_every_rule():
    used = {rule.partition("=")[0] for case in CASES for rule in case["rules"]}

    assert used == {name.partition("=")[0] for name in NAMES}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_the_rules_keep_the_file_that_the_vectors_say(case, is_reversed):
    rules = Rules([rule_of(each) for each in case["rules"]])
    files = [ranked(each) for each in case["files"]]
    keys = {each.document.path: rules.key(each) for each in files[:: -1 if is_reversed else 1]}

    order = sorted(keys, key=keys.__getitem__)

    assert order == case["order"]
    kept = keys[order[0]]
    assert [rules.deciding(kept, keys[other]) for other in order[1:]] == case["why"]


@pytest.mark.parametrize(
    "text", ["", "newst", "newest=1", "format=", "format=exe", "name", "encoding=zlib", "="]
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(ValueError, match=r"is none of|unknown encoding"):
        rule_of(text)


@pytest.mark.parametrize("text", ["newest", "format=docx,pdf", "name=a=b*", "encoding=utf-8"])
def test_a_rule_is_typed_as_it_was(text):
    assert rule_of(text).typed == text


@pytest.mark.parametrize(
    ("text", "values", "typed"),
    [
        ("under=/a,b", ("/a,b",), "/a,b"),
        ("name=a,b*", ("a,b*",), "name=a,b*"),
        ("format=docx,pdf", ("docx", "pdf"), "format=docx,pdf"),
    ],
)
def test_a_comma_parts_formats_and_belongs_to_names_and_folders(text, values, typed):
    rule = rule_of(text)

    assert (rule.value, rule.typed) == (values, typed)


def test_a_folder_is_under_itself():
    assert is_under("/mnt/a", "/mnt/a")
