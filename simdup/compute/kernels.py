"""The hot loops, compiled by numba (extra `fast`): arrays in, arrays out.

Each kernel is the plain loop that its numpy twin avoids, and gives the same numbers bit for
bit: the tests compare them. Only `compiled` imports this module, when that pays. A kernel
starts no thread and runs without Python's lock, so that callers can run it in several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import llvmlite.ir
import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from simdup.arrays import CodePoints, Counters, Floats, Indices, Keys, Mask, Values, Words
from simdup.compute.hashing import BASE, COUNTER_HASH, GRAM_BASE, WORD_STEP, mix64
from simdup.text import signs
from simdup.text.unicode import HAN, JOINS, KIND_SHIFT, MARK, SEPARATOR, SINGLE, WORD, Tables

_BASE, _GRAM_BASE, _STEP = np.uint64(BASE), np.uint64(GRAM_BASE), np.uint64(WORD_STEP)
_COUNTER_HASH = np.uint32(COUNTER_HASH)
_ZERO, _ONE = np.uint64(0), np.uint64(1)

# How many places of a document move at most to make room for one more.
_MOVES = 32
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)

# The most bits of a digit, by which keys are sorted: a place for each value fits the fastest cache.
_DIGIT = 10

_SEPARATOR, _WORD, _SINGLE, _HAN, _MARK, _JOINS = (
    np.uint32(kind) for kind in (SEPARATOR, WORD, SINGLE, HAN, MARK, JOINS)
)
_BLANK, _NEWLINE = signs.BLANK << signs.KIND_AT, signs.NEWLINE << signs.KIND_AT
_SHIFT, _CHARACTER = np.uint32(KIND_SHIFT), np.uint32((1 << KIND_SHIFT) - 1)


def _may_cache() -> bool:
    """Whether numba can cache compiled code: beside this file, or in the user's cache folder."""
    try:
        njit(cache=True)(_may_cache)
    except RuntimeError:
        return False
    return True


_inlined = njit(inline="always")
_njit = njit(nogil=True, boundscheck=False, cache=_may_cache())

#: The kernels, and arguments of almost no data for each.
EVERY: dict[Callable[..., object], tuple[object, ...]] = {}


def _compiled(*sample):
    """Compile a function; with a sample of its arguments, it is one of EVERY kernel."""

    def compiled(function):
        kernel = _njit(function)
        if sample:
            EVERY[kernel] = sample
        return kernel

    return compiled


_NUMBERS, _PLACES, _SUMS = np.zeros(2, np.uint64), np.zeros(2, np.int64), np.zeros(8)
_READ_ONLY = np.frombuffer(bytes(8), np.uint32)  # as the code points of a text are
_CODES, _SMALL, _FLAGS = np.zeros(2, np.uint32), np.zeros(2, np.uint8), np.zeros(1, bool)
_TALLIES = np.zeros(2, np.uint16)
_TABLE = Tables(_SMALL, _SMALL, _CODES, _CODES, _FLAGS, _FLAGS, _FLAGS, _SMALL, _CODES)
_WIDE, _NONE, _FOUND = _NUMBERS[:, None], _PLACES[:0], np.zeros((0, 3), np.int64)
_NEAR = _NUMBERS[None], _NUMBERS[None], (0, 0), 0, True, 0, _FOUND
_INDEX = _CODES, _SMALL, 0, _NONE, _PLACES, 0


# Of one number.
_mix = _inlined(mix64)


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


@_compiled(_READ_ONLY, _PLACES, _TABLE)
def token_hashes(codes: CodePoints, offsets: Indices, table: Tables) -> tuple[Words, Indices, Mask]:
    """The hashes (by mix64) of the tokens of texts; see `tokens.tokens`.

    The texts come as `unicode.code_points` returns them.
    Returns one hash a token, where the tokens of each text end (texts + 1,), and which texts
    have a character that the table cannot fold (texts,). The hashes of such a text mean nothing.
    """
    ids, count, text = np.empty(len(codes), np.uint64), 0, 0
    ends, joins = np.zeros(len(offsets), np.int64), np.zeros(len(offsets) - 1, np.bool_)
    while text < len(joins):
        begin, end = offsets[text], offsets[text + 1] - 1
        added, has_room, joins[text] = _hash_raw(codes, begin, end, table, ids, count)
        if not has_room:
            ids = np.append(ids, np.empty_like(ids))
            continue
        count = added
        text += 1
        ends[text] = count
    return ids[:count], ends, joins


