"""The mutants of `make mutants`: what is changed in a source, and where they are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants.changes import mutants_of
from mutants.modules import ACCEPTED, MODULES, accepted

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SOURCE = '''"""A text: 1 < 2."""
LIMIT = 3

def near(a: int, 北=0):
    """Whether 1 < 2."""
    if a < LIMIT and not 北:
        raise ValueError("1 < 2")
    a = a * 2
    return [b for b in "ab" if b]

class Group:
    size = 4

    def add(self, other):
        self.others.append(min(other))
'''


def test_every_part_of_a_function_that_decides_or_counts_is_changed():
    assert [mutant.text for mutant in mutants_of(SOURCE)] == [
        "near: def near(a: int, 北=[0 -> 1]):",
        "near: def near(a: int, 北=[0 -> -1]):",
        "near: if [a < LIMIT and (not 北) -> True]:",
        "near: if [a < LIMIT and (not 北) -> False]:",
        "near: if [a < LIMIT and (not 北) -> (a < LIMIT or not 北)]:",
        "near: if [a < LIMIT and (not 北) -> (not 北)]:",
        "near: if [a < LIMIT and (not 北) -> (a < LIMIT)]:",
        "near: if [a < LIMIT -> (a <= LIMIT)] and not 北:",
        "near: if a < LIMIT and [not 北 -> 北]:",
        "near: [a = a * 2 -> pass]",
        "near: a = [a * 2 -> (a // 2)]",
        "near: a = a * [2 -> 3]",
        "near: a = a * [2 -> 1]",
        'near: return [b for b in "ab" if [b -> True]]',
        "Group.add: [self.others.append(min(other)) -> pass]",
        "Group.add: self.others.append([min(other) -> max(other)])",
    ]


def test_an_argument_that_only_checks_the_program_is_not_changed():
    assert mutants_of("def pairs(a):\n    return zip(a, a, strict=True)\n") == []


def test_a_mutant_is_the_source_with_one_change():
    changed = [mutant.applied(SOURCE) for mutant in mutants_of(SOURCE)]

    assert changed[4] == SOURCE.replace("a < LIMIT and not 北", "(a < LIMIT or not 北)")
    assert len({SOURCE, *changed}) == len(changed) + 1


def test_every_accepted_mutant_has_a_reason():
    lines = ACCEPTED.read_text("utf-8").splitlines()
    named = [line for line in lines if line and not line.startswith(("#", " "))]

    assert list(accepted()) == named
    assert all(accepted().values())


@pytest.mark.parametrize(("module", "tests"), MODULES.items())
def test_mutants_of_a_module_can_be_compiled_and_tested(module, tests):
    source = (ROOT / module).read_text("utf-8")
    mutants = mutants_of(source)

    assert len(mutants) > 20
    for mutant in mutants[::7]:
        compile(mutant.applied(source), module, "exec")
    assert all((ROOT / each).exists() for each in tests)
