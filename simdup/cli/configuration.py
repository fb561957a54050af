"""Defaults of options from configuration files: the user's own, and one in the scanned tree.

A file is TOML. A key is the long name of an option; a key in a table such as `[scan]` or
`[corpus.scan]` is for that command alone. The file in a scanned tree may have been written by
somebody else, so it may only say which files and fields are read: how alike duplicates are, and
how their texts are read, is up to the user.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
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
        *("include", "exclude", "hidden", "noise", "gitignore", "max_depth", "min_size"),
        *("max_size", "one_file_system", "ignored", "text_field", "id_field"),
    }
)

#: The key under which the context of a command remembers the file in the tree that set defaults.
OF_TREE = "simdup.configuration"

# A larger file is refused: it is no configuration.
_LARGEST = 1 << 16

# Options that say what a run is to do, or where its result goes: they belong on the command line.
_OF_A_RUN = frozenset(
    {
        *("index", "files_from", "against", "target", "html", "opens", "null", "show_diff", "text"),
        *("fingerprint", "among", "keep", "conf", "plot", "pairs", "all_pairs"),
        # What lets a file go, or says where to.
        *("formats_too", "near", "to", "link", "reflink", "permanently", "yes_many", "apply"),
        *("script", "journal", "check", "review", "resume"),
    }
)

# Options of the recipe, which an index has of its own.
_OF_AN_INDEX = frozenset(
    {
        *("bits", "features", "hash", "ngram", "top", "weights", "user_dict", "stop_words"),
        "no_fold_variants",
    }
)

# Commands that read a tree, and the arguments that name it.
_TREES = {
    ("scan",): ("paths",),
    ("corpus", "scan"): ("files",),
    ("index", "add"): ("paths",),
    ("index", "build"): ("paths",),
}

# Pairs of options that exclude each other; the one on the command line wins.
_RIVALS = (
    *(("similarity", "k"), ("similarity", "no_verify"), ("k", "no_verify")),
    *(("own_share", "k"), ("own_share", "no_verify")),
    *(("cache", "no_cache"), ("ignored", "no_ignored"), ("form", "null"), ("form", "show_diff")),
    *(("jobs", "engine"), ("limit", "everything"), ("form", "summary")),
)


class Configuration:
    """One configuration file, read and checked against the options of a command."""

    def __init__(self, path: str, *, is_of_tree: bool) -> None:
        """Read the file. Raises InputError for a file that cannot be read or is no TOML."""
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
        command: click.Command = context.find_root().command
        for name in table.split(".") if table else ():
            if isinstance(command, click.Group):
                _, inner, _ = command.resolve_command(context, [name])
                command = inner or command
        if isinstance(command, click.Group):
            for each in _commands_below(command, context):
                known |= {_key(option) for option in each.params if _is_option(option)}
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise self._error(table, key, f"there is no such option{hint}")

    def _value(
        self, table: str, key: str, option: click.Parameter, value: Any, context: click.Context
    ) -> Any:
        """Return a value as the option takes it. Raises InputError for one that it does not."""
        if option.name in _OF_A_RUN or key in {"help", "no-config"}:
            raise self._error(table, key, "belongs on the command line")
        if self.is_of_tree and option.name not in OF_TREES:
            raise self._error(
                table, key, "a file in the scanned tree may not set this; your own file may"
            )
        try:
            value = self._typed(option, value)
            option.type_cast_value(context, value)
        except click.BadParameter as error:
            raise self._error(table, key, error.message) from None
        except (TypeError, ValueError, OverflowError) as error:
            raise self._error(table, key, str(error)) from None
        return value

    def _typed(self, option: click.Parameter, value: Any) -> Any:
        """Return a value as it would be typed; ValueError for one of another kind."""
        if isinstance(option, click.Option) and option.is_flag:
            if not isinstance(value, bool):
                raise ValueError("takes true or false")
            return value
        several = value if isinstance(value, list) else [value]
        typed = [_as_typed(each) for each in several]
        if isinstance(option.type, click.Path):
            typed = [self._located(each) for each in typed]
        if option.multiple:
            return typed
        return ",".join(typed)  # as options that take a list are typed

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


def configured(context: click.Context, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the defaults of a command's options that configuration files set.

    `given` holds what stands on the command line, by parameter name: it wins over a configured
    option that excludes it. The file in the tree wins over the user's own. Raises InputError.
    """
    command = tuple(each.info_name or "" for each in _chain(context)[1:])
    defaults: dict[str, Any] = {}
    for file in _files(command, given):
        found = file.defaults(command, context)
        defaults = _without_rivals(defaults, found) | found
        if found and file.is_of_tree:
            context.meta[OF_TREE] = file.path
    defaults = _without_rivals(defaults, given)
    is_query = command == ("query",)
    unused = _OF_AN_INDEX if is_query or given.get("index") else frozenset[str]()
    if is_query and "top" in given:
        unused |= {"similarity"}
    return {name: value for name, value in defaults.items() if name not in unused}


