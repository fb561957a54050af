"""Options that several commands share, and the settings and filters that they make."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import fields
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from simdup.cli.terminal import COLOR
from simdup.errors import InputError
from simdup.recipe import (
    MAX_BITS,
    MAX_STRING_HASH_BITS,
    FeatureKind,
    HashKind,
    Recipe,
    WeightKind,
    default_bits,
)
from simdup.settings import FORMATS, LINKAGES, OWN_SHARE, PARTS, SIMILARITY, Converter, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from enum import Enum
    from typing import BinaryIO, TypeAlias

    from simdup.corpus.records import Balance
    from simdup.files.walk import Filters
    from simdup.records import ScanResult

    Decorator: TypeAlias = Callable[[Any], Any]

FOUND, TROUBLE_WITH_INPUT = 1, 3

_DEFAULT = Recipe()
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

# The features that each detail of a recipe belongs to.
_FEATURES_OF = {
    "ngram": ("shingles",),
    "top": ("keywords",),
    "weights": ("keywords",),
    "user_dict": ("words", "keywords"),
    "stop_words": ("words", "keywords"),
    "no_fold_variants": ("shingles", "words"),
}


class ParsedValue(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """An option type whose values a function parses from text; its ValueError is a usage error."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; defaults that are no text stay as they are."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class OptionalValue(click.Option):
    """An option whose value may be left out: the next argument is its value only if it fits.

    `flag_value` is the value if it is left out. Click itself would take any argument, even a file.
    A number that names no file counts as the value, so that a wrong number is reported.
    """

    def __init__(self, *args: Any, flag_value: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.usual = flag_value

    def completed(self, arguments: Sequence[str]) -> list[str]:
        """Return the arguments of a command with a value after each bare name of this option."""
        found = list[str]()
        for place, argument in enumerate(arguments):
            if argument == "--":
                return [*found, *arguments[place:]]
            is_bare = argument in self.opts and not self._fits(arguments[place + 1 : place + 2])
            found.append(f"{argument}={self.usual}" if is_bare else argument)
        return found

    def _fits(self, following: Sequence[str]) -> bool:
        if not following:
            return False
        try:
            return self.type.convert(following[0], None, None) is not None
        except click.BadParameter:
            is_number = re.fullmatch(r"[\d.]+%?", following[0]) is not None
            return is_number and not os.path.lexists(following[0])


def size_bytes(text: str) -> int:
    """Return the number of bytes that a size means, as 500, 10k, 2.5MB (1000s) or 1MiB (1024s).

    >>> size_bytes("2.5 MB"), size_bytes("1KiB")
    (2500000, 1024)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is no size; write 500, 10k, 2.5MB or 1MiB")
    number, unit, binary = match.groups()
    try:
        return int(float(number) * (1024 if binary else 1000) ** _UNITS[unit])
    except OverflowError:
        raise ValueError("no file is that large") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    """Return the whole numbers in a list with commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{text!r} is no list of whole numbers such as 2 or 2,3") from None


def share(text: str) -> float:
    """Return a share above 0 and up to 1, given as such or in per cent.

    >>> share("0.8"), share("80"), share("80%"), share("1")
    (0.8, 0.8, 0.8, 1.0)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(%?)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no share; write 0.8 or 80%")
    number, sign = float(match[1]), match[2]
    is_percentage = sign or (number >= 2 and number.is_integer())
    value = number / 100 if is_percentage else number
    if 1 < number < 100 and not is_percentage:
        raise ValueError(f"{text!r} could be a share or a percentage; write {number}%")
    if not 0 < value <= 1:
        raise ValueError(f"{text!r} is not above 0 and at most 1 (or 100%)")
    return value


def share_or_0(text: str) -> float:
    """Return a share from 0 to 1, given as such or in per cent.

    >>> share_or_0("0"), share_or_0("0%"), share_or_0("57")
    (0.0, 0.0, 0.57)
    """
    return 0.0 if re.fullmatch(r"0+(\.0*)?\s*%?", text.strip()) else share(text)


def _among(known: Collection[str], text: str) -> tuple[str, ...]:
    """Return the names in a list with commas, each once. Raises ValueError for an unknown one."""
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is none of {', '.join(known)}")
    return names


def _formats(text: str) -> tuple[str, ...]:
    """Return the document formats to extract: names with commas, `text` for none, or `all`."""
    names = _among(("text", "all", *FORMATS), text)
    return FORMATS if "all" in names else tuple(name for name in names if name != "text")


def _converter(text: str) -> Converter:
    """Return the converter of EXT=COMMAND. Raises ValueError if its program is not installed."""
    import shutil

    converter = Converter.of(text)
    if shutil.which(converter.command[0]) is None:
        raise ValueError(f"{text!r}: there is no program {converter.command[0]!r}")
    return converter


def _encoding(text: str) -> str:
    """Return the name of an encoding. Raises ValueError if no text file can be in it."""
    from simdup.text.encodings import encoding_named

    encoding_named(text)
    return text


def together(*several: Decorator) -> Decorator:
    """Return one decorator that adds several options to a command, in this order."""
    return lambda command: reduce(lambda added, option: option(added), reversed(several), command)


def option(*names: str, **attributes: Any) -> Decorator:
    """Return an option; its help is the last of `names`, and shows the default if there is one."""
    shows_default = attributes.get("default") is not None
    return click.option(*names[:-1], help=names[-1], show_default=shows_default, **attributes)


def check_saved(path: str) -> None:
    """Raise InputError if a path that should name the result of a scan is a folder or a device."""
    if os.path.isdir(path):
        how = "name a result, which `simdup scan FOLDER --format json --output FILE` saves"
        raise InputError(f"{path!r}: a folder; {how}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path!r}: not a regular file")


class WholeNumber(click.IntRange):
    """A whole number within a range; messages call it a number, and not a range."""

    name = "integer"


def number(*names: str, default: int | None = None) -> Decorator:
    """Return an option that takes a whole number from 1 on; its help is the last of `names`."""
    return option(*names, type=WholeNumber(min=1), default=default, metavar="N")


def flag(*names: str) -> Decorator:
    """Return an option without a value; its help is the last of `names`."""
    return option(*names, is_flag=True)


def file(*names: str, metavar: str = "FILE", multiple: bool = False) -> Decorator:
    """Return an option that takes a path; its help is the last of `names`."""
    return option(*names, type=PATH, metavar=metavar, multiple=multiple)


def choice(name: str, choices: Iterable[str], text: str) -> Decorator:
    """Return an option that takes one of `choices`; the first is the default."""
    kind = click.Choice([getattr(each, "value", each) for each in choices])
    return option(name, text, type=kind, default=kind.choices[0])


def several(name: str, kind: type[Enum], text: str) -> Decorator:
    """Return an option that takes one or more members of an enumeration, the first by default."""
    known = [each.value for each in kind]
    parsed = ParsedValue("name[,name...]", partial(_among, known))
    return option(
        name, f"{text}: one or more of {', '.join(known)}.", type=parsed, default=known[0]
    )


def report_format(names: Iterable[str], default: str) -> Decorator:
    """Return the option `--format`, as `form`; None unless it is given."""
    text = f"The format of the report.  [default: {default}]"
    return option("--format", "form", text, type=click.Choice([*names]))


#: The path of a file. Whether it can be read shows when it is read, with one message everywhere.
PATH = click.Path(readable=False)
LENGTHS = ParsedValue("n[,n...]", whole_numbers)
SHARE = ParsedValue("share", share)
_SHARE_OR_0 = ParsedValue("share", share_or_0)
_SIZE = ParsedValue("size", size_bytes)

#: What makes two texts near-duplicates; for `settings_from` or `one_threshold`.
thresholds = together(
    option(
        "-s",
        "--similarity",
        "Texts with at least this exact similarity are near-duplicates: 0.8, 80 or 80%. Short and"
        f" very long texts need more.  [default: {SIMILARITY}]",
        type=SHARE,
        metavar="S",
    ),
    option(
        "-k",
        "k",
        "Compare fingerprints alone: texts whose fingerprints differ in at most so many bits"
        " are near-duplicates (texts of fewer than 16 features are still compared exactly).",
        type=WholeNumber(min=0),
        metavar="BITS",
    ),
    flag(
        "--no-verify",
        "Compare fingerprints alone, within the number of bits that --similarity corresponds to,"
        " or fewer if unrelated texts would be that near by chance.",
    ),
)

_own_share = option(
    "--own-share",
    "At least this share of what two near-duplicates have in common must be in no other"
    " text: 0.6, 60 or 60%; 0 asks for nothing.  "
    f"[default: {OWN_SHARE}]",
    type=_SHARE_OR_0,
    metavar="R",
)

#: Whether parts of larger texts are looked for; for `settings_from`. The value may be left out.
parts = option(
    "--parts",
    "Also find texts of which at least this share stands in a larger text, as a chapter in a book."
    f"  [default: {PARTS}, where only --parts is given]",
    type=SHARE,
    metavar="[SHARE]",
    cls=OptionalValue,
    flag_value=str(PARTS),
)

_dictionaries = together(
    file("--user-dict", "A dictionary for jieba, one word a line, for words and keywords."),
    file("--stop-words", "Words to leave out, one a line, for words and keywords."),
)

#: The details of a recipe; for `details_of` or `settings_from`.
details = together(
    option(
        "--ngram",
        "Number of tokens in a shingle; with several numbers, shingles of each length.",
        type=LENGTHS,
        default=",".join(map(str, _DEFAULT.ngram)),
    ),
    option(
        "--top", "Number of keywords that make the fingerprint.", type=int, default=_DEFAULT.top
    ),
    choice(
        "--weights",
        WeightKind,
        "How the weight of a keyword is rounded: to 1/65536 (exact), down to a whole number (int),"
        " down to tenths (int10), or not at all (float).",
    ),
    _dictionaries,
    flag(
        "--no-fold-variants",
        "Tell traditional from simplified Chinese characters; else shingles and words take them"
        " for the same.",
    ),
)

_fingerprint = together(
    option(
        "--bits",
        f"Size of a fingerprint: a multiple of 8 up to {MAX_BITS}."
        f"  [default: {_DEFAULT.bits}; {MAX_STRING_HASH_BITS} with --hash string]",
        type=int,
    ),
    choice(
        "--features",
        FeatureKind,
        "What a fingerprint is made of: shingles (runs of neighbouring tokens), words (jieba finds"
        " the Chinese ones; words that are common in the language count less), keywords (the most"
        " telling words by jieba's TF-IDF), or tokens (whatever stands between spaces).",
    ),
    choice(
        "--hash",
        HashKind,
        "The hash function for features; 'string' is that of Python 2, up to"
        f" {MAX_STRING_HASH_BITS} bits.",
    ),
    details,
)

_convert = option(
    "--convert",
    "converters",
    "Run COMMAND on files that end in .EXT, and take what it prints as their text. {} in"
    " COMMAND is replaced by the file's path; without {}, COMMAND reads the file from stdin. No"
    " shell is used; a file may take 60 s of processor time.",
    type=ParsedValue("ext=command", _converter),
    multiple=True,
)

encoding = option(
    "--encoding",
    "Read every plain text in this encoding instead of detecting it.",
    type=ParsedValue("name", _encoding),
)

#: How the text of a file is read; for `settings_from` or `reading_from`.
reading = together(
    encoding,
    option(
        "--formats",
        "Document formats whose text is extracted, with commas between them, out of"
        f" {', '.join(FORMATS)}; or all; or text, to read every file as plain text.",
        type=ParsedValue("names", _formats),
        default="all",
    ),
    _convert,
)

#: How the fingerprint of a file is made; for `settings_from`.
recipe = together(_fingerprint, reading)
#: All that decides whether two rows of a corpus are near-duplicates; for `settings_from`.
row_matching = together(thresholds, _own_share, _fingerprint)
#: All that decides whether two files are near-duplicates; for `settings_from`.
file_matching = together(thresholds, _own_share, recipe)
#: What an index refers to but does not contain; for `companions_from`.
companions = together(_dictionaries, _convert)

#: Which of the files in a folder are read; for `filters_from`.
filters = together(
    option("--include", "Read only files that match a GLOB.", multiple=True, metavar="GLOB"),
    option("--exclude", "Leave out files and folders that match.", multiple=True, metavar="GLOB"),
    flag("--hidden", "Also read files and folders whose names begin with a dot."),
    flag(
        "--noise",
        "Also enter folders of caches, trash and version control, and compare lock files, SVG and"
        " the like in full.",
    ),
    flag("--gitignore", "Leave out what .gitignore files name."),
    option(
        "--max-depth",
        "How deep to go, as in find: 1 reads the files right in PATH, 2 also those one folder"
        " deeper.",
        type=WholeNumber(min=0),
        metavar="N",
    ),
    option("--min-size", "Smallest file to read, e.g. 10kB.", type=_SIZE, default=0),
    option("--max-size", "Largest file to read, e.g. 20MB.", type=_SIZE),
    flag("--follow-symlinks", "Follow symbolic links."),
    flag("--one-file-system", "Enter no folder on another file system."),
)

linkage = choice(
    "--linkage",
    LINKAGES,
    "How pairs become groups. star: every member is like the representative of its group."
    " components: every member is like some other member, so that chains are one group.",
)

#: Where the report goes, as `target`; for `output.writer`.
output = file("-o", "--output", "target", "Write the report to this file.")

#: Whether a text report has colours; for `terminal.look`.
color = choice(
    "--color", COLOR, "Colours in a text report; auto: on a terminal, unless NO_COLOR is set."
)

jobs = number(
    "-j", "--jobs", "Number of processes.  [default: one per core, if there is enough work]"
)

quiet = flag("-q", "--quiet", "Show no progress, warnings or summary.")
siblings = flag(
    "--siblings",
    "Also report files of one pattern: they are alike, but share that with many other files.",
)
verbose = flag("-v", "--verbose", "Also show in how many bits fingerprints differ.")
fail_on_found = flag("--fail-on-found", "Exit with 1 if there is a group.")


def is_given(name: str) -> bool:
    """Return whether the user gave an option of the current command."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def spelled(name: str) -> str:
    """Return the name of an option as it is typed: `user_dict` is `--user-dict`."""
    return f"--{name.replace('_', '-')}"


def refuse_idle_options(features: Collection[str]) -> None:
    """Raise UsageError for a given detail of a recipe that has no effect on any of the features."""
    values = click.get_current_context().params
    for name, its_features in _FEATURES_OF.items():
        has_effect = values[name] != WeightKind.EXACT.value
        if has_effect and is_given(name) and not set(its_features) & set(features):
            wanted, others = " or ".join(its_features), ", ".join(features)
            raise click.UsageError(f"{spelled(name)} goes with --features {wanted}, not {others}")


def details_of(features: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the details of a recipe that have a meaning for these features."""
    details = {name: given[name] for name, its in _FEATURES_OF.items() if features in its}
    return _as_fields(details)


def _as_fields(details: dict[str, Any]) -> dict[str, Any]:
    """Return the details, with the field `fold_variants` in place of `no_fold_variants`."""
    if "no_fold_variants" in details:
        details["fold_variants"] = not details.pop("no_fold_variants")
    return details


def one_threshold(given: dict[str, Any]) -> tuple[float, int | None]:
    """Return the similarity and the k that were given. Raises UsageError for both at once."""
    similarity, k = given.get("similarity"), given.get("k")
    if similarity is not None and k is not None:
        raise click.UsageError("-k and --similarity are two thresholds; give one")
    return SIMILARITY if similarity is None else similarity, k


def own_share(given: dict[str, Any]) -> float:
    """Return the own share that was given. Raises UsageError where distances decide alone."""
    share = given.get("own_share")
    if share is None:
        return OWN_SHARE
    for name in ("k", "no_verify"):
        if given.get(name) not in {None, False}:
            without = "-k" if name == "k" else spelled(name)
            raise click.UsageError(f"--own-share needs exact similarities; leave out {without}")
    return float(share)


def check_parts(given: dict[str, Any]) -> None:
    """Raise UsageError for parts where no exact shares of shingles are computed."""
    if given.get("parts") is None:
        return
    for name in ("k", "no_verify"):
        if given.get(name) not in {None, False}:
            without = "-k" if name == "k" else spelled(name)
            raise click.UsageError(f"--parts needs exact shares; leave out {without}")
    if given.get("features", FeatureKind.SHINGLES.value) != FeatureKind.SHINGLES.value:
        raise click.UsageError("--parts goes with --features shingles")


def settings_from(given: dict[str, Any]) -> Settings:
    """Return the settings that the options of a command make; options it lacks keep defaults.

    Raises UsageError for options that do not go together, ValueError for wrong values.
    """
    refuse_idle_options([given["features"]])
    bits = default_bits(given["hash"]) if given["bits"] is None else given["bits"]
    recipe = Recipe(bits=bits, **_as_fields(_named(given, "features", "hash", *_FEATURES_OF)))
    recipe.key()  # reads the dictionary and the stop words: better now than after the walk
    similarity, k = one_threshold(given)
    check_parts(given)
    others = _named(given, "linkage", "encoding", "formats", "converters", "parts")
    others["own_share"] = own_share(given)
    return Settings(recipe, similarity, k, not given.get("no_verify"), **others)


def reading_from(given: dict[str, Any]) -> Settings:
    """Return settings that only say how files are read."""
    return Settings(**_named(given, "encoding", "formats", "converters"))


def companions_from(given: dict[str, Any]) -> Settings:
    """Return settings with nothing but the dictionaries and converters of an index."""
    files = _named(given, "user_dict", "stop_words")
    is_named = any(each is not None for each in files.values())
    recipe = Recipe(features=FeatureKind.WORDS, **files) if is_named else Recipe()
    return Settings(recipe, converters=given["converters"])


def filters_from(given: dict[str, Any]) -> Filters:
    """Return the filters that options make. Raises UsageError if no file can pass them."""
    from simdup.files.walk import Filters

    if given["max_size"] is not None and given["max_size"] < given["min_size"]:
        raise click.UsageError("--max-size is less than --min-size: no file is both")
    return Filters(**_named(given, *(each.name for each in fields(Filters))))


def exit_code(result: ScanResult | Balance, given: dict[str, Any]) -> int:
    """Return 3 if some input was unreadable, 1 with --fail-on-found if there are groups, or 0."""
    if result.has_trouble:
        return TROUBLE_WITH_INPUT
    return FOUND if given["fail_on_found"] and result.groups else 0


def dictionary_files(given: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return the options that name dictionaries, and their files; for `refuse_same_files`."""
    return [("--user-dict", given["user_dict"]), ("--stop-words", given["stop_words"])]


def stdin_for(option: str) -> BinaryIO:
    """Return standard input as bytes. Raises UsageError naming the option if it is closed."""
    if not sys.stdin.readable():
        raise click.UsageError(f"{option} reads stdin, which is closed")
    return sys.stdin.buffer


def _named(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of these names, as far as the command has them."""
    return {name: given[name] for name in names if name in given}
