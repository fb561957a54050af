"""Packed files: what is packed in them is read, and nothing hostile gets through."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shlex
import subprocess
import sys
import zlib
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import makers
import pytest
from patience import patient

from simdup.extract import packed
from simdup.extract.cleanup import NotReadable
from simdup.extract.packed import in_blocks, inner_name, packing_of, unpacked
from simdup.extract.readers import Readers
from simdup.files import fingerprint
from simdup.files.read import SkipError, read_text
from simdup.files.scan import scan
from simdup.files.walk import walk
from simdup.records import Kind
from simdup.settings import FORMATS, PACKINGS, Limits, Settings

needs_zstd = pytest.mark.skipif(
    not packed.can_unpack("zst"), reason="zstandard needs the extra 'docs' before Python 3.14"
)


def zstd(data):
    return pytest.importorskip("zstandard").compress(data)


PACK = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": zstd}
ALL = [pytest.param(each, marks=[needs_zstd] if each == "zst" else []) for each in PACKINGS]


def content(data, packing, size=None):
    return b"".join(unpacked(iter([data]), packing, len(data) if size is None else size))


@pytest.mark.parametrize("packing", ALL)
def test_what_is_packed_comes_back_whatever_the_chunks(packing, simplified):
    data = PACK[packing](simplified.encode() * 50)

    assert packing_of(data) == packing
    for size in (1, 7, 4096, len(data)):
        chunks = (data[at : at + size] for at in range(0, len(data), size))
        assert b"".join(unpacked(chunks, packing, len(data))) == simplified.encode() * 50


@pytest.mark.parametrize("packing", ALL)
def test_several_members_one_after_another_are_one_text(packing):
    data = b"".join(PACK[packing](part) for part in (b"one ", b"", b"two"))

    assert content(data, packing) == b"one two"
    assert content(data + bytes(512), packing) == b"one two"


@pytest.mark.parametrize("packing", ALL)
def test_a_file_that_is_cut_anywhere_is_damaged(packing):
    data = PACK[packing](b"tea at four, and cake at five" * 9)

    for end in range(1, len(data)):
        if packing_of(data[:end]) is None:
            continue
        with pytest.raises(NotReadable, match=r"^damaged \w+ file: "):
            content(data[:end], packing)


@pytest.mark.parametrize("packing", ALL)
def test_no_damage_is_another_error(packing):
    data = PACK[packing](bytes(range(256)) * 20)

    for place in range(len(data)):
        hurt = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        with suppress(NotReadable, packed.JunkError):
            content(hurt, packing)


@pytest.mark.slow
@pytest.mark.parametrize("packing", ALL)
def test_a_bomb_is_defused_in_a_second(packing, monkeypatch):
    monkeypatch.setattr(packed, "LARGEST", 50_000_000)
    bomb = PACK[packing](b"a" * 60_000_000)
    began, sizes = process_time(), []

    with pytest.raises(NotReadable, match=r"^unpacks to too much$"):
        sizes.extend(map(len, unpacked(iter([bomb]), packing, len(bomb))))
    assert sum(sizes) <= 50_000_000
    assert process_time() - began < patient(5)


def test_the_allowance_grows_with_the_file():
    assert packed.allowance(10) == packed.LITTLE
    assert packed.allowance(200_000) == packed.RATIO * 200_000
    assert packed.allowance(1 << 30) == packed.LARGEST


@pytest.mark.slow
def test_xz_may_not_ask_for_much_memory():
    greedy = lzma.compress(b"tea", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}])

    with pytest.raises(NotReadable, match="Memory usage limit"):
        content(greedy, "xz")


@needs_zstd
def test_zstandard_may_not_ask_for_much_memory():
    zstandard = pytest.importorskip("zstandard")
    parameters = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=1)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    greedy = packer.compress(b"tea") + packer.flush()

    with pytest.raises(NotReadable, match=r"^damaged zstandard file: "):
        content(greedy, "zst")


# Unpacks a file while memory is short, and says how that ends.
SHORT_OF_MEMORY = """
import resource, sys
from pathlib import Path
from simdup.extract.packed import packing_of, unpacked
data = Path(sys.argv[1]).read_bytes()
for _ in unpacked(iter([data]), packing_of(data), len(data)): pass
most = int(Path("/proc/self/statm").read_text().split()[0]) * 4096 + (16 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    for _ in unpacked(iter([data]), packing_of(data), len(data)): pass
except MemoryError:
    print("out of memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
@pytest.mark.parametrize("packing", ["xz", pytest.param("zst", marks=needs_zstd)])
def test_too_little_memory_is_not_taken_for_damage(tmp_path, packing):
    path = tmp_path / "packed"
    if packing == "xz":
        path.write_bytes(lzma.compress(b"tea", preset=9))
    else:
        zstandard = pytest.importorskip("zstandard")
        parameters = zstandard.ZstdCompressionParameters(window_log=26)
        packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        path.write_bytes(packer.compress(b"tea") + packer.flush())

    ended = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, path], capture_output=True, check=True
    )

    assert ended.stdout == b"out of memory\n"


