"""Shards on Ray workers; Ray is installed by ``make engines``."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import tagsift
from tagsift.baselines import PartialCRF
from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.engine import LocalEngine
from tagsift.chain_gp import ChainGP
from tagsift.engines import RayEngine
from tagsift.engines import ray as module
from tagsift.errors import InputError, MissingExtraError, ResourceError

try:
    import ray
except ImportError:
    ray = None

needs_ray = pytest.mark.skipif(ray is None, reason="needs Ray: make engines")
CORPUS = tagsift.data.bundled()[:40]
SETS = [
    [{label, "O"} if s % 3 else {label} for label in row]
    for s, row in enumerate(CORPUS.labels)
]


@pytest.fixture(scope="module")
def cluster():
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=200 * 2**20,
    )
    yield
    ray.shutdown()


@pytest.mark.skipif(ray is not None, reason="Ray is installed")
def test_without_ray_it_is_one_sentence():
    with pytest.raises(MissingExtraError, match="the engine 'ray' needs the package"):
        PartialCRF(engine=RayEngine(2)).fit(CORPUS.rows, SETS)


def test_the_number_of_workers_is_checked():
    with pytest.raises(InputError, match="n_workers must be at least 1; got 0"):
        RayEngine(0)


@needs_ray
@pytest.mark.usefixtures("cluster")
class TestWorkers:
    def test_the_fit_is_that_of_local_shards_to_the_bit(self):
        models = [
            PartialCRF(engine=engine).fit(CORPUS.rows, SETS)
            for engine in (LocalEngine(2), RayEngine(2))
        ]
        emissions = [model.weights_.emissions for model in models]
        np.testing.assert_array_equal(*emissions)
        assert models[0].transduction_ == models[1].transduction_
        local = PartialCRF().fit(CORPUS.rows, SETS)
        assert models[1].objective_ == pytest.approx(local.objective_, rel=1e-6)

    def test_chain_gp(self):
        local, sharded = (
            ChainGP(tol=1e-7, engine=engine).fit(CORPUS.rows, SETS)
            for engine in (None, RayEngine(2))
        )
        assert local.predict(CORPUS.rows) == sharded.predict(CORPUS.rows)
        assert local.log_posterior_ == pytest.approx(sharded.log_posterior_, rel=1e-6)

    def test_more_shards_than_workers_keep_their_order(self):
        shards = RayEngine(2).scatter([10, 20, 30, 40, 50])
        assert shards.map(plus, 1) == [11, 21, 31, 41, 51]
        assert shards.map(plus, each=range(5), only=[3, 0]) == [43, 10]
        shards.then(plus, 1)
        assert shards.sum(plus, 0) == 155
        assert shards.sum(plus, 0, only=[1]) == 21

    def test_a_dead_worker_changes_nothing(self, tmp_path):
        mark = tmp_path / "died"
        shards = RayEngine(2).scatter([np.ones(3), np.ones(3)])
        shards.then(plus, 1.0)
        shards.then(plus, each=[1.0, 2.0])
        found = shards.sum(die_once, str(mark), each=[True, False])
        np.testing.assert_array_equal(found, np.full(3, 7.0))
        assert mark.exists()

    def test_a_worker_killed_in_a_fit_changes_nothing(self, tmp_path, monkeypatch):
        whole = PartialCRF(engine=RayEngine(2)).fit(CORPUS.rows, SETS)
        engine = RayEngine(2, checkpoint=Checkpoint(tmp_path / "steps", every=5))
        write, killed = Checkpoint.write, []

        def killing(self, step):
            if not killed:
                killed.append(step.n_iter)
                ray.kill(engine._last._workers[1])
            write(self, step)

        monkeypatch.setattr(Checkpoint, "write", killing)
        model = PartialCRF(engine=engine).fit(CORPUS.rows, SETS)
        assert killed == [5] != [model.n_iter_]
        np.testing.assert_array_equal(
            model.weights_.emissions, whole.weights_.emissions
        )

    def test_a_worker_that_always_dies_is_one_sentence(self):
        with pytest.raises(ResourceError, match="died 3 times at the same work"):
            RayEngine(1).scatter([1]).map(die)

    def test_errors_of_ours_are_those_of_a_local_call(self):
        with pytest.raises(InputError, match="^one sentence$"):
            RayEngine(1).scatter([1]).map(complain)

    def test_other_versions_and_too_many_workers_are_refused(self, monkeypatch):
        with pytest.raises(InputError, match="has 2 cores, 3 workers were asked for"):
            RayEngine(3).scatter([1, 2, 3])
        known = module.versions()
        monkeypatch.setattr(module, "versions", lambda: known | {"tagsift": "0.0"})
        with pytest.raises(InputError, match="has tagsift .*, the driver 0.0; install"):
            RayEngine(1).scatter([1])


def plus(state, more):
    return state + more


def die_once(state, mark, mine):
    if mine and not os.path.exists(mark):
        with open(mark, "x"):
            os.kill(os.getpid(), signal.SIGKILL)
    return state


def die(state):
    os.kill(os.getpid(), signal.SIGKILL)


def complain(state):
    raise InputError("one sentence")
