"""Defaults of options from configuration files: the user's own, and one in the scanned tree.

A file is TOML. A key is the long name of an option; a key in a table such as `[scan]` or
`[corpus.scan]` is for that command alone. The file in a scanned tree may have been written by
somebody else, so it may only say what counts as a duplicate and which files are read.
"""

from __future__ import annotations

import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdup.errors import InputError
from simdup.storage.home import NoHomeError, home

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

#: The name of the configuration file in a scanned tree.
NAME = ".simdup.toml"

#: Options, by parameter name, that a file in the scanned tree may set.
OF_TREES = frozenset(
    {
        *("similarity", "k", "no_verify", "linkage", "bits", "features", "hash", "ngram"),
        *("top", "weights", "encoding", "formats", "include", "exclude", "hidden", "noise"),
        *("gitignore", "max_depth", "min_size", "max_size", "one_file_system", "ignored"),
        *("text_field", "id_field"),
    }
)

#: What the context of a command remembers: the files in the tree that set defaults.
OF_TREE = "simdup.configuration"

# Commands that read a tree, and the argument that names it.
_TREES = {
    ("scan",): "paths",
    ("compare",): "left",
    ("corpus", "scan"): "files",
    ("ignore", "add"): "left",
    ("index", "add"): "paths",
    ("index", "build"): "paths",
}

# Options of which only one can be given; the one on the command line wins.
_RIVALS = (("similarity", "k"), ("cache", "no_cache"), ("ignored", "no_ignored"))


class Configuration:
    """One configuration file, read and checked against the options of a command."""

    def __init__(self, path: Path, *, is_of_tree: bool) -> None:
        """Read the file. Raises InputError for a file that cannot be read or is no TOML."""
        self.path, self.is_of_tree = path, is_of_tree
        try:
            self.text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{str(path)!r}: cannot be read ({error})") from None
        self.values = _parsed(path, self.text)

    def defaults(self, command: Sequence[str], context: click.Context) -> dict[str, Any]:
        """Return what the file says of a command: values by parameter name.

        `command` is the name of the command, such as `("corpus", "scan")`. Raises InputError
        with the line for a key that no option has, for a value that the option does not take,
        and for an option that a file in a tree may not set.
        """
        options = {_key(each): each for each in context.command.params if _is_option(each)}
        found: dict[str, Any] = {}
        for (table, keys), names in zip(
            _tables(self.values, command), _names_of_tables(context), strict=False
        ):
            for key, value in keys.items():
                if _is_table(value):
                    if key not in names:
                        name = f"{table}.{key}".lstrip(".")
                        raise self._error(name, "", "there is no such command")
                    continue
                option = options.get(key)
                if option is not None and option.name is not None:
                    found[option.name] = self._value(table, key, option, value, context)
                else:
                    self._check_key(table, key, options, context)
        return found

    def _check_key(
        self, table: str, key: str, options: Collection[str], context: click.Context
    ) -> None:
        """Raise InputError for a key that neither this command nor another one has.

        A key outside all tables may be for other commands, and so may a table.
        """
        known = set(options)
        if not table:
            every = _commands_below(context.find_root().command, context)
            known |= {_key(each) for command in every for each in command.params}
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise self._error(table, key, f"there is no such option{hint}")

    def _value(
        self, table: str, key: str, option: click.Parameter, value: Any, context: click.Context
    ) -> Any:
        if self.is_of_tree and option.name not in OF_TREES:
            raise self._error(
                table, key, "a file in the scanned tree may not set this; your own file may"
            )
        if option.multiple and not isinstance(value, list):
            value = [value]
        elif isinstance(value, list) and not option.multiple:
            raise self._error(table, key, "takes one value, not a list")
        if isinstance(option.type, click.Path):
            value = self._located(table, key, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)  # options take what could be typed
        try:
            option.type_cast_value(context, value)
        except click.BadParameter as error:
            raise self._error(table, key, error.message) from None
        return value

    def _located(self, table: str, key: str, value: Any) -> str:
        """Return the file that a value names, relative to the folder of the configuration."""
        if not isinstance(value, str):
            raise self._error(table, key, "takes the name of a file")
        place = os.path.join(self.path.parent, os.path.expanduser(value))
        if self.is_of_tree:
            folder = os.path.realpath(self.path.parent)
            if os.path.commonpath([folder, os.path.realpath(place)]) != folder:
                raise self._error(table, key, f"{value!r} is outside the folder of this file")
        return place

    def _error(self, table: str, key: str, what: str) -> InputError:
        line = _line_of(self.text, table, key)
        return InputError(f"{str(self.path)!r}, line {line}: {key or table!r}: {what}")