# The loop below stores hashes itself: numba counts references to an array that an inlined helper
# gets, and that made it up to five times slower.


@_njit
def _hash_raw(codes, begin, end, table, ids, count):
    """Hash the tokens of codes[begin:end], folding them by the table.

    Returns how many ids there are now; whether there was room (an id for each code point left,
    and for each that the next one unfolds to); and whether the table cannot fold a character.
    """
    packed, starts, lengths = table.packed, table.start, table.length
    folded, folded_kind = table.folded, table.folded_kind
    h, power, before, base = _ZERO, _ONE, _SEPARATOR, _SEPARATOR
    i = begin
    while i < end:
        entry = packed[codes[i]]
        kind = entry >> _SHIFT
        if kind <= _HAN:
            if kind != _WORD or before != _WORD:
                if before != _SEPARATOR:
                    ids[count] = _mix(h)
                    count += 1
                h, power = _ZERO, _ONE
            h, power = _append(h, power, entry & _CHARACTER)
            i += 1
            before = base = kind
            while before == _WORD and packed[codes[i]] >> _SHIFT == _WORD:  # no newline is one
                h, power = _append(h, power, packed[codes[i]] & _CHARACTER)
                i += 1
            continue
        if kind == _JOINS:
            return count, True, True
        start, forms = np.int64(starts[codes[i]]), np.int64(lengths[codes[i]])
        if len(ids) - count < len(codes) - i + forms:
            return count, False, False
        for at in range(start, start + forms):
            kind, base, begins = _seen(folded_kind[at], before, base)
            if before != _SEPARATOR and (begins or kind == _SEPARATOR):
                ids[count] = _mix(h)
                count += 1
            if begins:
                h, power = _ZERO, _ONE
            h, power = _append(h, power, folded[at])
            before = kind
        i += 1
    if before != _SEPARATOR:
        ids[count] = _mix(h)
        count += 1
    return count, True, False


@_inlined
def _append(h, power, character):
    """The hash so far of a token with one more character, and the next power."""
    return h + np.uint64(character + np.uint32(1)) * power, power * _BASE


@_inlined
def _seen(kind, before, base):
    """The kind of a folded character, the kind of its base, and whether it begins a token.

    The base of a mark is the last other character before it, and gives the mark its
    kind. A mark without a base is a word.
    """
    kind = np.uint32(kind)
    is_mark = kind == _MARK
    if not is_mark:
        base = kind
    elif base == _SEPARATOR:
        kind = _WORD
    else:
        kind = base
    return kind, base, (kind == _WORD and before != _WORD) or (kind >= _SINGLE and not is_mark)


@_inlined
def _slots(n):
    """The number of slots in a hash table for n entries: a power of two, at least 2 n."""
    slots = 256
    while slots < 2 * n:
        slots *= 2
    return slots


@_inlined
def _slot(table, owner, slots, document, x):
    """The slot in a hash table of `slots` slots that has x of a document, or is free for it."""
    mask = np.uint64(slots - 1)
    slot = x & mask
    while owner[slot] == document and table[slot] != x:
        slot = (slot + _ONE) & mask
    return slot


