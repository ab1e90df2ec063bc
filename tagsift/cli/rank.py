"""``tagsift rank``: what to check first, by token, span and sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import tagsift
from tagsift.cli._about import sizes
from tagsift.cli._models import (
    check_columns,
    check_model_options,
    cleaned_of,
    load_tagger,
)
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
from tagsift.cli._reading import exchange_options, read_corpus, say_losses
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
        tagsift.io.format_to_write(out, to)
    elif out is not None:
        _keep_answers(out, source.exact)
    fitting = replace(fitting, quiet=fitting.quiet or json)
    if text:
        cleaned = _tag_text(train, source, model)
        known = {"sentences": len(cleaned.corpus), "tokens": cleaned.corpus.n_tokens}
    else:
        corpus = read_corpus(train, source)
        if by is By.disagreement and not len(corpus.votes.token):
            raise InputError(
                "--by disagreement needs votes: say which columns by --votes."
            )
        cleaned, known = (
            cleaned_of(corpus, train, source, fitting, model),
            sizes(corpus),
        )
    scores = _scores(cleaned, by)  # [N]
    looks = islice(cleaned.ranking("token", scores), None if out is not None else top)
    tokens = [_described(cleaned, look) for look in looks]
    spans = islice(cleaned.ranking("span", scores), top)
    shown = {
        "tokens_first": tokens[:top],
        "spans_first": [_described(cleaned, look, span=True) for look in spans],
        "sentences_first": _sentences(cleaned, scores, top),
    }
    if out is not None and to is not None:
        options = exchange_options(source, shape=shape)
        say_losses(cleaned.write(out, to, scores=scores, **options))
    elif out is not None:
        tagsift.io.write_sheet(out, _sheet(cleaned, tokens))
    if json:
        method = cleaned.tagger.method.name
        print_json({"method": method, **known, "by": by.value, **shown})
        return
    _draw(shown, by, cleaned)
    if out is not None and to is not None:
        say(f"{out}: documents with their labels, the most doubtful first.")
    elif out is not None:
        todo = (
            f"; type the right labels into {tagsift.io.ANSWER} (ok where the label "
            "is right, nothing where you have not looked), and give it to fit or clean "
            f"with --exact {out}"
        )
        of_votes = cleaned.has_votes  # whose sheets are read back
        say(f"{out}: all {len(scores)} tokens, ranked{todo * of_votes}.")


def _tag_text(path: Path, source: Training, model: Path | None) -> Cleaned:
    """Label text with a fitted model, to say what to annotate first."""
    if model is None:
        raise InputError("--text: say which fitted model knows the labels by --model.")
    tagger = load_tagger(model)
    options: dict[str, Any] = {"comments": source.comments, "columns": source.columns}
    rows = [list(row) for row in tagsift.io.iter_text(path, **options)]
    check_columns(tagger, path, rows, named=source.columns is not None)
    corpus = tagsift.Corpus.from_lists(
        rows,
        [[None] * len(row) for row in rows],
        label_set=map(str, tagger.classes_),
        scheme=tagger.scheme_,
    )
    return tagsift.cleaned.tagged(corpus, tagger)


def _scores(cleaned: Cleaned, by: By) -> FloatArray:
    """What a look at every stacked token is worth, [N]."""
    if by is By.disagreement:
        return tagsift.metrics.vote_disagreement(cleaned.corpus, cleaned.codes)
    if by is By.entropy:
        return tagsift.metrics.entropy(cleaned.confidences)
    if by is By.confidence:
        return tagsift.metrics.doubt(cleaned.confidences, cleaned.codes)
    return cleaned.chance_wrong


def _described(cleaned: Cleaned, look: Look, *, span: bool = False) -> Described:
    """A token or a span that should be looked at, for people."""
    words = cleaned.corpus.tokens[look.sentence]
    votes = " ".join(f"{name}:{count}" for name, count in look.tally.items())
    if cleaned.corpus.candidates is not None and not cleaned.has_votes:
        votes = "|".join(sorted(cleaned.corpus.candidates[look.sentence][look.start]))
    end = look.end if span else look.start + 1
    return {
        **_place(cleaned, look.sentence),
        "token": look.start + 1,
        **({"last": look.end} if span else {}),
        "word": " ".join(words[look.start : end]),
        "label": str(look.label),
        "why": look.reason,
        "votes": votes,
        "context": in_context(words, look.start, look.end, _AROUND),
        "probabilities": look.probabilities,
        "score": look.score,
    }


def _place(cleaned: Cleaned, sentence: int) -> Described:
    """Which sentence it is, and the id of its document, where there is one."""
    ids = cleaned.corpus.document_ids
    place = {} if ids is None else {"document": ids[sentence]}
    return {**place, "sentence": sentence + 1}


def _sentences(cleaned: Cleaned, scores: FloatArray, most: int) -> list[Described]:
    """The sentences, by the sum over their tokens."""
    ranking, words = cleaned.sentence_ranking(scores), cleaned.corpus.tokens
    return [
        {
            **_place(cleaned, int(s)),
            "score": float(ranking.total[s]),
            "tokens": len(words[s]),
            "worst_token": int(ranking.worst[s]) + 1,
            "text": " ".join(words[s]),
        }
        for s in ranking.order[:most]
    ]


def _sheet(cleaned: Cleaned, tokens: list[Described]) -> Iterator[dict[str, object]]:
    """Yield the rows of the sheet to fill in, with the answers that are known."""
    exact = cleaned.corpus.exact
    for rank, cells in enumerate(tokens, 1):
        s, t = cells["sentence"] - 1, cells["token"] - 1
        yield _sheet_row(rank, cells, None if exact is None else exact[s][t])


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


def _draw(shown: dict[str, list[Described]], by: By, cleaned: Cleaned) -> None:
    """Draw the three tables."""
    words = cleaned.corpus.tokens

    def looks(unit: str) -> Iterator[tuple[Any, ...]]:
        for one in shown[unit]:
            s, t = one["sentence"] - 1, one["token"] - 1
            end = int(one.get("last") or t + 1)
            yield (
                *cleaned.place(s, t),
                in_context(words[s], t, end, _AROUND, _WIDTH),
                *map(one.get, ("label", "votes", "why", "score")),
            )

    names = (*cleaned.place_heads, "in context", "label", "said", "why")
    heads = dict.fromkeys(names, "")
    for title, unit in (("Tokens", "tokens_first"), ("Spans", "spans_first")):
        title = f"{title} to check first (by {by.value})"
        draw_rows(title, heads | {"score": ".3f"}, looks(unit))
    heads = {} if cleaned.corpus.document_ids is None else {"document": ""}
    heads |= {"sentence": "d", "score": ".3f", "tokens": "d", "worst_token": "d"}
    draw_rows(
        "Sentences to check first",
        heads | {"text": ""},
        (
            (*map(s.get, heads), shorten(s["text"], 60, placeholder=" …"))
            for s in shown["sentences_first"]
        ),
    )
