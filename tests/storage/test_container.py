"""Files are written whole or not at all; damaged model files are refused."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from tagsift.errors import DataError, InputError, ModelFileError
from tagsift.storage import (
    FORMAT_VERSION,
    add_prefix,
    atomic_write,
    read_container,
    strip_prefix,
    write_container,
)

ARRAYS = {
    "weights": np.arange(6.0).reshape(2, 3),
    "flags": np.array([True, False]),
    "counts": np.array([3, -1], dtype=np.int64),
    "none": np.zeros((0, 4)),
    "scalar": np.array(2.5),
}
META = {"method": "word-counts", "settings": {"C": 0.1, "names": ["a", "é"], "n": None}}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Atomic writing ------------------------------------------------------------------


def test_a_new_file_is_written_with_the_usual_permissions(tmp_path: Path):
    path = tmp_path / "new.txt"
    before = os.umask(0o027)
    try:
        with atomic_write(path) as stream:
            stream.write("é\r\n")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"\xc3\xa9\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names_in(tmp_path) == ["new.txt"]


def test_permissions_of_an_old_file_are_kept(tmp_path: Path):
    path = tmp_path / "old.bin"
    path.write_bytes(b"old")
    path.chmod(0o604)
    with atomic_write(path, "wb") as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("stop"), RuntimeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), DataError),
    ],
    ids=["error", "ctrl-c", "disk full"],
)
@pytest.mark.parametrize("old", [None, "old contents"])
def test_a_stopped_writer_leaves_everything_as_it_was(
    tmp_path: Path,
    raised: BaseException,
    expected: type[BaseException],
    old: str | None,
):
    path = tmp_path / "file.txt"
    if old is not None:
        path.write_text(old)
    with pytest.raises(expected), atomic_write(path) as stream:
        stream.write("half of the ")
        stream.flush()
        raise raised
    assert names_in(tmp_path) == ([] if old is None else ["file.txt"])
    if old is not None:
        assert path.read_text() == old


def test_a_full_disk_is_one_sentence_with_the_file(tmp_path: Path, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "model.tagsift"
    with pytest.raises(DataError) as caught:
        write_container(path, META, ARRAYS)
    assert str(caught.value) == (
        f"{path}: cannot write the file (no space left on device); nothing was left "
        "behind."
    )
    assert names_in(tmp_path) == []


def test_a_failed_replacement_leaves_no_temporary_file(tmp_path: Path, monkeypatch):
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    path = tmp_path / "file.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(DataError, match="operation not permitted"):
        with atomic_write(path) as stream:
            stream.write("new")
    assert names_in(tmp_path) == ["file.txt"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("place", "said"),
    [("", "found a directory"), ("nowhere/file.txt", "no such file or directory")],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, place: str, said: str):
    with pytest.raises(DataError, match=said):
        with atomic_write(tmp_path / place):
            pass
    assert names_in(tmp_path) == []


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch):
    # The root user may write anywhere, so the answer of the system is set by hand.
    path = tmp_path / "file.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match="permission denied"):
        with atomic_write(path) as stream:
            stream.write("new")
    assert path.read_text() == "old"


def test_a_link_is_followed(tmp_path: Path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with atomic_write(link) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with atomic_write(pipe) as stream:
            stream.write("through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names_in(tmp_path) == ["pipe"]


# The container -------------------------------------------------------------------


def test_a_container_comes_back_as_it_was(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    write_container(path, META, ARRAYS)
    meta, arrays = read_container(path)
    assert meta["format"] == FORMAT_VERSION
    assert {name: meta[name] for name in META} == META
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)


def test_transposed_arrays_are_stored_in_the_right_order(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    array = np.arange(6.0).reshape(2, 3).T
    write_container(path, {}, {"a": array})
    np.testing.assert_array_equal(read_container(path)[1]["a"], array)


def test_the_file_is_plain_safetensors(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    write_container(path, META, ARRAYS)
    with safe_open(path, framework="numpy") as file:
        assert json.loads(file.metadata()["tagsift"])["method"] == "word-counts"
        np.testing.assert_array_equal(file.get_tensor("weights"), ARRAYS["weights"])


def rewrite(path: Path, change) -> None:
    """Change the metadata of a container and keep everything else."""
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["tagsift"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    text = change(header)
    save_file(arrays, path, metadata={"tagsift": text or json.dumps(header)})


def refused(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        read_container(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "model.tagsift"
    write_container(path, META, ARRAYS)
    return path


def flipped(path: Path) -> None:
    contents = bytearray(path.read_bytes())
    contents[-1] ^= 1
    path.write_bytes(contents)


def cut(kept: int) -> Any:
    return lambda path: path.write_bytes(path.read_bytes()[:kept])


def of_header(change: Any) -> Any:
    return lambda path: rewrite(path, change)


def of_format(number: Any) -> Any:
    return of_header(lambda header: header.update(format=number))


def replaced(make: Any) -> Any:
    return lambda path: (path.unlink(), make(path))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        *((cut(kept), "not a whole safetensors file") for kept in (0, 4, 100, -1)),
        (lambda path: path.write_text("No model.\n" * 10), "not a whole safetensors"),
        (
            lambda path: path.write_bytes(b"\0" * 7 + b"@" + path.read_bytes()[8:]),
            "not a whole safetensors file",
        ),
        (flipped, "checksum"),
        (of_header(lambda header: header["settings"].update(C=0.2)), "checksum"),
        (of_header(lambda header: "{not JSON"), "metadata is damaged"),
        (of_header(lambda header: "[1, 2]"), "metadata is damaged"),
        (of_header(lambda header: header.pop("sha256") and None), "metadata is dam"),
        (of_format("one"), "metadata is damaged"),
        (of_format(1), "format 1"),
        (of_format(1), "fit and save the model again"),
        (of_format(FORMAT_VERSION + 1), f"format {FORMAT_VERSION + 1}"),
        (of_format(10**300), "newer tagsift"),
        (
            lambda path: save_file({"a": np.zeros(3)}, path),
            "not one that tagsift wrote",
        ),
        (replaced(lambda path: None), "no such model file"),
        (replaced(Path.mkdir), "found a directory"),
        (replaced(os.mkfifo), "found a device"),
    ],
)
def test_a_damaged_model_is_refused(stored: Path, damage: Any, said: str):
    damage(stored)
    message = refused(stored)
    assert said in message
    assert len(message) < 300 + len(str(stored))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": Infinity, "sha256": ""}', "Infinity is no number"),
        ('{"format": NaN, "sha256": ""}', "NaN is no number"),
        ('{"format": 1e400, "sha256": ""}', "names no format"),
        ('{"format": -1, "sha256": ""}', "names no format"),
        ('{"format": true, "sha256": ""}', "names no format"),
        ('{"format": 2, "sha256": 5}', "no checksum"),
        ('{"format": 2, "format": 2, "sha256": ""}', "a key stands twice"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"format": ' + "9" * 10_000 + "}", "metadata is damaged"),
        ('"text"', "it is no table"),
    ],
    ids=lambda text: text[:20],
)
def test_hostile_metadata_is_refused(stored: Path, text: str, said: str):
    rewrite(stored, lambda header: text)
    message = refused(stored)
    assert said in message
    assert len(message) < 500 + len(str(stored))


@pytest.mark.parametrize("kind", ["BF16", "F16", "F8_E4M3"])
def test_other_kinds_of_numbers_are_refused(stored: Path, kind: str):
    with safe_open(stored, framework="numpy") as file:
        texts = file.metadata()
    size = 1 if kind == "F8_E4M3" else 2
    entry = {"dtype": kind, "shape": [2], "data_offsets": [0, 2 * size]}
    header = json.dumps({"__metadata__": texts, "a": entry}).encode()
    stored.write_bytes(len(header).to_bytes(8, "little") + header + bytes(2 * size))
    assert kind in refused(stored)


def test_a_huge_file_is_refused_before_it_is_read(stored: Path, monkeypatch):
    whole = stored.read_bytes()
    with open(stored, "r+b") as stream:
        stream.truncate(10 * 2**30)  # a sparse file: no disk is used
    message = refused(stored)
    assert "10,737,418,240 bytes" in message
    assert "TAGSIFT_MODEL_BYTES" in message
    stored.write_bytes(whole)
    monkeypatch.setenv("TAGSIFT_MODEL_BYTES", "100")
    assert "no more than 100 are read" in refused(stored)
    monkeypatch.setenv("TAGSIFT_MODEL_BYTES", "much")
    with pytest.raises(InputError, match="must be a number of bytes; found 'much'"):
        read_container(stored)


def test_a_model_without_permission_is_refused(stored: Path, monkeypatch):
    # The root user may read anything, so the answer of the system is set by hand.
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("safetensors.safe_open", refuse)
    assert "no permission" in refused(stored)


def test_parts_of_a_file_keep_apart():
    one, other = np.arange(2), np.arange(3)
    file = add_prefix("a/", {"x": one}) | add_prefix("ab/", {"x": other})
    assert list(file) == ["a/x", "ab/x"]
    assert strip_prefix("a/", file)["x"] is one
    assert strip_prefix("c/", file) == {}
