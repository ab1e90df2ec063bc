"""Clocks for work on a device, which goes on after a call has returned."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest import mock


class Clock:
    """The device's own end of work, and the time that is left."""

    def __init__(self, device: str, seconds: float) -> None:
        import torch

        self.cuda = device == "cuda"
        self.target = torch.device("cuda" if self.cuda else "cpu")
        self.end = time.perf_counter() + seconds
        self.torch = torch

    def now(self) -> float:
        if self.cuda:
            self.torch.cuda.synchronize()
        return time.perf_counter()

    def left(self) -> float:
        return self.end - time.perf_counter()

    def facts(self) -> dict[str, Any]:
        """Name the GPU."""
        if not self.cuda:
            return {}
        name = self.torch.cuda.get_device_name()
        return {"gpu": name, "cuda": self.torch.version.cuda}

    def forget_peak(self) -> None:
        """Begin to measure the memory of the GPU anew."""
        if self.cuda:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def peak(self) -> dict[str, float]:
        """Most memory of the GPU that was held since."""
        if not self.cuda:
            return {}
        return {"gpu_gib": round(self.torch.cuda.max_memory_allocated() / 2**30, 2)}

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Stop the block after `seconds` with a TimeoutError."""

        def stop(*_: Any) -> None:
            raise TimeoutError

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.1))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)

    @contextmanager
    def pretend(self, module: ModuleType) -> Iterator[None]:
        """Let ``device="cuda"`` mean PyTorch on the CPU where there is no GPU."""
        if self.cuda:
            yield
            return

        def use_device(name: str) -> Any:
            return name if name == "cpu" else self.target

        with mock.patch.object(module, "use_device", use_device):
            yield


class Parts:
    """Seconds and calls of the dear parts of a fit."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            begin = self.clock.now()
            result = function(*args, **kwargs)
            spent = self.clock.now() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
            self.calls[name] = self.calls.get(name, 0) + 1
            return result

        return wrapped

    @contextmanager
    def watch(self, *parts: tuple[Any, str, str]) -> Iterator[None]:
        """Time attributes of classes or modules: (owner, attribute, title)."""
        with ExitStack() as stack:
            for owner, attribute, title in parts:
                wrapped = self.around(title, getattr(owner, attribute))
                stack.enter_context(mock.patch.object(owner, attribute, wrapped))
            yield

    def facts(self) -> dict[str, Any]:
        return {
            name: {"calls": self.calls[name], "seconds": round(seconds, 3)}
            for name, seconds in self.seconds.items()
        }


def say(kind: str, **facts: Any) -> None:
    print(json.dumps({"kind": kind, **facts}), flush=True)
