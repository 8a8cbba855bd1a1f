"""The default against simple baselines, over tables, kinds of workload and budgets.

    python tests/benchmarks/grid.py run rows.csv --seeds 0 3                 find, every case
    python tests/benchmarks/grid.py confirm rows.csv --seeds 100 20          those found, again
    python tests/benchmarks/grid.py report rows.csv

with ``--cases chain/heavy/0.1 wide/pairs/10`` for some of them. ``confirm`` runs the default, the
baseline that was best and ResidualPlanner completed, with no other finish than is needed.

``run`` appends one row for each case, method, finish and seed; what is there already is not made
again, so that the grid can be run in pieces. All methods of a seed have the same budget and the
same stream of noise. ``report`` compares ``default`` with the baseline that is best on the seeds
below 100 (find), on seeds from 100 on (confirm), where there are any: the best of sixteen on the
seeds that chose it flatters it. A case is won or lost only where the 95 % interval of the ratio of
mean errors (paired, delta method) leaves out 1.

Errors are divided by the number of records: ``mean_l1``, the weighted mean over the workload, and,
over the same answers, ``max_l1``, ``mean_l2``, ``one_way`` (their sums over all but one attribute)
and ``ranges`` (twenty boxes of each marginal, drawn once). Tables whose files are not there are
left out. Not private: true errors are for benchmarks only.
"""

# Over 400 lines: one experiment: its cases, its runs and its report.

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import frontier
import numpy as np
import pandas as pd
from frontier import SIX, between, coded, named

import engine
from engine.completing.nonnegative import nonnegative
from engine.demonstrating.metrics import distance
from engine.types import AttributeSet, FloatArray

DELTA = 1e-9
EPSILONS = (0.1, 1.0, 10.0)
CONFIRM = 100
"""Seeds from here on judge what seeds below have chosen."""
AGREE_CELLS = 20_000
"""Most cells of a workload that tables are made to agree on."""
FIELDS = (
    "case", "method", "finish", "seed", "mean_l1", "max_l1", "mean_l2", "one_way", "ranges",
    "seconds",
)  # fmt: skip
METRICS = FIELDS[4:9]
Answers = Mapping[AttributeSet, FloatArray]
Weights = dict[AttributeSet, float]
SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


# -- tables -------------------------------------------------------------------------------------


def _made(columns: Iterable[np.ndarray], sizes: Iterable[int]) -> engine.Table:
    domain = engine.Domain.from_sizes({f"a{i}": n for i, n in enumerate(sizes)})
    return engine.Table.from_codes(np.stack(list(columns), axis=1), domain)


def xor(_: Path) -> engine.Table:
    """Six bits, the third the exclusive or of the first two: no pair says anything."""
    bits = np.random.default_rng(1).integers(0, 2, (5000, 6))
    bits[:, 2] = bits[:, 0] ^ bits[:, 1]
    return _made(bits.T, [2] * 6)


def chain(_: Path) -> engine.Table:
    """A geometric over 10 values, two copies of it with 1 % replaced, two independent columns."""
    rng, n = np.random.default_rng(2), 5000
    a = np.minimum(rng.geometric(0.3, n) - 1, 9)
    b, c = (np.where(rng.random(n) < 0.01, rng.integers(0, 10, n), a) for _ in range(2))
    return _made([a, b, c, rng.integers(0, 4, n), rng.integers(0, 3, n)], [10, 10, 10, 4, 3])


def wide(_: Path) -> engine.Table:
    """Two attributes of 300 values, the second near the first."""
    rng, n = np.random.default_rng(3), 5000
    a = np.clip(rng.normal(150, 50, n), 0, 299).astype(int)
    b = np.clip(a + rng.normal(0, 5, n), 0, 299).astype(int)
    return _made([a, b], [300, 300])


def flat(_: Path) -> engine.Table:
    """Six even, independent attributes: nothing but the number of records is to be said."""
    rng, sizes = np.random.default_rng(4), [8, 6, 5, 4, 3, 2]
    return _made([rng.integers(0, n, 600) for n in sizes], sizes)


