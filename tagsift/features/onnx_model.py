"""Encoders exported to ONNX, run by onnxruntime."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from tagsift.errors import DataError, MissingExtraError
from tagsift.typing import Float32Array, IntArray

__all__ = ["OnnxModel"]

_HIDDEN = re.compile(r"hidden_states?[._]?([0-9]+)")


class OnnxModel:
    """An ONNX model whose outputs are hidden states.

    The last layer is the output ``last_hidden_state`` (or the first output), the others
    must be outputs called ``hidden_states.<k>``, 0 for the embeddings.
    """

    def __init__(self, path: Path, layer: int, n_layers: int) -> None:
        onnxruntime = MissingExtraError.imported(
            "onnxruntime", extra="encoder", what="an ONNX encoder"
        )
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        threads = os.environ.get("OMP_NUM_THREADS", "")
        if threads.isdigit():
            options.intra_op_num_threads = int(threads)
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has no common base for its errors
            reason = str(error).strip().splitlines()[0]
            raise DataError(f"not a usable ONNX model ({reason}).", path) from error
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        unknown = set(self._inputs) - set(_feed(np.zeros((1, 1), dtype=np.int64)))
        if unknown:
            names = ", ".join(sorted(unknown))
            message = f"the ONNX model wants inputs that are not known: {names}."
            raise DataError(message, path)
        outputs = [entry.name for entry in self._session.get_outputs()]
        self._output = _find_output(outputs, layer, n_layers, path)

    def hidden_state(self, ids: IntArray) -> Float32Array:
        """Hidden state of the layer, [B, T, D], from word pieces [B, T]."""
        feed = _feed(ids)
        wanted = {name: feed[name] for name in self._inputs}
        (state,) = self._session.run([self._output], wanted)  # [B, T, D]
        return np.asarray(state, dtype=np.float32)


def _feed(ids: IntArray) -> dict[str, Any]:
    """Everything a BERT export may ask for."""
    return {
        "input_ids": ids,  # [B, T]
        "attention_mask": np.ones_like(ids),  # [B, T]
        "token_type_ids": np.zeros_like(ids),  # [B, T]
        "position_ids": np.tile(np.arange(ids.shape[1]), (len(ids), 1)),  # [B, T]
    }


def _find_output(outputs: list[str], layer: int, n_layers: int, path: Path) -> str:
    for name in outputs:
        match = _HIDDEN.fullmatch(name)
        if match and int(match[1]) == layer:
            return name
    if layer == n_layers:
        return "last_hidden_state" if "last_hidden_state" in outputs else outputs[0]
    raise DataError(
        f"the ONNX model has no output 'hidden_states.{layer}' (it has "
        f"{', '.join(outputs)}); choose layer=-1, or export it with its hidden states.",
        path,
    )
