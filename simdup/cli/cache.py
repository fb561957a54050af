"""`simdup cache`: shows and clears the store, in which scans remember the files they read."""

from __future__ import annotations

import os
import re
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import tell
from simdup.errors import InputError
from simdup.report.wording import count, percent, printable, size

if TYPE_CHECKING:  # this loads sqlite3
    from simdup.storage.store import Info, Store


def _days(text: str) -> int:
    """Return the number of days in a text such as 90 or 90d."""
    match = re.fullmatch(r"(\d{1,5})\s*d?", text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is not a number of days such as 90d")
    return int(match[1])


_cache = options.file(
    "--cache", "The store.  [default: SIMDUP_CACHE, or a file in your cache folder]"
)


class CacheInfo(NamedTuple):
    """The options of `simdup cache info`."""

    cache: str | None = _cache


class Clear(NamedTuple):
    """The options of `simdup cache clear`.

    older_than: Forget only what no scan used in the last DAYS, e.g. 90d.
    """

    cache: str | None = _cache
    older_than: int | None = options.option(type=options.ParsedValue("days", _days))


def open_store(named: str | None, *, quiet: bool = False, must_exist: bool = False) -> Store:
    """Open or make the store at the path of an option, or at SIMDUP_CACHE or the default place.

    Raises InputError if the user named something that is not a store, or if there is none although
    it `must_exist`.
    """
    from simdup.storage.store import Store, default_place, is_place_named

    path = default_place() if named is None else named
    if must_exist and not os.path.exists(path):
        raise InputError(f"{path!r}: there is no store; a scan makes one")
    is_named = must_exist or named is not None or is_place_named()
    return Store(path, (lambda _: None) if quiet else _warn, is_named=is_named)


def store_files(named: str | None) -> list[str]:
    """Return the paths of the files that `open_store` uses."""
    from simdup.storage.home import if_there_is_one
    from simdup.storage.sqlite import files_of
    from simdup.storage.store import default_place

    path = if_there_is_one(default_place) if named is None else named
    return [] if path is None else files_of(path)


def _warn(line: str) -> None:
    tell(f"simdup: {line}")


@click.group("cache", cls=Group)
def cache_command() -> None:
    """Show or clear the store, which lets scans skip files that they read before.

    \b
    Examples:
      simdup cache info
      simdup cache clear --older-than 90d
    """


@cache_command.command("info", record=CacheInfo)
def info_command(asked: CacheInfo) -> int:
    """Show where the store is and what is in it.

    \b
    Examples:
      simdup cache info
      simdup cache info --cache project.store
    """
    with closing(open_store(asked.cache, must_exist=True)) as store:
        lines = _lines(store.info())
        _check_open(store, "it cannot be read now")
    click.echo("\n".join(lines))
    return 0


@cache_command.command("clear", record=Clear)
def clear_command(asked: Clear) -> int:
    """Forget what scans found out about files; the files themselves stay as they are.

    \b
    Examples:
      simdup cache clear
      simdup cache clear --older-than 90d
    """
    with closing(open_store(asked.cache, must_exist=True)) as store:
        before = store.info()
        store.clear(asked.older_than)
        after = store.info()
        _check_open(store, "it could not be cleared; try again later")
    click.echo(
        f"forgot {count(before.files - after.files, 'file')} and"
        f" {count(before.similarities - after.similarities, 'pair')};"
        f" the store has {size(after.bytes)}, it had {size(before.bytes)}"
    )
    return 0


def _check_open(store: Store, problem: str) -> None:
    """Raise InputError if the store failed meanwhile: its figures are then all 0."""
    if not store.is_open:
        raise InputError(f"{store.path!r}: {problem}")


def _lines(info: Info) -> list[str]:
    lines = [
        f"store         {printable(info.path)}",
        f"size          {size(info.bytes)}",
        f"files         {info.files:,} in {count(info.folders, 'folder')}",
        f"similarities  {count(info.similarities, 'pair')}",
        f"results       {info.results:,} of scans",
    ]
    if info.asked:
        share = percent(info.known / info.asked)
        lines.append(f"last scan     {info.known:,} of {count(info.asked, 'file')} known ({share})")
    lines += [f"recipe        {_recipe(key)}: {count(n, 'file')}" for key, n in info.recipes]
    return lines


def _recipe(key: str) -> str:
    """Return the key of a recipe in words; a damaged key is returned unchanged."""
    import json

    try:
        known = json.loads(key)
        recipe = ", ".join(f"{name} {value}" for name, value in known["recipe"].items())
        return printable(f"{recipe}; read by {known['reader']}; documents {known['documents']}")
    except (ValueError, LookupError, TypeError, AttributeError):
        return printable(key)
