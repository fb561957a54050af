"""What several test files share: texts of our own writing, and ways to run the program."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from patience import LONG, patient

from simdup.cli import main
from simdup.compute.compiled import cores
from simdup.files.precedence import NS_OF_A_MINUTE

# A shell that starts tests in the background has them ignore Ctrl-C, and all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a test may build tables that take longer than a deadline allows.
settings.register_profile("simdup", deadline=None)
# Where Linux has a file system in memory, and the bytes that the stores of tests need at most.
MEMORY, ENOUGH_MEMORY = "/dev/shm", 1 << 30

# What `make quick` asks for.
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("simdup")

# A file that marks all its tests as slow.
SLOW_FILE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)


def is_quick(config):
    """Whether slow tests are left out."""
    return config.option.markexpr == "not slow"


def pytest_xdist_auto_num_workers(config):
    """Two more than cores: many slow tests wait for a program, or until a time is over."""
    return cores() + (0 if is_quick(config) else 2)


def pytest_ignore_collect(collection_path, config):
    """Do not import a file whose tests are all slow if slow tests are left out."""
    if not is_quick(config) or not collection_path.name.startswith("test_"):
        return None
    return True if SLOW_FILE.search(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Collect no doctests from tests: these would be imported twice.

    An import that fails is passed over where doctests are collected, for modules whose extra is
    not installed. Of a test file that would hide all tests.
    """
    return [each for each in (yield) if type(each) is pytest.Module]


ENGLISH = (
    "The harbour master kept two ledgers, one for the company and one for himself. In the first "
    "he wrote what had been landed: salted cod, tar, rope, now and then a crate of oranges that "
    "nobody had ordered. In the second he wrote what he had seen. On the ninth of March a grey "
    "seal slept on the slipway until noon, and no boat was willing to wake it. On the tenth the "
    "wind turned north and the widow Aske paid her berth in candles. He never mixed the two, "
    "though once, tired, he entered a shooting star under imports and had to pay duty on it. "
    "When the old man died his daughter sold the first ledger to a museum, where it lies open at "
    "the price of herring. The second she reads aloud in winter, a page an evening, and the "
    "children of the quay have learned from it how their own town looked to someone who had "
    "nothing to do but watch.\n"
)
SIMPLIFIED = (
    "镇上最后一家钟表铺开在桥头，门板上的漆掉了一半，招牌却年年重新描过。老板姓顾，左眼戴着放大镜，"
    "说话时也不摘下来，于是每个来修表的人都觉得自己被看得很仔细。他修表有个规矩：先听。把表贴在耳边，"
    "听上一支烟的工夫，然后才肯打开后盖。有人笑他装神弄鬼，他便说，机器坏了会讲自己哪里疼，只是声音小。\n"
    "我小时候常去那里写作业。铺子里有四十多只钟，没有两只走得一样快，到了整点就像一群人抢着回答同一个问题。"
    "顾师傅从不把它们校准，他说客人的钟要准，自己的钟随它去，不然这屋子里就只剩下一种时间，多闷。"
    "夏天涨水的时候，河面高过门槛，他把钟一只只搬上阁楼，自己坐在楼梯上等水退，手里还捏着一枚游丝。\n"
    "后来人们都用手机看时间，桥也拆了重修，铺子前面围起蓝色的铁皮。我以为他会关门，谁知他在铁皮上开了个小窗，"
    "窗里摆一只闹钟，底下压着纸条：本店照常营业，请敲三下。我去敲过一次，他隔了很久才来开，"
    "说正在听一只怀表，那表的主人去年冬天走了，家里人想知道它还能不能走。我问能吗，他把表递过来让我听。"
    "里面很静，静得像下过雪，可是过了一会儿，真的有什么东西轻轻地动了一下。"
    "他看着我的脸，点点头，把放大镜推到额头上，我这才第一次看见他的左眼，和右眼一样，是很普通的褐色。"
    "那天晚上回家的路上，我数着步子走过新桥，每走六十步停一停，想听听这座城里还有没有别的钟在响。\n"
)
TRADITIONAL = (
    "山腳下的小學校只有一間教室，六個年級坐在一起上課。老師姓陳，早上教一年級認字的時候，六年級便自己算術，"
    "等到下午調過來，大孩子念課文，小孩子在沙盤上畫圓。窗外是一片茶園，採茶的季節總有人唱歌，"
    "老師不許學生回頭看，自己卻常常停下粉筆，聽完一段才繼續寫。學校沒有鐘，上課下課靠一根鐵管，"
    "掛在榕樹下，用石頭敲。敲鐵管的差事由值日生輪流擔任，有個叫阿水的孩子敲得特別好聽，三長兩短，像在說話。\n"
    "那年颱風把屋頂掀走一半，全校搬到廟裡讀書，神像前面擺了十九張板凳。阿水的祖母每天送一鍋地瓜湯來，"
    "說神明也要吃點心，先舀一碗供在桌上，其餘的分給學生。陳老師在黑板上寫了一個謝字，教大家拆開來記："
    "言語的言，身體的身，一寸兩寸的寸。她說道謝要說出口，身子要彎下去，心裡還要有分寸，缺一樣都不算。\n"
    "許多年後茶園改種了檳榔，學校併到鎮上，教室租給人家放農具。阿水在城裡開了一間樂器行，專門修理敲壞的鑼。"
    "有一回老同學聚會，他帶來一根生鏽的鐵管，說是拆榕樹的時候向工人討來的。大家圍著看，誰也沒有開口。"
    "陳老師已經八十歲，耳朵不太靈，坐在最裡面喝茶。阿水把鐵管掛起來，用石頭輕輕敲了三長兩短，"
    "她放下茶杯站了起來，像從前那樣拍拍手上的粉筆灰，問今天輪到誰值日。\n"
)


