"""The accuracy frontier: data x epsilon x mechanism x seed, as a CSV and as the paper's Figure 4.

    python tests/benchmarks/frontier.py                            everything (some hours)
    python tests/benchmarks/frontier.py --data titanic adult13 --epsilon 0.1 1 10 --seeds 1
    python tests/benchmarks/frontier.py --pgm --data titanic --seeds 1        AIM+PGM alone
    python tests/benchmarks/frontier.py --chart                    only draw what the CSV holds

Rows are appended to frontier.csv beside this file, AIM+PGM's (extra ``pgm``) to frontier_pgm.csv,
after a line with the command that made them. Rows that are there already are not made again, so
the grid can be run in pieces; delete a file to make it anew. Tables that are not there are left
out, and so is a mechanism where a table is too large for it: GReM-LNN beyond 500,000 cells of all
marginals asked for, Private-PGM beyond 2 million cells of the joint table, and everything but the
paper's mechanism and ResidualPlanner on the shapes of ACS and Loans, whose rows are made up.

Every run has a process of its own, which first runs its mechanism on a tiny table, so that loading
compiled code is not timed. ``mean_l1`` is the mean over all 3-way marginals of the L1 distance
divided by the number of records; ``seconds`` go from the coded table over counting and rounds to
all answers; ``cpu_seconds`` are what processors worked in them, which says more where other jobs
run, and is what charts show; ``peak_mb`` is the largest size of the process, with the interpreter,
the libraries (about 250 MB) and the table. Answers that can be negative are also scored after
``simplex``. Not private: true errors are for benchmarks only.
"""

# Over 400 lines: one experiment: its cases, its runs, its rows and its picture.

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import speed

import engine
from engine import grem
from engine.completing import dense
from engine.completing.nonnegative import nonnegative
from engine.mechanisms import catalogue
from engine.mechanisms.aim_pgm import AimPgm

HERE = Path(__file__).resolve().parent
SHARED = speed.DOMAINS.parent
DELTA = 1e-9
EPSILONS = (0.1, 0.31, 1.0, 3.1, 10.0)
KEY = ("data", "epsilon", "mechanism", "megabytes", "seed")
FIELDS = (
    "data", "epsilon", "mechanism", "megabytes", "postprocess", "seed", "mean_l1", "mean_l2",
    "max_l1", "seconds", "cpu_seconds", "peak_mb", "rounds", "decision",
)  # fmt: skip
FIGURES = ("mean_l1", "mean_l2", "max_l1", "seconds", "cpu_seconds", "peak_mb")
Row = dict[str, Any]
Keep = Callable[[pd.DataFrame], Sequence[str]]


# -- data ---------------------------------------------------------------------------------------


def coded(path: Path, keep: Keep) -> engine.Table:
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


def between(low: int, high: int, *, without: Iterable[str] = (), most: int = 99) -> Keep:
    """Columns with so many distinct values."""

    def keep(frame: pd.DataFrame) -> list[str]:
        names = [c for c in frame if low <= frame[c].nunique() <= high and c not in without]
        return names[:most]

    return keep


def named(names: str) -> Keep:
    """These columns."""
    return lambda _: names.split()


def shaped(path: Path) -> engine.Table:
    """50,000 made-up records with the sizes in a domain file: the paper's own rows are not public.

    Raises:
        FileNotFoundError: If the domain file is not there.
    """
    sizes = speed.shape_of(str(path.resolve()))
    if sizes is None:
        raise FileNotFoundError(path)
    return speed.made_table(sizes, 50_000)


FLAGS = "SVAL SRNT R18 RESMODE FFULP NR FS FINSP FGASP FYBLP FTAXP FWATP FVALP FELEP FRMSP FMRGIP"
STAR = (
    "gender ethnicity birth stark star1 readk mathk lunchk schoolk degreek ladderk experiencek "
    "systemk"
)
SIX = "workclass education-num marital-status occupation relationship income"
SMALL = between(2, 60)
DATA: dict[str, Callable[[Path], engine.Table]] = {
    "adult13": lambda _: speed.adult(),
    "adult6": lambda shared: coded(shared / "adult.csv.gz", named(SIX)),
    "national18": lambda shared: coded(
        shared / "national2019.csv.gz", between(2, 100, without=["DENSITY"])
    ),
    "housing16": lambda shared: coded(shared / "acs_housing_oregon.csv.gz", named(FLAGS)),
    "housing20": lambda shared: coded(
        shared / "acs_housing_oregon.csv.gz", between(3, 60, most=20)
    ),
    "star13": lambda shared: coded(shared / "star_tennessee.csv.gz", named(STAR)),
    "titanic": lambda shared: coded(shared / "small" / "titanic.csv", SMALL),
    "anes96": lambda shared: coded(shared / "small" / "anes96.csv", SMALL),
    "penguins": lambda shared: coded(shared / "small" / "penguins.csv", SMALL),
    "acs12": lambda shared: coded(shared / "small" / "acs12.csv", SMALL),
    "affairs": lambda shared: coded(shared / "small" / "affairs_fair.csv", SMALL),
    "heart": lambda shared: coded(shared / "small" / "heart_disease.csv", SMALL),
    "acs_shape": lambda shared: shaped(shared / "domains" / speed.SHAPES["ACS"]),
    "loans_shape": lambda shared: shaped(shared / "domains" / speed.SHAPES["Loans"]),
}


