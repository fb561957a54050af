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

#: Whether something is so, for each of n, (n,).
Mask = NDArray[np.bool_]

#: Fingerprints, one a row, (n, bits // 8).
Rows = NDArray[np.uint8]

#: Bits in which two fingerprints differ, (n,).
Distances = NDArray[np.uint16]

#: Cosine similarities of pairs, from 0 to 1, (n,); NaN where one was not computed.
Similarities = NDArray[np.float64]

#: Shares of one text's shingles that only the pair has, from 0 to 1, (n,); NaN if not computed.
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

#: Small counters, which stay at 255, (n,).
Counters = NDArray[np.uint8]