def filled_form(number, *, edits=0):
    """One of many texts of one pattern: 140 of its 200 words are in all of them.

    `edits` of the others are edited.
    """
    own = (f"{'e' if place < edits else 'w'}{number}x{place}" for place in range(60))
    return " ".join((*(f"t{place}" for place in range(140)), *own))


@pytest.fixture(scope="session")
def _new_folder(tmp_path_factory):
    """A function that makes a folder whose name begins as it is told.

    pytest's own looks through all folders that it has made before, thousands of them.
    """
    place, numbers = tmp_path_factory.mktemp("each"), count()

    def making(name):
        made = place / f"{name[:30]}{next(numbers)}"
        made.mkdir(mode=0o700)
        return made

    return making


@pytest.fixture
def matched_again(monkeypatch):
    """Let scans match texts even if the store has the result of an earlier scan."""
    monkeypatch.setattr("simdup.storage.cached.RecipeCache.result", lambda *_: None)


@pytest.fixture
def settled(monkeypatch):
    """Let a store and an index remember a file however new it is."""
    monkeypatch.setattr("simdup.storage.codec.SETTLED_NS", -(10**18))


@pytest.fixture
def tmp_path(request, _new_folder):
    """An empty folder of the test's own."""
    return _new_folder(re.sub(r"\W", "_", request.node.name))


@pytest.fixture(scope="session")
def _in_memory(tmp_path_factory):
    """A folder in memory if there is one: a new store there need not wait for the disk."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ENOUGH_MEMORY:
        yield tmp_path_factory.mktemp("own")
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="simdup-tests-") as made:
        yield Path(made)


@pytest.fixture
def in_memory(_in_memory):
    """A function that makes an empty folder for a store or an index of the test's own."""
    made = []

    def making():
        made.append(Path(tempfile.mkdtemp(dir=_in_memory)))
        return made[-1]

    yield making
    for each in made:
        shutil.rmtree(each, ignore_errors=True)


@pytest.fixture(autouse=True)
def _own_store(in_memory, monkeypatch):
    """No test reads the configuration, the store or the ignored pairs of whoever runs it."""
    place = in_memory()
    for name in ("configuration", "cache", "data"):
        (place / name).mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "configuration"))
    monkeypatch.setenv("APPDATA", str(place / "configuration"))
    monkeypatch.setenv("SIMDUP_CACHE", str(place / "cache" / "store.sqlite3"))
    monkeypatch.setenv("SIMDUP_JOURNALS", str(place / "data" / "journals"))
    monkeypatch.setenv("SIMDUP_IGNORED", str(place / "data" / "ignored.jsonl"))


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