def _sample(name: str, keep: frontier.Keep) -> Callable[[Path], engine.Table]:
    return lambda _: coded(SAMPLES / name, keep)


def _shared(name: str, keep: frontier.Keep) -> Callable[[Path], engine.Table]:
    return lambda shared: coded(shared / name, keep)


EIGHT = "age workclass education-num marital-status occupation sex hours-per-week income"
ALL = between(2, 60)
EIGHT_OF = between(2, 60, most=8)
TABLES: dict[str, Callable[[Path], engine.Table]] = {
    "xor": xor,
    "chain": chain,
    "wide": wide,
    "flat": flat,
    "titanic": _sample("titanic.csv", ALL),
    "penguins": _sample("penguins.csv", ALL),
    "ucb": _sample("ucb_admissions.csv", ALL),
    "hair": _sample("hair_eye_color.csv", ALL),
    "anes8": _sample("anes96.csv", EIGHT_OF),
    "adult6": _sample("adult.csv.gz", named(SIX)),
    "adult8": _sample("adult.csv.gz", named(EIGHT)),
    "adult13": frontier.DATA["adult13"],
    "pums": _shared("small/pums_1000.csv", ALL),
    "acs8": _shared("small/acs12.csv", EIGHT_OF),
    "affairs": _shared("small/affairs_fair.csv", ALL),
    "affairs6": _shared("small/affairs_fair.csv", between(2, 60, most=6)),
    "heart8": _shared("small/heart_disease.csv", EIGHT_OF),
    "hr8": _shared("small/hr_attrition.csv", EIGHT_OF),
    "gss8": _shared("small/gss_spending_2018.csv", EIGHT_OF),
    "star8": _shared("star_tennessee.csv.gz", EIGHT_OF),
    "caravan8": _shared("caravan_coil2000.csv.gz", EIGHT_OF),
    "loans8": _shared("loans_lendingclub_10k.csv.gz", EIGHT_OF),
    "housing8": _shared("acs_housing_oregon.csv.gz", EIGHT_OF),
    "housing16": frontier.DATA["housing16"],
    "national8": _shared("national2019.csv.gz", between(2, 40, without=["DENSITY"], most=8)),
}

# -- workloads ----------------------------------------------------------------------------------


def _all(d: int, k: int) -> Weights:
    return dict.fromkeys(combinations(range(d), min(k, d)), 1.0)


def _overlapping(sizes: tuple[int, ...]) -> Weights:
    d = len(sizes)
    sets = [(0,), (0, 1), (0, 1, 2), (1, 2, 3), (2, 3), (3, 4, 5), (4, 5), (5,), (0, 5)]
    return {tuple(sorted({i % d for i in s})): 1.0 for s in sets}


def _heavy(sizes: tuple[int, ...]) -> Weights:
    pairs = _all(len(sizes), 2)
    return pairs | {next(iter(pairs)): 100.0}


def _largest(sizes: tuple[int, ...]) -> Weights:
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    return {tuple(sorted(order[:3])): 1.0}


def _smallest(sizes: tuple[int, ...]) -> Weights:
    kept = sorted(sorted(range(len(sizes)), key=lambda i: (sizes[i], i))[:6])
    return dict.fromkeys(combinations(kept, min(4, len(kept))), 1.0)


def _target(sizes: tuple[int, ...]) -> Weights:
    last = len(sizes) - 1
    return {(i, last): 1.0 for i in range(last)}


WORKLOADS: dict[str, Callable[[tuple[int, ...]], Weights]] = {
    "ones": lambda sizes: _all(len(sizes), 1),
    "pairs": lambda sizes: _all(len(sizes), 2),
    "heavy": _heavy,
    "target": _target,
    "uneven": _overlapping,
    "three": lambda sizes: _all(len(sizes), 3),
    "one3": _largest,
    "four": _smallest,
}


# -- methods: from a seed to answers, by finish ---------------------------------------------------


def _given(estimates: Iterable[engine.Estimate]) -> Answers:
    return {e.attrs: e.values for e in estimates}


