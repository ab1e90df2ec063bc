"""A tiny random BERT model, written as a folder."""

from __future__ import annotations

import json
import string

import numpy as np
import pytest
from safetensors.numpy import save_file

SIZES = {
    "model_type": "bert",
    "hidden_size": 16,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-6,
    "hidden_act": "gelu",
}
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cut", "##s", "##ting"),
    *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase if letter != "s"),
]


def random_weights(config=SIZES, seed=0, prefix=""):
    """Weights of the right shapes, large enough that mistakes show."""
    rng = np.random.default_rng(seed)
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), width),
        "embeddings.position_embeddings.weight": (
            config["max_position_embeddings"],
            width,
        ),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
        "pooler.dense.weight": (width, width),
    }
    for k in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{k}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{at}attention.{part}.weight"] = (width, width)
            shapes[f"{at}attention.{part}.bias"] = (width,)
        shapes[f"{at}intermediate.dense.weight"] = (inner, width)
        shapes[f"{at}intermediate.dense.bias"] = (inner,)
        shapes[f"{at}output.dense.weight"] = (width, inner)
        shapes[f"{at}output.dense.bias"] = (width,)
        for part in ("attention.output", "output"):
            shapes[f"{at}{part}.LayerNorm.weight"] = (width,)
            shapes[f"{at}{part}.LayerNorm.bias"] = (width,)
    return {
        prefix + name: rng.normal(scale=0.5, size=shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def write_folder(folder, config=SIZES, weights=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    save_file(
        random_weights(config) if weights is None else weights,
        folder / "model.safetensors",
    )
    return folder


@pytest.fixture
def make_bert(tmp_path):
    """Return a function that writes a folder: make_bert(name, config, weights)."""

    def make(name="bert", config=None, weights=None):
        return write_folder(tmp_path / name, {**SIZES, **(config or {})}, weights)

    return make


@pytest.fixture
def tiny_bert(make_bert):
    return make_bert()


@pytest.fixture
def weights_of():
    return random_weights


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Keep the user's cache out of the tests."""
    monkeypatch.setenv("TAGSIFT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
