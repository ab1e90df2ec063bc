"""What all baselines of candidate sets share: scaled features, and the labels seen."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tagsift.base import SequenceTagger, TrainingSet, setting
from tagsift.errors import NotSupportedError
from tagsift.features import FeatureMatrix, FeatureScaler, Scale, scale_features
from tagsift.storage import Saved, array, part
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["ScaledTagger"]


class ScaledTagger(SequenceTagger):
    """A tagger of candidate sets that scales features, and knows the labels seen."""

    saved: ClassVar[Saved] = {
        "seen_": array("L", "bool"),
        "scaler_": part(FeatureScaler),
    }

    scale: Scale = setting("auto")

    def _decode(self, features: FeatureMatrix, mask: BoolArray) -> IntArray:
        """Best labels of new tokens inside the mask, [M]: what a subclass writes."""
        raise NotSupportedError(f"{type(self).__name__} does not define _decode.")

    def _predict(self, features: FeatureMatrix) -> IntArray:
        shape = (features.n_tokens, len(self.seen_))
        return self._decode(features, np.broadcast_to(self.seen_, shape))  # [M]

    def _restricted(
        self, features: FeatureMatrix, evidence: FloatArray
    ) -> tuple[IntArray, FloatArray | None]:
        return self._decode(features, evidence > -np.inf), None

    def _learn_scale(self, train: TrainingSet) -> Any:
        """Note which labels are a candidate somewhere; scale the features, [N, D]."""
        self.seen_ = np.asarray(train.mask.any(axis=0))  # [L]
        X, self.scaler_ = scale_features(train.features, self.scale)  # [N, D]
        return X
