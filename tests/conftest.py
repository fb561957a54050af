"""What several test files share: texts of our own writing, and ways to run the program."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from patience import LONG, patient

from simdup.cli import main
from simdup.cli.configuration import user_file
from simdup.compute import compiled
from simdup.compute.compiled import cores, load_kernels
from simdup.findings.keeper import NS_OF_A_MINUTE
from simdup.fingerprint.sketch import read_back
from simdup.settings import Limits, Settings

# A shell that starts tests in the background has them ignore Ctrl-C, and all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a test may build tables that take longer than a deadline allows.
settings.register_profile("simdup", deadline=None)
# What `make quick` asks for.
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("simdup")

# Where Linux has a file system in memory, and the bytes that tests need there at most.
MEMORY, ENOUGH_MEMORY = "/dev/shm", 1 << 30

# A file that marks all its tests as slow.
SLOW_FILE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)


def is_quick(config):
    """Whether slow tests are left out."""
    return config.option.markexpr == "not slow"


def pytest_xdist_auto_num_workers(config):
    """One more than cores: many slow tests wait for a program, or until a time is over."""
    return cores() + (0 if is_quick(config) else 1)


def pytest_ignore_collect(collection_path, config):
    """Do not import a file whose tests are all slow if slow tests are left out."""
    if not is_quick(config) or not collection_path.name.startswith("test_"):
        return None
    return True if SLOW_FILE.search(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collecting leaves no garbage, and thousands of tests are not gone through to find any."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with tests that take long: at the end, none keeps all other processes waiting."""
    items.sort(key=lambda each: each.get_closest_marker("long") is None)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Collect no doctests from tests: these would be imported twice.

    An import that fails is passed over where doctests are collected, for modules whose extra is
    not installed. Of a test file that would hide all tests.
    """
    return [each for each in (yield) if type(each) is pytest.Module]


ENGLISH, SIMPLIFIED, TRADITIONAL = (
    (Path(__file__).parent / "texts" / f"{name}.txt").read_bytes().decode()
    for name in ("english", "simplified", "traditional")
)


def filled_form(number, *, edits=0):
    """One of many texts of one pattern: 140 of its 200 words are in all of them.

    `edits` of the others are edited.
    """
    own = (f"{'e' if place < edits else 'w'}{number}x{place}" for place in range(60))
    return " ".join((*(f"t{place}" for place in range(140)), *own))


def alike(number, *, edits=0):
    """One of many texts of 60 words; `edits` of its words are edited."""
    return " ".join(f"{'e' if place < edits else 'w'}{number}x{place}" for place in range(60))


class Folders:
    """Makes folders; pytest's own factory looks through all that it has made before, thousands."""

    def __init__(self, place):
        self._place, self._numbers = place, count()

    def mktemp(self, name):
        """A new folder whose name begins like this."""
        made = self._place / f"{name[:30]}{next(self._numbers)}"
        made.mkdir(mode=0o700)
        return made


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory):
    """Makes folders in memory if there is enough of it: nothing there waits for the disk."""
    if not (os.access(MEMORY, os.W_OK) and is_roomy(MEMORY)):
        yield Folders(tmp_path_factory.mktemp("each"))
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="simdup-tests-") as made:
        yield Folders(Path(made))


def is_roomy(place):
    """Whether a file system has room for what tests write, which may be programs that run."""
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize > ENOUGH_MEMORY and not found.f_flag & os.ST_NOEXEC


@pytest.fixture(autouse=True)
def _numpy_does_the_work():
    """Each test begins without kernels: the workers of a process that has them load them too."""
    sys.modules.pop("simdup.compute.kernels", None)
    compiled._ACCOUNT = compiled._Account()  # noqa: SLF001


@pytest.fixture(scope="session")
def _kernels():
    """The compiled kernels, loaded once for all tests."""
    return load_kernels()


@pytest.fixture
def kernels(_kernels, monkeypatch):
    """The compiled kernels do the work of a test."""
    if _kernels is None:
        pytest.skip("needs the extra 'fast'")
    monkeypatch.setitem(sys.modules, "simdup.compute.kernels", _kernels)
    return _kernels


@pytest.fixture(params=["numpy", "compiled"])
def each_way(request):
    """The same work by numpy, however much it is, and by the compiled kernels."""
    if request.param == "compiled":
        request.getfixturevalue("kernels")
    compiled._ACCOUNT.is_broken = request.param == "numpy"  # noqa: SLF001


@pytest.fixture
def matched_again(monkeypatch):
    """Let scans match texts even if the store has the result of an earlier scan."""
    monkeypatch.setattr("simdup.storage.cached.RecipeCache.result", lambda *_: None)


@pytest.fixture
def settled(monkeypatch):
    """Let a store and an index remember a file however new it is."""
    monkeypatch.setattr("simdup.storage.status.SETTLED_NS", -(10**18))


@pytest.fixture
def few_resamples(monkeypatch):
    """Intervals from few resamples take little time, and are rough."""
    monkeypatch.setattr("simdup.evaluation.evaluate.RESAMPLES", 20)


