"""The hot loops, compiled by numba (extra `fast`): arrays in, arrays out.

Each is the plain loop that its numpy twin avoids, and gives the same numbers bit for bit:
the tests compare them. Imported only by `fast`, which decides whether it pays. Nothing
here starts a thread; all of it runs without Python's lock, so that callers can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import llvmlite.ir
import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from simdup.compute.hashing import BASE, GRAM_BASE, WORD_STEP
from simdup.text.unicode import HAN, JOINS, KIND_SHIFT, MARK, SEPARATOR, SINGLE, WORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BASE, _GRAM_BASE, _STEP = np.uint64(BASE), np.uint64(GRAM_BASE), np.uint64(WORD_STEP)
_ZERO, _ONE = np.uint64(0), np.uint64(1)

_SEPARATOR, _WORD, _SINGLE, _HAN, _MARK, _JOINS = (
    np.uint32(kind) for kind in (SEPARATOR, WORD, SINGLE, HAN, MARK, JOINS)
)
_SHIFT, _CHARACTER = np.uint32(KIND_SHIFT), np.uint32((1 << KIND_SHIFT) - 1)


def _may_cache() -> bool:
    """Whether numba finds a place for what it compiles: beside this file or the user's own."""
    try:
        njit(cache=True)(_may_cache)
    except RuntimeError:
        return False
    return True


_compiled = njit(nogil=True, boundscheck=False, cache=_may_cache())


