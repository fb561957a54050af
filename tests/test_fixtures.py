"""fixtures/pairs: that the files are what edits.py makes, and what their table says they are."""

from __future__ import annotations

import csv
import shutil
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, is_zipfile

import numpy as np
import pytest

from simdup import exact_similarities, scan
from simdup.extract.readers import Readers
from simdup.files.read import read_text
from simdup.files.walk import listed
from simdup.recipe import Recipe
from simdup.records import Kind
from simdup.settings import FORMATS, Settings

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
import alike
import edits

pytestmark = pytest.mark.slow

# The folders of files that the script makes.
MADE = ("edited", *alike.KINDS)

# One process reads the documents of all tests.
READERS = Readers(FORMATS)


@pytest.fixture(scope="module", autouse=True)
def _readers_are_closed():
    yield
    READERS.close()


@pytest.fixture(scope="module")
def documents():
    """What was written by hand: path -> (language, encoding, text)."""
    return {
        path: (language, encoding, (edits.PAIRS / path).read_bytes().decode(encoding))
        for path, (language, encoding) in edits.documents().items()
    }


@pytest.fixture(scope="module")
def originals():
    return edits.originals()


@pytest.fixture(scope="module")
def rows():
    """The rows of pairs.csv: (left, right, duplicate, kind, collection)."""
    with (edits.PAIRS / "pairs.csv").open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    assert header == ["left", "right", "duplicate", "kind", "collection"]
    return [tuple(row) for row in found]


def files_under(folder):
    """The paths of all files, as the table writes them."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(edits.PAIRS).as_posix() for path in files}


def read(path):
    """What simdup takes a file's text to be."""
    source = next(iter(listed([edits.PAIRS / path])))
    return read_text(source, READERS).text


def path_of_document(text):
    """Where an original is written in another format."""
    (path,) = (edits.PAIRS / "edited" / "format").glob(f"{text.name}.*")
    return path


def kept(text, encoding):
    """The characters of the text that the encoding has."""
    return text.encode(encoding, "ignore").decode(encoding)


def squeezed(text):
    """The text without white space."""
    return "".join(text.split())


def letters(text):
    """Its letters and digits alone."""
    return "".join(filter(str.isalnum, text))


# The files


def test_files_not_written_by_hand_are_what_the_script_makes():
    made = dict(edits.made())

    assert set().union(*(files_under(edits.PAIRS / folder) for folder in MADE)) == set(made)
    assert [path for path in made if (edits.PAIRS / path).read_bytes() != made[path]] == []
    assert len(dict(edits.edited())) == len(edits.KINDS) * len(edits.originals()) > 0


def test_the_table_is_what_the_script_makes():
    assert (edits.PAIRS / "pairs.csv").read_bytes() == edits.table()


def test_every_file_is_listed(documents):
    found = {path for path in files_under(edits.PAIRS) if path.split("/")[0] not in MADE}

    assert found == {*documents, "README.md", "documents.csv", "pairs.csv"}


def test_simdup_reads_what_was_written_by_hand(documents):
    wrong = [path for path, (*_, text) in documents.items() if read(path) != text]

    assert wrong == []


@pytest.mark.parametrize("edit", edits.EDITS)
def test_simdup_reads_what_was_edited(originals, edit):
    _, make = edits.EDITS[edit]

    for text in originals:
        made = make(text, text.random(edit)).replace("\r\n", "\n")
        assert read(f"edited/{edit}/{text.name}.txt") == made, text.name


# What was written by hand


# Families


@pytest.fixture(scope="module")
def families(documents):
    """The paths of each family's members, by the family's name."""
    found = {}
    for path in documents:
        if path.startswith("families/"):
            found.setdefault(path.split("/")[1], []).append(path)
    return found


def text_of(path):
    """The name of the text that a member of a family is a version of."""
    return Path(path).name.split(".")[0]


def test_all_pairs_of_a_family_stand_in_the_table_as_a_collection(families, rows):
    found = {}
    for left, right, label, kind, collection in rows:
        if left.startswith("families/"):
            found.setdefault(collection, {})[left, right] = label, kind

    assert set(found) == set(families)
    for name, members in families.items():
        assert set(found[name]) == set(combinations(sorted(members), 2))
        for (left, right), (label, kind) in found[name].items():
            is_version = text_of(left) == text_of(right)
            siblings = ("", "other translation") if name in edits.TRANSLATED else ("0", "sibling")
            assert (label, kind) == (("1", "version") if is_version else siblings)


# Texts that are nearly alike


@pytest.fixture(scope="module")
def nearly_alike():
    return edits.nearly_alike()


def in_pairs(texts):
    """The exact similarities of all pairs, of 1 with 2 first."""
    return exact_similarities(list(texts), *np.triu_indices(len(texts), 1))


def test_simdup_reads_what_is_nearly_alike(nearly_alike):
    for group in nearly_alike:
        assert [read(path) for path in group.paths] == [*group.texts], group.name


def test_all_pairs_of_texts_nearly_alike_stand_in_the_table(nearly_alike, rows):
    found = [row for row in rows if row[0].split("/")[0] in alike.KINDS]

    assert found == [row for group in nearly_alike for row in group.rows()]
    assert {row[3] for row in found} == {kind for _, kind in alike.KINDS.values()}


def test_few_words_of_a_form_are_filled_in_and_no_two_alike(nearly_alike):
    forms = [group for group in nearly_alike if group.folder == "form"]

    assert {group.language for group in forms} == {"en", "zh"}
    assert {len(group.texts) for group in forms} >= {3, 5, 6, 8, 12}
    for group in forms:
        similarities = in_pairs(group.texts)
        # Measured: .93 to .98.
        assert similarities.min() > 0.9, group.name
        assert similarities.max() < 1, group.name
        assert not any("{" in text for text in group.texts), group.name


