"""Tidy frames of runs and releases under one name; ``engine.showing`` makes them."""

from engine.demonstrating.glimpses import TOP, Candidate, Glimpse, glimpse, mean_l1
from engine.showing.framed import framed
from engine.showing.frames.choice import errors, selection
from engine.showing.frames.plan import (
    Cost,
    Odds,
    asked,
    cost,
    odds,
    predicted,
    predicted_curve,
    smallest_epsilon,
)
from engine.showing.frames.rounds import (
    POINTS,
    allocation,
    budget,
    measured,
    spending,
    touched,
)
from engine.showing.frames.tables import (
    Coverage,
    cells_at,
    comparison,
    coverage,
    coverage_limits,
    noise_shape,
    released,
)
from engine.showing.sentences import explain, explain_released, percent

__all__ = [
    "POINTS",
    "TOP",
    "Candidate",
    "Cost",
    "Coverage",
    "Glimpse",
    "Odds",
    "allocation",
    "asked",
    "budget",
    "cells_at",
    "comparison",
    "cost",
    "coverage",
    "coverage_limits",
    "errors",
    "explain",
    "explain_released",
    "framed",
    "glimpse",
    "mean_l1",
    "measured",
    "noise_shape",
    "odds",
    "percent",
    "predicted",
    "predicted_curve",
    "released",
    "selection",
    "smallest_epsilon",
    "spending",
    "touched",
]
