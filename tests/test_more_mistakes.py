"""Mistakes by their kind, over every function that people call: each ends in a sentence.

None ends in an error from inside (``TypeError``, ``KeyError``, ``AttributeError``), and what is
answered says what was found and what to do.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import engine

TABLE = engine.load_sample("hair_eye_color")
DOMAIN = TABLE.domain
WORKLOAD = engine.Workload.all_kway(DOMAIN, 2)
OTHER = engine.Domain.from_sizes({"a": 2, "b": 3})
RUN = engine.run(engine.ResidualPlanner(), TABLE, WORKLOAD, rho=0.1, seed=0)
FRAME = pd.DataFrame({name: ["x"] for name in DOMAIN.names})
MECHANISM = engine.AimGrem()
ESTIMATE = RUN.release.estimate("Hair")
CLOSED = io.BytesIO(b"Hair,Eye,Sex")
CLOSED.close()
any_: Any = engine
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-9}


def given(**budget: object) -> Callable[[], object]:
    """A run with these keywords."""
    return lambda: any_.run(MECHANISM, TABLE, WORKLOAD, **budget)


MISTAKES: dict[str, Callable[[], object]] = {
    # -- budgets --
    "a negative epsilon": given(epsilon=-1, delta=1e-9),
    "an epsilon that is no number": given(epsilon=math.nan, delta=1e-9),
    "an endless epsilon": given(epsilon=math.inf, delta=1e-9),
    "epsilon as text": given(epsilon="1", delta=1e-9),
    "epsilon in a list": given(epsilon=[1.0], delta=1e-9),
    "epsilon in an array": given(epsilon=np.array([1.0, 2.0]), delta=1e-9),
    "epsilon is true": given(epsilon=True, delta=1e-9),
    "delta of one": given(epsilon=1, delta=1),
    "delta of zero": given(epsilon=1, delta=0),
    "delta as text": given(epsilon=1, delta="1e-9"),
    "delta in a list": given(epsilon=1, delta=[1e-9]),
    "rho of zero": given(rho=0),
    "rho as text": given(rho="0.1"),
    "rho that is no number": given(rho=math.nan),
    "rho is true": given(rho=True),
    "rho is complex": given(rho=1 + 2j),
    "both budgets": given(epsilon=1, delta=1e-9, rho=1),
    "a broken seed of a run": given(seed=1.5, **BUDGET),
    "a seed as text": given(seed="0", **BUDGET),
    "a seed in a list": given(seed=[1, 2], **BUDGET),
    "progress that cannot be called": given(progress="bar", **BUDGET),
    "rho_from with text": lambda: any_.rho_from(epsilon="1", delta=1e-9),
    "epsilon_from with a negative rho": lambda: engine.epsilon_from(rho=-1, delta=1e-9),
    "epsilon_from without a number": lambda: any_.epsilon_from(rho=None, delta=1e-9),
    "delta_from with text": lambda: any_.delta_from(rho="1", epsilon=1),
    "delta_from with a frame": lambda: any_.delta_from(rho=FRAME, epsilon=1),
    # -- domains --
    "a size of zero": lambda: engine.Domain.from_sizes({"a": 0}),
    "a broken size": lambda: any_.Domain.from_sizes({"a": 2.5}),
    "a size as text": lambda: any_.Domain.from_sizes({"a": "3"}),
    "a size that is too big": lambda: engine.Domain.from_sizes({"a": 10**12}),
    "a name that is no text": lambda: any_.Domain.from_sizes({1: 2}),
    "no attribute": lambda: engine.Domain.from_sizes({}),
    "one name twice": lambda: engine.Domain((engine.Attribute("a", values=("x", "y")),) * 2),
    "attributes that are none": lambda: any_.Domain(None),
    "one attribute without a tuple": lambda: any_.Domain(engine.Attribute("a", values=("x",))),
    "a text as attributes": lambda: any_.Domain("age"),
    "a title that is no text": lambda: any_.Domain(DOMAIN.attributes, title=3),
    "values in one text": lambda: any_.Attribute("sex", values="fm"),
    "a value twice": lambda: engine.Attribute("sex", values=("f", "f")),
    "values that are numbers": lambda: any_.Attribute("sex", values=(0, 1)),
    "values that are none": lambda: any_.Attribute("sex", values=5),
    "no values": lambda: engine.Attribute("sex", values=()),
    "a name that is a number": lambda: any_.Attribute(3, values=("f", "m")),
    "an unknown kind": lambda: any_.Attribute("age", "float", bounds=(0, 1)),
    "bounds the wrong way round": lambda: engine.Attribute("age", "integer", bounds=(9, 0)),
    "bounds as text": lambda: any_.Attribute("age", "integer", bounds=("0", "9")),
    "one bound": lambda: any_.Attribute("age", "integer", bounds=(9,)),
    "bounds in a number": lambda: any_.Attribute("age", "integer", bounds=9),
    "endless bounds": lambda: any_.Attribute("age", "integer", bounds=(0, math.inf)),
    "edges in a text": lambda: any_.Attribute("age", "binned", edges="0,1"),
    "edges that fall": lambda: any_.Attribute("age", "binned", edges=(3.0, 1.0)),
    "edges that are no numbers": lambda: any_.Attribute("age", "binned", edges=(0.0, math.nan)),
    "a misspelt name": lambda: DOMAIN["hair"],
    "a position too far": lambda: DOMAIN[17],
    "a broken position": lambda: any_.Domain.from_sizes({"a": 2})[0.0],
    "no name": lambda: any_.Domain.from_sizes({"a": 2})[None],
    "one attribute twice": lambda: DOMAIN.attrs("Hair", "Hair"),
    "a domain of a file that is not there": lambda: engine.Domain.from_json("nowhere.json"),
    "a domain of a folder": lambda: engine.Domain.from_json(Path(__file__).parent),
    "a domain of a number": lambda: any_.Domain.from_json(3),
    "a domain of a frame": lambda: any_.Domain.from_json(FRAME),
    "a domain from a list": lambda: engine.Domain.from_dict([1]),
    "a label of a name": lambda: any_.Domain.from_sizes({"a": 2}).label("a"),
    "cells of a name": lambda: any_.Domain.from_sizes({"a": 2}).cells("a"),
    "a shape too far": lambda: DOMAIN.shape((0, 9)),
    "drafting a number": lambda: engine.Domain.draft(3),
    "drafting nothing": lambda: engine.Domain.draft(None),
    "drafting a column that is not there": lambda: engine.Domain.draft(FRAME, "hair"),
    "drafting with an unknown choice": lambda: engine.Domain.draft(FRAME, separater=";"),
    # -- tables --
    "codes that are text": lambda: any_.Table.from_codes([["a", "b", "c"]], DOMAIN),
    "codes of another width": lambda: engine.Table.from_codes([[0]], DOMAIN),
    "codes in one number": lambda: any_.Table.from_codes(3, DOMAIN),
    "codes that are broken": lambda: any_.Table.from_codes([[0.5, 0, 0]], DOMAIN),
    "codes that are no numbers": lambda: any_.Table.from_codes([[math.nan, 0, 0]], DOMAIN),
    "codes below zero": lambda: engine.Table.from_codes([[-1, 0, 0]], DOMAIN),
    "codes too large": lambda: engine.Table.from_codes([[99, 0, 0]], DOMAIN),
    "codes before the domain": lambda: any_.Table.from_codes(DOMAIN, [[0, 0, 0]]),
    "rows of different lengths": lambda: any_.Table.from_codes([[0, 0, 0], [0, 0]], DOMAIN),
    "codes that are none": lambda: any_.Table.from_codes(None, DOMAIN),
    "records as text": lambda: any_.Table.from_frame("people.csv", DOMAIN),
    "a frame of a table": lambda: any_.Table.from_frame(TABLE, DOMAIN),
    "a frame before its domain": lambda: any_.Table.from_frame(DOMAIN, FRAME),
    "a frame without its columns": lambda: engine.Table.from_frame(
        pd.DataFrame({"q": [1]}), DOMAIN
    ),
    "a frame of other values": lambda: engine.Table.from_frame(FRAME, DOMAIN),
    "a frame and a dict for a domain": lambda: any_.Table.from_frame(FRAME, {"a": 2}),
    "a file that is not there": lambda: engine.Table.from_csv("nowhere.csv", DOMAIN),
    "a file that is a folder": lambda: engine.Table.from_csv(Path(__file__).parent, DOMAIN),
    "a file without a domain": lambda: any_.Table.from_csv("nowhere.csv", None),
    "a file that is a number": lambda: any_.Table.from_csv(3, DOMAIN),
    "any file that is not there": lambda: engine.Table.from_file("nowhere.csv", DOMAIN),
    "a frame for any file": lambda: any_.Table.from_file(None, DOMAIN),
    "a sample that is not there": lambda: engine.load_sample("titanik"),
    "a sample of a number": lambda: any_.load_sample(3),
    "a sample in a list": lambda: any_.load_sample(["titanic"]),
    "private counts of a path": lambda: any_.Private("people.csv"),
    "private counts of nothing": lambda: any_.Private(None),
    "a true marginal by name": lambda: any_.Private(TABLE).marginal("Hair"),
    "a true marginal too far": lambda: engine.Private(TABLE).marginal((0, 9)),
    "a file that was closed": lambda: any_.Table.from_file(CLOSED, DOMAIN),
    "a file opened as text": lambda: any_.Table.from_file(io.StringIO("a,b"), DOMAIN),
    "a dict of columns of different lengths": lambda: engine.Table.from_frame(
        {"Hair": ["Black"], "Eye": [], "Sex": ["Male", "Male"]}, DOMAIN
    ),
    # -- workloads --
    "no marginal": lambda: engine.Workload([], DOMAIN),
    "names in a text": lambda: any_.Workload("Hair", DOMAIN),
    "names not in sets": lambda: any_.Workload(["Hair", "Sex"], DOMAIN),
    "a marginal of a misspelt name": lambda: engine.Workload([("hair",)], DOMAIN),
    "a workload that is a frame": lambda: any_.Workload(FRAME, DOMAIN),
    "a workload of nothing": lambda: any_.Workload(None, DOMAIN),
    "a negative weight": lambda: engine.Workload({("Hair",): -1.0}, DOMAIN),
    "a weight that is no number": lambda: engine.Workload({("Hair",): math.nan}, DOMAIN),
    "a weight as text": lambda: any_.Workload({("Hair",): "2"}, DOMAIN),
    "a degree above the attributes": lambda: engine.Workload.all_kway(DOMAIN, 9),
    "a broken degree": lambda: any_.Workload.all_kway(DOMAIN, 2.0),
    "a true degree": lambda: engine.Workload.all_kway(DOMAIN, True),
    "a negative degree": lambda: engine.Workload.all_kway(DOMAIN, -1),
    "degrees in a list": lambda: any_.Workload.all_kway(DOMAIN, [1, 2]),
    "a workload that is too large": lambda: engine.Workload.all_kway(
        engine.Domain.from_sizes({f"a{k}": 100 for k in range(40)}), 6
    ),
    # -- running --
    "a workload of another domain": lambda: engine.run(
        MECHANISM, TABLE, engine.Workload.all_kway(OTHER, 1), **BUDGET
    ),
    "a domain where the table should be": lambda: any_.run(MECHANISM, DOMAIN, WORKLOAD, **BUDGET),
    "a path where the table should be": lambda: any_.run(
        MECHANISM, "people.csv", WORKLOAD, **BUDGET
    ),
    "no table": lambda: any_.run(MECHANISM, None, WORKLOAD, **BUDGET),
    "no mechanism": lambda: any_.run(None, TABLE, WORKLOAD, **BUDGET),
    "a degree for a workload": lambda: any_.run(MECHANISM, TABLE, 2, **BUDGET),
    "a source that is a seed": lambda: any_.rounds(MECHANISM, TABLE, WORKLOAD, rho=1, rng=3),
    "a source that is a generator": lambda: any_.rounds(
        MECHANISM, TABLE, WORKLOAD, rho=1, rng=np.random.default_rng(0)
    ),
    "a state that is none": lambda: list(any_.rounds(MECHANISM, TABLE, WORKLOAD, state=3)),
    "a state and a budget": lambda: any_.rounds(MECHANISM, TABLE, WORKLOAD, state=3, rho=1),
    "a state of another mechanism": lambda: list(
        any_.rounds(MECHANISM, TABLE, WORKLOAD, state=RUN.release)
    ),
    "a mechanism with a wrong option": lambda: any_.AimGrem(completion="nothing"),
    "a threshold as text": lambda: any_.AimGrem(omit_below="x"),
    "rounds of nothing": lambda: any_.MwemGrem(rounds=0),
    "rounds as text": lambda: any_.MwemGrem(rounds="3"),
    "a sequence of names": lambda: any_.FixedSequence("Hair"),
    "an objective that is not there": lambda: any_.ResidualPlanner(objective="mean"),
    "a round that is not there": lambda: RUN.at(99),
    "a broken round": lambda: any_.Run.at(RUN, 0.5),
    "a round as text": lambda: any_.Run.at(RUN, "1"),
    "a run of no events": lambda: engine.Run.of([], RUN.release),
    "a run of numbers": lambda: any_.Run.of([1, 2], RUN.release),
    "a run of nothing": lambda: any_.Run.of(None, RUN.release),
    "a fork by another mechanism": lambda: any_.Run.state(RUN, MECHANISM, 0),
    "a run of a file that is not there": lambda: engine.Run.load("nowhere.json"),
    "a run of a number": lambda: any_.Run.load(3.5),
    "saving to a folder that is not there": lambda: RUN.save("nowhere/at/all.json"),
    "saving to a number": lambda: any_.Run.save(RUN, 3.5),
    "a release of a list": lambda: any_.Release.from_dict([1]),
    "a release of no keys": lambda: engine.Release.from_dict({"format": "aim-grem-release/1"}),
    "trials by one name": lambda: any_.trials(TABLE, WORKLOAD, "uniform"),
    "trials by a misspelt name": lambda: engine.trials(TABLE, WORKLOAD, ["unifrom"]),
    "trials of no one": lambda: engine.trials(TABLE, WORKLOAD, []),
    "trials of an epsilon": lambda: any_.trials(TABLE, WORKLOAD, ["uniform"], epsilons=1.0),
    "trials of texts": lambda: any_.trials(TABLE, WORKLOAD, ["uniform"], epsilons=["1"]),
    "trials with one seed": lambda: any_.trials(TABLE, WORKLOAD, ["uniform"], seeds=3),
    "trials with seeds as text": lambda: any_.trials(TABLE, WORKLOAD, ["uniform"], seeds=["0"]),
    "trials of a frame": lambda: any_.trials(FRAME, WORKLOAD, ["uniform"]),
    "trials of another domain": lambda: list(
        engine.trials(TABLE, engine.Workload.all_kway(OTHER, 1), ["uniform"])
    ),
    "trials done that are numbers": lambda: any_.trials(TABLE, WORKLOAD, ["uniform"], done=[3]),
    # -- answers --
    "an answer outside the workload": lambda: RUN.release.estimate("Hair", "Eye", "Sex"),
    "an answer of a misspelt name": lambda: RUN.release.estimate("Hairs"),
    "an answer of a workload": lambda: any_.Release.estimate(RUN.release, WORKLOAD),
    "an answer of a true value": lambda: any_.Release.estimate(RUN.release, True),
    "clipping an array": lambda: any_.clip(np.array([1.0, -1.0])),
    "simplex of a list": lambda: any_.simplex([ESTIMATE]),
    "a promise that is less than spent": lambda: RUN.release.promised(epsilon=1e-6, delta=1e-9),
    "a promise as text": lambda: any_.Release.promised(RUN.release, epsilon="1", delta=1e-9),
    "evaluating against a frame": lambda: any_.evaluate(RUN.release, FRAME),
    "evaluating against another table": lambda: engine.evaluate(
        RUN.release, engine.Table.from_codes([[0, 0]], OTHER)
    ),
    "evaluating nothing": lambda: any_.evaluate(None, TABLE),
    "comparing one release": lambda: any_.compare([RUN.release], TABLE),
    "comparing nothing": lambda: engine.compare({}, TABLE),
    "comparing runs": lambda: any_.compare({"a": RUN}, TABLE),
    "an insight without a state": lambda: any_.insight(None, MECHANISM, TABLE),
    "events that are none": lambda: list(any_.beliefs_after([1, 2])),
    "beliefs after a run": lambda: list(any_.beliefs_after(RUN)),
    # -- residuals and plans --
    "decomposing a list of texts": lambda: any_.decompose(["a"], (0,), (0,)),
    "decomposing to what is no subset": lambda: any_.decompose(np.zeros(4), (0,), (1,)),
    "a cost of a name": lambda: any_.privacy_cost("Hair"),
    "a cost of a size of zero": lambda: engine.privacy_cost((0,)),
    "a plan of texts": lambda: any_.plan("a", "b", "c", budget=1.0),
    "a ledger of a negative total": lambda: engine.Ledger(-1),  # type: ignore[arg-type]
    "a ledger of text": lambda: any_.Ledger("a"),
    "a charge that is no charge": lambda: any_.Ledger(1).charge(3),
    "measuring a table": lambda: any_.measure_marginal(TABLE, (0,), rho=1, ledger=1, rng=1),
    "reconstructing from texts": lambda: any_.reconstruct(["a"], (0,), (0,), (2,)),
    "reconstructing without sizes": lambda: any_.reconstruct([1.0], (0,), (0,), None),
    "a variance of names": lambda: any_.cell_variance("ab", (2,)),
    "measuring a set by name": lambda: any_.measure_marginal(
        engine.Private(TABLE), "Hair", rho=1, ledger=engine.Ledger(1), rng=engine.rehearsal_noise()
    ),
    "measuring for a negative price": lambda: any_.measure_marginal(
        engine.Private(TABLE), (0,), rho=-1, ledger=engine.Ledger(1), rng=engine.rehearsal_noise()
    ),
    "measuring with a seed for a source": lambda: any_.measure_marginal(
        engine.Private(TABLE), (0,), rho=1, ledger=engine.Ledger(1), rng=7
    ),
    "choosing with a table": lambda: any_.select_marginal(
        TABLE, WORKLOAD, RUN.release.beliefs, rho=1, ledger=engine.Ledger(1), rng=7
    ),
    "maxent of a run": lambda: any_.maxent(RUN, DOMAIN, (0,)),
    "maxent by name": lambda: any_.maxent(RUN.release.beliefs, DOMAIN, "Hair"),
    "an estimate of another shape": lambda: engine.Estimate(DOMAIN, (0,), np.zeros(9), None),
    "a measurement that is no number": lambda: engine.Measurement((0,), np.array([math.nan]), 1.0),
    "a measurement of negative precision": lambda: engine.Measurement((0,), np.zeros(1), -1.0),
    "combining what is no measurement": lambda: any_.Beliefs().combined([1]),
    "predicting with text": lambda: any_.ResidualPlanner().predict(WORKLOAD, rho="1"),
    # -- releases --
    "a release without an account": lambda: any_.release(
        MECHANISM, TABLE, WORKLOAD, account=None, **BUDGET
    ),
    "a release with a path for an account": lambda: any_.release(
        MECHANISM, TABLE, WORKLOAD, account="account.db", **BUDGET
    ),
    "an account of a number": lambda: any_.Account(3).table("people", secret=b"x"),
    "an account of a folder": lambda: any_.Account(Path(__file__).parent).tables(),
    "an account that is not there": lambda: any_.Account("nowhere/at/all.db").tables(),
    "a chart of a release": lambda: any_.charts.round(RUN.release, 1),
    "a chart of a round as text": lambda: any_.charts.round(RUN, "1"),
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_is_answered_by_a_sentence(mistake: str) -> None:
    with pytest.raises(engine.EngineError) as caught:
        MISTAKES[mistake]()
    said = str(caught.value)
    assert said.endswith("."), said
    assert len(said) > 40, said
