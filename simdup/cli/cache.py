"""`simdup cache`: what scans remember, and how to make them forget it."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdup.cli.terminal import tell
from simdup.errors import InputError
from simdup.report.wording import count, percent, printable, size
from simdup.storage.home import if_there_is_one
from simdup.storage.sqlite import files_of
from simdup.storage.store import Store, default_place, is_place_named

if TYPE_CHECKING:
    from simdup.storage.store import Info


class Days(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """A number of days: 90 or 90d."""

    name = "days"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The number."""
        match = re.fullmatch(r"(\d{1,5})\s*d?", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is no number of days such as 90d", param, ctx)
        return int(match[1])


_place = click.option(
    "--cache",
    type=click.Path(readable=False),
    metavar="FILE",
    help="The store.  [default: that of scans]",
)


def store_at(named: str | None, *, quiet: bool = False) -> Store:
    """The store that the user names by an option or SIMDUP_CACHE, or the default one.

    Raises InputError for something else at a place that was named.
    """
    path = default_place() if named is None else Path(named)
    is_named = named is not None or is_place_named()
    return Store(path, _unheard if quiet else _warn, is_named=is_named)


def store_files(named: str | None) -> list[str]:
    """The files of the store that the user names, or of the default one."""
    place = if_there_is_one(default_place) if named is None else Path(named)
    return [] if place is None else [str(each) for each in files_of(place)]


def _warn(line: str) -> None:
    tell(f"simdup: {line}")


def _unheard(_: str) -> None:
    """A warning that nobody wants."""


@click.group("cache")
def cache_command() -> None:
    """Show or clear what scans remember.

    \b
    Examples:
      simdup cache info
      simdup cache clear --older-than 90d
    """


@cache_command.command("info")
@_place
def info_command(cache: str | None) -> int:
    """Show where the store is and what is in it.

    \b
    Examples:
      simdup cache info
      simdup cache info --cache project.store
    """
    with closing(_existing(cache)) as store:
        lines = _described(store.info())
        _check_open(store, "it cannot be read now")
    click.echo("\n".join(lines))
    return 0


@cache_command.command("clear")
@_place
@click.option(
    "--older-than", type=Days(), metavar="DAYS", help="Only what was not used for, e.g. 90d."
)
def clear_command(cache: str | None, older_than: int | None) -> int:
    """Forget fingerprints and similarities; the files themselves are never touched.

    \b
    Examples:
      simdup cache clear
      simdup cache clear --older-than 90d
    """
    with closing(_existing(cache)) as store:
        before = store.info()
        store.clear(older_than)
        after = store.info()
        _check_open(store, "it could not be cleared; try again later")
    click.echo(
        f"forgot {count(before.files - after.files, 'file')} and"
        f" {count(before.similarities - after.similarities, 'pair')};"
        f" the store has {size(after.bytes)}, it had {size(before.bytes)}"
    )
    return 0


def _existing(named: str | None) -> Store:
    """A store that is there: looking at what is not should not make it. Raises InputError."""
    path = default_place() if named is None else Path(named)
    if not os.path.exists(path):
        raise InputError(f"{str(path)!r}: there is no store; a scan makes one")
    return Store(path, _warn, is_named=True)


def _check_open(store: Store, problem: str) -> None:
    """Raise InputError if the store was given up meanwhile: its figures are then all 0."""
    if not store.is_open:
        raise InputError(f"{str(store.path)!r}: {problem}")


def _described(info: Info) -> list[str]:
    lines = [
        f"store         {printable(str(info.path))}",
        f"size          {size(info.bytes)}",
        f"files         {info.files:,} in {count(info.folders, 'folder')}",
        f"similarities  {count(info.similarities, 'pair')}",
    ]
    if info.asked:
        share = percent(info.known / info.asked)
        lines.append(f"last scan     {info.known:,} of {count(info.asked, 'file')} known ({share})")
    lines += [f"recipe        {_recipe(key)}: {count(n, 'file')}" for key, n in info.recipes]
    return lines


def _recipe(key: str) -> str:
    """The key of a recipe in words; as it is, if it was damaged."""
    try:
        known = json.loads(key)
        recipe = ", ".join(f"{name} {value}" for name, value in known["recipe"].items())
        return printable(f"{recipe}; read by {known['reader']}; documents {known['documents']}")
    except (ValueError, LookupError, TypeError, AttributeError):
        return printable(key)
