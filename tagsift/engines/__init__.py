"""Who works on large corpora: this machine, shard by shard, or a Ray cluster.

`LocalEngine` and `Checkpoint` need nothing; `RayEngine` needs Ray, which it imports
when it is used.
"""

from __future__ import annotations

from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.engine import LocalEngine
from tagsift.engines.ray import RayEngine

__all__ = ["Checkpoint", "LocalEngine", "RayEngine"]
