"""The engine calls behind a view, as code that runs: shown on the page, executed in the tests."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.mechanisms import catalogue
from pages.parts.visit import samples, study
from pages.parts.visit.asked import Compared


def show(lines: str, key: str) -> None:
    """Offer the code beneath a view; it has a button that copies it."""
    with st.expander("Show me the code", icon=":material/code:", key=f"code_{key}"):
        st.code(lines, language="python")


def setup(settings: study.Settings) -> str:
    """Predict the errors shown on Setup: no record is read."""
    return "\n".join(
        [
            "import engine",
            "",
            *_domain(settings),
            f"domain = whole.select({_names(settings.attributes)})",
            *_workload(settings),
            f"rho = engine.rho_from(epsilon={settings.epsilon!r}, delta={settings.delta!r})",
            "planner = engine.ResidualPlanner().predict(workload, rho=rho)",
            "split = engine.EqualSplit().predict(workload, rho=rho)",
            "planner.mean_l1, split.mean_l1, planner.expected_l1",
        ]
    )


def answer(
    settings: study.Settings, names: Sequence[str], *, at: int, completion: str | None = None
) -> str:
    """Run to a round and answer one table there, as Marginals shows it."""
    card = samples.cards().get(settings.sample)
    table = f"sample_data/{card.table}" if card else "my_table.csv"
    # The seed of another table stays out: whoever has it can subtract the noise.
    seed = repr(settings.seed) if card else ""
    mechanism = catalogue.find(settings.mechanism).code
    finish = f"engine.{completion}(estimate)" if completion else "estimate"
    return "\n".join(
        [
            "from itertools import islice",
            "",
            "import engine",
            "",
            *_domain(settings),
            f'whole_table = engine.Table.from_csv("{table}", whole)',
            f"attributes = [{_names(settings.attributes)}]",
            "domain = whole.select(*attributes)",
            "table = whole_table.select(*attributes)",
            *_workload(settings),
            f"rho = engine.rho_from(epsilon={settings.epsilon!r}, delta={settings.delta!r})",
            f"mechanism, private = {mechanism}, engine.Private(table)",
            f"noise = engine.rehearsal_noise({seed})",
            "steps = engine.rounds(mechanism, private, workload, rho=rho, rng=noise)",
            f"for state, event in islice(steps, {at + 1}):  # the first event comes before round 1",
            "    pass",
            f"estimate = mechanism.release(state).estimate({_names(names)})",
            f"shown = {finish}",
            "shown.to_frame()",
        ]
    )


def comparison(asked: Compared) -> str:
    """Make a comparison again, on a sample, and say who wins."""
    return "\n".join(
        [
            "import engine",
            "from engine.demonstrating import comparison",
            "from engine.showing import contenders",
            "",
            f"table = engine.load_sample({asked.sample!r}, {_names(asked.attributes)})",
            f"workload = engine.Workload.all_kway(table.domain, {asked.degree})",
            f"names = {asked.contenders!r}",
            "made = engine.trials(",
            f"    table, workload, names, epsilons={list(asked.epsilons)!r}, "
            f"delta={asked.delta!r},",
            f"    seeds=range({asked.seed}, {asked.seed + asked.trials}),",
            ")",
            "results = list(made)",
            'print(*comparison.verdict(results), sep="\\n")',
            "bands = comparison.bands(results)",
            'contenders.error_bands(bands, unit=comparison.METRICS["mean_l1"])',
        ]
    )


def _domain(settings: study.Settings) -> list[str]:
    card = samples.cards().get(settings.sample)
    path = f"sample_data/{card.domain}" if card else "my_table.domain.json"
    return [f'whole = engine.Domain.from_json("{path}")']


def _workload(settings: study.Settings) -> list[str]:
    if not settings.marginals:
        return [f"workload = engine.Workload.all_kway(domain, {settings.degree})"]
    tables = [f"    {names!r}: {weight!r}," for names, weight in settings.marginals]
    return ["workload = engine.Workload({", *tables, "}, domain)"]


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
