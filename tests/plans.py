"""Plans of clean made by hand, and trees compared."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from simdup.clean.candidates import _id
from simdup.clean.checks import Reading
from simdup.clean.plan import Act, Action, Consents, FileId, Header, Plan
from simdup.clean.system import rename_at_once
from simdup.files.read import SkipError
from simdup.records import Source

#: Consent to all acts, and to identical bytes only.
ACTS = Consents(to=True, link=True, reflink=True, permanently=True)
TEXT = (
    "The harbour master kept two ledgers, one for the company and one for himself. Nobody ever saw"
    " the second.\n"
)
# The documents that `document` has read.
READ = {}


def write(**texts):
    """Write files in the current folder: `write(a=TEXT, in__b=TEXT)` writes `a` and `in/b`."""
    for name, text in texts.items():
        path = Path(name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@contextmanager
def place_of_its_own(tmp_path, number, monkeypatch, **texts):
    """A new current folder with these files, and the user's data in it, until the end."""
    place = tmp_path / f"run{number}"
    place.mkdir()
    with monkeypatch.context() as patched:
        patched.chdir(place)
        patched.setenv("XDG_DATA_HOME", str(place / "home"))
        write(**texts)
        yield patched


def reasons(outcome):
    """Why files were refused, in the order of the plan."""
    return [why for _, why in outcome.refused]


def seen(path):
    """A file as a scan sees it now."""
    folder, name = os.path.split(os.path.abspath(path))
    path = os.path.join(os.path.realpath(folder), name)
    now = os.lstat(path)
    times = now.st_mtime_ns, now.st_ctime_ns
    source = Source(path, now.st_size, *times, now.st_dev, now.st_ino)
    with suppress(SkipError):
        return replace(_id(document(source)), links=1)
    of_bytes = blake2b(Path(path).read_bytes(), digest_size=16).digest()
    return FileId(path, now.st_dev, now.st_ino, now.st_size, *times, of_bytes, of_bytes)


def document(source):
    """The document in a file; files with the same bytes and ending are read once for all tests."""
    content = Path(source.path).read_bytes(), os.path.splitext(source.path)[1]
    if content not in READ:
        with closing(Reading(None)) as reading:
            READ[content] = reading.document(source)[0]
    return READ[content]._replace(source=source)


def action(keep, file, act=Act.TRASH, line=2, group=1):
    """What happens to one file; files are named or `seen`."""
    keep, file = (each if isinstance(each, FileId) else seen(each) for each in (keep, file))
    return Action(line, group, keep, act, file, None, "of a test")


def plan(*pairs, act=Act.TRASH, roots=(".",)):
    """A plan in which the first file of each pair stays and the second goes."""
    known = {}
    files = [
        [each if isinstance(each, FileId) else known.setdefault(each, seen(each)) for each in pair]
        for pair in pairs
    ]
    actions = [action(*pair, act, line) for line, pair in enumerate(files, 2)]
    roots = tuple(map(os.path.realpath, roots))
    header = Header("2026-11-22T12:00:00+00:00", "found.json", "00" * 16, (), roots)
    return Plan(tuple(actions), (), header)


def part(patched, is_far=lambda _: True):
    """Let no rename lead from one folder into another if it `is_far`, as on other file systems."""

    def rename(source, target, *flags):
        paths = source.path, target.path
        if len({*map(os.path.dirname, paths)}) == 2 and any(map(is_far, paths)):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename_at_once(source, target, *flags)

    patched.setattr("simdup.clean.acting.rename_at_once", rename)


def tree(root, *, times=True):
    """All below a folder: names, kinds, bytes, modes, times, and which names are one file."""
    found, names = {}, {}
    for folder, folders, files in os.walk(root):
        for name in ("", *folders, *files):
            path = os.path.join(folder, name)
            now = os.lstat(path)
            what = None
            if stat.S_ISLNK(now.st_mode):
                what = os.readlink(path)
            elif stat.S_ISREG(now.st_mode):
                names.setdefault(now.st_ino, set()).add(path)
                what = Path(path).read_bytes(), names[now.st_ino]
            found[path] = (now.st_mode, what, now.st_mtime_ns if times else 0)
    return found
