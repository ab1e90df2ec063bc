"""Text in, frozen records out: corpora, tag schemes, column files, partial labels.

In the order of the data: `Sentence` and `Corpus` (gold labels), `LabelSet`, the tag
schemes, column files, `PartialCorpus` (candidate sets), `VoteCorpus` (annotators), and
`corrupt`, which makes partial labels from gold ones. `bundled` reads the synthetic
corpus shipped with the package, `generate` makes more of it. JSON lines and the exports
of two annotation tools are read and written as well.
"""

from __future__ import annotations

from tagsift.data.annotation_tools import (
    read_doccano,
    read_label_studio,
    write_doccano,
    write_label_studio,
)
from tagsift.data.candidates import (
    PartialCorpus,
    format_candidates,
    parse_candidates,
    read_partial,
    write_partial,
)
from tagsift.data.checked import ANSWER, read_checked, write_sheet
from tagsift.data.columns import column_lines
from tagsift.data.conll import iter_conll, read_conll, read_text, write_conll
from tagsift.data.exchange import read_jsonl, write_jsonl
from tagsift.data.label_set import LabelSet
from tagsift.data.layout import parse_columns
from tagsift.data.rows import Row
from tagsift.data.sampling import corrupt
from tagsift.data.schemes import (
    SCHEMES,
    Span,
    allowed_transitions,
    check_scheme,
    detect_scheme,
    is_tag,
    spans,
    tags,
    to_scheme,
)
from tagsift.data.sentence import Corpus, Sentence
from tagsift.data.simulated_annotators import SimulatedAnnotator, simulate_votes
from tagsift.data.synthetic import bundled, generate
from tagsift.data.usable import check_learnable, check_text
from tagsift.data.votes import (
    Vote,
    VoteCorpus,
    read_votes,
    write_votes,
)

__all__ = [
    "ANSWER",
    "Corpus",
    "LabelSet",
    "PartialCorpus",
    "Row",
    "SCHEMES",
    "Sentence",
    "SimulatedAnnotator",
    "Span",
    "Vote",
    "VoteCorpus",
    "allowed_transitions",
    "bundled",
    "check_learnable",
    "check_scheme",
    "check_text",
    "column_lines",
    "corrupt",
    "detect_scheme",
    "format_candidates",
    "generate",
    "is_tag",
    "iter_conll",
    "parse_candidates",
    "parse_columns",
    "read_checked",
    "read_conll",
    "read_doccano",
    "read_jsonl",
    "read_label_studio",
    "read_partial",
    "read_text",
    "read_votes",
    "simulate_votes",
    "spans",
    "tags",
    "to_scheme",
    "write_conll",
    "write_doccano",
    "write_jsonl",
    "write_label_studio",
    "write_partial",
    "write_sheet",
    "write_votes",
]
