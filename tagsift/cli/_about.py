"""What verbs say about a corpus and a result, for people and machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagsift.cli._options import Fitting
from tagsift.cli._output import percent, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tagsift import Corpus
    from tagsift.cleaned import Cleaned

__all__ = ["about", "say_recovery", "sizes"]


def sizes(corpus: Corpus) -> dict[str, Any]:
    """Sizes; open are tokens with several candidates, of votes with several labels."""
    labelled = corpus.union() if len(corpus.votes.token) else corpus
    return {
        "sentences": len(corpus),
        "tokens": corpus.n_tokens,
        "ambiguous_tokens": labelled.n_ambiguous,
        "labels": list(corpus.label_set),
        "scheme": corpus.scheme,
    }


def about(
    path: Path,
    cleaned: Cleaned,
    fitting: Fitting,
    model: Path | None = None,
    seconds: float | None = None,
) -> dict[str, Any]:
    """The title and the facts of the page on a file."""
    facts = [("file", path.name), ("method", cleaned.title)]
    if model is not None:
        facts.append(("model", model.name))
    else:
        facts.append(("seed", str(fitting.seed)))
    if seconds is not None:
        facts.append(("time of the fit", f"{seconds:.1f} s"))
    what = "Votes" if cleaned.has_votes else "Candidates"
    return {"title": f"{what} in {path.name}", "facts": facts}


def say_recovery(recovery: Mapping[str, Any] | None) -> None:
    """Say how many labels are right, where gold labels tell."""
    if recovery is not None:
        say(
            f"Recovered {percent(recovery['ambiguous'])} % of the ambiguous labels, "
            f"{percent(recovery['overall'])} % of all."
        )
