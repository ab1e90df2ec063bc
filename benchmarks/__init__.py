"""Time and memory of tagsift, as ratios in one run; on the runner of `experiments`.

The GPU script may run on a machine that has PyTorch and scikit-learn but not
array-api-compat, of which scikit-learn carries a copy.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

if importlib.util.find_spec("array_api_compat") is None:
    borrowed = "sklearn.externals.array_api_compat"
    for part in ("", ".common", ".numpy", ".torch"):
        try:
            module = importlib.import_module(borrowed + part)
        except ImportError:  # no PyTorch: its part is not needed either
            continue
        sys.modules["array_api_compat" + part] = module
