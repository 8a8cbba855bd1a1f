"""The numbers behind the Learn page's figures: every one comes from a call to the engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import engine
from engine import axes
from engine.completing.projection import clip_table
from engine.demonstrating.pouring import Step, pour
from engine.domain import subsets
from engine.noise import probabilities
from engine.showing.badges import PUBLIC, RELEASED
from engine.showing.framed import framed
from engine.showing.learning import Stage
from engine.types import AttributeSet, FloatArray
from pages.parts.visit import session, study

SIZES = {"2 × 3": (2, 3), "4 × 3 × 2": (4, 3, 2)}
"""Shapes for water filling."""


# -- one marginal, taken apart ---------------------------------------------------------------------


def taken_apart(mu: FloatArray, tau: AttributeSet) -> list[Stage]:
    """From a 2 × 3 marginal to one residual, one axis at a time: sum, or sub."""
    steps = [Stage("the table", mu)]
    array = mu
    for axis in (1, 0):
        name = "sub" if axis in tau else "sum"
        array = axes.sub(array, axis) if axis in tau else axes.sum(array, axis)
        along = "→" if axis else "↓"
        steps.append(Stage("", array, f"{name}\n{along}"))
    steps[-1] = Stage("residual", array, steps[-1].before)
    return steps


def put_back(zeta: FloatArray, tau: AttributeSet, shape: tuple[int, int] = (2, 3)) -> list[Stage]:
    """From a residual to its part of the marginal, one axis at a time: center, or smear."""
    array: FloatArray = zeta.reshape([n - 1 if i in tau else 1 for i, n in enumerate(shape)])
    steps = [Stage("residual", array)]
    for axis in (0, 1):
        name = "center" if axis in tau else "smear"
        array = axes.center(array, axis) if axis in tau else axes.smear(array, axis, shape[axis])
        steps.append(Stage("", np.asarray(array), f"{name}\n{'→' if axis else '↓'}"))
    steps[-1] = Stage("its part", np.asarray(array), steps[-1].before)
    return steps


def parts(mu: FloatArray) -> dict[AttributeSet, FloatArray]:
    """The part of a 2 × 3 marginal that each residual carries; together they are the marginal."""
    return {
        tau: engine.reconstruct(engine.decompose(mu, (0, 1), tau), tau, (0, 1), mu.shape)
        for tau in subsets((0, 1))
    }


# -- noise -----------------------------------------------------------------------------------------


def structure(n: int) -> FloatArray:
    """V of one attribute with n values: S Sᵀ = I + 11ᵀ, made by ``sub`` along both axes."""
    matrix: FloatArray = axes.sub(axes.sub(np.eye(n), 0), 1)
    return matrix


def residual_noise(n: int, sigma: float, *, draws: int = 400, seed: int = 0) -> FloatArray:
    """Residuals of tables that are noise only: (draws, n - 1)."""
    noise = engine.rehearsal_noise(seed).gaussian((draws, n), variance=sigma**2)
    return np.array([engine.decompose(row, (0,), (0,)) for row in noise])


# -- water filling ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Water:
    """A round's plan as water.

    Args:
        frame: One row a residual: label, width, bottom, top, known, added, share, isotropic.
        level: Height of the water.
        before: Variance of a cell before the round; infinite if something was never measured.
        after: Its variance after it.
        after_isotropic: The same if the marginal were measured with equal noise.
        steps: Levels as vessels are omitted, one after the other.
    """

    frame: pd.DataFrame
    level: float
    before: float
    after: float
    after_isotropic: float
    steps: tuple[Step, ...] = ()


def water(sizes: tuple[int, ...], known: Mapping[AttributeSet, float], budget: float) -> Water:
    """Plan a round by ``engine.plan`` and say where the water stands."""
    gamma = tuple(range(len(sizes)))
    taus = subsets(gamma)
    inside = [[sizes[i] for i in tau] for tau in taus]
    outside = [[sizes[i] for i in gamma if i not in tau] for tau in taus]
    cost = np.array([float(engine.privacy_cost(s)) for s in inside])
    gain = np.array([engine.cell_variance(*s) for s in zip(inside, outside, strict=True)])
    before = np.array([known.get(tau, 0.0) for tau in taus])
    added = engine.plan(cost, gain, before, budget=budget)
    ratio = np.sqrt(gain / cost)
    isotropic = np.array([budget / math.prod(s) for s in outside])
    frame = framed(
        {
            "label": [name_of(tau) for tau in taus], "width": cost * ratio,
            "bottom": before / ratio, "top": (before + added) / ratio, "known": before,
            "added": added, "share": cost * added / budget, "isotropic": isotropic,
        },
        PUBLIC,
    )  # fmt: skip
    level = float(frame.loc[frame["added"] > 0, "top"].max())
    widths, floors = ([Fraction(v) for v in part] for part in (cost * ratio, before / ratio))
    return Water(
        frame, level, _variance(gain, before), _variance(gain, before + added),
        _variance(gain, before + isotropic),
        pour(widths, floors, Fraction(budget)).steps,
    )  # fmt: skip


def _variance(gain: FloatArray, precision: FloatArray) -> float:
    return float(np.sum(gain / precision)) if (precision > 0).all() else math.inf


def name_of(tau: AttributeSet) -> str:
    """A residual's name on this page: letters, or the total."""
    return "".join("ABCD"[i] for i in tau) or "total"


