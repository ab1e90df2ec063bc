"""What there is to know about a method before it is run: one row of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass

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
        The settings that matter and their defaults.
    cost : str
        What a fit costs.
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
    source: str = ""

    def as_dict(self) -> dict[str, str | bool]:
        """Return the facts as a plain dictionary."""
        return asdict(self)
