"""What is refused before any work, in one table; and who shows which options go together."""

from __future__ import annotations

import itertools
import os
import shlex
from pathlib import Path

import pytest

from simdup.cli import SUMMARIES
from simdup.cli.relations import Option, Related, contexts_below
from tests.cli.test_help import CONTEXT

# The folder in which each command line runs.
FILES = {
    "a": "words and more words",
    "b": "words and more words",
    "folder/b": "words and more words",
    "other": "something else",
    "empty": "",
    "signs": "?!",
    "binary": "\0" * 99,
    "rows.jsonl": '{"text": "one two three"}\n',
    "broken.csv": "path,cluster\na,1\na,2",
}
LARGE = "9" * 400
# Each command line with options that do not go together, and what the line says that refuses it.
REFUSED = {
    "--verbose": "--verbose needs --version",
    "scan . -k 3 -s .5": "--similarity and -k exclude each other",
    "scan . -k 3 --own-share .5": "--own-share and -k exclude each other",
    "scan . --no-verify --own-share 0": "--own-share and --no-verify exclude each other",
    "scan . --parts -k 3": "--parts and -k exclude each other",
    "scan . --parts --features words": "--parts needs --features shingles",
    "scan . --files-from a": "--files-from and PATH... exclude each other",
    "scan . -0 --format csv": "-0 needs --format names, --format fdupes or --files-from",
    "scan . --user-dict a": "--user-dict needs --features words, --features keywords or --index",
    "scan . --weights int": "int needs --features keywords or --index",
    "scan . --features words --ngram 3": "--ngram needs --features shingles or --index",
    "scan . --features tokens --no-fold-variants": (
        "--no-fold-variants needs --features shingles, --features words or --index"
    ),
    "scan . --limit 3 --all": "--all and --limit exclude each other",
    "scan . --summary --format json": "--summary needs --format text",
    "scan . --cache x --no-cache": "--cache and --no-cache exclude each other",
    "scan . --ignored x --no-ignored": "--ignored and --no-ignored exclude each other",
    "scan . --lang zh": "--lang needs --html or --open",
    "scan . --html-texts none": "--html-texts needs --html or --open",
    "scan --index x in": "--index and PATH... exclude each other",
    "scan --index x --against y": "--index and --against exclude each other",
    "scan --index x --include '*'": "--index and --include exclude each other",
    "scan --index x --cache y": "--index and --cache exclude each other",
    "scan --index x --parts": "--index and --parts exclude each other",
    "compare a b --diff --format json": "--diff and --format json exclude each other",
    "compare a b --among . -k 3": "--among and -k exclude each other",
    "compare a b --among . --own-share 0": "--among and --own-share 0 exclude each other",
    "query": "Missing argument 'INDEX'.",
    "query x": "give FILE..., --text or --fingerprint",
    "query x q -0 --format json": "--null and --format exclude each other",
    "query x q --parts --fingerprint 00": "--parts and --fingerprint exclude each other",
    "evaluate --pairs a --all-pairs b": "--all-pairs and --pairs exclude each other",
    "evaluate --precision .9": "--precision needs --recommend",
    "evaluate --features words --ngram 3": "--ngram needs --features shingles",
    "evaluate --features shingles,tokens --top 3": "--top needs --features keywords",
    "evaluate --weights int": "--weights int needs --features keywords",
    "corpus scan a --parts -k 3": "--parts and -k exclude each other",
    "corpus scan a --keep first": "--keep needs --output",
    "corpus scan a --keep first -o b --format csv": "--keep and --format exclude each other",
    "corpus scan a --keep first -o b --html c": "--keep and --html exclude each other",
    "corpus scan a --dropped b": "--dropped needs --keep",
    "corpus scan a --master local": "--master needs --engine spark",
    "corpus scan a --engine spark --conf b": "Invalid value for '--conf': 'b' is not NAME=VALUE",
    "corpus scan a --input-format csv": "--input-format needs --engine spark or FILE... -",
    "corpus scan a --engine spark --jobs 2": "--engine spark and --jobs exclude each other",
    "corpus scan a --engine spark --input-format tsv": (
        "--engine spark and --input-format tsv exclude each other"
    ),
    "corpus scan a --engine spark --keep first -o b --dropped c": (
        "--engine spark and --dropped exclude each other"
    ),
    "clean": "give RESULT|PLAN or --resume",
    "clean x --link --permanently": "--link and --permanently exclude each other",
    "clean x --to y --reflink": "--to and --reflink exclude each other",
    "clean x --link --text": "--link and --text exclude each other",
    "clean x --apply --check": "--check and --apply exclude each other",
    "clean x --journal j": "--journal needs --apply",
    "clean x --review --apply": "--review and --apply exclude each other",
    "clean x --review --link": "--review and --link exclude each other",
    "clean --resume j": "--resume needs --apply",
    "clean x --resume j --apply": "--resume and RESULT|PLAN exclude each other",
    "clean --resume j --apply --script x": "--resume and --script exclude each other",
    "clean --resume j --apply --protect x": "--resume and --protect exclude each other",
    "clean --resume j --apply --check": "exclude each other",
    "undo j --journal k": "--journal needs --apply",
    "undo j k --apply --journal l": "--journal needs one JOURNAL",
}

