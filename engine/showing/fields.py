"""What each field of a form is called and what is said of it, on pages and in notebooks alike.

And how a list of budgets is read that somebody typed.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.errors import OptionError

SEEDED = "Fixed seed: anyone who knows it can subtract the noise."


class Field(NamedTuple):
    """A field of a form: its name, and a sentence or two for who wonders."""

    label: str
    help: str


ATTRIBUTES = Field("Attributes", "The columns of the table that the questions are about.")
DEGREE = Field("Tables over", "Ask for every table over this many attributes.")
EPSILON = Field("ε", "Smaller: more private. Larger: more accurate. Up to 1000.")
DELTA = Field("δ", "How much may slip through ε's promise. Far below 1 ÷ the number of rows.")
SEED = Field("Seed", f"Repeats the noise. Empty: new noise each time. {SEEDED}")
MECHANISM = Field("Mechanism", "The algorithm that chooses what to measure, and measures it.")
MECHANISMS = Field("Mechanisms", "The algorithms that are compared.")
EPSILONS = Field("ε", "One or several numbers, with commas between them.")
TRIALS = Field(
    "Trials", "Each mechanism runs so often at each ε. Trial k has the same seed for all."
)
DEGREES = {1: "1-way", 2: "2-way", 3: "3-way", 4: "4-way"}
"""How many attributes a table may be over, and what that is called."""


def budgets(text: str) -> list[float]:
    """Read several values of epsilon, with commas between them; each once, the smallest first.

    Raises:
        OptionError: If it holds no number, or something else.

    >>> budgets("1, 0.1; 1,")
    [0.1, 1.0]
    """
    parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
    try:
        found = sorted({float(part) for part in parts})
    except ValueError:
        found = []
    if not found:
        raise OptionError(
            f"{text!r} is no list of values of ε; numbers with commas between them are needed. "
            "Write, for example, 0.1, 1, 10."
        )
    return found
