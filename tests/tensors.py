"""PyTorch where the set-up installs it, and what tests do where it does not."""

from __future__ import annotations

import pytest

try:
    import torch
except ImportError:  # Python 3.12 and 3.13
    torch = None

needs_torch = pytest.mark.skipif(
    torch is None, reason="tensors need torch, which is set up on Python 3.11 alone"
)


def tensor(x):
    """An array as a tensor; a test that calls it is skipped without PyTorch."""
    if torch is None:
        pytest.skip(needs_torch.kwargs["reason"])
    return torch.as_tensor(x)
