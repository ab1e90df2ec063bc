"""A result as numbers and JSON in a container, and back; all that is read is checked.

What a fit knows of its own tokens is no part of a model file, so it stands here: the
text alone, the chances of errors, the reports on annotators.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from tagsift.annotators import AnnotatorReport
from tagsift.base.saving import pack
from tagsift.data import Annotator, Document, LabelSet
from tagsift.data.annotators import AnnotatorKind, Votes
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import SCHEMES
from tagsift.errors import InputError
from tagsift.io import FORMATS, Options
from tagsift.storage import add_prefix, write_container
from tagsift.storage.items import damaged
from tagsift.storage.state import (
    Saved,
    array,
    flag,
    listed,
    number,
    part,
    texts,
    whole,
    word,
    write_state,
)
from tagsift.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tagsift.cleaned.cleaned import Cleaned

__all__ = ["KIND", "RESULT", "save"]

#: What the container of a result says that it is.
KIND = "cleaned"
#: The format in which the documents of a corpus are kept.
_DOCUMENTS = "jsonl"


@dataclass(frozen=True)
class _Corpus:
    """The columns of a corpus, as they are stored."""

    columns: tuple[tuple[str, ...], ...]
    bounds: IntArray
    label_set: tuple[str, ...]
    scheme: str
    names: tuple[str, ...]  # of the annotators, and what they are
    kinds: tuple[str, ...]
    abstains: BoolArray
    token: IntArray  # of the votes
    annotator: IntArray
    code: IntArray
    sets: tuple[tuple[str, ...], ...]
    candidate_codes: IntArray | None
    weights: FloatArray | None
    exact_codes: IntArray | None
    truth: tuple[str, ...] | None
    sources: tuple[str, ...] | None  # the documents, a line of JSON each

    saved: ClassVar[Saved] = {
        "columns": listed("width", texts(distinct=False)),
        "bounds": array("S+1", "int", least=0),
        "label_set": texts(),
        "scheme": word(*SCHEMES),
        "names": texts(),
        "kinds": listed("A", word(*get_args(AnnotatorKind))),
        "abstains": array("A", "bool"),
        "token": array("K", "int", least=0),
        "annotator": array("K", "int", least=0),
        "code": array("K", "int", least=0),
        "sets": listed("sets", texts()),
        "candidate_codes": array("N", "int", least=0, optional=True),
        "weights": array("N M", least=0, optional=True),
        "exact_codes": array("N", "int", least=-1, optional=True),
        "truth": texts(distinct=False, optional=True),
        "sources": texts(distinct=False, optional=True),
    }

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        people = corpus.annotators
        return cls(
            corpus.columns,
            corpus.bounds,
            corpus.label_set.names,
            corpus.scheme,
            tuple(one.name for one in people),
            tuple(one.kind for one in people),
            corpus.abstains,
            *corpus.votes,
            tuple(tuple(sorted(names)) for names in corpus.sets),
            corpus.candidate_codes,
            corpus.weights,
            corpus.exact_codes,
            corpus.truth,
            None if corpus.sources is None else _packed(corpus.sources),
        )

    def corpus(self) -> Corpus:
        if len(self.names) != len(self.kinds):
            raise damaged("the annotators have other kinds than names")
        people = zip(self.names, self.kinds, self.abstains.tolist(), strict=True)
        return Corpus(
            columns=tuple(self.columns),
            bounds=self.bounds,
            label_set=LabelSet(self.label_set),
            scheme=self.scheme,
            annotators=tuple(Annotator(*one) for one in people),  # type: ignore[arg-type]
            votes=Votes(self.token, self.annotator, self.code),
            sets=tuple(map(frozenset, self.sets)),
            candidate_codes=self.candidate_codes,
            weights=self.weights,
            exact_codes=self.exact_codes,
            truth=self.truth,
            sources=None if self.sources is None else _unpacked(self.sources),
        )


@dataclass(frozen=True)
class _Annotator:
    """A report on an annotator; scores that are not numbers are left out."""

    name: str
    tokens: int
    sentences: int
    reliability: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    confusion: FloatArray
    weight: float
    abstains: bool
    flags: tuple[str, ...]

    saved: ClassVar[Saved] = {
        "name": word(),
        "tokens": whole(),
        "sentences": whole(),
        **dict.fromkeys(
            ("reliability", "precision", "recall", "f1"),
            number(optional=True, least=0, most=1),
        ),
        "confusion": array("C C", least=0, most=1),
        "weight": number(least=0, most=1),
        "abstains": flag(),
        "flags": texts(distinct=False),
    }

    @classmethod
    def of(cls, report: AnnotatorReport) -> Self:
        values = {name: getattr(report, name) for name in cls.saved}
        return cls(**{name: _or_none(value) for name, value in values.items()})

    def report(self) -> AnnotatorReport:
        nan: Any = float("nan")
        values = {name: getattr(self, name) for name in self.saved}
        return AnnotatorReport(
            **{name: nan if value is None else value for name, value in values.items()}
        )


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


#: What a result consists of besides its corpus and its tagger.
RESULT: Saved = {
    "codes": array("N", "int", least=0, below="L"),
    "fitted_to_it": flag(),
    "marginals": array("N L", least=0, optional=True),
    "text": array("N L", least=0, optional=True),
    "chance_wrong": array("N", least=0, most=1, optional=True),
    "unpinned": array("checked L", least=0, optional=True),
    "annotators": listed("A", part(_Annotator)),
    "corpus": part(_Corpus),
}


@dataclass(frozen=True)
class _Result:
    """What `RESULT` names, of a result."""

    codes: IntArray
    fitted_to_it: bool
    marginals: FloatArray | None
    text: FloatArray | None
    chance_wrong: FloatArray | None
    unpinned: FloatArray | None
    annotators: tuple[_Annotator, ...]
    corpus: _Corpus

    @classmethod
    def of(cls, cleaned: Cleaned) -> Self:
        sure = cleaned.marginals is not None
        return cls(
            cleaned.codes,
            cleaned.fitted_to_it,
            cleaned.marginals,
            cleaned.text if sure else None,
            cleaned.chance_wrong if sure else None,
            cleaned.unpinned,
            tuple(map(_Annotator.of, cleaned.annotators)),
            _Corpus.of(cleaned.corpus),
        )


def save(cleaned: Cleaned, path: str | PathLike[str]) -> None:
    """Write a result, its corpus and its tagger as one file; see `Cleaned.save`."""
    if cleaned.tagger is None:
        raise InputError("expected a result of a fit, found votes that were counted.")
    state, arrays = write_state(RESULT, _Result.of(cleaned))
    tagger, own = pack(cleaned.tagger)
    header = {
        "kind": KIND,
        "classes": list(cleaned.classes),
        "result": state,
        "tagger": tagger,
    }
    arrays = add_prefix("result/", arrays) | add_prefix("tagger/", own)
    write_container(path, header, arrays)


def _packed(documents: tuple[Document, ...]) -> tuple[str, ...]:
    form = FORMATS[_DOCUMENTS]
    assert form.write is not None
    with TemporaryDirectory() as folder:
        path = Path(folder, _DOCUMENTS)
        form.write(path, documents, Options())
        return tuple(path.read_text("utf-8").rstrip("\n").split("\n"))


def _unpacked(lines: tuple[str, ...]) -> tuple[Document, ...]:
    with TemporaryDirectory() as folder:
        path = Path(folder, _DOCUMENTS)
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return tuple(FORMATS[_DOCUMENTS].read(path, Options()))
