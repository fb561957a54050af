"""Parameters of commands that say which other parameters they exclude, need or replace.

A term names a parameter as users type it: `--html`, `-k`, `PATH...`, or with a value
`--format json`. Terms about parameters that a command does not have are ignored there.

A parameter goes with none of the terms in `excludes`, and with at least one of the terms in
`needs`. Either may also be a mapping from the parameter's own value to terms, where the value ""
stands for every value: `--weights int` needs `--features keywords`, exact weights do not. `settled`
checks this for a whole command. The help of an option and Tab completion show it.

If one of two options comes from a configuration file, the more direct one wins: the command line,
then the file in the tree, then the user's own file. `replaces` are terms for options that may
stand beside this one on the command line, but give way to it if they come from a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

Terms: TypeAlias = Iterable[str] | Mapping[str, Iterable[str]]

#: Where the context of a command has the names of the options that a file in the tree set.
OF_TREE = "simdup.of_tree"
#: Where it has the path of that file.
TREE_FILE = "simdup.tree_file"


class Related(click.Parameter):
    """A parameter with relations to others; `once` keeps it out of configuration files.

    `writes` says of a path that a file is written there.
    """

    def __init__(
        self,
        *args: Any,
        excludes: Terms = (),
        needs: Terms = (),
        replaces: Iterable[str] = (),
        once: bool = False,
        writes: bool = False,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.excludes, self.needs = _by_value(excludes), _by_value(needs)
        self.replaces, self.once, self.writes = tuple(replaces), once, writes

    @property
    def typed(self) -> str:
        """The parameter as users type it; an argument as the usage line shows it."""
        return max(self.opts, key=len)

    def term(self, value: str) -> str:
        """The term for this parameter with a value, or without if the value is empty."""
        return f"{self.typed} {value}".strip()


class Option(Related, click.Option):
    """An option whose help ends with what it excludes and needs."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with the relations that mean something in a command."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        given, notes = _Given(ctx), dict[str, list[str]]()
        for word, relations in (("not with", self.excludes), ("needs", self.needs)):
            for value, terms in relations.items():
                if known := given.known_terms(terms):
                    notes.setdefault(f"{word} {_either(known)}", []).append(value)
        shown = [f"[{f'{_either(values)} {note}'.strip()}]" for note, values in notes.items()]
        return record[0], "  ".join([record[1], *shown])