def test_zlib_says_in_its_own_words_that_memory_is_out(monkeypatch):
    class Short:
        def decompress(self, _data):
            raise zlib.error("Error -4 while decompressing data")

    monkeypatch.setattr(packed, "_decoder", lambda *_: packed._Decoder(Short, zlib.error))  # noqa: SLF001

    with pytest.raises(MemoryError):
        content(gzip.compress(b"tea"), "gz")


def test_blocks_are_whole_even_before_an_error():
    def parts():
        yield b"ab"
        yield b"cde"
        yield b"f"
        raise packed.CutShortError("gone")

    found = in_blocks(parts(), 4)

    assert [next(found), next(found)] == [b"abcde", b"f"]
    with pytest.raises(packed.CutShortError):
        next(found)


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("ls.1.gz", "ls.1"),
        ("a.tar.BZ2", "a.tar"),
        ("b.tgz", "b.tar"),
        ("plan.svgz", "plan.svg"),
        ("notes.txt", "notes.txt"),
        ("x.gz/file", "x.gz/file"),
    ],
)
def test_the_name_of_what_is_packed_lacks_the_ending(path, inner):
    assert inner_name(path) == inner


# --- files ---


def test_a_packed_copy_is_identical_text_in_every_packing(report, write, simplified):
    write("in/a.txt", simplified)
    write("in/gbk.txt.gz", gzip.compress(simplified.encode("gb18030")))
    names = [each for each in PACKINGS if packed.can_unpack(each)]
    for name in names:
        write(f"in/named-otherwise-{name}", PACK[name](simplified.encode()))

    found = report("in")

    (group,) = found["groups"]
    assert group["kind"] == "identical text"
    assert found["stats"]["skipped"] == {}
    about = {Path(m["path"]).name: (m["packing"], m["encoding"]) for m in group["members"]}
    assert about == {
        "a.txt": (None, "utf-8"),
        "gbk.txt.gz": ("gz", "gb18030"),
        **{f"named-otherwise-{name}": (name, "utf-8") for name in names},
    }


def test_reports_name_the_packing_and_what_is_inside(run, write, english):
    write("in/a.txt.gz", gzip.compress(english.encode()))
    write("in/a.docx.xz", lzma.compress(makers.docx(english)))

    ended = run("scan", "in")

    assert b" gz, utf-8 " in ended.out
    assert b" xz, docx " in ended.out
    assert b"gz, utf-8" in run("scan", "in", "--format", "csv").out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["docx", "html", "pdf", "eml"])
def test_a_packed_document_has_the_text_of_the_document(report, write, english, kind):
    if kind == "pdf" and not find_spec("pypdfium2"):
        pytest.skip("needs the extra 'docs'")
    make = {"docx": makers.docx, "html": makers.html_page, "eml": makers.eml}
    data = makers.printed(english) if kind == "pdf" else make[kind](english)
    write(f"in/a.{kind}", data)
    write(f"in/a.{kind}.gz", gzip.compress(data))

    ((one, other),) = [group["members"] for group in report("in")["groups"]]

    assert {one["packing"], other["packing"]} == {"gz", None}
    assert one["format"] == other["format"] == kind
    assert one["text_digest"] == other["text_digest"]
    assert one["byte_digest"] != other["byte_digest"]


