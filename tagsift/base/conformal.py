"""Label sets with a coverage guarantee, from any tagger's marginals."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tagsift.base.tagger import SequenceTagger
from tagsift.errors import InputError
from tagsift.storage import Saved, array
from tagsift.typing import Label

__all__ = ["SetTagger"]


class SetTagger(SequenceTagger):
    """A tagger with marginals that can also predict sets (split-conformal).

    ``set_scores_`` are the sorted 1 − marginal of the truth of the calibration tokens.
    """

    saved: ClassVar[Saved] = {"set_scores_": array("tokens", least=0, optional=True)}

    def calibrate_sets(self, X: Any, y: Any) -> Self:
        """Learn from exactly labelled sentences how wide label sets must be.

        Parameters
        ----------
        X, y : lists of sentences
            Sentences that the fit has not seen, with gold labels. A label that the fit
            did not know either counts as one of probability 0.
        """
        marginals = self.predict_proba(X)
        position = {name: k for k, name in enumerate(self.classes_)}
        scores = [
            1.0 - row[position[label]] if label in position else 1.0
            for table, labels in zip(marginals, y, strict=True)
            for row, label in zip(table, labels, strict=True)
        ]
        if not scores:
            raise InputError("calibrate_sets needs at least one labelled token.")
        self.set_scores_ = np.sort(np.asarray(scores))  # [n]
        return self

    def predict_sets(self, X: Any, alpha: float = 0.1) -> list[list[set[Label]]]:
        """Label sets that hold the truth with probability 1 − alpha, token by token.

        Split-conformal: the guarantee is that of tokens exchangeable with those given
        to `calibrate_sets`, and holds on average over them.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        alpha : float
            Share of tokens whose set may miss the truth.
        """
        if getattr(self, "set_scores_", None) is None:
            raise InputError(
                "predict_sets needs calibrate_sets(X, y) first, with gold labels of "
                "sentences that were not used in fit."
            )
        if not 0.0 < alpha < 1.0:
            raise InputError(f"alpha must lie between 0 and 1; got {alpha}.")
        n = len(self.set_scores_)
        rank = int(np.ceil((n + 1) * (1.0 - alpha)))
        limit = self.set_scores_[rank - 1] if rank <= n else 1.0
        return [
            [
                {self.classes_[k] for k in np.flatnonzero(1.0 - row <= limit + 1e-12)}
                or {self.classes_[int(row.argmax())]}
                for row in table
            ]
            for table in self.predict_proba(X)
        ]