@pytest.fixture
def limited(monkeypatch):
    """`limited(near_pairs=100)`: from now on the program runs within these limits."""

    def limiting(**limits):
        made = partial(Settings, limits=Limits(**limits))
        monkeypatch.setattr("simdup.cli.options.Settings", made)

    return limiting


@pytest.fixture
def new_folder(tmp_path_factory):
    """`new_folder(name)`: an empty folder, until the test ends."""
    made = []

    def making(name):
        made.append(tmp_path_factory.mktemp(re.sub(r"\W", "_", name)))
        return made[-1]

    yield making
    for each in made:
        shutil.rmtree(each, ignore_errors=True)


@pytest.fixture
def tmp_path(request, new_folder):
    """An empty folder of the test's own."""
    return new_folder(request.node.name)


@pytest.fixture(autouse=True)
def _own_store(new_folder, monkeypatch):
    """No test reads the configuration, the store or the ignored pairs of whoever runs it."""
    place = new_folder("user")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "configuration"))
    monkeypatch.setenv("APPDATA", str(place / "configuration"))
    monkeypatch.setenv("SIMDUP_CACHE", str(place / "store.sqlite3"))
    monkeypatch.setenv("SIMDUP_JOURNALS", str(place / "journals"))
    monkeypatch.setenv("SIMDUP_IGNORED", str(place / "ignored.jsonl"))


@pytest.fixture
def own():
    """`own(text)`: the user's own configuration file."""

    def writing(text):
        place = Path(user_file())
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    return writing


def by_sql(place, sql, *parameters):
    """The rows that a statement gives in a database, which it may change."""
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        return connection.execute(sql, parameters).fetchall()


def of_each(values):
    """Sketches with these values, one array for each text."""
    return read_back(each.tobytes() for each in values)


def is_gone(pid):
    """Whether a process ends soon, or is only waited for."""
    for _ in range(int(patient(300))):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(autouse=True, scope="session")
def _unmeasured_children():
    """Coverage is that of the tests' own processes; it would write files where children do."""
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: bytes
    err: bytes


@pytest.fixture(scope="session")
def matplotlib(tmp_path_factory):
    """matplotlib, if it is there, keeping its list of fonts out of the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("matplotlib")))
        yield pytest.importorskip("matplotlib")


@pytest.fixture
def pa():
    """pyarrow, with what reads and writes Parquet."""
    pytest.importorskip("pyarrow.parquet", reason="needs the extra 'corpus'")
    return pytest.importorskip("pyarrow")


@pytest.fixture
def english():
    return ENGLISH


@pytest.fixture
def simplified():
    return SIMPLIFIED


@pytest.fixture
def traditional():
    return TRADITIONAL


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that is the current one, so that paths in assertions are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capfdbinary):  # noqa: ARG001 (runs are in `folder`)
    """`run("scan", ...)`: the program in this process, in `folder`."""

    def running(*arguments):
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([os.fsdecode(each) for each in arguments])
        out, err = capfdbinary.readouterr()
        return Ended(ended.value.code, out, err)

    return running


@pytest.fixture
def report(run):
    """`report(*arguments)`: the JSON of a scan that went well, or with trouble (code 3)."""

    def reporting(*arguments, code=0):
        ended = run("scan", *arguments, "--format", "json")
        assert ended.code == code, ended.err.decode()
        return json.loads(ended.out.decode("utf-8"))

    return reporting


@pytest.fixture
def simdup(folder):
    """`simdup("scan", ...)`: the program in a process of its own, in `folder`."""

    def running(*arguments, environment=None, **options):
        options = {"capture_output": True} | options
        command = [sys.executable, "-m", "simdup", *arguments]
        environment = os.environ | (environment or {})
        return subprocess.run(
            command, cwd=folder, env=environment, check=False, timeout=LONG, **options
        )

    return running


@pytest.fixture
def refused(monkeypatch):
    """`refused(path)`: opening the file is not permitted; root passes every real permission."""
    real, paths = os.open, set()

    def failing(path, *arguments, **options):
        if path in paths:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    return paths.add


@pytest.fixture(autouse=True)
def _away_from_the_end_of_a_minute():
    """Wait if a minute is about to end: see `write`, for files that tests write otherwise."""
    left = 60 - time.time() % 60
    if left < 0.5:
        time.sleep(left)


@pytest.fixture
def write(folder):
    """`write("a/b.txt", text_or_bytes)`: the path, its folders made.

    What a test writes is as old as what it wrote first, however slow the machine is: a
    representative is chosen by age in minutes.
    """
    moments = []

    def writing(path, content):
        whole = os.path.join(os.fsencode(folder), os.fsencode(path))
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        Path(os.fsdecode(whole)).write_bytes(data)
        moment = os.stat(whole).st_mtime_ns
        if moments and moment // NS_OF_A_MINUTE != moments[0] // NS_OF_A_MINUTE:
            moment = moments[-1] + 1
            os.utime(whole, ns=(moment, moment))
        moments.append(moment)
        return path

    return writing
