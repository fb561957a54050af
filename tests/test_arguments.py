"""simdup.arguments: what is refused by name, and what becomes a list."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simdup.arguments import (
    check_number,
    check_truth,
    check_whole,
    number_list,
    path_list,
    text_list,
    tuple_of,
)


def test_what_can_be_read_once_becomes_a_list():
    assert text_list(each for each in "ab") == ["a", "b"]
    assert number_list(range(2), "sizes") == [0, 1]
    assert tuple_of(iter("ab"), "x", str) == ("a", "b")


def test_a_path_of_any_kind_is_a_string():
    assert path_list(Path("a")) == path_list("a") == path_list(b"a") == ["a"]
    assert path_list([Path("a"), b"\xff"]) == ["a", "\udcff"]


def test_numbers_of_numpy_are_numbers():
    check_whole(np.int64(3), "k")
    check_number(np.float32(0.5), "similarity")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: text_list("ab"), "texts must be a list of strings, not the string 'ab'; put"),
        (lambda: text_list(b"ab"), "texts must be a list of strings, not the bytes b'ab'; put"),
        (lambda: text_list("a" * 50), "texts must be a list of strings, not the string; put it"),
        (lambda: text_list({"a": "b"}), "texts must be a list of strings, not a dict"),
        (lambda: text_list({"a"}), "texts must be a list of strings, not a set"),
        (lambda: text_list(["a", b"b"]), "texts[1] must be a string, not bytes b'b'"),
        (lambda: text_list(None), "texts must be a list of strings, not None"),
        (lambda: path_list([None]), "paths[0] must be a path, not None"),
        (lambda: number_list([1, "2"], "sizes"), "sizes[1] must be a whole number, not string '2'"),
        (lambda: number_list(64, "sizes"), "sizes must be a list of whole numbers, not int 64"),
        (lambda: check_whole(np.True_, "k"), "k must be a whole number, not bool np.True_"),
        (lambda: check_whole(2.0, "k"), "k must be a whole number, not float 2.0"),
        (lambda: check_number("1", "x"), "x must be a number, not string '1'"),
        (lambda: check_truth(1, "x"), "x must be True or False, not int 1"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(message)
