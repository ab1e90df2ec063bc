"""A stored result, opened again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tagsift.cleaned.cleaned import Cleaned
from tagsift.cleaned.saving import RESULT
from tagsift.errors import ModelFileError, TagsiftError
from tagsift.storage import strip_prefix
from tagsift.storage.items import damaged
from tagsift.storage.state import read_state
from tagsift.typing import Arrays

__all__ = ["cleaned_from"]


def cleaned_from(meta: Mapping[str, Any], arrays: Arrays, tagger: Any) -> Cleaned:
    """Rebuild a result from what a container holds, and from its tagger."""
    classes = meta.get("classes")
    if not isinstance(classes, list) or not all(isinstance(k, str) for k in classes):
        raise damaged("the labels of the result are no list of texts")
    sizes = {"L": len(classes)}
    inside = strip_prefix("result/", arrays)
    state = read_state(RESULT, meta.get("result"), inside, sizes)
    try:
        corpus = state.pop("corpus").corpus()
    except ModelFileError:
        raise
    except TagsiftError as error:
        raise damaged(f"its corpus is none ({error})") from error
    codes, marginals = state.pop("codes"), state.pop("marginals")
    if corpus.label_set.names[: len(classes)] != tuple(classes):
        raise damaged("the labels of the result are not those of its corpus")
    if len(codes) != corpus.n_tokens:
        raise damaged("the corpus has another number of tokens than there are labels")
    fitted_to_it = state.pop("fitted_to_it")
    cleaned = Cleaned(corpus, tagger, tuple(classes), codes, marginals, fitted_to_it)
    # What was found when the result was made cannot be found again: the tagger of a
    # file no longer knows its training tokens.
    state["annotators"] = tuple(one.report() for one in state["annotators"])
    if marginals is None:
        del state["text"], state["chance_wrong"]
    vars(cleaned).update(state)
    return cleaned
