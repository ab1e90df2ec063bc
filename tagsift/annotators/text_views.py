"""The views of a text: models that err differently, so that their mean errs less.

Without word vectors there are two chains, one of which has a larger penalty. With them
there are three: on the sparse features, on everything, and on a smooth function of the
vectors alone, an RBF kernel by random Fourier features (Rahimi and Recht 2007).
Annotators who err alike on a word mislead every model that knows the word by its
spelling; the third view knows it by its meaning, and tells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from tagsift.annotators.settings import CONSTANTS
from tagsift.chain.objective import ChainProblem
from tagsift.features import FeatureMatrix

__all__ = ["text_views"]


def text_views(
    problem: ChainProblem, vectors: FeatureMatrix | None, seed: int
) -> list[ChainProblem]:
    """Chains over the same sentences; `vectors` are their dense features as given.

    The first is that of the tagger for new text: it knows all that the problem knows.
    """
    sparse = problem.features.sparse
    if sparse is None or problem.features.dense is None:
        return [problem, replace(problem, l2=CONSTANTS.tighter * problem.l2)]
    views = [problem, replace(problem, features=sparse)]
    if vectors is not None:
        views.append(replace(problem, features=_waves(vectors, seed)))
    return views


def _waves(vectors: FeatureMatrix, seed: int) -> FeatureMatrix:
    """Random Fourier features of an RBF kernel between vectors."""
    Z = np.hstack(vectors.blocks).astype(np.float32)  # [N, D]
    Z -= Z.mean(axis=0)  # [N, D]
    Z /= max(float(np.linalg.norm(Z, axis=1).mean()), 1e-12)  # [N, D]
    sampler = RBFSampler(
        gamma=0.5 / CONSTANTS.waves_length**2,
        n_components=CONSTANTS.waves,
        random_state=seed % 2**32,
    )
    waves = sampler.fit_transform(Z).astype(np.float32)  # [N, R]
    waves *= np.float32(CONSTANTS.waves_scale)
    return FeatureMatrix(("waves",), (waves,), vectors.offsets)