def test_what_is_packed_twice_or_is_no_text_is_binary_with_both_names(report, write):
    write("in/twice.gz", gzip.compress(gzip.compress(b"tea at four")))
    write("in/picture.gz", gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(99)))
    write("in/tape.tar.gz", gzip.compress(makers.tar({"a.txt": "tea at four"})))

    assert {(each["reason"], each["detail"]) for each in report("in")["skipped"]} == {
        ("binary", "gz, gzip"),
        ("binary", "gz, PNG"),
        ("binary", "gz, tar"),
    }


def test_a_binary_file_is_not_unpacked_to_its_end(write, monkeypatch):
    path = write("big.gz", gzip.compress(bytes(10_000_000), 9))
    parts = []
    whole = packed.members
    monkeypatch.setattr(
        packed, "members", lambda *args: (parts.append(each) or each for each in whole(*args))
    )
    (source,) = walk([path])

    with closing(Readers(FORMATS)) as readers, pytest.raises(SkipError, match="NUL"):
        read_text(source, readers)
    assert sum(map(len, parts)) < 5_000_000


def test_hostile_files_cost_themselves_only(report, write, english, monkeypatch):
    monkeypatch.setattr(packed, "LITTLE", 1 << 20)
    write("in/a.txt", english)
    write("in/b.txt.gz", gzip.compress(english.encode()))
    write("in/bomb.txt.gz", gzip.compress(b"tea " * 1_000_000, 9))
    write("in/cut.txt.gz", gzip.compress(english.encode())[:-20])
    write("in/mark.gz", b"\x1f\x8b\x08")
    write("in/empty.gz", gzip.compress(b""))
    write("in/nothing.gz", b"")

    found = report("in")

    assert [len(group["members"]) for group in found["groups"]] == [2]
    assert {each["path"].removeprefix("in/"): each["detail"] for each in found["skipped"]} == {
        "bomb.txt.gz": "unpacks to too much",
        "cut.txt.gz": "damaged gzip file: it ends inside the packed content",
        "mark.gz": "damaged gzip file: it ends inside the packed content",
        "empty.gz": "no letter or digit",
        "nothing.gz": "0 bytes",
    }


def test_packed_files_are_within_the_bounds_of_documents(report, write, limited, monkeypatch):
    limited(document_bytes=50)
    monkeypatch.setattr("simdup.extract.cleanup.LONGEST_TEXT", 2000)
    write("in/large.gz", gzip.compress(bytes(range(33, 127)) * 2))
    write("in/long.gz", gzip.compress(b"tea " * 600))

    assert {each["detail"] for each in report("in")["skipped"]} == {
        "larger than 50 bytes",
        "more than 2,000 characters of text",
    }


def test_copies_of_a_packed_file_that_cannot_be_read_are_identical_bytes(report, write):
    cut = gzip.compress(b"tea at four")[:-5]
    write("in/a.gz", cut)
    write("in/b.gz", cut)
    secret = gzip.compress(makers.zipped({"[Content_Types].xml": "", "word/document.xml": "<a"}))
    write("in/a.docx.gz", secret)
    write("in/b.docx.gz", secret)

    groups = report("in")["groups"]

    assert [group["kind"] for group in groups] == ["identical bytes"] * 2
    about = {(m["format"], m["packing"]) for group in groups for m in group["members"]}
    assert about == {("gz", None), ("docx", "gz")}


def test_formats_chooses_packings_too(report, write, english):
    write("in/a.gz", gzip.compress(english.encode()))
    write("in/b.xz", lzma.compress(english.encode()))
    write("in/c.txt", english)

    assert report("in", "--formats", "text")["stats"]["skipped"] == {"binary": 2}
    found = report("in", "--formats", "gz")
    assert found["stats"]["skipped"] == {"binary": 1}
    assert {each["packing"] for each in found["groups"][0]["members"]} == {"gz", None}


