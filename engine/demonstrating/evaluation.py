"""True errors and scores, for demonstrations: private values with no way out.

Everything here compares with the records, so nothing here may be released. The types refuse to be
pickled, and nothing that exports or saves accepts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.checking import expect
from engine.completing.release import Release
from engine.demonstrating.metrics import MarginalError as MarginalError
from engine.demonstrating.metrics import NotReleased as NotReleased
from engine.demonstrating.metrics import distance
from engine.domain import Domain
from engine.errors import OptionError
from engine.mechanisms.protocols import Adaptive
from engine.noise import probabilities
from engine.released import Estimate
from engine.tables import CountSource, Private
from engine.types import AttributeSet, FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(NotReleased):
    """True errors of a release over its workload, unweighted. Not private, no export.

    Args:
        mean_l1: Mean over the workload's marginals of the L1 error, in records.
        mean_l2: Mean of the L2 error.
        max_l1: Largest L1 error.
        records: The true number of records N.
        per_marginal: The errors of each marginal.
        one_way: Mean L1 error of the single attributes that the answers add up to.
        ranges: Mean error of the counts of ranges.
        domain: The attributes that the sets are of, to name them.
    """

    mean_l1: float
    mean_l2: float
    max_l1: float
    records: int
    per_marginal: Mapping[AttributeSet, MarginalError]
    one_way: float = math.nan
    ranges: float = math.nan
    domain: Domain | None = None

    @property
    def mean_l1_normalized(self) -> float:
        """Mean L1 error divided by N; NaN if there are no records."""
        return self._normalized(self.mean_l1)

    @property
    def mean_l2_normalized(self) -> float:
        """Mean L2 error divided by N; NaN if there are no records."""
        return self._normalized(self.mean_l2)

    @property
    def max_l1_normalized(self) -> float:
        """Largest L1 error divided by N; NaN if there are no records."""
        return self._normalized(self.max_l1)

    def share(self, metric: str) -> float:
        """Return one of ``metrics.METRICS`` divided by N; NaN if there are no records."""
        return self._normalized(float(getattr(self, metric)))

    def _normalized(self, error: float) -> float:
        return error / self.records if self.records else math.nan

    def __repr__(self) -> str:
        return f"Evaluation({len(self.per_marginal):,} marginals; not private, not for release)"


def evaluate(
    release: Release,
    table: CountSource | Private,
    *,
    postprocess: Callable[[Estimate], Estimate] | None = None,
) -> Evaluation:
    """Compare a release with the true table. The result is not private.

    Args:
        release: What was released.
        table: The records it was made from.
        postprocess: For example ``engine.simplex``, applied to each estimate first.

    Raises:
        OptionError: If release and table have different domains.
        DataError: If a private release was made of the table (``E_PROTECTED``).
    """
    expect(release, Release, "a Release", "Write evaluate(run.release, table).")
    private = _private(table, release.domain)
    errors = {}
    for estimate in release.estimates():
        answer = postprocess(estimate) if postprocess else estimate
        exact = private.marginal(estimate.attrs).values
        errors[estimate.attrs] = distance(answer.values, exact)
    l1 = [error.l1 for error in errors.values()]
    return Evaluation(
        mean_l1=math.fsum(l1) / len(l1),
        mean_l2=math.fsum(error.l2 for error in errors.values()) / len(l1),
        max_l1=max(l1),
        records=int(private.marginal(()).values),
        per_marginal=errors,
        domain=release.domain,
        one_way=math.fsum(error.one_way for error in errors.values()) / len(l1),
        ranges=math.fsum(error.ranges for error in errors.values()) / len(l1),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(NotReleased):
    """One marginal beside the truth. Not private, no export.

    Shapes:
        exact, released, difference: (n_i for i in attrs), unit records.
    """

    domain: Domain
    attrs: AttributeSet
    exact: FloatArray
    released: FloatArray
    std: float | None

    @property
    def difference(self) -> FloatArray:
        """Released minus exact."""
        difference: FloatArray = self.released - self.exact
        return difference

    def __repr__(self) -> str:
        return f"Comparison({self.domain.label(self.attrs)}; not private, not for release)"


def compare(estimate: Estimate, table: CountSource | Private) -> Comparison:
    """Put one estimate beside the true marginal, for a demonstration's screen.

    Raises:
        OptionError: If estimate and table have different domains.
        DataError: If a private release was made of the table (``E_PROTECTED``).
    """
    expect(estimate, Estimate, "an Estimate", 'Write compare(release.estimate("age"), table).')
    private = _private(table, estimate.domain)
    exact = private.marginal(estimate.attrs).values.astype(np.float64)
    return Comparison(estimate.domain, estimate.attrs, exact, estimate.values, estimate.std)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Insight(NotReleased):
    """Why a round will select what it selects: every candidate's score. Not private, no export.

    Shapes:
        error_term, noise_term, score, probability: (candidates,), score = error - noise.
    """

    domain: Domain
    candidates: tuple[AttributeSet, ...]
    error_term: FloatArray
    noise_term: FloatArray
    probability: FloatArray

    @property
    def score(self) -> FloatArray:
        """Error term less noise term."""
        score: FloatArray = self.error_term - self.noise_term
        return score

    def __iter__(self) -> Iterator[tuple[AttributeSet, float, float, float]]:
        """Iterate over (candidate, error term, noise term, probability), most probable first."""
        for k in np.argsort(-self.probability, kind="stable").tolist():
            yield (
                self.candidates[k],
                float(self.error_term[k]),
                float(self.noise_term[k]),
                float(self.probability[k]),
            )

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        return f"Insight({len(self):,} candidates' scores; not private, not for release)"


def selects(mechanism: object, state: Any) -> bool:
    """Whether the next round from this state selects a marginal: only then there is an insight."""
    return isinstance(mechanism, Adaptive) and mechanism.selects(state)


def insight(mechanism: Any, state: Any, private: Private) -> Insight:
    """Say how the next round will select, before it is made. The result is not private.

    Args:
        mechanism: One that selects, such as ``AimGrem``.
        state: Its state before the step; it stays as it is.
        private: The records' counts.

    Raises:
        OptionError: If the mechanism does not select, or no round is left.
        DataError: If a private release was made of the table (``E_PROTECTED``).
    """
    if not selects(mechanism, state):
        raise OptionError(
            f"{type(mechanism).__name__} makes no selection here; an adaptive mechanism with a "
            "round left is needed. Ask before the last step."
        )
    private.odometer.check_may_rehearse()
    scores = mechanism.scores(state, private)
    return Insight(
        domain=private.domain,
        candidates=scores.sets,
        error_term=scores.error_term,
        noise_term=scores.noise_term,
        probability=probabilities(scores.log_weights),
    )


def _private(table: CountSource | Private, domain: Domain) -> Private:
    private = table if isinstance(table, Private) else Private(table)
    private.odometer.check_may_rehearse()
    if private.domain != domain:
        raise OptionError(
            "The release and the table have different domains; the table that the release was made "
            "from is needed."
        )
    return private
