"""One corpus: text, annotators, votes, candidates and truth, and what it is made of.

`Corpus` and its label set, tag schemes, documents, how text is cut and spans are put on
tokens, and `corrupt`, which makes partial labels from gold ones. `bundled` reads the
synthetic corpus shipped with the package, `generate` makes more of it.
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.data.agreement import Agreement as Agreement
from tagsift.data.agreement import Pair as Pair
from tagsift.data.corpus import *
from tagsift.data.documents import *
from tagsift.data.label_set import *
from tagsift.data.lossy import Losses as Losses
from tagsift.data.rows import Row as Row
from tagsift.data.sampling import *
from tagsift.data.schemes import *
from tagsift.data.simulated_annotators import *
from tagsift.data.span_alignment import *
from tagsift.data.stacking import *
from tagsift.data.synthetic import bundled as bundled
from tagsift.data.synthetic import generate as generate
from tagsift.data.tokenizers import *
from tagsift.data.tokenizing import *
