"""What a mechanism of your own selects with; it measures with ``engine.measure``.

engine/README.md, "Writing a mechanism", has a whole one.
"""

from __future__ import annotations

from fractions import Fraction

from engine.accounting import Ledger
from engine.checking import expect
from engine.noise import RandomSource, check_source
from engine.released import Beliefs
from engine.selection import Budgets, Candidates, select
from engine.tables import Private
from engine.types import AttributeSet
from engine.workload import Workload


def select_marginal(
    private: Private,
    workload: Workload,
    beliefs: Beliefs,
    *,
    rho: Fraction,
    ledger: Ledger,
    rng: RandomSource,
    rho_measure: Fraction | None = None,
) -> tuple[Ledger, AttributeSet]:
    """Choose a badly known marginal of the closure by the exponential mechanism, as AIM does.

    For mechanisms of your own: errors of GReM's estimates are computed again each time.

    Args:
        private: Whose records the errors are of.
        workload: What is wanted; the sets within its marginals are chosen from, with its weights.
        beliefs: What is known so far.
        rho: What selecting costs.
        ledger: Charged before the draw.
        rng: Where randomness comes from.
        rho_measure: What the chosen marginal will be measured with, as its noise counts in the
            score; as much as selecting costs, if left out.

    Returns:
        The longer ledger, and the positions of the chosen attributes.

    Raises:
        BudgetError: If the ledger refuses the charge; nothing is drawn then.

    Source:
        McKenna et al. 2022 (AIM); engine/README.md, "Sensitivity in floating point".
    """
    expect(private, Private, "Private", "Write Private(table), once for all rounds.")
    expect(workload, Workload, "a Workload", "Write Workload.all_kway(table.domain, 2).")
    expect(beliefs, Beliefs, "Beliefs", "Write Beliefs().combined(measured).")
    check_source(rng)
    expect(ledger, Ledger, "a Ledger", "Write Ledger(rho) with the whole budget.")
    scored = Candidates(private, workload, beliefs).log_weights(Budgets(rho_measure or rho, rho))
    sets = workload.layout.sets
    return select(scored, sets, private=private, rho=rho, ledger=ledger, rng=rng)
