"""Text in, frozen records out: corpora, tag schemes, column files, partial labels.

In the order of the data: `Sentence` and `Corpus` (gold labels), `LabelSet`, the tag
schemes, column files, `PartialCorpus` (candidate sets), `VoteCorpus` (annotators), and
`corrupt`, which makes partial labels from gold ones. `bundled` reads the synthetic
corpus shipped with the package, `generate` makes more of it. JSON lines and the exports
of two annotation tools are read and written as well.
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
