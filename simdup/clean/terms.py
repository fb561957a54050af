"""Under which consents one file may be removed for another one: decided here, and nowhere else.

    what is known of both files, and how alike they are  ->  the consents needed, or a refusal

`clean` asks when it plans and when it acts. The page of a result looks its answers up in a table.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from simdup.clean.plan import Act, Action, Consents
from simdup.clean.refusals import Consent, Refusal, Why
from simdup.findings.exports import is_for_print
from simdup.records import DIFFERENCES, Document, Kind

# Of what texts with the same words differ in, this may change what they say.
_OF_MEANING = DIFFERENCES[0], DIFFERENCES[3]

# From the consent that asks the least to the one that asks the most.
_ORDER = (Consent.TEXT, Consent.FORMATS, Consent.NEWEST, Consent.NEAR, Consent.HAND)


class Alike(IntEnum):
    """How much of two files is the same.

    FOLDED: The same words; the signs or the variants of characters differ.
    """

    BYTES = 0
    TEXT = 1
    WORDS = 2
    FOLDED = 3
    OTHER = 4


class Sort(NamedTuple):
    """What decides about a file, whatever the other one is.

    is_text: Whether no reader extracted its text.
    is_newest: Whether it has the newest version of a chain.
    is_related: Whether the scan found it only related to the first of its group.
    """

    is_certain: bool = True
    is_plain: bool = True
    is_text: bool = True
    is_short: bool = False
    is_for_print: bool = False
    is_newest: bool = False
    is_related: bool = False


class Terms(NamedTuple):
    """The consents under which a file may be removed for another one, or why it may not."""

    kind: Kind
    needs: tuple[Consent, ...] = ()
    refusal: Refusal | None = None

    @property
    def order(self) -> tuple[bool, ...]:
        """Sorts terms: those that ask for less come first, refusals last."""
        return self.refusal is not None, *(consent in self.needs for consent in reversed(_ORDER))

    def lacking(self, consents: Consents, act: Act = Act.TRASH) -> Refusal | None:
        """Why the file is kept with these consents; None if it may be removed."""
        if act.is_of_bytes and self.kind is not Kind.IDENTICAL_BYTES:
            return Refusal.BYTES_ONLY
        lacks = {consent for consent in self.needs if consents.lack(consent)}
        if self.refusal or not lacks:
            return self.refusal
        if Consent.NEWEST in lacks:
            return Refusal.NEWEST
        if Consent.HAND in lacks:
            return Refusal.ORIGINAL
        if Consent.NEAR in lacks:
            return Refusal.NEAR_FORMATS if Consent.FORMATS in lacks else Refusal.NEAR
        return Refusal.TEXT if Consent.TEXT in lacks else _OF_FORMATS[self.kind]


# Why a file is kept for lack of --formats-too alone.
_OF_FORMATS = {
    Kind.IDENTICAL_TEXT: Refusal.PACKED,
    Kind.SAME_WORDS: Refusal.WORDS,
    Kind.NEAR: Refusal.NEAR_DOCUMENT,
}


@lru_cache(1 << 12)
def terms(file: Sort, keep: Sort, alike: Alike, *, has_other_content: bool) -> Terms:
    """The terms under which a file may be removed for one that is kept.

    `has_other_content` says that the two hold other content besides their texts.
    """
    if alike is Alike.BYTES:
        return Terms(Kind.IDENTICAL_BYTES)
    if not (file.is_certain and keep.is_certain):
        return Terms(_KINDS[alike], refusal=Refusal.UNCERTAIN)
    formats = (Consent.FORMATS,) * (not (file.is_plain and keep.is_plain))
    if alike is Alike.TEXT:
        return Terms(Kind.IDENTICAL_TEXT, formats or (Consent.TEXT,))
    newest = (Consent.NEWEST,) * (file.is_newest and not keep.is_newest)
    hand = (Consent.HAND,) * (keep.is_for_print and not file.is_for_print)
    # The layout of code has a meaning, so two texts with the same words are only near.
    if alike is Alike.WORDS and not (file.is_text and keep.is_text):
        refusal = Refusal.OTHER_CONTENT if has_other_content else None
        return _refused(Terms(Kind.SAME_WORDS, (Consent.FORMATS, *newest, *hand)), refusal)
    is_older = keep.is_newest and not file.is_newest
    near = Terms(Kind.NEAR, (*formats, *newest, Consent.NEAR, *hand * (not is_older)))
    return _refused(near, _near_refusal(file, keep, alike, has_other_content=has_other_content))


def _refused(asked: Terms, refusal: Refusal | None) -> Terms:
    """Terms of which nothing but a refusal is left, if there is one."""
    return asked._replace(needs=(), refusal=refusal) if refusal else asked


# What each of `Alike` is called where nothing else decides.
_KINDS = Kind.IDENTICAL_BYTES, Kind.IDENTICAL_TEXT, Kind.SAME_WORDS, Kind.NEAR, Kind.NEAR


def _near_refusal(
    file: Sort, keep: Sort, alike: Alike, *, has_other_content: bool
) -> Refusal | None:
    """Why no consent lets a file be removed for a near one; None if one does."""
    if alike is not Alike.WORDS and (file.is_related or keep.is_related):
        return Refusal.RELATED
    if has_other_content or alike is Alike.FOLDED:
        return Refusal.NEAR_OTHER_CONTENT
    return Refusal.SHORT if file.is_short or keep.is_short else None


def sort_of(document: Document, *, is_newest: bool = False, is_related: bool = False) -> Sort:
    """What decides about a document, whatever the other one is."""
    return Sort(
        document.is_certain,
        document.is_plain,
        document.format == "text",
        document.is_short,
        is_for_print(document),
        is_newest,
        is_related,
    )


def alike_of(file: Document, keep: Document) -> Alike:
    """How much of two documents is the same."""
    kind = file.kind_with(keep)
    if kind is not Kind.NEAR:
        return Alike(_KINDS.index(kind))
    is_of_meaning = any(name in _OF_MEANING for name in file.other_signs(keep))
    return Alike.FOLDED if is_of_meaning else Alike.OTHER


def folded_of(document: Document) -> tuple[bytes, bytes]:
    """What two documents share that are not FOLDED, and what they share if they are."""
    words = document.words_digest
    places = (16 + 4 * DIFFERENCES.index(name) for name in _OF_MEANING)
    folded = words[:16] + bytes(len(words))
    return folded + b"".join(words[at : at + 4] for at in places), folded


def detail(refusal: Refusal, file: Document, keep: Document) -> Why:
    """A refusal with what the two documents differ in, if that is the reason."""
    names: list[str] = []
    if refusal is Refusal.NEAR and file.kind_with(keep) is Kind.SAME_WORDS:
        return Why(Refusal.LAYOUT)
    if refusal in {Refusal.OTHER_CONTENT, Refusal.NEAR_OTHER_CONTENT}:
        signs = file.other_signs(keep) if refusal is Refusal.NEAR_OTHER_CONTENT else ()
        names = [*(sign for sign in signs if sign in _OF_MEANING), *file.other_unread(keep)]
    return Why(refusal, ", ".join(names))


def needed(action: Action) -> tuple[Consent, ...]:
    """The consents that an action needs by its act and its digests; the texts decide the rest."""
    act, kind = action.act, action.kind
    of_act = (Consent(act.option),) if act.option else ()
    if kind is Kind.IDENTICAL_BYTES or act.is_of_bytes:
        return of_act
    is_text = kind is Kind.NEAR
    one, other = (
        Sort(is_plain=known.is_plain, is_text=is_text) for known in (action.file, action.keep)
    )
    file = one._replace(is_newest=action.is_newest)
    alike = Alike.OTHER if is_text else Alike(_KINDS.index(kind))
    asked = terms(file, other, alike, has_other_content=False)
    return *of_act, *asked.needs


def consent_refusal(action: Action, consents: Consents) -> Why | None:
    """Why the user did not allow an action, by its act and its digests; None if it may be allowed.

    The texts decide the rest: see `document_refusal`.
    """
    act, asked = action.act, Terms(action.kind, needed(action))
    if act.option and consents.lack(Consent(act.option)):
        return Why(Refusal.ACT, f"{act.value} needs --{act.option}")
    refusal = asked.lacking(consents, act)
    return Why(refusal) if refusal else None


def document_refusal(
    action: Action, file: Document, keep: Document, consents: Consents
) -> Why | None:
    """Why an action is refused by the two documents as they are now; None if it is not.

    Files that are near by the digests of a plan are near, whatever their texts are now.
    """
    alike = alike_of(file, keep)
    if action.kind is Kind.NEAR and alike is not Alike.FOLDED:
        alike = Alike.OTHER
    has_other_content = alike is not Alike.TEXT and bool(file.other_unread(keep))
    asked = terms(sort_of(file), sort_of(keep), alike, has_other_content=has_other_content)
    refusal = asked.lacking(consents, action.act)
    return detail(refusal, file, keep) if refusal else None
