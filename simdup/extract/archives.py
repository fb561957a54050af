"""The bytes of an archive in, its members out, within bounds. Nothing is written to disk.

Archives are zip and tar files, mailboxes, whose members are mails, and mails, whose members are
what is attached to them.

A member has the name under which an unpacking program would write it. Names that would lead out
of the archive are refused, links and devices are passed over, and of several members with one
name the last counts. An archive that has too many members, or would unpack to too much, is
refused as a whole.
"""

from __future__ import annotations

import posixpath
import stat
import struct
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO
from lzma import LZMAError
from typing import NamedTuple, TypeAlias
from zipfile import ZIP_LZMA, ZipFile, ZipInfo

from simdup.extract import packed
from simdup.extract.cleanup import NotReadable
from simdup.extract.eml import attachments
from simdup.extract.readers import check_unpacks
from simdup.extract.sniff import HEAD, SENT, ZIP, format_of, mails
from simdup.extract.zip_xml import ENCRYPTED, TROUBLE, check_members, zip_file
from simdup.text.encodings import Encoding, NotText, decode, detect

# The bytes of a header in a tar file.
_BLOCK = 512

# Some headers in a tar file only describe the member that follows. No real file has longer ones
# than this, or more in a row. Parsing takes time by the square of their length, and a nested call
# for each in a row.
_LONGEST_HEADER, _MOST_HEADERS = 1 << 16, 8
_HEADERS = {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE} | {
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}

# Where the header before a zip file's member has the lengths of its name and of an extra field,
# which follow, and where in data packed by LZMA the size of its dictionary stands.
_NAME_SIZE_AT, _DICTIONARY_AT = 26, 5

# A bit in the flags of a zip file's member: its name is UTF-8.
_IS_UTF8 = 0x800
# Other names in a zip file are in code page 437 or, against the standard, in one of these.
_OF_NAMES = {"utf-8", "gb18030", "big5", "big5hkscs", "shift_jis", "euc-kr", "euc-jp"}


class Member(NamedTuple):
    """A file in an archive.

    name: With slashes, relative, and without "..", unless there is trouble.
    size: Its bytes when unpacked, as the archive says.
    unpack: Returns its bytes.
    trouble: Why it cannot be read; "" if it may.
    """

    name: str
    size: int
    unpack: Callable[[], bytes]
    trouble: str = ""

    def read(self) -> bytes:
        """The bytes of a member without trouble. Raises NotReadable."""
        try:
            return self.unpack()
        except (LZMAError, RuntimeError, *TROUBLE):
            raise NotReadable("damaged member of an archive") from None


#: The members of an archive by their names.
Archive: TypeAlias = dict[str, Member]


def is_archive(head: bytes) -> bool:
    """Whether a file with this beginning may be an archive; documents may begin like zip files."""
    if head.startswith(b"From "):
        return format_of(head[:HEAD], "") == "mbox"
    return head.startswith(ZIP) or bool(_header(head) or _header(_unpacked_head(head)))


def opened(data: bytes, name: str = "") -> Archive:
    """The archive in a file of this name, which must be all of its content. Raises NotReadable."""
    if data.startswith(ZIP):
        return _zip(data)
    if is_mail(data, name):
        return _checked(_attached(data), data)
    if SENT.match(data):
        return _mailbox(data)
    if packing := packed.packing_of(data):
        check_unpacks(packing)
        try:
            return _tar(b"".join(packed.unpacked(iter((data,)), packing, len(data))))
        except packed.JunkError:
            raise NotReadable("data after its end") from None
    return _tar(data)


def is_mail(head: bytes, name: str) -> bool:
    """Whether a file with this beginning is a mail, which is a document beside its members."""
    return format_of(head[:HEAD], name) == "eml"


def _attached(data: bytes, folder: str = "") -> Iterator[Member]:
    """What is attached to a mail; of several parts with one name the later ones have numbers."""
    names = Counter[str]()
    for path, content in attachments(data):
        name = posixpath.basename(path.replace("\\", "/"))
        names[name] += 1
        number = f"{names[name]}/" if names[name] > 1 else ""
        yield Member(f"{folder}{number}{name}", len(content), partial(bytes, content))