# Each command line with something else that cannot be.
WRONG = {
    "scan . --keep-under gone": "'gone': no such folder for --keep-under",
    "clean a --let-go-under b": "'b': no such folder for --let-go-under",
    "frobnicate": "No such command 'frobnicate'. (see `simdup --help`)",
    "folder": "No such command 'folder'. (did you mean `simdup scan folder`?)",
    "corpus a": "No such command 'a'. (did you mean `simdup corpus scan a`?)",
    "compare a gone": "'gone': not found (No such file or directory)",
    "cache info --cache gone": "'gone': there is no store; a scan makes one",
    "cache clear --older-than soon": "'soon' is not a number of days such as 90d",
    "scan . --ignored gone": "'gone': No such file or directory",
    "scan --debug .": "No such option",
    "help acuracy": "accuracy",
    "corpus scan rows.jsonl a -o out": "'a': by its name no .jsonl",
    "corpus scan rows.jsonl --id-field id": "'rows.jsonl': no row has a field 'id'; there",
    "query '' a": "'': ",
    "query . a": "'.': ",
    "scan --index /": "'/': ",
    "scan a --cache ''": "'.': a folder, and not a store of simdup",
    "scan a --cache /": "'/': a folder, and not a store of simdup",
    "scan . --ignored ''": "'': not a regular file",
    "scan . --color mauve": "'mauve' is not one of 'auto', 'always', 'never'.",
    "ignore add a gone": "'gone': not found (No such file or directory)",
    "ignore remove 1": "there is no such list; `simdup ignore add` makes one",
    "completion csh": "'csh' is not one of 'bash', 'zsh', 'fish'.",
    "index update a": "'a': not an index of simdup",
    f"scan . --min-size {LARGE}": "'--min-size': no file is that large",
    "evaluate --bits 16,4104": "bits must be a multiple of 8 from 8 to 4096, not 4104",
    "evaluate --html gone/p.html": "'gone/p.html': cannot write there",
    "query x a --html gone/p.html": "'gone/p.html': cannot write there",
    "evaluate --plot ''": "'': a picture's name ends in .png or .svg",
    "evaluate --plot a.jpg": "'a.jpg': a picture's name ends in .png or .svg",
    "corpus scan a --text-field a,b --engine spark": "--text-field takes one field with --engine",
    "scan . --formats html,": "'' is none of ",
    "scan . --formats docx,txt": "'txt' is none of ",
    "undo gone": "'gone': No such file or directory",
    "undo folder": "'folder': Is a directory",
    "undo rows.jsonl": "'rows.jsonl', line 1: no journal: `simdup clean --apply` writes no",
    "scan gone": "'gone': No such file or directory",
    "scan . --against gone": "'gone': No such file or directory",
    "scan --files-from gone": "'gone': No such file or directory",
    "scan --files-from .": "'.': Is a directory",
    "scan . --bits 12": "bits must be a multiple of 8 from 8 to 4096, not 12",
    "scan . --bits 64 -k 65": "k must be from 0 to the 64 bits, not 65",
    "scan . --own-share 2.5": "'--own-share': '2.5' could be a share or a percentage; write 2.5%",
    "scan . --similarity nan": "'--similarity': 'nan' is not a share; write 0.8 or 80%",
    "scan . --encoding klingon": "'--encoding': unknown encoding 'klingon'",
    "scan . --ngram 0": "ngram must be from 1 to 16, not 0",
    "scan . --min-size big": "'--min-size': 'big' is not a size; write 500, 10k, 2.5MB or 1MiB",
    "scan . --features words --user-dict gone": "'gone': No such file or directory",
    "scan . --features words --stop-words gone": "'gone': No such file or directory",
    "scan . --hash string": "shingles take only hash 'mix64', not 'string'",
    "scan . --no-such-option": "No such option",
    "scan . --similarity 0": "'--similarity': '0' is not above 0 and at most 1 (or 100%)",
    "scan . --similarity 1.1": "'--similarity': '1.1' could be a share or a percentage; write 1.1%",
    "scan . --bits many": "'--bits': 'many' is not a valid integer.",
    "scan . --jobs 0": "'--jobs': 0 is not in the range x>=1.",
    "scan . --ngram 2,": "'--ngram': '2,' is not a list of whole numbers such as 2 or 2,3",
    "scan . --features keywords --top 0": "top must be at least 1, not 0",
    "scan . --against '\x1b]0;red\x07'": "'\\x1b]0;red\\x07': No such file or directory",
    "scan . --encoding '\x1b]0;red\x07'": "'--encoding': unknown encoding '\\x1b]0;red\\x07'",
    "scan . '--\x1b]0;red\x07'": "No such option",
    "scan . --output 'gone/\x1b]0;red\x07'": "'gone/\\x1b]0;red\\x07': cannot write there (No",
    "scan . --convert doc": "'--convert': 'doc' is not EXT=COMMAND such as 'doc=antiword {}'",
    "compare a folder": "'folder': not a regular file (folder); `simdup scan` takes folders",
    "compare empty a": "'empty': empty (0 bytes)",
    "compare a a --among gone": "'gone': No such file or directory",
    "compare a": "Missing argument 'B'.",
    "evaluate --recommend --precision 0": "'--precision': '0' is not above 0 and at most 1 (or",
    "evaluate --hash string": "nothing is left: shingles with hash 'string': they take only",
    "evaluate --draws 2 --features tokens --hash string --bits 64": "nothing is left: tokens with",
    "evaluate --features shingles,letters": "'--features': 'letters' is none of shingles, words,",
    "evaluate -o gone/report": "'gone/report': cannot write there (No such file or directory)",
    "evaluate -o .": "'.': a folder; name a file",
    "evaluate pairs.csv": "Got unexpected extra argument (pairs.csv)",
    "evaluate --draws 17": "17 draws of 256 bits: together 4096 bits at most",
    "evaluate -k 17 --bits 16": "k must be from 0 to the 16 bits, not 17",
    "evaluate --pairs gone.csv": "'gone.csv': not found (No such file or directory)",
    "evaluate --pairs .": "'.': not a regular file (folder)",
    "evaluate --all-pairs broken.csv": "'broken.csv', line 3: 'a' stands in line 2 already",
    "index build": "Missing argument 'FILE'.",
    "index build new": "Missing argument 'PATH...'.",
    "index build new folder --max-size 1 --min-size 2": "--max-size is less than --min-size: no",
    "corpus scan rows.jsonl --keep last -o out": "'last' is not one of 'first', 'longest'",
    "corpus scan rows.jsonl --keep first -o x.bz2": "'x.bz2': rows are packed as .gz or .zst, or",
    "corpus scan rows.jsonl --keep first -o -": "'-': name /dev/stdout, or a file so called ./-",
    "corpus scan rows.jsonl -o gone/out": "'gone/out': cannot write there",
    "corpus scan rows.jsonl --text-field text,id --parts": "parts are found in texts of one field",
    "corpus scan rows.jsonl --encoding gbk": "No such option",
    "report a": "'a': not a result of `simdup scan`: it is not JSON, or only a part of it",
    "report none.json": "'none.json': No such file or directory",
    "report folder": "'folder': a folder; name a result, which `simdup scan FOLDER --format",
    "scan . -o a/out": "'a/out': cannot write there (Not a directory)",
    "scan . -o ''": "'': a folder; name a file",
    "scan folder --html folder": "'folder': a folder; name a file",
    "scan folder --html gone/p.html": "'gone/p.html': cannot write there",
    "scan folder --html p -o ./p": "--output and --html name the same file: 'p'",
}