@_compiled(_NUMBERS, _PLACES, np.ones(1, np.int64))
def distinct_shingles(tokens: Words, offsets: Indices, lengths: Indices) -> tuple[Words, Indices]:
    """The ids of `features._distinct_shingles`, in the order in which they occur, and offsets."""
    longest = np.diff(offsets).max() if len(offsets) > 1 else 0
    slots = _slots(longest * len(lengths))
    table, owner = np.empty(slots, np.uint64), np.full(slots, -1, np.int32)
    ids, ends = np.empty(len(tokens) * len(lengths), np.uint64), np.zeros(len(offsets), np.int64)
    count = 0
    for document in range(len(offsets) - 1):
        begin, end = offsets[document], offsets[document + 1]
        # No more slots than needed, so that the table stays in the cache.
        mask = np.uint64(_slots((end - begin) * len(lengths)) - 1)
        for n in lengths:
            # A text shorter than every shingle is one shingle of all its tokens.
            span = min(n, end - begin) if n == lengths[0] else n
            for i in range(begin, end - span + 1 if span else begin):
                x = tokens[i]
                for j in range(1, span):
                    x = x * _GRAM_BASE + tokens[i + j]
                x = _mix(x)
                slot = x & mask  # `_slot`, written out, which is faster
                while owner[slot] == document and table[slot] != x:
                    slot = (slot + _ONE) & mask
                if owner[slot] != document:
                    owner[slot], table[slot] = document, x
                    ids[count] = x
                    count += 1
        ends[document + 1] = count
    return ids[:count], ends


@_inlined
def _add(a, b, c):
    """64 full adders: carries and sums of three words."""
    either = a ^ b
    return (a & b) | (either & c), either ^ c


@_compiled(_NUMBERS, _PLACES, 8)
def votes_of_ones(ids: Words, offsets: Indices, bits: int) -> Floats:
    """`simhash.votes` (documents, bits) where every feature weighs 1 and votes by its id.

    Eight words at a time are added as columns of bits, so that only every eighth is
    taken apart. Method: positional population count by carry-save adders (Harley, Seal).
    """
    sums, ones_in = np.empty((len(offsets) - 1, bits)), np.empty(64, np.int64)
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
    return sums


@_inlined
def _word(x, step):
    """`hashing.widened`; `step` is 0 for the hash itself."""
    return _mix(x ^ step) if step else x


@_compiled(_NUMBERS, _NUMBERS, _PLACES)
def digests(ids: Words, weights: Words, offsets: Indices) -> Words:
    """`simhash.digests`; `weights` is one number if all features weigh the same."""
    sums = np.empty((len(offsets) - 1, 2), np.uint64)
    is_same = len(weights) == 1
    for document in range(len(sums)):
        first = second = _ZERO
        for i in range(offsets[document], offsets[document + 1]):
            mixed = _mix(ids[i] + _mix(weights[0 if is_same else i]))
            first += mixed
            second += _mix(mixed ^ _STEP)
        sums[document, 0], sums[document, 1] = first, second
    return sums


@_compiled(_NUMBERS, _PLACES, 0)
def word_digests(ids: Words, offsets: Indices, before: int) -> Words:
    """`tokens.word_digests`."""
    sums = np.empty((len(offsets) - 1, 2), np.uint64)
    for document in range(len(sums)):
        first = second = _ZERO
        begin = offsets[document] - before
        for i in range(offsets[document], offsets[document + 1]):
            mixed = _mix(ids[i] + np.uint64(i - begin) * _STEP)
            first += mixed
            second += mixed * (mixed >> _HALF)
        sums[document, 0], sums[document, 1] = first, second
    return sums


_sequence_of = _njit(signs.sequence_of)