def workload_of(table: engine.Table) -> engine.Workload:
    """All 3-way marginals, or the one that there is."""
    return engine.Workload.all_kway(table.domain, min(3, len(table.domain)))


# -- who competes -------------------------------------------------------------------------------


def released(mechanism: Any, state: Any) -> Iterable[engine.Estimate]:
    """Answer as the mechanism's own release does."""
    estimates: Iterable[engine.Estimate] = mechanism.release(state).estimates()
    return estimates


def without_negatives(mechanism: Any, state: Any) -> Iterator[engine.Estimate]:
    """GReM-LNN: the nearest residuals without negative cells."""
    release = mechanism.release(state)
    workload = release.workload
    beliefs = nonnegative(release.beliefs, release.domain, workload.marginals)
    return (grem.estimate(beliefs, release.domain, gamma) for gamma in workload.marginals)


def from_the_joint(mechanism: Any, state: Any) -> Iterator[engine.Estimate]:
    """Private-PGM on the whole joint table, fitted to what was measured."""
    release = mechanism.release(state)
    table = dense.joint_table(release.beliefs, release.domain)
    for gamma in release.workload.marginals:
        values = dense.marginal_of(table, gamma)
        yield engine.Estimate(release.domain, gamma, values, None, (), "pgm")


def from_the_model(mechanism: Any, state: Any) -> Iterable[engine.Estimate]:
    """Answer by the graphical model."""
    estimates: Iterable[engine.Estimate] = mechanism.estimates(state)
    return estimates


def asked_cells(table: engine.Table) -> int:
    """Cells of all marginals asked for."""
    return sum(table.domain.cells(gamma) for gamma in workload_of(table).marginals)


def joint_cells(table: engine.Table) -> int:
    """Cells of the joint table."""
    return math.prod(table.domain.sizes)


@dataclass(frozen=True, slots=True)
class Peer:
    """A mechanism in the comparison.

    Args:
        name: What rows call it.
        make: Makes the mechanism; AIM+PGM from its largest model in MB.
        answers: From the mechanism and its last state to the answers.
        negative: Whether answers can be negative, and are scored after ``simplex`` too.
        size: What limits it.
        most: The largest such size.
    """

    name: str
    make: Callable[..., Any]
    answers: Callable[[Any, Any], Iterable[engine.Estimate]] = released
    negative: bool = False
    size: Callable[[engine.Table], int] = asked_cells
    most: float = 20e6


def made(key: str) -> Callable[[], Any]:
    """What makes a mechanism of the catalogue."""
    return catalogue.find(key).make


PEERS = {
    "completed": Peer("AIM+GReM, completed", made("aim_grem")),
    "lowered": Peer("AIM+GReM, completed, total lowered", made("aim_grem_lowered")),
    "paper": Peer("AIM+GReM (paper)", made("aim_grem_paper"), negative=True, most=math.inf),
    "planner": Peer("ResidualPlanner", made("residual_planner"), negative=True, most=math.inf),
    "mwem": Peer("MWEM+GReM", made("mwem_grem"), negative=True),
    "lnn": Peer("GReM-LNN", made("aim_grem_paper"), without_negatives, most=500_000),
    "dense": Peer(
        "Private-PGM",
        made("aim_grem_paper"),
        from_the_joint,
        size=joint_cells,
        most=dense.MAX_CELLS,
    ),
}
PGM = {"pgm": Peer("AIM+PGM", lambda megabytes: AimPgm(megabytes), from_the_model)}
ALL = PEERS | PGM


