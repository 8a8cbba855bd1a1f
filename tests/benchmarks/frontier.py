"""The accuracy frontier: data x epsilon x mechanism x seed, as a CSV and as the paper's Figure 4.

    python tests/benchmarks/frontier.py                            everything (about an hour)
    python tests/benchmarks/frontier.py --data titanic adult13 --epsilon 0.1 1 10 --seeds 1
    python tests/benchmarks/frontier.py --pgm --data titanic --seeds 1        AIM+PGM alone
    python tests/benchmarks/frontier.py --chart                    only draw what the CSV holds

The score of a row is the mean over all 3-way marginals of the L1 distance divided by the number of
records; every mechanism's raw answer is also scored after ``simplex``. Rows are appended to
frontier.csv beside this file, AIM+PGM's to frontier_pgm.csv. Tables that are not there are left
out. Not private: true errors are for benchmarks only.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import engine
from engine.mechanisms.base import rounds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAMPLES = ROOT / "sample_data"
SHARED = [ROOT.parent / "shared" / "data"]
DELTA = 1e-9
EPSILONS = (0.1, 0.31, 1.0, 3.1, 10.0)
FIELDS = (
    "data", "epsilon", "mechanism", "postprocess", "seed", "mean_l1", "mean_l2", "max_l1",
    "seconds", "peak_mb", "rounds", "decision",
)  # fmt: skip


# -- data ---------------------------------------------------------------------------------------


def shared() -> Path:
    """Where the larger tables lie: beside the checkout, or where --shared says."""
    return SHARED[-1]


def coded(path: Path, keep: Callable[[pd.DataFrame], Sequence[str]]) -> engine.Table:
    """Read a CSV as texts and number the values of each kept column in order."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    columns, sizes = [], {}
    for name in keep(frame):
        values = frame[name]
        try:
            order = sorted(values.unique(), key=float)
        except ValueError:
            order = sorted(values.unique())
        number = {value: k for k, value in enumerate(order)}
        columns.append(values.map(number).to_numpy())
        sizes[name] = len(order)
    return engine.Table.from_codes(np.stack(columns, axis=1), engine.Domain.from_sizes(sizes))


def between(low: int, high: int, *, without: Iterable[str] = (), most: int = 99) -> Any:
    """Columns with so many distinct values."""

    def keep(frame: pd.DataFrame) -> list[str]:
        names = [c for c in frame if low <= frame[c].nunique() <= high and c not in without]
        return names[:most]

    return keep


def named(names: str) -> Any:
    """These columns."""
    return lambda _: names.split()


def adult13() -> engine.Table:
    """Adult as in the paper: 13 attributes, rows with a missing value left out."""
    domain = engine.Domain.from_json(SAMPLES / "adult_paper.domain.json")
    return engine.Table.from_csv(SAMPLES / "adult.csv.gz", domain)


FLAGS = "SVAL SRNT R18 RESMODE FFULP NR FS FINSP FGASP FYBLP FTAXP FWATP FVALP FELEP FRMSP FMRGIP"
STAR = (
    "gender ethnicity birth stark star1 readk mathk lunchk schoolk degreek ladderk experiencek "
    "systemk"
)
SIX = "workclass education-num marital-status occupation relationship income"
DATA: dict[str, Callable[[], engine.Table]] = {
    "adult13": adult13,
    "adult6": lambda: coded(shared() / "adult.csv.gz", named(SIX)),
    "national18": lambda: coded(
        shared() / "national2019.csv.gz", between(2, 100, without=["DENSITY"])
    ),
    "housing16": lambda: coded(shared() / "acs_housing_oregon.csv.gz", named(FLAGS)),
    "housing20": lambda: coded(shared() / "acs_housing_oregon.csv.gz", between(3, 60, most=20)),
    "star13": lambda: coded(shared() / "star_tennessee.csv.gz", named(STAR)),
    "titanic": lambda: coded(shared() / "small" / "titanic.csv", between(2, 60)),
    "anes96": lambda: coded(shared() / "small" / "anes96.csv", between(2, 60)),
    "penguins": lambda: coded(shared() / "small" / "penguins.csv", between(2, 60)),
    "acs12": lambda: coded(shared() / "small" / "acs12.csv", between(2, 60)),
    "affairs": lambda: coded(shared() / "small" / "affairs_fair.csv", between(2, 60)),
    "heart": lambda: coded(shared() / "small" / "heart_disease.csv", between(2, 60)),
}
MECHANISMS: dict[str, Callable[[], Any]] = {
    "AIM+GReM, completed": lambda: engine.AimGrem(completion="maxent"),
    "AIM+GReM (paper)": engine.AimGrem.paper,
    "ResidualPlanner": engine.ResidualPlanner,
    "MWEM+GReM": engine.MwemGrem,
}


# -- running ------------------------------------------------------------------------------------


def score(answers: Iterable[engine.Estimate], private: engine.Private) -> dict[str, float]:
    """Mean L1, mean L2 and largest L1 error, divided by N."""
    records = float(private.marginal(()).values)
    off = [(a.values - private.marginal(a.attrs).values).ravel() for a in answers]
    l1 = np.array([np.abs(d).sum() for d in off]) / records
    l2 = np.array([np.sqrt(d @ d) for d in off]) / records
    return {"mean_l1": l1.mean(), "mean_l2": l2.mean(), "max_l1": l1.max()}


