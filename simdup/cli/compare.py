"""`simdup compare`: two files side by side."""

from __future__ import annotations

from typing import Any

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.output import writer
from simdup.cli.terminal import look, progress


@click.command("compare", cls=Command, work="simdup.files.compare")
@click.argument("left", type=options.PATH, metavar="A")
@click.argument("right", type=options.PATH, metavar="B")
@options.file_matching
@options.file(
    "--among",
    "Also compute the own share: how much of their common wording no other file under FOLDER has."
    " If it is too small, A and B are not near-duplicates.",
    metavar="FOLDER",
    multiple=True,
)
@options.flag("--diff", "show_diff", "Also show the sentences that differ.")
@options.flag(
    "-v",
    "--verbose",
    "Also show the fingerprints and how far apart they are, which JSON always has.",
)
@options.report_format(["text", "json"], "text")
@options.color
def compare_command(
    left: str,
    right: str,
    *,
    among: tuple[str, ...],
    show_diff: bool,
    verbose: bool,
    form: str | None,
    color: str,
    **given: Any,
) -> int:
    """Say how much the texts of A and B are alike.

    Exits with 0 for near-duplicates, 1 for other texts, 2 on errors.

    \b
    Examples:
      simdup compare draft.txt final.txt --diff
      simdup compare a-gbk.txt b-utf8.txt --format json
      simdup compare lease-2023.txt lease-2024.txt --among leases/
    """
    from simdup.files.among import compare_among
    from simdup.files.compare import compare
    from simdup.report import diff, text
    from simdup.report import json_csv as data

    is_json = form == "json"
    if show_diff and is_json:
        raise click.UsageError("--diff is for reading; leave out --format json")
    settings = options.settings_from(given)
    if not among:
        comparison = compare(left, right, settings)
    elif not (settings.verified and settings.own_share):
        raise click.UsageError("--among needs own shares; leave out -k, --no-verify, --own-share 0")
    else:
        show = progress(quiet=False)
        comparison = compare_among(left, right, among, settings, jobs=None, progress=show)
    write, shape = writer(None, as_utf8=is_json), look(color)
    if is_json:
        write(data.render_comparison(comparison))
    else:
        write(text.render_comparison(comparison, shape, verbose=verbose))
    if show_diff:
        write(diff.render(*comparison.texts, (left, right), shape))
    return 0 if comparison.kind is not None else 1