def _finished(
    release: engine.Release, finishes: tuple[str, ...], only: frozenset[str] | None
) -> dict[str, Answers]:
    """Answers to the workload after every finish wanted."""
    wanted = [finish for finish in finishes if only is None or finish in only]
    raw = replace(release, completion=None)
    gammas = release.workload.marginals
    found: dict[str, Answers] = {}
    simple = [engine.simplex(e) for e in raw.estimates()]
    for finish in wanted:
        if finish == "raw":
            found[finish] = _given(raw.estimates())
        elif finish == "clip":
            found[finish] = _given(map(engine.clip, raw.estimates()))
        elif finish == "simplex":
            found[finish] = _given(simple)
        elif finish == "maxent":
            found[finish] = _given(replace(release, completion="maxent").estimates())
        elif finish == "agree" and release.workload.cells <= AGREE_CELLS:
            agreed = engine.consistent(simple, weights=release.workload.weights, nonnegative=True)
            found[finish] = _given(agreed.estimates())
        elif finish == "lnn" and release.workload.cells <= AGREE_CELLS:
            moved = nonnegative(release.beliefs, release.domain, gammas)
            found[finish] = _given(replace(raw, beliefs=moved).estimates())
    return found


def _lower(workload: engine.Workload, degree: int) -> engine.Workload:
    """All sets of this many attributes within the workload's marginals, with their weights."""
    weights: dict[tuple[str | int, ...], float] = {}
    for gamma, weight in workload.weights.items():
        for attrs in combinations(gamma, min(degree, len(gamma))):
            weights[attrs] = weights.get(attrs, 0.0) + weight
    return engine.Workload(weights, workload.domain)


class Case:
    """One table, one workload, one budget; ``only``: finishes wanted, all if None."""

    def __init__(self, name: str, shared: Path, only: frozenset[str] | None = None) -> None:
        self.name, self.only = name, only
        table, kind, epsilon = name.split("/")
        self.private = _private(table, shared)
        sizes = self.private.domain.sizes
        self.workload = engine.Workload(WORKLOADS[kind](sizes), self.private.domain)
        self.rho = Fraction(engine.rho_from(epsilon=float(epsilon), delta=DELTA))

    def run(self, mechanism: Any, seed: int, workload: engine.Workload | None = None) -> Any:
        """Release what a mechanism makes of the workload, or of another with the same budget."""
        asked = self.workload if workload is None else workload
        return engine.run(mechanism, self.private, asked, rho=self.rho, seed=seed).release

    def below(self, degree: int, seed: int) -> engine.Release:
        """ResidualPlanner's measurements of smaller marginals, to be completed for the workload."""
        release = self.run(engine.ResidualPlanner(), seed, _lower(self.workload, degree))
        return replace(release, workload=self.workload, completion="maxent")

    @property
    def degree(self) -> int:
        """Most attributes of a marginal asked for."""
        return max(map(len, self.workload.marginals))


@lru_cache(maxsize=4)
def _private(table: str, shared: Path) -> engine.Private:
    return engine.Private(TABLES[table](shared))


Method = Callable[[Case, int], dict[str, Answers]]
_NOISY = ("raw", "clip", "simplex", "agree", "lnn")


def _product_of(case: Case, seed: int) -> dict[str, Answers]:
    """Products of noisy 1-way tables, simplexed."""
    release = case.run(engine.ResidualPlanner(), seed, _lower(case.workload, 1))
    total = max(float(release.estimate().values), 1e-9)
    tables = {a: engine.simplex(release.estimate(*a)).values for a in release.workload.closure}
    answers = {}
    for gamma in case.workload.marginals:
        table = np.array(total)
        for i in gamma:
            table = np.multiply.outer(table, tables[(i,)] / total)
        answers[gamma] = table
    return {"product": answers}


