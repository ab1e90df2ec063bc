"""The versions that driver and workers must share."""

from __future__ import annotations

import platform
from collections.abc import Mapping

import numpy as np
import scipy

from tagsift._version import __version__
from tagsift.errors import InputError

__all__ = ["check_versions", "versions"]


def versions() -> dict[str, str]:
    return {
        "tagsift": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    }


def check_versions(driver: Mapping[str, str], worker: Mapping[str, str]) -> None:
    """Refuse a worker that runs on other versions than its driver."""
    for name, version in driver.items():
        if worker.get(name) != version:
            raise InputError(
                f"a worker has {name} {worker.get(name)}, the driver {version}; "
                "install the same versions on all machines."
            )
