"""``tagsift rank``: what to check first, by token, span and sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import tagsift
from tagsift.cli._options import (
    Fitting,
    Json,
    Model,
    OutOrScreen,
    Shape,
    To,
    Training,
    argument,
    option,
)
from tagsift.cli._output import draw_rows, print_json, say
from tagsift.cli._pages import findings_in_text
from tagsift.cli._sources import format_to, write_labels
from tagsift.cli._training import (
    TrainingData,
    check_columns,
    check_model_options,
    read_training,
    recover,
)
from tagsift.errors import InputError
from tagsift.visible import in_context

if TYPE_CHECKING:
    from tagsift.annotators import Look
    from tagsift.cleaned import Cleaned
    from tagsift.typing import FloatArray

__all__ = ["By", "EXAMPLE", "PLACE", "RENEWS", "run"]

PLACE = 70
EXAMPLE = "tagsift rank votes.tsv --votes 2:6 --top 30 -o check.tsv"
RENEWS = ("exact",)

#: Words to show on either side, and most characters of them on the screen.
_AROUND = 6
_WIDTH = 46
#: What a sheet says of a token before the answer.
_BEFORE = ("document", "sentence", "token", "word", "label")
#: What is said of a token, a span or a sentence.
Described: TypeAlias = dict[str, Any]


class By(StrEnum):
    """What makes a look worth while."""

    chance = "chance"
    entropy = "entropy"
    confidence = "confidence"
    disagreement = "disagreement"


def run(
    train: Annotated[
        Path, argument("FILE", "Column file of votes or candidates, or of text.")
    ],
    *,
    by: Annotated[
        By,
        option(
            "chance that the label is wrong, by text and votes; entropy of the "
            "confidences; confidence: one minus that of the label; disagreement: share "
            "of the votes against it."
        ),
    ] = By.chance,
    top: Annotated[
        int, option("How many tokens, spans and sentences to show.", min=1)
    ] = 20,
    text: Annotated[
        bool,
        option("FILE is text without labels: say what to annotate first, by --model."),
    ] = False,
    out: OutOrScreen = None,
    to: To = None,
    shape: Shape = None,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Say which tokens, spans and sentences a person should check first.

    Sentences and tokens are counted from 1. A sentence scores the sum of its tokens.
    With --out, all tokens go to a sheet, ranked: of votes, type the right labels into
    its column right_label (ok where the label is right), and give it to fit or clean by
    --exact. What --exact tells stands there already, so that the sheet can be renewed.
    With --to, documents of that format are written instead, with the labels found, the
    most doubtful document first.
    """
    check_model_options(model, fitting)
    if to is not None:
        if out is None or text:
            raise InputError("--to: say where to write by --out, and leave out --text.")
        format_to(out, to, None)
    elif out is not None:
        _keep_answers(out, source.exact)
    fitting = replace(fitting, quiet=fitting.quiet or json)
    if text:
        found = _tag_text(train, source, model)
    else:
        found = _learn(train, source, fitting, model, by)
    scores = found.scores(by)  # [N]
    tokens = found.tokens_first(scores, None if out is not None else top)
    shown = {
        "tokens_first": tokens[:top],
        "spans_first": found.spans_first(scores, top),
        "sentences_first": found.sentences_first(scores, top),
    }
    if out is not None and to is not None:
        _write_documents(out, to, shape, found, scores, source)
    elif out is not None:
        tagsift.io.write_sheet(out, found.sheet(tokens))
    if json:
        method = found.findings.tagger.method.name
        print_json({"method": method, **found.sizes, "by": by.value, **shown})
        return
    _draw(shown, by, found)
    if out is not None and to is not None:
        say(f"{out}: documents with their labels, the most doubtful first.")
    elif out is not None:
        todo = (
            f"; type the right labels into {tagsift.io.ANSWER} (ok where the label "
            "is right, nothing where you have not looked), and give it to fit or clean "
            f"with --exact {out}"
        )
        of_votes = found.findings.has_votes  # whose sheets are read back
        say(f"{out}: all {len(scores)} tokens, ranked{todo * of_votes}.")


