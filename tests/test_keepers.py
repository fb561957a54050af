"""Which of several copies stays: the situations in keepers.txt, through `scan` and `clean`."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests.makers import docx, html_page, markdown, odt, printed

WORDS = re.findall(
    r"\w+",
    """
    apple bridge candle door engine field garden harbour island jacket kettle ladder market
    night orchard paper quarter river station table uncle valley window yellow copper silver
    morning evening winter summer letter number village mountain forest street corner kitchen
    basket bottle carpet dinner farmer grocer hammer jumper knife lemon mirror needle onion
    pepper rabbit saddle teacher umbrella violin walnut blanket chapter dragon elbow fountain
    glacier hotel
    """,
)
CHARACTERS = "山水火木土日月天地人大小上下左右中外前後東西南北春夏秋冬花草石田雨雪風雲江河海川王玉"

DEMO = Path(__file__).parents[1] / "fixtures" / "demo"

MAKERS = {"docx": docx, "odt": odt, "pdf": printed, "html": html_page, "md": markdown}

# The faults that the list of reasons was made for: each title is that of a situation.
FAULTS = (
    "The copy in a backup folder was written three milliseconds earlier",
    "What was downloaded has the shorter path and is older",
    "Of a chain of years the newest stays",
)


class File(NamedTuple):
    """A file of a situation, below the folder of that situation."""

    stays: bool
    text: str
    form: str
    time: datetime
    path: str


class Situation(NamedTuple):
    title: str
    is_hard: bool
    options: tuple[tuple[str, str], ...]
    files: tuple[File, ...]


def situation(block: str) -> Situation:
    title, *lines = block.splitlines()
    options = [each.split(" ", 1) for each in lines if each[0] not in "*-" or each[1] == "-"]
    files = [each.split(None, 4) for each in lines if each[:2] in {"* ", "- "}]
    return Situation(
        title.removeprefix("hard: "),
        title.startswith("hard: "),
        tuple((name, value) for name, value in options),
        tuple(
            File(mark == "*", text, form, datetime.fromisoformat(time), path)
            for mark, text, form, time, path in files
        ),
    )


_, *BLOCKS = Path(__file__).with_name("keepers.txt").read_text("utf-8").split("\n# ")
SITUATIONS = [situation(block.strip()) for block in BLOCKS]


def text_of(name: str, place: int, *, is_chinese: bool) -> str:
    """A text of its own for each letter of each situation; a number at its end changes a little."""
    letter, _, version = name.partition("~")
    random = Random(f"{place} {letter}")
    words = random.choices(CHARACTERS if is_chinese else WORDS, k=240)
    lines = ["".join(words[at : at + 40]) for at in range(0, 240, 40)]
    if not is_chinese:
        lines = [" ".join(words[at : at + 12]) + "." for at in range(0, 240, 12)]
    for at in range(int(version or 0)):
        lines[at] = lines[at][::-1] if is_chinese else f"Version {at} of this line is another one."
    return "\n\n".join(lines) + "\n"


def content_of(file: File, place: int, *, is_chinese: bool) -> bytes:
    text = text_of(file.text, place, is_chinese=is_chinese)
    if file.form == "damaged":
        return text.encode().replace(b"e", b"\xff", 3)
    if file.form in MAKERS:
        content = MAKERS[file.form](text)
        return content if isinstance(content, bytes) else content.encode()
    return text.encode(file.form)


def written(situations: Sequence[Situation]) -> None:
    """Write the files of each situation into a folder with its number."""
    for place, each in enumerate(situations):
        is_chinese = any(file.form in {"big5", "gb18030"} for file in each.files)
        for file in each.files:
            path = Path(f"{place:02}", file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content_of(file, place, is_chinese=is_chinese))
            time_ns = round(file.time.timestamp() * 1e3) * 10**6
            os.utime(path, ns=(time_ns, time_ns))


def typed(situations: Sequence[Situation], *, is_lasting: bool) -> list[str]:
    """The options of all situations, each for a folder of its own situation."""
    return [
        word
        for place, each in enumerate(situations)
        for name, folder in each.options
        if name.startswith("--") != is_lasting
        for word in (f"--{name.lstrip('-')}", f"{place:02}/{folder}")
    ]


def leaders(found: dict) -> dict[str, str]:
    """The file that leads the group of each file."""
    return {
        os.path.relpath(member["path"]): os.path.relpath(group["members"][0]["path"])
        for group in found["groups"]
        for member in group["members"]
    }


def test_the_table_has_sixty_situations_and_half_of_them_are_hard():
    assert len(SITUATIONS) == len({each.title for each in SITUATIONS}) == 60
    assert sum(each.is_hard for each in SITUATIONS) >= 30
    assert {*FAULTS} <= {each.title for each in SITUATIONS}


@pytest.mark.usefixtures("folder")
def test_scan_and_clean_keep_what_a_person_would_keep(simdup):
    pytest.importorskip("pypdfium2")
    written(SITUATIONS)
    lasting = typed(SITUATIONS, is_lasting=True)

    scanned = simdup("scan", ".", *lasting, "--no-cache", "--format", "json", "-o", "found.json")
    options = "--text", "--formats-too", "--near", "0.8", "-o", "plan.jsonl"
    planned = simdup(
        "clean", "found.json", *lasting, *typed(SITUATIONS, is_lasting=False), *options
    )

    assert (scanned.returncode, planned.returncode) == (0, 0)
    led = leaders(json.loads(Path("found.json").read_text("utf-8")))
    lines = map(json.loads, Path("plan.jsonl").read_text("utf-8").splitlines())
    going = {os.path.relpath(each["file"]["path"]) for each in lines if "file" in each}
    wrong = {each.title for n, each in enumerate(SITUATIONS) if not right(each, n, led, going)}
    print(f"{len(SITUATIONS) - len(wrong)} right; wrong: {sorted(wrong)}")
    assert wrong.isdisjoint(FAULTS)
    assert len(wrong) <= 3


@pytest.mark.parametrize("seed", range(3))
def test_a_plan_of_the_demo_takes_copies_and_leaves_the_originals(simdup, folder, seed):
    shutil.copytree(DEMO, "demo")
    random = Random(seed)
    for path in Path("demo").rglob("*"):
        os.utime(path, (time := random.randrange(10**9), time))

    simdup("scan", "demo", "--no-cache", "--format", "json", "-o", "found.json")
    simdup("clean", "found.json", "--text", "-o", "plan.jsonl")

    lines = map(json.loads, Path("plan.jsonl").read_text("utf-8").splitlines())
    pairs = [(each["file"]["path"], each["keep"]["path"]) for each in lines if "file" in each]
    going = [os.path.relpath(file, folder / "demo") for file, _ in pairs]
    assert len(going) == 8
    assert [each for each in going if not each.startswith("backup/")] in [
        ["notes/spring-soup.md"],
        ["notes/外婆的腌笃鲜.md"],
    ]
    assert all("/backup/" not in keep for _, keep in pairs)


def test_the_newest_version_goes_for_an_older_one_only_with_a_word_of_its_own(run, write):
    for year, version in ((2022, "a"), (2023, "a~1"), (2024, "a~2")):  # the newest is the largest
        write(f"docs/Lease_{year}.txt", text_of(version, 0, is_chinese=False))
    run("scan", "docs", "--format", "json", "-o", "found.json")
    asked = "clean", "found.json", "--prefer", "name=*2022*", "--near", "0.8"

    without, given = run(*asked), run(*asked, "--newest-too", "-o", "plan.jsonl")
    acted = run("clean", "plan.jsonl", "--near", "0.8", "--apply")

    assert "the newest version: needs --newest-too" in without.out.decode()
    assert "trash    Lease_2024.txt" not in without.out.decode()
    assert "trash    Lease_2024.txt" in given.out.decode()
    assert (acted.code, b"--newest-too for 1 file" in acted.err) == (2, True)
    assert len(os.listdir("docs")) == 3


def test_folders_to_keep_and_to_let_go_are_set_in_the_users_own_configuration(run, write, own):
    for name in ("docs/inbox/a.txt", "docs/work/projects/a.txt", "docs/zz/b.txt", "docs/b.txt"):
        write(name, text_of(name[-5], 1, is_chinese=False))
    own(
        f"keep-under = ['{Path('docs/zz').resolve()}']\n"
        f"let-go-under = ['{Path('docs/inbox').resolve()}', '/a folder of another day']\n"
    )

    run("scan", "docs", "--format", "json", "-o", "found.json")
    cleaned = run("clean", "found.json")
    planned = cleaned.out.decode()

    assert b"another day" not in cleaned.err
    assert {*leaders(json.loads(Path("found.json").read_text("utf-8"))).values()} == {
        *("docs/work/projects/a.txt", "docs/zz/b.txt")
    }
    assert "kept: not under a folder to let go" in planned
    assert "kept: under a folder to keep" in planned
    write("docs/.simdup.toml", "keep-under = ['inbox']\n")
    assert run("scan", "docs").code == 2


def right(each: Situation, number: int, led: dict[str, str], going: set[str]) -> bool:
    """Whether the files that shall stay do so in the plan, and lead their groups in the scan."""
    stays = {f"{number:02}/{file.path}" for file in each.files if file.stays}
    others = {f"{number:02}/{file.path}" for file in each.files} - stays
    are_leading = all(led.get(path, path) in stays for path in stays)
    is_for_clean = any(name.startswith("--") for name, _ in each.options)
    # What is not read of a document, or cannot be, keeps a file from going.
    is_text = all(file.form in {"utf-8", "utf-16", "big5", "gb18030"} for file in each.files)
    return (
        stays.isdisjoint(going)
        and (is_for_clean or (are_leading and all(led.get(path) in stays for path in others)))
        and (others <= going or not is_text)
    )
