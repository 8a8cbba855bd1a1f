"""Adaptive private marginals: AIM+GReM, ResidualPlanner and the rounds between.

Everything public is here; ``engine/README.md`` says what it means and why.
"""

import importlib
import sys
import typing

from engine.accounting import Charge, Ledger, delta_from, epsilon_from, rho_from
from engine.completing.consistency import Consistent, consistent
from engine.completing.keeping import maxent
from engine.completing.projection import clip, simplex
from engine.completing.release import Release
from engine.demonstrating.evaluation import (
    Comparison,
    Evaluation,
    Insight,
    compare,
    evaluate,
    insight,
    selects,
)
from engine.demonstrating.trials import Trial, trials
from engine.domain import Attribute, Domain, Missing, draft_with
from engine.errors import (
    AccountError,
    BudgetError,
    DataError,
    DomainError,
    EngineError,
    OptionError,
    RepeatedSeedWarning,
    RunInterruptedError,
    SolverError,
    WorkloadError,
)
from engine.forecast import Prediction
from engine.measure import measure_marginal
from engine.mechanisms import catalogue as catalogue
from engine.mechanisms.aim_grem import AimGrem
from engine.mechanisms.aim_state import AimState
from engine.mechanisms.base import Run, rounds, run
from engine.mechanisms.fixed_sequence import FixedSequence
from engine.mechanisms.mwem_grem import MwemGrem, MwemState
from engine.mechanisms.one_shot import EqualSplit, ResidualPlanner, Uniform
from engine.mechanisms.own import select_marginal
from engine.mechanisms.protocols import Adaptive, Mechanism, Rebudgetable
from engine.noise import RandomSource, rehearsal_noise
from engine.planner import plan
from engine.planner_reference import plan_by_solver
from engine.released import Allocation, Belief, Beliefs, Estimate, Measurement
from engine.releasing.account import Account
from engine.releasing.run import Released, release
from engine.residuals import cell_variance, decompose, privacy_cost, reconstruct
from engine.samples import load_sample, sample_names
from engine.tables import CountSource, Private, Table, read_with
from engine.trace import Event, Finished, RoundEnded, Started, Work, beliefs_after
from engine.version import __version__ as __version__
from engine.workload import Workload

if typing.TYPE_CHECKING:  # for mypy and editors; imported when first used
    from engine import charts as charts
    from engine import ingest as ingest
    from engine import sources as sources
    from engine import views as views
    from engine import widgets as widgets
else:

    def __getattr__(name: str) -> object:
        # Reading messy files and drawing need pandas, Altair or ipywidgets; the engine does not.
        if name in ("charts", "ingest", "sources", "views", "widgets"):
            return importlib.import_module(f"engine.{name}")
        raise AttributeError(f"module 'engine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__", "charts", "ingest", "sources", "views", "widgets"]


read_with(lambda: importlib.import_module("engine.ingest.reader").READER)
draft_with(lambda: importlib.import_module("engine.ingest.reader").drafted)
del read_with, draft_with

if "IPython" in sys.modules:  # a notebook, or IPython: values show themselves as tables there
    importlib.import_module("engine.showing.notebook").hook()

__all__ = [
    "Account",
    "AccountError",
    "Adaptive",
    "AimGrem",
    "AimState",
    "Allocation",
    "Attribute",
    "Belief",
    "Beliefs",
    "BudgetError",
    "Charge",
    "Comparison",
    "Consistent",
    "CountSource",
    "DataError",
    "Domain",
    "DomainError",
    "EngineError",
    "EqualSplit",
    "Estimate",
    "Evaluation",
    "Event",
    "Finished",
    "FixedSequence",
    "Insight",
    "Ledger",
    "Measurement",
    "Mechanism",
    "Missing",
    "MwemGrem",
    "MwemState",
    "OptionError",
    "Prediction",
    "Private",
    "RandomSource",
    "Rebudgetable",
    "Release",
    "Released",
    "RepeatedSeedWarning",
    "ResidualPlanner",
    "RoundEnded",
    "Run",
    "RunInterruptedError",
    "SolverError",
    "Started",
    "Table",
    "Trial",
    "Uniform",
    "Work",
    "Workload",
    "WorkloadError",
    "beliefs_after",
    "cell_variance",
    "clip",
    "compare",
    "consistent",
    "decompose",
    "delta_from",
    "epsilon_from",
    "evaluate",
    "insight",
    "load_sample",
    "maxent",
    "measure_marginal",
    "plan",
    "plan_by_solver",
    "privacy_cost",
    "reconstruct",
    "rehearsal_noise",
    "release",
    "rho_from",
    "rounds",
    "run",
    "sample_names",
    "select_marginal",
    "selects",
    "simplex",
    "trials",
]
