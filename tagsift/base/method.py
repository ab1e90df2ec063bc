"""What there is to know about a method before it is run: one row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from tagsift.base.settings import Setting

__all__ = ["Method"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """Facts about a method, as `tagsift methods` lists them.

    Parameters
    ----------
    name : str
        The registry key, such as ``"pl-svm"``.
    title : str
        The name in tables, such as ``"PL-SVM"``.
    family : str
        Where it comes from: Gaussian process, structured SVM, k-NN, …
    disambiguation : str
        How it chooses among candidates: random, average, identification, none, …
    structured : bool
        Whether it sees transitions between labels.
    probabilities : bool
        Whether `predict_marginals` is offered.
    exact_only : bool
        Whether it refuses ambiguous labels.
    weighted : bool
        Whether `fit` takes weights of sentences.
    settings : str
        The settings that matter; ``{lam}`` stands for the default of ``lam`` and the
        range that tuning chooses from, as the class declares them.
    cost : str
        What a fit costs.
    many_labels : int
        With more labels even a small fit takes minutes, and `fit` says so; 0: never.
    source : str
        Where the method was published.
    """

    name: str
    title: str
    family: str
    disambiguation: str
    structured: bool
    probabilities: bool = False
    exact_only: bool = False
    weighted: bool = False
    settings: str = ""
    cost: str = ""
    many_labels: int = 0
    source: str = ""

    def with_defaults(self, declared: Mapping[str, Setting]) -> Method:
        """Return the same facts with the declared defaults in `settings`."""
        texts = {}
        for name, entry in declared.items():
            value = entry.default
            shown = f"{value:g}" if _is_number(value) else str(value)
            texts[name] = f"{name}={shown}"
            if entry.grid:
                texts[name] += f" ({min(entry.grid):g}–{max(entry.grid):g})"
        return replace(self, settings=self.settings.format_map(texts))

    def as_dict(self) -> dict[str, str | bool | int]:
        """Return the facts as a plain dictionary."""
        return asdict(self)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