METHODS: dict[str, Method] = {
    "default": lambda case, seed: {"": _given(case.run(engine.AimGrem(), seed).estimates())},
    "planner": lambda case, seed: _finished(
        case.run(engine.ResidualPlanner(), seed), (*_NOISY, "maxent"), case.only
    ),
    "planner max": lambda case, seed: _finished(
        case.run(engine.ResidualPlanner(objective="max"), seed), ("simplex", "maxent"), case.only
    ),
    "paper": lambda case, seed: _finished(
        case.run(engine.AimGrem.paper(), seed), ("simplex",), case.only
    ),
    "equal": lambda case, seed: _finished(
        case.run(engine.EqualSplit(), seed), ("simplex", "maxent"), case.only
    ),
    "pairs": lambda case, seed: (
        {"maxent": _given(case.below(2, seed).estimates())} if case.degree > 2 else {}
    ),
    "ones": lambda case, seed: {"maxent": _given(case.below(1, seed).estimates())},
    "product": _product_of,
    "uniform": lambda case, seed: _finished(
        case.run(engine.Uniform(), seed), ("simplex",), case.only
    ),
}
BASELINES = [name for name in METHODS if name != "default"]


# -- judging ------------------------------------------------------------------------------------


def judged(case: Case, answers: Answers) -> dict[str, float]:
    """Every metric of a set of answers."""
    weights = case.workload.weights
    records = max(float(case.private.marginal(()).values), 1.0)
    off = [
        distance(values, case.private.marginal(gamma).values) for gamma, values in answers.items()
    ]
    w = np.array([weights[gamma] for gamma in answers])
    found = np.array([(one.l1, one.l2, one.one_way, one.ranges) for one in off])
    l1, l2, ones, ranges = found.T / records
    return {
        "mean_l1": float(w @ l1 / w.sum()),
        "max_l1": float(l1.max()),
        "mean_l2": float(w @ l2 / w.sum()),
        "one_way": float(np.mean(ones)),
        "ranges": float(w @ ranges / w.sum()),
    }


# -- running ------------------------------------------------------------------------------------


def names(options: argparse.Namespace) -> Iterator[str]:
    """Every case asked for."""
    if options.cases:
        yield from options.cases
        return
    for table in options.tables:
        for workload in options.workloads:
            yield from (f"{table}/{workload}/{epsilon:g}" for epsilon in options.epsilon)


def run(options: argparse.Namespace) -> None:
    """Append every row asked for that is not there."""
    there: set[tuple[str, str, int]] = set()
    if options.out.exists():
        old = pd.read_csv(options.out)
        there = set(zip(old.case, old.method, old.seed, strict=True))
    first, count = options.seeds
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        for name in names(options):
            wanted = [
                (method, seed)
                for method in options.methods
                for seed in range(first, first + count)
                if (name, method, seed) not in there
            ]
            try:
                case = Case(name, options.shared) if wanted else None
            except FileNotFoundError:
                print(f"{name}: left out, its file is not there")
                continue
            for method, seed in wanted:
                assert case is not None
                for row in _rows(case, method, seed):
                    writer.writerow(row)
                file.flush()


def confirm(options: argparse.Namespace) -> None:
    """Run each case again on other seeds: the default and what was best on the seeds that chose."""
    frame = pd.read_csv(options.out)
    frame = frame.assign(finish=frame.finish.fillna(""))
    chose = frame[(frame.seed < CONFIRM) & frame.method.isin(BASELINES)]
    wanted = set(options.cases or chose.case)
    means = chose.groupby(["case", "method", "finish"], sort=False)[options.metric].mean()
    for name in dict.fromkeys(chose.case):
        if name not in wanted:
            continue
        method, finish = means[name].idxmin()
        case = Case(name, options.shared, frozenset({finish, "maxent"}))
        _append(case, dict.fromkeys(["default", method, "planner"]), options)


def _append(case: Case, methods: Iterable[str], options: argparse.Namespace) -> None:
    """Append the rows of one case that are not there yet."""
    old = pd.read_csv(options.out)
    old = old[old.case == case.name]
    there = set(zip(old.method, old.seed, strict=True))
    first, count = options.seeds
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        for seed in range(first, first + count):
            for method in methods:
                if (method, seed) not in there:
                    for row in _rows(case, method, seed):
                        writer.writerow(row)
                    file.flush()


