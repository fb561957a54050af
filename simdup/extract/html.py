"""The visible text of an HTML page: its title, then its body without the frame of a site.

The markup is cut as browsers cut it (HTML Living Standard, 13.2.5, its common states). Each
character is looked at a bounded number of times, however broken the page, and no tag is matched
with another, so that nesting costs nothing. (Python's own html.parser needs six seconds for
40 KB of unclosed attributes, and different releases cut some pages differently.)

CSS and scripts, which may hide or add text, are not run. Alternative texts are left out.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import escape, unescape
from typing import NamedTuple

from simdup.extract.cleanup import TextBuilder, unless_empty, unwrapped, with_unread
from simdup.extract.frames import Frames
from simdup.extract.places import MARKED, PARTS, Places
from simdup.extract.text_formats import by_word, characters, tables
from simdup.text.encodings import xml_label

# The most names and values in a tag; anything further is taken for text, since `re` keeps some
# hundred bytes for each.
_PARTS = 1000

# A comment, a reading above characters, another declaration, or a tag, whose name may begin with a
# slash; the contents of a raw element are not markup. Markup that is not closed goes on to the
# end of the page, so that no alternative fails after it has begun, and is tried again further on.
_MARKUP = re.compile(
    rf"""
    <!--(?:-?>|.*?(?:--!?>|\Z))
  | <r[tp](?=[\s/>]).*?(?=</?r(?:t|p|b|uby)\b|\Z)
  | <[!?][^>]*>?
  | <(?P<name>
         (?P<raw>title|textarea|xmp|script|style|noscript|template|iframe|noembed|noframes
           |annotation(?:-xml)?)(?=[\s/>])
       | /?[a-z][^\s/>]*)
    (?P<attributes>(?:[^=>]+|=\s*(?:"[^"]*"|'[^']*')?){{0,{_PARTS}}}>?)
    (?(raw)(?:(?<=/>)|(?P<contents>.*?)(?:</(?P=raw)(?=[\s/>])[^>]*>?|\Z)))
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)

# The raw elements whose contents a browser with scripts shows.
_SHOWN = ("textarea", "xmp")

# Elements that begin a new line, and the cells of a table; all others stand within a line.
_TABLES = tables("html")
_BLOCKS = _TABLES.pop("blocks")
_LINE = "\v"  # a line break that is not one of the source
_GAPS = {**dict.fromkeys(_BLOCKS, _LINE), "td": " ", "th": " "}
_GAPS |= {f"/{name}": gap for name, gap in _GAPS.items()}

# Applied in this order, so that no blank is looked at twice.
_SPACES, _NEWLINES = re.compile(r"[ \t\f\r]{2,}|[\t\f\r]"), re.compile(r" ?\n[ \n]*")
# More digits than any code point has; Python takes no number of more than 4,300 digits.
_ENDLESS_REFERENCE = re.compile(r"&#(?:x[0-9a-f]{9,}|[0-9]{9,});?", re.IGNORECASE)

# Elements that say what their words mean, and declarations that do.
_MEANT = (MARKED, "formulas", "numbering")
_MEANING = re.compile(
    r"line-through|display\s*:\s*none|visibility\s*:\s*hidden|vertical-align\s*:\s*su(?:b|per)",
    re.IGNORECASE,
)
# Attributes of whose values only these count: the type of a list is one letter or digit.
_PARTLY = {"style": _MEANING, "type": re.compile(r"\A\w\Z")}
# Attributes whose values are content, and the kind of each; "on..." begins the ones with scripts.
# They are sought within a tag alone, so that a quote in running text swallows nothing.
_MEANINGS = by_word({title: _TABLES.pop(f"elements of {title}") for title in _MEANT})
_NOTED = frozenset((*_MEANINGS, *PARTS))
_KINDS = by_word(_TABLES)
_ATTRIBUTE = re.compile(
    rf"""(?<![\w:-])(?P<name>{"|".join(_KINDS)}|on[a-z]{{3,20}})\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s"'>]+)
    |(?<![\w:-])(?P<flag>checked|selected|hidden)(?=[\s/>])""",
    re.IGNORECASE | re.VERBOSE,
)
# Markup that hides text: comments, good and bad ones, and instructions for programs.
_HIDING = re.compile(r"<!(?!doctype\b)|<\?(?!xml\b)", re.IGNORECASE)
_READING = re.compile(r"<r[tp](?=[\s/>])", re.IGNORECASE)
_OF_STYLES = re.compile(r"\bcontent\s*:([^;{}]*)")

# Where a page says its encoding: in its first bytes, outside of comments.
_DECLARED_WITHIN = 1 << 13
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta\s[^<>]*?charset\s*=\s*(?:[\"']\s*)?([\w:.+-]+)", re.IGNORECASE)

# XHTML is XML: its DOCTYPE may define entities, and a CDATA section is text without markup.
_IS_XML = re.compile(r"<\?xml\b|<html\s[^>]{0,1000}xmlns\s*=", re.IGNORECASE)
_SUBSET = re.compile(r"<!doctype\s[^<>\[]{0,1000}\[", re.IGNORECASE)
_SUBSET_ENDS, _SECTION = re.compile(r"\]\s*>"), "<![CDATA["
_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]{1,100})\s+(?:\"([^\"]*)\"|'([^']*)')\s*>")


