"""The planted faults, by the part of the project that they are in."""

from __future__ import annotations

from tests.faults.fault import Fault
from tests.faults.planted import completion, leaving, privacy, reading, releasing, ways_round

PARTS: dict[str, tuple[Fault, ...]] = {
    "privacy": privacy.FAULTS,
    "completion": completion.FAULTS,
    "reading": reading.FAULTS,
    "leaving": leaving.FAULTS,
    "releasing": releasing.FAULTS,
    "ways_round": ways_round.FAULTS,
}
