"""Many cases in a process of their own, which is started again after a crash."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

#: A case may take this many seconds of a core (on a busy machine thirty times as many
#: by the clock), and this many bytes more than an idle process.
SECONDS, PATIENCE = 20.0, 30
MEMORY = 2 * 1024**3


@dataclass(frozen=True)
class Finding:
    """A case that ended as none may, and how."""

    number: int
    kind: str
    how: str


def kind_of(seed: int, number: int) -> str:
    """Which kind a case is of."""
    from tests.fuzz.kinds import KINDS

    names = [name for name, (_, weight) in KINDS.items() for _ in range(weight)]
    return random.Random(f"{seed}/{number}").choice(names)


def run_case(seed: int, number: int, folder: Path, kind: str | None = None) -> None:
    """Run one case in this process; it raises where the case fails."""
    from tests.fuzz.dice import Dice
    from tests.fuzz.kinds import KINDS

    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with contextlib.chdir(place):
        KINDS[kind or kind_of(seed, number)][0](Dice(f"{seed}/{number}/case"), place)


def run_cases(
    seed: int, numbers: range, kind: str | None = None
) -> Iterator[Finding | None]:
    """Run cases one after the other; yield what each has found."""
    with tempfile.TemporaryDirectory() as name:
        worker: _Worker | None = None
        for number in numbers:
            worker = worker or _Worker(Path(name))
            how = worker.run(seed, number, kind)
            yield (
                None
                if how is None
                else Finding(number, kind or kind_of(seed, number), how)
            )
            if not worker.alive:
                worker = None
        if worker is not None:
            worker.stop()


class _Worker:
    """The other end of a process that runs cases."""

    def __init__(self, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, folder))
        self._process.start()
        theirs.close()
        self._line.recv()  # it has imported what it needs

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def run(self, seed: int, number: int, kind: str | None) -> str | None:
        """Run a case; say what went wrong, if anything did."""
        before = self._seconds()
        self._line.send((seed, number, kind))
        for _ in range(PATIENCE):
            if self._line.poll(SECONDS):
                break
            if self._seconds() - before >= SECONDS:
                self.stop()
                return f"more than {SECONDS:.0f} s"
        else:
            self.stop()
            return f"more than {PATIENCE * SECONDS:.0f} s by the clock"
        try:
            found: str | None = self._line.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode or 0
            return (
                f"killed by {signal.Signals(-code).name}"
                if code < 0
                else f"exit {code}"
            )
        return found

    def _seconds(self) -> float:
        """Seconds of a core that the process has used."""
        status = Path(f"/proc/{self._process.pid}/stat").read_text()
        ticks = status.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(line: Connection, folder: Path) -> None:
    """Run the cases that come down the line."""
    os.environ.pop("TAGSIFT_TRACEBACK", None)
    os.environ["COLUMNS"] = "120"
    import tests.fuzz.kinds  # noqa: F401  (before the memory is limited)

    for package in ("pyarrow.parquet", "spacy"):  # with PyTorch it maps gigabytes
        with contextlib.suppress(ImportError):
            import_module(package)
    limit = _address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("error", RuntimeWarning)
    line.send("ready")
    while True:
        try:
            seed, number, kind = line.recv()
        except EOFError:
            return
        try:
            run_case(seed, number, folder, kind)
        except KeyboardInterrupt:
            return
        except BaseException:
            line.send(traceback.format_exc(limit=-6))
        else:
            line.send(None)


def _address_space() -> int:
    """Bytes of addresses that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")
