"""``tagsift info``: what a model file holds."""

from __future__ import annotations

from typing import Any

import tagsift
from tagsift.cli._models import load_tagger
from tagsift.cli._options import Json, ModelFile
from tagsift.cli._output import draw, draw_rows, print_json, say

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 100
EXAMPLE = "tagsift info model.tagsift"


def run(model: ModelFile, json: Json = False) -> None:
    """Say which method, settings and labels a model file holds, and how large it is."""
    meta, arrays = tagsift.storage.read_container(model)
    tagger: Any = load_tagger(model)
    if meta.get("kind") == tagsift.cleaned.KIND:  # a result, with its tagger inside
        arrays = tagsift.storage.strip_prefix("tagger/", arrays)
        meta = {"format": meta["format"], **meta["tagger"]}
    parts: dict[str, dict[str, Any]] = {
        name: {"type": str(a.dtype), "shape": list(a.shape), "bytes": a.nbytes}
        for name, a in sorted(arrays.items())
    }
    kept = tuple(f"model/{name}" for name in tagger.training_arrays())
    held = sum(part["bytes"] for name, part in parts.items() if name.startswith(kept))
    facts = {
        "file": str(model),
        "bytes": model.stat().st_size,
        "format": meta["format"],
        "method": tagger.method.name,
        "title": tagger.method.title,
        "written_by": meta["version"],
        "scheme": tagger.scheme_,
        "columns": getattr(tagger.vectorizer_, "n_columns_", 0),
        "tokenizer": tagsift.data.tokenizer_name(tagger.tokenizer),
        "sentences": tagsift.data.tokenizer_name(tagger.sentences),
        "classes": list(tagger.classes_),
        "settings": meta["params"],
        "training_feature_bytes": held,
        "annotators": [one.as_dict() for one in getattr(tagger, "annotators_", ())],
        "arrays": parts,
    }
    settings = {
        name: value
        for name, value in meta["params"].items()
        if name not in ("features", "labels", "scheme", "verbose")
    }
    if json:
        print_json(facts)
        return
    say(f"{model}: {tagger.method.title}, {facts['bytes'] / 1e6:.2f} MB")
    say(f"written by tagsift {meta['version']}, file format {meta['format']}")
    say(f"{len(tagger.classes_)} labels ({tagger.scheme_}): ", end="")
    say(", ".join(map(str, tagger.classes_)))
    say("settings: ", end="")
    say(", ".join(f"{name}={value!r}" for name, value in settings.items()))
    if facts["columns"] > 1:
        say(f"looks at {facts['columns']} columns of a token: cannot tag raw text.")
    elif facts["columns"]:
        sentences = facts["sentences"]
        more = "" if sentences == "auto" else f", its sentences by {sentences}"
        say(f"looks at words alone; raw text is cut by {facts['tokenizer']}{more}.")
    if held:
        say(
            f"holds features of training tokens ({held / 1e6:.2f} MB): give it only to "
            "those who may have the text."
        )
    else:
        say("holds the words of the training text as a vocabulary, no sentences.")
    if facts["annotators"]:
        say(f"votes count {tagger.vote_weight_:.2f} times", end="; ")
        say(f"in confidences all scores count {tagger.temperature_:.2f} times")
        draw(tagsift.report.annotator_table(tagger.annotators_, tagger.classes_))
    draw_rows(
        "Arrays",
        {"name": "", "type": "", "shape": "", "kB": ".1f"},
        (
            (name, a["type"], " × ".join(map(str, a["shape"])) or "1", a["bytes"] / 1e3)
            for name, a in parts.items()
        ),
    )
