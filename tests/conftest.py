"""Hypothesis profiles and the Adult table of the paper."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest

import engine
from engine import compiling
from engine.odometer import MEMORY
from tests.support import ALPHA, ROOT, SAMPLES

__all__ = ["ALPHA"]

_OUTER = ("pages", "ingest", "widgets")

# HYPOTHESIS_PROFILE=long (or --hypothesis-profile=long) looks further, with fresh examples.
hypothesis.settings.register_profile(
    "ci", derandomize=True, max_examples=60, deadline=None, database=None, print_blob=True
)
# Planted faults (tests/faults): that an example fails is all there is to know, not which is least.
hypothesis.settings.register_profile(
    "faults",
    hypothesis.settings.get_profile("ci"),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.register_profile("long", max_examples=2_000, deadline=None, database=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def loops_are_compiled() -> Iterator[None]:
    """Compile every loop from its first call on, so that no result depends on earlier tests.

    Interpreted loops round otherwise in the last digits; ``test_compiling`` holds both together.
    """
    with compiling.free_work(0):
        yield


@pytest.fixture(autouse=True)
def no_table_is_known_yet() -> Iterator[None]:
    """Tests share tables; what one of them released another may look at."""
    yield
    MEMORY.forget()


@pytest.fixture(scope="session")
def adult() -> engine.Table:
    """Adult as in the paper: rows with "?" dropped, 13 attributes (MATH section 12)."""
    domain = engine.Domain.from_json(SAMPLES / "adult_paper.domain.json")
    return engine.Table.from_csv(SAMPLES / "adult.csv.gz", domain)


@pytest.fixture(scope="session")
def adult_private(adult: engine.Table) -> engine.Private:
    """Adult's counts, taken once for all tests that run on them."""
    return engine.Private(adult)


@pytest.fixture
def domain() -> engine.Domain:
    """Three attributes, one of them with one value."""
    return engine.Domain.from_sizes({"age": 3, "sex": 2, "land": 1, "job": 4})


@pytest.fixture
def table(domain: engine.Domain) -> engine.Table:
    """Thirty-one records (a prime, easily found where it should not be)."""
    codes = [[(k * k) % 3, k % 2, 0, (k // 3) % 4] for k in range(31)]
    return engine.Table.from_codes(codes, domain)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole folders that the inner loop leaves out: each takes longer than the engine's tests."""
    for item in items:
        if any(item.path.is_relative_to(ROOT / "tests" / name) for name in _OUTER):
            item.add_marker(pytest.mark.slow)
