"""The class of simdup's commands: help under headings, and defaults from configuration files."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from simdup.cli.options import OptionalValue
from simdup.cli.terminal import tell
from simdup.interrupt import raise_again
from simdup.report.wording import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

# Options by the heading under which the help of a command with many options lists them.
_HEADINGS = {
    "What counts as a duplicate": (
        *("similarity", "parts", "against", "among", "keep", "fail_on_found"),
    ),
    "Which files": (
        "include",
        "exclude",
        "hidden",
        "gitignore",
        "archives",
        "text_field",
        "id_field",
    ),
    "Which file is kept": ("prefer", "prefer_under"),
    "What may go": (
        *("text", "formats_too", "near", "protect", "only_under", "protect_name"),
        *("most", "most_files", "yes_many"),
    ),
    "What is done": (
        *("apply", "review", "to", "link", "reflink", "permanently", "check", "resume"),
    ),
    "Output": ("form", "target", "html", "opens", "show_diff", "quiet"),
    "What the report shows": ("sort", "limit", "everything", "summary", "siblings", "verbose"),
}
_REST = "Advanced"
_EXPERIMENTS = "Fingerprints, for experiments"
_OF_EXPERIMENTS = frozenset(
    {
        *("k", "no_verify", "bits", "features", "hash", "ngram", "top", "weights"),
        *("user_dict", "stop_words", "no_fold_variants"),
    }
)

# A command with fewer options than this lists them all under one heading.
_MANY = 16


class Command(click.Command):
    """A command that lists many options under headings and reads configuration files."""

    def __init__(self, *args: Any, work: str | None = None, **kwargs: Any) -> None:
        """`work` names the module that does the work, which is slow to import."""
        super().__init__(*args, **kwargs)
        self._work = work
        self.params.append(
            click.Option(
                ["--no-config"],
                is_flag=True,
                expose_value=False,
                help="Do not read configuration files.",
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with defaults from configuration files. Raises InputError."""
        for option in self.get_params(ctx):
            if isinstance(option, OptionalValue):
                args = option.completed(args)
        if not ctx.resilient_parsing:
            given, *_ = self.make_parser(ctx).parse_args(list(args))
            help_option = self.get_help_option(ctx)  # versions of click name it differently
            is_help = help_option is not None and given.get(help_option.name or "")
            if not (given.get("no_config") or is_help):
                from simdup.cli.configuration import configured

                ctx.default_map = configured(ctx, given)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and name the file in the tree that set some of its options.

        Until all that is slow is imported, Ctrl-C ends the program at once.
        """
        if self._work is not None and self._work not in sys.modules:
            # Imports leave hardly any garbage: looking for it takes 12 ms, and 40 ms at the end.
            gc.disable()
            import_module(self._work)
            gc.freeze()
        gc.enable()
        raise_again()
        try:
            return super().invoke(ctx)
        finally:
            file = ctx.meta.get("simdup.configuration")
            if file is not None and not ctx.params.get("quiet"):
                tell(f"some options are from {printable(file)} (--no-config leaves it out)")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; many of them under headings, the most useful ones first."""
        records = [
            (parameter.name or "", record)
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            and (record := parameter.get_help_record(ctx)) is not None
        ]
        sections = _sections(records) if len(records) >= _MANY else {"Options": records}
        for heading, options in sections.items():
            if options:
                with formatter.section(heading):
                    formatter.write_dl([record for _, record in options])


def _sections(
    records: Sequence[tuple[str, tuple[str, str]]],
) -> dict[str, list[tuple[str, tuple[str, str]]]]:
    """Return the help records of options by heading, in the order of the headings."""
    of_name = {name: heading for heading, names in _HEADINGS.items() for name in names}
    of_name |= dict.fromkeys(_OF_EXPERIMENTS, _EXPERIMENTS)
    sections: dict[str, list[tuple[str, tuple[str, str]]]] = {
        heading: [] for heading in (*_HEADINGS, _REST, _EXPERIMENTS)
    }
    for name, record in records:
        sections[of_name.get(name, _REST)].append((name, record))
    return sections


class Group(click.Group):
    """A group whose commands are of the class `Command`."""

    command_class = Command
