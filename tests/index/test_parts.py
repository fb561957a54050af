"""simdup.index.parts.

Which larger texts of an index a question stands in, and which texts stand in the question.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simdup.errors import InputError
from simdup.index.index import Index
from simdup.settings import PARTS, Limits, Settings

sys.path.insert(0, str(Path(__file__).parents[2] / "fixtures"))
import parts as labelled

ASKED = Settings(parts=PARTS)


def words(seed, count):
    """A text of made-up words."""
    return " ".join(f"w{seed}x{place}" for place in range(count))


CHAPTERS = [words(f"c{number}", 400) for number in range(6)]
BOOK = "\n\n".join(CHAPTERS)


@pytest.fixture
def library(write, tmp_path, settled):  # noqa: ARG001
    """An index for parts, of a book and another text."""
    write("in/book.txt", BOOK)
    write("in/other.txt", words("o", 500))
    with Index.create(tmp_path / "x", ASKED) as index:
        index.add("in")
        yield index


def parts_of(index, text, settings=ASKED):
    (answer,) = index.query_many([text], settings)
    return answer.parts


def named(parts):
    return [(os.path.relpath(part.document.path), part.is_whole, part.share) for part in parts]


def test_only_documents_that_are_still_there_are_too_many(library, write):
    for turn in (0, 1):
        for number in range(4) if turn == 0 else (0, 1):
            write(f"in/edition-{number}.txt", f"{BOOK}\n\n{words(f'{turn}-{number}', 900)}")
        library.add("in")
    few = replace(ASKED, limits=Limits(part_candidates=5))

    (answer,) = library.query_many([" ".join(CHAPTERS[3].split()[70:120])], few)

    assert (len(answer.parts), answer.unread) == (5, 0)


def test_copies_of_a_question_take_the_place_of_no_larger_text(library, write):
    for number in range(3):
        write(f"in/copy-{number}.txt", CHAPTERS[3])
    library.add("in")
    write("in/late.txt", f"{BOOK}\n\n{words('e', 900)}")
    library.add("in")
    few = replace(ASKED, limits=Limits(part_candidates=2))

    (answer,) = library.query_many([CHAPTERS[3]], few)

    assert [name for name, *_ in named(answer.parts)] == ["in/book.txt", "in/late.txt"]
    assert answer.unread == 3


# Both ways


def test_texts_of_the_index_are_found_in_a_larger_question(library, write):
    write("in/first.txt", CHAPTERS[4])
    write("in/second.txt", CHAPTERS[1])
    library.add("in")
    question = words("q", 1500) + "\n\n" + BOOK
    found = parts_of(library, question)

    # In the order of their places; first the book itself.
    assert named(found) == [
        ("in/book.txt", False, 1),
        ("in/second.txt", False, 1),
        ("in/first.txt", False, 1),
    ]
    assert [question[part.start : part.end] for part in found] == [BOOK, CHAPTERS[1], CHAPTERS[4]]


def test_neither_a_copy_nor_a_version_is_a_part(library, write):
    write("in/draft.txt", CHAPTERS[0] + " and an end")
    library.add("in")

    assert named(parts_of(library, CHAPTERS[0])) == [("in/book.txt", True, 1)]


def test_a_text_of_a_line_or_two_is_no_part(library):
    assert parts_of(library, words("c3", 18)) == ()


# Boilerplate


@pytest.fixture
def notices(library, write):
    """Thirty mails with one notice."""
    notice = words("n", 150)
    for number in range(30):
        write(f"in/{number}.txt", words(number, 40 + 5 * number) + " " + notice)
    library.add("in")
    return notice


def test_a_short_text_above_a_notice_is_no_part_of_others_with_it(library, notices):
    question = words("q", 20) + " " + notices

    assert parts_of(library, question) == ()
    assert len(parts_of(library, question, replace(ASKED, own_share=0))) > 20


def test_the_notice_itself_is_found_wherever_it_stands(library, notices):
    assert len(parts_of(library, notices)) == 30


def test_everyday_words_make_no_page_a_notice(library, write):
    everyday = [words("e", 2) + f" w{number}" for number in range(60)]
    for number in range(40):
        write(f"in/{number}.txt", " ".join(everyday) + " " + words(number, 40 + 9 * number))
    page = " ".join(everyday[:20]) + " " + words("p", 50)
    write("in/tale.txt", page + " " + " ".join(everyday) + " " + words("p2", 700))
    library.add("in")

    names = [name for name, *_ in named(parts_of(library, page + " " + words("q", 16)))]
    assert names == ["in/tale.txt"]


def test_versions_that_are_gone_do_not_make_a_text_a_notice(library, write):
    for number in range(10):
        write("in/tale.txt", words("t", 300) + " " + words(number, 900))
        library.update()

    assert len(parts_of(library, words("t", 250) + " " + words("q", 20))) == 1


def test_a_text_in_many_editions_of_a_book_is_found_in_each(library, write):
    for number in range(8):
        write(f"in/edition {number}.txt", BOOK + words(number, 100))
    library.add("in")
    question = " ".join(CHAPTERS[5].split()[:200] + words("q", 30).split())

    assert len(parts_of(library, question)) == 9


# Texts that cannot be read again


def test_of_a_file_that_has_changed_the_share_is_estimated(library):
    Path("in/book.txt").write_text("something else")
    (part,) = parts_of(library, CHAPTERS[1])

    assert (part.share, part.is_exact, part.start, part.end) == (1, False, None, None)


def test_a_question_that_the_index_knows_as_it_was_finds_each_larger_text_once(library, write):
    write("in/essay.txt", CHAPTERS[1])
    library.add("in")
    write("in/essay.txt", CHAPTERS[1] + " " + words("new", 110))
    (answer,), _ = library.query_files(Path("in/essay.txt").absolute(), replace(ASKED, parts=0.7))

    found = [(name, is_whole) for name, is_whole, _ in named(answer.parts)]
    assert found == [("in/book.txt", True), ("in/essay.txt", False)]
    assert [part.is_exact for part in answer.parts] == [True, False]


def test_of_a_text_that_is_no_file_the_share_is_estimated(library):
    library.add_texts(["a name"], [words("long", 2000)])
    (part,) = parts_of(library, words("long", 300))

    assert (part.document.path, part.is_exact) == ("a name", False)
    assert part.share == pytest.approx(1)


# Changes of the index


def test_what_changes_and_goes_is_found_no_more(library, write):
    write("in/book.txt", words("new", 3000))
    library.update()
    assert parts_of(library, CHAPTERS[1]) == ()
    assert len(parts_of(library, words("new", 300))) == 1

    library.remove("in/book.txt")
    assert parts_of(library, words("new", 300)) == ()
    assert library.problems() == []


def test_a_scan_of_the_index_is_that_of_one_without_samples(library, write, tmp_path):
    write("in/copy.txt", BOOK + words("q", 200))
    library.add("in")
    with Index.create(tmp_path / "y") as other:
        other.add("in")
        assert [group.members for group in library.scan().groups] == [
            group.members for group in other.scan().groups
        ]
        assert len(other.scan().groups) == 1


# What is refused


def test_a_fingerprint_stands_in_nothing(library):
    row = np.ones((1, 32), np.uint8)

    with pytest.raises(ValueError, match="parts are found in texts, and a fingerprint is none"):
        library.query_rows(row, ASKED)


# The labelled parts


@pytest.mark.parametrize("language", labelled.LANGUAGES)
def test_labelled_mails_are_found_in_their_digests_and_in_no_others(language, tmp_path):
    collection, root = labelled.Collection(language), tmp_path / language
    for name, text in collection.files.items():
        if name.startswith(("mails/", "digests/")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode())
    with Index.create(tmp_path / "x", ASKED) as index:
        index.add(root)
        answers, _ = index.query_files(sorted((root / "mails").iterdir()), ASKED)

    def relative(path):
        return Path(path).relative_to(root).as_posix()

    found = {
        (relative(answer.question), relative(part.document.path)): part
        for answer in answers
        for part in answer.parts
        if part.is_whole
    }
    rows = [row for row in collection.rows() if row[0].startswith("mails/")]
    assert len(rows) > 20
    labels = {(part, whole): is_part for part, whole, is_part, *_ in rows}
    assert [pair for pair in found if not labels.get(pair, True)] == []
    for part, whole, is_part, _, start, end in rows:
        if is_part:
            at = found[part, whole]
            assert max(abs(at.start - start), abs(at.end - end)) <= 0.05 * (end - start)


def test_long_texts_are_written_in_batches_of_bounded_size(library, write):
    before = library.batches
    for number in range(3):
        write(f"in/{number}.txt", words(number, 300))
    with Index(library.path, Settings(limits=Limits(batch_values=1, task_files=1))) as same:
        same.add("in")

    assert library.batches == before + 3
    assert len(parts_of(library, words(1, 200))) == 1


def test_an_index_with_samples_does_not_take_the_place_of_one_without(tmp_path):
    with Index.create(tmp_path / "x") as index:
        (tmp_path / "x").unlink()
        Index.create(tmp_path / "x", ASKED).close()

        with pytest.raises(InputError, match="made in another way"):
            len(index)
