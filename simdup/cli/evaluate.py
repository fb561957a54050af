"""`simdup evaluate`: how accurate recipes are on labelled pairs."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import click

import simdup
from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.output import progress, tell, writer
from simdup.cli.shown import Page
from simdup.errors import BadValueError
from simdup.recipe import MAX_STRING_HASH_BITS, SIZES, FeatureKind, HashKind, Recipe


class Evaluate(NamedTuple):
    """The options of `simdup evaluate`.

    pairs: A table of labelled pairs: left,right,duplicate,kind,collection; the last two columns may
        be missing. Own shares are measured among the texts of a collection. [default: simdup's own
        pairs]
    all_pairs: A table of files: path,cluster; files of one cluster are duplicates (a table of pairs
        works, too). Evaluates every pair of files, and the groups that scans make.
    bits: The sizes of fingerprints to evaluate.
    similarity: The threshold of verified scans. The default k of each size is the number of bits
        that corresponds to it.
    own_share: In verified scans, at least this share of the wording of two near-duplicates must be
        in no other text; 0 asks for nothing.
    precision: The precision that --recommend must reach.
    k: Use this k as the default of every size; smaller sizes are left out.
    draws: Repeat with this many independent hash functions and report the mean, which tells luck
        from merit.
    curve: Report the accuracy at every k.
    recommend: Name the most tolerant thresholds that reach the precision of --precision.
    picture: Also draw the accuracy as a .png or .svg file; needs the extra 'plot'.
    """

    pairs: str | None = options.file(metavar="CSV", once=True)
    all_pairs: str | None = options.file(metavar="CSV", once=True, excludes=("--pairs",))
    bits: tuple[int, ...] = options.option(type=options.LENGTHS, default=",".join(map(str, SIZES)))
    features: tuple[str, ...] = options.several(FeatureKind, "What fingerprints are made of")
    hash: tuple[str, ...] = options.several(HashKind, "The hash functions")
    similarity: float = options.similarity_option()
    own_share: float = options.own_share_option()
    k: int | None = options.option("-k", type=options.WholeNumber(min=0), metavar="BITS")
    details: options.Details = options.part(options.Details)
    draws: int = options.option(type=options.WholeNumber(min=1), default=1)
    curve: bool = options.flag()
    recommend: bool = options.flag()
    precision: float = options.option(
        type=options.SHARE, default=0.99, metavar="P", needs=("--recommend",)
    )
    picture: str | None = options.file("--plot", once=True, writes=True)
    form: str = options.report_format(("table", "json", "csv"))
    target: str | None = options.output
    page: Page = options.part(Page)
    quiet: bool = options.quiet


@click.command("evaluate", cls=Command, record=Evaluate, work="simdup.evaluation.evaluate")
def evaluate_command(asked: Evaluate) -> int:
    """Measure how well fingerprints tell duplicates from other texts, by size.

    Without --pairs and --all-pairs, simdup evaluates texts that it brings along. Exits with 0
    when done, 2 if it cannot run, for example because labels are broken.

    \b
    Examples:
      simdup evaluate --bits 16,32,64
      simdup evaluate --pairs mine/pairs.csv --recommend --precision 0.99
      simdup evaluate --features shingles,words,keywords --plot accuracy.png
    """
    from simdup.report import accuracy

    options.refuse_overwriting()
    Recipe(bits=min(asked.bits))  # raises ValueError for a size that no fingerprint has
    sizes, recipes, left_out = _recipes(asked)
    write = asked.page.writer(asked.target, as_utf8=asked.form == "json")
    draw = _drawer(asked.picture)
    result = simdup.evaluate(
        asked.pairs,
        recipes,
        sizes,
        clusters=asked.all_pairs,
        similarity=asked.similarity,
        own_share=asked.own_share,
        k=asked.k,
        draws=asked.draws,
        precision=asked.precision if asked.recommend else None,
        progress=progress(quiet=asked.quiet),
    )
    renders = {"json": accuracy.render_json, "csv": accuracy.render_csv}
    lines = renders.get(asked.form, accuracy.render)(result, curve=asked.curve)
    try:
        write(lines, accuracy.render_page(result, asked.page.lang, time.time()))
    finally:  # whoever reads the output may have enough of it
        draw(result)
    if not asked.quiet:
        for reason in left_out:
            tell(f"left out: {reason}")
        tell(f"evaluated in {result.seconds:.1f} s")
    return 0


def _drawer(picture: str | None) -> Callable[[simdup.Evaluation], None]:
    """Return a function that draws a picture, or does nothing without one.

    Raises ExtraMissingError and InputError now if it could not be drawn or written.
    """
    if picture is None:
        return lambda _: None
    from simdup.report import plot

    render = plot.renderer(picture)
    write = writer(picture, as_utf8=False)
    return lambda result: write(render(result))


def _recipes(asked: Evaluate) -> tuple[list[int], list[Recipe], list[str]]:
    """Return sizes, a recipe for each possible pair of features and hash, and what was left out.

    Raises BadValueError when no combination is possible.
    """
    k = asked.k
    sizes = [size for size in asked.bits if k is None or k <= size] or [*asked.bits]
    recipes, left_out = list[Recipe](), list[str]()
    for kind, name in product(asked.features, asked.hash):
        most = MAX_STRING_HASH_BITS if name == HashKind.STRING.value else max(sizes)
        if problem := _problem(kind, name, asked.draws):
            left_out.append(f"{kind} with hash {name!r}{problem}")
            continue
        if most < max(sizes):
            left_out.append(f"{kind} with hash {name!r} beyond {most} bits")
        if most >= min(sizes):
            details = asked.details.of(kind)
            made = Recipe(FeatureKind(kind), hash=HashKind(name), bits=min(sizes), **details)
            recipes.append(made)
    if not recipes:
        raise BadValueError(f"nothing is left: {left_out[0]}")
    for recipe in recipes:
        recipe.key()  # reads the dictionary and the stop words: better now than later
    if len(sizes) < len(asked.bits):
        left_out.append(f"sizes below k = {k}")
    return sizes, recipes, left_out


def _problem(kind: str, name: str, draws: int) -> str | None:
    """Return why features cannot be evaluated with a hash at any size, or None."""
    if kind == FeatureKind.SHINGLES.value and name != HashKind.MIX64.value:
        return ": they take only 'mix64'"
    return ": it has one draw only" if draws > 1 and name == HashKind.STRING.value else None