# -- running ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One run: a table, a mechanism and what it is given. Its process makes the table itself."""

    data: str
    epsilon: float
    mechanism: str
    seed: int
    megabytes: float | None = None
    shared: Path = SHARED

    @property
    def peer(self) -> Peer:
        """Who is run."""
        return ALL[self.mechanism]

    def make(self) -> Any:
        """Return the mechanism."""
        return self.peer.make(*([] if self.megabytes is None else [self.megabytes]))

    def labels(self) -> Row:
        """Return what tells its rows from those of other cases."""
        megabytes = "" if self.megabytes is None else f"{self.megabytes:g}"
        values = (self.data, f"{self.epsilon:g}", self.peer.name, megabytes, str(self.seed))
        return dict(zip(KEY, values, strict=True))


def now() -> np.ndarray:
    """Seconds on the clock, and seconds that processors worked for this process."""
    return np.array([time.perf_counter(), time.process_time()])


def judged(answers: Iterable[engine.Estimate], private: engine.Private) -> tuple[Row, np.ndarray]:
    """Mean L1, mean L2 and largest L1 error divided by N, and the seconds the answers took."""
    records = float(private.marginal(()).values)
    l1, l2, seconds = [], [], np.zeros(2)
    start = now()
    for answer in answers:
        seconds += now() - start
        off = (answer.values - private.marginal(answer.attrs).values).ravel()
        l1.append(float(np.abs(off).sum()) / records)
        l2.append(math.sqrt(off @ off) / records)
        start = now()
    seconds += now() - start
    return {"mean_l1": np.mean(l1), "mean_l2": np.mean(l2), "max_l1": max(l1)}, seconds


def measure(case: Case) -> list[Row]:
    """Run once; a row for the raw answers and, where they can be negative, one after simplex."""
    mechanism = case.make()
    pairs = engine.Table.from_codes([[0, 1], [1, 1]], engine.Domain.from_sizes({"a": 2, "b": 2}))
    speed.timed_run(mechanism, pairs, 1.0, degree=2)
    table = DATA[case.data](case.shared)
    workload = workload_of(table)
    rho = Fraction(engine.rho_from(epsilon=case.epsilon, delta=DELTA))
    rng = engine.rehearsal_noise(case.seed)
    start = now()
    private = engine.Private(table)
    private.counts(workload.layout)
    events, state = [], None
    for state, event in engine.rounds(mechanism, private, workload, rho=rho, rng=rng):  # noqa: B007
        events.append(event)
    seconds = now() - start
    base = {
        "rounds": sum(isinstance(event, engine.RoundEnded) for event in events),
        "decision": (getattr(events[0], "decision", None) or "").split(".")[0],
    }
    rows = []
    for postprocess in ("", "simplex") if case.peer.negative else ("",):
        answers = case.peer.answers(mechanism, state)
        kept = map(engine.simplex, answers) if postprocess else answers
        errors, more = judged(kept, private)
        times = dict(zip(("seconds", "cpu_seconds"), seconds + more, strict=True))
        rows.append(base | {"postprocess": postprocess} | times | errors)
    return rows


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Every case asked for whose table is there and not too large for the mechanism."""
    megabytes = options.megabytes if options.pgm else [None]
    for name in options.data:
        try:
            table = DATA[name](options.shared)
        except (FileNotFoundError, engine.DataError, engine.DomainError) as error:
            print(f"{name}: left out ({type(error).__name__})")
            continue
        fitting = [key for key in options.mechanisms if ALL[key].size(table) <= ALL[key].most]
        for key in fitting:
            for epsilon in options.epsilon:
                for mb in megabytes:
                    for seed in range(options.seeds):
                        yield Case(name, epsilon, key, seed, mb, options.shared)


def command(options: argparse.Namespace) -> str:
    """The command that makes the rows asked for, without where things lie."""
    parts = ["python tests/benchmarks/frontier.py"]
    parts += ["--pgm --megabytes", *(f"{mb:g}" for mb in options.megabytes)] if options.pgm else []
    parts += [] if options.pgm else ["--mechanisms", *options.mechanisms]
    parts += ["--data", *options.data, "--epsilon", *(f"{e:g}" for e in options.epsilon)]
    return " ".join([*parts, f"--seeds {options.seeds}"])


def read(path: Path) -> pd.DataFrame:
    """Read rows kept by ``run``; a figure that an earlier version did not measure is NaN."""
    frame = pd.read_csv(path, comment="#", keep_default_na=False, dtype={"megabytes": str})
    missing = set(FIELDS) - set(frame.columns)
    if missing:
        raise SystemExit(f"{path.name} has no column {', '.join(sorted(missing))}: move it away.")
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in FIGURES})


def found(path: Path) -> set[tuple[str, ...]]:
    """Labels of the cases whose rows are there, complete."""
    if not path.exists():
        return set()
    frame = read(path).dropna(subset=list(FIGURES))
    frame["epsilon"] = [f"{epsilon:g}" for epsilon in frame.epsilon]
    return set(frame[list(KEY)].astype(str).itertuples(index=False, name=None))


def run(options: argparse.Namespace, path: Path) -> None:
    """Append the rows of every case asked for that are not there."""
    there, new, begun = found(path), not path.exists(), False
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        for case in cases(options):
            labels = case.labels()
            if tuple(labels.values()) in there:
                continue
            rows, peak = speed.in_process(measure, case)
            if not begun:
                begun = True
                file.write(f"# {command(options)}\n")
            for row in rows:
                row |= labels | {"peak_mb": round(peak * 1024)}
                writer.writerow({key: _short(value) for key, value in row.items()})
            file.flush()
            print(*labels.values(), *(f"{row['mean_l1']:.4g}" for row in rows), flush=True)


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


# -- the chart ----------------------------------------------------------------------------------

BASE = "ResidualPlanner"


def averages(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, every mechanism at its better post-processing."""
    keys = ["data", "epsilon", "mechanism"]
    means = frame.groupby([*keys, "postprocess"], as_index=False)[list(FIGURES)].mean()
    return means.sort_values("mean_l1").drop_duplicates(keys).sort_values(keys)


