"""What can go wrong, each with a stable code and a sentence that says what to do.

A message has three beats: what was found, what was needed, what to do. Messages name attributes,
sizes and line numbers, never a record's values.
"""

from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """Root of everything the engine refuses; ``code`` is stable and may be relied on."""

    def __init__(self, message: str, *, code: str) -> None:
        self.code = code
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross threads and processes whole, with their fields.
        return _unpickled, (type(self), self.args), self.__dict__


def _unpickled(kind: type[EngineError], args: tuple[object, ...]) -> EngineError:
    return kind.__new__(kind, *args)


class DomainError(EngineError, ValueError):
    """The declared attributes or their values do not make a domain (``E_DOMAIN``)."""

    def __init__(self, message: str, *, code: str = "E_DOMAIN") -> None:
        super().__init__(message, code=code)


class WorkloadError(EngineError, ValueError):
    """What is asked for is no workload (``E_WORKLOAD``, ``E_WEIGHT``, ``E_TOO_LARGE``)."""

    def __init__(self, message: str, *, code: str = "E_WORKLOAD") -> None:
        super().__init__(message, code=code)


class DataError(EngineError, ValueError):
    """A table does not fit its domain (``E_DATA``, ``E_VALUE``, ``E_MISSING``, ``E_COLUMN``)."""

    def __init__(self, message: str, *, code: str = "E_DATA") -> None:
        super().__init__(message, code=code)


class BudgetError(EngineError, ValueError):
    """A budget that is none, or would be exceeded (``E_EPSILON``, ``E_DELTA``, ``E_OVERSPEND``...).

    ``asked`` and ``left`` are in rho where a ledger refused, otherwise None.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "E_BUDGET",
        asked: float | None = None,
        left: float | None = None,
    ) -> None:
        self.asked, self.left = asked, left
        super().__init__(message, code=code)


class OptionError(EngineError, ValueError):
    """A mechanism was given an option it does not have (``E_OPTION``)."""

    def __init__(self, message: str, *, code: str = "E_OPTION") -> None:
        super().__init__(message, code=code)


class SolverError(EngineError, RuntimeError):
    """A numerical solver stopped short; ``status`` and ``gap`` say where (``E_SOLVER``)."""

    def __init__(self, message: str, *, status: str, gap: float = float("nan")) -> None:
        self.status, self.gap = status, gap
        super().__init__(message, code="E_SOLVER")


class AccountError(EngineError, RuntimeError):
    """An account of releases cannot be used (``E_ACCOUNT``, ``E_LOCKED``, ``E_RELEASE``)."""

    def __init__(self, message: str, *, code: str = "E_ACCOUNT") -> None:
        super().__init__(message, code=code)


class RunInterruptedError(EngineError, RuntimeError):
    """A run failed after something was drawn: the budget is spent, and what was drawn is here.

    ``__cause__`` is what went wrong (``E_INTERRUPTED``).

    Args:
        message: What happened.
        ledger: Everything that was charged, what the failed step had charged included.
        release: What was drawn until then, as a release; None if nothing was drawn.
    """

    def __init__(self, message: str, *, ledger: Any, release: Any) -> None:
        self.ledger, self.release = ledger, release
        super().__init__(message, code="E_INTERRUPTED")


class RepeatedSeedWarning(UserWarning):
    """A seed was used again on the same table for another run.

    Noise that is drawn alike cancels between the answers of two runs: whoever sees both knows the
    table, without the seed.
    """
