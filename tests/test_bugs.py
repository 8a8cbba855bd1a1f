"""The mistakes of the Bug lab: proven where they say so, mended elsewhere, and kept inside."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.demonstrating import bugs
from tests import house

SOURCES = house.sources()


@pytest.mark.parametrize("key", list(bugs.BUGS))
def test_the_audit_proves_the_mistakes_that_it_says_it_proves(key: str) -> None:
    """Chance of a false alarm: ``bugs.ALPHA`` for each mended twin; seeds are fixed."""
    bug = bugs.BUGS[key]
    wrong, right = (bugs.audit(key, planted=planted).audit for planted in (True, False))
    assert wrong.caught is bug.caught
    assert not right.caught
    assert right.promised == wrong.promised == bug.rho
    if bug.caught:
        assert wrong.least > 1.1 * bug.rho, "not just so"
    assert right.least < 0.75 * bug.rho


def test_the_float_ledger_lets_an_eleventh_tenth_through() -> None:
    """What the audit cannot see, exact fractions can."""
    assert sum([0.1] * 10) < 1.0
    rng = [engine.rehearsal_noise(0) for _ in range(2)]
    wrong, right = (
        bugs.BUGS["ledger"].draw(True, 4000, r, planted)
        for r, planted in zip(rng, (True, False), strict=True)
    )
    # The mean of eleven answers instead of ten has 10/11 of the variance (standard error 3 %).
    assert float(np.var(wrong)) / float(np.var(right)) == pytest.approx(10 / 11, abs=0.09)


def test_in_half_precision_one_record_counts_twice() -> None:
    longer, shorter = [1.0] * 1025 + [0.5], [1.0] * 1024 + [0.5]
    assert bugs._float_sum(longer) - bugs._float_sum(shorter) == 2.0


def test_low_bits_are_only_in_noise_near_zero() -> None:
    draw = bugs.BUGS["bits"].draw
    assert float(draw(True, 5000, engine.rehearsal_noise(1), True).mean()) > 0.05
    assert float(draw(False, 5000, engine.rehearsal_noise(1), True).mean()) == 0.0


@pytest.mark.parametrize(("key", "runs"), [("nothing", 1000), ("half", 10)])
def test_what_cannot_be_audited_is_refused(key: str, runs: int) -> None:
    with pytest.raises(engine.OptionError):
        bugs.audit(key, runs=runs)


def test_no_way_to_a_release_passes_the_mistakes() -> None:
    """They are wrong on purpose: nothing that releases, runs or answers may reach them."""
    seen = {name: house.imports(name, text, SOURCES) - {""} for name, text in SOURCES.items()}
    paths = [
        name
        for name in SOURCES
        if name.split(".")[0] in {"releasing", "mechanisms", "completing", "exporting"}
        or name
        in {"commands.release", "commands.account", "commands.run", "measure", "exact_noise"}
    ]
    assert "releasing.run" in paths
    for name in paths:
        assert "demonstrating.bugs" not in house.reachable(name, seen), name
    users = {name for name, used in seen.items() if "demonstrating.bugs" in used}
    assert users == {"showing.audited"}
    assert "bugs" not in engine.__all__


def test_a_release_path_that_reaches_them_would_be_seen() -> None:
    planted = {**SOURCES, "releasing.run": "from engine.demonstrating import bugs\n"}
    seen = {name: house.imports(name, text, planted) - {""} for name, text in planted.items()}
    assert "demonstrating.bugs" in house.reachable("releasing.run", seen)
