"""How the fingerprints and texts of an index are made: written down, and read again.

Dictionaries and converters are named by digest and command, and given again by whoever uses
the index: one that came from elsewhere must not make simdup read or run what it names.
"""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum
from secrets import token_hex
from typing import Any

from simdup.errors import InputError
from simdup.files.read import edition
from simdup.index.file.connection import explained
from simdup.recipe import HashKind, Recipe
from simdup.settings import Settings
from simdup.text.encodings import encoding_named
from simdup.versions import version

# What decides how they are made.
_MADE = ("bits", "recipe", "key", "encoding", "formats", "convert")
_RECIPE = ("features", "ngram", "top", "weights", "hash", "bits")

# How an option of a recipe is called on the command line, where it is not as in its key.
_OPTIONS = {"user_dict": "--user-dict", "stop_words": "--stop-words"}


def about(settings: Settings) -> dict[str, Any]:
    """What is written down, for JSON."""
    recipe = settings.recipe
    named = {name: getattr(recipe, name) for name in _RECIPE}
    return {
        "id": token_hex(8),  # an index that is built anew has another
        "simdup": version("simdup"),
        "bits": recipe.bits,
        "recipe": {k: v.value if isinstance(v, Enum) else v for k, v in named.items()},
        "key": json.loads(recipe.key()),
        "encoding": settings.encoding,
        "formats": list(settings.formats),
        "convert": [str(each) for each in settings.converters],
        "readers": edition(settings.encoding, settings.formats, settings.converters),
    }


def check(path: str, written: dict[str, Any], before: dict[str, Any]) -> None:
    """Raise InputError for what was not written down by `about`, or is not made as `before`."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "simdup": str,
        "recipe": dict,
        "key": dict,
        "formats": list,
        "convert": list,
        "encoding": (str, type(None)),
    }
    with explained(path):
        for name, kind in kinds.items():
            if not isinstance(written[name], kind):
                raise TypeError(f"{name} {written[name]!r}")
        if not all(isinstance(each, str) for each in (*written["formats"], *written["convert"])):
            raise TypeError("formats or converters that are no names")
        if not isinstance(written.get("read_from", 0), int):
            raise TypeError(f"read_from {written['read_from']!r}")
    if before and any(written[name] != before[name] for name in _MADE):
        other = "an index that is made in another way has taken its place"
        raise InputError(f"{path!r}: {other}; open it anew")


def settings_of(path: str, written: dict[str, Any], given: Settings) -> Settings:
    """The settings that were written down, with the dictionaries and converters of others.

    Raises InputError, naming the difference, if this simdup would make other fingerprints.
    """
    with explained(path):
        return _settings_of(path, written, given)


def _settings_of(path: str, written: dict[str, Any], given: Settings) -> Settings:
    user_dict, stop_words = given.recipe.user_dict, given.recipe.stop_words
    features = Recipe(features=written["recipe"]["features"])
    if (user_dict or stop_words) and not features.uses_words:
        unused = "which no dictionary and no stop words change; leave them out"
        raise InputError(f"{path!r}: made with features {features.features.value}, {unused}")
    recipe = Recipe(**written["recipe"], user_dict=user_dict, stop_words=stop_words)
    if written["bits"] != recipe.bits:
        raise ValueError(f"fingerprints of {written['bits']} bits")
    if written["encoding"] is not None:
        encoding_named(written["encoding"])
    now = json.loads(recipe.key())
    # What the user can mend comes first: a dictionary may decide which package cuts words.
    for name, value in sorted(written["key"].items(), key=lambda each: each[0] not in _OPTIONS):
        if now.get(name) != value:
            raise InputError(f"{path!r}: {_difference(name, value, now.get(name))}")
    if written["convert"] != [str(each) for each in given.converters]:
        there = " ".join(f"--convert {each!r}" for each in written["convert"]) or "no --convert"
        raise InputError(f"{path!r}: made with {there}; give the same")
    return Settings(
        recipe,
        encoding=written["encoding"],
        formats=tuple(map(str, written["formats"])),
        converters=given.converters,
    )


def _difference(name: str, there: object, here: object) -> str:
    if option := _OPTIONS.get(name):
        return f"made with another {option}, or none; give the same"
    return f"made with {name} {there}, and here it is {here}; build the index anew"


def with_bits(path: str, settings: Settings, bits: int) -> Settings:
    """Settings for the first `bits` bits of each fingerprint. Raises InputError for too many."""
    recipe = settings.recipe
    if bits == recipe.bits:
        return settings
    if bits > recipe.bits:
        raise InputError(f"{path!r}: made with {recipe.bits} bits; {bits} are more than it has")
    if recipe.hash is HashKind.STRING:
        only = f"made with {recipe.bits} bits of hash 'string', of which {bits} are no fingerprint"
        raise InputError(f"{path!r}: {only}")
    return replace(settings, recipe=replace(recipe, bits=bits))
