"""simdup.clean.review: questions about a plan, and the plan that the answers make."""

from __future__ import annotations

import pytest

from simdup.clean.plan import Act, Action, FileId, Header, Left, parsed_plan, plan_lines
from simdup.clean.planning import numbered
from simdup.clean.refusals import Refusal, Why
from simdup.clean.review import Answer, Review
from simdup.records import Kind

HEADER = Header("", "found.json", "0" * 32, (), ("/",))
KEEP, DROP, REST = Answer.KEEP, Answer.DROP, Answer.DROP_REST
REVERSE, IGNORE, SKIP = Answer.REVERSE, Answer.IGNORE, Answer.SKIP


def seen(name):
    """A file whose bytes are told by the first letter of its name, and its text by the case."""
    return FileId(
        f"/{name}", 1, sum(map(ord, name)), 3, 4, 5, name[0].encode() * 16,
        name[0].lower().encode() * 16,
    )  # fmt: skip


def left(group, name, refusal=Refusal.NEAR, detail=""):
    return Left(0, group, seen(name), Why(refusal, detail))


def copy(group, name, keep):
    return Action(0, group, seen(keep), Act.TRASH, seen(name), None, "oldest")


# Group 1: a is kept, b and c are near. Group 2: d is kept, e is near, and f2 is a copy of f, which
# is near too. Group 3: only a copy. Group 4: g is kept, G has its text, and p is protected.
PLAN = numbered(
    [copy(2, "f2", "f"), copy(3, "h2", "h")],
    [
        *(left(1, "a", Refusal.PREFERRED), left(1, "b"), left(1, "c")),
        *(left(2, "d", Refusal.PREFERRED), left(2, "e")),
        *(
            left(4, "g", Refusal.PREFERRED),
            left(4, "G", Refusal.TEXT),
            left(4, "p", Refusal.PROTECTED),
        ),
    ],
    HEADER,
)


def review(plan=PLAN, alike=lambda *_: 0.9, stays=lambda _: None):
    return Review(plan, alike, stays)


def answered(*answers, **options):
    """The plan after these answers."""
    made = review(**options)
    for answer in answers:
        assert made.answer(answer) == ""
    return written(made)


def written(made):
    plan = made.plan()
    assert parsed_plan([line.encode() for line in plan_lines(plan)], "p") == plan
    return plan


def gone(plan):
    return {a.file.path[1:]: a.keep.path[1:] for a in plan.actions}


def whys(plan):
    return {each.file.path[1:]: each.why.refusal for each in plan.left}


def asked(made):
    question = made.question()
    return question and (question.group, question.keep.path[1:], question.file.path[1:])


def test_a_file_that_is_dropped_is_marked_as_reviewed():
    plan = answered(DROP, KEEP, KEEP, KEEP, DROP)

    assert {each.file.path[1:]: each.is_reviewed for each in plan.actions} == {
        "b": True,
        "f2": False,
        "h2": False,
        "G": True,
    }


def test_a_file_that_other_facts_keep_is_asked_about():
    kept = left(1, "b", Refusal.FACTS, "412.50 / 397.10")

    assert asked(review(numbered([], [left(1, "a", Refusal.PREFERRED), kept], HEADER))) == (
        1,
        "a",
        "b",
    )


def test_identical_copies_are_no_question_and_all_others_are():
    made, questions = review(), []
    while question := asked(made):
        questions.append(question)
        made.answer(KEEP)

    assert questions == [(1, "a", "b"), (1, "a", "c"), (2, "d", "f"), (2, "d", "e"), (4, "g", "G")]
    assert gone(written(made)) == {"f2": "f", "h2": "h"}
    assert {*whys(made.plan()).values()} == {Refusal.PREFERRED, Refusal.REVIEWED, Refusal.PROTECTED}


def test_what_is_dropped_goes_for_the_kept_file_and_the_kind_is_found_anew():
    plan = answered(DROP, KEEP, KEEP, KEEP, DROP)

    kinds = {each.file.path[1:]: (each.kind, each.contained) for each in plan.actions}
    assert gone(plan) == {"b": "a", "f2": "f", "h2": "h", "G": "g"}
    assert kinds["b"] == (Kind.NEAR, 0.9)
    assert kinds["G"] == (Kind.IDENTICAL_TEXT, None)
    assert whys(plan) == {
        "c": Refusal.REVIEWED,
        "d": Refusal.PREFERRED,
        "e": Refusal.REVIEWED,
        "p": Refusal.PROTECTED,
    }


