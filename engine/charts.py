"""Every chart of the explorer under one name; ``engine.showing`` makes them."""

from engine.showing.badges import NOT_PRIVATE, PUBLIC, RELEASED, Badge, Limits, spanning
from engine.showing.figure import Figure
from engine.showing.lattice import lattice
from engine.showing.noise_shape import noise_shape
from engine.showing.palette import BLUE, DIVERGING, GREEN, GREY, ORANGE, PINK, RED, SKY
from engine.showing.plan import PLANNER, SPLIT, asked, predicted, predicted_curve
from engine.showing.rounds import ledger, measured, selection
from engine.showing.runs import Ghost, error_curve, trials
from engine.showing.sheets import Sheet, filmstrip, round
from engine.showing.tables import Scale, bars, heatmap, shared_limits
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
    "PUBLIC",
    "RED",
    "RELEASED",
    "SKY",
    "SPLIT",
    "Badge",
    "Figure",
    "Ghost",
    "Limits",
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
    "spanning",
    "touched",
    "trials",
]
