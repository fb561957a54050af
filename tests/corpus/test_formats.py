"""simdup.corpus.formats: the texts of JSON Lines, CSV and Parquet, and rows that have none."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pickle
import zlib
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.corpus.flaws import Fault, Flaw
from simdup.corpus.formats import csv as comma_separated
from simdup.corpus.formats import open as tables
from simdup.corpus.formats import streams
from simdup.corpus.formats.jsonl import JsonChunk, JsonLines
from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.streams import Lines, lines_of
from simdup.corpus.formats.table import LACKING
from simdup.errors import ExtraMissingError, InputError
from simdup.extract import packed

pytestmark = pytest.mark.slow

TEXTS = ["one", "zwei, drei", "", '"vier"\nfünf', "六七", "end\r\nof it"]


def as_json(texts=TEXTS, **more):
    rows = ({"id": i, "text": text, **more} for i, text in enumerate(texts))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_csv(texts=TEXTS, end="\r\n", delimiter=","):
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end, delimiter=delimiter)
    writer.writerows([("id", "text"), *enumerate(texts)])
    return file.getvalue().encode()


def record(form, index):
    """The bytes of one row."""
    if form == "jsonl":
        return as_json().splitlines(keepends=True)[index]
    delimiter = "\t" if form == "tsv" else ","
    before, after = (as_csv(TEXTS[:end], delimiter=delimiter) for end in (index, index + 1))
    return after.removeprefix(before)


def zstd(data):
    return pytest.importorskip("zstandard", reason="needs the extra 'corpus'").compress(data)


def as_parquet(texts=TEXTS, rows=4, **options):
    pa = pytest.importorskip("pyarrow", reason="needs the extra 'corpus'")
    from pyarrow.parquet import write_table  # noqa: PLC0415

    sink = io.BytesIO()
    options = {"compression": "snappy"} | options
    table = pa.table({"id": list(range(len(texts))), "text": texts})
    write_table(table, sink, row_group_size=rows, **options)
    return sink.getvalue()


FILES = {
    "a.jsonl": as_json,
    "a.JSONL.gz": lambda *texts: gzip.compress(as_json(*texts)),
    "a.ndjson.zst": lambda *texts: zstd(as_json(*texts)),
    "a.csv": as_csv,
    "a.csv.gz": lambda *texts: gzip.compress(as_csv(*texts)),
    "a.csv.zst": lambda *texts: zstd(as_csv(*texts)),
    "a.tsv": lambda *texts: as_csv(*texts, delimiter="\t"),
    "a.parquet": as_parquet,
}


def table(path, **options):
    (opened,) = tables.tables([path], options.pop("field", "text"), **options)
    return opened


def read(opened):
    """The texts of a table, their numbers and offsets, and flaws, as a worker receives them."""
    parts = [pickle.loads(pickle.dumps(chunk)).parsed() for chunk in opened.chunks()]
    joined = [
        [each for part in parts for each in getattr(part, name)]
        for name in ("texts", "numbers", "offsets", "flaws")
    ]
    return (joined[0], *map(np.array, joined[1:3]), joined[3])


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(streams, "BLOCK", 7)
    monkeypatch.setattr(packed, "PIECE", 5)
    monkeypatch.setattr(comma_separated, "BLOCK", 7)
    if find_spec("pyarrow"):
        monkeypatch.setattr("simdup.corpus.formats.parquet.ROWS", 3)


# Several fields

RECORDS = [
    {"id": 1, "title": "A title", "body": "its body", "of": {"name": "Ada"}},
    {"id": 2, "title": None, "body": "a body", "of": {"name": None}},
    {"id": 3, "title": "t\x1eu", "body": "", "of": None},
]
JOINED = ["A title\x1eits body\x1eAda", "\x1ea body\x1e", "t u\x1e\x1e"]
FIELDS = ("title", "body", "of.name")


def test_several_fields_are_one_text_in_json_lines_and_a_row_may_lack_some(write):
    rows = [*RECORDS, {"id": 4, "body": "b"}, {"id": 5}, {"title": None}, {"title": 1, "body": "b"}]
    opened = table(write("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows)), field=FIELDS)

    texts, numbers, offsets, flaws = read(opened)
    assert texts == [*JOINED, "\x1eb\x1e"]
    assert [(each.row, each.fault, each.detail) for each in flaws] == [
        (5, Fault.NO_FIELD, "there are: id"),
        (6, Fault.EMPTY, "null"),
        (7, Fault.NO_STRING, "title is a number"),
    ]
    assert list(opened.values(None, numbers, offsets)) == texts
    assert list(opened.values("of.name", numbers, offsets)) == ["Ada", None, LACKING, LACKING]


def test_a_field_that_no_row_has_is_refused_among_several(write):
    write("a.jsonl", '{"title": "a", "body": "b"}\n')

    with pytest.raises(InputError) as refused:
        table("a.jsonl", field=("titel", "body"))

    problem = "no row has a field 'titel'; there are: body, title; --text-field names another"
    assert str(refused.value) == f"'a.jsonl': {problem}"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_several_columns_are_one_text_in_csv(write, name):
    tab = name.endswith("tsv")
    content = 'body,"of.name",title\n"its, body",Ada,A title\n,,x\n'
    content = content.replace("its, body", "its; body").replace(",", "\t") if tab else content
    opened = table(write(name, content), field=FIELDS)

    texts, numbers, offsets, _ = read(opened)
    assert texts == [f"A title\x1eits{';' if tab else ','} body\x1eAda", "x\x1e\x1e"]
    assert list(opened.values(None, numbers, offsets)) == texts


def test_several_columns_and_fields_of_columns_are_one_text_in_parquet(pa, write):
    sink = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist([*RECORDS, dict.fromkeys(RECORDS[0])]), sink)
    opened = table(write("a.parquet", sink.getvalue()), field=FIELDS, wanted="of.name")

    texts, numbers, offsets, flaws = read(opened)
    assert texts == JOINED
    assert [(each.row, each.fault) for each in flaws] == [(4, Fault.EMPTY)]
    assert list(opened.values(None, numbers, offsets)) == texts
    assert list(opened.values("of.name", numbers, offsets)) == ["Ada", None, None]
    for field, problem in {
        "of": "column 'of' is struct<name: string>, and no text",
        "of.age": "no column 'of.age'; there are: body, id, of, title; --text-field names another",
    }.items():
        with pytest.raises(InputError) as refused:
            table("a.parquet", field=("title", field))
        assert str(refused.value) == f"'a.parquet': {problem}"


# All formats


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_its_texts_in_order(write, name):
    texts, numbers, _, flaws = read(table(write(name, FILES[name]())))

    assert (texts, flaws) == (TEXTS, [])
    assert (np.diff(numbers) > 0).all()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("wanted", [[], [0], [5], [1, 3], [0, 2, 4, 5], [0, 1, 2, 3, 4, 5]])
def test_some_rows_are_read_again(write, name, wanted, small_blocks):  # noqa: ARG001
    opened = table(write(name, FILES[name]()))
    _, numbers, offsets, _ = read(opened)
    wanted = np.array(wanted, np.int64)

    again = list(opened.values("text", numbers[wanted], offsets[wanted]))
    ids = list(opened.values("id", numbers[wanted], offsets[wanted]))
    assert again == [TEXTS[index] for index in wanted]
    assert list(map(int, ids)) == wanted.tolist()


@pytest.mark.parametrize("name", FILES)
def test_rows_that_are_left_out_are_missing_and_the_others_unchanged(write, name, small_blocks):  # noqa: ARG001
    opened = table(write(name, FILES[name]()))
    _, numbers, _, _ = read(opened)

    parts = list(opened.kept(numbers[[1, 4]]))
    assert sum(count for _, count in parts) == 4
    if opened.form == "parquet":
        ids = [value for batch, _ in parts for value in batch.column("id").to_pylist()]
        assert ids == [0, 2, 3, 5]
        return
    delimiters = {"csv": ",", "tsv": "\t"}
    delimiter = delimiters.get(opened.form)
    expected = as_csv(delimiter=delimiter) if delimiter else as_json()
    for index in (1, 4):
        expected = expected.replace(record(opened.form, index), b"")
    assert opened.header + b"".join(part for part, _ in parts) == expected


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_rows_has_none(write, name):
    opened = table(write(name, FILES[name]([])))

    assert read(opened)[0] == []
    assert sum(count for _, count in opened.kept(np.empty(0, np.int64))) == 0


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("use", ["chunks", "values", "kept"])
def test_a_file_that_changes_is_an_error(write, name, use):
    opened = table(write(name, FILES[name]()))
    write(name, FILES[name]()[:-1] + b"!!")

    none = np.empty(0, np.int64)
    arguments = {"chunks": (), "values": ("text", np.array([2]), np.array([40])), "kept": (none,)}
    with pytest.raises(InputError, match=r"changed while it was read; run again$"):
        list(getattr(opened, use)(*arguments[use]))


@pytest.mark.parametrize(("name", "is_sent"), [("a.jsonl", False), ("a.JSONL.gz", True)])
def test_lines_are_sent_to_a_worker_only_where_it_cannot_read_them(write, name, is_sent):
    (chunk,) = table(write(name, FILES[name]())).chunks()

    assert (b"drei" in pickle.dumps(chunk)) == is_sent


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_changes_while_it_is_read_is_an_error(write, name, small_blocks):  # noqa: ARG001
    opened = table(write(name, FILES[name]()))
    chunks = opened.chunks()
    next(chunks)
    os.utime(name, ns=(1, 1))

    with pytest.raises(InputError, match=r"changed while it was read"):
        list(chunks)


# Which file is what


def test_the_end_of_a_name_says_what_a_file_is():
    assert form_of("a.b.jsonl.zst") == ("jsonl", ".zst")
    assert form_of("C4.JSON.GZ") == ("jsonl", ".gz")
    assert form_of("a.csv") == ("csv", "")
    assert form_of("a.parquet") == ("parquet", "")
    assert form_of("jsonl")[0] is form_of("a.gz")[0] is form_of("a.txt")[0] is None


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl.bz2", "a.parquet.gz", "a"])
def test_another_name_is_refused(write, name):
    with pytest.raises(InputError) as caught:
        table(write(name, as_json()))
    assert str(caught.value) == (
        f"{name!r}: by its name no .jsonl, .ndjson, .json, .csv, .tsv (.gz or .zst may follow)"
        " or .parquet; rename it, or hand its rows to - with --input-format"
    )


def test_a_folder_a_pipe_and_a_missing_file_are_refused(folder):
    for name in ("a.jsonl", "rows"):
        (folder / name).mkdir()
    os.mkfifo("b.csv")

    for path, reason in (
        ("a.jsonl", "a folder; name its files"),
        ("rows", "a folder; name its files"),
        ("b.csv", "no regular file, and rows are read more than once; name a file"),
        ("-", "rows are read more than once; name a file"),
        ("/dev/stdin", "rows are read more than once; name a file"),
        ("c.jsonl", "No such file or directory"),
        ("\0.jsonl", "no possible name of a file"),
    ):
        with pytest.raises(InputError) as caught:
            table(path)
        assert str(caught.value) == f"{path!r}: {reason}"


def test_the_same_file_twice_is_refused(write):
    write("a.jsonl", as_json())
    os.link("a.jsonl", "b.jsonl")
    os.symlink("a.jsonl", "c.jsonl")

    for other in ("a.jsonl", "./a.jsonl", "b.jsonl", "c.jsonl"):
        with pytest.raises(InputError, match=r"^'.*': the same file as 'a.jsonl'$"):
            tables.tables(["a.jsonl", other], "text")


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.zst"])
def test_a_missing_extra_is_named(write, name, monkeypatch):
    write(name, b"")
    for module in (tables, streams):
        monkeypatch.setattr(module, "find_spec", lambda _: None)

    with pytest.raises(ExtraMissingError, match=r"pip install 'simdup\[corpus\]'"):
        table(name)


def test_no_extra_is_needed_for_the_rest(write, monkeypatch):
    for module in (tables, streams):
        monkeypatch.setattr(module, "find_spec", lambda _: None)
    for name in ("a.jsonl", "a.JSONL.gz", "a.csv", "a.csv.gz"):
        assert read(table(write(name, FILES[name]())))[0] == TEXTS


# JSON Lines


def flaws_of(write, *lines):
    data = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    return read(table(write("a.jsonl", data)))


@pytest.mark.parametrize(
    ("line", "fault", "detail"),
    [
        ("{", Fault.BROKEN, "Expecting property name enclosed in double quotes at column 2"),
        ('{"text": "a', Fault.BROKEN, "Unterminated string at column 10"),
        ('{"text": "a"} {}', Fault.BROKEN, "Extra data at column 15"),
        ('  {"text": "a"} {}', Fault.BROKEN, "Extra data at column 17"),
        ("nan", Fault.BROKEN, "Expecting value at column 1"),
        ('{"text": "a\tb"}', Fault.BROKEN, "Invalid control character at column 12"),
        ("[" * 100_000, Fault.BROKEN, "nested too deeply"),
        ("1" * 5000, Fault.BROKEN, "a number of thousands of digits"),
        ("[1]", Fault.BROKEN, "a list, not an object"),
        ('"a"', Fault.BROKEN, "a string or null, not an object"),
        ("{}", Fault.NO_FIELD, "there are: none"),
        ('{"b": 1, "a": 2}', Fault.NO_FIELD, "there are: a, b"),
        ('{"text": 1.5}', Fault.NO_STRING, "a number"),
        ('{"text": ["a"]}', Fault.NO_STRING, "a list"),
        ('{"text": true}', Fault.NO_STRING, "a boolean"),
        ('{"text": null}', Fault.EMPTY, "null"),
        (b'{"text": "\xff"}', Fault.NOT_UTF8, "byte 11"),
        ('{"text": "a"}'.encode("utf-16"), Fault.NOT_UTF8, "byte 1"),
    ],
)
def test_a_line_that_is_no_row_is_a_flaw_with_its_place(write, line, fault, detail):
    texts, numbers, _, flaws = flaws_of(write, '{"text": "x"}', line, '{"text": "y"}')

    assert (texts, numbers.tolist()) == (["x", "y"], [1, 3])
    assert [flaw[:3] for flaw in flaws] == [(2, 1, fault)]
    assert flaws[0].detail == detail


@pytest.mark.parametrize("pad", ["", " ", "\t \r"])
def test_white_space_around_a_row_is_no_part_of_it(write, pad):
    texts, _, _, flaws = flaws_of(write, pad + '{"text": "x"}', '{"text": "y"}' + pad)

    assert (texts, flaws) == (["x", "y"], [])


@pytest.mark.parametrize(
    "array",
    [
        json.dumps([{"text": "a"}, {"text": "b"}]),
        json.dumps([{"text": "a"}, {"text": "b"}], indent=1),
        '\ufeff\n  [{"text": "a"},\n{"text": "b"}]\n',
        "[]",
        "[",
    ],
)
@pytest.mark.parametrize("longest", [10, 1 << 27])
def test_an_array_is_an_error(write, array, longest, monkeypatch, small_blocks):  # noqa: ARG001
    monkeypatch.setattr(streams, "LONGEST_ROW", longest)
    with pytest.raises(InputError) as caught:
        table(write("a.json", array))
    assert str(caught.value) == "'a.json': a JSON array, not JSON Lines; jq -c '.[]' makes them"


def test_a_list_among_rows_is_a_broken_row(write):
    texts, _, _, flaws = flaws_of(write, "[1, 2]", '{"text": "x"}')

    assert texts == ["x"]
    assert flaws == [Flaw(1, 1, Fault.BROKEN, "a list, not an object")]


def test_a_message_lists_only_some_of_many_fields(write):
    row = json.dumps({f"f{i:02}": i for i in range(30)})

    (flaw,) = flaws_of(write, row)[3]
    assert flaw.detail == f"there are: {', '.join(f'f{i:02}' for i in range(10))}, ..."


def test_empty_lines_are_no_rows_and_any_line_end_will_do(write):
    data = b'\xef\xbb\xbf{"text": "a"}\r\n\n  \t\r\n{"text": "b"}\n\n{"text": "c"}'
    opened = table(write("a.jsonl", data))
    texts, numbers, offsets, flaws = read(opened)

    assert (texts, numbers.tolist(), flaws) == (["a", "b", "c"], [1, 4, 6], [])
    assert [data[at : at + 8] for at in offsets] == [b'{"text":'] * 3
    assert list(opened.values("text", numbers, offsets)) == texts
    kept = b"".join(part for part, _ in opened.kept(np.empty(0, np.int64)))
    assert kept == b'{"text": "a"}\r\n{"text": "b"}\n{"text": "c"}\n'


def test_a_file_of_a_byte_order_mark_alone_is_empty(write):
    assert read(table(write("a.jsonl", b"\xef\xbb\xbf")))[0] == []


def test_a_text_with_half_a_surrogate_pair_comes_back(write):
    texts, numbers, offsets, flaws = flaws_of(write, '{"text": "a \\ud83d b"}')

    assert (texts, flaws) == (["a \ud83d b"], [])
    assert list(table("a.jsonl").values("text", numbers, offsets)) == texts


def test_a_field_that_a_row_lacks_is_not_null(write):
    opened = table(
        write("a.jsonl", b'{"text": "a"}\n{"text": "b", "id": 0}\n{"text": "c", "id": null}')
    )
    _, numbers, offsets, _ = read(opened)

    assert list(opened.values("id", numbers, offsets)) == [LACKING, 0, None]


@pytest.mark.parametrize("name", ["a.jsonl", "a.JSONL.gz", "a.ndjson.zst"])
def test_a_field_of_ids_that_no_row_has_is_an_error(write, name):
    pack = {"l": bytes, "z": gzip.compress, "t": zstd}[name[-1]]
    write(name, pack(b'{"text": "a"}\n{\n\n{"id": 1, "text": "b"}\n'))

    assert table(name, wanted="id").fields == ("text",)
    with pytest.raises(InputError) as caught:
        table(name, wanted="url")
    assert (
        str(caught.value)
        == f"{name!r}: no row has a field 'url'; there are: text; --id-field names another"
    )


def test_a_file_without_rows_lacks_no_field(write):
    for content in (b"", b"\n", b"{\n"):
        assert table(write("a.jsonl", content), wanted="url").fields == ("text",)


@given(
    st.lists(st.sampled_from([b"", b" ", b"{}", b'{"text":"a"}', b'{"text":"bb"}', b"\xff", b"["]))
)
def test_lines_do_not_depend_on_how_blocks_cut_them(lines):
    data = b"\n".join(lines)
    expected = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    table_of_rows = JsonLines(streams.Packed("a.jsonl", "", None), ("text",), None)
    for size in (1, 3, 1000):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        parts = [JsonChunk(table_of_rows, each).parsed() for each in lines_of(blocks)]
        rows = {n: t for part in parts for n, t in zip(part.numbers, part.texts, strict=True)}
        flaws = {flaw.row for part in parts for flaw in part.flaws}
        assert {number for number, _ in expected} == set(rows) | flaws
        assert not set(rows) & flaws
        for number, line in expected:
            assert (number in rows) == line.startswith(b'{"text"')
        for part in parts:
            for text, offset in zip(part.texts, part.offsets, strict=True):
                assert data[offset:].startswith(b'{"text":"%s"}' % text.encode())


@pytest.mark.parametrize("size", range(1, 12))
def test_the_longest_line_is_as_long_in_blocks_of_any_size(monkeypatch, size):
    monkeypatch.setattr(streams, "LONGEST_ROW", 10)
    data = b"0123456789\n01234567890\n0123456789\n" + b"x" * 33 + b"\nlast\n01234567890"
    blocks = [data[at : at + size] for at in range(0, len(data), size)]

    found = list(lines_of(blocks))
    whole = [each for each in found if isinstance(each, Lines)]
    assert b"".join(each.data for each in whole) == b"0123456789\n0123456789\nlast\n"
    assert all(data[each.offset :].startswith(each.data) for each in whole)
    assert [each.row for each in found if isinstance(each, Flaw)] == [2, 4, 6]


# Packed files


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_several_members_are_one_file(write, pack):
    data = as_json()
    name = "a.jsonl.gz" if pack is gzip.compress else "a.jsonl.zst"
    path = write(name, b"".join(pack(data[at : at + 40]) for at in range(0, len(data), 40)))

    assert read(table(path))[0] == TEXTS


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
@pytest.mark.parametrize("lost", [1, 5, 9, 400])
def test_a_packed_file_cut_short_is_read_up_to_there_and_reported(write, pack, lost):
    texts = [f"text {i} {os.urandom(20).hex()}" for i in range(2000)]
    data = pack(as_json(texts))
    path = write("a.jsonl.gz" if pack is gzip.compress else "a.jsonl.zst", data[:-lost])

    opened = table(path)
    found, numbers, offsets, flaws = read(opened)
    assert found == texts[: len(found)]
    assert len(flaws) == 1
    assert flaws[0].fault is Fault.CUT_SHORT
    assert flaws[0].row == len(found) + 1
    assert flaws[0].detail.endswith("; what comes after is lost")
    assert sum(count for _, count in opened.kept(np.array([flaws[0].row]))) == len(found)
    assert list(opened.values("text", numbers[-3:], offsets[-3:])) == found[-3:]


JUNK = [b"x", b"junk\n" * 99, b"\0\0junk", b'{"text": "no row"}\n']


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.csv.gz"])
def test_junk_after_a_packed_file_is_reported_and_costs_no_row(write, name, junk, end):
    data = as_csv() if name.startswith("a.csv") else as_json()
    pack, tool = (zstd, "zstandard") if name.endswith("zst") else (gzip.compress, "gzip")
    opened = table(write(name, pack(data.rstrip() + end) + junk))

    texts, numbers, _, flaws = read(opened)
    assert texts == TEXTS
    assert [(flaw.rows, flaw.fault, flaw.detail) for flaw in flaws] == [
        (1, Fault.JUNK, f"not a {tool} file from here on; what comes after is lost")
    ]
    assert flaws[0].row > numbers[-1]
    assert sum(count for _, count in opened.kept(np.array([flaws[0].row]))) == len(TEXTS)


def test_a_last_row_that_is_too_long_is_refused_beside_the_junk_after_it(write, monkeypatch):
    monkeypatch.setattr(streams, "LONGEST_ROW", 40)
    monkeypatch.setattr(streams, "BLOCK", 16)
    write("a.jsonl.gz", gzip.compress(as_json(["a"]) + b'{"text": "' + b"x" * 99) + b"junk")

    texts, _, _, flaws = read(table("a.jsonl.gz"))
    assert texts == ["a"]
    assert [(flaw.row, flaw.fault) for flaw in flaws] == [(2, Fault.TOO_LONG), (3, Fault.JUNK)]


def test_many_small_members_are_read_a_few_at_a_time(write, monkeypatch):
    sizes = []

    class Unpacker:
        def __init__(self, **options):
            self._real = zlib.decompressobj(**options)

        def decompress(self, data):
            sizes.append(len(data))
            return self._real.decompress(data)

        eof = property(lambda self: self._real.eof)
        unused_data = property(lambda self: self._real.unused_data)

    monkeypatch.setattr(packed, "zlib", SimpleNamespace(**vars(zlib)))
    monkeypatch.setattr(packed.zlib, "decompressobj", lambda wbits: Unpacker(wbits=wbits))
    data = as_json(["a"] * 5000)
    members = b"".join(gzip.compress(line) for line in data.splitlines(keepends=True))

    assert len(read(table(write("a.jsonl.gz", members)))[0]) == 5000
    assert max(sizes) <= packed.PIECE + packed.MARK


@pytest.mark.parametrize("zeros", [1, 511, 5000])
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_zeros_after_a_packed_file_are_no_fault(write, pack, more, zeros):
    name = "a.jsonl.gz" if pack is gzip.compress else "a.jsonl.zst"
    path = write(name, pack(as_json()) + bytes(zeros) + pack(as_json()) * more)

    texts, _, _, flaws = read(table(path))
    assert (texts, flaws) == (TEXTS * (1 + more), [])


def test_a_packed_file_that_is_damaged_within_is_cut_short(write):
    texts = [os.urandom(20).hex() for _ in range(9999)]
    data = bytearray(gzip.compress(as_json(texts)))
    data[-5] ^= 1

    found, _, _, flaws = read(table(write("a.jsonl.gz", bytes(data))))
    assert found == texts[: len(found)]
    assert [flaw.fault for flaw in flaws] == [Fault.CUT_SHORT]


@pytest.mark.parametrize(
    ("name", "tool"), [("a.jsonl.gz", "gzip"), ("a.jsonl.zst", "zstandard"), ("a.csv.gz", "gzip")]
)
def test_a_plain_file_with_the_name_of_a_packed_one_is_refused(write, name, tool):
    if tool == "zstandard":
        pytest.importorskip("zstandard", reason="needs the extra 'corpus'")

    for content in (b"plain\n" * 9, b"x", bytes(20)):
        with pytest.raises(InputError) as caught:
            table(write(name, content))
        end = os.path.splitext(name)[1]
        assert str(caught.value) == f"{name!r}: not a {tool} file; name it without {end}"


def test_a_packed_file_may_be_empty_or_begin_with_a_skippable_frame(write):
    skipped = b"\x5e\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"any"

    assert read(table(write("a.jsonl.gz", b"")))[0] == []
    assert read(table(write("b.jsonl.zst", skipped + zstd(as_json()))))[0] == TEXTS
    assert read(table(write("a.jsonl.zst", b"")))[0] == []


# CSV


def test_records_may_have_several_lines_and_are_numbered_by_their_first(write):
    opened = table(write("a.csv", as_csv(end="\n")))
    _, numbers, offsets, _ = read(opened)

    assert numbers.tolist() == [2, 3, 4, 5, 7, 8]
    data = as_csv(end="\n")
    assert [data[at : at + 2].decode() for at in offsets] == [f"{i}," for i in range(6)]


@pytest.mark.parametrize(
    ("record", "fault", "detail"),
    [
        (b"1", Fault.COLUMNS, "1 instead of 2"),
        (b'1,a,"b\nc"', Fault.COLUMNS, "3 instead of 2, to line 4"),
        (b"1,\xff", Fault.NOT_UTF8, ""),
        (b'1,"a"b', Fault.BROKEN, "',' expected after '\"'"),
        (b"1,a\rb", Fault.BROKEN, r"a \r within a line; lines end in \n or \r\n"),
    ],
)
def test_a_record_that_is_no_row_is_a_flaw_with_its_place(write, record, fault, detail):
    data = b"id,text\n0,x\n" + record + b"\n2,y\n"

    texts, _, _, flaws = read(table(write("a.csv", data)))
    assert texts == ["x", "y"]
    assert flaws == [Flaw(3, 1, fault, detail)]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_stray_quote_costs_its_line_alone(write, end, small_blocks):  # noqa: ARG001
    data = b'id,text\n0,x\n1,"oh\n2,y\n\n3,"z\nz"\n4,""\n5,"ah\n6,' + b"x" + end
    opened = table(write("a.csv", data))
    texts, numbers, offsets, flaws = read(opened)

    assert texts == ["x", "y", "z\nz", "", "x"]
    early, never = "',' expected after '\"' on line 6", "a quote is never closed"
    assert flaws == [Flaw(3, 1, Fault.BROKEN, early), Flaw(9, 1, Fault.BROKEN, never)]
    assert list(opened.values("text", numbers, offsets)) == texts
    kept = b"".join(part for part, _ in opened.kept(np.array([3, 9])))
    assert kept == b'0,x\n2,y\n3,"z\nz"\n4,""\n6,x' + (end or b"\n")


def test_as_many_stray_quotes_as_lines_are_read_in_no_time(write):
    texts, _, _, flaws = read(table(write("a.csv", b"id,text\n" + b'1,"oh\n' * 50_000 + b"2,y\n")))

    assert (texts, len(flaws)) == (["y"], 50_000)


def test_a_quote_that_is_not_closed_for_long_costs_its_line_and_the_limit_is_put_back(
    write, monkeypatch
):
    monkeypatch.setattr(comma_separated, "LONGEST_ROW", 20)
    before = csv.field_size_limit()
    data = b'id,text\n1,"' + b"oh no\n" * 9 + b"2,y\n"

    texts, numbers, _, flaws = read(table(write("a.csv", data)))
    assert (texts, numbers.tolist()) == (["y"], [11])
    assert flaws[0] == Flaw(2, 1, Fault.BROKEN, "a quote is not closed within 128 MB")
    assert [flaw.row for flaw in flaws] == list(range(2, 11))
    assert csv.field_size_limit() == before


def test_a_long_field_is_no_trouble(write):
    texts = ["word " * 100_000, "b"]

    assert read(table(write("a.csv", as_csv(texts))))[0] == texts


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_are_kept_to_the_byte_and_the_last_one_gets_its_end(write, end):
    data = f'\ufeff"id",text{end}1,"a"{end}{end}2,"b""c"{end}3,"d\ne"'.encode()
    opened = table(write("a.csv", data))

    ((kept, count),) = opened.kept(np.array([2]))
    assert count == 2
    assert opened.header + kept == f'"id",text{end}2,"b""c"{end}3,"d\ne"{end}'.encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no header of columns (there is nothing in it)"),
        (b"\xff\xfe,text\n", "no header of columns (not UTF-8)"),
        (b"id,text\r1,a\r", r"no header of columns (a \r within a line; lines end in \n or \r\n)"),
        (
            f"{'x' * 61},{'y' * 60}\n".encode(),
            f"no column 'text'; there are: {'x' * 60}..., {'y' * 60}; --text-field names another",
        ),
        (b"id,body\n1,a\n", "no column 'text'; there are: body, id; --text-field names another"),
        (
            b"text,text\n1,a\n",
            "more than one column 'text'; there are: text, text; --text-field names another",
        ),
    ],
)
def test_a_header_without_the_text_is_an_error(write, data, message):
    with pytest.raises(InputError) as caught:
        table(write("a.csv", data))
    assert str(caught.value) == f"'a.csv': {message}"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_column_of_ids_that_is_missing_is_an_error(write, name):
    with pytest.raises(
        InputError, match=r"no column 'url'; there are: id, text; --id-field names another$"
    ):
        table(write(name, FILES[name]()), wanted="url")


# Parquet


def test_nulls_are_flaws_and_numbers_go_on_across_row_groups(write):
    texts = [None if i % 3 == 0 else f"text {i}" for i in range(20)]

    found, numbers, _, flaws = read(table(write("a.parquet", as_parquet(texts))))
    assert found == [text for text in texts if text]
    assert numbers.tolist() == [i + 1 for i, text in enumerate(texts) if text]
    assert flaws == [Flaw(i + 1, 1, Fault.EMPTY, "null") for i in range(0, 20, 3)]


@pytest.mark.parametrize("size", [0, 3, 20, 300])
def test_a_parquet_file_cut_short_is_one_error(write, size):
    data = as_parquet([f"text {i}" for i in range(100)])

    with pytest.raises(InputError, match=r"^'a.parquet': "):
        table(write("a.parquet", data[:size] if size < 300 else data[:-9]))


def with_zeros(data, column):
    """Parquet with nothing but zeros for a column of the second row group."""
    content = pytest.importorskip("pyarrow.parquet").ParquetFile(io.BytesIO(data))
    about = content.metadata.row_group(1).column(column)
    begin, end = about.data_page_offset, about.data_page_offset + about.total_compressed_size
    return data[:begin] + bytes(end - begin) + data[end:]


@pytest.mark.parametrize("packing", ["snappy", "gzip", "zstd"])
def test_a_damaged_row_group_is_refused_and_the_others_are_read(write, packing):
    texts = [f"text {i} {os.urandom(30).hex()}" for i in range(400)]
    data = as_parquet(texts, 100, compression=packing, use_dictionary=False)

    opened = table(write("a.parquet", with_zeros(data, 1)))
    found, numbers, _, flaws = read(opened)
    assert found == texts[:100] + texts[200:]
    assert [flaw[:3] for flaw in flaws] == [(101, 100, Fault.UNREADABLE)]
    assert flaws[0].detail.startswith("row group 1: ")
    refused = np.arange(101, 201)
    assert sum(count for _, count in opened.kept(refused)) == 300
    assert list(opened.values("text", numbers[250:252], numbers[250:252])) == found[250:252]


def test_a_page_that_its_checksum_does_not_fit_is_refused(write):
    texts = [f"text {i}" for i in range(400)]
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    data = as_parquet(texts, 100, **options)

    found, _, _, flaws = read(table(write("a.parquet", data.replace(b"text 150", b"tent 150", 1))))
    assert found == texts[:100] + texts[200:]
    assert [flaw[:3] for flaw in flaws] == [(101, 100, Fault.UNREADABLE)]


def with_damaged_ids():
    """Parquet of four row groups, with nothing but zeros for the ids of the second."""
    return with_zeros(as_parquet(["a b c"] * 400, 100, use_dictionary=False), 0)


def test_damage_in_another_column_is_an_error_where_rows_are_kept(write):
    opened = table(write("a.parquet", with_damaged_ids()))
    assert len(read(opened)[0]) == 400
    with pytest.raises(InputError, match="row group 1: "):
        list(opened.kept(np.empty(0, np.int64)))


def test_a_damaged_column_of_ids_is_an_error_that_names_it(write):
    opened = table(write("a.parquet", with_damaged_ids()))
    _, numbers, offsets, _ = read(opened)
    assert list(opened.values("id", numbers[:100], offsets[:100])) == list(range(100))
    with pytest.raises(InputError, match=r"^'a.parquet': column 'id' of row group 1: ."):
        list(opened.values("id", numbers, offsets))


@pytest.mark.usefixtures("folder")
def test_columns_of_other_kinds_of_strings(pa):
    for kind in (pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        pa.parquet.write_table(
            pa.table({"text": pa.array(["a", "b", "a"]).cast(kind)}), "a.parquet"
        )
        assert read(table("a.parquet"))[0] == ["a", "b", "a"]


@pytest.mark.usefixtures("folder")
def test_views_are_read_and_written_as_plain_columns(pa, small_blocks):  # noqa: ARG001
    text, binary = pa.string_view(), pa.binary_view()
    values = {
        "text": (["a" * 20, None, "b", "c"], text, pa.large_string()),
        "bytes": ([b"x" * 20, None, b"\xff", b""], binary, pa.large_binary()),
        "list": ([["x"], None, [], [None]], pa.list_(text), pa.list_(pa.large_string())),
        "large": ([["x"], None, [], ["y"]], pa.large_list(text), pa.large_list(pa.large_string())),
        "pair": ([["x", "y"]] * 4, pa.list_(text, 2), pa.list_(pa.large_string(), 2)),
        "map": (
            [[("x", b"y")], None, [], []],
            *(
                pa.map_(key, value)
                for key, value in ((text, binary), (pa.large_string(), pa.large_binary()))
            ),
        ),
        "struct": (
            [{"x": b"y"}, None, {"x": None}, {"x": b""}],
            *(pa.struct([pa.field("x", kind)]) for kind in (binary, pa.large_binary())),
        ),
        "number": ([1, 2, 3, 4], pa.int8(), pa.int8()),
    }
    schema = pa.schema([(name, kind) for name, (_, kind, _) in values.items()])
    content = pa.table({name: column for name, (column, *_) in values.items()}, schema)
    pa.parquet.write_table(content, "a.parquet")

    opened = table("a.parquet")
    texts, numbers, offsets, flaws = read(opened)
    kept = [batch for batch, _ in opened.kept(np.array([3]))]
    assert (texts, [flaw.fault for flaw in flaws]) == (["a" * 20, "b", "c"], [Fault.EMPTY])
    for name, (column, _, plain) in values.items():
        assert list(opened.values(name, numbers, offsets)) == [column[n - 1] for n in numbers]
        assert pa.Table.from_batches(kept, opened.columns)[name].to_pylist() == [
            column[n] for n in (0, 1, 3)
        ]
        assert opened.columns.field(name).type == plain


@pytest.mark.usefixtures("folder")
def test_a_name_with_a_dot_is_a_column_and_no_path(pa):
    columns = {"a": [{"b": "x"}], "a.b": ["y"], "c": [{"d": 1}], "c.d": [2]}
    pa.parquet.write_table(pa.table(columns), "a.parquet")

    opened = table("a.parquet", field="a.b", wanted="c.d")
    assert read(opened)[0] == ["y"]
    assert list(opened.values("c.d", np.array([1]), np.array([0]))) == [2]


@pytest.mark.usefixtures("folder")
def test_values_without_a_python_type_are_shown_as_arrow_writes_them(pa):
    for value, kind, shown in (
        (1, pa.timestamp("ns"), "1970-01-01 00:00:00.000000001"),
        (1 << 30, pa.date32(), "<value out of range: 1073741824>"),
    ):
        pa.parquet.write_table(
            pa.table({"text": ["a"], "at": pa.array([value], kind)}), "a.parquet"
        )
        (found,) = table("a.parquet").values("at", np.array([1]), np.array([0]))
        assert str(found) == shown


@pytest.mark.usefixtures("folder")
def test_a_column_without_strings_is_an_error(pa):
    pa.parquet.write_table(pa.table({"text": [1, 2]}), "a.parquet")
    with pytest.raises(InputError, match=r"^'a.parquet': column 'text' is int64, and no text$"):
        table("a.parquet")


@pytest.mark.usefixtures("folder")
def test_a_string_that_is_no_utf8_is_a_flaw(pa):
    raw = pa.array([b"a", b"\xff\xfe", b"c", None], pa.binary())
    strings = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    pa.parquet.write_table(pa.table({"text": strings}), "a.parquet")

    texts, numbers, _, flaws = read(table("a.parquet"))
    assert (texts, numbers.tolist()) == (["a", "c"], [1, 3])
    assert [flaw[:3] for flaw in flaws] == [(2, 1, Fault.NOT_UTF8), (4, 1, Fault.EMPTY)]
