"""Type aliases, and the letters that stand for axes in shape comments.

======  ==============================================================
letter  length
======  ==============================================================
``S``   sequences (sentences)
``T``   tokens of one sequence
``N``   stacked training tokens
``M``   inducing points; stacked new tokens where the text says so
``D``   features
``L``   labels
``Q``   neighbours of one token
======  ==============================================================

Arrays of the maths layers may be NumPy arrays or PyTorch tensors: the functions
there are written against the array API standard, hence the alias `Array`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Array",
    "Arrays",
    "BoolArray",
    "Float32Array",
    "FloatArray",
    "IntArray",
    "Label",
    "Labels",
    "RandomState",
    "SentenceLike",
]

#: An array of the array API: a NumPy array or a PyTorch tensor.
Array: TypeAlias = Any
#: NumPy arrays by kind.
FloatArray: TypeAlias = npt.NDArray[np.float64]
Float32Array: TypeAlias = npt.NDArray[np.float32]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: What a model file holds beside its settings: arrays of numbers, by name.
Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
#: A label as users see it.
Label: TypeAlias = str | int
#: The labels of sentences.
Labels: TypeAlias = Sequence[Sequence[Label]]
#: A sentence as users give it: tokens, column tuples, feature dicts or an array.
SentenceLike: TypeAlias = Sequence[Any] | npt.NDArray[Any]
#: What fixes the randomness of a fit.
RandomState: TypeAlias = int | np.random.Generator | None