@_compiled(_READ_ONLY, _PLACES, _CODES, 0)
def sign_digests(codes: CodePoints, offsets: Indices, table: Keys, before: int) -> Words:
    """`fingerprint.signs.sign_digests`; the last of `codes` is a newline."""
    sums, last = np.zeros((len(offsets) - 1, 4), np.uint64), len(codes) - 1
    for text in range(len(sums)):
        place = before
        for i in range(offsets[text], offsets[text + 1]):
            entry = np.int64(table[codes[i]])
            if entry >= signs.FIRST_MARK:
                # Behind the texts there is a newline, which before them has the index -1.
                kind = sequence = (entry >> signs.KIND_AT) & 15
                b1, a1 = np.int64(table[codes[i - 1]]), np.int64(table[codes[min(i + 1, last)]])
                if kind < signs.SIGN:
                    sequence = kind - signs.OTHERS_AT
                elif kind < signs.DASH and entry not in (b1, a1):
                    sequence = kind - signs.SIGN
                else:
                    back = i - 1
                    while table[codes[back]] == _BLANK and back > i - signs.MOST_BLANKS - 1:
                        back -= 1
                    b2, a2 = np.int64(table[codes[i - 2]]), np.int64(table[codes[min(i + 2, last)]])
                    a3 = np.int64(table[codes[min(i + 3, last)]])
                    a4 = np.int64(table[codes[min(i + 4, last)]])
                    around = b2, b1, entry, a1, a2, a3, a4
                    sequence = _sequence_of(around, table[codes[back]] == _NEWLINE)
                if sequence < 4:
                    mixed = _mix(np.uint64(place) * _STEP + np.uint64(entry >> signs.SIGN_AT))
                    sums[text, sequence] += mixed >> _HALF
            place += entry & signs.LETTERS
    return sums


@_inlined
def _slots_of(x, shift):
    """The slot of an id in each of two hash tables of 2^(64 - shift) slots."""
    return (np.uint64(x) * _BASE) >> shift, (np.uint64(x) * _STEP) >> shift


@_inlined
def _room(most, largest):
    """Room for `_seated`, and for what `_common` finds.

    A document that is seated has `most` ids at most, and one that is compared with it `largest`.
    """
    slots = 8
    while slots < 4 * most:
        slots *= 2
    common = np.empty((largest + 1, 2), np.int64)
    return np.zeros((2, slots), np.int32), np.empty(most, np.int32), common


@_njit
def _seated(ids, begin, end, room):
    """Lay out the different ids[begin:end], of which there must be some, for `_common`.

    Each id has a slot in each of two tables, and its place behind `begin` lies in one of them
    (cuckoo hashing, Pagh and Rodler 2001). Places that fit nowhere after some moves are listed.
    An empty slot has the place of the first id, so that a lookup needs no branch. Returns `begin`,
    the shift of `_slots_of`, and how many places are listed.
    """
    tables, listed, _ = room
    shift, count = np.uint64(61), 0
    while np.uint64(4 * (end - begin)) > _ONE << (np.uint64(64) - shift):
        shift -= _ONE
    tables[:, : _ONE << (np.uint64(64) - shift)] = 0
    for number in range(1, end - begin):
        place = number
        for move in range(_MOVES):
            slot = _slots_of(ids[begin + place], shift)[move & 1]
            place, tables[move & 1, slot] = tables[move & 1, slot], place
            if place == 0:
                break
        if place != 0:
            listed[count] = place
            count += 1
    one, two = _slots_of(ids[begin], shift)
    if tables[0, one] != 0 and tables[1, two] != 0:
        listed[count] = 0
        count += 1
    return begin, shift, count


@_njit
def _common(ids, begin, end, seated, room):
    """Write which ids[begin:end] a seated document has too, and where it has them; their number."""
    first, shift, others = seated
    tables, listed, common = room
    count = 0
    for at in range(begin, end):
        one, two = _slots_of(ids[at], shift)
        one, two = first + tables[0, one], first + tables[1, two]
        common[count, 0], common[count, 1] = at, one if ids[one] == ids[at] else two
        count += (ids[one] == ids[at]) | (ids[two] == ids[at])
    for place in listed[:others]:
        for at in range(begin, end):
            common[count, 0], common[count, 1] = at, first + place
            # Ids of a damaged file may be equal, and must not be written behind the end.
            count += (ids[at] == ids[first + place]) & (count < end - begin)
    return count