def test_without_a_decoder_the_reader_is_not_installed(run, write, monkeypatch):
    write("in/a.zst", b"\x28\xb5\x2f\xfd" + bytes(20))
    monkeypatch.setattr("simdup.extract.readers.can_unpack", lambda _: False)

    ended = run("scan", "in", "--format", "json")

    (skipped,) = json.loads(ended.out)["skipped"]
    assert skipped["reason"] == "reader not installed"
    assert skipped["detail"] == "needs zstandard: pip install 'simdup[docs]'"
    assert b"1 file left out: pip install 'simdup[docs]' reads them\n" in ended.err


def test_the_forced_encoding_is_that_of_the_packed_text(report, write, simplified):
    write("in/a.gz", gzip.compress(simplified.encode("gb18030")))
    write("in/b", simplified.encode("gb18030"))

    (group,) = report("in", "--encoding", "gbk")["groups"]

    assert {each["encoding"] for each in group["members"]} == {"gb18030"}


def test_a_converter_for_the_packed_file_comes_first(report, write, english):
    write("in/a.gz", gzip.compress(english.encode()))
    write("in/b.txt", english)

    unpack = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"
    command = shlex.join([sys.executable, "-c", unpack])
    (group,) = report("in", "--convert", f"gz={command} {{}}")["groups"]

    assert {each["format"] for each in group["members"]} == {"gz", "text"}
    assert {each["packing"] for each in group["members"]} == {None}


def test_a_converter_reads_what_is_packed_on_its_standard_input_only(report, write, english):
    write("in/a.odd.gz", gzip.compress(english.upper().encode()))
    write("in/b.txt", english)

    (group,) = report("in", "--convert", "odd=tr A-Z a-z")["groups"]
    assert {(each["format"], each["packing"]) for each in group["members"]} == {
        ("odd", "gz"),
        ("text", None),
    }
    (group,) = report("in", "--convert", "odd=false {}", "--no-cache")["groups"]
    assert {(each["format"], each["packing"]) for each in group["members"]} == {
        ("text", "gz"),
        ("text", None),
    }


def test_near_copies_are_verified_from_what_is_packed(write, english):
    write("in/a.gz", gzip.compress(english.encode()))
    write("in/b.xz", lzma.compress(english.replace("grey seal", "brown bear").encode()))

    (group,) = scan("in").groups

    assert group.kind is Kind.NEAR
    assert 0.8 < group.members[1].similarity < 1


def test_an_index_knows_packed_files(run, write, english):
    write("in/a.gz", gzip.compress(english.encode()))
    write("in/b.txt", english)
    assert run("index", "build", "i.db", "in").code == 0

    ended = run("query", "i.db", "in/a.gz", "--format", "json")
    assert ended.code == 0
    matches = json.loads(ended.out)["answers"][0]["matches"]
    assert {(m["packing"], m["kind"]) for m in matches} >= {(None, "identical text")}


def test_many_small_files_that_unpack_to_much_are_fingerprinted_in_parts(write, monkeypatch):
    sizes = []
    whole = fingerprint.simhash.fingerprint_texts
    monkeypatch.setattr(
        fingerprint.simhash,
        "fingerprint_texts",
        lambda texts, *args, **more: (
            sizes.append(sum(map(len, texts))) or whole(texts, *args, **more)
        ),
    )
    for number in range(10):
        write(f"in/{number}.gz", gzip.compress(f"tea {number} ".encode() * 10_000))

    found = scan("in", Settings(limits=Limits(text_characters=100_000)))

    assert found.stats.fingerprinted == 10
    assert sum(sizes) == 600_000
    assert max(sizes) < 200_000


def test_a_saved_result_keeps_packings_and_doubts(run, write, english):
    write("in/a.gz", gzip.compress(english.encode()) + b"junk")
    write("in/b.txt", english)
    saved = run("scan", "in", "--format", "json", "-o", "r.json")
    assert saved.code == 0

    shown = run("report", "r.json")

    assert b"gz, utf-8" in shown.out
    assert b"(doubtful: data after its end)" in shown.out
    assert b"1 doubtful text: data after its end in in/a.gz" in shown.err + shown.out
    for wrong in ('"packing": "gz"', '"doubt": "data after its end"'):
        text = Path("r.json").read_text("utf-8")
        Path("w.json").write_text(text.replace(wrong, wrong.replace('": "', '": "x')), "utf-8")
        assert run("report", "w.json").code == 2
