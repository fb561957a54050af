"""simdup.evaluation.labels: reading tables of labels, and the messages about faulty ones."""

from __future__ import annotations

import os
import sys
from itertools import combinations
from pathlib import Path

import makers
import numpy as np
import pytest

from simdup.errors import InputError
from simdup.evaluation import labels
from simdup.evaluation.labels import (
    DUPLICATE,
    OTHER,
    UNJUDGED,
    labelled_clusters,
    labelled_pairs,
    own_table,
)
from simdup.extract import sandbox as guarded

sys.path.insert(0, str(Path(__file__).parents[2] / "fixtures"))
from archive import write_archive

HEADER = "left,right,duplicate\n"
# What every table of pairs needs: one of either kind, in lines 2 and 3.
BOTH = HEADER + "a.txt,b.txt,1\nc.txt,d.txt,0\n"
# Names of files, enough for statistics to know GBK and Big5: a table with one or two is not.
HAN = ("山中老人", "水上人家", "河口的明月", "白石小路")


def reader(write, labelled, path):
    """Reads the labels of a table; each of a.txt to d.txt beside it holds its letter."""

    def reading(table, path=path):
        for name in "abcd":
            write(f"{name}.txt", name)
        return labelled(write(path, table))

    return reading


@pytest.fixture
def pairs(write):
    """`pairs(table)`: the labels of a table of pairs."""
    return reader(write, labelled_pairs, "pairs.csv")


@pytest.fixture
def clusters(write):
    """`clusters(table)`: the labels of a table of clusters."""
    return reader(write, labelled_clusters, "clusters.csv")


def complaint(reading, table):
    """The message about a table that cannot be used."""
    with pytest.raises(InputError) as raised:
        reading(table)
    return str(raised.value)


def count_calls(monkeypatch, module, name):
    """A list that records each call of that function."""
    real, calls = getattr(module, name), []
    monkeypatch.setattr(module, name, lambda *given: calls.append(given) or real(*given))
    return calls


# Pairs


def test_a_table_of_pairs_worked_by_hand(pairs):
    found = pairs(
        "left,right,duplicate,kind\n"
        "a.txt,b.txt,1,typos\n"
        "a.txt,c.txt,0,unrelated\n"
        "d.txt,b.txt,,excerpt\n"
        "d.txt,a.txt,1,typos\n"
    )

    assert found.table == "pairs.csv"
    assert found.paths == ("a.txt", "b.txt", "c.txt", "d.txt")
    assert found.texts == ("a", "b", "c", "d")
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 3], [0, 3]]
    assert found.labels.tolist() == [DUPLICATE, OTHER, UNJUDGED, DUPLICATE]
    assert found.kinds == ("typos", "unrelated", "excerpt")
    assert found.kind.tolist() == [0, 1, 2, 0]
    assert found.repeated == 0
    assert found.clusters is None


def test_kind_and_collection_may_be_missing(pairs):
    found = pairs(BOTH)

    assert (found.kinds, found.kind.tolist()) == (("",), [0, 0])
    assert found.collection.tolist() == [0, 0]


def test_columns_may_stand_in_any_order_and_others_are_ignored(pairs):
    found = pairs("note,duplicate,right,left\nx,1,b.txt,a.txt\ny,0,d.txt,c.txt\n")

    assert found.paths == ("a.txt", "b.txt", "c.txt", "d.txt")
    assert found.labels.tolist() == [DUPLICATE, OTHER]


def test_blanks_around_a_label_and_blank_lines_do_not_matter(pairs):
    found = pairs(HEADER + "a.txt,b.txt, 1\n\nc.txt,d.txt,0 \na.txt,c.txt, \n")

    assert found.labels.tolist() == [DUPLICATE, OTHER, UNJUDGED]
    message = complaint(pairs, HEADER + "a.txt,b.txt, 1\n\nc.txt,d.txt,2\n")
    assert message.startswith("'pairs.csv', line 4: duplicate must be")


def test_blanks_after_a_comma_are_skipped(pairs, write):
    write("x,  y.txt", "comma")
    write(" z.txt", "blank")
    found = pairs(
        "left, right, duplicate,  kind\n"
        "a.txt, b.txt, 1, typos\n"
        'c.txt,  "x,  y.txt", 0,  two words\n'
        'a.txt, " z.txt", 0, typos\n'
    )

    assert found.paths == ("a.txt", "b.txt", "c.txt", "x,  y.txt", " z.txt")
    assert found.labels.tolist() == [DUPLICATE, OTHER, OTHER]
    assert found.kinds == ("typos", "two words")