@_compiled(_NUMBERS, _SUMS, _PLACES, _NONE, _NONE, _SUMS)
def shared_products(
    ids: Words, weights: Floats, offsets: Indices, i: Indices, j: Indices, dots: Floats
) -> None:
    """Fill `dots` with the dot products of documents i[p] and j[p]; pairs are in order of i.

    Without `weights` all features weigh 1.
    """
    counts = offsets[1:] - offsets[:-1]
    room = _room(_most(counts, i), _most(counts, j))
    dots[:] = 0
    for p in range(len(i)):
        begin, end = offsets[i[p]], offsets[i[p] + 1]
        if begin == end:
            continue
        if p == 0 or i[p] != i[p - 1]:
            seated = _seated(ids, begin, end, room)
        n = _common(ids, offsets[j[p]], offsets[j[p] + 1], seated, room)
        if len(weights) == 0:
            dots[p] = n
            continue
        for at, place in room[2][:n]:
            dots[p] += weights[at] * weights[place]


@_inlined
def _most(counts, documents):
    """The largest count of some documents; 0 if there are none."""
    return counts[documents].max() if len(documents) else 0


@_compiled(_READ_ONLY, _PLACES, _PLACES, _FOUND, _FOUND)
def shared_values(
    values: Values, begins: Indices, sizes: Indices, pairs: Indices, found: Indices
) -> None:
    """Fill `found` (m, 3): how many values the texts of each pair share, and how many each keeps.

    `pairs` (m, 3) are two texts and the largest value that both of them keep, in order of the first
    text. See `sketch.Sketches` for the other arguments.
    """
    room = _room(_most(sizes, pairs[:, 0]), _most(sizes, pairs[:, 1]))
    for p in range(len(pairs)):
        left, right, largest = pairs[p]
        a, b = begins[left], begins[right]
        a_end, b_end = a + sizes[left], b + sizes[right]
        found[p, 0] = 0
        found[p, 1] = _number_kept(values, a, a_end, largest)
        found[p, 2] = _number_kept(values, b, b_end, largest)
        if a == a_end:
            continue
        if p == 0 or left != pairs[p - 1, 0]:
            seated = _seated(values, a, a_end, room)
        found[p, 0] = _common(values, b, b_end, seated, room)


@_njit
def _number_kept(values, begin, end, largest):
    """How many of the ascending values[begin:end] are at most the largest."""
    low = begin
    while low < end:
        middle = (low + end) >> 1
        if values[middle] <= largest:
            low = middle + 1
        else:
            end = middle
    return low - begin


@_compiled(_READ_ONLY, _PLACES, _PLACES, _FOUND, _TALLIES, _FOUND, _FOUND)
def shared_weights(
    values: Values,
    begins: Indices,
    sizes: Indices,
    pairs: Indices,
    counters: Counters,
    tables: Indices,
    found: Indices,
) -> None:
    """Fill `found` with the columns of `own_share.OwnShares._weighed`; see `shared_values`.

    `tables` (2, 65536) has the weights at each count of the `counters`, for one family and two.
    """
    shift = _counter_shift(counters)
    room = _room(_most(sizes, pairs[:, 0]), _most(sizes, pairs[:, 1]))
    for p in range(len(pairs)):
        left, right, largest = pairs[p]
        a, b = begins[left], begins[right]
        a_end, b_end = a + sizes[left], b + sizes[right]
        found[p, 3] = _number_kept(values, a, a_end, largest)
        found[p, 4] = _number_kept(values, b, b_end, largest)
        is_new = p == 0 or left != pairs[p - 1, 0]
        if is_new or found[p, 3] != found[p - 1, 3]:
            own = _weight(values, a, a + found[p, 3], counters, tables[0], shift)
        found[p, 5] = own
        found[p, 6] = _weight(values, b, b + found[p, 4], counters, tables[0], shift)
        count = one = two = 0
        if a < a_end:
            if is_new:
                seated = _seated(values, a, a_end, room)
            count = _common(values, b, b_end, seated, room)
        for at in room[2][:count, 0]:
            seen = counters[np.uint32(values[at] * _COUNTER_HASH) >> shift]
            one += tables[0, seen]
            two += tables[1, seen]
        found[p, 0], found[p, 1], found[p, 2] = count, one, two


