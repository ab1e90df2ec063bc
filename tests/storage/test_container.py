"""Files are written whole or not at all; damaged model files are refused."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

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


def test_a_directory_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="found a directory"):
        with atomic_write(tmp_path):
            pass
    assert names_in(tmp_path) == []


def test_a_missing_folder_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="no such file or directory"):
        with atomic_write(tmp_path / "nowhere" / "file.txt"):
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


def test_long_names_fit(tmp_path: Path):
    path = tmp_path / ("字" * 80)  # 240 bytes of the 255 that a name may have
    with atomic_write(path) as stream:
        stream.write("x")
    assert path.read_text() == "x"


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


def test_integer_keys_do_not_upset_the_checksum(tmp_path: Path):
    path = tmp_path / "model.tagsift"
    write_container(path, {"table": {2: "b", 10: "a"}}, {})
    assert read_container(path)[0]["table"] == {"2": "b", "10": "a"}


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


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_truncated_file_is_refused(stored: Path, kept: int):
    stored.write_bytes(stored.read_bytes()[:kept])
    assert "not a whole safetensors file" in refused(stored)


def test_another_kind_of_file_is_refused(stored: Path):
    stored.write_text("The model is not here.\n" * 10)
    assert "not a whole safetensors file" in refused(stored)


def test_an_altered_array_is_refused(stored: Path):
    contents = bytearray(stored.read_bytes())
    contents[-1] ^= 1
    stored.write_bytes(contents)
    assert "checksum" in refused(stored)


def test_altered_metadata_is_refused(stored: Path):
    rewrite(stored, lambda header: header["settings"].update(C=0.2))
    assert "checksum" in refused(stored)


@pytest.mark.parametrize(
    "change",
    [
        lambda header: "{not JSON",
        lambda header: "[1, 2]",
        lambda header: header.pop("sha256") and None,
        lambda header: header.update(format="one"),
    ],
    ids=["not JSON", "a list", "no checksum", "format in words"],
)
def test_damaged_metadata_is_refused(stored: Path, change):
    rewrite(stored, change)
    assert "metadata is damaged" in refused(stored)


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


def test_a_format_of_a_very_large_number_is_refused(stored: Path):
    rewrite(stored, lambda header: header.update(format=10**300))
    message = refused(stored)
    assert "newer tagsift" in message
    assert len(message) < 300 + len(str(stored))


def test_an_old_format_is_refused_with_what_to_do(stored: Path):
    rewrite(stored, lambda header: header.update(format=1))
    message = refused(stored)
    assert "format 1" in message
    assert "fit and save the model again" in message


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


def test_a_header_longer_than_the_file_is_refused(stored: Path):
    stored.write_bytes((2**62).to_bytes(8, "little") + stored.read_bytes()[8:])
    assert "not a whole safetensors file" in refused(stored)


def test_a_pipe_is_no_model(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    assert "found a device" in refused(tmp_path / "pipe")


def test_a_future_format_is_refused(stored: Path):
    rewrite(stored, lambda header: header.update(format=FORMAT_VERSION + 1))
    message = refused(stored)
    assert f"format {FORMAT_VERSION + 1}" in message
    assert "newer tagsift" in message


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_safetensors_of_others_are_refused(tmp_path: Path, metadata):
    path = tmp_path / "bert.safetensors"
    save_file({"a": np.zeros(3)}, path, metadata=metadata)
    assert "not one that tagsift wrote" in refused(path)


def test_a_directory_is_no_model(tmp_path: Path):
    assert "found a directory" in refused(tmp_path)


def test_a_missing_file_is_no_model(tmp_path: Path):
    assert "no such model file" in refused(tmp_path / "missing.tagsift")


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
