"""The nearest tables that agree, by least squares over a joint table with cells of any sign.

Tables agree exactly if they are the marginals of one such joint table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.reference import dense

Attrs = tuple[int, ...]


def nearest(
    tables: Sequence[tuple[Attrs, np.ndarray]], weights: Mapping[Attrs, float], sizes: Sequence[int]
) -> dict[Attrs, np.ndarray]:
    """Minimise the weighted sum of squared distances over all joint tables."""
    rows = {attrs: dense.marginal_matrix(sizes, attrs) for attrs, _ in tables}
    scaled = [np.sqrt(weights[attrs]) * rows[attrs] for attrs, _ in tables]
    wanted = [np.sqrt(weights[attrs]) * values.ravel() for attrs, values in tables]
    joint = np.linalg.lstsq(np.vstack(scaled), np.concatenate(wanted), rcond=1e-12)[0]
    return {
        attrs: (matrix @ joint).reshape([sizes[i] for i in attrs]) for attrs, matrix in rows.items()
    }
