"""The metadata in JSON that say how an index was made: written, and checked when they are read.

Dictionaries and converters are noted by digest and command, and the user of an index gives
them again: an index from elsewhere must not make simdup read or run what it names.
"""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum
from secrets import token_hex
from typing import Any

from simdup.errors import InputError
from simdup.files.read import edition
from simdup.fingerprint.sketch import DENSE_LEVELS, LEVELS
from simdup.recipe import MAX_BITS, HashKind, Recipe
from simdup.settings import Settings
from simdup.text.encodings import encoding_named
from simdup.versions import version

# The JSON that simdup writes takes a few hundred characters and four levels; somebody else may have
# written anything.
JSON_CHARACTERS, JSON_DEPTH = 1 << 20, 16

_RECIPE = ("features", "ngram", "top", "weights", "hash", "bits", "fold_variants")

# The entries that decide how fingerprints and texts are made, and their types.
_MADE: dict[str, tuple[type, ...]] = {
    "bits": (int,),
    "recipe": (dict,),
    "key": (dict,),
    "encoding": (str, type(None)),
    "formats": (list,),
    "convert": (list,),
}

# The command-line options whose names differ from those in the key of a recipe.
_OPTIONS = {"user_dict": "--user-dict", "stop_words": "--stop-words"}


def damaged(path: str, what: object) -> InputError:
    """Return the error for an index that holds what simdup does not write."""
    return InputError(f"{path!r}: damaged ({what}); build it anew")


def about(settings: Settings) -> dict[str, Any]:
    """Return the metadata that an index keeps of these settings, for JSON."""
    recipe = settings.recipe
    named = {name: getattr(recipe, name) for name in _RECIPE}
    return {
        "id": token_hex(8),  # an index that is built anew has another
        "simdup": version("simdup"),
        "bits": recipe.bits,
        "recipe": {k: v.value if isinstance(v, Enum) else v for k, v in named.items()}
        | {"ngram": list(recipe.ngram)},
        "key": json.loads(recipe.key()),
        "encoding": settings.encoding,
        "formats": list(settings.formats),
        "convert": [str(each) for each in settings.converters],
        "readers": edition(settings),
        "parts": settings.parts is not None,
    }


def is_made_alike(written: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether two indexes make fingerprints and texts in the same way."""
    is_alike = all(written[name] == before[name] for name in _MADE)
    return is_alike and has_samples(written) == has_samples(before)


def has_samples(written: dict[str, Any]) -> bool:
    """Whether an index keeps samples for parts; older ones do not."""
    return bool(written.get("parts", False))


def sketch_levels(written: dict[str, Any]) -> int:
    """How dense the sketches are that an index takes its samples of, or keeps."""
    return DENSE_LEVELS if has_samples(written) else LEVELS


def check(path: str, written: Any) -> None:  # noqa: ANN401
    """Raise InputError unless metadata has the types and sizes that `about` writes."""
    if not isinstance(written, dict):
        raise damaged(path, f"about {written!r:.80}")
    # Indexes of older versions lack the first two.
    values = {"read_from": 0, "parts": False} | written
    kinds: dict[str, tuple[type, ...]] = {"read_from": (int,), "parts": (bool,), "simdup": (str,)}
    for name, allowed in (kinds | _MADE).items():
        if type(values.get(name, ...)) not in allowed:
            raise damaged(path, f"{name} {values.get(name)!r:.80}")
    if not all(isinstance(each, str) for each in (*written["formats"], *written["convert"])):
        raise damaged(path, "formats or converters that are no names")
    if not 8 <= written["bits"] <= MAX_BITS or written["bits"] % 8:
        raise damaged(path, f"fingerprints of {written['bits']!r:.80} bits")


def settings_of(path: str, written: dict[str, Any], asked: Settings) -> Settings:
    """Return the settings that an index notes, with the dictionaries and converters given.

    Raises InputError, naming the difference, if this simdup would make other fingerprints.
    """
    check(path, written)
    recipe = _with_dictionaries(path, _recipe_of(path, written), asked.recipe)
    now = json.loads(recipe.key())
    # Differences the user can mend come first: a dictionary may decide which package cuts words.
    for name, value in sorted(written["key"].items(), key=lambda each: each[0] not in _OPTIONS):
        if now.get(name) != value:
            raise InputError(f"{path!r}: {_difference(name, value, now.get(name))}")
    if written["convert"] != [str(each) for each in asked.converters]:
        there = " ".join(f"--convert {each!r}" for each in written["convert"]) or "no --convert"
        raise InputError(f"{path!r}: made with {there}; give the same")
    try:
        if (encoding := written["encoding"]) is not None:
            encoding_named(encoding)
        return Settings(
            recipe,
            encoding=encoding,
            formats=tuple(written["formats"]),
            converters=asked.converters,
            limits=asked.limits,
        )
    except ValueError as error:
        raise damaged(path, error) from None


def _recipe_of(path: str, written: dict[str, Any]) -> Recipe:
    """Return the recipe that an index notes, which names no file."""
    # Indexes older than the field did not fold variants.
    named = {"fold_variants": False} | written["recipe"]
    lengths = named.get("ngram")
    is_known = named.keys() == {*_RECIPE} and isinstance(lengths, list)
    if not is_known or not all(type(each) is int for each in lengths):
        raise damaged(path, f"recipe {named!r:.80}")
    try:
        recipe = Recipe(**named)
    except ValueError as error:
        raise damaged(path, error) from None
    if written["bits"] != recipe.bits:
        raise damaged(path, f"fingerprints of {written['bits']} bits")
    return recipe


def _with_dictionaries(path: str, recipe: Recipe, asked: Recipe) -> Recipe:
    if (asked.user_dict or asked.stop_words) and not recipe.uses_words:
        unused = "which no dictionary and no stop words change; leave them out"
        raise InputError(f"{path!r}: made with features {recipe.features.value}, {unused}")
    return replace(recipe, user_dict=asked.user_dict, stop_words=asked.stop_words)


def _difference(name: str, there: object, here: object) -> str:
    if option := _OPTIONS.get(name):
        return f"made with another {option}, or none; give the same"
    return f"made with {name} {there}, and here it is {here}; build the index anew"


def with_bits(path: str, settings: Settings, bits: int) -> Settings:
    """Cut settings to the first `bits` bits of each fingerprint. Raises InputError for more."""
    recipe = settings.recipe
    if bits == recipe.bits:
        return settings
    if bits > recipe.bits:
        raise InputError(f"{path!r}: made with {recipe.bits} bits; {bits} are more than it has")
    if recipe.hash is HashKind.STRING:
        only = f"made with {recipe.bits} bits of hash 'string', of which {bits} are no fingerprint"
        raise InputError(f"{path!r}: {only}")
    return replace(settings, recipe=replace(recipe, bits=bits))


def from_json(text: str) -> Any:  # noqa: ANN401
    """Return the value of JSON in an index. Raises ValueError if it is too long or too deep."""
    if len(text) > JSON_CHARACTERS:
        raise ValueError(f"{len(text):,} characters of JSON")
    try:
        value = json.loads(text)
        is_deep = _depth(value) > JSON_DEPTH
    except RecursionError:
        is_deep = True
    if is_deep:
        raise ValueError(f"JSON nested more than {JSON_DEPTH} deep")
    return value


def _depth(value: Any) -> int:  # noqa: ANN401
    """Return how many levels a value of JSON has: 1 for a string or an empty list."""
    if not isinstance(value, dict | list):
        return 1
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inside), default=0)
