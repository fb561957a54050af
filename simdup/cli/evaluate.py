"""`simdup evaluate`: how accurate recipes are on labelled pairs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from simdup.cli.options import (
    detail_options,
    dictionaries_of,
    one_threshold,
    output_option,
    refuse_idle_options,
)
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.terminal import progress, tell
from simdup.cli.values import Choices, Lengths
from simdup.evaluation.evaluate import SIZES, evaluate
from simdup.recipe import MAX_STRING_HASH_BITS, FeatureKind, HashKind, Recipe, WeightKind
from simdup.report import accuracy, plot
from simdup.settings import SIMILARITY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simdup.evaluation.results import Evaluation

FORMATS: dict[str, Callable[..., Iterator[str]]] = {
    "table": accuracy.render,
    "json": accuracy.render_json,
    "csv": accuracy.render_csv,
}

DEFAULT_PRECISION = 0.99


@click.command("evaluate")
@click.option(
    "--pairs",
    type=click.Path(readable=False),
    metavar="CSV",
    help="Labelled pairs: left,right,duplicate,kind.  [default: simdup's own]",
)
@click.option(
    "--all-pairs",
    type=click.Path(readable=False),
    metavar="CSV",
    help="Labelled files: path,cluster (or pairs, whose duplicates are clusters). All pairs count,"
    " and the groups of scans are measured.",
)
@click.option(
    "--bits",
    type=Lengths(),
    default=",".join(map(str, SIZES)),
    show_default=True,
    help="Sizes of fingerprints.",
)
@click.option(
    "--features",
    type=Choices(FeatureKind),
    default=Recipe().features.value,
    show_default=True,
    help=f"What votes: any of {', '.join(each.value for each in FeatureKind)}.",
)
@click.option(
    "--hash",
    "hashes",
    type=Choices(HashKind),
    default=Recipe().hash.value,
    show_default=True,
    help=f"How a feature becomes bits: any of {', '.join(each.value for each in HashKind)}.",
)
@click.option(
    "-s",
    "--similarity",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="S",
    help="Threshold: exact similarity of verified scans, and the default k that it stands for."
    f"  [default: {SIMILARITY}]",
)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=0),
    metavar="BITS",
    help="The default k of every size instead, by distance alone (sizes below it are left out).",
)
@detail_options
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Take the mean over so many independent fingerprints: tells luck from merit.",
)
@click.option("--curve", is_flag=True, help="Report every k.")
@click.option(
    "--recommend", is_flag=True, help="Name the farthest thresholds that keep --precision."
)
@click.option(
    "--precision",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="P",
    help=f"What --recommend is to keep.  [default: {DEFAULT_PRECISION}]",
)
@click.option(
    "--plot",
    "picture",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Draw the figures, as .png or .svg; needs the extra 'plot'.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="How to report.",
)
@output_option
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def evaluate_command(**options: Any) -> int:  # noqa: ANN401
    """Measure how accurately fingerprints tell duplicates from other texts, by size.

    Without --pairs and --all-pairs on texts that simdup brings along. Exits with 0 when
    done, 2 when it cannot run, as with broken labels.

    \b
    Examples:
      simdup evaluate --bits 16,32,64
      simdup evaluate --pairs mine/pairs.csv --recommend --precision 0.99
      simdup evaluate --features shingles,words,keywords --plot accuracy.png
    """
    if options["pairs"] is not None and options["all_pairs"] is not None:
        raise click.UsageError("--pairs and --all-pairs are two kinds of labels; give one")
    if options["precision"] is not None and not options["recommend"]:
        raise click.UsageError("--precision goes with --recommend")
    inputs = [("--pairs", options["pairs"]), ("--all-pairs", options["all_pairs"])]
    inputs += dictionaries_of(options)
    refuse_same_files([("--output", options["target"]), ("--plot", options["picture"])], inputs)
    similarity, k = one_threshold(options)
    Recipe(bits=min(options["bits"]))  # refuses a size that is none
    sizes = [size for size in options["bits"] if k is None or k <= size] or options["bits"]
    recipes, left_out = _recipes(options | {"bits": sizes})
    if len(sizes) < len(options["bits"]):
        left_out.append(f"sizes below k = {k}")
    quiet, picture = options["quiet"], options["picture"]
    write = writer(options["target"], as_utf8=options["form"] == "json")
    draw = _drawer(picture)
    result = evaluate(
        options["pairs"],
        recipes,
        sizes,
        clusters=options["all_pairs"],
        similarity=similarity,
        k=k,
        draws=options["draws"],
        precision=(options["precision"] or DEFAULT_PRECISION) if options["recommend"] else None,
        progress=progress(quiet=quiet),
    )
    write(FORMATS[options["form"]](result, curve=options["curve"]))
    draw(result)
    if not quiet:
        for reason in left_out:
            tell(f"left out: {reason}")
        tell(f"evaluated in {result.seconds:.1f} s")
    return 0


def _drawer(picture: str | None) -> Callable[[Evaluation], None]:
    """A function that draws a picture, or does nothing. What is missing is said now."""
    if picture is None:
        return lambda _: None
    render = plot.renderer(picture)
    write = writer(picture, as_utf8=False)
    return lambda result: write(render(result))


def _recipes(options: dict[str, Any]) -> tuple[list[Recipe], list[str]]:
    """All combinations of features and hashes, and of those that cannot be, why not.

    Raises UsageError when none can be, and for options that go with none.
    """
    kinds, sizes = options["features"], options["bits"]
    refuse_idle_options(kinds)
    _refuse_idle_details(options)
    recipes, left_out = list[Recipe](), list[str]()
    for kind, name in product(kinds, options["hashes"]):
        most = MAX_STRING_HASH_BITS if name == HashKind.STRING.value else max(sizes)
        if kind == FeatureKind.SHINGLES.value and name != HashKind.MIX64.value:
            left_out.append(f"shingles with hash {name!r}: they take only 'mix64'")
            continue
        if options["draws"] > 1 and name == HashKind.STRING.value:
            left_out.append(f"{kind} with hash {name!r}: it has one draw only")
            continue
        if most < max(sizes):
            left_out.append(f"{kind} with hash {name!r} beyond {most} bits")
        if most >= min(sizes):
            recipes.append(_recipe(kind, name, min(sizes), options))
    if not recipes:
        raise click.UsageError(f"nothing is left: {left_out[0]}")
    for recipe in recipes:
        recipe.key()  # reads the dictionary and the stop words: better now than later
    return recipes, left_out


def _refuse_idle_details(options: dict[str, Any]) -> None:
    """Raise UsageError for details that go with none of the features."""
    kinds = options["features"]
    for option, its_features in (
        ("weights", ["keywords"]),
        ("user_dict", ["words", "keywords"]),
        ("stop_words", ["words", "keywords"]),
    ):
        is_given = options[option] not in {None, WeightKind.EXACT.value}
        if is_given and not set(its_features) & set(kinds):
            name, wanted = option.replace("_", "-"), " or ".join(its_features)
            others = ", ".join(kinds)
            raise click.UsageError(f"--{name} goes with --features {wanted}, not {others}")


def _recipe(kind: str, name: str, bits: int, options: dict[str, Any]) -> Recipe:
    """One recipe, with those of the options that mean something to it."""
    recipe = Recipe(
        features=FeatureKind(kind),
        hash=HashKind(name),
        bits=bits,
        ngram=options["ngram"],
        top=options["top"],
    )
    if recipe.uses_words:
        recipe = replace(recipe, user_dict=options["user_dict"], stop_words=options["stop_words"])
    if recipe.features is FeatureKind.KEYWORDS:
        recipe = replace(recipe, weights=WeightKind(options["weights"]))
    return recipe