@_njit
def _weight(values, begin, end, counters, weights, shift):
    """The sum of the weights of values[begin:end]."""
    total = 0
    for at in range(begin, end):
        total += weights[counters[np.uint32(values[at] * _COUNTER_HASH) >> shift]]
    return total


@_compiled(_READ_ONLY, _NONE, _NONE, _TALLIES, 0, 0)
def count_values(
    values: Values, begins: Indices, sizes: Indices, counters: Counters, first: int, end: int
) -> None:
    """Count the values of some sketches, in the counters from `first` to before `end` only.

    A full counter stays full.
    """
    shift = _counter_shift(counters)
    for text in range(len(begins)):
        for at in range(begins[text], begins[text] + sizes[text]):
            place = np.uint32(values[at] * _COUNTER_HASH) >> shift
            if first <= place < end:
                counters[place] += counters[place] < 65535


@_compiled(_READ_ONLY, _NONE, _NONE, np.uint32(0), _PLACES, _CODES, _PLACES, _CODES[None])
def shared_with_sampled(
    values: Values,
    begins: Indices,
    sizes: Indices,
    shift: int,
    buckets: Indices,
    asked: Values,
    owners: Indices,
    shared: Values,
) -> None:
    """Count in `shared` (texts, sampled) how many values each text has of each sampled one.

    `asked` are the values of the sampled texts, ascending, and `owners` says whose they are.
    Values that are equal without their last `shift` bits are between two of the `buckets`.
    """
    for text in range(len(begins)):
        for at in range(begins[text], begins[text] + sizes[text]):
            bucket = values[at] >> shift
            for place in range(buckets[bucket], buckets[bucket + 1]):
                if asked[place] == values[at]:
                    shared[text, owners[place]] += 1


@_compiled(_READ_ONLY, _NONE, _NONE, _PLACES, _CODES, _NUMBERS)
def listed_keys(
    values: Values, begins: Indices, sizes: Indices, texts: Indices, limits: Keys, keys: Words
) -> int:
    """Fill `keys` as `postings.listed_values` yields them for these sketches; return their number.

    Text texts[i] has the i-th sketch, and is listed under its values up to limits[i].
    """
    count = 0
    for i in range(len(begins)):
        at, end = begins[i], begins[i] + sizes[i]
        while at < end and values[at] <= limits[i]:
            keys[count] = (np.uint64(values[at]) << _HALF) | np.uint64(texts[i])
            count += 1
            at += 1
    return count


@_compiled(_NUMBERS)
def sorted_keys(keys: Words) -> Words:
    """The result of `buckets.sorted_keys`: keys are sorted by their digits, the lowest first.

    Only digits in which keys differ count. Source: Knuth, "The art of computer programming 3",
    section 5.2.5.
    """
    differing, mask = _ZERO, np.uint64((1 << _DIGIT) - 1)
    for key in keys:
        differing |= key ^ keys[0]
    other = np.empty(len(keys), np.uint64)
    for begin in range(0, 64, _DIGIT):
        shift = np.uint64(begin)
        if not (differing >> shift) & mask:
            continue
        counts = np.zeros(1 << _DIGIT, np.int64)
        for key in keys:
            counts[(key >> shift) & mask] += 1
        places = np.cumsum(counts) - counts
        for key in keys:
            value = (key >> shift) & mask
            other[places[value]] = key
            places[value] += 1
        keys, other = other, keys
    return keys


@_compiled(_NUMBERS, 1)
def by_bucket(keys: Words, buckets: int) -> tuple[Words, Indices]:
    """The keys in buckets by the last bits of their high halves, and where each ends (buckets,).

    `buckets` is a power of two. Within a bucket keys stay in their order.
    """
    mask, counts = np.uint64(buckets - 1), np.zeros(buckets, np.int64)
    for key in keys:
        counts[(key >> _HALF) & mask] += 1
    ends = np.cumsum(counts)
    places = ends - counts
    ordered = np.empty(len(keys), np.uint64)
    for key in keys:
        bucket = (key >> _HALF) & mask
        ordered[places[bucket]] = key
        places[bucket] += 1
    return ordered, ends


