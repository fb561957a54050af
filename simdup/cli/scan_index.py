"""`simdup scan --index`: the groups of an index instead of folders."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from simdup.errors import InputError
from simdup.files.walk import Filters
from simdup.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdup.progress import Progress
    from simdup.records import ScanResult
    from simdup.settings import Settings


def refuse_beside_index(paths: tuple[str, ...]) -> None:
    """Raise UsageError for what says which files to read, or how: an index has its own."""
    given = click.get_current_context().get_parameter_source
    filters = (each.name for each in fields(Filters))
    names = ("files_from", "against", "cache", "encoding", "formats", *filters)
    wrong = [name for name in names if given(name) is ParameterSource.COMMANDLINE]
    if paths or wrong:
        what = f"--{wrong[0].replace('_', '-')}" if wrong else "PATH..."
        raise click.UsageError(f"--index groups what is in the index; leave out {what}")


def features_of(file: str, options: dict[str, Any]) -> str:
    """What votes: what the user says, or what voted when the index was built."""
    given = click.get_current_context().get_parameter_source
    if given("features") is ParameterSource.COMMANDLINE:
        return str(options["features"])
    with Index(file) as index:
        return str(index.info().about["recipe"].get("features"))


def scan_index(
    file: str, settings: Settings, show: Progress, ignored: Iterable[tuple[bytes, bytes]]
) -> ScanResult:
    """The groups of an index, by the fingerprints that it has."""
    given = click.get_current_context().get_parameter_source
    with Index(file, settings) as index:
        own = index.settings.recipe
        for name in ("features", "ngram", "top", "weights", "hash"):
            option = "hash_kind" if name == "hash" else name
            there, here = getattr(own, name), getattr(settings.recipe, name)
            if given(option) is ParameterSource.COMMANDLINE and there != here:
                raise InputError(f"{file!r}: made with {name} {_plain(there)}, not {_plain(here)}")
        is_sized = given("bits") is ParameterSource.COMMANDLINE
        bits = settings.recipe.bits if is_sized else own.bits
        recipe = index.at(bits).recipe
        return index.scan(replace(settings, recipe=recipe), show, ignored)


def _plain(value: Any) -> Any:  # noqa: ANN401
    return ",".join(map(str, value)) if isinstance(value, tuple) else getattr(value, "value", value)
