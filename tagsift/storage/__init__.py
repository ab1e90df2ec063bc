"""Files written whole or not at all, the container of model files, declared state."""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.storage.container import *
from tagsift.storage.files import *
from tagsift.storage.items import *
from tagsift.storage.state import *