def configured(context: click.Context, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the defaults of a command's options that configuration files set.

    `given` holds what stands on the command line, by parameter name: it wins over an option
    that excludes it. The file in the tree wins over the user's own. Raises InputError.
    """
    chain = _chain(context)
    command = tuple(each.info_name or "" for each in chain[1:])
    files = [Configuration(path, is_of_tree=False) for path in _user_files()]
    if command in _TREES:
        of_tree = _tree_files(_places(given, _TREES[command]))
        files += [Configuration(path, is_of_tree=True) for path in of_tree]
        context.meta[OF_TREE] = [str(path) for path in of_tree]
    defaults: dict[str, Any] = {}
    for file in files:
        found = file.defaults(command, context)
        defaults = _without_rivals(defaults, found) | found
    return _without_rivals(defaults, given)


def user_file() -> Path:
    """Return where the user's own configuration file is expected. Raises NoHomeError."""
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or home() / ".config")
    return base / "simdup" / "config.toml"


def _user_files() -> list[Path]:
    try:
        place = user_file()
    except NoHomeError:
        return []
    return [place] if place.is_file() else []


def _tree_files(places: Iterable[str]) -> list[Path]:
    """Return the file that holds for all places; none is an empty list.

    Raises InputError if different files hold for two of them.
    """
    found = {file: None for place in places if (file := _nearest(Path(place))) is not None}
    if len(found) > 1:
        names = " and ".join(repr(str(each)) for each in [*found][:2])
        raise InputError(f"two configuration files apply: {names}; --no-config uses neither")
    return [*found]


def _nearest(place: Path) -> Path | None:
    """Return the file in a folder or the nearest one above, no further up than its repository."""
    folder = Path(os.path.abspath(place))
    for each in (folder, *folder.parents):
        if (each / NAME).is_file():
            return each / NAME
        if (each / ".git").exists():
            break
    return None


def _without_rivals(defaults: dict[str, Any], given: Collection[str]) -> dict[str, Any]:
    """Return defaults without the options that others, which are given, exclude."""
    beaten = {name for pair in _RIVALS for name, other in (pair, pair[::-1]) if other in given}
    return {name: value for name, value in defaults.items() if name not in beaten}


def _parsed(path: Path, text: str) -> dict[str, Any]:
    """Return what a TOML file says. Raises InputError."""
    try:
        toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError:
        needs = "reading it needs Python 3.11 or newer, or: pip install tomli"
        raise InputError(f"{str(path)!r}: {needs} (--no-config does without)") from None
    try:
        values: dict[str, Any] = toml.loads(text)
    except ValueError as error:
        raise InputError(f"{str(path)!r}: no TOML ({error})") from None
    return values


def _tables(
    values: Mapping[str, Any], command: Sequence[str]
) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the tables that hold for a command with their names, the one for all commands first."""
    table: Any = values
    for depth in range(len(command) + 1):
        yield ".".join(command[:depth]), table
        table = table.get(command[depth], {}) if depth < len(command) else {}
        if not _is_table(table):
            return


def _names_of_tables(context: click.Context) -> list[list[str]]:
    """Return the names that tables may have inside each of `_tables`: those of commands."""
    return [
        each.command.list_commands(each) if isinstance(each.command, click.Group) else []
        for each in _chain(context)
    ]


def _chain(context: click.Context) -> list[click.Context]:
    """Return the contexts from the program's to that of a command."""
    return [*_chain(context.parent), context] if context.parent else [context]


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _is_option(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option)


def _key(option: click.Parameter) -> str:
    """Return the key of an option: its long name, or its only one."""
    return max(option.opts, key=len).lstrip("-")


def _places(given: Mapping[str, object], argument: str) -> list[str]:
    """Return the paths that a command is told to read; a scan without any reads this folder."""
    value = given.get(argument)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and value:
        return [str(each) for each in value]
    return [] if given.get("index") or given.get("files_from") else [os.curdir]


def _commands_below(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    """Yield all commands of a group, those of its groups included."""
    if not isinstance(command, click.Group):
        yield command
        return
    for name in command.list_commands(context):
        _, inner, _ = command.resolve_command(context, [name])
        if inner is not None:
            yield from _commands_below(inner, context)


def _line_of(text: str, table: str, key: str) -> int:
    """Return the number of the line where a table sets a key, or begins if there is no key.

    It is 1 for what is written in another way, such as with dotted keys.
    """
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^\]]*?)\s*\]", line):
            current = re.sub(r"[\s\"']", "", header[1])
            if current == table and not key:
                return number
        elif current == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return 1
