"""Nothing private in what may leave: a walk through everything reachable, and non-interference."""

from __future__ import annotations

import gc
import json
import types
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine.domain import subsets
from engine.selection import Candidates, Scores
from engine.tables import ExactMarginal
from engine.trace import event_to_dict
from tests.reference import dense
from tests.support import Tape, all_mechanisms, make_domain, play, random_case

FORBIDDEN = (
    ExactMarginal,
    engine.Private,
    engine.Table,
    Scores,
    Candidates,
    engine.Insight,
    engine.Evaluation,
    engine.Comparison,
    np.random.Generator,
    np.random.BitGenerator,
    type(engine.rehearsal_noise(0)),
    Tape,
)
RECORDS = 1009
"""A prime that no budget, size or cell count equals."""
_SKIPPED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


def reachable(root: Any) -> Iterator[Any]:
    """Everything reachable from an object: fields, slots, items, array bases, closures."""
    seen: set[int] = set()
    ahead = [root]
    while ahead:
        value = ahead.pop()
        if id(value) in seen or isinstance(value, _SKIPPED):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, np.ndarray):
            ahead.append(value.base)
            if value.dtype == object:
                ahead.extend(value.ravel().tolist())
        for kind in type(value).__mro__:
            ahead.extend(
                getattr(value, slot, None)
                for slot in getattr(kind, "__slots__", ())
                if isinstance(getattr(kind, slot, None), types.MemberDescriptorType)
            )
        ahead.extend(gc.get_referents(value))


def table_of(records: int = RECORDS) -> engine.Table:
    """A skewed table on a domain with a one-valued attribute."""
    rng = np.random.default_rng(0)
    domain = make_domain([4, 1, 3, 2])
    columns = [np.minimum(rng.geometric(0.4, records) - 1, n - 1) for n in domain.sizes]
    return engine.Table.from_codes(np.stack(columns, axis=1), domain)


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_nothing_private_can_be_reached_from_states_events_releases_and_runs(name: str) -> None:
    table = table_of()
    private, workload = engine.Private(table), engine.Workload.all_kway(table.domain, 3)
    mechanism = all_mechanisms()[name]
    states, events, release = play(
        mechanism, private, workload, rho=Fraction(1, 7), rng=engine.rehearsal_noise(99_991)
    )
    run = engine.Run.of(events, release)
    codes, sizes = table.codes.T, table.domain.sizes
    exact = {}
    for gamma in workload.closure:
        counts = dense.counts(codes, sizes, gamma)
        for tau in subsets(gamma):
            exact[gamma, tau] = dense.decompose(counts, gamma, tau)
        exact[gamma, None] = counts
    flat = private.counts(workload.layout)
    kept = [table.codes, flat]
    for value in reachable((states, events, release, run, list(release.estimates()))):
        assert not isinstance(value, FORBIDDEN), type(value)
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            assert value not in (RECORDS, 99_991)
        if isinstance(value, Fraction):
            assert RECORDS not in (value, value.numerator, value.denominator)
        if isinstance(value, str) and len(value) < 10_000:
            assert str(RECORDS) not in value
        if isinstance(value, np.ndarray) and value.dtype != object:
            assert not any(np.shares_memory(value, array) for array in kept)
            for truth in exact.values():
                if truth.size and value.size == truth.size and truth.any():
                    assert not np.array_equal(value.ravel(), truth.ravel())
                    assert not np.array_equal(value.ravel(), -truth.ravel())
            assert value.size != flat.size or not np.array_equal(np.abs(value).ravel(), flat)


def test_the_walk_finds_what_is_hidden() -> None:
    table = table_of(31)
    private = engine.Private(table)

    class Holder:
        __slots__ = ("inside",)

    holder = Holder()
    holder.inside = {"deep": (private.marginal((0,)),)}
    assert any(isinstance(v, ExactMarginal) for v in reachable(holder))
    assert any(v is private.marginal((0,)).values.base or isinstance(v, engine.Private)
               for v in reachable([lambda: private, {"p": private}]))  # fmt: skip
    view = table.codes[0][:3]
    assert any(v is table.codes.base or v is table.codes for v in reachable(view))


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_the_same_transcript_gives_the_same_release_whatever_the_records(name: str) -> None:
    # Any use of the records after the noise would show at once (SECURITY section 4.4, T8).
    mechanism = all_mechanisms()[name]
    for seed in range(8):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng)
        unrelated = np.stack([rng.integers(0, n, size=57) for n in domain.sizes], axis=1)
        tape = Tape(seed=seed)
        outcomes = []
        for records, source in ((codes, tape), (unrelated, None)):
            source = source or tape.replay()
            table = engine.Table.from_codes(records, domain)
            states, events, release = play(
                mechanism, table, workload, rho=Fraction(1, 3), rng=source
            )
            outcomes.append(
                json.dumps(
                    [
                        release.to_dict(),
                        [event_to_dict(e) for e in events],
                        [repr(s.ledger) for s in states],
                        [[e.values.tolist(), e.variance] for e in release.estimates()],
                    ]
                )
            )
        assert outcomes[0] == outcomes[1]


def test_a_replay_of_a_run_is_that_run() -> None:
    table = table_of(40)
    workload = engine.Workload.all_kway(table.domain, 2)
    tape = Tape(seed=5)
    _, _, first = play(engine.AimGrem(completion="none"), table, workload, rho=1, rng=tape)
    _, _, again = play(engine.AimGrem(completion="none"), table, workload, rho=1, rng=tape.replay())
    plain = engine.run(engine.AimGrem(completion="none"), table, workload, rho=1, seed=5).release
    said = plain.to_dict()
    del said["table"]  # what the table has spent in all runs is added by run alone
    assert first.to_dict() == again.to_dict() == said


def decides(mechanism: Any) -> bool:
    """Whether its start decides by what the first draws told."""
    return getattr(mechanism, "finish", "rounds") != "rounds"


def test_budgets_and_plans_before_the_first_draw_depend_on_public_values_only() -> None:
    domain = make_domain([3, 2])
    workload = engine.Workload.all_kway(domain, 2)
    for mechanism in all_mechanisms().values():
        seen = []
        tape = Tape(seed=0)
        for records in ([], [[0, 0]] * 40):
            table = engine.Table.from_codes(records, domain)
            rng = engine.rehearsal_noise(0)
            if decides(mechanism):  # after a draw: the same where the same was drawn
                rng = tape.replay() if records else tape
            states, events, _ = play(mechanism, table, workload, rho=1, rng=rng)
            start = events[0]
            seen.append(
                (start.charges, start.rho_measure, start.rho_select, start.max_rounds, start.work)
            )
            seen[-1] += (getattr(states[0], "allocations", None),)
        assert seen[0] == seen[1]


def test_a_released_array_cannot_be_written_through_its_base() -> None:
    table = table_of(31)
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem(completion="none"), table, workload, rho=1, seed=0)
    for measurement in run.events[0].measurements:
        assert not measurement.values.flags.writeable
    for belief in run.release.beliefs.values():
        assert not belief.values.flags.writeable
