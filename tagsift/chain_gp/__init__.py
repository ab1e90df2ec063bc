"""ChainGP: a Gaussian process on the lattices of whole sentences.

`mode` finds the posterior mode for a kernel and says how sure it is, `held_out` sets a
temperature by sentences that a fit left out, and `estimator` puts them together.
"""

from __future__ import annotations

from tagsift.chain_gp.estimator import ChainGP
from tagsift.chain_gp.mode import ModeFinder as ModeFinder

__all__ = ["ChainGP"]
