"""`simdup evaluate`: how accurate recipes are on labelled pairs."""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.page import page_options, page_target
from simdup.cli.terminal import progress, tell
from simdup.recipe import MAX_STRING_HASH_BITS, SIZES, FeatureKind, HashKind, Recipe
from simdup.settings import OWN_SHARE, SIMILARITY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simdup.evaluation.results import Evaluation

FORMATS = ("table", "json", "csv")

DEFAULT_PRECISION = 0.99


@click.command("evaluate", cls=Command, work="simdup.evaluation.evaluate")
@options.file(
    "--pairs",
    "A table of labelled pairs: left,right,duplicate,kind,collection; the last two columns may be"
    " missing. Own shares are measured among the texts of a collection.  [default: simdup's own"
    " pairs]",
    metavar="CSV",
)
@options.file(
    "--all-pairs",
    "A table of files: path,cluster; files of one cluster are duplicates (a table of pairs"
    " works, too). Evaluates every pair of files, and the groups that scans make.",
    metavar="CSV",
)
@options.option(
    "--bits",
    "The sizes of fingerprints to evaluate.",
    type=options.LENGTHS,
    default=",".join(map(str, SIZES)),
)
@options.several("--features", FeatureKind, "What fingerprints are made of")
@options.several("--hash", HashKind, "The hash functions")
@options.option(
    "-s",
    "--similarity",
    "The threshold of verified scans. The default k of each size is the number of bits that"
    f" corresponds to it.  [default: {SIMILARITY}]",
    type=options.SHARE,
    metavar="S",
)
@options.option(
    "--own-share",
    "In verified scans, at least this share of the wording of two near-duplicates must be in no"
    f" other text; 0 asks for nothing.  [default: {OWN_SHARE}]",
    type=options.ParsedValue("share", options.share_or_0),
    metavar="R",
)
@options.option(
    "-k",
    "k",
    "Use this k as the default of every size; smaller sizes are left out.",
    type=options.WholeNumber(min=0),
    metavar="BITS",
)
@options.details
@options.option(
    "--draws",
    "Repeat with so many independent hash functions and report the mean, which tells luck"
    " from merit.",
    type=options.WholeNumber(min=1),
    default=1,
)
@options.flag("--curve", "Report the accuracy at every k.")
@options.flag(
    "--recommend", "Name the most tolerant thresholds that reach the precision of --precision."
)
@options.option(
    "--precision",
    f"The precision that --recommend must reach.  [default: {DEFAULT_PRECISION}]",
    type=options.SHARE,
    metavar="P",
)
@options.file(
    "--plot", "picture", "Also draw the accuracy as a .png or .svg file; needs the extra 'plot'."
)
@options.report_format(FORMATS, "table")
@options.output
@page_options(None)
@options.quiet
def evaluate_command(**given: Any) -> int:
    """Measure how well fingerprints tell duplicates from other texts, by size.

    Without --pairs and --all-pairs, simdup evaluates texts that it brings along. Exits with 0
    when done, 2 if it cannot run, for example because labels are broken.

    \b
    Examples:
      simdup evaluate --bits 16,32,64
      simdup evaluate --pairs mine/pairs.csv --recommend --precision 0.99
      simdup evaluate --features shingles,words,keywords --plot accuracy.png
    """
    from simdup.evaluation.evaluate import evaluate
    from simdup.report import accuracy

    _check(given)
    similarity, k = options.one_threshold(given)
    own_share = OWN_SHARE if given["own_share"] is None else given["own_share"]
    sizes, recipes, left_out = _recipes(given, k)
    form, quiet = given["form"] or "table", given["quiet"]
    write = writer(given["target"], as_utf8=form == "json")
    draw, write_page = _drawer(given["picture"]), page_target(given)
    result = evaluate(
        given["pairs"],
        recipes,
        sizes,
        clusters=given["all_pairs"],
        similarity=similarity,
        own_share=own_share,
        k=k,
        draws=given["draws"],
        precision=(given["precision"] or DEFAULT_PRECISION) if given["recommend"] else None,
        progress=progress(quiet=quiet),
    )
    renders = {"json": accuracy.render_json, "csv": accuracy.render_csv}
    try:
        write(renders.get(form, accuracy.render)(result, curve=given["curve"]))
    finally:  # whoever reads the output may have enough of it
        draw(result)
        if write_page is not None:
            write_page(_page(result, given["lang"]))
    if not quiet:
        for reason in left_out:
            tell(f"left out: {reason}")
        tell(f"evaluated in {result.seconds:.1f} s")
    return 0


def _check(given: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go together, and for an output that is an input."""
    if given["pairs"] is not None and given["all_pairs"] is not None:
        raise click.UsageError("--pairs and --all-pairs are two kinds of labels; give one")
    if given["precision"] is not None and not given["recommend"]:
        raise click.UsageError("--precision goes with --recommend")
    inputs = [("--pairs", given["pairs"]), ("--all-pairs", given["all_pairs"])]
    inputs += options.dictionary_files(given)
    outputs = [("--output", given["target"]), ("--plot", given["picture"])]
    refuse_same_files([*outputs, ("--html", given["html"])], inputs)
    options.refuse_idle_options(given["features"])
    Recipe(bits=min(given["bits"]))  # raises ValueError for a size that no fingerprint has


def _page(result: Evaluation, language: str | None) -> Iterator[str]:
    """Return the lines of the page."""
    from simdup.report.page.accuracy import render_accuracy

    return render_accuracy(result, language, time.time())


def _drawer(picture: str | None) -> Callable[[Evaluation], None]:
    """Return a function that draws a picture, or does nothing without one.

    Raises ExtraMissingError and InputError now if it could not be drawn or written.
    """
    if picture is None:
        return lambda _: None
    from simdup.report import plot

    render = plot.renderer(picture)
    write = writer(picture, as_utf8=False)
    return lambda result: write(render(result))


def _recipes(given: dict[str, Any], k: int | None) -> tuple[list[int], list[Recipe], list[str]]:
    """Return sizes, a recipe for each possible pair of features and hash, and what was left out.

    Raises UsageError when no combination is possible.
    """
    sizes = [size for size in given["bits"] if k is None or k <= size] or given["bits"]
    recipes, left_out = list[Recipe](), list[str]()
    for kind, name in product(given["features"], given["hash"]):
        most = MAX_STRING_HASH_BITS if name == HashKind.STRING.value else max(sizes)
        if problem := _problem(kind, name, given["draws"]):
            left_out.append(f"{kind} with hash {name!r}{problem}")
            continue
        if most < max(sizes):
            left_out.append(f"{kind} with hash {name!r} beyond {most} bits")
        if most >= min(sizes):
            details = options.details_of(kind, given)
            recipes.append(
                Recipe(FeatureKind(kind), hash=HashKind(name), bits=min(sizes), **details)
            )
    if not recipes:
        raise click.UsageError(f"nothing is left: {left_out[0]}")
    for recipe in recipes:
        recipe.key()  # reads the dictionary and the stop words: better now than later
    if len(sizes) < len(given["bits"]):
        left_out.append(f"sizes below k = {k}")
    return sizes, recipes, left_out


def _problem(kind: str, name: str, draws: int) -> str | None:
    """Return why features cannot be evaluated with a hash at any size, or None."""
    if kind == FeatureKind.SHINGLES.value and name != HashKind.MIX64.value:
        return ": they take only 'mix64'"
    return ": it has one draw only" if draws > 1 and name == HashKind.STRING.value else None
