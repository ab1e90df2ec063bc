"""Inducing points: the greedy choice against a uniform draw, at several sizes.

Bound, span F1 and recovery of SGPPSL with the hyperparameters given.

    python -m benchmarks.points --sizes 200 400
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.common import command, fold, machine, timed, write
from tagsift import SGPPSL
from tagsift.gp.inducing import choose_points

#: θ and amplitude that the evidence chooses on these folds.
KERNELS = {"base-np": (0.00556, 10.0), "chunking": (0.00556, 80.0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="corpora; TAGSIFT_DATA by default")
    parser.add_argument("--tasks", nargs="+", default=["base-np", "chunking"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 400])
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for task in args.tasks:
        work = fold(task, args.data)
        theta, amplitude = KERNELS[task]
        for size in args.sizes:
            for strategy in ("uniform", "greedy"):
                for seed in range(args.seeds):

                    def choose(*given: Any, _strategy: str = strategy) -> Any:
                        if _strategy == "greedy":
                            return choose_points(*given)
                        X, _, _, n_points, draw = given
                        rng = np.random.default_rng(draw)
                        return np.sort(rng.choice(X.shape[0], n_points, replace=False))

                    model = SGPPSL(
                        labels=work.classes,
                        scheme=work.scheme,
                        theta=theta,
                        amplitude=amplitude,
                        n_inducing=size,
                        random_state=seed,
                    )
                    with mock.patch("tagsift.sgppsl.carriers.choose_points", choose):
                        _, cpu, _ = timed(
                            lambda: model.fit(work.train, work.candidates)  # noqa: B023
                        )
                    row = {
                        "task": task,
                        "points": size,
                        "strategy": strategy,
                        "seed": seed,
                        "bound": round(model.lower_bound_, 1),
                        "fit_cpu_s": round(cpu, 2),
                        **work.scores(model, model.predict(work.test)),
                    }
                    model.decoder = "log"
                    scores = work.scores(model, model.predict(work.test))
                    row["span_f1_log_decoder"] = scores["span_f1"]
                    rows.append(row)
                    print(json.dumps(row), flush=True)
    write("points", {"command": command(), "machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