def text(data: bytes) -> str:
    r"""The title and the visible text of a page. Raises NotReadable.

    >>> text(b"<title>Tea</title><p>Warm the <b>po</b>t &amp; wait.<p>Pour.")
    'Tea\nWarm the pot & wait.\nPour.'
    """
    markup = decoded(data)
    title, body, others = page(markup, Frames(markup))
    return with_unread(unless_empty(f"{title}\n{body}"), others)


class Page(NamedTuple):
    """The title of a page and its visible text, both still to be tidied, and all else it holds."""

    title: str
    body: str
    others: list[tuple[str, bytes]]


def page(markup: str, frames: Frames | None = None) -> Page:
    """The page with this markup, without its frame if `frames` is told of its tags."""
    frames = frames or Frames("")
    title, others = _read(markup, frames)
    body, whole = "".join(frames.content()), "".join(frames.pieces)
    if body != whole:
        others.append(("page frames", whole.encode("utf-8", "surrogatepass")))
    return Page(_characters(title), _characters(body), others)


def _read(markup: str, frames: Frames) -> tuple[str, list[tuple[str, bytes]]]:
    """The title of a page and what is not visible text, the pieces of which go to `frames`."""
    titles, places, end = list[str](), Places(_unescaped), 0
    markup = markup.replace(_LINE, " ")
    for found in _MARKUP.finditer(markup):
        name, contents = (found["name"] or "").lower(), found["contents"]
        frames.pieces.append(before := markup[end : found.start()])
        places.passed(before)
        end = found.end()
        if name and contents is None:
            frames.pieces.append(_GAPS.get(name, ""))
            if (element := name.removeprefix("/")) in _NOTED:
                _note_tag(name, element, places)
            if frames.is_marked:
                frames.note(name, found["attributes"])
        elif name == "title":
            titles.append(contents)
        elif name in _SHOWN:
            frames.pieces.append(contents)
        for kind, content in _others(found, name):
            places.note(kind, content)
    frames.pieces.append(markup[end:])
    for title in titles[1:]:
        places.note("hidden text", title)
    return titles[0] if titles else "", places.noted()


def _note_tag(name: str, element: str, places: Places) -> None:
    """Note where a table, a cell, or an element begins or ends that says what its words mean."""
    if element in _MEANINGS:
        places.note(_MEANINGS[element], name)
    (places.begin if element == name else places.end)(element)


