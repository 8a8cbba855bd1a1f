"""Checks of options that several mechanisms have."""

from __future__ import annotations

from typing import cast

from engine.errors import OptionError


def check_omission(omit_below: object, respend: object) -> None:
    """Refuse options of the omission rule that make no sense.

    Raises:
        OptionError: If ``omit_below`` is no share below 1, or ``respend`` no truth value.
    """
    number = isinstance(omit_below, int | float) and not isinstance(omit_below, bool)
    if not number or not 0 <= cast("float", omit_below) < 1:
        raise OptionError(
            f"omit_below is {omit_below!r}; a share of at least 0 and below 1 is needed, for "
            "example 0.001."
        )
    choice("respend", respend, (True, False))


def choice(name: str, value: object, allowed: tuple[str | bool, ...]) -> None:
    """Refuse an option that is not one of those allowed.

    Raises:
        OptionError: With what was found and what is possible.
    """
    if not isinstance(value, str | bool) or value not in allowed:
        raise OptionError(
            f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}. Choose one."
        )