def test_names_are_relative_to_the_folder_of_the_table(pairs, write):
    write("tables/e.txt", "e")
    found = pairs(HEADER + "../a.txt,e.txt,1\n./e.txt,../b.txt,0\n", "tables/pairs.csv")

    assert found.paths == ("a.txt", os.path.join("tables", "e.txt"), "b.txt")
    assert found.texts == ("a", "e", "b")


def test_names_may_be_absolute(pairs, folder):
    found = pairs(f"{HEADER}{folder}/a.txt,b.txt,1\nc.txt,d.txt,0\n")

    assert found.paths[:2] == (str(folder / "a.txt"), "b.txt")
    assert found.texts[:2] == ("a", "b")


def test_a_name_may_hold_a_comma_and_a_newline(pairs, write):
    write("a,\nz.txt", "strange")
    found = pairs(BOTH + '"a,\nz.txt",a.txt,1\n')

    assert found.paths[-1] == "a,\nz.txt"
    assert found.texts[-1] == "strange"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030", "big5"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_table_is_read_in_its_own_encoding(pairs, write, encoding, newline):
    names = [write(f"{name}.txt", name) for name in HAN]
    table = HEADER + "{},{},1\n{},{},0\n".format(*names)
    found = pairs(table.replace("\n", newline).encode(encoding))

    assert found.paths == tuple(names)
    assert found.texts == HAN
    assert found.labels.tolist() == [DUPLICATE, OTHER]


def test_the_text_of_a_document_is_what_is_compared(pairs, write, english):
    write("page.html", makers.html_page(english))
    write("letter.docx", makers.docx_of("<w:p><w:t>one thing</w:t></w:p>"))
    found = pairs(BOTH + "page.html,letter.docx,0\n")

    assert found.texts[-2:] == (english.strip(), "one thing")


def test_a_table_named_like_a_web_page_is_read_as_plain_text(pairs):
    assert pairs(BOTH, "pairs.html").paths == ("a.txt", "b.txt", "c.txt", "d.txt")


def test_one_process_reads_all_documents_of_a_table_and_is_closed(pairs, write, monkeypatch):
    real, ended = guarded.Guard.close, []
    started = count_calls(monkeypatch, guarded, "_started")
    monkeypatch.setattr(guarded.Guard, "close", lambda guard: ended.append(real(guard)))
    for name in "xyz":
        write(f"{name}.odt", makers.odf_of(f"<text:p>{name}</text:p>"))
    found = pairs(BOTH + "x.odt,y.odt,0\nx.odt,z.odt,0\n")

    assert found.texts[-3:] == ("x", "y", "z")
    assert (len(started), len(ended)) == (1, 1)


def test_an_empty_file_is_an_empty_text(pairs, write):
    write("empty.txt", "")
    found = pairs(BOTH + "a.txt,empty.txt,0\n")

    assert found.texts[-1] == ""


def test_a_repeated_pair_counts_once_and_is_counted(pairs):
    found = pairs(BOTH + "a.txt,b.txt,1\nb.txt,a.txt,1\nd.txt,./c.txt,0\n")

    assert found.pairs.tolist() == [[0, 1], [2, 3]]
    assert found.labels.tolist() == [DUPLICATE, OTHER]
    assert found.repeated == 3


def test_each_name_is_a_collection_and_no_name_another_one(pairs):
    rows = ["a.txt,b.txt,1,north", "c.txt,d.txt,0,south ", "a.txt,c.txt,0,north", "b.txt,d.txt,,"]

    found = pairs("left,right,duplicate,collection\n" + "".join(f"{row}\n" for row in rows))

    assert found.collection.tolist() == [1, 2, 1, 0]


def test_a_repeated_pair_in_another_collection_is_refused(pairs):
    table = "left,right,duplicate,collection\na.txt,b.txt,1,x\nc.txt,d.txt,0,\nb.txt,a.txt,1,y\n"

    expected = "'pairs.csv', line 4: the pair of line 2 in another collection"
    assert complaint(pairs, table) == expected


def test_all_pairs_of_a_table_are_of_one_collection(pairs):
    rows = "a.txt,b.txt,1,north\nc.txt,d.txt,0,south\n"
    pairs(f"left,right,duplicate,collection\n{rows}")

    assert labelled_clusters("pairs.csv").collection.tolist() == [0] * 6


