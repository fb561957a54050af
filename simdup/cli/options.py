"""Options that several commands share, and settings made of them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from simdup.cli.terminal import COLOR
from simdup.cli.values import Lengths, Size, converters_from, formats_from
from simdup.files.walk import Filters
from simdup.recipe import (
    MAX_BITS,
    MAX_STRING_HASH_BITS,
    FeatureKind,
    HashKind,
    Recipe,
    WeightKind,
    default_bits,
)
from simdup.settings import FORMATS, LINKAGES, SIMILARITY, Settings
from simdup.text.encodings import encoding_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from enum import Enum

    Command = TypeVar("Command", bound=Callable[..., Any])


def _choices(kind: type[Enum]) -> click.Choice[str]:
    return click.Choice([each.value for each in kind])


_DEFAULT = Recipe()

# What two texts must have to be near-duplicates.
_THRESHOLDS = [
    click.option(
        "-s",
        "--similarity",
        type=click.FloatRange(0, 1, min_open=True),
        metavar="S",
        help=f"Exact similarity from which two texts are near-duplicates.  [default: {SIMILARITY}]",
    ),
    click.option(
        "-k",
        "k",
        type=click.IntRange(min=0),
        metavar="BITS",
        help="Bare SimHash: texts within this many bits are near-duplicates (but texts of fewer"
        " than 16 features are still decided by their similarity).",
    ),
]

# How a fingerprint is made, when it is made in one way.
_FINGERPRINT = [
    click.option(
        "--bits",
        type=int,
        help=f"Size of a fingerprint: a multiple of 8 up to {MAX_BITS}."
        f"  [default: {_DEFAULT.bits}; {MAX_STRING_HASH_BITS} with --hash string]",
    ),
    click.option(
        "--features",
        type=_choices(FeatureKind),
        default=_DEFAULT.features.value,
        show_default=True,
        help="What votes: runs of consecutive tokens; jieba's words by count and IDF; jieba's"
        " keywords (the assignment); what stands between white space.",
    ),
    click.option(
        "--hash",
        "hash_kind",
        type=_choices(HashKind),
        default=_DEFAULT.hash.value,
        show_default=True,
        help="How a feature becomes bits; 'string' is the assignment's, up to 128 bits.",
    ),
]

# Files that details of that need.
_DICTIONARIES = [
    click.option(
        "--user-dict",
        type=click.Path(readable=False),
        metavar="FILE",
        help="A dictionary for jieba, a word a line, for 'words' and 'keywords'.",
    ),
    click.option(
        "--stop-words",
        type=click.Path(readable=False),
        metavar="FILE",
        help="Words that do not vote, one a line, for 'words' and 'keywords'.",
    ),
]

# Details of that.
_DETAILS = [
    click.option(
        "--ngram",
        type=Lengths(),
        default=",".join(map(str, _DEFAULT.ngram)),
        show_default=True,
        help="Tokens in a shingle; several lengths vote together.",
    ),
    click.option(
        "--top", type=int, default=_DEFAULT.top, show_default=True, help="How many keywords vote."
    ),
    click.option(
        "--weights",
        type=_choices(WeightKind),
        default=_DEFAULT.weights.value,
        show_default=True,
        help="How weights of keywords are rounded; all but the first are the assignment's.",
    ),
    *_DICTIONARIES,
]

_NO_VERIFY = click.option(
    "--no-verify",
    is_flag=True,
    help="Bare SimHash, within the bits that --similarity stands for, or fewer where chance"
    " would bring unrelated texts as near.",
)

_ENCODING = click.option(
    "--encoding", metavar="NAME", help="Read every file in this encoding, detect none."
)

# Which files of those under a path are taken.
_FILTERS = [
    click.option("--include", multiple=True, metavar="GLOB", help="Only files that match one."),
    click.option(
        "--exclude", multiple=True, metavar="GLOB", help="No files or folders that match."
    ),
    click.option(
        "--hidden", is_flag=True, help="Files and folders whose names begin with a dot, too."
    ),
    click.option(
        "--noise", is_flag=True, help="Folders of caches, trash and version control, too."
    ),
    click.option("--gitignore", is_flag=True, help="Leave out what .gitignore files name."),
    click.option(
        "--max-depth",
        type=click.IntRange(min=0),
        metavar="N",
        help="How deep to go, as in find: 1 reads what is right in PATH, 2 one folder deeper.",
    ),
    click.option(
        "--min-size", type=Size(), default=0, help="Smallest file to read, e.g. 500 or 10kB."
    ),
    click.option("--max-size", type=Size(), help="Largest file to read, e.g. 20MB."),
    click.option("--follow-symlinks", is_flag=True, help="Go where symbolic links lead."),
    click.option("--one-file-system", is_flag=True, help="Enter no folder on another file system."),
]

#: How pairs become groups.
linkage_option = click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    default=LINKAGES[0],
    show_default=True,
    help="Star: every member is alike its representative. Components: chains count.",
)

#: Where a report goes, for `output.writer`.
output_option = click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Report there.",
)

#: Whether a report for people is in colours, for `terminal.look`.
color_option = click.option(
    "--color",
    type=click.Choice(COLOR),
    default=COLOR[0],
    show_default=True,
    help="Colours in a report for people; auto: on a terminal, unless NO_COLOR is set.",
)

_FORMATS = click.option(
    "--formats",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="Documents whose text is extracted: text for none, all, or names with commas between: "
    + ", ".join(FORMATS)
    + ".",
)


_CONVERT = click.option(
    "--convert",
    "converters",
    multiple=True,
    metavar="EXT=COMMAND",
    help="Files that end in .EXT: what COMMAND prints is their text. {} in it is the file's path;"
    " without one it reads the file from stdin. No shell; 60 s of processor time a file.",
)


def settings_options(command: Command) -> Command:
    """All options that decide the answer; `settings_from` takes them."""
    reading = [_ENCODING, _FORMATS, _CONVERT]
    return _with([*_THRESHOLDS, _NO_VERIFY, *_FINGERPRINT, *_DETAILS, *reading], command)


def recipe_options(command: Command) -> Command:
    """Add the options that say how fingerprints and texts are made, for `settings_from`."""
    return _with([*_FINGERPRINT, *_DETAILS, _ENCODING, _FORMATS, _CONVERT], command)


def row_options(command: Command) -> Command:
    """What decides the answer where texts are rows; `settings_from` takes them."""
    return _with([*_THRESHOLDS, _NO_VERIFY, *_FINGERPRINT, *_DETAILS], command)


def given_options(command: Command) -> Command:
    """What an index only names: dictionaries and converters; `given_from` takes them."""
    return _with([*_DICTIONARIES, _CONVERT], command)


def reading_options(command: Command) -> Command:
    """What decides the text of a file; `reading_from` takes them."""
    return _with([_ENCODING, _FORMATS, _CONVERT], command)


def reading_from(options: dict[str, Any]) -> Settings:
    """Settings that say how files are read, out of the values of `reading_options`."""
    encoding, formats = options.pop("encoding"), formats_from(options.pop("formats"))
    if encoding is not None:
        encoding_named(encoding)
    converters = converters_from(options.pop("converters"))
    return Settings(encoding=encoding, formats=formats, converters=converters)


def threshold_options(command: Command) -> Command:
    """What two texts must have to be near-duplicates, and the size of fingerprints."""
    return _with([*_THRESHOLDS, _NO_VERIFY], command)


def given_from(options: dict[str, Any]) -> Settings:
    """Settings with dictionaries and converters alone, taken out of `options`."""
    files = {name: options.pop(name) for name in ("user_dict", "stop_words")}
    is_given = any(each is not None for each in files.values())
    recipe = Recipe(features=FeatureKind.WORDS, **files) if is_given else Recipe()
    return Settings(recipe, converters=converters_from(options.pop("converters")))


def dictionaries_of(options: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The options that name dictionaries and stop words, with their files, for `output`."""
    return [("--user-dict", options["user_dict"]), ("--stop-words", options["stop_words"])]