def test_a_question_says_how_many_copies_go_with_the_file():
    made, copies = review(), {}
    while question := made.question():
        copies[question.file.path] = question.copies
        made.answer(KEEP)

    assert copies == {"/b": 0, "/c": 0, "/f": 1, "/e": 0, "/G": 0}


def test_a_copy_of_a_file_that_is_dropped_goes_for_the_kept_one_too():
    plan = answered(KEEP, KEEP, DROP, KEEP, KEEP)

    assert gone(plan) == {"f": "d", "f2": "d", "h2": "h"}
    assert {each.kind for each in plan.actions if each.group == 2} == {Kind.NEAR}


def test_the_rest_of_a_group_is_dropped_at_once():
    assert gone(answered(REST)) == {"b": "a", "c": "a", "f2": "f", "h2": "h"}


def test_reversed_the_file_is_kept_and_the_group_is_asked_about_again():
    made = review()
    made.answer(DROP)
    assert asked(made) == (1, "a", "c")
    made.answer(REVERSE)
    assert asked(made) == (1, "c", "a")
    made.answer(DROP)
    assert asked(made) == (1, "c", "b")
    made.answer(KEEP)

    assert gone(written(made)) == {"a": "c", "f2": "f", "h2": "h"}


def test_a_protected_file_cannot_become_one_that_goes():
    made = review(stays=lambda path: Refusal.PROTECTED if path == "/a" else None)

    assert made.answer(REVERSE) == "the kept file cannot be removed: protected"
    assert asked(made) == (1, "a", "b")


def test_a_file_that_must_stay_is_no_question():
    made = review(stays=lambda path: Refusal.PROTECTED if path == "/b" else None)

    assert asked(made) == (1, "a", "c")


def test_a_file_that_must_stay_is_no_question_either_if_it_is_kept_for_a_copy():
    made = review(stays=lambda path: Refusal.PROTECTED if path in {"/f", "/h"} else None)
    for _ in range(2):
        made.answer(DROP)

    assert asked(made) == (2, "d", "e")
    made.answer(DROP)
    assert gone(written(made)) == {"b": "a", "c": "a", "e": "d", "f2": "f", "h2": "h"}


def test_a_skipped_group_is_left_as_not_reviewed():
    plan = answered(DROP, SKIP)

    assert gone(plan) == {"f2": "f", "h2": "h"}
    assert (whys(plan)["b"], whys(plan)["c"]) == (Refusal.NOT_REVIEWED, Refusal.NOT_REVIEWED)


def test_a_group_that_nobody_is_asked_about_stays_as_it_is():
    plan = numbered([], [left(1, "a", Refusal.CHANGED)], HEADER)

    assert asked(review(plan)) is None
    assert written(review(plan)) == plan


def test_ignored_pairs_stay():
    assert whys(answered(IGNORE))["b"] == Refusal.NO_DUPLICATE


def test_back_takes_one_answer_after_the_other_back():
    made = review()
    for answer in (DROP, KEEP, SKIP):
        made.answer(answer)

    seen_again = []
    while made.back():
        seen_again.append(asked(made))

    assert seen_again == [(2, "d", "f"), (1, "a", "c"), (1, "a", "b")]
    assert gone(made.plan()) == gone(review().plan())


def test_a_file_that_cannot_be_compared_stays_whatever_is_answered():
    plan = answered(DROP, DROP, alike=lambda _, file: None if file.path == "/b" else 0.5)

    assert gone(plan)["c"] == "a"
    assert whys(plan)["b"] == Refusal.NOT_COMPARED


@pytest.mark.parametrize("number", range(6))
def test_a_review_goes_on_from_the_plan_so_far(number):
    answers = [DROP, KEEP, REVERSE, DROP, KEEP, DROP]
    whole, begun = review(), review()
    for answer in answers[:number]:
        whole.answer(answer)
        begun.answer(answer)
    again = review(written(begun))

    assert asked(again) == asked(whole)
    for answer in answers[number:]:
        whole.answer(answer)
        again.answer(answer)
    assert gone(again.plan()) == gone(whole.plan())
    assert whys(again.plan()) == whys(whole.plan())