@pytest.mark.parametrize("again", ["b.txt,a.txt,1,y", "a.txt,b.txt,1,"])
def test_a_repeated_pair_of_another_kind_is_refused(pairs, again):
    table = f"left,right,duplicate,kind\na.txt,b.txt,1,x\nc.txt,d.txt,0,z\n{again}\n"

    expected = "'pairs.csv', line 4: the pair of line 2 with another kind"
    assert complaint(pairs, table) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.txt,c.txt,yes", "duplicate must be 1, 0 or empty, not 'yes'"),
        ("a.txt,x.txt,1", "'x.txt': not found (No such file or directory)"),
        ("a.txt,sub,1", "'sub': not a regular file (folder)"),
        ("a.txt,binary,1", "'binary': binary (NUL bytes)"),
        ("a.txt,cut.docx,1", "'cut.docx': no text extracted (damaged zip file)"),
        ("a.txt,,1", "the name of a file is empty"),
        ("a.txt", "there must be 3 columns, not 1; put names that hold a comma into quotes"),
        ("b.txt,a.txt,0", "the pair of line 2 with another label"),
        ("a.txt,b.txt,", "the pair of line 2 with another label"),
        ("a.txt,a.txt,1", "'a.txt' is paired with itself"),
        ("./a.txt,a.txt,1", "'./a.txt' is paired with itself"),
        # A newline in quotes: the line is the one where the row ends.
        ('"x\n.txt",a.txt,1', "'x\\n.txt': not found (No such file or directory)"),
    ],
)
def test_a_wrong_line_of_pairs_is_named(pairs, write, line, message):
    write("sub/e.txt", "e")
    write("binary", bytes(range(256)))
    write("cut.docx", makers.docx_of("<w:p/>")[:-40])

    number = 4 + line.count("\n")
    assert complaint(pairs, f"{BOTH}{line}\n") == f"'pairs.csv', line {number}: {message}"


@pytest.mark.parametrize(
    ("more", "counted"),
    [
        ("", ""),
        ("a.txt,c.txt,1\n", ""),
        ("c.txt,c.txt,1\n", " (and 1 other line)"),
        ("c.txt,c.txt,1\nb.txt,a.txt,0\n", " (and 2 other lines)"),
        ("c.txt,c.txt,1\n" * 1234, " (and 1,234 other lines)"),
    ],
)
def test_further_wrong_lines_are_counted(pairs, more, counted):
    message = complaint(pairs, f"{BOTH}a.txt,x.txt,1\n{more}")

    expected = "'pairs.csv', line 4: 'x.txt': not found (No such file or directory)"
    assert message == expected + counted


def test_the_message_has_the_first_fault_of_the_first_faulty_line(pairs):
    table = BOTH + "a.txt,x.txt,maybe\nb.txt,b.txt,0\n"

    expected = "'pairs.csv', line 4: duplicate must be 1, 0 or empty, not 'maybe'"
    assert complaint(pairs, table) == expected + " (and 1 other line)"


def test_the_message_has_the_path_of_a_missing_file(pairs):
    message = complaint(lambda table: pairs(table, "tables/pairs.csv"), HEADER + "../a.txt,x,1\n")

    path = os.path.join("tables", "x")
    assert message == (
        f"'tables/pairs.csv', line 2: {path!r}: not found (No such file or directory)"
    )


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("", "no column 'left'"),
        ("a.txt,b.txt,1\n", "no column 'left'"),
        ("left,right\na.txt,b.txt\n", "no column 'duplicate'"),
        ("left;right;duplicate\n", "no column 'left'"),
        ("left,right,left,duplicate\na.txt,b.txt,c.txt,1\n", "more than one column 'left'"),
        ("left,right,duplicate,duplicate\n", "more than one column 'duplicate'"),
    ],
)
def test_a_table_of_pairs_without_its_columns_is_refused(pairs, table, wrong):
    expected = f"'pairs.csv', line 1: {wrong}; the header must be left,right,duplicate"

    assert complaint(pairs, table) == expected


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        ("", "1 (duplicates)"),
        ("a.txt,b.txt,0\n", "1 (duplicates)"),
        ("a.txt,b.txt,\nc.txt,d.txt,0\n", "1 (duplicates)"),
        ("a.txt,b.txt,1\n", "0 (others)"),
        ("a.txt,b.txt,1\na.txt,c.txt,\n", "0 (others)"),
    ],
)
def test_a_table_needs_duplicates_and_others(pairs, rows, missing):
    expected = f"'pairs.csv': there is no pair labelled {missing}; both are needed"

    assert complaint(pairs, HEADER + rows) == expected


NO_CSV = [
    (BOTH + 'a.txt,"c.txt,1\n', 4, "unexpected end of data"),
    (BOTH + 'a.txt,"c.txt"x,1\n', 4, """',' expected after '"'"""),
    ('left,right,"duplicate\n', 1, "unexpected end of data"),
]