def relative(best: pd.DataFrame) -> pd.DataFrame:
    """Error and time as multiples of ResidualPlanner's on the same table at the same epsilon."""
    base = best[best.mechanism == BASE].set_index(["data", "epsilon"])
    base = base[["mean_l1", "cpu_seconds"]].add_suffix("_base")
    kept = best[best.mechanism != BASE].join(base, on=["data", "epsilon"])
    kept = kept.dropna(subset=["mean_l1_base"])
    return kept[["data", "epsilon", "mechanism"]].assign(
        error=(kept.mean_l1 / kept.mean_l1_base).round(4),
        time=(kept.cpu_seconds / kept.cpu_seconds_base.clip(lower=1e-3)).round(2),
    )


def chart(frame: pd.DataFrame) -> Row:
    """The paper's Figure 4: error and time relative to ResidualPlanner, epsilon as colour.

    Written as a Vega-Lite description; every mechanism at its better post-processing.
    """
    rows = relative(averages(frame)).to_dict("records")
    log = {"type": "log"}
    one = {"color": "grey", "strokeDash": [5, 4], "type": "rule"}
    encoding = {
        "x": {
            "field": "time",
            "type": "quantitative",
            "scale": log,
            "title": "processor time ratio",
        },
        "y": {"field": "error", "type": "quantitative", "scale": log, "title": "error ratio"},
        "color": {"field": "epsilon", "type": "ordinal", "scale": {"scheme": "viridis"}},
        "shape": {"field": "mechanism", "type": "nominal"},
    }
    points = {"mark": {"type": "point", "filled": True, "size": 80}, "encoding": encoding}
    lines = [{"mark": one, "encoding": {axis: {"datum": 1}}} for axis in ("x", "y")]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {
            "text": f"Error and time relative to {BASE}",
            "subtitle": f"{BASE} = 1 (dashed); below 1: better. Processor time; means over seeds, "
            "each mechanism at its better post-processing.",
        },
        "data": {"values": rows},
        "facet": {"field": "data", "type": "nominal", "title": None},
        "columns": 4,
        "spec": {"width": 180, "height": 180, "layer": [*lines, points]},
    }


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    asked.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    asked.add_argument("--seeds", type=int, default=3)
    asked.add_argument("--mechanisms", nargs="+", default=list(PEERS), choices=list(PEERS))
    asked.add_argument("--pgm", action="store_true", help="AIM+PGM instead (extra pgm)")
    asked.add_argument(
        "--megabytes", nargs="+", type=float, default=[80.0], help="largest models of AIM+PGM"
    )
    asked.add_argument("--chart", action="store_true", help="only draw the chart")
    asked.add_argument("--out", type=Path, help="keep the rows here instead; no chart")
    asked.add_argument("--shared", type=Path, default=SHARED, help="where the larger tables lie")
    return asked


def main() -> None:
    """Run what was asked for, then draw the chart."""
    options = parser().parse_args()
    if options.pgm:
        options.mechanisms = list(PGM)
    path = options.out or HERE / ("frontier_pgm.csv" if options.pgm else "frontier.csv")
    if not options.chart:
        run(options, path)
    if not options.pgm and not options.out:
        drawn = json.dumps(chart(read(path)), indent=1)
        (HERE / "frontier.vl.json").write_text(drawn + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
