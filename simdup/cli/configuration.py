"""Defaults of options from configuration files: the user's own, and one in the scanned tree.

A file is TOML. A key is the long name of an option; a key in a table such as `[scan]` or
`[corpus.scan]` is for that command alone. The file in a scanned tree may have been written by
somebody else, so it may only say which files and fields are read: how alike duplicates are, and
how their texts are read, is up to the user.

`configured` returns the `default_map` of a click context. `cli.relations` says which options give
way to others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from simdup.cli.relations import OF_TREE, TREE_FILE, Argument, Option, contexts_below
from simdup.errors import InputError
from simdup.storage.home import if_there_is_one, usual_place

#: The name of the configuration file in a scanned tree.
NAME = ".simdup.toml"

#: Options, by parameter name, that a file in the scanned tree may set.
OF_TREES = {
    *("include", "exclude", "hidden", "noise", "gitignore", "max_depth", "min_size"),
    *("max_size", "one_file_system", "ignored", "text_field", "id_field"),
}

# Larger files are refused: no configuration is that long.
_LARGEST = 1 << 16


class Configuration:
    """One configuration file, read and checked against the options of a command."""

    def __init__(self, path: str, *, is_of_tree: bool) -> None:
        """Read the file. Raises InputError for a file that cannot be read or is not TOML."""
        self.path, self.is_of_tree = path, is_of_tree
        try:
            with open(path, "rb") as file:
                data = file.read(_LARGEST + 1)
            self.text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path!r}: cannot be read ({error})") from None
        if len(data) > _LARGEST:
            raise InputError(f"{path!r}: too large for a configuration file")
        self.values = _parsed(path, self.text)

    def defaults(self, chain: list[click.Context]) -> dict[str, Any]:
        """Return what the file says of a command: values by parameter name.

        `chain` has the contexts from the program to the command; each has a table inside the one
        before. Raises InputError with the line for a key that no option has, for a value that the
        option does not take, and for an option that the file may not set.
        """
        options = _options(chain[-1].command)
        found, table, name = dict[str, Any](), self.values, ""
        for context in chain:
            if context.parent is not None:
                table = table.get(context.info_name or "", {})
                name = f"{name}.{context.info_name}".lstrip(".")
            if not isinstance(table, dict):
                break
            for key, value in table.items():
                option = options.get(key)
                if isinstance(value, dict):
                    if key not in getattr(context.command, "commands", ()):
                        table_name = f"{name}.{key}".lstrip(".")
                        raise self._error(table_name, "", "there is no such command")
                elif option is None:
                    self._check_key(name, key, context)
                else:
                    found[option.name or ""] = self._value(name, option, value, context)
        return found

    def _check_key(self, table: str, key: str, context: click.Context) -> None:
        """Raise InputError for a key that no command has for which the table is."""
        known = {key for each in contexts_below(context) for key in _options(each.command)}
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise self._error(table, key, f"there is no such option{hint}")

    def _value(self, table: str, option: Option, value: Any, context: click.Context) -> Any:
        """Return a value as it would be typed. Raises InputError for one that cannot be."""
        key = _key(option)
        if option.once:
            raise self._error(table, key, "belongs on the command line")
        if self.is_of_tree and option.name not in OF_TREES:
            raise self._error(
                table, key, "a file in the scanned tree may not set this; your own file may"
            )
        try:
            value = self._typed(option, value)
            option.type_cast_value(context, value)
        except (click.BadParameter, TypeError, ValueError, OverflowError) as error:
            raise self._error(table, key, getattr(error, "message", str(error))) from None
        return value

    def _typed(self, option: Option, value: Any) -> Any:
        """Return a value as it would be typed; ValueError for one of another kind."""
        if option.is_flag:
            if not isinstance(value, bool):
                raise ValueError("takes true or false")
            return value
        typed = [_as_typed(each) for each in (value if isinstance(value, list) else [value])]
        if isinstance(option.type, click.Path):
            typed = [self._located(each) for each in typed]
        return typed if option.multiple else ",".join(typed)  # as a list is typed

    def _located(self, value: str) -> str:
        """Return the file that a value names, relative to the folder of the configuration."""
        folder = os.path.dirname(self.path)
        place = os.path.join(folder, os.path.expanduser(value))
        if self.is_of_tree:
            folder = os.path.realpath(folder)
            if os.path.commonpath([folder, os.path.realpath(place)]) != folder:
                raise ValueError(f"{value!r} is outside the folder of this file")
        return place

    def _error(self, table: str, key: str, what: str) -> InputError:
        line = _line_of(self.text, table, key)
        where = f", line {line}" if line else ""
        return InputError(f"{self.path!r}{where}: {key or table!r}: {what}")


def _as_typed(value: object) -> str:
    """Return a string or number of TOML as it would be typed."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("takes a string or a number")
    from decimal import Decimal

    return format(Decimal(repr(value)), "f")