# Each command line that an index `x` of the folder is there for.
OF_INDEXES = {
    "index build new folder --convert doc=gone": "there is no program 'gone'",
    "index build new gone": "gone': No such file or directory",
    "index build gone/new folder": "'gone/new': No such file or directory",
    "index build x folder": "'x': exists already; name a new file, or go on with an index by",
    "index add new folder": "'new': there is no index; `simdup index build` makes one",
    "index add folder folder": "'folder': a folder, and not an index of simdup",
    "index add x gone": "gone': No such file or directory",
    "index remove x gone": "'gone': there is nothing of it in the index",
    "index remove x ''": "'': there is nothing of it in the index",
    "index verify empty": "'empty': not an index of simdup",
    "query gone a": "'gone': there is no index; `simdup index build` makes one",
    "query x a -k 257": "k must be from 0 to the 256 bits, not 257",
    "query x a --bits 264": "'x': made with 256 bits; 264 are more than it has",
    "query x a --bits 12": "bits must be a multiple of 8",
    "query x a --output gone/out": "'gone/out': cannot write there",
    "query x a --convert doc=cat": "'x': made with no --convert; give the same",
    "query x a --stop-words gone": "'x': made with features shingles, which no dict",
    "query x a --features words": "No such option '--features'",
    f"query x --fingerprint {'00' * 8}": "64 bits where 256 are asked for",
    "query x --fingerprint ''": "0 bits where 256 are asked for",
    "query x --fingerprint '\x1b[31m'": "not hexadecimal digits",
    "scan --index x --features words": "'x': made with features shingles, not words",
    "scan --index x --ngram 3": "'x': made with ngram 2, not 3",
    "scan --index x --no-fold-variants": "'x': made with folded variants, not --no-fold-variants",
    "scan --index x --bits 512": "'x': made with 256 bits; 512 are more than it has",
    "scan --index x --convert doc=cat": "'x': made with no --convert; give the same",
}

