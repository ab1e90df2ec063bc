"""What there is to know about a method before it is run: one row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from tagsift.base.settings import Setting

__all__ = ["Method"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """Facts about a method, as `tagsift methods` lists them."""

    name: str  # the registry key, such as ``"pl-svm"``
    title: str  # the name in tables, such as ``"PL-SVM"``
    family: str  # where it comes from: Gaussian process, structured SVM, k-NN, …
    disambiguation: str  # how it chooses: random, average, identification, none, …
    structured: bool  # whether it sees transitions between labels
    probabilities: bool = False  # whether `predict_marginals` is offered
    exact_only: bool = False  # whether it refuses ambiguous labels
    weighted: bool = False  # whether `fit` takes weights of sentences
    settings: str = ""  # those that matter; ``{lam}`` is filled in from the class
    cost: str = ""  # what a fit costs
    many_labels: int = 0  # with more, `fit` says that it takes minutes; 0: never
    source: str = ""  # where the method was published

    def with_defaults(self, declared: Mapping[str, Setting]) -> Method:
        """Return the same facts with the declared defaults in `settings`."""
        texts = {}
        for name, entry in declared.items():
            value = entry.default
            number = isinstance(value, int | float) and not isinstance(value, bool)
            texts[name] = f"{name}={value:g}" if number else f"{name}={value}"
            if entry.grid:
                texts[name] += f" ({min(entry.grid):g}–{max(entry.grid):g})"
        return replace(self, settings=self.settings.format_map(texts))

    def as_dict(self) -> dict[str, str | bool | int]:
        """Return the facts as a plain dictionary."""
        return asdict(self)
