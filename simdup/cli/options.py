"""The options that several commands share, as records, and what records are made of.

The options of a command are one record, a named tuple that the command gets whole:

    class Compare(NamedTuple):
        '''The options of `simdup compare`.

        show_diff: Also show the sentences that differ.
        '''

        left: str = argument("A", PATH)
        matching: Matching = part(Matching)
        show_diff: bool = flag("--diff", excludes=("--format json",))

A field is declared by the option or argument that fills it. Its name is the name of the click
parameter, and the docstring of the class has its help. A part is a record of options that several
commands share. `parameters` makes the click parameters of a record, `filled` makes the record of
their values, and `cli.command` calls both.
Relations between options (`excludes`, `needs`, `replaces`, `once`) are declared here too, and
explained in `cli.relations`. Records are not dataclasses, because Python takes five times as long
to make those, and --help and Tab would wait for it.

Methods of the parts make what the library takes, such as settings and filters.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from functools import partial
from inspect import getdoc
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

import click
from click.core import ParameterSource

import simdup
from simdup import recipe as recipes
from simdup.cli.output import COLOR, refuse_same_files
from simdup.cli.relations import Argument, Option, values_of
from simdup.errors import InputError
from simdup.recipe import FeatureKind, HashKind, Recipe, WeightKind, default_bits
from simdup.settings import FORMATS, LINKAGES, OWN_SHARE, PARTS, SIMILARITY, Converter, Settings

if TYPE_CHECKING:  # these load numpy
    from simdup.corpus.records import Balance

Record = TypeVar("Record")

FOUND, TROUBLE_WITH_INPUT = 1, 3

_DEFAULT, _FORMAT_NAMES = Recipe(), ", ".join(FORMATS)
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parameters(record: Any) -> Iterator[click.Parameter]:
    """Yield the click parameters of a class of records.

    The help of an option is what the docstring of the class says after the name of its field; names
    in braces are of values in the module of the class, or in `simdup.recipe`.
    """
    texts = re.findall(r"^(\w+): (.*(?:\n    .*)*)", getdoc(record) or "", re.MULTILINE)
    values = vars(recipes) | vars(sys.modules[record.__module__])
    help_of = dict[str, str]()
    for name, text in texts:
        whole = re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), " ".join(text.split()))
        help_of[name] = whole.replace(" [", "  [")
    for name, declared in record._field_defaults.items():
        if isinstance(declared, type):
            yield from parameters(declared)
        else:
            yield declared(name, help_of.get(name))


def filled(record: type[Record], values: Mapping[str, Any]) -> Record:
    """Return a record with these values of its click parameters."""
    declared = record._field_defaults  # type: ignore[attr-defined]
    return record(
        **{
            name: filled(each, values) if isinstance(each, type) else values[name]
            for name, each in declared.items()
        }
    )


def typed(record: Any) -> list[str]:
    """Return the options of a class of records as users type them."""
    return [each.typed for each in parameters(record) if isinstance(each, Option)]


def part(record: type[Record]) -> Any:
    """Declare a field that is a record of options."""
    return record


class ParsedValue(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """An option type whose values a function parses from text; its ValueError is a usage error."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; a default that is not text stays as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class OptionalValue(Option):
    """An option whose value may be left out: the next argument is its value only if it fits.

    `usual` is the value if it is left out. Click itself would take any argument, even a file.
    A number that names no file counts as the value, so that a wrong number is reported.
    """

    def __init__(self, *args: Any, usual: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.usual = usual

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
        raise ValueError(f"{text!r} is not a size; write 500, 10k, 2.5MB or 1MiB")
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
        raise ValueError(f"{text!r} is not a list of whole numbers such as 2 or 2,3") from None


def share(text: str) -> float:
    """Return a share above 0 and up to 1, given as such or in per cent.

    >>> share("0.8"), share("80"), share("80%"), share("1")
    (0.8, 0.8, 0.8, 1.0)
    """
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(%?)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a share; write 0.8 or 80%")
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


def saved(path: str) -> bytes:
    """Return the content of a file with the result of a scan, or of stdin for -.

    Raises InputError for a folder or a device.
    """
    if path == "-":
        return stdin_for(path).read()
    if os.path.isdir(path):
        how = "name a result, which `simdup scan FOLDER --format json --output FILE` saves"
        raise InputError(f"{path!r}: a folder; {how}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path!r}: not a regular file")
    with open(path, "rb") as file:
        return file.read()


class WholeNumber(click.IntRange):
    """A whole number within a range; messages call it a number, and not a range."""

    name = "integer"


def argument(metavar: str, kind: Any, **attributes: Any) -> Any:
    """Declare an argument."""
    return lambda name, _: Argument([name], metavar=metavar, type=kind, **attributes)


def option(*names: str, cls: Any = Option, **attributes: Any) -> Any:
    """Declare an option; its help shows the default if there is one.

    It is called like its field unless `names` say otherwise. The last of them may be the help,
    where the docstring of a record cannot have it.
    """
    shown = attributes.get("default") is not None
    typed = [name for name in names if name.startswith("-")]
    own = "".join(names[len(typed) :])
    return lambda name, text: cls(
        [*(typed or [spelled(name)]), name], help=own or text, show_default=shown, **attributes
    )


def spelled(name: str) -> str:
    """Return the usual spelling of the option that fills the field with this name."""
    return f"--{name.replace('_', '-')}"


def number(*names: str, default: int | None = None, **attributes: Any) -> Any:
    """Declare an option that takes a whole number from 1 on; see `option`."""
    return option(*names, type=WholeNumber(min=1), default=default, metavar="N", **attributes)


def flag(*names: str, **attributes: Any) -> Any:
    """Declare an option without a value; see `option`."""
    return option(*names, is_flag=True, **attributes)


def file(*names: str, metavar: str = "FILE", **attributes: Any) -> Any:
    """Declare an option that takes a path; see `option`."""
    return option(*names, type=PATH, metavar=metavar, **attributes)


def choice(choices: Iterable[str], *names: str, **attributes: Any) -> Any:
    """Declare an option that takes one of `choices`, the first by default; see `option`."""
    kind = click.Choice([getattr(each, "value", each) for each in choices])
    return option(*names, type=kind, default=kind.choices[0], **attributes)


def several(kind: type[Enum], text: str) -> Any:
    """Declare an option that takes one or more members of an enumeration, the first by default."""
    known = [each.value for each in kind]
    parsed = ParsedValue("name[,name...]", partial(_among, known))
    return option(f"{text}: one or more of {', '.join(known)}.", type=parsed, default=known[0])


def report_format(names: Iterable[str], text: str = "The format of the report.") -> Any:
    """Declare the option `--format`; the first name is the default."""
    return choice(names, "--format", text)


#: The path of a file. Whether it can be read shows when it is read, with one message everywhere.
PATH = click.Path(readable=False)
LENGTHS = ParsedValue("n[,n...]", whole_numbers)
SHARE = ParsedValue("share", share)
SHARE_OR_0 = ParsedValue("share", share_or_0)
_SIZE = ParsedValue("size", size_bytes)

# The features that each detail of a recipe belongs to.
_FEATURES_OF = {
    "ngram": ("shingles",),
    "top": ("keywords",),
    "weights": ("keywords",),
    "user_dict": ("words", "keywords"),
    "stop_words": ("words", "keywords"),
    "no_fold_variants": ("shingles", "words"),
}
# What a detail needs; with --index the features are the index's own.
_NEEDS = {
    name: (*(f"--features {each}" for each in features), "--index")
    for name, features in _FEATURES_OF.items()
}

# Fingerprints that are compared alone have no exact similarities.
BARE = ("-k", "--no-verify")


class Dictionaries(NamedTuple):
    """The files that decide what a word is.

    user_dict: A dictionary for jieba, one word a line.
    stop_words: Words to leave out, one a line.
    """

    user_dict: str | None = file(needs=_NEEDS["user_dict"])
    stop_words: str | None = file(needs=_NEEDS["stop_words"])


class Details(NamedTuple):
    """The details of a recipe.

    ngram: Number of tokens in a shingle; with several numbers, shingles of each length.
    top: Number of keywords that make the fingerprint.
    weights: How the weight of a keyword is rounded: to 1/65536 (exact), down to a whole number
        (int), down to tenths (int10), or not at all (float).
    no_fold_variants: Tell traditional from simplified Chinese characters; else they are taken for
        the same.
    """

    ngram: tuple[int, ...] = option(
        type=LENGTHS, default=",".join(map(str, _DEFAULT.ngram)), needs=_NEEDS["ngram"]
    )
    top: int = option(type=int, default=_DEFAULT.top, needs=_NEEDS["top"])
    weights: str = choice(
        WeightKind, needs=dict.fromkeys(("int", "int10", "float"), _NEEDS["weights"])
    )
    dictionaries: Dictionaries = part(Dictionaries)
    no_fold_variants: bool = flag(needs=_NEEDS["no_fold_variants"])

    def of(self, features: str) -> dict[str, Any]:
        """Return the fields of a recipe that have a meaning for these features."""
        values = self._asdict() | self.dictionaries._asdict()
        found = {name: values[name] for name, its in _FEATURES_OF.items() if features in its}
        found["fold_variants"] = not found.pop("no_fold_variants", False)
        return found


class Fingerprint(NamedTuple):
    """How the fingerprint of a text is made.

    bits: Size of a fingerprint: a multiple of 8 up to {MAX_BITS}. [default: {DEFAULT_BITS};
        {MAX_STRING_HASH_BITS} with --hash string]
    features: What a fingerprint is made of: shingles (runs of neighbouring tokens), words (jieba
        finds the Chinese ones; words that are common in the language count less), keywords (the
        most telling words by jieba's TF-IDF), or tokens (whatever stands between spaces).
    hash: The hash function for features; 'string' is that of Python 2, up to {MAX_STRING_HASH_BITS}
        bits.
    """

    bits: int | None = option(type=int)
    features: str = choice(FeatureKind)
    hash: str = choice(HashKind)
    details: Details = part(Details)

    def recipe(self) -> Recipe:
        """Return the recipe. Raises ValueError, and InputError for an unreadable dictionary."""
        bits = default_bits(self.hash) if self.bits is None else self.bits
        kind, hashing = FeatureKind(self.features), HashKind(self.hash)
        made = Recipe(kind, hash=hashing, bits=bits, **self.details.of(self.features))
        made.key()  # reads the dictionary and the stop words: better now than after the walk
        return made


#: The options that an index has of its own; what a configuration says of them is not for it.
OF_AN_INDEX = typed(Fingerprint)


# The same options with other relations in several commands.
similarity_option = partial(
    option, "-s", "--similarity", type=SHARE, default=SIMILARITY, metavar="S", excludes=("-k",)
)
own_share_option = partial(option, "--own-share", type=SHARE_OR_0, default=OWN_SHARE, metavar="R")


class Thresholds(NamedTuple):
    """What makes two texts near-duplicates.

    similarity: Texts with at least this exact similarity are near-duplicates: 0.8, 80 or 80%. Short
        and very long texts need more.
    k: Compare fingerprints alone: texts whose fingerprints differ in at most this many bits are
        near-duplicates (texts of fewer than 16 features are still compared exactly).
    no_verify: Compare fingerprints alone, within the number of bits that --similarity corresponds
        to, or fewer if unrelated texts would be that near by chance.
    """

    similarity: float = similarity_option(replaces=("--no-verify",))
    k: int | None = option("-k", type=WholeNumber(min=0), metavar="BITS", replaces=("--no-verify",))
    no_verify: bool = flag(replaces=("--similarity", "-k"))


#: The least share of a larger text; its value may be left out.
parts = option(
    "--parts",
    "Also find texts of which at least this share stands in a larger text, as a chapter in a book."
    f"  [default: {PARTS}, where only --parts is given]",
    type=SHARE,
    metavar="[SHARE]",
    cls=OptionalValue,
    usual=str(PARTS),
    needs=("--features shingles",),
    excludes=(*BARE, "--fingerprint"),
)


converters = option(
    "--convert",
    "Run COMMAND on files that end in .EXT, and take what it prints as their text. {} in COMMAND is"
    " replaced by the file's path; without {}, COMMAND reads the file from stdin. No shell is used;"
    " a file may take 60 s of processor time.",
    type=ParsedValue("ext=command", _converter),
    multiple=True,
)
encoding = option(
    "--encoding",
    "Read every plain text in this encoding instead of detecting it.",
    type=ParsedValue("name", _encoding),
)


class Reading(NamedTuple):
    """How the text of a file is read; the fields are those of `Settings`.

    formats: Document formats whose text is extracted, with commas between them, out of
        {_FORMAT_NAMES}; or all; or text, to read every file as plain text.
    """

    encoding: str | None = encoding
    formats: tuple[str, ...] = option(type=ParsedValue("names", _formats), default="all")
    converters: tuple[Converter, ...] = converters


class Matching(NamedTuple):
    """What decides whether two texts are near-duplicates.

    own_share: At least this share of what two near-duplicates have in common must be in no other
        text: 0.6, 60 or 60%; 0 asks for nothing.
    """

    thresholds: Thresholds = part(Thresholds)
    own_share: float = own_share_option(excludes=BARE)
    fingerprint: Fingerprint = part(Fingerprint)

    def settings(self, reading: Reading | None = None, **others: Any) -> Settings:
        """Return the settings. Raises ValueError for wrong values."""
        (similarity, k, no_verify), own_share = self.thresholds, self.own_share
        others |= {} if reading is None else reading._asdict()
        recipe = self.fingerprint.recipe()
        return Settings(recipe, similarity, k, not no_verify, own_share=own_share, **others)


class Companions(NamedTuple):
    """What an index refers to but does not contain."""

    dictionaries: Dictionaries = part(Dictionaries)
    converters: tuple[Converter, ...] = converters

    def settings(self) -> Settings:
        """Return settings with nothing but the dictionaries and converters."""
        is_named = any(self.dictionaries)
        recipe = Recipe(FeatureKind.WORDS, **self.dictionaries._asdict()) if is_named else Recipe()
        return Settings(recipe, converters=self.converters)


def _folders(context: click.Context, option: click.Parameter, paths: list[str]) -> list[str]:
    """Return folders. Raises InputError for one that was typed and does not exist.

    A configuration file may name folders of another day.
    """
    is_typed = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    missing = next((each for each in paths if is_typed and not os.path.isdir(each)), None)
    if missing is not None:
        raise InputError(f"{missing!r}: no such folder for {option.opts[0]}")
    return paths


class Priorities(NamedTuple):
    """Which of several files rather stays; usually set in the user's configuration file.

    keep_under: Rather keep files under this folder; of several folders, earlier ones win.
    let_go_under: Rather let files under this folder go, such as ~/Downloads.
    """

    keep_under: tuple[str, ...] = file(metavar="DIR", multiple=True, callback=_folders)
    let_go_under: tuple[str, ...] = file(metavar="DIR", multiple=True, callback=_folders)


class Filtering(NamedTuple):
    """Which of the files in a folder are read; the fields are those of `files.walk.Filters`.

    include: Read only files that match a GLOB.
    exclude: Leave out files and folders that match.
    hidden: Also read files and folders whose names begin with a dot.
    noise: Also enter folders of caches, trash and version control, and compare lock files, SVG and
        the like in full.
    gitignore: Leave out what .gitignore files name.
    max_depth: How deep to go, as in find: 1 reads the files right in PATH, 2 also those one folder
        deeper.
    min_size: Smallest file to read, e.g. 10kB.
    max_size: Largest file to read, e.g. 20MB.
    follow_symlinks: Follow symbolic links.
    one_file_system: Enter no folder on another file system.
    """

    include: tuple[str, ...] = option(multiple=True, metavar="GLOB")
    exclude: tuple[str, ...] = option(multiple=True, metavar="GLOB")
    hidden: bool = flag()
    noise: bool = flag()
    gitignore: bool = flag()
    max_depth: int | None = option(type=WholeNumber(min=0), metavar="N")
    min_size: int = option(type=_SIZE, default=0)
    max_size: int | None = option(type=_SIZE)
    follow_symlinks: bool = flag()
    one_file_system: bool = flag()

    def filters(self) -> simdup.Filters:
        """Return the filters. Raises UsageError if no file can pass them."""
        if self.max_size is not None and self.max_size < self.min_size:
            raise click.UsageError("--max-size is less than --min-size: no file is both")
        return simdup.Filters(**self._asdict())


linkage = choice(
    LINKAGES,
    "How pairs become groups. star: every member is like the representative of its group."
    " components: every member is like some other member, so that chains are one group.",
)

#: Where the report goes; for `output.writer`.
output = file("-o", "--output", "Write the report to this file.", once=True, writes=True)

#: Whether a text report has colours; for `terminal.look`.
color = choice(COLOR, "Colours in a text report; auto: on a terminal, unless NO_COLOR is set.")

jobs = number(
    "-j", "--jobs", "Number of processes.  [default: one per core, if there is enough work]"
)

quiet = flag("-q", "--quiet", "Show no progress, warnings or summary.")
fail_on_found = flag("--fail-on-found", "Exit with 1 if there is a group; of a scan, a near one.")


def is_given(name: str) -> bool:
    """Return whether the user typed the option that fills a field of the current command."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def is_set(name: str) -> bool:
    """Return whether the user typed an option, or a configuration file sets it."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not ParameterSource.DEFAULT


def refuse_overwriting(*others: tuple[str, str | None]) -> None:
    """Raise UsageError if the current command would write a file that it also reads or writes.

    `others` are files that it reads besides those named, see `output.refuse_same_files`.
    """
    context, inputs = click.get_current_context(), [*others]
    outputs = list[tuple[str, str | None]]()
    for each in context.command.params:
        if isinstance(each, Option | Argument) and isinstance(each.type, click.Path):
            paths = values_of(context.params[each.name or ""])
            name = re.split(r"\W*$|[|]", each.typed)[0]  # of FILE... and RESULT|PLAN
            named = [(name, path) for path in paths]
            (outputs if each.writes else inputs).extend(named)
    refuse_same_files(outputs, inputs)


def exit_code(result: simdup.ScanResult | Balance, *, fail_on_found: bool) -> int:
    """Return 3 if some input was unreadable, 1 with --fail-on-found if there are groups, or 0."""
    if result.has_trouble:
        return TROUBLE_WITH_INPUT
    return FOUND if fail_on_found and result.groups else 0


def stdin_for(option: str) -> BinaryIO:
    """Return standard input as bytes. Raises InputError naming the option if it is closed."""
    if not sys.stdin.readable():
        raise InputError(f"{option} reads stdin, which is closed")
    return sys.stdin.buffer


def stdin_copied(paths: Collection[str]) -> AbstractContextManager[str | None]:
    """Give the path of a copy of standard input, if - is among the paths, else None."""
    if "-" not in paths:
        return nullcontext()
    from simdup.corpus.formats.streams import copy_of

    return copy_of(stdin_for("-"))
