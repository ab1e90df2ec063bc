"""What the array API lacks, for NumPy arrays and PyTorch tensors alike.

The maths layers are written once against the array API standard: they ask
`namespace` for the functions of the library their arrays belong to. What the standard
leaves out stands here: the choice of a device, sparse products, Cholesky factors with
jitter, triangular solves, and sums of exponentials. PyTorch is imported only when a
device or an array asks for it.
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.backend.arrays import *
from tagsift.backend.linalg import *
