"""What the benchmarks make of their rows; the runs themselves are made on request."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import engine
from tests.support import ROOT

sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
import frontier
import paper

ROWS = [
    ("titanic", 1.0, "ResidualPlanner", "", 0, 0.04, 2.0),
    ("titanic", 1.0, "ResidualPlanner", "", 1, 0.04, 2.0),
    ("titanic", 1.0, "ResidualPlanner", "simplex", 0, 0.03, 2.0),
    ("titanic", 1.0, "ResidualPlanner", "simplex", 1, 0.01, 2.0),
    ("titanic", 1.0, "AIM+GReM (paper)", "", 0, 0.06, 1.0),
    ("titanic", 1.0, "AIM+GReM (paper)", "simplex", 0, 0.08, 1.0),
    ("titanic", 1.0, "AIM+PGM", "", 0, 0.05, 50.0),
    ("titanic", 1.0, "AIM+PGM", "", 0, 0.07, 40.0),
    ("penguins", 1.0, "AIM+GReM (paper)", "", 0, 0.9, 1.0),
]


@pytest.fixture
def frame() -> pd.DataFrame:
    columns = ["data", "epsilon", "mechanism", "postprocess", "seed", "mean_l1", "cpu_seconds"]
    rows = pd.DataFrame(ROWS, columns=columns)
    sizes = ["80" if name == "AIM+PGM" else "" for name in rows.mechanism]
    sizes[7] = "1"
    return rows.assign(
        megabytes=sizes, mean_l2=0.1, max_l1=1.0, seconds=3.0, peak_mb=300, rounds=5, decision=""
    )[list(frontier.FIELDS)]


@pytest.fixture
def kept(tmp_path: Path, frame: pd.DataFrame) -> argparse.Namespace:
    pgm = frame.mechanism == "AIM+PGM"
    for name, rows in (("paper_runs", frame[~pgm]), ("frontier_pgm", frame[pgm])):
        text = "# the command\n" + rows.to_csv(index=False)
        (tmp_path / f"{name}.csv").write_text(text)
    return argparse.Namespace(out=tmp_path, shared=tmp_path)


def small() -> tuple[engine.Table, engine.Workload]:
    domain = engine.Domain.from_sizes({"a": 3, "b": 2, "c": 4})
    codes = np.random.default_rng(1).integers(0, [3, 2, 4], (300, 3))
    return engine.Table.from_codes(codes, domain), engine.Workload.all_kway(domain, 2)


# -- the frontier ----------------------------------------------------------------------------------


def test_scores_are_the_engine_s_own() -> None:
    table, workload = small()
    run = engine.run(engine.ResidualPlanner(), table, workload, epsilon=1.0, delta=1e-9, seed=0)
    errors, seconds = frontier.judged(run.release.estimates(), engine.Private(table))
    expected = engine.evaluate(run.release, table)
    assert errors["mean_l1"] == pytest.approx(expected.mean_l1_normalized)
    assert errors["mean_l2"] == pytest.approx(expected.mean_l2_normalized)
    assert errors["max_l1"] == pytest.approx(expected.max_l1_normalized)
    assert (seconds >= 0).all()


def test_a_mechanism_counts_at_its_better_post_processing(frame: pd.DataFrame) -> None:
    best = frontier.averages(frame).set_index(["data", "mechanism"])
    assert best.loc[("titanic", "ResidualPlanner"), "mean_l1"] == pytest.approx(0.02)
    assert best.loc[("titanic", "AIM+GReM (paper)"), "postprocess"] == ""


def test_ratios_are_against_residual_planner_where_it_was_run(frame: pd.DataFrame) -> None:
    ratios = frontier.relative(frontier.averages(frame))
    assert set(ratios.data) == {"titanic"}
    row = ratios[ratios.mechanism == "AIM+GReM (paper)"].iloc[0]
    assert (row.error, row.time) == (3.0, 0.5)


def test_the_chart_says_what_one_is(frame: pd.DataFrame) -> None:
    drawn = frontier.chart(frame)
    assert "ResidualPlanner = 1" in drawn["title"]["subtitle"]
    assert sum(layer["mark"].get("type") == "rule" for layer in drawn["spec"]["layer"]) == 2
    json.dumps(drawn)


def test_a_case_whose_rows_are_there_is_known_again(kept: argparse.Namespace) -> None:
    there = frontier.found(kept.out / "frontier_pgm.csv")
    assert tuple(frontier.Case("titanic", 1.0, "pgm", 0, 80.0).labels().values()) in there
    assert tuple(frontier.Case("titanic", 1.0, "pgm", 0, 10.0).labels().values()) not in there
    there = frontier.found(kept.out / "paper_runs.csv")
    assert tuple(frontier.Case("titanic", 1.0, "planner", 1).labels().values()) in there
    assert tuple(frontier.Case("titanic", 3.1, "planner", 1).labels().values()) not in there


def test_rows_of_another_shape_are_not_appended_to(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("data,epsilon\ntitanic,1\n")
    with pytest.raises(SystemExit, match=r"old.csv has no column .*mean_l1"):
        frontier.found(tmp_path / "old.csv")


def test_the_command_kept_makes_the_same_rows_and_names_no_folder() -> None:
    given = ["--data", "titanic", "--epsilon", "0.31", "--seeds", "2", "--mechanisms", "paper",
             "--out", "/somewhere/rows.csv", "--shared", "/somewhere"]  # fmt: skip
    said = frontier.command(frontier.parser().parse_args(given))
    assert "somewhere" not in said
    again = frontier.parser().parse_args(said.split()[2:])
    assert (again.data, again.epsilon, again.seeds) == (["titanic"], [0.31], 2)
    assert again.mechanisms == ["paper"]


@pytest.mark.parametrize("key", ["lnn", "dense"])
def test_refitted_answers_have_the_total_and_no_cell_far_below_zero(key: str) -> None:
    table, workload = small()
    peer = frontier.PEERS[key]
    mechanism, private = peer.make(), engine.Private(table)
    rho = engine.rho_from(epsilon=1.0, delta=1e-9)
    state: Any = None
    for state, _ in engine.rounds(  # noqa: B007
        mechanism, private, workload, rho=rho, rng=engine.rehearsal_noise(0)
    ):
        pass
    answers = list(peer.answers(mechanism, state))
    assert [answer.attrs for answer in answers] == list(workload.marginals)
    for answer in answers:
        assert answer.values.sum() == pytest.approx(answers[0].values.sum())
        assert answer.values.min() > -1e-3 * 300


# -- the paper's experiments -----------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["crp", "iid"])
def test_the_error_of_a_sequence_needs_no_estimates_on_the_way(noise: Any) -> None:
    table, workload = small()
    run = engine.run(
        engine.FixedSequence(noise=noise), table, workload, epsilon=1.0, delta=1e-9, seed=3
    )
    expected = engine.evaluate(run.release, table).mean_l1_normalized
    assert paper.error(noise, table, workload, 3) == pytest.approx(expected)


@pytest.mark.parametrize("name", list(paper.VIEWS))
def test_every_figure_is_a_view_of_the_rows_kept(kept: argparse.Namespace, name: str) -> None:
    list(paper.EXPERIMENTS[name](kept))
    drawn = json.loads((kept.out / "figures" / f"{name}.vl.json").read_text())
    rows = drawn["data"]["values"]
    assert rows
    x, y = paper.VIEWS[name].x[0], paper.VIEWS[name].y[0]
    assert all(row[x] > 0 and row[y] > 0 for row in rows)
    sizes = {row["megabytes"] for row in rows if "megabytes" in row}
    assert sizes == ({"1", "80"} if name == "figure11" else set())


def test_what_the_paper_states_stands_beside_our_number(kept: argparse.Namespace) -> None:
    said = pd.DataFrame(paper.stated(paper.kept_runs(kept.out)))
    longer = said[said.measure.str.startswith("processor seconds of AIM+PGM")].iloc[0]
    assert (longer.ours, longer.paper) == ("50", "up to 697 (Adult)")
    worst = said[said.case.str.contains(r"Titanic, AIM\+GReM \(paper\), largest")].iloc[0]
    assert worst.ours == "1.5"
    assert said[said.experiment == "figure11"].ours.tolist() == ["1.4"]


def test_an_experiment_replaces_its_own_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "paper.csv"
    paper.keep(path, "figure4", [paper.found("figure4", "old", "ratio", 1.0, "2")])
    paper.keep(path, "figure3", [paper.found("figure3", "a, b", "ratio", 3.0, "")])
    paper.keep(path, "figure4", [paper.found("figure4", "new", "ratio", 1.5, "2")])
    lines = pd.read_csv(path)
    assert lines.case.tolist() == ["a, b", "new"]
    assert lines.ours.tolist() == [3.0, 1.5]


def test_the_report_shows_figures_statements_and_runs(kept: argparse.Namespace) -> None:
    pytest.importorskip("vl_convert")
    for name in ("figure4", "figure7"):
        paper.keep(kept.out / "paper.csv", name, list(paper.EXPERIMENTS[name](kept)))
    said = paper.report(kept.out)
    assert "![Figure 4: Error and time relative to ResidualPlanner" in said
    assert "up to 697 (Adult)" in said
    assert "| Titanic | AIM+PGM | 1 | 1 | 0.07 |" in said
    assert max(len(p.read_text()) for p in (kept.out / "figures").glob("*.svg")) < 100_000
