"""`simdup compare`: two files side by side."""

from __future__ import annotations

from typing import NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.output import look, progress, writer


class Compare(NamedTuple):
    """The options of `simdup compare`.

    among: Also compute the own share: how much of their common wording no other file under FOLDER
        has. If it is too small, A and B are neither near nor related.
    show_diff: Also show the sentences that differ, or the lines if the words are the same: each
        with the number of its line, and with [-old-] and {+new+} words marked.
    verbose: Also show the fingerprints and how far apart they are, which JSON always has.
    """

    left: str = options.argument("A", options.PATH)
    right: str = options.argument("B", options.PATH)
    matching: options.Matching = options.part(options.Matching)
    reading: options.Reading = options.part(options.Reading)
    among: tuple[str, ...] = options.file(
        metavar="FOLDER", multiple=True, once=True, excludes=(*options.BARE, "--own-share 0")
    )
    show_diff: bool = options.flag("--diff", once=True, excludes=("--format json",))
    verbose: bool = options.flag("-v", "--verbose")
    form: str = options.report_format(["text", "json"])
    color: str = options.color


@click.command("compare", cls=Command, record=Compare, work="simdup.files.compare")
def compare_command(asked: Compare) -> int:
    """Say how much the texts of A and B are alike.

    Near texts are versions or parts of one text; related ones are alike, but perhaps just two of
    a series.

    Exits with 0 for near and related texts, 1 for others, 2 on errors.

    \b
    Examples:
      simdup compare draft.txt final.txt --diff
      simdup compare a-gbk.txt b-utf8.txt --format json
      simdup compare lease-2023.txt lease-2024.txt --among leases/
    """
    from simdup.files.compare import compare, compare_among
    from simdup.report import diff, text
    from simdup.report import json_csv as data

    left, right, is_json = asked.left, asked.right, asked.form == "json"
    settings = asked.matching.settings(asked.reading)
    if asked.among:
        show = progress(quiet=False)
        comparison = compare_among(left, right, asked.among, settings, jobs=None, progress=show)
    else:
        comparison = compare(left, right, settings)
    write, shape = writer(None, as_utf8=is_json), look(asked.color, verbose=asked.verbose)
    if is_json:
        write(data.render_comparison(comparison))
    else:
        write(text.render_comparison(comparison, shape))
    if asked.show_diff:
        same = text.same_words(comparison)
        write(diff.render(*comparison.texts, (left, right), shape, same=same))
    return 0 if comparison.kind is not None else 1
