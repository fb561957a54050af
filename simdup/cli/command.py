"""The class of simdup's commands: options as records, help under headings, configuration files."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from simdup.cli.options import OptionalValue, filled, flag, parameters
from simdup.cli.output import tell
from simdup.cli.relations import TREE_FILE, barred, settled
from simdup.interrupt import raise_again
from simdup.report.wording import printable

_REST = "Advanced"
_EXPERIMENTS = "Fingerprints, for experiments"

# Options by the heading under which the help of a command with many options lists them.
_HEADINGS = {
    "What counts as a duplicate": "similarity parts against among keep fail_on_found",
    "Which files": "include exclude hidden gitignore archives text_field id_field",
    "Which file is kept": "prefer prefer_under keep_under let_go_under",
    "What may be removed": (
        "text formats_too near newest_too protect only_under protect_name most most_files yes_many"
    ),
    "What is done": "apply skip_unconsented review to link reflink permanently check resume",
    "Output": "form target html opens show_diff quiet",
    "What the report shows": "sort limit everything summary related siblings verbose",
    _REST: "",
    _EXPERIMENTS: (
        "k no_verify bits features hash ngram top weights user_dict stop_words no_fold_variants"
    ),
}

# Where the context has the names of the parameters that were typed, in this order, and all words.
ORDER, TYPED = "simdup.order", "simdup.typed"

# A command with fewer options than this lists them all under one heading.
_MANY = 16


class Command(click.Command):
    """A command that lists many options under headings and reads configuration files."""

    def __init__(self, *args: Any, record: Any, work: str | None = None, **kwargs: Any) -> None:
        """Make a command whose callback takes a `record` of options, see `cli.options`.

        `work` names the module that does the work, which is slow to import.
        """
        super().__init__(*args, **kwargs)
        self._run: Any = self.callback
        self._record, self._work = record, work
        self.params += parameters(record)
        no_config = flag(
            "--no-config", "Do not read configuration files.", expose_value=False, once=True
        )
        self.params.append(no_config("no_config", None))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with defaults from configuration files.

        Raises InputError for a wrong configuration, and UsageError.
        """
        ctx.meta[TYPED] = tuple(args)
        for option in self.params:
            if isinstance(option, OptionalValue):
                args = option.completed(args)
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        with click.core.augment_usage_errors(ctx):
            typed, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[ORDER] = [each.name for each in order]
        help_option = self.get_help_option(ctx)  # versions of click name it differently
        is_help = help_option is not None and typed.get(help_option.name or "")
        defaults = dict[str, Any]()
        if not (typed.get("no_config") or is_help):
            from simdup.cli.configuration import configured

            defaults = configured(ctx, typed)
        while True:
            ctx.default_map = defaults
            rest = super().parse_args(ctx, list(args))
            if not (yielding := settled(ctx)):
                return rest
            defaults = {name: defaults[name] for name in defaults.keys() - yielding}
            ctx.params.clear()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what Tab offers: no option that those typed before exclude."""
        offered = super().shell_complete(ctx, incomplete)
        return [each for each in offered if each.value not in barred(ctx)]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and name the file in the tree that set some of its options.

        While slow modules are imported, Ctrl-C ends the program at once.
        """
        if self._work is not None and self._work not in sys.modules:
            # Imports leave hardly any garbage: looking for it takes 12 ms, and 40 ms at the end.
            gc.disable()
            import_module(self._work)
            gc.freeze()
        gc.enable()
        raise_again()
        try:
            return ctx.invoke(self._run, filled(self._record, ctx.params))
        finally:
            file = ctx.meta.get(TREE_FILE)
            if file is not None and not ctx.params.get("quiet"):
                tell(f"some options are from {printable(file)} (--no-config leaves it out)")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; many of them under headings, the most useful ones first."""
        every = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = {
            each.name: record for each in every if (record := each.get_help_record(ctx)) is not None
        }
        sections = {"Options": [*records.values()]}
        if len(records) >= _MANY:
            of_name = {name: each for each, names in _HEADINGS.items() for name in names.split()}
            sections = {heading: [] for heading in _HEADINGS}
            for name, record in records.items():
                sections[of_name.get(name or "", _REST)].append(record)
        for heading, options in sections.items():
            if options:
                with formatter.section(heading):
                    formatter.write_dl(options)


class Group(click.Group):
    """A group whose commands are of the class `Command`."""

    command_class = Command