# -- choosing --------------------------------------------------------------------------------------


def chances(scores: Mapping[str, float], epsilon: float, sensitivity: float = 1.0) -> pd.DataFrame:
    """What the exponential mechanism does with these scores."""
    values = np.array(list(scores.values()), dtype=float)
    return framed(
        {
            "label": list(scores),
            "score": values,
            "probability": probabilities(epsilon * values / (2 * sensitivity)),
        },
        PUBLIC,
    )


# -- below zero ------------------------------------------------------------------------------------


def noisy_counts(
    counts: Mapping[str, int], sigma: float, *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One noisy draw beside the truth, and the sums of 400 draws: as they are, and cut at zero."""
    true = np.array(list(counts.values()), dtype=float)
    rng = engine.rehearsal_noise(seed)
    draws = true + rng.gaussian((400, len(true)), variance=sigma**2)
    one = framed(
        {"label": list(counts), "true": true, "noisy": draws[0], "clipped": draws[0].clip(min=0)},
        PUBLIC,
    )
    sums = framed(
        {
            "sum": np.concatenate([draws.sum(axis=1), draws.clip(min=0).sum(axis=1)]),
            "how": ["as measured"] * 400 + ["cut off at zero"] * 400,
        },
        PUBLIC,
    )
    return one, sums


def rescaled(noisy: FloatArray) -> FloatArray:
    """``engine.clip`` on plain numbers: cut at zero, then scaled back to the noisy total."""
    return clip_table(noisy)


# -- a recorded run --------------------------------------------------------------------------------


@st.cache_resource(show_spinner="Making a run to look at…", max_entries=24)
def recorded(sample: str = "titanic", epsilon: float = 1.0, seed: int = 7) -> session.Watched:
    """A finished run on a table that comes with the explorer, the same for everybody."""
    run = session.begin(_settings(sample, epsilon, seed))
    while not run.finished:
        run = run.stepped()
    return run


def _settings(sample: str, epsilon: float, seed: int) -> study.Settings:
    return replace(study.usual(sample), epsilon=epsilon, seed=seed)


def lazy_work(run: session.Watched) -> pd.DataFrame:
    """Cells each round rewrote, and those of a full update."""
    total = run.workload.layout.total_cells
    done = [m.event for m in run.moments if isinstance(m.event, engine.RoundEnded)]
    return framed(
        {"round": [e.round for e in done], "lazy": [e.work.cells for e in done], "full": total},
        RELEASED,
    )


def annealing(run: session.Watched) -> pd.DataFrame:
    """How far each round moved its answer, what noise moves it, and the round's noise."""
    done = [m.event for m in run.moments if isinstance(m.event, engine.RoundEnded)]
    return framed(
        [
            {
                "round": e.round, "change": e.change, "threshold": e.threshold,
                "annealed": e.annealed, "last": e.last, "sigma": math.sqrt(1 / (2 * e.rho_measure)),
                "rho": float(e.rho_measure + e.rho_select),
            }
            for e in done
        ],
        RELEASED,
    )  # fmt: skip


def holders(attributes: int, degree: int, tau: Sequence[int]) -> pd.DataFrame:
    """All tables over so many attributes, and whether each holds the residual over tau."""
    domain = engine.Domain.from_sizes({f"A{i + 1}": 2 for i in range(attributes)})
    workload = engine.Workload.all_kway(domain, degree)
    touched = set(workload.layout.containing(tuple(tau)).tolist())
    rows: list[dict[str, Any]] = [
        {"label": domain.label(attrs), "holds": workload.layout.index[attrs] in touched}
        for attrs in workload.marginals
    ]
    return framed(rows, PUBLIC)


def promise(epsilon: float) -> Fraction:
    """What a selection with this ε costs: ρ = ε²/8, as an exact fraction of the float."""
    return Fraction(epsilon) ** 2 / 8