def _header(data: bytes) -> tarfile.TarInfo | None:
    """The header of a member of a tar file that begins here; None if there is none."""
    try:
        return tarfile.TarInfo.frombuf(data[:_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None


def _unpacked_head(head: bytes) -> bytes:
    """The first bytes of packed data, unpacked; empty if it is not packed or cannot be unpacked."""
    packing = packed.packing_of(head)
    with suppress(NotReadable, packed.JunkError, ImportError):
        if packing:
            parts = packed.unpacked(iter((head,)), packing, len(head))
            return next(packed.in_blocks(parts, _BLOCK))
    return b""


def _zip(data: bytes) -> Archive:
    file = zip_file(data)
    infos = file.infolist()
    members = (
        Member(name, info.file_size, partial(_read_zipped, data, file, info), _trouble_of_zip(info))
        for name, info in zip(_zip_names(infos), infos, strict=True)
        if not name.endswith("/")
    )
    return _checked(members, data)


def _read_zipped(data: bytes, file: ZipFile, info: ZipInfo) -> bytes:
    """The bytes of a member, read in pieces, to unpack little more than its stated size."""
    if info.compress_type == ZIP_LZMA:
        _check_dictionary(data, info)
    with file.open(info) as member:
        return b"".join(iter(partial(member.read, packed.PIECE), b""))


def _check_dictionary(data: bytes, info: ZipInfo) -> None:
    """Raise NotReadable if unpacking a member by LZMA would take more memory than WINDOW."""
    name, extra = struct.unpack_from("<HH", data, info.header_offset + _NAME_SIZE_AT)
    at = info.header_offset + _NAME_SIZE_AT + 4 + name + extra
    (size,) = struct.unpack_from("<I", data, at + _DICTIONARY_AT)
    if size > packed.WINDOW:
        raise NotReadable("takes too much memory to unpack")


def _trouble_of_zip(info: ZipInfo) -> str:
    if info.flag_bits & ENCRYPTED:
        return "encrypted"
    mode = info.external_attr >> 16
    return "" if stat.S_IFMT(mode) in {0, stat.S_IFREG} else "no regular file"


def _zip_names(infos: list[ZipInfo]) -> Iterator[str]:
    """The names of members, in normal form.

    Programs on Chinese Windows write names in GBK without saying so, which `zipfile` reads as the
    code page 437 of DOS.
    """
    raw = [None if each.flag_bits & _IS_UTF8 else _as_written(each.filename) for each in infos]
    encoding = _encoding_of_names(b"\n".join(filter(None, raw)))
    for info, name in zip(infos, raw, strict=True):
        read = info.filename if name is None or encoding is None else decode(name, encoding)
        yield _plain(read.replace("\\", "/"))


def _as_written(name: str) -> bytes | None:
    """The bytes of a name that was read as code page 437; None if it was not."""
    try:
        return name.encode("cp437")
    except UnicodeEncodeError:
        return None


def _encoding_of_names(names: bytes) -> Encoding | None:
    """UTF-8 or an East Asian encoding, if the names are in it; else None."""
    found = detect(names)
    return None if isinstance(found, NotText) or found.name not in _OF_NAMES else found


def _mailbox(data: bytes) -> Archive:
    places = mails(data)
    check_members(len(places))
    members = list[Member]()
    for number, place in enumerate(places, 1):
        name = f"{number:05}.eml"
        members.append(_of_slice(data, name, place))
        with suppress(NotReadable):  # the mail itself says why
            members += _attached(data[place], f"{name}/")
    return _checked(members, data)


def _of_slice(data: bytes, name: str, place: slice, trouble: str = "") -> Member:
    """A member whose bytes are stored as they are."""
    return Member(name, place.stop - place.start, lambda: data[place], trouble)


def _tar(data: bytes) -> Archive:
    _check_headers(data)
    found = list[Member]()
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r:") as file:
            for number, info in enumerate(file, 1):
                check_members(number)
                place = slice(info.offset_data, info.offset_data + info.size)
                if not info.isdir():
                    found.append(_of_slice(data, _plain(info.name), place, _trouble_of_tar(info)))
    except (tarfile.TarError, RecursionError, *TROUBLE):
        raise NotReadable("damaged tar file") from None
    return _checked(found, data)


def _check_headers(data: bytes) -> None:
    """Raise NotReadable for headers of a tar file that would keep `tarfile` busy."""
    at = in_row = 0
    while at < len(data):
        header = _header(data[at : at + _BLOCK])
        if header is None:
            return  # where `tarfile` ends too
        in_row = in_row + 1 if header.type in _HEADERS else 0
        is_long = header.type in _HEADERS and header.size > _LONGEST_HEADER
        if is_long or in_row > _MOST_HEADERS or header.type == tarfile.GNUTYPE_SPARSE:
            raise NotReadable("unusual headers in a tar file")
        if header.size < 0:
            return
        has_data = header.isreg() or header.type in _HEADERS
        at += _BLOCK + (-(-header.size // _BLOCK) * _BLOCK if has_data else 0)


def _trouble_of_tar(info: tarfile.TarInfo) -> str:
    if info.issparse():
        return "sparse file"
    return "" if info.isreg() else "no regular file"


def _plain(name: str) -> str:
    """A member's name in normal form, relative to where it is unpacked; folders keep their "/"."""
    end = "/" if name.endswith("/") else ""
    return posixpath.normpath(name.lstrip("/")) + end


def _checked(members: Iterable[Member], data: bytes) -> Archive:
    """The members; a hostile name is trouble. Raises NotReadable if they unpack to too much."""
    trouble = "its name leads out of the archive"
    found = {
        each.name: each._replace(trouble=trouble) if _is_hostile(each.name) else each
        for each in members
    }
    if sum(each.size for each in found.values() if not each.trouble) > packed.allowance(len(data)):
        raise NotReadable("unpacks to too much")
    return found


def _is_hostile(name: str) -> bool:
    return name in {"", ".", ".."} or name.startswith(("../", "/")) or "\0" in name