@pytest.mark.parametrize(("table", "line", "message"), NO_CSV)
def test_the_message_has_the_line_where_a_table_is_not_csv(pairs, table, line, message):
    assert complaint(pairs, table) == f"'pairs.csv', line {line}: {message}"


# Clusters


def test_a_table_of_clusters_worked_by_hand(clusters):
    found = clusters("path,cluster\na.txt,dogs\nb.txt,cats\nc.txt,dogs\nd.txt,birds\n")

    assert found.table == "clusters.csv"
    assert found.paths == ("a.txt", "b.txt", "c.txt", "d.txt")
    assert found.texts == ("a", "b", "c", "d")
    assert found.pairs.tolist() == [list(pair) for pair in combinations(range(4), 2)]
    assert found.labels.tolist() == [OTHER, DUPLICATE, OTHER, OTHER, OTHER, OTHER]
    assert found.kinds == ("different clusters", "same cluster")
    assert found.kind.tolist() == [0, 1, 0, 0, 0, 0]
    assert found.repeated == 0
    assert found.clusters is not None
    assert len(np.unique(found.clusters)) == 3
    assert found.clusters[0] == found.clusters[2]


def test_clusters_of_a_table_of_pairs_are_connected_duplicates(clusters, write):
    write("e.txt", "e")
    rows = "d.txt,a.txt,0\na.txt,b.txt,1\ne.txt,a.txt,\nb.txt,c.txt,1\n"
    found = clusters(HEADER + rows)

    assert found.paths == ("d.txt", "a.txt", "b.txt", "e.txt", "c.txt")
    assert found.texts == ("d", "a", "b", "e", "c")
    assert len(found.pairs) == 10
    connected = found.pairs[found.labels == DUPLICATE].tolist()
    assert connected == [[1, 2], [1, 4], [2, 4]]
    assert found.kinds == ("different clusters", "same cluster")
    assert found.clusters is not None
    assert len(np.unique(found.clusters)) == 3


def test_a_wrong_table_of_pairs_is_refused_for_clusters_too(clusters):
    expected = "'clusters.csv', line 4: 'a.txt' is paired with itself"

    assert complaint(clusters, BOTH + "a.txt,a.txt,1\n") == expected


def test_blanks_around_a_cluster_do_not_matter(clusters):
    found = clusters("path,cluster\na.txt,1\nb.txt, 1 \nc.txt,2\n")

    assert found.labels.tolist() == [DUPLICATE, OTHER, OTHER]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.txt,2", "'a.txt' stands in line 2 already"),
        ("./a.txt,1", "'./a.txt' stands in line 2 already"),
        ("d.txt,", "'d.txt' has no cluster; a name of its own will do"),
        ("d.txt, ", "'d.txt' has no cluster; a name of its own will do"),
        ("d.txt", "there must be 2 columns, not 1; put names that hold a comma into quotes"),
        ("x.txt,1", "'x.txt': not found (No such file or directory)"),
        (",1", "the name of a file is empty"),
        ("sub,1", "'sub': not a regular file (folder)"),
        ("binary,1", "'binary': binary (NUL bytes)"),
        ("d.txt,\nx.txt,1", "'d.txt' has no cluster; a name of its own will do"),
    ],
)
def test_a_wrong_line_of_clusters_is_named(clusters, write, line, message):
    write("sub/e.txt", "e")
    write("binary", bytes(range(256)))

    others = " (and 1 other line)" if "\n" in line else ""
    table = f"path,cluster\na.txt,1\nb.txt,1\nc.txt,2\n{line}\n"
    assert complaint(clusters, table) == f"'clusters.csv', line 5: {message}{others}"


@pytest.mark.parametrize(
    "rows",
    ["", "a.txt,1\n", "a.txt,1\nb.txt,1\nc.txt,1\n", "a.txt,1\nb.txt,2\nc.txt,3\n"],
    ids=["none", "a single one", "all in one", "all different"],
)
def test_a_table_needs_files_of_one_cluster_and_of_several(clusters, rows):
    expected = "'clusters.csv': there must be files of one cluster, and of several"

    assert complaint(clusters, "path,cluster\n" + rows) == expected


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("", "no column 'path'"),
        ("a.txt,1\n", "no column 'path'"),
        ("path\na.txt\n", "no column 'cluster'"),
        ("path,cluster,path\na.txt,1,b.txt\n", "more than one column 'path'"),
        ("path,cluster,cluster\na.txt,1,2\n", "more than one column 'cluster'"),
    ],
)
def test_a_table_of_clusters_without_its_columns_is_refused(clusters, table, wrong):
    expected = f"'clusters.csv', line 1: {wrong}; the header must be path,cluster"

    assert complaint(clusters, table) == expected


