"""The options that say what a report shows of a result, and the report that they ask for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from simdup.cli import options
from simdup.cli.output import Lines
from simdup.cli.terminal import look
from simdup.report import MOST_GROUPS, SORTS

if TYPE_CHECKING:  # these load numpy
    from simdup.records import ScanResult
    from simdup.report.order import View


class Shown(NamedTuple):
    """Which groups a report shows, in which order, and how much of each.

    sort: Which groups are the most useful: the most similar ones, the ones in which most bytes
        repeat, the ones with most files, or by name. A report in text ends with the most useful
        ones, next to the prompt; other formats begin with them.
    everything: Show every file of every group, also on a terminal and in folders that are copies.
    summary: Show only the summary.
    siblings: Also report files of one pattern: they are alike, but share that with many other
        files.
    """

    sort: str = options.choice("--sort", SORTS)
    limit: int | None = options.number(
        "--limit",
        "Show only the N most useful groups.  [default: all; on a terminal as many as fit, at most"
        f" {MOST_GROUPS}]",
    )
    everything: bool = options.flag("--all", excludes=("--limit",))
    summary: bool = options.flag("--summary", needs=("--format text",), replaces=("--format",))
    siblings: bool = options.flag("--siblings")
    verbose: bool = options.verbose

    def renderer(
        self, form: str, target: str | None, color: str, *, null: bool = False
    ) -> Callable[[ScanResult], Lines]:
        """Return the function that renders a result in a format; with `null`, names end in NUL."""
        from simdup.report import text

        if self.summary:
            return partial(text.closing, siblings=True)  # --siblings would change nothing
        if form == "text":
            shape = look(color, target, verbose=self.verbose)
            view = self._view(target)
            return partial(text.render, look=shape, view=view, siblings=self.siblings)
        from simdup.report import json_csv as data
        from simdup.report.order import selected

        renderers: dict[str, Callable[..., Lines]] = {
            "json": partial(data.render_json, siblings=self.siblings),
            "jsonl": partial(data.render_jsonl, siblings=self.siblings),
            "csv": partial(data.render_csv, siblings=self.siblings),
            "names": text.render_null if null else text.render_names,
            "fdupes": text.render_fdupes_null if null else text.render_fdupes,
        }
        # A program gets all groups, whatever a configuration file says, unless it asks for fewer.
        limit = self.limit if options.is_given("limit") else None
        return lambda result: renderers[form](selected(result, self.sort, limit))

    def _view(self, target: str | None) -> View:
        """Return how much a text report shows: all of it, unless it goes to a terminal."""
        from simdup.report.order import View

        if self.everything:
            return View(self.sort)
        if target is not None or not sys.stdout.isatty():
            return View(self.sort, self.limit, is_folded=True)
        if self.limit is not None:
            return View(self.sort, self.limit, is_brief=True, is_folded=True)
        from shutil import get_terminal_size

        lines = get_terminal_size().lines
        return View(self.sort, MOST_GROUPS, is_brief=True, is_folded=True, lines=lines)
