"""What a figure hangs on: seconds, memory, versions, and the state of the machine."""

from __future__ import annotations

import os
import platform
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_info

import tagsift

#: What `constraints.txt` decides of an environment.
PINNED = ("python", "numpy", "scipy", "scikit-learn")
_PROC = Path("/proc/self")


class Timed(NamedTuple):
    """Elapsed and CPU seconds of some work, and what came out."""

    wall: float
    cpu: float
    result: Any


def timed(work: Callable[[], Any]) -> Timed:
    """Run `work`; on a busy machine its CPU seconds are the steadier figure."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Timed(time.perf_counter() - wall, time.process_time() - cpu, result)


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Measure wall time and, where the system tells it, the peak of the memory."""
    cost: dict[str, float] = {}
    try:
        (_PROC / "clear_refs").write_text("5")  # begin a new peak
        reset = True
    except OSError:
        reset = False
    start, busy = time.perf_counter(), time.process_time()
    try:
        yield cost
    finally:
        cost["total"] = round(time.perf_counter() - start, 3)
        cost["cpu"] = round(time.process_time() - busy, 3)
        if reset:
            cost["peak_mib"] = peak_mib()


def peak_mib() -> float:
    """Return the most memory that this process has held, in MiB; 0 if not known."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", (_PROC / "status").read_text())
    except OSError:
        return 0.0
    return round(int(found[1]) / 1024, 1) if found else 0.0


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop the block after `seconds` with a TimeoutError."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"stopped after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.1))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def versions(*more: str) -> dict[str, str]:
    """Return the versions that figures hang on; of absent packages none."""
    found = {"python": platform.python_version()}
    for name in (*PINNED[1:], *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    names = ("internal_api", "version", "architecture")  # code chosen by the processor
    blas = {" ".join(str(pool.get(x, "")) for x in names) for pool in pools}
    return found | {"blas": ", ".join(sorted(blas)), "tagsift": tagsift.__version__}


def machine(threads: int | None) -> dict[str, Any]:
    """Return cores, threads (None: as the user says) and load: what times hang on."""
    return {
        "cores": os.cpu_count(),
        "threads": str(threads or os.environ.get("OMP_NUM_THREADS", "all")),
        "load": round(os.getloadavg()[0], 1),
    }
