"""The types of the arrays that pass between functions; each name says meaning and shape.

A type checker knows the elements of an array but not its shape, so the shape stands in the comment:
n is the number of rows, texts or pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Numbers, places or counts of texts, rows or documents, (n,).
Indices = NDArray[np.int64]

#: Pairs of indices, the lower one first, (n, 2).
Pairs = NDArray[np.int64]

#: Which of n things a condition holds for, (n,).
Mask = NDArray[np.bool_]

#: Fingerprints, one a row, (n, bits // 8).
Rows = NDArray[np.uint8]

#: Bits in which two fingerprints differ, (n,).
Distances = NDArray[np.uint16]

#: Cosine similarities of pairs, from 0 to 1, (n,); NaN where one was not computed.
Similarities = NDArray[np.float64]

#: Shares of a text's shingles, from 0 to 1, (n,); NaN where one was not computed.
Shares = NDArray[np.float64]

#: Numbers with a fraction: votes, weights, probabilities or figures, of any shape.
Floats = NDArray[np.float64]

#: 64-bit hashes of tokens, shingles or whole texts, (n,).
Hashes = NDArray[np.uint64]

#: Digests of texts or files, 128 bits each, (n, 2).
Digests = NDArray[np.uint64]

#: Hashes of sampled shingles, 32 bits each, (n,).
Values = NDArray[np.uint32]

#: Unicode code points of one or more texts, one after the other, (n,).
CodePoints = NDArray[np.uint32]

#: Counters that stop at 65,535, (n,).
Counters = NDArray[np.uint16]

#: Numbers below 256, such as the kind of each character, (n,).
Bytes = NDArray[np.uint8]

#: Numbers below 2**32, such as blocks of fingerprints, (n,).
Keys = NDArray[np.uint32]

#: Fingerprints or hashes as 64-bit words, (n,) or (n, words).
Words = NDArray[np.uint64]
