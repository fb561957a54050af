"""What reports of the program hold: the JSON of scans, and pages."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path


def grouped(found):
    """The paths of each group, the representative first."""
    return [[member["path"] for member in group["members"]] for group in found["groups"]]


def reasons(found):
    """Why each path was skipped."""
    return {each["path"]: each["reason"] for each in found["skipped"]}


def raw(member):
    """The very bytes of a member's name."""
    if "path_base64" in member:
        return b64decode(member["path_base64"])
    return member["path"].encode()


class Scripts(HTMLParser):
    """The scripts and styles as a browser would see them, by id or tag; and all attributes."""

    def __init__(self, page):
        super().__init__(convert_charrefs=False)
        self.found, self.attributes, self._name = {}, [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        self._name = dict(attributes).get("id", tag) if tag in {"script", "style"} else None

    def handle_data(self, data):
        if self._name:
            self.found[self._name] = self.found.get(self._name, "") + data

    def handle_endtag(self, _tag):
        self._name = None


def scripts(path="p.html"):
    """The scripts and styles of a page in a file."""
    return Scripts(Path(path).read_text("utf-8")).found


def data_in(path="p.html"):
    """The data of a page in a file."""
    return json.loads(scripts(path)["data"])


def texts_in(found, number=1):
    """The texts of a group, from the scripts of its page."""
    return json.loads(zlib.decompress(b64decode(found[f"texts-{number}"])))


def texts(number=1):
    """The texts of a group of the page that was written last."""
    return texts_in(scripts(), number)
