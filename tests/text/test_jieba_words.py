"""simdup.text.jieba_words: jieba and rjieba say the same, and errors name the file."""

from __future__ import annotations

import random
import subprocess
import sys
from importlib.util import find_spec, module_from_spec

import jieba.finalseg
import pytest
from patience import grows_evenly

from simdup.errors import InputError
from simdup.text.jieba_words import cutter, idf, keywords, read_stop_words

pytestmark = pytest.mark.slow

SENTENCES = [
    "老张推着板车过了石桥",
    "南京市长江大桥今天临时封闭",
    "研究生命起源的人并不多",
    "乒乓球拍卖完了",
    "下雨天留客天留我不留",
    "他说的确实在理",
    "工信处女干事每月经过下属科室都要亲口交代",
    "小明硕士毕业于中国科学院计算所后在日本京都大学深造",
]


def test_words_joined_are_the_text_again():
    for sentence in SENTENCES:
        assert "".join(cutter("jieba")(sentence)) == sentence


def test_rjieba_cuts_as_jieba_does():
    pytest.importorskip("rjieba")
    chars = "".join(SENTENCES)
    chooser = random.Random(1)
    runs = SENTENCES + [
        "".join(chooser.choices(chars, k=chooser.randint(1, 30))) for _ in range(500)
    ]

    text = "\n".join(runs)
    assert list(cutter("rjieba")(text)) == list(cutter("jieba")(text))


def test_words_are_guessed_as_jieba_itself_guesses_them():
    cutter("jieba")
    spec = find_spec("jieba.finalseg")
    original = module_from_spec(spec)
    spec.loader.exec_module(original)
    chars = "".join(SENTENCES) + "abc\u9f98"
    chooser = random.Random(2)

    assert jieba.finalseg.viterbi is not original.viterbi
    for _ in range(300):
        run = "".join(chooser.choices(chars, k=chooser.randint(1, 30)))
        model = run, "BMES", original.start_P, original.trans_P, original.emit_P
        assert jieba.finalseg.viterbi(*model) == original.viterbi(*model)


@pytest.mark.parametrize("character", "中龘")
def test_time_to_guess_words_grows_with_the_text_and_no_faster(character):
    assert grows_evenly(lambda n: keywords()(character * n, 3), 16_000)


def test_keywords_come_highest_first_and_no_more_than_asked():
    found = keywords()("渡轮停航，码头上的茶馆热闹起来，茶馆老板高兴", 3)

    weights = [weight for _, weight in found]
    assert len(found) == 3
    assert weights == sorted(weights, reverse=True)
    assert found[0][0] == "茶馆"


def test_stop_words_are_no_keywords(tmp_path):
    (tmp_path / "stop").write_text("茶馆\n", "utf-8")

    found = keywords(stop_words=str(tmp_path / "stop"))("码头上的茶馆热闹起来", 10)
    assert "茶馆" not in dict(found)
    assert "码头" in dict(found)


def test_the_idf_table_has_over_250000_positive_values():
    words, values = idf()

    assert len(words) == len(values) > 250_000
    assert min(values) > 0


def test_the_error_for_a_malformed_dictionary_names_the_file(tmp_path):
    path = tmp_path / "dict"
    path.write_bytes("词 1\n".encode("utf-16"))

    with pytest.raises(InputError) as caught:
        cutter("jieba", str(path))
    assert str(caught.value).startswith(f"{str(path)!r}: not a dictionary for jieba: ")


def test_the_error_for_stop_words_not_in_utf8_gives_the_byte_offset(tmp_path):
    path = tmp_path / "stop"
    path.write_bytes("a\n的".encode("gbk"))

    with pytest.raises(InputError) as caught:
        read_stop_words(str(path))
    assert str(caught.value) == f"{str(path)!r}: not UTF-8 at byte 2; save it as UTF-8"


def test_jieba_is_not_loaded_where_no_words_are_asked_for():
    code = (
        "import sys, simdup; simdup.fingerprint_texts(['a b 中国']);"
        "print('jieba' in sys.modules, 'rjieba' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
