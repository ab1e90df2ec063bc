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
from tagsift.data.annotators import Annotator as Annotator
from tagsift.data.candidates import *
from tagsift.data.checked import *
from tagsift.data.column_corpus import *
from tagsift.data.columns import column_lines as column_lines
from tagsift.data.columns import count as count
from tagsift.data.conll import *
from tagsift.data.documents import *
from tagsift.data.formats import *
from tagsift.data.formats._format import open_source as open_source
from tagsift.data.formats._format import open_target as open_target
from tagsift.data.formats._layers import of_annotator as of_annotator
from tagsift.data.formats.text import check_prose as check_prose
from tagsift.data.formats.text import read_bursts as read_bursts
from tagsift.data.frames import *
from tagsift.data.joining import merged as merged
from tagsift.data.label_set import *
from tagsift.data.layout import parse_columns as parse_columns
from tagsift.data.losses import Losses as Losses
from tagsift.data.pieces import *
from tagsift.data.reading import *
from tagsift.data.rows import Row as Row
from tagsift.data.sampling import *
from tagsift.data.schemes import *
from tagsift.data.sentence import *
from tagsift.data.simulated_annotators import *
from tagsift.data.synthetic import bundled as bundled
from tagsift.data.synthetic import generate as generate
from tagsift.data.tokenizers import *
from tagsift.data.tokenizing import *
from tagsift.data.usable import check_learnable as check_learnable
from tagsift.data.usable import check_text as check_text
from tagsift.data.usable import check_votes as check_votes
from tagsift.data.votes import *
