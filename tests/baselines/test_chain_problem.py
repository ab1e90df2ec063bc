"""What others fit in the place of the partial CRF predicts as fitted."""

from __future__ import annotations

import numpy as np

from tagsift.annotators.cross_fit import WarmChain
from tagsift.base import TrainingSet
from tagsift.baselines import PartialCRF
from tagsift.features import FeatureMatrix


def test_dense_columns_are_scaled_and_scaled_back():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(30, 4))
    labels = (dense[:, 0] > 0).astype(int)
    mask = np.eye(2, dtype=bool)[labels]
    features = FeatureMatrix(("array",), (dense,), np.arange(0, 31, 5))
    train = TrainingSet(features, mask, ("a", "b"), "plain", 0)
    model = PartialCRF(l2=1.0)
    model.classes_, model.scheme_ = ("a", "b"), "plain"
    problem = model.chain_problem(train)
    chain = WarmChain(problem).fit(train.log_evidence, 50)
    model.take_chain(chain, problem, 0.0)
    np.testing.assert_allclose(
        model.weights_.scores(features), chain.scores(problem.features), rtol=1e-6
    )
    assert (model._predict(features) == labels).mean() > 0.9
