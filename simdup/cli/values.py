"""Values that options take, out of what was typed."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import click

from simdup.settings import FORMATS, Converter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import Enum

UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class Size(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """A number of bytes, with a unit or without: 500, 10k, 2.5MB (1000s), 1MiB (1024s)."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is no size; write 500, 10k, 2.5MB or 1MiB", param, ctx)
        number, unit, binary = match.groups()
        try:
            return int(float(number) * (1024 if binary else 1000) ** UNITS[unit])
        except OverflowError:
            self.fail("is more than any file has", param, ctx)


class Lengths(click.ParamType):  # type: ignore[type-arg]
    """One or more whole numbers with commas between them."""

    name = "n[,n...]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of whole numbers such as 2 or 2,3", param, ctx)


class Choices(click.ParamType):  # type: ignore[type-arg]
    """One or more of some names with commas between them."""

    name = "name[,name...]"

    def __init__(self, kind: type[Enum]) -> None:
        self.names = [each.value for each in kind]

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names, each once."""
        names = value if isinstance(value, tuple) else tuple(str(value).split(","))
        for name in names:
            if name not in self.names:
                self.fail(f"{name!r} is none of {', '.join(self.names)}", param, ctx)
        return tuple(dict.fromkeys(names))


def formats_from(value: str) -> tuple[str, ...]:
    """The documents to extract. Raises UsageError for a name that is none."""
    if value in {"all", "text"}:
        return FORMATS if value == "all" else ()
    names = tuple(dict.fromkeys(name for name in value.split(",") if name != "text"))
    for name in names:
        if name not in FORMATS:
            raise click.UsageError(
                f"--formats: {name!r} is none of text, all, {', '.join(FORMATS)}"
            )
    return names


def converters_from(values: Sequence[str]) -> tuple[Converter, ...]:
    """The programs to convert with. Raises UsageError for what is none, or is not installed."""
    converters = []
    for value in values:
        try:
            converters.append(Converter.of(value))
        except ValueError as error:
            raise click.UsageError(f"--convert: {error}") from None
        program = converters[-1].command[0]
        if shutil.which(program) is None:
            raise click.UsageError(f"--convert {value!r}: there is no program {program!r}")
    return tuple(converters)