# Each command line that a result and a plan of the folder are there for.
OF_RESULTS = {
    "clean gone.json": "'gone.json': No such file or directory",
    "clean folder": "'folder': a folder; name a result, which `simdup scan FOLDER --format json",
    "clean /dev/null": "'/dev/null': not a regular file",
    "clean a": "'a': not a result of `simdup scan`: it is not JSON",
    "clean found.json --protect gone": "'gone': no such file or folder to protect",
    "clean found.json --prefer-under gone": "'gone': no such folder to prefer",
    "clean found.json --prefer best": "'best' is none of newest, oldest",
    "clean found.json --near 2": "--near 2%: files go in bulk from 80% on, others by --review",
    "clean found.json --near": "requires an argument. (see `simdup clean --help`)",
    "clean found.json --to '' --apply": "'--to': '' names nothing",
    "clean found.json --review -o p": "--review asks at a terminal",
    "clean found.json --review": "writes a plan: -o plan.jsonl",
    "clean found.json -o found.json": "--output and RESULT name the same file",
    "clean plan.jsonl --prefer newest": "--prefer needs a RESULT",
    "clean found.json --permanently --apply": "--permanently needs --yes-many 2",
    "clean found.json --apply --yes-many 7": "--yes-many 7: the plan is about 2 files",
}

