"""Data with which the page of a result can write plans: exactly which file each member is.

The page decides nothing by itself. It exports a plan for `simdup clean`, which checks every line.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import cache
from typing import Any

from simdup.clean.candidates import check_result, roots_of
from simdup.clean.plan import plan_lines
from simdup.clean.protection import NOISE, OUTSIDE, is_noise
from simdup.clean.records import Header, Plan
from simdup.clean.rules import is_under
from simdup.errors import InputError
from simdup.fields import printable
from simdup.records import Document, ScanResult


def plan_fields(result: ScanResult, digest: str) -> dict[str, Any] | None:
    """The header of a plan, and the files of each group as files.js reads them.

    None if the result does not say which files it saw. `digest` names the page, in 32 hexadecimal
    digits.
    """
    try:
        check_result(result, "")
    except InputError:
        return None
    roots, folders = roots_of(result), dict[str, int]()
    header = Header(
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "",
        digest,
        (),
        roots,
        result.stats.found,
    )
    base, real = result.base or os.curdir, cache(os.path.realpath)
    files = [
        [_file(member.document, base, roots, folders, real) for member in group.members]
        for group in result.groups
    ]
    (line,) = plan_lines(Plan((), (), header))
    return {"header": json.loads(line), "folders": list(folders), "files": files, "sep": os.sep}


def _file(
    document: Document,
    base: str,
    roots: Sequence[str],
    folders: dict[str, int],
    real: Callable[[str], str],
) -> list[Any]:
    """A file as files.js reads it; numbers that a script would round are in a string.

    The last three fields say why the file can be neither kept nor dropped, why it cannot be
    dropped, and, where the path as shown differs from the real one, the bytes of the real one.
    """
    source = document.source
    folder, name = os.path.split(os.path.normpath(os.path.join(base, source.path)))
    path = os.path.join(real(folder), name)
    numbers = source.device, source.inode, source.size, source.mtime_ns, source.ctime_ns
    inside = (place for place, root in enumerate(roots) if is_under(path, root))
    place = next(inside, len(roots))
    unfit = document.untouchable or (NOISE if is_noise(path) else "")
    unfit = unfit or (OUTSIDE if place == len(roots) else "")
    return [
        folders.setdefault(printable(os.path.dirname(path)), len(folders)),
        printable(name),
        ", ".join(map(str, numbers)),
        document.bytes_digest.hex(),
        document.text_digest.hex(),
        document.words_digest.hex(),
        int(document.is_whole_text),
        " ".join(sorted(f"{each.digest} {each.kind}" for each in document.unread)),
        source.links,
        document.format,
        place,
        int(document.is_certain),
        unfit,
        "protected: --against" if source.is_reference else "",
        None if printable(path) == path else b64encode(os.fsencode(path)).decode(),
    ]
