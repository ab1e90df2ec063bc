"""The model of the paper: a structured Gaussian process on pieces of the chain.

In the order of a fit: `carriers` (tokens and their covariances), `likelihoods` (pieces
and chain), `expectations`, `posterior` and `solver`, `labels` (confidences),
`alternating` (the loop of section III-D) and `hyperparameters`; then `predictive` for
new sentences. `estimator` puts them together. `docs/paper/equations.md` says where each
equation is.
"""

from __future__ import annotations

from tagsift.sgppsl.estimator import SGPPSL

__all__ = ["SGPPSL"]