def _files(command: Sequence[str], given: Mapping[str, object]) -> list[Configuration]:
    """Return the files that hold for a command, the user's own first. Raises InputError."""
    files = [Configuration(path, is_of_tree=False) for path in _user_files()]
    arguments = _TREES.get(tuple(command), ())
    if arguments and not _is_elsewhere(given):
        of_tree = _tree_files(_places(given, arguments))
        files += [Configuration(path, is_of_tree=True) for path in of_tree]
    return files


def user_file() -> str:
    """Return where the user's own configuration file is expected. Raises NoHomeError."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or os.path.join(home(), "AppData", "Roaming")
    elif sys.platform == "darwin":
        base = os.path.join(home(), "Library", "Application Support")
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home(), ".config")
    return os.path.join(base, "simdup", "config.toml")


def _user_files() -> list[str]:
    try:
        place = user_file()
    except NoHomeError:
        return []
    return [place] if os.path.isfile(place) else []


def _is_elsewhere(given: Mapping[str, object]) -> bool:
    """Whether the texts are in no folder of this machine that the command line names."""
    return bool(given.get("index") or given.get("files_from") or given.get("engine") == "spark")


def _tree_files(places: Iterable[str]) -> list[str]:
    """Return a list with the configuration file that holds for all places, or an empty list.

    Raises InputError if a file holds for only some of the places.
    """
    found = {_nearest(place) for place in places}
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
    root = next((n for n, each in enumerate(above) if _is_repository(each)), 0)
    for each in above[: root + 1]:
        file = os.path.join(each, NAME)
        if os.path.isfile(file) and not os.path.islink(file):
            return file
    return None


def _is_repository(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git"))


def _without_rivals(defaults: dict[str, Any], given: Collection[str]) -> dict[str, Any]:
    """Return the defaults without the options that a given option excludes."""
    beaten = {name for pair in _RIVALS for name, other in (pair, pair[::-1]) if other in given}
    return {name: value for name, value in defaults.items() if name not in beaten}


def _parsed(path: str, text: str) -> dict[str, Any]:
    """Return what a TOML file says. Raises InputError."""
    try:
        toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError:
        needs = "reading it needs Python 3.11 or newer, or: pip install tomli"
        raise InputError(f"{path!r}: {needs} (--no-config does without)") from None
    try:
        values: dict[str, Any] = toml.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path!r}: no TOML ({error})") from None
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
    """Return for each of `_tables` the names of commands that tables inside it may have."""
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


def _places(given: Mapping[str, object], arguments: Iterable[str]) -> list[str]:
    """Return the paths that a command is told to read; a scan without any reads this folder."""
    values = [given.get(each) for each in arguments]
    several = [each if isinstance(each, list | tuple) else [each] for each in values if each]
    return [str(path) for paths in several for path in paths] or [os.curdir]


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