# Each command line that a list of ignored pairs is there for, with a and rows.jsonl in it.
OF_LISTS = {
    "ignore add a folder": "'folder': not a regular file (folder); `simdup scan` takes",
    "ignore add a": "give two files or more, a glob, or the number of a group",
    "ignore add '*.doc'": "'*.doc': no file matches",
    "ignore add 'fold*/*'": "give two files or more, a glob, or the number of a group",
    "ignore add a b": "'a' and 'b' hold the very same text; only texts that differ can be ignored",
    f"ignore add {LARGE}": f"group {LARGE}: the last scan kept no group",
    f"ignore remove {LARGE}": "is not the number of an entry; the list has 1 pair",
    "ignore add 7": "group 7: the last scan kept no group",
    "ignore remove 7": "'7' is not the number of an entry; the list has 1 pair",
    "ignore remove a": "'a' is not the number of an entry; the list has 1 pair",
    "ignore remove gone a": "'gone': not found (No such file or directory)",
    "ignore remove a rows.jsonl other": "are not an ignored entry, as they are now",
    "ignore remove a other": "'a' and 'other' are not an ignored pair, as they are now",
    "ignore remove 1 --ignored gone": "'gone': there is no such list; `simdup ignore add`",
    "ignore list --ignored gone": "'gone': No such file or directory",
    "ignore add a rows.jsonl --ignored no/list": "No such file or directory",
}

ALL = REFUSED | WRONG | OF_INDEXES | OF_RESULTS | OF_LISTS

CONTEXTS = {each.command_path.strip(): each for each in contexts_below(CONTEXT)}


def related(context):
    return [each for each in context.command.params if isinstance(each, Related)]


def terms_of(parameter):
    by_value = itertools.chain(parameter.excludes.values(), parameter.needs.values())
    instead = getattr(parameter, "instead", ())
    return [*itertools.chain(parameter.replaces, instead, *by_value)]


def listing():
    """Every file with its content, and when it was written."""
    paths = [*Path().rglob("*"), Path(os.environ["SIMDUP_IGNORED"])]
    files = [path for path in paths if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize("line", ALL)
def test_wrong_use_is_one_line_and_writes_nothing(run, write, line):
    for name, content in FILES.items():
        write(name, content)
    if line in OF_INDEXES:
        assert run("index", "build", "x", "folder", "-q").code == 0
    if line in OF_LISTS:
        assert run("ignore", "add", "a", "rows.jsonl").code == 0
    if line in OF_RESULTS:
        run("scan", "a", "b", "folder", "--format", "json", "-o", "found.json", "-q")
        run("clean", "found.json", "-o", "plan.jsonl", "-q")
    before = listing()

    ended = run(*shlex.split(line))

    said = ended.err.decode()
    assert (ended.code, ended.out) == (2, b"")
    assert said.startswith("simdup: ")
    assert ALL[line] in said
    assert said.removesuffix("\n").isprintable()
    assert said.endswith(" --help`)\n") or line not in REFUSED
    assert listing() == before


def test_every_relation_is_about_a_parameter_that_a_command_has():
    parameters = [each for context in CONTEXTS.values() for each in related(context)]
    names = {name for each in parameters for name in (each.typed, *each.opts)}

    assert len(CONTEXTS) > len(SUMMARIES)
    assert {term.partition(" ")[0] for each in parameters for term in terms_of(each)} <= names


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_help_of_an_option_names_what_it_excludes_and_needs(name):
    context = CONTEXTS[name]
    known = {name for each in related(context) for name in (each.typed, *each.opts)}

    for option in related(context):
        if isinstance(option, Option):
            _, text = option.get_help_record(context)
            by_value = itertools.chain(option.excludes.values(), option.needs.values())
            for term in itertools.chain(*by_value):
                assert (term in text) == (term.partition(" ")[0] in known)


@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("scan . --", ["--cache", "--similarity", "--limit"], ["--files-from", "--index"]),
        ("scan . --no-cache -s .5 --all --", ["--own-share"], ["--cache", "-k", "--limit"]),
        ("scan --index x --", ["--similarity"], ["--include", "--cache", "--parts"]),
        ("compare a b --format json --", ["--verbose"], ["--diff"]),
        ("corpus scan a --engine spark --", ["--master"], ["--jobs", "--html"]),
        ("clean x --link --", ["--apply"], ["--text", "--reflink", "--resume"]),
    ],
)
def test_tab_offers_no_option_that_those_before_it_exclude(
    run, monkeypatch, line, offered, not_offered
):
    monkeypatch.setenv("_SIMDUP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"simdup {line}")
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ") + 1))

    found = {each.partition(",")[2] for each in run().out.decode().splitlines()}

    assert found >= {*offered}
    assert not found & {*not_offered}
