"""The live figures of the Learn page: a control, a picture, and what to try."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

import engine
from engine.charts import Figure
from engine.selection import EXPECTED_ABSOLUTE
from engine.showing import learning, learning_rounds
from engine.showing.badges import PUBLIC
from engine.showing.framed import framed
from engine.showing.learning import Stage
from engine.types import FloatArray
from engine.views import percent
from pages.parts.drawing import figures, lecture
from pages.parts.learning import lessons

_FIRST = ((12, 30, 5), (20, 8, 25))
_NAMES = {(): "total", (0,): "A", (1,): "B", (0, 1): "A × B"}
_TAUS = {name: tau for tau, name in _NAMES.items()}


def try_this(what: str) -> None:
    """Say what to try with the picture above."""
    st.markdown(f":blue-badge[try] {what}")


# -- a table taken apart ---------------------------------------------------------------------------


def apart() -> None:
    """A 2 × 3 table to edit, taken apart and put together again."""
    lecture.prose(
        "A table of counts is a sum of **residuals**: the total, what A says beyond it, what B "
        "says, and what only both together say. Noise is added to residuals, so nothing is "
        "measured twice."
    )
    mu = _editor()
    over = st.segmented_control(
        "Residual over", list(_TAUS), default="A × B", required=True, key="learn_tau",
        persist_state="session",
    )  # fmt: skip
    tau = _TAUS[over or "total"]
    zeta = engine.decompose(mu, (0, 1), tau)
    left, right = st.columns(2, gap="large")
    with left:
        figures.draw(_down(mu, tau, zeta), "learn_apart")
    with right:
        figures.draw(_up(zeta, tau), "learn_back")
    _rebuilt(mu)
    try_this("Change one count. Which residuals move? Then add 10 to a whole row.")


def _editor() -> FloatArray:
    rows = []
    for i, row in enumerate(_FIRST):
        with st.container(horizontal=True, key=f"learn_row_{i}"):
            rows.append(
                [
                    st.number_input(
                        f"A{i + 1}, B{j + 1}", 0, 100_000, count, key=f"learn_mu_{i}_{j}",
                        width=104, persist_state="session",
                    )
                    for j, count in enumerate(row)
                ]
            )  # fmt: skip
    return np.array(rows, dtype=float)


def _down(mu: FloatArray, tau: tuple[int, ...], zeta: FloatArray) -> Figure:
    numbers = ", ".join(f"{v:,.6g}" for v in np.ravel(zeta).tolist())
    what = {0: "its one number is", 1: "its numbers are"}[min(zeta.size - 1, 1)]
    return learning.stages(
        lessons.taken_apart(mu, tau),
        title="Taken apart, one axis at a time",
        sentence=f"The residual over {_NAMES[tau]}: {what} {numbers}. Sum adds the slices, sub "
        "takes the first from the others.",
    )


def _up(zeta: FloatArray, tau: tuple[int, ...]) -> Figure:
    return learning.stages(
        lessons.put_back(zeta, tau),
        title="Put back, one axis at a time",
        sentence=f"The part of the table that the residual over {_NAMES[tau]} carries. Smear "
        "spreads a slice evenly, center undoes sub around a mean of zero.",
    )


def _rebuilt(mu: FloatArray) -> None:
    kept = st.pills(
        "Rebuild from", list(_TAUS), selection_mode="multi", default=list(_TAUS),
        key="learn_kept", persist_state="session",
    )  # fmt: skip
    pieces = {tau: part for tau, part in lessons.parts(mu).items() if _NAMES[tau] in kept}
    content = [
        Stage(f"from {_NAMES[tau]}", part, "+" if k else "")
        for k, (tau, part) in enumerate(pieces.items())
    ]
    total: FloatArray = np.sum([*pieces.values(), np.zeros_like(mu)], axis=0)
    content.append(Stage("rebuilt", total, "=" if content else ""))
    off = float(np.abs(total - mu).sum())
    whole = off < 1e-9 * max(float(mu.sum()), 1.0)
    sentence = (
        "All four parts add up to the table exactly."
        if whole
        else f"Without the others the rebuilt table is off by {off:,.4g} people in all."
    )
    figure = learning.stages(content, title="Rebuilt", sentence=sentence, across=2)
    narrow, _ = st.columns([3, 2])
    with narrow:
        figures.draw(figure, "learn_rebuilt")


# -- noise -----------------------------------------------------------------------------------------


def noise() -> None:
    """Gaussian noise on a table, and what it looks like in a residual."""
    lecture.prose(
        "Each cell gets independent Gaussian noise σ. A residual's entries are differences to the "
        "**same** first cell, so their noise goes together: covariance σ²V with V = I + 11ᵀ."
    )
    left, right = st.columns(2)
    sigma = left.slider("σ (people)", 1.0, 50.0, 10.0, 1.0, key="learn_sigma",
                        persist_state="session")  # fmt: skip
    n = right.slider("Values of the attribute", 3, 6, 3, key="learn_n", persist_state="session")
    v = lessons.structure(n)
    draws = lessons.residual_noise(n, sigma)
    covariance = sigma**2 * v[:2, :2]
    inverse = np.linalg.inv(covariance)
    pairs = draws[:, :2]
    inside = float((np.einsum("ki,ij,kj->k", pairs, inverse, pairs) <= -2 * math.log(0.05)).mean())
    sentence = (
        f"{percent(inside)} of 400 draws lie in the ellipse of theory, which should hold 95 %. "
        f"Variance of an entry 2σ² = {2 * sigma**2:,.4g}, covariance σ² = {sigma**2:,.4g}."
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        drawn = framed({"x": pairs[:, 0], "y": pairs[:, 1]}, PUBLIC)
        figures.draw(learning.cloud(drawn, covariance, sentence=sentence), "learn_cloud")
    with right:
        figures.draw(
            learning.stages(
                [Stage("V", v)], title="How it goes together", across=1,
                sentence=f"V for {n} values: 2 on the diagonal, 1 beside it.",
            ),
            "learn_v",
        )  # fmt: skip
        cost = engine.privacy_cost((n,))
        st.markdown(
            f"Measuring this residual at precision 1/σ² costs ρ = ½ · **{cost}** / σ² = "
            f"**{float(cost) / (2 * sigma**2):.4g}**. The whole table would cost "
            f"{1 / (2 * sigma**2):.4g}: a residual is cheaper than its table."
        )
    try_this("Halve σ. What happens to the cost? (It is four times as much.)")


# -- lazy ------------------------------------------------------------------------------------------


def lazy() -> None:
    """Which tables hold a residual, and what that saves in a run."""
    lecture.prose(
        "When a residual's estimate moves, only the tables that **hold** it move. All others are "
        "already right. Count them."
    )
    first, second, third = st.columns(3)
    attributes = first.slider("Attributes", 3, 13, 8, key="learn_d", persist_state="session")
    degree = second.slider("Tables over", 1, 3, 3, key="learn_k", persist_state="session")
    over = third.slider("Residual over", 0, 3, 2, key="learn_r", persist_state="session")
    over = min(over, degree)
    frame = lessons.holders(attributes, degree, range(over))
    holds = int(frame["holds"].sum())
    sentence = (
        f"{holds:,} of {len(frame):,} tables hold a residual over {over} attributes: "
        f"C({attributes - over}, {degree - over}) of C({attributes}, {degree})."
    )
    left, right = st.columns(2, gap="large")
    with left:
        figures.draw(learning_rounds.members(frame, sentence=sentence), "learn_members")
    with right:
        sample = st.segmented_control(
            "A run on", ["titanic", "adult"], default="adult", required=True, key="learn_lazy_run",
            format_func=str.title, persist_state="session",
        )  # fmt: skip
        run = lessons.recorded(sample or "adult")
        figures.draw(learning_rounds.work(lessons.lazy_work(run)), "learn_work")
    try_this("More attributes: which share of the tables is touched by a pair?")


# -- annealing -------------------------------------------------------------------------------------


def anneal() -> None:
    """When the budget of a round grows."""
    lecture.prose(
        "The first rounds are cheap and noisy. When a round moves its answer no further than noise "
        "alone would (the red tick), there is nothing more to see at that noise: the next rounds "
        "get **four times** the budget, so σ halves."
    )
    epsilon = st.select_slider(
        "ε of the run", [0.1, 0.316, 1.0, 3.16, 10.0], value=1.0, key="learn_anneal_epsilon",
        format_func=lambda e: f"{e:g}", persist_state="session",
    )  # fmt: skip
    run = lessons.recorded("adult", float(epsilon))
    frame = lessons.annealing(run)
    figures.draw(learning_rounds.annealing(frame), "learn_anneal")
    st.markdown(
        f"“Noise alone” is √(2/π) · σ · cells = {EXPECTED_ABSOLUTE:.4f} · σ · cells. At ε = "
        f"{epsilon:g} this run has {run.rounds} rounds; without annealing it could have had "
        f"{run.moments[0].event.max_rounds}."  # type: ignore[union-attr]
    )


# -- choosing --------------------------------------------------------------------------------------

_EPSILONS = [float(f"{10 ** (k / 20 - 3):.3g}") for k in range(71)]
_SCORES = {"age × income": 90, "age × sex": 70, "sex × income": 60, "age": 20, "sex": 0}


def choose() -> None:
    """The exponential mechanism with an ε to move."""
    lecture.prose(
        "Choosing must not give anybody away either. Each table's chance grows as "
        "exp(ε · score / 2Δ), where Δ = 1 is how far one person can move a score. These scores are "
        "made up; change them."
    )
    with st.container(horizontal=True):
        scores = {
            label: float(
                st.number_input(label, -1000, 1000, score, 5, key=f"learn_score_{k}", width=140,
                                persist_state="session")
            )
            for k, (label, score) in enumerate(_SCORES.items())
        }  # fmt: skip
    epsilon = st.select_slider(
        "ε of this choice (more private ← → surer)", _EPSILONS, value=_EPSILONS[30],
        key="learn_em", format_func=lambda e: f"{e:.3g}", persist_state="session",
    )  # fmt: skip
    frame = lessons.chances(scores, epsilon)
    figures.draw(learning_rounds.chances(frame, epsilon=epsilon), "learn_chances")
    st.markdown(
        f"ε = **{epsilon:.4g}**, cost ρ = ε²/8 = **{float(lessons.promise(epsilon)):.4g}**. "
        "One person more or less changes no chance by more than a factor "
        f"e^ε = **{math.exp(epsilon):.4g}**."
    )
    try_this("Far left all are alike; far right the worst is almost sure. Which ε is a coin flip?")


# -- below zero ------------------------------------------------------------------------------------

_COUNTS = {"0–9": 0, "10–19": 2, "20–29": 40, "30–39": 25, "40–49": 3, "50–59": 0, "60+": 1}


def negative() -> None:
    """Why negative counts occur, and what cutting them off does."""
    lecture.prose("Few people are in most of these age groups. Noise does not know that.")
    left, right = st.columns(2)
    sigma = left.slider("σ (people)", 0.5, 20.0, 5.0, 0.5, key="learn_negative_sigma",
                        persist_state="session")  # fmt: skip
    seed = right.number_input("Draw (seed)", 0, None, 7, key="learn_negative_seed",
                              persist_state="session")  # fmt: skip
    one, sums = lessons.noisy_counts(_COUNTS, float(sigma), seed=int(seed))
    below = int((one["noisy"] < 0).sum())
    said = f"{below} of {len(one)} counts are below zero in this draw."
    left, right = st.columns(2, gap="large")
    with left:
        figures.draw(learning.below_zero(one, sentence=said), "learn_below")
    with right:
        _vote(sums, float(one["true"].sum()))


def _vote(sums: object, true: float) -> None:
    vote = st.segmented_control(
        "A count of −3: a bug or a feature?", ["a bug: cut it off", "a feature: keep it"],
        key="learn_vote", persist_state="session",
    )  # fmt: skip
    if vote is None:
        st.caption("Vote to see what both do to the sum of all groups.")
        return
    import pandas as pd

    assert isinstance(sums, pd.DataFrame)
    means = sums.groupby("how")["sum"].mean()
    kept, cut = float(means["as measured"]), float(means["cut off at zero"])
    said = (
        f"Over 400 draws the sums as measured average {kept:.4g} (true: {true:g}); with negative "
        f"counts cut off {cut:.4g}: too large by {cut - true:.3g}."
    )
    figures.draw(learning.bias(sums, true=true, sentence=said), "learn_bias")
    right = "Right" if vote.startswith("a feature") else "Look again"
    st.markdown(
        f"**{right}:** noise goes both ways and cancels in a sum. Cut off one side and every sum "
        "is too large. If a table must have no negative cells, do that last, and know its price."
    )
