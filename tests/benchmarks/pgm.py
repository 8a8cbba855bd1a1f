"""AIM with Private-PGM at its own best: the rounds of private-pgm's ``aim.py``, on mbi; resumable.

    python tests/benchmarks/pgm.py                             Adult, 13 attributes, three epsilons
    python tests/benchmarks/pgm.py --data titanic --epsilon 1 --megabytes 80

``engine.mechanisms.aim_pgm`` takes 100 steps of mirror descent a round so that it can be watched;
this is what its authors run: 1,000 steps in every round and 1,000 more at the end, 16 nominal
rounds for each attribute, the first 1-way marginals at a round's noise each, and as candidates all
sets inside the model, and those others with which it stays below its share of the limit. Answers
are the model's own marginals: synthetic records, which ``aim.py`` draws from it, add noise only.

After every round what was found is kept in ``--state``, a folder outside the project, so a run can
be stopped and goes on where it was; its seconds add up over the pieces. A finished
run adds its row to frontier_pgm.csv as mechanism ``AIM+PGM (aim.py)``. Needs the extra ``pgm``. Not
private: true errors are for benchmarks only.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import frontier
import numpy as np
import speed

import engine

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about JAX's own settings
    import mbi

NAME = "AIM+PGM (aim.py)"
STEPS = 1000
"""Of mirror descent in every round, as ``aim.py`` has it."""
EXPECTED_ABSOLUTE = math.sqrt(2.0 / math.pi)
Clique = tuple[int, ...]


@dataclass
class Progress:
    """Where a run stands, but for measurements and potentials."""

    sigma: float
    epsilon: float
    rho_used: float
    round: int = 0
    last: bool = False
    fitted: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0


class Run:
    """One run, kept in a file after every round.

    Args:
        table: The records; true counts are used for errors at the end too.
        epsilon: With delta = 1e-9.
        megabytes: Largest model.
        seed: Of noise and selections.
        path: Where it is kept.
    """

    def __init__(
        self, table: engine.Table, *, epsilon: float, megabytes: float, seed: int, path: Path
    ) -> None:
        self.private, self.megabytes, self.path = engine.Private(table), megabytes, path
        self.workload = frontier.workload_of(table)
        self.private.counts(self.workload.layout)
        self.domain = mbi.Domain(tuple(range(len(table.domain))), table.domain.sizes)
        self.rho = float(engine.rho_from(epsilon=epsilon, delta=frontier.DELTA))
        closure = [attrs for attrs in self.workload.closure if attrs]
        weights = self.workload.candidate_weights()[1:]
        self.weight = dict(zip(closure, weights.tolist(), strict=True))
        self.rng = np.random.default_rng(seed)
        self.measured: list[tuple[Clique, np.ndarray, float]] = []
        self.model: Any = None
        self._factors: list[tuple[Clique, np.ndarray]] = []
        rounds = 16 * len(table.domain)
        self.at = Progress(
            sigma=math.sqrt(rounds / (1.8 * self.rho)),
            epsilon=math.sqrt(0.8 * self.rho / rounds),
            rho_used=0.0,
        )
        self._clock = frontier.now()

    # -- one round ------------------------------------------------------------------------------

    def start(self) -> None:
        """Measure every 1-way marginal and fit the first model, or take up where it was left."""
        if self.path.exists():
            self._load()
            return
        for clique in [c for c in self.weight if len(c) == 1]:
            self._measure(clique)
            self.at.rho_used += 0.5 / self.at.sigma**2
        self._fit()
        self._save()

    def step(self) -> None:
        """Select, measure, fit; the last round is the one that uses up the budget."""
        at = self.at
        left = self.rho - at.rho_used
        if left < 2 * (0.5 / at.sigma**2 + at.epsilon**2 / 8):
            at.sigma, at.epsilon, at.last = math.sqrt(1 / (1.8 * left)), math.sqrt(0.8 * left), True
        at.rho_used += at.epsilon**2 / 8 + 0.5 / at.sigma**2
        chosen = self._select()
        before = self._answer(chosen)
        self._measure(chosen)
        self._fit()
        at.round += 1
        change = float(np.abs(self._answer(chosen) - before).sum())
        if change <= EXPECTED_ABSOLUTE * at.sigma * before.size:
            at.sigma, at.epsilon = at.sigma / 2, at.epsilon * 2
        self._save()
        spent = f"{at.rho_used / self.rho:.4f} of the budget"
        print(f"round {at.round}: {chosen}, {spent}, {at.cpu_seconds:,.0f} s", flush=True)

    def finish(self) -> None:
        """Fit once more."""
        if not self.at.fitted:
            self._fit()
            self.at.fitted = True
            self._save()

    def _select(self) -> Clique:
        cliques = list(self.model.cliques)
        inside = {
            c for clique in cliques for k in (1, 2, 3) for c in combinations(sorted(clique), k)
        }
        most = self.megabytes * self.at.rho_used / self.rho
        size = mbi.junction_tree.hypothetical_model_size
        kept = [c for c in self.weight if c in inside or size(self.domain, [*cliques, c]) <= most]
        scores = np.array([self._score(c) for c in kept])
        logits = scores * self.at.epsilon / (2 * max(self.weight[c] for c in kept))
        shares = np.exp(logits - logits.max())
        return kept[int(self.rng.choice(len(kept), p=shares / shares.sum()))]

    def _score(self, clique: Clique) -> float:
        exact = self._exact(clique)
        error = float(np.abs(exact - self._answer(clique)).sum())
        return self.weight[clique] * (error - EXPECTED_ABSOLUTE * self.at.sigma * exact.size)

    def _measure(self, clique: Clique) -> None:
        exact = self._exact(clique)
        noisy = exact + self.rng.normal(0.0, self.at.sigma, exact.size)
        self.measured.append((clique, noisy, self.at.sigma))

    def _fit(self, steps: int = STEPS, warm: Any = None) -> None:
        self.model = mbi.estimation.MirrorDescent().estimate(
            self.domain,
            [mbi.LinearMeasurement(noisy, c, stddev=sigma) for c, noisy, sigma in self.measured],
            iters=steps,
            warm_start=warm or self.model,
        )
        factors = self.model.potentials.tables.values()
        logs = [(f.domain.attributes, np.asarray(f.values, dtype=float)) for f in factors]
        self._factors = [(attrs, np.exp(log - log.max())) for attrs, log in logs]

    def _exact(self, clique: Clique) -> np.ndarray:
        return self.private.marginal(clique).values.ravel().astype(float)

    def _answer(self, clique: Clique) -> np.ndarray:
        if self.model.marginals.supports(clique):
            return np.asarray(self.model.project(clique).datavector(), dtype=float).ravel()
        # Outside the model: its factors multiplied, all other attributes summed over. mbi compiles
        # a program for each of hundreds of sets in every round: a second each, for milliseconds.
        named = [part for c, table in self._factors for part in (table, list(c))]
        table = np.einsum(*named, list(clique), optimize="greedy")
        return table.ravel() * (float(self.model.total) / table.sum())

    # -- keeping --------------------------------------------------------------------------------

    def _save(self) -> None:
        now = frontier.now()
        passed, self._clock = now - self._clock, now
        self.at.seconds += float(passed[0])
        self.at.cpu_seconds += float(passed[1])
        self.at.peak_mb = max(self.at.peak_mb, speed.peak_memory() / 2**20)
        cliques = list(self.model.potentials.cliques)
        told = {
            "at": asdict(self.at),
            "rng": self.rng.bit_generator.state,
            "measured": [[list(c), sigma] for c, _, sigma in self.measured],
            "cliques": [list(c) for c in cliques],
        }
        arrays = {f"y{k}": noisy for k, (_, noisy, _) in enumerate(self.measured)}
        arrays |= {
            f"p{k}": np.asarray(self.model.potentials[c].values) for k, c in enumerate(cliques)
        }
        partial = self.path.with_suffix(".partial.npz")
        np.savez(partial, told=json.dumps(told), **arrays)
        partial.replace(self.path)

    def _load(self) -> None:
        with np.load(self.path) as kept:
            told = json.loads(str(kept["told"]))
            self.at = Progress(**told["at"])
            self.rng.bit_generator.state = told["rng"]
            self.measured = [
                (tuple(c), kept[f"y{k}"], sigma) for k, (c, sigma) in enumerate(told["measured"])
            ]
            tables = {
                tuple(c): mbi.Factor(self.domain.project(tuple(c)), kept[f"p{k}"])
                for k, c in enumerate(told["cliques"])
            }
        potentials = mbi.CliqueVector(self.domain, list(tables), tables)
        self._fit(steps=0, warm=potentials)

    # -- the end --------------------------------------------------------------------------------

    def answers(self) -> Iterator[engine.Estimate]:
        """Answer the workload's marginals from the model."""
        domain = self.workload.domain
        for gamma in self.workload.marginals:
            values = self._answer(gamma).reshape(domain.shape(gamma))
            yield engine.Estimate(domain, gamma, values, None, (), "pgm")

    def row(self) -> dict[str, Any]:
        """Errors and what they took."""
        errors, seconds = frontier.judged(self.answers(), self.private)
        at = self.at
        at.peak_mb = max(at.peak_mb, speed.peak_memory() / 2**20)
        return errors | {
            "seconds": at.seconds + float(seconds[0]),
            "cpu_seconds": at.cpu_seconds + float(seconds[1]),
            "peak_mb": round(at.peak_mb),
            "rounds": at.round,
        }


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--data", default="adult13", choices=list(frontier.DATA))
    asked.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0, 10.0])
    asked.add_argument("--megabytes", type=float, default=80.0)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--state", type=Path, default=Path(tempfile.gettempdir()) / "aim-pgm")
    asked.add_argument("--out", type=Path, default=frontier.HERE / "frontier_pgm.csv")
    asked.add_argument("--shared", type=Path, default=frontier.SHARED)
    return asked


