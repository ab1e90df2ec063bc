"""The forward pass of BERT in NumPy, up to the layer that is wanted.

Weights come from a folder with ``config.json`` and ``model.safetensors``. Sentences of
a batch have one length, so there is no padding and no mask, and what a sentence gets
does not depend on its company.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.special import erf

from tagsift.errors import DataError
from tagsift.typing import Float32Array, IntArray

__all__ = ["Bert", "BertConfig", "FAMILIES", "Weights"]

#: Families that number positions from ``pad_token_id + 1``.
_ROBERTA = ("roberta", "xlm-roberta", "camembert")
#: Families whose weights this file reads.
FAMILIES = ("bert", *_ROBERTA)
#: DistilBERT's own names of sizes.
_DISTILBERT = {
    "dim": "hidden_size",
    "n_heads": "num_attention_heads",
    "n_layers": "num_hidden_layers",
}
#: Types of weights, as safetensors calls them; the halves of BF16 are put in place.
_DTYPES: dict[str, Any] = {
    "BF16": np.uint16,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
}

Weights: TypeAlias = Mapping[str, Float32Array]


@dataclass(frozen=True)
class BertConfig:
    """The sizes in ``config.json``."""

    model_type: str  # the family
    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    max_length: int  # most word pieces of one input, special ones included
    position_offset: int  # number of the first position
    layer_norm_eps: float  # added to variances
    hidden_act: str  # activation of the inner layer

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        path = folder / "config.json"
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            family = str(raw.get("model_type", "bert"))
            offset = int(raw.get("pad_token_id", 1)) + 1 if family in _ROBERTA else 0
            raw |= {usual: raw[own] for own, usual in _DISTILBERT.items() if own in raw}
            return cls(
                model_type=family,
                hidden_size=int(raw["hidden_size"]),
                num_attention_heads=int(raw["num_attention_heads"]),
                num_hidden_layers=int(raw["num_hidden_layers"]),
                max_length=int(raw.get("max_position_embeddings", 512)) - offset,
                position_offset=offset,
                layer_norm_eps=float(raw.get("layer_norm_eps", 1e-12)),
                hidden_act=str(raw.get("hidden_act", "gelu")),
            )
        except OSError as error:
            message = "an encoder folder needs a readable config.json."
            raise DataError(message, path) from error
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            message = f"not the configuration of a BERT model ({error!r})."
            raise DataError(message, path) from error


class Bert:
    """The first layers of a BERT model; with `layer` 0, only the embeddings.

    Weights go by the names of the checkpoint, without the leading ``bert.``.
    """

    def __init__(self, config: BertConfig, weights: Weights, layer: int) -> None:
        self.config = config
        self._words = weights["embeddings.word_embeddings.weight"]  # [V, D]
        self._places = weights["embeddings.position_embeddings.weight"]  # [P, D]
        self._type = weights["embeddings.token_type_embeddings.weight"][0]  # [D]
        self._norm = _pair(weights, "embeddings.LayerNorm")
        prefixes = [f"encoder.layer.{k}." for k in range(layer)]
        self._layers = [_Layer(config, weights, prefix) for prefix in prefixes]

    @classmethod
    def from_folder(cls, folder: Path, layer: int) -> Self:
        config = BertConfig.from_folder(folder)
        path = folder / "model.safetensors"
        if config.model_type not in FAMILIES or config.hidden_act not in _ACTIVATIONS:
            raise DataError(
                f"weights of a {config.model_type!r} model with activation "
                f"{config.hidden_act!r}; expected one of {', '.join(FAMILIES)} with "
                f"{', '.join(_ACTIVATIONS)}. Export the model to ONNX (model.onnx).",
                path,
            )
        weights = _read_weights(path, layer)
        try:
            return cls(config, weights, layer)
        except (KeyError, ValueError) as error:
            message = f"the weights do not fit a BERT of this config.json ({error})."
            raise DataError(message, path) from error

    def hidden_state(self, ids: IntArray) -> Float32Array:
        """Hidden state after the last layer held, [B, T, D], of word pieces [B, T]."""
        first = self.config.position_offset
        places = self._places[first : first + ids.shape[1]]  # [T, D]
        x = self._words[ids] + places + self._type  # [B, T, D]
        x = _normalise(x, self._norm, self.config.layer_norm_eps)  # [B, T, D]
        for layer in self._layers:
            x = layer(x)  # [B, T, D]
        return x


class _Layer:
    """Self-attention and the inner layer, each with its residual and layer norm."""

    def __init__(self, config: BertConfig, weights: Weights, prefix: str) -> None:
        self._heads = config.num_attention_heads
        self._eps = config.layer_norm_eps
        self._activation = _ACTIVATIONS[config.hidden_act]
        names = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
        W, b = zip(*(_dense(weights, name) for name in names), strict=True)
        self._qkv = np.concatenate(W, axis=1), np.concatenate(b)  # [D, 3D], [3D]
        self._mix = _dense(weights, f"{prefix}attention.output.dense")
        self._mix_norm = _pair(weights, f"{prefix}attention.output.LayerNorm")
        self._up = _dense(weights, f"{prefix}intermediate.dense")
        self._down = _dense(weights, f"{prefix}output.dense")
        self._down_norm = _pair(weights, f"{prefix}output.LayerNorm")

    def __call__(self, x: Float32Array) -> Float32Array:
        n_sentences, n_pieces, width = x.shape
        size = width // self._heads
        qkv = _affine(x, self._qkv)  # [B, T, 3D]
        qkv = qkv.reshape(n_sentences, n_pieces, 3, self._heads, size)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)  # each [B, H, T, D/H]
        scores = q @ k.swapaxes(-1, -2) * np.float32(1 / sqrt(size))  # [B, H, T, T]
        scores -= scores.max(axis=-1, keepdims=True)  # [B, H, T, T]
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)  # [B, H, T, T]
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(x.shape)  # [B, T, D]
        x = _normalise(x + _affine(mixed, self._mix), self._mix_norm, self._eps)
        inner = self._activation(_affine(x, self._up))  # [B, T, inner]
        return _normalise(x + _affine(inner, self._down), self._down_norm, self._eps)


def _affine(x: Float32Array, dense: tuple[Float32Array, Float32Array]) -> Float32Array:
    weight, bias = dense
    flat = x.reshape(-1, x.shape[-1]) @ weight  # [B·T, out]
    flat += bias
    return flat.reshape(*x.shape[:-1], weight.shape[1])  # [B, T, out]


def _normalise(
    x: Float32Array, norm: tuple[Float32Array, Float32Array], eps: float
) -> Float32Array:
    """Layer norm over the last axis."""
    gain, shift = norm
    x = x - x.mean(axis=-1, keepdims=True)  # [B, T, D]
    x /= np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + np.float32(eps))
    x *= gain
    x += shift
    return x


def _gelu(x: Float32Array) -> Float32Array:
    y = erf(x * np.float32(1 / sqrt(2)))  # [B, T, inner]
    y += 1
    y *= x
    y *= np.float32(0.5)
    return np.asarray(y, dtype=np.float32)


def _gelu_tanh(x: Float32Array) -> Float32Array:
    inner = np.float32(sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3)
    y = np.float32(0.5) * x * (1 + np.tanh(inner))  # [B, T, inner]
    return np.asarray(y, dtype=np.float32)


_ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": partial(np.maximum, np.float32(0)),
}


def _dense(weights: Weights, name: str) -> tuple[Float32Array, Float32Array]:
    """Weight as [in, out] and bias of a dense layer."""
    return np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]


def _pair(weights: Weights, name: str) -> tuple[Float32Array, Float32Array]:
    """Gain and shift of a layer norm, under their new or old names."""
    old = f"{name}.gamma" in weights
    gain, shift = ("gamma", "beta") if old else ("weight", "bias")
    return weights[f"{name}.{gain}"], weights[f"{name}.{shift}"]


def _read_weights(path: Path, layer: int) -> dict[str, Float32Array]:
    """Read the tensors of the embeddings and of the first layers."""
    from safetensors import SafetensorError, deserialize

    try:
        tensors: Any = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]
    except OSError as error:
        raise DataError("cannot read the weights of the encoder.", path) from error
    except SafetensorError as error:
        raise DataError(f"not a whole safetensors file ({error}).", path) from error
    weights = {}
    for name, tensor in tensors:
        name = name.removeprefix("bert.").removeprefix("roberta.")
        start, *place = name.removeprefix("encoder.layer.").split(".")
        wanted = start == "embeddings" or (start.isdigit() and int(start) < layer)
        if wanted and place and tensor["dtype"] in _DTYPES:
            flat = np.frombuffer(tensor["data"], dtype=_DTYPES[tensor["dtype"]])
            if tensor["dtype"] == "BF16":
                flat = (flat.astype(np.uint32) << 16).view(np.float32)
            weights[name] = flat.astype(np.float32).reshape(tensor["shape"])
    return weights
