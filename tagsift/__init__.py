"""Sequence taggers learnt from labels that nobody is sure of.

The package in the order of the data, from files to the command line:

==================  ================================================================
``data``            the corpus, documents, schemes, sampling, agreement
``io``              the one door: files of every format in, and out again
``features``        templates and encoders: tokens become numbers
``chain``           the linear-chain model: lattices, Viterbi, objective, decoders
``base``            the contract of every estimator, and all checking of input
``gp``              what both Gaussian processes share: kernels, evidence, search
``sgppsl``          the model of the paper
``chain_gp``        ChainGP, a Gaussian process on whole sentences
``baselines``       the methods they are compared with, one file each
``annotators``      how annotators err, and VoteTagger, which learns from their votes
``cleaned``         the one result: labels, doubt, annotators, what to look at
``registry``        every estimator by its table name; the loader of model files
``checks``          the contract as tests that any estimator can be run through
``metrics``         scores of spans, tokens, recovery, calibration, rankings
``report``          results as pages
``review``          the page on which people look at doubtful spans and decide
``integrations``    the component of spaCy pipelines; Hugging Face datasets
``engines``         who works on large corpora: this machine, or a Ray cluster
``cli``             the command line
==================  ================================================================

Names are imported when they are first used, so that ``import tagsift`` is quick.
"""

from __future__ import annotations

import importlib
import typing

from tagsift import errors
from tagsift._version import __version__ as __version__
from tagsift.errors import *  # noqa: F403

if typing.TYPE_CHECKING:
    from tagsift import annotators as annotators
    from tagsift import base as base
    from tagsift import baselines as baselines
    from tagsift import checks as checks
    from tagsift import cleaned as cleaned
    from tagsift import data as data
    from tagsift import engines as engines
    from tagsift import features as features
    from tagsift import integrations as integrations
    from tagsift import io as io
    from tagsift import metrics as metrics
    from tagsift import report as report
    from tagsift import review as review
    from tagsift import storage as storage
    from tagsift import threads as threads
    from tagsift.annotators import MACE as MACE
    from tagsift.annotators import DawidSkene as DawidSkene
    from tagsift.annotators import MajorityVote as MajorityVote
    from tagsift.annotators import VoteTagger as VoteTagger
    from tagsift.base import Method as Method
    from tagsift.base import Scorer as Scorer
    from tagsift.base import SequenceTagger as SequenceTagger
    from tagsift.base import tag_documents as tag_documents
    from tagsift.base import tag_table as tag_table
    from tagsift.chain_gp import ChainGP as ChainGP
    from tagsift.cleaned import Cleaned as Cleaned
    from tagsift.cleaned import audit as audit
    from tagsift.cleaned import clean as clean
    from tagsift.data import Annotator as Annotator
    from tagsift.data import Corpus as Corpus
    from tagsift.data import Document as Document
    from tagsift.data import LabelSet as LabelSet
    from tagsift.data import Layer as Layer
    from tagsift.data import Mark as Mark
    from tagsift.data import bundled as bundled
    from tagsift.data import corrupt as corrupt
    from tagsift.data import generate as generate
    from tagsift.features import FeatureMatrix as FeatureMatrix
    from tagsift.features import SequenceVectorizer as SequenceVectorizer
    from tagsift.io import read as read
    from tagsift.io import write as write
    from tagsift.registry import load as load
    from tagsift.registry import make as make
    from tagsift.registry import methods as methods
    from tagsift.sgppsl import SGPPSL as SGPPSL

#: Where the names live that are imported on their first use.
_HOMES = {
    "tagsift.annotators": ("MACE", "DawidSkene", "MajorityVote", "VoteTagger"),
    "tagsift.base": (
        "Method",
        "Scorer",
        "SequenceTagger",
        "tag_documents",
        "tag_table",
    ),
    "tagsift.chain_gp": ("ChainGP",),
    "tagsift.cleaned": ("Cleaned", "audit", "clean"),
    "tagsift.data": (
        "Annotator",
        "Corpus",
        "Document",
        "LabelSet",
        "Layer",
        "Mark",
        "bundled",
        "corrupt",
        "generate",
    ),
    "tagsift.features": ("FeatureMatrix", "SequenceVectorizer"),
    "tagsift.io": ("read", "write"),
    "tagsift.registry": ("load", "make", "methods"),
    "tagsift.sgppsl": ("SGPPSL",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
#: Rooms that are attributes of the package.
_PARTS = (
    "annotators",
    "base",
    "baselines",
    "checks",
    "cleaned",
    "data",
    "engines",
    "features",
    "integrations",
    "io",
    "metrics",
    "report",
    "review",
    "storage",
    "threads",
)

__all__ = sorted([*errors.__all__, *_HOME_OF, "__version__"])


def __getattr__(name: str) -> typing.Any:
    """Import a public name on its first use."""
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    elif name in _PARTS:
        value = importlib.import_module(f"tagsift.{name}")
    else:
        raise AttributeError(f"module 'tagsift' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS})