@njit(inline="always")
def _mix(x):
    """`hashing.mix64` of one number."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


@intrinsic
def _popcount(_context, _number):
    """How many bits of a 64-bit number are set: one instruction."""

    def generate(_context, builder, _signature, arguments):
        word = llvmlite.ir.IntType(64)
        function = cgutils.insert_pure_function(
            builder.module, llvmlite.ir.FunctionType(word, [word]), "llvm.ctpop.i64"
        )
        return builder.call(function, arguments)

    return types.uint64(types.uint64), generate


@_compiled
def token_hashes(
    codes: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    is_folded: NDArray[np.bool_],
    packed: NDArray[np.uint32],
    start: NDArray[np.uint32],
    length: NDArray[np.uint8],
    folded: NDArray[np.uint32],
    folded_kind: NDArray[np.uint8],
    kind: NDArray[np.uint8],
    ids: NDArray[np.uint64],
    ends: NDArray[np.int64],
    joins: NDArray[np.bool_],
) -> bool:
    """`tokens.tokens` of texts as `unicode.code_points` gives them, hashed by mix64.

    Fills `ids` with one hash a token, `ends` (texts + 1,) with where each text's end, and
    `joins` (texts,) with which have a character that the tables do not fold: such a text
    is to be folded by `unicodedata` and come again, `is_folded`.

    Returns False where `ids` may be too short, and all is to be done again with a longer one:
    it needs a place for each code point, and for each that those which unfold become.
    """
    count, spare = 0, len(ids) - len(codes)
    for text in range(len(offsets) - 1):
        h, power = _ZERO, _ONE
        before, base, is_open = _SEPARATOR, _SEPARATOR, False
        is_done = is_folded[text]
        i, end = offsets[text], offsets[text + 1] - 1
        while i < end:
            entry = packed[codes[i]]
            found = entry >> _SHIFT
            if found == _WORD and not is_done:
                if before != _WORD:
                    if is_open:
                        ids[count] = _mix(h)
                        count += 1
                    h, power, is_open = _ZERO, _ONE, True
                # Text ends with a newline, which is no word.
                while found == _WORD:
                    h += np.uint64((entry & _CHARACTER) + np.uint32(1)) * power
                    power *= _BASE
                    i += 1
                    entry = packed[codes[i]]
                    found = entry >> _SHIFT
                before = base = _WORD
                continue
            if found <= _HAN and not is_done:
                if is_open:
                    ids[count] = _mix(h)
                    count += 1
                is_open = found != _SEPARATOR
                h, power = np.uint64((entry & _CHARACTER) + np.uint32(1)), _BASE
                before = base = found
                i += 1
                continue
            if found == _JOINS and not is_done:
                joins[text] = True
                break
            code = codes[i]
            forms, at = 1, np.int64(0)
            if not is_done:
                forms, at = np.int64(length[code]), np.int64(start[code])
                spare -= forms - 1
                if spare < 0:
                    return False
            for form in range(forms):
                character = code if is_done else folded[at + form]
                found = np.uint32(kind[code] if is_done else folded_kind[at + form])
                if found == _MARK:
                    # A mark is of the kind of what it stands on; on nothing it is a word.
                    found = _WORD if base == _SEPARATOR else base
                    begins = found == _WORD and before != _WORD
                else:
                    base = found
                    begins = found >= _SINGLE or (found == _WORD and before != _WORD)
                if is_open and (begins or found == _SEPARATOR):
                    ids[count] = _mix(h)
                    count += 1
                    is_open = False
                if begins:
                    h, power, is_open = _ZERO, _ONE, True
                if found != _SEPARATOR:
                    h += np.uint64(character + np.uint32(1)) * power
                    power *= _BASE
                before = found
            i += 1
        if is_open:
            ids[count] = _mix(h)
            count += 1
        ends[text + 1] = count
    return True


@_compiled
def distinct_shingles(
    tokens: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    table: NDArray[np.uint64],
    owner: NDArray[np.int32],
    ids: NDArray[np.uint64],
    ends: NDArray[np.int64],
) -> None:
    """`features._distinct_shingles`, in the order in which they occur.

    `table` and `owner` are a hash table: a power of two of slots, at least twice as many
    as a document has shingles; `owner` holds -1.
    """
    count = 0
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        size = 256
        while size < 2 * (end - begin) * len(lengths):
            size *= 2
        mask = np.uint64(size - 1)
        for n in lengths:
            # A text shorter than every shingle is one shingle of all its tokens.
            span = min(n, end - begin) if n == lengths[0] else n
            for i in range(begin, end - span + 1 if span else begin):
                x = tokens[i]
                for j in range(1, span):
                    x = x * _GRAM_BASE + tokens[i + j]
                x = _mix(x)
                slot = x & mask
                while owner[slot] == document and table[slot] != x:
                    slot = (slot + _ONE) & mask
                if owner[slot] != document:
                    owner[slot], table[slot] = document, x
                    ids[count] = x
                    count += 1
        ends[document + 1] = count


@njit(inline="always")
def _add(a, b, c):
    """64 full adders: carries and sums of three words."""
    either = a ^ b
    return (a & b) | (either & c), either ^ c


@_compiled
def votes_of_ones(
    ids: NDArray[np.uint64], offsets: NDArray[np.int64], sums: NDArray[np.float64]
) -> None:
    """`simhash.votes` where every feature weighs 1 and votes by its id; sums (n, bits).

    Eight words at a time are added as columns of bits, so that only every eighth is
    taken apart. Method: positional population count by carry-save adders (Harley, Seal).
    """
    bits = sums.shape[1]
    ones_in = np.empty(64, np.int64)
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        for word in range((bits + 63) // 64):
            step = np.uint64(word) * _STEP
            ones_in[:] = 0
            ones = twos = fours = _ZERO
            i = begin
            while i + 8 <= end:
                carry, ones = _add(ones, _word(ids[i], step), _word(ids[i + 1], step))
                more, ones = _add(ones, _word(ids[i + 2], step), _word(ids[i + 3], step))
                first, twos = _add(twos, carry, more)
                carry, ones = _add(ones, _word(ids[i + 4], step), _word(ids[i + 5], step))
                more, ones = _add(ones, _word(ids[i + 6], step), _word(ids[i + 7], step))
                second, twos = _add(twos, carry, more)
                eights, fours = _add(fours, first, second)
                for bit in range(64):
                    ones_in[bit] += np.int64((eights >> np.uint64(63 - bit)) & _ONE) << 3
                i += 8
            for bit in range(64):
                at = np.uint64(63 - bit)
                ones_in[bit] += np.int64((ones >> at) & _ONE)
                ones_in[bit] += np.int64((twos >> at) & _ONE) << 1
                ones_in[bit] += np.int64((fours >> at) & _ONE) << 2
            for j in range(i, end):
                x = _word(ids[j], step)
                for bit in range(64):
                    ones_in[bit] += np.int64((x >> np.uint64(63 - bit)) & _ONE)
            for bit in range(min(64, bits - 64 * word)):
                sums[document, 64 * word + bit] = 2 * ones_in[bit] - (end - begin)


@njit(inline="always")
def _word(x, step):
    """`hashing.widened`; `step` is 0 for the hash itself."""
    return _mix(x ^ step) if step else x


@_compiled
def votes_of_weights(
    hashes: NDArray[np.uint64],
    weights: NDArray[np.int64],
    offsets: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """`simhash.votes` of whole weights; `hashes` (m, words) as they vote, sums (n, bits)."""
    bits, own = sums.shape[1], hashes.shape[1]
    totals = np.empty(64, np.int64)
    for document in range(len(offsets) - 1):
        for word in range((bits + 63) // 64):
            step = np.uint64(word) * _STEP
            totals[:] = 0
            for i in range(offsets[document], offsets[document + 1]):
                x = hashes[i, word] if word < own else _mix(hashes[i, 0] ^ step)
                weight = weights[i]
                for bit in range(64):
                    sign = 2 * np.int64((x >> np.uint64(63 - bit)) & _ONE) - 1
                    totals[bit] += sign * weight
            for bit in range(min(64, bits - 64 * word)):
                sums[document, 64 * word + bit] = totals[bit]


@_compiled
def digests(
    ids: NDArray[np.uint64],
    weights: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    sums: NDArray[np.uint64],
) -> None:
    """`simhash.digests`; `weights` is one number if all features weigh the same."""
    is_same = len(weights) == 1
    for document in range(len(offsets) - 1):
        first = second = _ZERO
        for i in range(offsets[document], offsets[document + 1]):
            mixed = _mix(ids[i] + _mix(weights[0 if is_same else i]))
            first += mixed
            second += _mix(mixed ^ _STEP)
        sums[document, 0], sums[document, 1] = first, second


@_compiled
def shared_products(
    ids: NDArray[np.uint64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    dots: NDArray[np.float64],
) -> None:
    """The dot product of documents i[p] and j[p], pairs in order of i; no weights: all 1.

    The features of a left document are put into a hash table once for all its pairs.
    """
    size = 256
    for p in range(len(i)):
        while size < 2 * (offsets[i[p] + 1] - offsets[i[p]]):
            size *= 2
    table, place = np.zeros(size, np.uint64), np.zeros(size, np.int64)
    owner = np.full(size, -1, np.int64)
    is_same = len(weights) == 0
    mask, last, run = _ZERO, np.int64(-1), np.int64(-1)
    for p in range(len(i)):
        left, right = i[p], j[p]
        if left != last:
            own = 256
            while own < 2 * (offsets[left + 1] - offsets[left]):
                own *= 2
            mask = np.uint64(own - 1)
            last = left
            for at in range(offsets[left], offsets[left + 1]):
                slot = ids[at] & mask
                while owner[slot] == p:
                    slot = (slot + _ONE) & mask
                owner[slot], table[slot], place[slot] = p, ids[at], at
            run = p
        total = 0.0
        for at in range(offsets[right], offsets[right + 1]):
            slot = ids[at] & mask
            while owner[slot] == run and table[slot] != ids[at]:
                slot = (slot + _ONE) & mask
            if owner[slot] == run:
                total += 1.0 if is_same else weights[at] * weights[place[slot]]
        dots[p] = total


@_compiled
def near_pairs(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    columns: tuple[int, int],
    begin: int,
    is_half: bool,
    k: int,
    wide_left: NDArray[np.uint64],
    wide_right: NDArray[np.uint64],
    wide_k: int,
    found: NDArray[np.int64],
) -> tuple[int, int]:
    """Pairs of rows of left (words, n) and some of right (words, m) that are within k bits.

    And within wide_k bits in the wide rows (n, words) and (m, words); these may have no words.

    Compares rows from `begin` on with columns[0] to columns[1] of right, few enough for the
    cache. Fills `found` (capacity, 3) with i, j and distance and stops in front of a row
    whose pairs might not fit. Returns that row, or n, and the number of pairs. With
    `is_half` the two are one collection and only i < j counts.
    """
    words, n = left.shape
    low, high = columns
    scratch, limit = np.empty(high - low, np.uint16), np.uint16(k)
    picked = np.empty(high - low, np.int32)
    count = 0
    for i in range(begin, min(n, high) if is_half else n):
        if count + high - low > len(found):
            return i, count
        first = max(low, i + 1) if is_half else low
        distances = scratch[: high - first]
        a, column = left[0, i], right[0, first:high]
        if words > 1:
            b, other = left[1, i], right[1, first:high]
            for j in range(len(column)):
                distances[j] = _popcount(a ^ column[j]) + _popcount(b ^ other[j])
        else:
            for j in range(len(column)):
                distances[j] = _popcount(a ^ column[j])
        for word in range(2, words):
            a, column = left[word, i], right[word, first:high]
            for j in range(len(column)):
                distances[j] += _popcount(a ^ column[j])
        near = 0
        for j in range(len(distances)):
            near += distances[j] <= limit
        # Few rows have anything to find. In these a loop without branches picks it out.
        picks = 0
        if near > 0:
            for j in range(len(distances)):
                picked[picks] = j
                picks += distances[j] <= limit
        for pick in range(picks):
            j = picked[pick]
            wide = 0
            for word in range(wide_left.shape[1]):
                wide += _popcount(wide_left[i, word] ^ wide_right[first + j, word])
            if wide <= wide_k:
                found[count, 0], found[count, 1], found[count, 2] = i, first + j, distances[j]
                count += 1
    return n, count


EVERY = (
    token_hashes,
    distinct_shingles,
    votes_of_ones,
    votes_of_weights,
    digests,
    shared_products,
    near_pairs,
)


def warmed() -> Iterator[None]:
    """Each kernel called once on next to nothing, which compiles it or loads it from the cache."""
    numbers, places = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    codes, small, flags = np.zeros(2, np.uint32), np.zeros(2, np.uint8), np.zeros(2, bool)
    sums = np.zeros((1, 8))
    table, owner = np.zeros(256, np.uint64), np.full(256, -1, np.int32)
    calls = (
        (*(codes, places, flags, codes, codes, small, codes, small, small), numbers, places, flags),
        (numbers, places, np.ones(1, np.int64), table, owner, numbers, places),
        (numbers, places, sums),
        (numbers[:, None], places, places, sums),
        (numbers, numbers, places, np.zeros((1, 2), np.uint64)),
        (numbers, sums[0], places, places[:0], places[:0], sums[0]),
        (
            *(numbers[None], numbers[None], (0, 0), 0, True, 0),
            *(numbers[:, None], numbers[:, None], 0, np.zeros((0, 3), np.int64)),
        ),
    )
    for kernel, arguments in zip(EVERY, calls, strict=True):
        kernel(*arguments)
        yield