def test_more_files_than_can_be_paired_are_refused(clusters, monkeypatch):
    monkeypatch.setattr(labels, "MAX_CLUSTERED", 3)
    table = "path,cluster\na.txt,1\nb.txt,1\nc.txt,2\n"

    assert len(clusters(table).texts) == 3
    expected = "'clusters.csv': 4 files; at most 3 can be paired"
    assert complaint(clusters, table + "d.txt,2\n") == expected
    assert complaint(clusters, BOTH) == expected


# Tables that cannot be read


@pytest.mark.parametrize("reading", [labelled_pairs, labelled_clusters])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("no.csv", "'no.csv': not found (No such file or directory)"),
        ("sub", "'sub': not a regular file (folder)"),
        ("binary", "'binary': binary (NUL bytes)"),
        ("", "'': not found (No such file or directory)"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(write, reading, table, message):
    write("sub/e.txt", "e")
    write("binary", bytes(range(256)))

    assert complaint(reading, table) == message


# simdup's own


def test_the_own_table_is_there_and_complete():
    with own_table() as table:
        found = labelled_pairs(table)

    assert os.path.isabs(found.table)
    assert set(found.labels.tolist()) == {DUPLICATE, OTHER, UNJUDGED}
    assert found.repeated == 0
    assert all(text.strip() for text in found.texts)


def test_an_installed_package_has_the_own_table_in_an_archive(monkeypatch, folder):
    with own_table() as table:
        expected = labelled_pairs(table)
    package = folder / "simdup"
    package.mkdir()
    write_archive(Path(table).parent, package / "pairs.zip")
    monkeypatch.setattr(labels, "__file__", str(package / "evaluation" / "labels.py"))

    with own_table() as unpacked:
        found = labelled_pairs(unpacked)

    assert not os.path.exists(unpacked)
    assert found.texts == expected.texts
    assert found.pairs.tolist() == expected.pairs.tolist()
    assert found.labels.tolist() == expected.labels.tolist()


def test_a_missing_own_table_is_reported(monkeypatch, folder):
    monkeypatch.setattr(labels, "__file__", str(folder / "simdup" / "evaluation" / "labels.py"))

    with pytest.raises(InputError) as raised, own_table():
        pass
    assert str(raised.value) == (
        "simdup's own labelled pairs are not installed; name a table with --pairs"
    )


def test_one_pair_labelled_0_decides_for_its_two_clusters(clusters):
    found = clusters(HEADER + "a.txt,b.txt,1\na.txt,c.txt,0\nb.txt,c.txt,\n")

    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.labels.tolist() == [1, 0, 0]


def test_labels_without_a_pair_known_to_differ_are_refused(clusters):
    expected = "'clusters.csv': no pair is left that is known to be of different clusters"

    assert complaint(clusters, HEADER + "a.txt,b.txt,1\nb.txt,c.txt,\n") == expected


def test_only_clusters_with_an_unjudged_pair_are_unjudged(clusters, write):
    write("e.txt", "e")
    write("f.txt", "f")
    rows = "a.txt,b.txt,1\nc.txt,d.txt,1\nd.txt,a.txt,\ne.txt,f.txt,0\nc.txt,e.txt,0\n"
    found = clusters(HEADER + rows)

    assert found.paths == tuple(f"{name}.txt" for name in "abcdef")
    unjudged = found.pairs[found.labels == UNJUDGED].tolist()
    assert unjudged == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert found.pairs[found.labels == DUPLICATE].tolist() == [[0, 1], [2, 3]]
    assert (found.labels == OTHER).sum() == 15 - 4 - 2
    assert [found.kinds[kind] for kind in found.kind[found.labels == UNJUDGED]] == (
        ["different clusters"] * 4
    )


def test_an_unjudged_pair_within_a_cluster_is_a_duplicate(clusters):
    found = clusters(HEADER + "a.txt,b.txt,1\nb.txt,c.txt,1\na.txt,c.txt,\na.txt,d.txt,0\n")

    assert found.pairs[found.labels == DUPLICATE].tolist() == [[0, 1], [0, 2], [1, 2]]
    assert UNJUDGED not in found.labels


def test_a_pair_labelled_0_within_a_cluster_is_refused(clusters):
    table = HEADER + "a.txt,b.txt,1\nb.txt,c.txt,1\na.txt,c.txt,0\n"

    expected = "'clusters.csv': 'a.txt' and 'c.txt' are labelled 0, but duplicates connect them"
    assert complaint(clusters, table) == expected
