"""Every chart of the explorer under one name; ``engine.showing`` makes them."""

from engine.showing.badges import NOT_PRIVATE, Badge
from engine.showing.figure import Figure
from engine.showing.lattice import lattice
from engine.showing.palette import BLUE, DIVERGING, GREEN, GREY, ORANGE, PINK, RED, SKY
from engine.showing.plan import PLANNER, SPLIT, asked, predicted, predicted_curve
from engine.showing.rounds import ledger, measured, selection
from engine.showing.runs import Ghost, error_curve, trials
from engine.showing.sheets import Sheet, filmstrip, round
from engine.showing.tables import Scale, bars, heatmap, noise_shape, shared_limits
from engine.showing.texts import distinct, safe
from engine.showing.touched import touched

__all__ = [
    "BLUE",
    "DIVERGING",
    "GREEN",
    "GREY",
    "NOT_PRIVATE",
    "ORANGE",
    "PINK",
    "PLANNER",
    "RED",
    "SKY",
    "SPLIT",
    "Badge",
    "Figure",
    "Ghost",
    "Scale",
    "Sheet",
    "asked",
    "bars",
    "distinct",
    "error_curve",
    "filmstrip",
    "heatmap",
    "lattice",
    "ledger",
    "measured",
    "noise_shape",
    "predicted",
    "predicted_curve",
    "round",
    "safe",
    "selection",
    "shared_limits",
    "touched",
    "trials",
]
