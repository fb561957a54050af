"""Members of archives are documents of their own, and no archive does any harm."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from base64 import b64encode
from contextlib import suppress
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from time import process_time

import makers
import pytest
from patience import patient

from simdup.extract import packed, zip_xml
from simdup.extract.archives import is_archive, opened
from simdup.extract.cleanup import NotReadable
from simdup.files import read
from simdup.files import scan as scanning
from simdup.files.scan import scan
from simdup.report.load import load


@pytest.fixture
def scanned(report):
    return partial(report, "in", "--archives")


def skips(found):
    return {each["path"].removeprefix("in/"): each["detail"] for each in found["skipped"]}


def names(found):
    return [{m["path"].removeprefix("in/") for m in group["members"]} for group in found["groups"]]


PACK = {
    "a.tar": bytes,
    "a.tar.gz": gzip.compress,
    "a.tgz": gzip.compress,
    "a.tar.bz2": bz2.compress,
    "a.tar.xz": lzma.compress,
    "named otherwise": gzip.compress,
}


@pytest.mark.parametrize("name", PACK)
def test_members_of_a_tar_file_are_documents(scanned, write, english, simplified, name):
    tar = makers.tar({"b.txt": english, "d/c.txt": simplified.encode("gb18030")})
    write(f"in/{name}", PACK[name](tar))
    write("in/b.txt", english)
    write("in/c.txt", simplified)

    found = scanned()

    assert {*map(frozenset, names(found))} == {
        frozenset({"b.txt", f"{name}!/b.txt"}),
        frozenset({"c.txt", f"{name}!/d/c.txt"}),
    }
    assert {group["kind"] for group in found["groups"]} == {"identical bytes", "identical text"}
    assert skips(found) == {name: "2 members"}


def test_members_of_a_zip_file_are_documents_packed_or_not(scanned, write, english):
    members = [
        ("d/", ""),
        ("d/b.txt", english),
        ("e.html", makers.html_page(english)),
        ("f.txt.gz", gzip.compress(english.encode())),
    ]
    write("in/a.zip", makers.zipped(members))

    found = scanned()

    (group,) = found["groups"]
    assert {(m["path"], m["archive"], m["format"], m["packing"]) for m in group["members"]} == {
        ("in/a.zip!/d/b.txt", "in/a.zip", "text", None),
        ("in/a.zip!/e.html", "in/a.zip", "html", None),
        ("in/a.zip!/f.txt.gz", "in/a.zip", "text", "gz"),
    }
    assert skips(found) == {"a.zip": "3 members"}
    assert found["stats"]["skipped"] == {"unpacked archive": 1}


def test_an_archive_of_a_folder_and_the_folder_are_a_pair(run, write, english):
    for number in range(3):
        write(f"in/a/{number}.txt", f"{english} {number}")
    members = [(f"{number}.txt", f"{english} {number}") for number in range(3)]
    write("in/a.zip", makers.zipped(members))

    shown = run("scan", "in", "--archives").out

    assert b"in/a.zip is a full copy of in/a: 3 of 3 files\n" in shown


def test_an_archive_with_one_member_says_so(scanned, write, english):
    write("in/a.zip", makers.zipped([("b.txt", english)]))

    assert skips(scanned()) == {"a.zip": "1 member"}


def test_without_the_option_an_archive_is_binary(report, write, english):
    write("in/a.zip", makers.zipped([("b.txt", english)]))
    write("in/b.txt", english)

    found = report("in")

    assert found["groups"] == []
    assert found["stats"]["skipped"] == {"binary": 1}


def test_a_document_is_no_archive(scanned, write, english):
    write("in/a.docx", makers.docx(english))
    write("in/b.epub", makers.ebooklib_epub(english))
    write("in/c.odt.gz", gzip.compress(makers.odt(english)))

    found = scanned()

    assert names(found) == [{"a.docx", "b.epub", "c.odt.gz"}]
    assert found["skipped"] == []


def test_a_member_is_never_acted_on_and_stands_for_no_file(write, english):
    path = write("in/a.zip", makers.zipped([("b.txt", english)]))
    os.utime(path, (1, 1))
    write("in/b.txt", english)

    (group,) = scan("in", archives=True).groups

    first, second = (member.document for member in group.members)
    assert (first.path, first.is_member, first.untouchable) == ("in/b.txt", False, None)
    assert (second.is_member, second.untouchable) == (True, "member of an archive")
    assert second.source.archive.path == "in/a.zip"


def test_a_member_is_no_space_to_be_freed(run, write, english):
    write("in/a.zip", makers.zipped([("b.txt", english)]))
    write("in/b.txt", english)

    assert b"can be removed" not in run("scan", "in", "--archives").err


def test_a_saved_result_knows_members(run, write, english):
    write("in/a.zip", makers.zipped([("b.txt", english)]))
    write("in/b.txt", english)
    saved = run("scan", "in", "--archives", "--format", "json", "-o", "r.json")
    assert saved.code == 0

    assert b"in/a.zip!/b.txt" in run("report", "r.json").out
    (group,) = load(Path("r.json").read_bytes(), "r.json").groups
    assert {each.document.untouchable for each in group.members} == {None, "member of an archive"}


def test_near_members_are_verified_and_shown_on_the_page(run, write, english):
    other = english.replace("grey seal", "brown bear")
    write("in/a.tar.gz", gzip.compress(makers.tar({"b.txt": english, "c.txt": other})))

    ended = run("scan", "in", "--archives", "--html", "page.html")

    assert b" near" in run("scan", "in", "--archives", "--format", "csv").out.replace(b",", b" ")
    assert ended.code == 0
    assert b"% in the kept file" in ended.out


def test_members_are_remembered_as_long_as_the_archive_is_as_it_was(scanned, write, english):
    members = [("c.txt", "tea at four"), ("d/b.txt", english), ("a.txt", "cake at five")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("simdup.storage.status.SETTLED_NS", -(10**18))
        write("in/a.zip", makers.zipped(members))
        first = scanned()
        for _ in range(2):
            again = scanned()
            assert again["stats"]["from_store"] == 3
            assert again["skipped"] == first["skipped"]
        write("in/a.zip", makers.zipped([*members, ("e.txt", english)]))
        changed = scanned()

    assert changed["stats"]["from_store"] == 0
    assert names(changed) == [{"a.zip!/d/b.txt", "a.zip!/e.txt"}]


@pytest.mark.slow
def test_workers_read_members_too(write, english):
    write("in/a.zip", makers.zipped([(f"{n}.txt", f"{english} {n}") for n in range(20)]))

    assert scan("in", archives=True, jobs=2).stats.fingerprinted == 20


def test_the_memory_of_an_archive_is_freed(write, english):
    write("in/a.zip", makers.zipped([("b.txt", english)]))

    scan("in", archives=True)

    assert read.archive_in.cache_info().currsize == 0


# --- names ---


def test_names_in_gbk_are_read_as_such(english):
    name, letter = "说明书.txt", "读者来信.txt"
    data = makers.zipped([("X" * 10, english), ("Y" * 12, english)])
    for ascii_, chinese in (("X" * 10, name), ("Y" * 12, letter)):
        data = data.replace(ascii_.encode(), chinese.encode("gbk"))

    assert [*opened(data)] == [name, letter]
    assert opened(data)[name].read() == english.encode()


@pytest.mark.parametrize("name", ["naïve.txt", "茶/茶.txt", "Straße.txt"])
def test_other_names_stay_as_they_are(name):
    assert [*opened(makers.zipped([(name, "tea")]))] == [name]
    assert [*opened(makers.tar({name: "tea"}))] == [name]


def test_names_of_no_encoding_are_read_as_by_an_unpacking_program(scanned, write):
    info = tarfile.TarInfo(os.fsdecode(b"caf\xe9.txt"))
    info.size = 3
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as file:
        file.addfile(info, io.BytesIO(b"tea"))
    write("in/a.tar", out.getvalue())

    (name,) = [*opened(out.getvalue())]
    assert os.fsencode(name) == b"caf\xe9.txt"
    assert scanned()["stats"]["fingerprinted"] == 1


HOSTILE = ["../b.txt", "d/../../b.txt", "..", "/../b.txt", "..\\b.txt"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_leads_out_of_the_archive_is_refused(scanned, write, english, name):
    write("in/a.zip", makers.zipped([(name, english), ("good.txt", english)]))
    write("in/a.tar", makers.tar({name.replace("\\", "/"): english, "good.txt": english}))

    found = scanned()

    assert names(found) == [{"a.zip!/good.txt", "a.tar!/good.txt"}]
    assert list(skips(found).values()).count("its name leads out of the archive") == 2


def test_an_absolute_name_is_read_as_relative():
    data = makers.tar({"/etc/passwd": "tea"})

    assert [*opened(data)] == ["etc/passwd"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("make", [makers.zipped, makers.tar])
def test_of_several_members_with_one_name_the_last_counts(make):
    archive = opened(make([("a.txt", "old"), ("b.txt", "tea"), ("./a.txt", "newest")]))

    assert sorted((each.name, each.size) for each in archive.values()) == [
        ("a.txt", 6),
        ("b.txt", 3),
    ]
    assert archive["a.txt"].read() == b"newest"


# --- what must not get through ---


def special(kind, name="x"):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def test_links_and_devices_are_passed_over(scanned, write, english):
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
    members = {f"x{number}": special(kind, f"x{number}") for number, kind in enumerate(kinds)}
    write("in/a.tar", makers.tar({**members, "b.txt": english}))
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    write("in/a.zip", makers.zipped([(link, "/etc/passwd"), ("b.txt", english)]))

    found = scanned()

    assert names(found) == [{"a.tar!/b.txt", "a.zip!/b.txt"}]
    assert list(skips(found).values()).count("no regular file") == 5


def test_an_encrypted_member_is_listed(scanned, write, english):
    data = bytearray(
        makers.zipped([("b.txt", english), ("c.txt", "tea")], method=zipfile.ZIP_STORED)
    )
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(sign) + flags] |= 1
    write("in/a.zip", bytes(data))

    assert skips(scanned()) == {"a.zip": "2 members", "a.zip!/b.txt": "encrypted"}


def test_an_archive_within_an_archive_is_not_opened(scanned, write, english):
    inner = makers.zipped([("b.txt", english)])
    tar = gzip.compress(makers.tar({"b.txt": english}))
    write("in/a.zip", makers.zipped([("inner.zip", inner), ("inner.tar.gz", tar)]))

    assert skips(scanned()) == {
        "a.zip": "2 members",
        "a.zip!/inner.zip": "ZIP",
        "a.zip!/inner.tar.gz": "gz, tar",
    }


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_is_refused_before_it_is_unpacked(scanned, write, monkeypatch, method):
    monkeypatch.setattr(packed, "LITTLE", 1 << 20)
    monkeypatch.setattr(packed, "RATIO", 5)
    write(
        "in/a.zip", makers.zipped([(f"{n}.txt", b"a" * 600_000) for n in range(2)], method=method)
    )
    write("in/b.tar.gz", gzip.compress(makers.tar({"a.txt": "a" * 2_000_000})))

    assert skips(scanned()) == {"a.zip": "unpacks to too much", "b.tar.gz": "unpacks to too much"}


def test_a_member_packed_by_lzma_may_not_ask_for_much_memory():
    data = makers.zipped([("a.txt", b"tea")], method=zipfile.ZIP_LZMA)
    greedy = data.replace((1 << 23).to_bytes(4, "little"), (1 << 30).to_bytes(4, "little"))

    assert opened(data)["a.txt"].read() == b"tea"
    with pytest.raises(NotReadable, match=r"^takes too much memory to unpack$"):
        opened(greedy)["a.txt"].read()


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_lies_about_its_size_is_damaged(method):
    data = makers.zipped([("a.txt", b"a" * 50_000_000)], method=method)
    lie = data.replace((50_000_000).to_bytes(4, "little"), (99).to_bytes(4, "little"))
    began = process_time()

    (member,) = opened(lie).values()
    assert (member.name, member.size) == ("a.txt", 99)
    with pytest.raises(NotReadable, match="damaged member"):
        member.read()
    assert process_time() - began < patient(3)


def test_too_many_members_are_too_many(monkeypatch):
    monkeypatch.setattr(zip_xml, "MOST_MEMBERS", 10)
    members = [(f"{n}.txt", "tea") for n in range(11)]

    for data in (makers.zipped(members), makers.tar(members)):
        with pytest.raises(NotReadable, match=r"^more than 10 members$"):
            opened(data)
    assert len(opened(makers.zipped(members[:10]))) == 10
    assert len(opened(makers.tar(members[:10]))) == 10


def test_an_archive_larger_than_a_document_may_be_is_not_opened(scanned, write, limited):
    limited(document_bytes=99)
    write("in/a.zip", makers.zipped([("b.txt", "tea at four" * 50)]))

    assert skips(scanned()) == {"a.zip": "larger than 99 bytes"}


def pax(size, body=b"", kind=tarfile.XHDTYPE):
    info = tarfile.TarInfo("pax")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize(
    "data",
    [
        pax(0) * 5000 + makers.tar({"a.txt": "tea"}),
        pax(1 << 17, b" " * (1 << 17)) + makers.tar({"a.txt": "tea"}),
        pax(9, kind=tarfile.GNUTYPE_SPARSE) + makers.tar({"a.txt": "tea"}),
    ],
    ids=["a row of headers", "a long header", "sparse"],
)
def test_unusual_headers_of_a_tar_file_are_refused(data):
    with pytest.raises(NotReadable, match=r"^unusual headers in a tar file$"):
        opened(data)


def test_any_damage_to_an_archive_is_no_error(english):
    for data in (
        makers.zipped([("a.txt", english[:99]), ("b.txt", "tea")]),
        makers.tar({"a": "tea"}),
    ):
        for place in range(min(len(data), 1200)):
            for hurt in (data[:place], data[:place] + b"\xff" + data[place + 1 :]):
                is_archive(hurt)
                with suppress(NotReadable):
                    archive = opened(hurt)
                    for member in archive.values():
                        with suppress(NotReadable):
                            member.read()


def test_an_archive_that_changes_meanwhile_is_skipped(write, english, monkeypatch):
    path = write("in/a.zip", makers.zipped([("b.txt", english)]))
    real = scanning.fingerprint_all

    def after_a_change(*args):
        read.forget_archive()
        Path(path).write_bytes(makers.zipped([("b.txt", "other")]))
        return real(*args)

    monkeypatch.setattr(scanning, "fingerprint_all", after_a_change)

    assert [each.reason.value for each in scan("in", archives=True).skipped] == [
        "unpacked archive",
        "changed while read",
    ]


def test_damaged_archives_say_so(scanned, write, english):
    write("in/a.zip", makers.zipped([("b.txt", english)])[:-30])
    write("in/b.tar", makers.tar({"b.txt": english})[:900])
    write("in/c.tar.gz", gzip.compress(makers.tar({"b.txt": english}))[:-9])
    write("in/d.tar.gz", gzip.compress(makers.tar({"b.txt": english})) + b"junk")

    assert skips(scanned()) == {
        "a.zip": "damaged zip file",
        "b.tar": "damaged tar file",
        "c.tar.gz": "damaged gzip file: it ends inside the packed content",
        "d.tar.gz": "data after its end",
    }


# --- mailboxes ---


def test_each_mail_in_a_mailbox_is_a_document_that_nobody_acts_on(scanned, write, english):
    story, other = english.replace("\n\n", "\n"), "Something else. " * 40
    write("in/a.mbox", makers.mbox(f"{other}\n\n{story}"))
    write("in/b.txt", story)
    write("in/c.txt", "From Paris, 12:30\n\nDear Ann,\n")

    found = scanned()

    formats = {
        each["path"]: each["format"] for group in found["groups"] for each in group["members"]
    }
    assert formats == {
        "in/b.txt": "text",
        "in/a.mbox!/00002.eml": "eml",
        **{f"in/a.mbox!/0000{n}.eml/notes.txt": "text" for n in (1, 2)},
    }
    assert found["stats"]["skipped"] == {"unpacked archive": 1}
    assert found["stats"]["fingerprinted"] == 6  # each mail has notes attached to it


# --- mails ---


@pytest.mark.parametrize("make", [lambda mail: mail, lambda mail: b"%d\n" % len(mail) + mail])
def test_what_is_attached_to_a_mail_is_a_document_beside_it(scanned, write, english, make):
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.org", "The contract"
    message.set_content("Here it is.")
    letter = makers.docx(english)
    for name in ("contract.docx", "../contract.docx", "中文.docx"):
        message.add_attachment(letter, maintype="application", subtype="msword", filename=name)
    write("in/mail.eml", make(message.as_bytes()))
    write("in/contract.docx", letter)

    found = scanned()

    inside = ("contract.docx", "2/contract.docx", "中文.docx")
    assert names(found) == [{"contract.docx", *(f"mail.eml!/{name}" for name in inside)}]
    assert found["stats"]["fingerprinted"] == 5
    assert not found["skipped"]


def test_what_is_attached_to_a_mail_in_a_mailbox_is_a_document(scanned, write, english):
    write("in/a.mbox", makers.mbox("one\n\ntwo").replace(b"dW5zZWVu", b64encode(english.encode())))
    write("in/b.txt", english)

    [group] = names(scanned())

    assert group == {"b.txt", "a.mbox!/00001.eml/notes.txt", "a.mbox!/00002.eml/notes.txt"}


def test_a_mail_with_too_many_parts_is_only_a_mail(scanned, write, english):
    head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    write("in/a.eml", head + "--b\n" * 2000 + "boundary=" * 200)
    write("in/b.eml", makers.eml(english))

    found = scanned()

    assert skips(found) == {"a.eml": "more than 1,000 parts"}
    assert found["stats"]["fingerprinted"] == 2


def test_a_mailbox_of_too_many_mails_is_not_opened(monkeypatch):
    monkeypatch.setattr(zip_xml, "MOST_MEMBERS", 2)
    data = makers.mbox("a\n\nb\n\nc")

    assert is_archive(data)
    with pytest.raises(NotReadable, match=r"^more than 2 members$"):
        opened(data)


@pytest.mark.parametrize("data", [b"From here on: a\n", b"From a@b 1 Jan 10:00\nwords\n", b"From"])
def test_a_text_that_begins_like_a_mailbox_is_no_archive(data):
    assert not is_archive(data)
