"""Who works on large corpora: this machine, a Ray cluster, or Spark.

`LocalEngine`, `RayEngine` and `Checkpoint` are for fits; `tag_shards` tags folders of
files, `tag_dataset` and `tag_frame` what is in an engine already. Ray and Spark are
imported when they are used.
"""

from __future__ import annotations

from tagsift.chain import Checkpoint, LocalEngine
from tagsift.engines.ray import RayEngine
from tagsift.engines.ray_tagging import RayTagging, tag_dataset
from tagsift.engines.spark_tagging import SparkTagging, tag_frame
from tagsift.engines.tagging import TaggedShards, tag_shards

__all__ = [
    "Checkpoint",
    "LocalEngine",
    "RayEngine",
    "RayTagging",
    "SparkTagging",
    "TaggedShards",
    "tag_dataset",
    "tag_frame",
    "tag_shards",
]
