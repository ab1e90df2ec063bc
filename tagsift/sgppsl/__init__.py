"""The model of the paper: a structured Gaussian process on pieces of the chain.

In the order of a fit: `likelihoods` (pieces and chain), `expectations` and `tilting`,
`posterior` and `solver`, `confidence`, `transitions` and `alternating` (the loop of
section III-D), `gradients` and `hyperparameters`; then `predictive` and `decoding` for
new sentences. `estimator` puts them together. `docs/paper/equations.md` says where each
equation is.
"""

from __future__ import annotations

from tagsift.sgppsl.estimator import SGPPSL

__all__ = ["SGPPSL"]