@_compiled(_NUMBERS, 1)
def split_lists(keys: Words, most: int) -> tuple[Keys, Indices, Words, Indices]:
    """The results of `postings._split` for sorted keys; a short list has up to `most` keys."""
    texts, others = np.empty(len(keys), np.uint32), np.empty(len(keys), np.uint64)
    short, long = np.empty(len(keys) // 2, np.int64), np.empty(len(keys) // (most + 1), np.int64)
    listed = left = shorts = longs = begin = 0
    while begin < len(keys):
        end = begin + 1
        while end < len(keys) and keys[end] >> _HALF == keys[begin] >> _HALF:
            end += 1
        if end - begin > most:
            others[left : left + end - begin] = keys[begin:end]
            left += end - begin
            long[longs] = end - begin
            longs += 1
        elif end - begin > 1:
            for at in range(begin, end):
                texts[listed] = np.uint32(keys[at] & _LOW)
                listed += 1
            short[shorts] = end - begin
            shorts += 1
        begin = end
    return texts[:listed].copy(), short[:shorts].copy(), others[:left].copy(), long[:longs].copy()


@_compiled(_NUMBERS, 1, 1, _NUMBERS[0])
def pairs_of_neighbours(keys: Words, neighbours: int, paired: int, below: np.uint64) -> Words:
    """The results of `postings.neighbours` for sorted keys, in another order.

    Each value of a text is paired with the next one, and with more, up to `neighbours`, as long
    as the text has at most `paired` pairs. Only hashes below `below` count.
    """
    found, count, begin = np.empty(len(keys), np.uint64), 0, 0
    while begin < len(keys):
        end = begin + 1
        while end < len(keys) and keys[end] >> _HALF == keys[begin] >> _HALF:
            end += 1
        furthest = 1
        while furthest < neighbours and (end - begin) * (furthest + 1) <= paired:
            furthest += 1
        if len(found) - count < (end - begin) * furthest:
            found = np.append(found, np.empty(len(found) + (end - begin) * furthest, np.uint64))
        for left in range(begin, end):
            for right in range(left + 1, min(left + furthest + 1, end)):
                mixed = _mix((keys[left] << _HALF) | (keys[right] & _LOW))
                mixed = (mixed & ~_LOW) | (keys[left] >> _HALF)
                if mixed < below:
                    found[count] = mixed
                    count += 1
        begin = end
    return found[:count].copy()


@_inlined
def _counter_shift(counters):
    """How far a hash of 32 bits is shifted to be the place of a counter."""
    shift = 0
    while len(counters) >> (32 - shift) == 0:
        shift += 1
    return np.uint32(shift)


@_compiled(*_NEAR)
def near_pairs(left, right, columns, begin, is_half, k, found):
    """Pairs within k bits of rows of left (words, n) and some of right (words, m).

    Compares rows from `begin` on with columns[0] to columns[1] of right, few enough for the
    cache. Fills `found` (capacity, 3) with i, j and distance and stops in front of a row
    whose pairs might not fit. Returns that row, or n, and the number of pairs. With
    `is_half` the two are one collection and only i < j counts.
    """
    n, (low, high) = left.shape[1], columns
    scratch, picked = np.empty(high - low, np.uint16), np.empty(high - low, np.int32)
    count = 0
    for i in range(begin, min(n, high) if is_half else n):
        if count + high - low > len(found):
            return i, count
        first = max(low, i + 1) if is_half else low
        distances = scratch[: high - first]
        _fill_distances(left, i, right, first, distances)
        for pick in range(_pick_near(distances, np.uint16(k), picked)):
            j = picked[pick]
            found[count, 0], found[count, 1], found[count, 2] = i, first + j, distances[j]
            count += 1
    return n, count


@_njit
def _fill_distances(left, i, right, first, distances):
    """Fill in the distances of row i of left to rows of right from `first` on."""
    end = first + len(distances)
    a, column = left[0, i], right[0, first:end]
    if len(left) > 1:
        b, other = left[1, i], right[1, first:end]
        for j in range(len(distances)):
            distances[j] = _popcount(a ^ column[j]) + _popcount(b ^ other[j])
    else:
        for j in range(len(distances)):
            distances[j] = _popcount(a ^ column[j])
    for word in range(2, len(left)):
        a, column = left[word, i], right[word, first:end]
        for j in range(len(distances)):
            distances[j] += _popcount(a ^ column[j])


@_njit
def _pick_near(distances, limit, picked):
    """Write down the positions of all distances up to a limit, and return their number."""
    near = 0
    for j in range(len(distances)):
        near += distances[j] <= limit
    # Few rows have a near distance. In these a loop without branches picks out the positions.
    picks = 0
    if near > 0:
        for j in range(len(distances)):
            picked[picks] = j
            picks += distances[j] <= limit
    return picks


@_compiled(_WIDE, _WIDE, 0, *_NEAR)
def sieved_pairs(wide_left, wide_right, wide_k, left, right, columns, begin, is_half, k, found):
    """`near_pairs` whose wide rows (n, words) and (m, words) are also within wide_k bits."""
    stopped, near = near_pairs(left, right, columns, begin, is_half, k, found)
    count = 0
    for at in range(near):
        i, j = found[at, 0], found[at, 1]
        distance = 0
        for word in range(wide_left.shape[1]):
            distance += _popcount(wide_left[i, word] ^ wide_right[j, word])
        if distance <= wide_k:
            found[count, 0], found[count, 1], found[count, 2] = i, j, found[at, 2]
            count += 1
    return stopped, count


@_compiled(_CODES, 0, 1)
def places_of(texts: Keys, first: int, count: int) -> tuple[Indices, Indices]:
    """The results of `postings._places_of`."""
    offsets = np.zeros(count + 1, np.int64)
    for text in texts:
        number = np.int64(text) - first
        if 0 <= number < count:
            offsets[number + 1] += 1
    offsets = np.cumsum(offsets)
    places, filled = np.empty(offsets[count], np.int64), offsets[:-1].copy()
    for place in range(len(texts)):
        number = np.int64(texts[place]) - first
        if 0 <= number < count:
            places[filled[number]] = place
            filled[number] += 1
    return places, offsets


@_compiled(_INDEX, _PLACES, 0, 0, _TALLIES, _FOUND)
def together(index, needed, references, begin, shared, found):
    """Fill `found` with pairs of a text from `begin` on and a later text that share enough.

    Stops in front of a text whose pairs might not fit. Returns that text, and the number of
    pairs. See `simdup.match.postings.Postings` for the index. A pair must share as many values as
    the less demanding of its texts needs (`needed`, by text). If there are `references`, the left
    text is one of them and the right one is not. `shared` (n,) must be 0, and is 0 again
    afterwards.
    """
    texts, ends, doubles, places, offsets, first = index
    kept, last = 0, first + len(offsets) - 1
    for i in range(begin, min(last, references) if references else last):
        met = 0
        for at in range(offsets[i - first], offsets[i - first + 1]):
            met += (ends[places[at]] - places[at] - 1) & 255
        if kept + met > len(found):
            return i, kept
        met = kept
        for at in range(offsets[i - first], offsets[i - first + 1]):
            place = places[at]
            weight = 2 if place >= doubles else 1
            for other in range(place + 1, place + 1 + ((ends[place] - place - 1) & 255)):
                j = texts[other]
                if j < references:
                    continue
                if shared[j] == 0:
                    found[met, 1] = j
                    met += 1
                shared[j] += weight
        for at in range(kept, met):
            j = found[at, 1]
            if shared[j] >= min(needed[i], needed[j]):
                found[kept, 0], found[kept, 1] = i, j
                kept += 1
            shared[j] = 0
    return last, kept


def warmed() -> Iterator[None]:
    """Call each kernel once on almost no data, which compiles it or loads it from the cache."""
    for kernel, arguments in EVERY.items():
        kernel(*arguments)
        yield