def filter_options(command: Command) -> Command:
    """All options that say which files are taken; `filters_from` reads them."""
    return _with(_FILTERS, command)


def filters_from(options: dict[str, Any]) -> Filters:
    """Filters from the values of `filter_options`. Raises UsageError for what cannot be."""
    if options["max_size"] is not None and options["max_size"] < options["min_size"]:
        raise click.UsageError("--max-size is less than --min-size: no file is both")
    return Filters(**{each.name: options[each.name] for each in fields(Filters)})


def detail_options(command: Command) -> Command:
    """Add the options that set the details of a fingerprint."""
    return _with(_DETAILS, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def refuse_idle_options(features: Collection[str]) -> None:
    """Raise UsageError for an option that was given and would change nothing."""
    given = click.get_current_context().get_parameter_source
    for name, its_features in (("ngram", "shingles"), ("top", "keywords")):
        if given(name) is ParameterSource.COMMANDLINE and its_features not in features:
            others = ", ".join(features)
            raise click.UsageError(f"--{name} goes with --features {its_features}, not {others}")


def one_threshold(options: dict[str, Any]) -> tuple[float, int | None]:
    """The similarity and k that were given, taken out of `options`. Raises UsageError for both."""
    similarity, k = options.pop("similarity"), options.pop("k")
    if similarity is not None and k is not None:
        raise click.UsageError("-k and --similarity are two thresholds; give one")
    return SIMILARITY if similarity is None else similarity, k


def settings_from(options: dict[str, Any], linkage: str = "star") -> Settings:
    """Settings from the values of `settings_options` or `row_options`, taken out of `options`.

    Raises UsageError for options that do not go together, ValueError for values that
    cannot be.
    """
    refuse_idle_options([options["features"]])
    recipe = Recipe(
        features=options.pop("features"),
        ngram=options.pop("ngram"),
        top=options.pop("top"),
        weights=options.pop("weights"),
        hash=options["hash_kind"],
        bits=default_bits(options["hash_kind"]) if options["bits"] is None else options["bits"],
        user_dict=options.pop("user_dict"),
        stop_words=options.pop("stop_words"),
    )
    recipe.key()  # reads the dictionary and the stop words: better now than after the walk
    encoding = options.pop("encoding", None)
    if encoding is not None:
        encoding_named(encoding)  # the same
    similarity, k = one_threshold(options)
    verified, formats = not options.pop("no_verify"), formats_from(options.pop("formats", "all"))
    converters = converters_from(options.pop("converters", ()))
    return Settings(recipe, similarity, k, verified, linkage, encoding, formats, converters)