def test_a_version_has_other_numbers_than_the_one_before_and_is_nearly_alike(nearly_alike):
    chains = [group for group in nearly_alike if group.folder == "revised"]

    assert {group.language for group in chains} == {"en", "zh"}
    assert {len(group.texts) for group in chains} == {3, 4, 5}
    for group in chains:
        for one, other in pairwise(group.texts):
            assert alike.NUMBER.findall(one) != alike.NUMBER.findall(other), group.name
            assert in_pairs([one, other]) > 0.95, group.name


def test_texts_with_other_signs_have_the_same_words(nearly_alike):
    pairs = [group for group in nearly_alike if group.folder == "signs"]

    assert {group.language for group in pairs} == {"en", "zh"}
    for group in pairs:
        assert in_pairs(group.texts) == 1, group.name
        assert len({*group.texts}) == 2, group.name


# The table


def test_there_are_as_many_pairs_as_the_readme_says(rows):
    labels = Counter(label for _, _, label, *_ in rows)

    assert set(labels) == {"1", "0", ""}
    assert labels["1"] >= 600
    assert labels["0"] >= 2000
    said = f"{labels['1']:,} pairs of duplicates and {labels['0']:,} of others"
    assert said in (edits.PAIRS / "README.md").read_text("utf-8")


def test_every_kind_has_one_label(rows):
    labels = {}
    for _, _, label, kind, _ in rows:
        labels.setdefault(kind, set()).add(label)

    assert labels == {
        **{kind: {"1"} for kind in edits.KINDS.values()},
        "rewritten lightly": {"1"},
        "rewritten heavily": {"1"},
        "other script": {"1"},
        "version": {"1"},
        "excerpt": {""},
        "other translation": {""},
        "same topic, other hand": {"0"},
        "translation": {"0"},
        "same template": {"0"},
        **{kind: {label} for label, kind in alike.KINDS.values()},
        "sibling": {"0"},
        "unrelated": {"0"},
    }


def test_every_file_stands_in_the_table_and_no_pair_twice(rows):
    pairs = Counter(frozenset(row[:2]) for row in rows)

    assert max(pairs.values()) == 1
    assert {len(pair) for pair in pairs} == {2}
    named = {path for pair in pairs for path in pair}
    assert named == {path for path in files_under(edits.PAIRS) if "/" in path}


def test_only_translations_pair_two_languages(rows, documents):
    languages = {path: language for path, (language, *_) in documents.items()}

    for left, right, _, kind, _ in rows:
        if right in languages:
            assert (languages[left] != languages[right]) == (kind == "translation"), right


def test_pairs_of_others_that_share_no_form_are_hardly_similar(rows):
    kinds = {"unrelated", "same topic, other hand", "translation"}
    pairs = [row[:2] for row in rows if row[3] in kinds]
    texts = {path: read(path) for pair in pairs for path in pair}
    number = {path: index for index, path in enumerate(texts)}

    i, j = np.array([[number[path] for path in pair] for pair in pairs]).T
    # Measured: .092 of two leases; of nineteen in twenty .04.
    assert exact_similarities(list(texts.values()), i, j).max() < 0.1


# Sentences and documents


def test_bytes_of_documents_depend_on_no_packing_date_or_system(originals):
    for path in filter(is_zipfile, map(path_of_document, originals)):
        with ZipFile(path) as package:
            for member in package.infolist():
                assert member.compress_type == ZIP_STORED
                assert member.date_time == (1980, 1, 1, 0, 0, 0)
                assert member.create_system == 3


# One text in two scripts


@pytest.fixture
def scripts(tmp_path):
    """A folder with all originals, and the Chinese ones in the other script."""
    for folder in ("originals", "other-script"):
        shutil.copytree(edits.PAIRS / folder, tmp_path / folder)
    return tmp_path


def names_of(groups):
    return sorted(
        sorted(Path(member.document.path).name for member in each.members) for each in groups
    )


@pytest.mark.parametrize("features", ["shingles", "words"])
def test_every_original_is_one_group_with_its_other_script(scripts, features):
    found = scan([scripts], Settings(Recipe(features=features)))

    chinese = sorted(path.name for path in (scripts / "other-script").iterdir())
    assert names_of(found.groups) == [[name, name] for name in chinese]
    # Measured: .95 and more.
    others = [group.members[1] for group in found.groups]
    assert min(each.similarity for each in others) > 0.9
    assert {each.kind for each in others} <= {Kind.NEAR, Kind.SAME_WORDS}


def test_japanese_texts_keep_their_neighbours():
    paths = sorted((edits.PAIRS.parent / "encodings" / "japanese").iterdir())
    texts = [path.read_text("utf-8") for path in paths]
    i, j = np.triu_indices(len(texts), 1)
    folded, apart = (exact_similarities(texts, i, j, fold_variants=each) for each in (True, False))

    assert len(texts) == 20
    # Measured: none changes, though 干 and 乾, 机 and 機 become one in them.
    assert np.abs(folded - apart).max() < 0.001
    assert nearest(folded, i, j) == nearest(apart, i, j)


def nearest(similarities, i, j):
    """The five texts that each text is most like, in that order."""
    square = np.zeros((max(j) + 1,) * 2)
    square[i, j] = square[j, i] = similarities
    return np.argsort(-square, axis=1, kind="stable")[:, :5].tolist()


def test_sentences_are_all_of_a_text(originals):
    for text in originals:
        assert squeezed("".join(edits.sentences(text.text))) == squeezed(text.text)
        assert len(edits.sentences(text.text)) >= 5