def _others(found: re.Match[str], name: str) -> Iterator[tuple[str, str]]:
    """What a piece of markup holds besides visible text and titles."""
    whole = found.group()
    if name == "style" and (words := words_of_styles(whole)):
        yield "styles", words
    if found["contents"] is not None and name not in (*_SHOWN, "title", "style"):
        yield "scripts" if name == "script" else "hidden text", whole
    elif name:
        yield from _attributes(found["attributes"])
    elif _HIDING.match(whole):
        yield "hidden text", whole
    elif _READING.match(whole):
        others = _read(_READING.sub("<p", whole, count=1), Frames(""))[1]
        yield from ((kind, content.decode("utf-8", "surrogatepass")) for kind, content in others)


def _attributes(tag: str) -> Iterator[tuple[str, str]]:
    """The attributes of a tag that are content."""
    for found in _ATTRIBUTE.finditer(tag):
        name, value = found["name"] or found["flag"], found["value"] or ""
        name, value = name.lower(), value.strip("'\"")
        part = _PARTLY.get(name)
        if part is None or (value := " ".join(part.findall(value))):
            yield _KINDS.get(name, "scripts"), value


def words_of_styles(css: str) -> str:
    """The texts that a style sheet adds to a page; all else in it is formatting."""
    hiding = (rule for rule in css.split("}") if _MEANING.search(rule))
    return "\n".join([*_OF_STYLES.findall(css), *hiding])


def decoded(data: bytes) -> str:
    """The markup as characters. Raises NotReadable for bytes other than text."""
    markup = characters(data, _label(data))
    return _of_xml(markup) if _IS_XML.search(markup, 0, _DECLARED_WITHIN) else markup


def _of_xml(markup: str) -> str:
    """An XHTML page as HTML: its own entities and CDATA sections become plain characters.

    What its DOCTYPE declares becomes a comment, and so counts as hidden text.
    """
    found = _SUBSET.search(markup, 0, _DECLARED_WITHIN)
    ends = _SUBSET_ENDS.search(markup, found.end()) if found else None
    if found and ends:
        subset = markup[found.end() : ends.start()]
        entities = {name: one or other for name, one, other in _ENTITY.findall(subset)}
        comment = f"<!--{subset.replace('--', '')}-->"
        markup = comment + _with_entities(markup[ends.end() :], entities)
    first, *sections = markup.split(_SECTION)
    return first + "".join(map(_as_text, sections))


def _as_text(section: str) -> str:
    """The markup after the beginning of a CDATA section, in which the section is plain text."""
    content, end, rest = section.partition("]]>")
    return escape(content, quote=False) + rest if end else _SECTION + section


def _with_entities(markup: str, entities: dict[str, str]) -> str:
    """The markup with these entities replaced, once. Raises NotReadable if it becomes too long."""
    text = TextBuilder()
    for index, piece in enumerate(re.split(r"&([\w.-]{1,100});", markup) if entities else [markup]):
        text.add(piece if index % 2 == 0 else entities.get(piece, f"&{piece};"))
    return str(text)


def _label(data: bytes) -> str | None:
    """The encoding a page declares, outside of comments; None if it begins with a mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    head = data[:_DECLARED_WITHIN]
    end = head.rfind(b"-->") + 3  # a comment that begins later never ends, and is not looked for
    head = _COMMENT.sub(b"", head[:end]) + head[end:]
    declared = _META.search(head)
    return xml_label(head) or (declared.group(1).decode("ascii") if declared else None)


def _characters(source: str) -> str:
    """The text of source without markup: blanks joined, references replaced."""
    unbroken = unwrapped(_NEWLINES.sub("\n", _SPACES.sub(" ", source))).replace("\n", " ")
    return _unescaped(unbroken).replace(_LINE, "\n")


def _unescaped(source: str) -> str:
    """The source with the characters that its references name."""
    return unescape(_ENDLESS_REFERENCE.sub("\ufffd", source)) if "&" in source else source
