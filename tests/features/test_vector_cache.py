from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tagsift.errors import TagsiftWarning
from tagsift.features import clear_cache
from tagsift.features.vector_cache import VectorCache, cache_folder

A = np.arange(6, dtype=np.float32).reshape(3, 2)
B = np.ones((1, 2), dtype=np.float32)


def test_written_and_read_again(tmp_path):
    cache = VectorCache(tmp_path / "deep" / "cache")
    assert cache.read([b"a"]) == {}
    cache.write({b"a": A, b"b": B})
    cache.write({b"b": B * 2})
    cache.write({})
    found = VectorCache(tmp_path / "deep" / "cache").read([b"a", b"c", b"b", b"a"])
    assert list(found) == [b"a", b"b"]
    np.testing.assert_array_equal(found[b"a"], A)
    np.testing.assert_array_equal(found[b"b"], B * 2)


def test_cleared(own_cache, tmp_path):
    assert clear_cache() == 0
    VectorCache(own_cache).write({b"a": A})
    VectorCache(tmp_path / "other").write({b"a": A})
    assert clear_cache() > 0
    assert VectorCache(own_cache).read([b"a"]) == {}
    assert list(VectorCache(tmp_path / "other").read([b"a"])) == [b"a"]
    assert clear_cache(tmp_path / "other") > 0


def test_damaged_file_is_done_without(tmp_path):
    (tmp_path / "vectors.sqlite3").write_bytes(b"not a database at all, this is")
    cache = VectorCache(tmp_path)
    with pytest.warns(TagsiftWarning, match="cannot read the cache .* without it"):
        assert cache.read([b"a"]) == {}
    assert cache.folder is None
    with pytest.warns(TagsiftWarning, match="cannot write the cache"):
        VectorCache(tmp_path).write({b"a": A})


def test_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(TagsiftWarning, match="cannot write the cache"):
        VectorCache(tmp_path / "file" / "x").write({b"a": A})


def test_where(monkeypatch, tmp_path, own_cache):
    assert cache_folder("here") == Path("here")
    assert cache_folder() == own_cache
    monkeypatch.delenv("TAGSIFT_CACHE")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "tagsift"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "tagsift"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "tagsift"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert cache_folder() == tmp_path / "AppData" / "Local" / "tagsift" / "Cache"
