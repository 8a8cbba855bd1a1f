"""What a notebook says of the smaller values: events, measurements, mechanisms, attributes."""

from __future__ import annotations

import dataclasses
import math

from engine.accounting import Charge
from engine.attributes import Attribute
from engine.forecast import Prediction
from engine.mechanisms.aim_grem import AimGrem
from engine.mechanisms.fixed_sequence import FixedSequence
from engine.mechanisms.mwem_grem import MwemGrem
from engine.mechanisms.one_shot import EqualSplit, ResidualPlanner, Uniform
from engine.released import Allocation, Belief, Beliefs, Measurement
from engine.showing.badges import PUBLIC, RELEASED
from engine.showing.html import box, escape, facts, line, settings, table, warning
from engine.showing.values import render, rest
from engine.trace import Finished, RoundEnded, Started
from engine.types import AttributeSet

_MOST = 12
MECHANISMS = (AimGrem, EqualSplit, FixedSequence, MwemGrem, ResidualPlanner, Uniform)


def _positions(attrs: AttributeSet | None) -> str:
    """A set of attributes where no domain is at hand to name them."""
    if attrs is None:
        return "everything"
    return "attributes " + " × ".join(map(str, attrs)) if attrs else "the total"


def _sigma(precision: float) -> str:
    return f"{1 / math.sqrt(precision):.4g}" if precision > 0 else "not measured"


# -- public ----------------------------------------------------------------------------------------


@render.register
def _attribute(attribute: Attribute) -> str:
    labels = [attribute.labels[k] for k in range(min(attribute.size, _MOST))]
    rest = f"and {attribute.size - len(labels):,} more" if attribute.size > len(labels) else ""
    return box(
        escape(f"Attribute · {attribute.name}", longest=80),
        PUBLIC,
        facts(kind=attribute.kind, values=f"{attribute.size:,}"),
        escape(", ".join(labels), longest=300),
        rest,
    )


@render.register(AimGrem)
@render.register(EqualSplit)
@render.register(FixedSequence)
@render.register(MwemGrem)
@render.register(ResidualPlanner)
@render.register(Uniform)
def _mechanism(mechanism: object) -> str:
    about = (type(mechanism).__doc__ or "").strip().partition("\n")[0]
    usual = type(mechanism)()
    fields = dataclasses.fields(mechanism) if dataclasses.is_dataclass(mechanism) else ()
    chosen = {
        field.name.replace("_", " "): getattr(mechanism, field.name)
        for field in fields
        if getattr(mechanism, field.name) != getattr(usual, field.name)
    }
    return box(
        str(getattr(mechanism, "name", type(mechanism).__name__)),
        PUBLIC,
        escape(about, longest=200),
        settings(chosen) if chosen else "All settings are the default's.",
        line("<code>{}</code>", escape(repr(mechanism), longest=300)),
    )


@render.register
def _prediction(prediction: Prediction) -> str:
    worst = sorted(prediction.expected_l1.items(), key=lambda item: -item[1])[:6]
    rows = [(_positions(attrs), f"{error:,.4g}") for attrs, error in worst]
    mean = sum(prediction.expected_l1.values()) / max(len(prediction.expected_l1), 1)
    return box(
        "Prediction",
        PUBLIC,
        facts(marginals=f"{len(prediction.expected_l1):,}", mean_expected_L1=f"{mean:,.4g}"),
        table(("largest errors expected", "L1 (records)"), rows, align="lr"),
    )


# -- released: what happened -----------------------------------------------------------------------


@render.register
def _started(event: Started) -> str:
    return box(
        "Started",
        RELEASED,
        facts(
            ρ=f"{float(event.rho_total):.5g}",
            rounds_at_most=f"{event.max_rounds:,}",
            measured_before=f"{len(event.measurements):,} residuals",
        ),
        escape(event.mechanism, longest=200),
        escape(event.decision, longest=400) if event.decision else "",
        warning("A rehearsal: its noise can be repeated.") if event.rehearsal else "",
    )


@render.register
def _round_ended(event: RoundEnded) -> str:
    rows = [
        (_positions(m.attrs), f"{m.values.size:,}", _sigma(m.precision))
        for m in event.measurements[:_MOST]
    ]
    moved = {} if event.change is None else {"moved_by": f"{event.change:,.0f} records"}
    noise = {} if event.threshold is None else {"noise_alone": f"{event.threshold:,.0f}"}
    rest = len(event.measurements) - len(rows)
    return box(
        f"Round {event.round}",
        RELEASED,
        facts(selected=_positions(event.selected), **moved, **noise),
        facts(
            ρ_to_select=f"{float(event.rho_select):.4g}",
            ρ_to_measure=f"{float(event.rho_measure):.4g}",
            ρ_spent_so_far=f"{float(event.rho_spent):.4g}",
        ),
        table(("residual over", "values", "σ"), rows, align="lr"),
        f"and {rest:,} more residuals" if rest > 0 else "",
    )


@render.register
def _finished(event: Finished) -> str:
    return box(
        "Finished",
        RELEASED,
        facts(
            rounds=f"{event.rounds:,}",
            ρ_spent=f"{float(event.rho_spent):.5g}",
            ρ_left=rest(float(event.rho_left), float(event.rho_spent)),
        ),
    )


@render.register
def _charge(charge: Charge) -> str:
    return box(
        "Charge", RELEASED, facts(**{"for": charge.what}, ρ=f"{float(charge.rho):.6g}"),
        escape(f"exactly {charge.rho}", longest=120),
    )  # fmt: skip


# -- released: what is known -----------------------------------------------------------------------


@render.register
def _measurement(measurement: Measurement) -> str:
    return _values(
        "Measurement", measurement.values.ravel().tolist(), measurement.precision,
        residual_over=_positions(measurement.attrs),
    )  # fmt: skip


@render.register
def _belief(belief: Belief) -> str:
    return _values("Belief", belief.values.ravel().tolist(), belief.precision)


def _values(name: str, values: list[float], precision: float, **more: str) -> str:
    shown = ", ".join(f"{value:,.1f}" for value in values[:_MOST])
    rest = f", and {len(values) - _MOST:,} more" if len(values) > _MOST else ""
    return box(
        name, RELEASED, facts(**more, values=f"{len(values):,}", σ=_sigma(precision)), shown + rest
    )


@render.register
def _allocation(allocation: Allocation) -> str:
    return box(
        "Allocation",
        RELEASED,
        facts(
            residual_over=_positions(allocation.attrs),
            σ_before=_sigma(allocation.known),
            σ_after=_sigma(allocation.after),
            ρ=f"{float(allocation.rho):.4g}",
        ),
    )


@render.register
def _beliefs(beliefs: Beliefs) -> str:
    rows = [
        (_positions(attrs), f"{belief.values.size:,}", _sigma(belief.precision))
        for attrs, belief in list(beliefs.items())[:_MOST]
    ]
    rest = f"and {len(beliefs) - len(rows):,} more" if len(beliefs) > len(rows) else ""
    header = ("residual over", "values", "σ")
    return box("Beliefs", RELEASED, facts(residuals=f"{len(beliefs):,}"),
               table(header, rows, align="lr"), rest)  # fmt: skip
