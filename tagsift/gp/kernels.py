"""The RBF kernel, one per label: Equation (4), σ_y² exp(−θ_y |x_i − x_j|²).

The paper fixes the amplitude σ_y² at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tagsift.backend import namespace
from tagsift.storage.state import Saved, array
from tagsift.typing import Array, FloatArray

__all__ = ["RBF"]


@dataclass(frozen=True)
class RBF:
    """Equation (4) for every label: inverse widths and amplitudes."""

    theta: FloatArray  # [L]
    amplitude: FloatArray  # [L], prior variance σ² of the latent values

    saved: ClassVar[Saved] = {
        "theta": array("L", least=0),
        "amplitude": array("L", least=0),
    }

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return len(self.amplitude)

    def unit_gram(self, distances: Array, label: int) -> Array:
        """Correlations exp(−θd) of one label, in the shape of the distances."""
        theta = float(self.theta[label])
        return namespace(distances).exp(-theta * distances)  # [A, B]

    def gram(self, distances: Array, label: int) -> Array:
        """Covariances of one label: Equation (4) times the amplitude."""
        return float(self.amplitude[label]) * self.unit_gram(distances, label)