@dataclass(frozen=True)
class _Labelled:
    """Labels to look at, and what is known of them."""

    findings: Cleaned
    sizes: dict[str, Any]
    training: TrainingData | None = None  # None for text that nobody has labelled

    @cached_property
    def words(self) -> list[list[str]]:
        """The tokens of every sentence."""
        return self.findings.corpus.tokens

    def scores(self, by: By) -> FloatArray:
        """What a look at every stacked token is worth, [N]."""
        found = self.findings
        if by is By.disagreement:
            return tagsift.metrics.vote_disagreement(found.corpus, found.codes)
        if by is By.entropy:
            return tagsift.metrics.entropy(found.confidences)
        if by is By.confidence:
            return tagsift.metrics.doubt(found.confidences, found.codes)
        return found.chance_wrong

    def tokens_first(self, scores: FloatArray, most: int | None) -> list[Described]:
        """The tokens by falling score, described for people."""
        looks = self.findings.ranking("token", scores)
        return [self._described(look) for look in islice(looks, most)]

    def spans_first(self, scores: FloatArray, most: int) -> list[Described]:
        """The spans by falling score, described for people."""
        described = []
        for look in islice(self.findings.ranking("span", scores), most):
            words = self.words[look.sentence][look.start : look.end]
            more = {"last": look.end, "word": " ".join(words)}
            described.append(self._described(look) | more)
        return described

    def _place(self, sentence: int) -> Described:
        """Which sentence it is, and the id of its document, where there is one."""
        ids = self.findings.corpus.document_ids
        place = {} if ids is None else {"document": ids[sentence]}
        return {**place, "sentence": sentence + 1}

    def sheet(self, tokens: list[Described]) -> Iterator[dict[str, object]]:
        """Yield the rows of the sheet to fill in, with the answers that are known."""
        votes = None if self.training is None else self.training.votes
        known = None if votes is None else votes.exact
        for rank, cells in enumerate(tokens, 1):
            s, t = cells["sentence"] - 1, cells["token"] - 1
            yield _sheet_row(rank, cells, None if known is None else known[s][t])

    def _described(self, look: Look) -> Described:
        words = self.words[look.sentence]
        said = " ".join(f"{name}:{count}" for name, count in look.tally.items())
        if self.training is not None and self.training.votes is None:
            candidates = self.training.partial.candidates
            said = "|".join(sorted(candidates[look.sentence][look.start]))
        return {
            **self._place(look.sentence),
            "token": look.start + 1,
            "word": words[look.start],
            "label": str(look.label),
            "why": look.reason,
            "votes": said,
            "context": in_context(words, look.start, look.end, _AROUND),
            "probabilities": look.probabilities,
            "score": look.score,
        }

    def sentences_first(self, scores: FloatArray, most: int) -> list[Described]:
        """The sentences, by the sum over their tokens."""
        ranking = tagsift.metrics.rank_sentences(
            scores, [len(row) for row in self.words]
        )
        return [
            {
                **self._place(int(s)),
                "score": float(ranking.total[s]),
                "tokens": len(self.words[s]),
                "worst_token": int(ranking.worst[s]) + 1,
                "text": " ".join(self.words[s]),
            }
            for s in ranking.order[:most]
        ]


def _learn(
    path: Path, source: Training, fitting: Fitting, model: Path | None, by: By
) -> _Labelled:
    """Find the labels of votes or candidates, by a fit or with a fitted model."""
    training = read_training(path, source, method=fitting.method)
    if by is By.disagreement and training.votes is None:
        raise InputError("--by disagreement needs votes: say which columns by --votes.")
    found = recover(training, fitting, model)
    return _Labelled(found, training.facts, training)