def command(options: argparse.Namespace, epsilon: float) -> str:
    """The command that makes a row, without where things lie."""
    return (
        f"python tests/benchmarks/pgm.py --data {options.data} --epsilon {epsilon:g} "
        f"--megabytes {options.megabytes:g} --seed {options.seed}"
    )


def main() -> None:
    """Go on with every run asked for, and keep the rows of those that end."""
    options = parser().parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    table = frontier.DATA[options.data](options.shared)
    for epsilon in options.epsilon:
        values = (options.data, f"{epsilon:g}", NAME, f"{options.megabytes:g}", str(options.seed))
        if values in frontier.found(options.out):
            continue
        path = options.state / f"{'-'.join(values[:2] + values[3:])}.npz"
        run = Run(table, epsilon=epsilon, megabytes=options.megabytes, seed=options.seed, path=path)
        run.start()
        while not run.at.last:
            run.step()
        run.finish()
        row = run.row() | dict(zip(frontier.KEY, values, strict=True))
        with options.out.open("a", newline="", encoding="utf-8") as file:
            file.write(f"# {command(options, epsilon)}\n")
            writer = csv.DictWriter(file, frontier.FIELDS, lineterminator="\n", restval="")
            writer.writerow({key: frontier._short(value) for key, value in row.items()})
        print(*values, row["mean_l1"], flush=True)


if __name__ == "__main__":
    main()
