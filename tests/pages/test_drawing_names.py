"""The names and calls that ``engine.charts`` and ``engine.views`` have had from the first."""

from __future__ import annotations

import importlib
import inspect

import pytest

CHARTS = """
BLUE Badge DIVERGING Figure GREEN GREY Ghost NOT_PRIVATE ORANGE PINK PLANNER RED SKY SPLIT Scale
Sheet asked bars distinct error_curve filmstrip heatmap lattice ledger measured noise_shape
predicted predicted_curve round safe selection shared_limits touched trials
"""
VIEWS = """
Candidate Cost Coverage Glimpse Odds POINTS TOP allocation asked budget cells_at comparison cost
coverage coverage_limits errors explain explain_released glimpse mean_l1 measured noise_shape odds
percent predicted predicted_curve released selection smallest_epsilon touched
"""
PARAMETERS = {
    "charts.asked": "frame names pick",
    "charts.bars": "frame name title scale",
    "charts.error_curve": "frame at normalized ghosts",
    "charts.filmstrip": "run attributes frames",
    "charts.heatmap": "frame column names title limits small scale pick marked",
    "charts.lattice": "frame title",
    "charts.ledger": "frame at",
    "charts.measured": "frame",
    "charts.noise_shape": "frame",
    "charts.predicted": "frame",
    "charts.predicted_curve": "frame epsilon at",
    "charts.round": "run number attributes",
    "charts.selection": "frame others others_probability above legend",
    "charts.shared_limits": "frame columns",
    "charts.touched": "frame names threshold",
    "charts.trials": "frame normalized",
    "views.allocation": "event domain gamma",
    "views.budget": "events",
    "views.comparison": "compared at",
    "views.errors": "mean_errors records",
    "views.explain": "event seen domain mean_errors records",
    "views.measured": "measurements domain",
    "views.released": "estimate at",
    "views.selection": "seen domain chosen",
    "views.touched": "before after event workload",
}
"""Parameters that a call of the first version named or counted on; later ones come after them."""


@pytest.mark.parametrize(("module", "names"), [("charts", CHARTS), ("views", VIEWS)])
def test_every_name_of_the_first_version_is_still_there(module: str, names: str) -> None:
    offered = importlib.import_module(f"engine.{module}")
    assert set(names.split()) <= set(offered.__all__)
    assert sorted(offered.__all__) == sorted(set(offered.__all__))
    for name in offered.__all__:
        value = getattr(offered, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("name", list(PARAMETERS))
def test_every_call_of_the_first_version_still_fits(name: str) -> None:
    module, function = name.split(".")
    found = inspect.signature(getattr(importlib.import_module(f"engine.{module}"), function))
    wanted = PARAMETERS[name].split()
    assert list(found.parameters)[: len(wanted)] == wanted
    later = list(found.parameters.values())[len(wanted) :]
    assert all(parameter.default is not parameter.empty for parameter in later)
