"""Globs of paths, against their plain definition."""

from __future__ import annotations

import random
from fnmatch import fnmatchcase

from simdup.files.globs import matches_any


def in_step(names, globs):
    """Whether the names match the globs one by one, where `**` takes any number of names."""
    if not globs:
        return not names
    if globs[0] == "**":
        return any(in_step(names[skip:], globs[1:]) for skip in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], globs[0]) and in_step(names[1:], globs[1:])


def test_random_globs_match_what_their_definition_says():
    chance = random.Random(1)
    parts = ["a", "b", "*", "**", "a*", "?", "[ab]", "[!a]", "[", "**b", "[]b", "]["]
    for _ in range(20_000):
        globs = ["**"] * chance.randint(0, 1) + chance.choices(parts, k=chance.randint(1, 5))
        names = chance.choices(["a", "b", "ab", "[", "]["], k=chance.randint(1, 5))

        found = matches_any(["/" + "/".join(globs)], "/".join(names))

        assert (globs, names, found) == (globs, names, in_step(names, globs))