def _rows(case: Case, method: str, seed: int) -> Iterator[dict[str, Any]]:
    start = time.process_time()
    found = METHODS[method](case, seed)
    seconds = time.process_time() - start
    for finish, answers in found.items():
        errors = {name: f"{value:.6g}" for name, value in judged(case, answers).items()}
        labels = {"case": case.name, "method": method, "finish": finish, "seed": seed}
        yield {**labels, **errors, "seconds": f"{seconds:.3g}"}


# -- reporting ----------------------------------------------------------------------------------


def ratio(ours: FloatArray, theirs: FloatArray) -> tuple[float, float, float]:
    """Ratio of means of paired errors with its 95 % interval (delta method)."""
    from scipy import stats

    middle, n = float(ours.mean() / theirs.mean()), len(ours)
    if n < 2:
        return middle, -math.inf, math.inf
    spread = float(np.std(ours - middle * theirs, ddof=1) / theirs.mean() / math.sqrt(n))
    reach = float(stats.t.ppf(0.975, n - 1)) * spread
    return middle, middle - reach, middle + reach


def compared(frame: pd.DataFrame, metric: str = "mean_l1", ours: str = "default") -> pd.DataFrame:
    """One row a case: our error, the best baseline and the ratio with its interval."""
    frame = frame.assign(finish=frame.finish.fillna(""))
    rows = []
    for case, group in frame.groupby("case", sort=False):
        table = group.assign(key=[*zip(group.method, group.finish, strict=True)])
        table = table.pivot(index="seed", columns="key", values=metric)
        mine = [key for key in table.columns if key[0] == ours]
        baselines = [key for key in table.columns if key[0] in BASELINES]
        if not mine or not baselines:
            continue
        mine, theirs = table[mine[0]], table[baselines]
        chose = theirs[theirs.index < CONFIRM]
        if not len(chose):
            continue
        best = chose.mean().idxmin()
        both = pd.concat([mine, theirs[best]], axis=1, keys=["ours", "best"]).dropna()
        if (both.index >= CONFIRM).any():
            both = both[both.index >= CONFIRM]
        middle, low, high = ratio(both.ours.to_numpy(), both.best.to_numpy())
        base = theirs.get(("planner", "maxent"), mine * math.nan)
        completed = float(mine.mean() / base.mean())
        rows.append(
            {
                "case": case, "ours": both.ours.mean(), "best": " ".join(best).strip(),
                "its": both.best.mean(), "ratio": middle, "low": low, "high": high,
                "seeds": len(both), "to_planner_maxent": completed,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def report(options: argparse.Namespace) -> None:
    """Print the comparison, worst first, and its summary."""
    frame = pd.read_csv(options.out)
    found = compared(frame, options.metric, options.ours).sort_values("ratio", ascending=False)
    with pd.option_context("display.max_rows", None, "display.width", 160):
        print(found.round(4).to_string(index=False))
    lost, won = (found.low > 1.05).sum(), (found.high < 1).sum()
    print(
        f"{len(found)} cases: ahead beyond the interval in {won}, more than 5 % behind beyond it "
        f"in {lost}; geometric mean of the ratio to the best baseline "
        f"{np.exp(np.log(found.ratio).mean()):.3f}, to ResidualPlanner completed "
        f"{np.exp(np.log(found.to_planner_maxent).mean()):.3f}"
    )


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("what", choices=("run", "confirm", "report"))
    asked.add_argument("out", type=Path, help="the CSV of rows")
    asked.add_argument("--cases", nargs="+", help="table/workload/epsilon")
    asked.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    asked.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=list(WORKLOADS))
    asked.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    asked.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    asked.add_argument("--seeds", nargs=2, type=int, default=[0, 3], metavar=("FIRST", "COUNT"))
    asked.add_argument("--metric", default="mean_l1", choices=METRICS)
    asked.add_argument("--ours", default="default", help="whose errors are compared")
    asked.add_argument("--shared", type=Path, default=frontier.SHARED)
    return asked


def main() -> None:
    """Run or report."""
    options = parser().parse_args()
    {"run": run, "confirm": confirm, "report": report}[options.what](options)


if __name__ == "__main__":
    main()
