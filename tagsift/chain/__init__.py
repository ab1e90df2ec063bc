"""Linear chains over whole batches of sentences.

In the order of use: `layout` (how tokens are packed), `potentials` (all scores in one
matrix), `lattice` (sums over label sequences, with its log-domain twin `log_lattice`),
`viterbi`, `linear_chain` (the model that every chained method stands on), `objective`
and `lbfgs` (how it is fitted), `span_bonus` (which spans are worth their risk),
`decoders` (those of the max-margin methods), and the paper's own `weighted_viterbi`.
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.chain.checkpoint import *
from tagsift.chain.engine import *
from tagsift.chain.lattice import *
from tagsift.chain.layout import *
from tagsift.chain.lbfgs import *
from tagsift.chain.linear_chain import *
from tagsift.chain.merge_columns import *
from tagsift.chain.objective import *
from tagsift.chain.parameters import *
from tagsift.chain.potentials import *
from tagsift.chain.sharded import *
from tagsift.chain.span_bonus import *
from tagsift.chain.step import *
from tagsift.chain.viterbi import *
