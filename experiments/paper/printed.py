"""The numbers that the paper prints: Tables II and III, in percent."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

#: The file beside this one.
PRINTED: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)


def _cells(table: str) -> dict[tuple[str, str, float], float]:
    return {
        (task, row, p): value
        for task, rows in PRINTED[table].items()
        for row, values in rows.items()
        for p, value in zip(PRINTED["p"], values, strict=True)
    }


#: Recovered true labels of ambiguous training tokens: (task, cl, p) → percent.
TABLE_2 = {(task, int(cl), p): x for (task, cl, p), x in _cells("table-2").items()}
#: F1 at cl = 3: (task, decoder, p) → percent. The paper does not say which F1.
TABLE_3 = _cells("table-3")