def _tag_text(path: Path, source: Training, model_file: Path | None) -> _Labelled:
    """Label text with a fitted model, to say what to annotate first."""
    if model_file is None:
        raise InputError("--text: say which fitted model knows the labels by --model.")
    model = tagsift.load(model_file)
    rows = tagsift.read_text(path, comments=source.comments, columns=source.columns)
    check_columns(model, path, rows, named=source.columns is not None)
    sizes = {"sentences": len(rows), "tokens": sum(map(len, rows))}
    return _Labelled(findings_in_text(model, rows), sizes)


def _write_documents(
    out: Path,
    to: str,
    shape: str | None,
    found: _Labelled,
    scores: FloatArray,
    source: Training,
) -> None:
    """Write documents, the most doubtful first, with what was found in them."""
    training = found.training
    assert training is not None
    documents = training.documents
    sizes = [1] * len(found.words)
    if documents is not None:
        sizes = [len(one.bounds()) for one in documents.cut()]
    ranking = tagsift.metrics.rank_sentences(scores, [len(row) for row in found.words])
    totals = iter(ranking.total)
    doubt = [sum(float(next(totals)) for _ in range(size)) for size in sizes]
    order = sorted(range(len(sizes)), key=lambda d: -doubt[d])
    write_labels(
        out,
        str(format_to(out, to, documents)),
        documents,
        training.votes or training.partial,
        found.findings.sentences,
        found.findings.confidence_sentences,
        source,
        shape=shape,
        order=order,
        data=[{"doubt": round(one, 6)} for one in doubt],
    )


def _keep_answers(out: Path, exact: str | None) -> None:
    """Refuse to write over people's answers, but for a sheet that is read as well."""
    if not out.is_file():
        return
    renewed = exact is not None and Path(exact).exists() and out.samefile(exact)
    filled = tagsift.io.has_answers(out) and not renewed
    if filled or tagsift.review.is_store(out):
        raise InputError(
            f"{out}: this file holds answers of people, which would be lost; write "
            "another one (a sheet that is given by --exact, too, keeps its answers)."
        )


def _sheet_row(rank: int, cells: Described, answer: str | None) -> dict[str, object]:
    """A row of the sheet to fill in."""
    likely = cells["probabilities"].items()
    return {
        "rank": rank,
        **{name: cells[name] for name in _BEFORE if name in cells},
        tagsift.io.ANSWER: answer or "",
        **{name: cells[name] for name in ("why", "votes", "context")},
        "probabilities": " ".join(f"{name}={p:.3f}" for name, p in likely),
        "score": f"{cells['score']:.6f}",
    }


def _draw(shown: dict[str, list[Described]], by: By, found: _Labelled) -> None:
    """Draw the three tables."""
    findings = found.findings

    def looks(unit: str) -> Iterator[tuple[Any, ...]]:
        for one in shown[unit]:
            s, t = one["sentence"] - 1, one["token"] - 1
            end = int(one.get("last") or t + 1)
            yield (
                *findings.place(s, t),
                in_context(found.words[s], t, end, _AROUND, _WIDTH),
                *map(one.get, ("label", "votes", "why", "score")),
            )

    names = (*findings.place_heads, "in context", "label", "said", "why")
    heads = dict.fromkeys(names, "")
    for title, unit in (("Tokens", "tokens_first"), ("Spans", "spans_first")):
        title = f"{title} to check first (by {by.value})"
        draw_rows(title, heads | {"score": ".3f"}, looks(unit))
    heads = {} if findings.corpus.document_ids is None else {"document": ""}
    heads |= {"sentence": "d", "score": ".3f", "tokens": "d", "worst_token": "d"}
    draw_rows(
        "Sentences to check first",
        heads | {"text": ""},
        (
            (*map(s.get, heads), shorten(s["text"], 60, placeholder=" …"))
            for s in shown["sentences_first"]
        ),
    )
