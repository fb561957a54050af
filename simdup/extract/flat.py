"""Documents in one file of XML in, the same documents as zip files out.

Flat OpenDocument (FODT, FODS, FODP) has all parts below one root, and flat OPC (Word's "XML
document") the members of a package one after another. Their parts are cut out by their tags, since
readers of packages go by names without namespaces.
"""

from __future__ import annotations

import re
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Iterator
from io import BytesIO
from zipfile import ZipFile

from simdup.extract.cleanup import NotReadable
from simdup.extract.text_formats import characters
from simdup.text.encodings import xml_label

# A part of a package: its name, and XML or bytes.
_PART = re.compile(
    r"""<(?:\w+:)?part\s[^>]*?name=["']/?([^"'>]+)["'][^>]*>\s*"""
    r"<(?:\w+:)?(xml|binary)Data\b[^>]*>(.*?)</(?:\w+:)?\2Data>",
    re.DOTALL,
)
# Elements of an OpenDocument file that stand in other members than the content.
_MEMBERS = {"meta": "meta.xml", "settings": "settings.xml"} | dict.fromkeys(
    ("styles", "master-styles"), "styles.xml"
)
_ELEMENT = re.compile(rf"<office:({'|'.join(_MEMBERS)})\b[^>]*>.*?</office:\1>", re.DOTALL)


# The encoding, which is UTF-8 in the members.
_DECLARED = re.compile(r"<\?xml\b[^>]*>")


def zipped(data: bytes) -> bytes:
    """A zip file with the members of a document in one file of XML. Raises NotReadable."""
    text, out = characters(data, xml_label(data)), BytesIO()
    with ZipFile(out, "w") as file:
        for name, content in _members(text):
            file.writestr(name, content)
    return out.getvalue()


def _members(text: str) -> Iterator[tuple[str, str | bytes]]:
    """The names and contents of the members."""
    if parts := _PART.findall(text):
        for name, kind, content in parts:
            try:
                yield name, content if kind == "xml" else a2b_base64(content)
            except NotBase64:
                raise NotReadable(f"damaged: {name}") from None
        return
    members = dict.fromkeys(_MEMBERS.values(), "")
    for element in _ELEMENT.finditer(text):
        members[_MEMBERS[element[1]]] += element[0]
    yield from ((name, f"<a>{content}</a>") for name, content in members.items() if content)
    yield "content.xml", _DECLARED.sub("", _ELEMENT.sub("", text), count=1)