def measure(
    private: engine.Private, workload: engine.Workload, mechanism: Any, epsilon: float, seed: int
) -> list[dict[str, Any]]:
    """Run once; a row for the raw answer and, where it can be negative, one after simplex."""
    rho = Fraction(engine.rho_from(epsilon=epsilon, delta=DELTA))
    start = time.perf_counter()
    events, state = [], None
    rng = engine.rehearsal_noise(seed)
    for state, event in rounds(mechanism, private, workload, rho=rho, rng=rng):  # noqa: B007
        events.append(event)
    seconds = time.perf_counter() - start
    base = {
        "epsilon": epsilon,
        "seed": seed,
        "seconds": round(seconds, 3),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "rounds": sum(isinstance(e, engine.RoundEnded) for e in events),
        "decision": (getattr(events[0], "decision", None) or "").split(".")[0],
    }
    if hasattr(mechanism, "estimates"):
        return [base | {"postprocess": ""} | score(mechanism.estimates(state), private)]
    release = mechanism.release(state)
    rows = [base | {"postprocess": ""} | score(release.estimates(), private)]
    if release.completion is None:
        simplex = (engine.simplex(estimate) for estimate in release.estimates())
        rows.append(base | {"postprocess": "simplex"} | score(simplex, private))
    return rows


def run(options: argparse.Namespace, path: Path) -> None:
    """Append the rows of every case asked for."""
    mechanisms = dict(MECHANISMS)
    if options.pgm:
        from engine.mechanisms.aim_pgm import AimPgm

        mechanisms = {"AIM+PGM": lambda: AimPgm(max_megabytes=options.megabytes)}
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        for name in options.data:
            try:
                table = DATA[name]()
            except (FileNotFoundError, engine.DataError, engine.DomainError) as error:
                print(f"{name}: left out ({error})")
                continue
            private = engine.Private(table)
            workload = engine.Workload.all_kway(table.domain, min(3, len(table.domain)))
            private.counts(workload.layout)
            for label, make in mechanisms.items():
                for epsilon in options.epsilon:
                    for seed in range(options.seeds):
                        for row in measure(private, workload, make(), epsilon, seed):
                            row |= {"data": name, "mechanism": label}
                            writer.writerow({k: _short(v) for k, v in row.items()})
                        file.flush()
                        print(name, label, epsilon, seed, f"{row['mean_l1']:.4g}", flush=True)


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


# -- the chart ----------------------------------------------------------------------------------


def chart(path: Path) -> dict[str, Any]:
    """The paper's Figure 4: error and time relative to ResidualPlanner, epsilon as colour.

    Written as a Vega-Lite description; every mechanism at its better post-processing.
    """
    frame = pd.read_csv(path, keep_default_na=False)
    keys = ["data", "epsilon", "mechanism"]
    best = frame.groupby([*keys, "postprocess"], as_index=False)[["mean_l1", "seconds"]].mean()
    best = best.sort_values("mean_l1").drop_duplicates(keys)
    planner = best[best.mechanism == "ResidualPlanner"].set_index(["data", "epsilon"])
    rows = []
    for row in best.itertuples():
        if (row.data, row.epsilon) in planner.index and row.mechanism != "ResidualPlanner":
            base = planner.loc[(row.data, row.epsilon)]
            rows.append(
                {
                    "data": row.data,
                    "epsilon": row.epsilon,
                    "mechanism": row.mechanism,
                    "error": round(row.mean_l1 / base.mean_l1, 4),
                    "time": round(row.seconds / max(base.seconds, 1e-3), 2),
                }
            )
    log = {"type": "log"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Error and time relative to ResidualPlanner (below 1: better)",
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "size": 80},
        "encoding": {
            "x": {"field": "time", "type": "quantitative", "scale": log, "title": "time ratio"},
            "y": {"field": "error", "type": "quantitative", "scale": log, "title": "error ratio"},
            "color": {"field": "epsilon", "type": "ordinal", "scale": {"scheme": "viridis"}},
            "shape": {"field": "mechanism", "type": "nominal"},
            "facet": {"field": "data", "type": "nominal", "columns": 4},
        },
    }


def main() -> None:
    """Run what was asked for, then draw the chart."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pgm", action="store_true", help="AIM+PGM instead (extra pgm)")
    parser.add_argument("--megabytes", type=float, default=80.0, help="largest model of AIM+PGM")
    parser.add_argument("--chart", action="store_true", help="only draw the chart")
    parser.add_argument("--shared", type=Path, help="where the larger tables lie")
    options = parser.parse_args()
    if options.shared:
        SHARED.append(options.shared)
    path = HERE / ("frontier_pgm.csv" if options.pgm else "frontier.csv")
    if not options.chart:
        run(options, path)
    if not options.pgm:
        drawn = json.dumps(chart(path), indent=1)
        (HERE / "frontier.vl.json").write_text(drawn + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