class Argument(Related, click.Argument):
    """An argument; `is_tree` if it names folders in which a configuration file may lie.

    If it is not given, one of the terms in `instead` must be.
    """

    def __init__(
        self, *args: Any, is_tree: bool = False, instead: tuple[str, ...] = (), **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.is_tree, self.instead = is_tree, instead

    @property
    def typed(self) -> str:
        """The argument as the usage line shows it, without brackets."""
        return (self.metavar or "").replace("[", "").replace("]", "")


def settled(context: click.Context) -> set[str]:
    """Return the names of configured options that give way. Raises UsageError for wrong usage."""
    given, wrong = _Given(context), list[str]()
    giving_way = {*given.replaced(), *given.excluded(wrong)} or {*given.idle(wrong)}
    if wrong and not giving_way:
        raise click.UsageError(wrong[0], context)
    return giving_way


def barred(context: click.Context) -> set[str]:
    """Return the options, as they are typed, that do not go with what was typed so far."""
    given = _Given(context)
    pairs = [(mine, term) for _, mine, term in given.exclusions()]
    found = {other for one, other in [*pairs, *(each[::-1] for each in pairs)] if given.of(one)}
    return {name for term in found if term in given.named for name in given.named[term].opts}


class _Given:
    """What a command was given, by its context."""

    def __init__(self, context: click.Context) -> None:
        self.context = context
        self.known = [each for each in context.command.params if isinstance(each, Related)]
        self.named = {name: each for each in self.known for name in (each.typed, *each.opts)}
        ranks = [(each, self._rank(each)) for each in self.known]
        self.ranks = {each: rank for each, rank in ranks if rank is not None}
        """How directly each parameter was given, beginning with 0 for the command line."""

    def _rank(self, parameter: Related) -> int | None:
        name = parameter.name or ""
        value, source = self.context.params.get(name), self.context.get_parameter_source(name)
        is_empty = value == () and (parameter.multiple or parameter.nargs == -1)
        if value is None or value is False or is_empty or source is ParameterSource.DEFAULT:
            return None
        is_of_file = source is ParameterSource.DEFAULT_MAP
        return is_of_file * (1 if name in self.context.meta.get(OF_TREE, ()) else 2)

    def holder(self, term: str) -> Related | None:
        """Return the parameter of a term if it was given, or has the value of the term."""
        name, _, value = term.partition(" ")
        found = self.named.get(name)
        if found is None or not value:
            return found if found in self.ranks else None
        has = values_of(self.context.params.get(found.name or ""))
        wanted = values_of(found.type(value, found, self.context))
        return found if any(each in has for each in wanted) else None

    def of(self, term: str) -> Related | None:
        """Return the parameter of a term if it was given, and with the value of the term."""
        found = self.holder(term)
        return found if found in self.ranks else None

    def exclusions(self) -> Iterator[tuple[Related, str, str]]:
        """Yield each parameter with a term for it and a term that it excludes."""
        for one in self.known:
            for value, terms in one.excludes.items():
                for term in terms:
                    yield one, one.term(value), term

    def replaced(self) -> Iterator[str]:
        """Yield the names of the configured options that a more direct one replaces."""
        for one, rank in self.ranks.items():
            for other in filter(None, map(self.of, one.replaces)):
                if self.ranks[other] > rank:
                    yield other.name or ""

    def excluded(self, wrong: list[str]) -> Iterator[str]:
        """Yield the names of the configured options that a more direct one excludes."""
        for _, mine, term in self.exclusions():
            one, other = self.of(mine), self.of(term)
            if one is None or other is None:
                continue
            if self.ranks[one] == self.ranks[other]:
                wrong.append(f"{mine} and {term} exclude each other")
            else:
                yield max(one, other, key=self.ranks.__getitem__).name or ""

    def idle(self, wrong: list[str]) -> Iterator[str]:
        """Yield the names of the configured options that lack what they need."""
        for one in self.known:
            if isinstance(one, Argument) and one.instead and not self._has(one.typed, *one.instead):
                wrong.append(f"give {_either((one.typed, *one.instead))}")
            for value, terms in one.needs.items():
                mine = one.term(value)
                if self.of(mine) is None or self._has(*terms):
                    continue
                if self.ranks[one]:
                    yield one.name or ""
                else:
                    wrong.append(f"{mine} needs {_either(self.known_terms(terms))}")

    def _has(self, *terms: str) -> bool:
        """Whether one of the terms holds, or the command has none of their parameters."""
        known = self.known_terms(terms)
        return not known or any(map(self.holder, known))

    def known_terms(self, terms: Iterable[str]) -> list[str]:
        """Return the terms about parameters that the command has."""
        return [each for each in terms if each.partition(" ")[0] in self.named]


def _by_value(terms: Terms) -> dict[str, tuple[str, ...]]:
    """Return terms by the value of the parameter that has them; "" is for any value."""
    by_value = terms if isinstance(terms, Mapping) else {"": terms}
    return {value: tuple(each) for value, each in by_value.items() if each}


def _either(terms: Iterable[str]) -> str:
    *first, last = terms
    return f"{', '.join(first)} or {last}" if first else last


def values_of(value: Any) -> Any:
    """Return the values of a parameter as a tuple, also of one that takes only one value."""
    return value if isinstance(value, tuple) else (value,)


def contexts_below(context: click.Context) -> Iterator[click.Context]:
    """Yield the context of a command, or of every command below a group, which imports it."""
    group = context.command
    if not isinstance(group, click.Group):
        yield context
        return
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])
        if command is not None:
            settings = command.context_settings
            inner = click.Context(command, parent=context, info_name=name, **settings)
            yield from contexts_below(inner)
