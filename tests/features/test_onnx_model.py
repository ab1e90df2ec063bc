from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from tagsift.errors import DataError, MissingExtraError
from tagsift.features import ContextualEncoder
from tagsift.features.onnx_model import OnnxModel

pytest.importorskip("onnxruntime", reason="the extra 'encoder' is absent")
pytest.importorskip("tokenizers", reason="the extra 'encoder' is absent")

WIDTH = 4
EMBEDDINGS = np.random.default_rng(0).normal(size=(60, WIDTH)).astype(np.float32)
MIX = np.random.default_rng(1).normal(size=(WIDTH, WIDTH)).astype(np.float32)


# A few lines of protocol buffers, enough to write an ONNX graph by hand.


def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(place, value):
    if isinstance(value, int):
        return number(place << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(value)) + value


def tensor(name, array):
    dims = b"".join(field(1, size) for size in array.shape)
    return dims + field(2, 1) + field(8, name) + field(9, array.tobytes())


def value(name, kind, *axes):
    dims = b"".join(
        field(1, field(1, a) if isinstance(a, int) else field(2, a)) for a in axes
    )
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def node(op, inputs, output):
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, op)


def write_onnx(path, outputs, extra_input=None):
    """Embeddings as layer 0, a matrix product as layer 1, the last."""
    inputs = ["input_ids", "attention_mask", *([extra_input] if extra_input else [])]
    last = outputs[-1]
    graph = (
        field(1, node("Gather", ["E", "input_ids"], "hidden_states.0"))
        + field(1, node("MatMul", ["hidden_states.0", "W"], last))
        + field(2, "tiny")
        + field(5, tensor("E", EMBEDDINGS))
        + field(5, tensor("W", MIX))
        + b"".join(field(11, value(name, 7, "b", "t")) for name in inputs)
        + b"".join(field(12, value(name, 1, "b", "t", WIDTH)) for name in outputs)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)))
    return path


IDS = np.array([[2, 5, 9], [7, 7, 3]])


def test_layers(tmp_path):
    path = write_onnx(tmp_path / "m.onnx", ["hidden_states.0", "last_hidden_state"])
    first = OnnxModel(path, 0, 1).hidden_state(IDS)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, EMBEDDINGS[IDS])
    last = OnnxModel(path, 1, 1).hidden_state(IDS)
    np.testing.assert_allclose(last, EMBEDDINGS[IDS] @ MIX, rtol=1e-5)


def test_last_layer_under_any_name(tmp_path):
    path = write_onnx(tmp_path / "m.onnx", ["output_0"])
    last = OnnxModel(path, 6, 6).hidden_state(IDS)
    np.testing.assert_allclose(last, EMBEDDINGS[IDS] @ MIX, rtol=1e-5)
    with pytest.raises(DataError, match=r"no output 'hidden_states\.4' .* layer=-1"):
        OnnxModel(path, 4, 6)


def test_refused(tmp_path, monkeypatch):
    path = write_onnx(tmp_path / "m.onnx", ["last_hidden_state"], "pixels")
    with pytest.raises(DataError, match="inputs that are not known: pixels"):
        OnnxModel(path, 1, 1)
    path.write_bytes(b"no model")
    with pytest.raises(DataError, match="not a usable ONNX model"):
        OnnxModel(path, 1, 1)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[encoder\]'"):
        OnnxModel(path, 1, 1)


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_folder_with_onnx(tiny_bert, place):
    (tiny_bert / "model.safetensors").unlink()
    config = json.loads((tiny_bert / "config.json").read_text())
    config |= {"hidden_size": WIDTH, "num_hidden_layers": 1}
    (tiny_bert / "config.json").write_text(json.dumps(config))
    write_onnx(tiny_bert / place, ["hidden_states.0", "last_hidden_state"])
    vocabulary = (tiny_bert / "vocab.txt").read_text().split()
    found = ContextualEncoder(tiny_bert, layer=0).encode([["the", "cuts"], ["x"]])
    row = {piece: EMBEDDINGS[k] for k, piece in enumerate(vocabulary[:60])}
    expected = [row["the"], (row["cut"] + row["##s"]) / 2, row["x"]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