def configured(context: click.Context, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of a command's options that configuration files set.

    `typed` has the values on the command line, by parameter name. The file in the tree wins over
    the user's own. Raises InputError.
    """
    own, defaults, chain = if_there_is_one(user_file), dict[str, Any](), [context]
    while (parent := chain[0].parent) is not None:
        chain.insert(0, parent)
    if own is not None and os.path.isfile(own):
        defaults = Configuration(own, is_of_tree=False).defaults(chain)
    for path in _tree_files(context, typed):
        found = Configuration(path, is_of_tree=True).defaults(chain)
        defaults |= found
        context.meta[OF_TREE] = frozenset(found)
        context.meta[TREE_FILE] = path if found else None
    return defaults


def user_file() -> str:
    """Return where the user's own configuration file is expected. Raises NoHomeError."""
    return usual_place("configuration", "config.toml")


def _tree_files(context: click.Context, typed: Mapping[str, Any]) -> list[str]:
    """Return a list with the file that holds for all folders to read, or an empty list.

    Raises InputError if a file holds for only some of the folders.
    """
    arguments = [each for each in context.command.params if isinstance(each, Argument)]
    trees = [typed.get(each.name or "") for each in arguments if each.is_tree]
    # The texts may be in no folder of this machine that the command line names.
    is_named = typed.get("of_index") or typed.get("files_from")
    if not trees or is_named or typed.get("engine") == "spark":
        return []
    places = [place for each in trees if isinstance(each, Sequence) for place in each]
    found = {_nearest(str(place)) for place in places or [os.curdir]}
    named = [each for each in found if each is not None]
    if len(found) == 1 or not named:
        return named
    raise InputError(
        f"{min(named)!r}: holds for some of the paths only; scan these by themselves, or"
        " use --no-config"
    )


def _nearest(place: str) -> str | None:
    """Return the configuration file in a folder or, in a repository, the nearest one above it.

    Whoever may write to a folder above could choose what a scan finds, so outside a repository
    the folders above are not searched. A symbolic link is ignored.
    """
    folder = os.path.abspath(place)
    above = [folder if os.path.isdir(folder) else os.path.dirname(folder)]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    root = next((n for n, each in enumerate(above) if os.path.exists(f"{each}/.git")), 0)
    files = (os.path.join(each, NAME) for each in above[: root + 1])
    return next((each for each in files if os.path.isfile(each) and not os.path.islink(each)), None)


def _parsed(path: str, text: str) -> dict[str, Any]:
    """Return what a TOML file says. Raises InputError."""
    try:
        toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError:
        needs = "reading it needs Python 3.11 or newer, or: pip install tomli"
        raise InputError(f"{path!r}: {needs} (--no-config does without)") from None
    try:
        return dict(toml.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path!r}: no TOML ({error})") from None


def _options(command: click.Command) -> dict[str, Option]:
    return {_key(each): each for each in command.params if isinstance(each, Option)}


def _key(option: Option) -> str:
    """Return the key of an option: its long name, or its only one."""
    return option.typed.lstrip("-")


def _line_of(text: str, table: str, key: str) -> int:
    """Return the number of the line where a table sets a key; where it begins, without a key.

    It is 0 for what is written in another way, such as with dotted keys.
    """
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        begun = line.partition("#")[0].strip()
        if begun.startswith("[") and begun.endswith("]") and "," not in begun:
            current = begun.strip("[] \t").replace('"', "").replace(" ", "")
            if current == table and not key:
                return number
        elif current == table and begun.partition("=")[0].strip(" \t\"'") == key:
            return number
    return 0
