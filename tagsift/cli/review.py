"""``tagsift review``: a page to look at doubtful spans and decide."""

from __future__ import annotations

import webbrowser
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tagsift
from tagsift.cli._about import sizes
from tagsift.cli._models import (
    as_votes,
    check_columns,
    check_model_options,
    load_tagger,
    make_tagger,
    read_for,
)
from tagsift.cli._options import Fitting, Json, Model, Training, argument, option
from tagsift.cli._output import complain, print_json, say
from tagsift.cli._reading import read_corpus
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift import Corpus
    from tagsift.base import SequenceTagger

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 75
EXAMPLE = "tagsift review votes.tsv --votes 2:6"


def run(
    train: Annotated[
        Path, argument("FILE", "Votes or candidates: columns, or any other format.")
    ],
    *,
    store: Annotated[
        Path | None,
        option("Where decisions are kept; default: FILE.review.db, in this folder."),
    ] = None,
    every: Annotated[
        int, option("Fit again after so many decisions; 0: only when asked.", min=0)
    ] = 25,
    host: Annotated[
        str, option("Address to listen on; others than loopback need a password.")
    ] = "127.0.0.1",
    port: Annotated[
        int, option("Port to listen on; 0 for any that is free.", min=0, max=65535)
    ] = 8765,
    password_file: Annotated[
        Path | None, option("A file whose first line is the password of the page.")
    ] = None,
    browser: Annotated[bool, option("Open the page in a browser.")] = False,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Look at doubtful spans on a local page, decide, and let the model learn from it.

    Where every token has one label, that is one annotator's, who may err.
    Every decision is kept at once; the same command goes on where it was stopped.
    Several people can review at the same time. Ctrl-C ends it.
    """
    from tagsift.review.serving import is_loopback, listen, read_password, serve

    review = tagsift.review
    check_model_options(model, fitting)
    if not is_loopback(host) and password_file is None:
        raise InputError(
            f"--host {host}: whoever reaches this address could read the corpus; give "
            "a password by --password-file."
        )
    password = None if password_file is None else read_password(password_file)
    corpus, tagger = _read(train, source, fitting, model)
    known = () if model is None else tuple(map(str, tagger.classes_))
    view = review.CorpusView(corpus, train.name, known)
    path = Path(f"{train.name}.review.db") if store is None else store

    def ready(address: str) -> None:
        if json:
            print_json({"address": address, "store": str(path), **sizes(corpus)})
        else:
            say(f"Review: {address}")
            say(f"Decisions are kept in {path}; Ctrl-C ends the review.")
        if not is_loopback(host):
            complain(
                "nothing is encrypted on the way; let others in through a tunnel or a "
                "proxy with TLS.",
                kind="warning",
            )
        if browser:
            webbrowser.open(address)

    with ExitStack() as opened:
        taken = opened.enter_context(listen(host, port))
        kept = opened.enter_context(closing(review.Store.open(path, view.fingerprint)))
        worker = review.Worker(view, tagger, fitted=model is not None)
        opened.enter_context(closing(worker))
        desk = review.Desk(view, kept, worker, every=every)
        desk.begin()
        with suppress(KeyboardInterrupt):
            serve(desk, taken, password=password, ready=ready)
    if not json:
        count = sum(one.answers for one in desk.ledger.live)
        say(f"{count} decisions are in {path}.")


def _read(
    path: Path, source: Training, fitting: Fitting, model: Path | None
) -> tuple[Corpus, SequenceTagger]:
    """What is looked at, and the model that is fitted to it, or was to other text."""
    if model is None:
        corpus = as_votes(read_corpus(path, source))
        tagger = make_tagger(corpus, path, source, replace(fitting, quiet=True))
    else:
        tagger = load_tagger(model)
        corpus = as_votes(read_for(tagger, path, source))
        check_columns(tagger, path, corpus.rows, named=source.columns is not None)
    if not tagger.method.probabilities:
        raise InputError(
            f"{tagger.method.title} gives no confidences; take a method that does "
            "(see: tagsift methods)."
        )
    return corpus, tagger
