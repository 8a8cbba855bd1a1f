"""Glossary, quiz and lecture plan: what the Learn page says, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of the glossary: the paper's letter, the code's word, and what it is."""

    term: str
    letter: str
    code: str
    meaning: str


GLOSSARY = (
    Term("Attribute", "i ∈ [d], n_i", "domain, attribute.size", "A column of the table. It has "
         "n_i possible values; which ones is declared in advance and public."),
    Term("Domain", "d, [d]", "domain", "All d attributes with their values. Public: it must not be "
         "read off the private rows."),
    Term("Attribute set", "γ, τ, α ⊆ [d]", "attrs", "Some of the attributes, in order. A marginal "
         "or a residual is over one; τ is usually a part of γ."),
    Term("Marginal", "μ_γ", "marginal", "A table of counts over the attributes of γ: one cell for "
         "every combination of their values, all records added up over the others."),
    Term("Cells", "n_γ", "cells", "How many combinations a marginal has: the product of its "
         "attributes' sizes."),
    Term("Residual", "ζ_τ", "residual", "What the marginal over τ says that no smaller one says. "
         "It has (n_i − 1) numbers along each attribute. All residuals within γ together are the "
         "marginal over γ."),
    Term("Residual estimate", "z_τ", "residual estimate", "All noisy measurements of one residual, "
         "averaged by their precision. GReM counts it as zero if it was never measured."),
    Term("Workload", "W", "workload", "The marginals that are wanted, each with its weight."),
    Term("Closure", "W↓", "workload.closure", "The workload and all subsets of its marginals, the "
         "empty one (the total) included: the residuals that are needed."),
    Term("Weight", "w_γ", "weight", "How much an answer matters. A larger weight means more "
         "accurate, never more private."),
    Term("Variance", "σ²", "variance", "How large noise is: the mean of its square. Its root σ is "
         "in records."),
    Term("Precision", "1/σ²", "precision", "The reverse of variance. Precisions of independent "
         "measurements add up; so do their costs."),
    Term("ρ (zCDP)", "ρ", "rho", "The budget that is counted. Costs of measurements and "
         "selections add up exactly."),
    Term("ε and δ", "ε, δ", "epsilon, delta", "The promise made to a person: whether or not his "
         "record is in the table, no result gets more than e^ε times as likely, but for a chance "
         "δ. Smaller is more private."),
    Term("Privacy cost of a residual", "p_τ", "privacy_cost", "ρ = ½ · p_τ · precision. The "
         "product of (n_i − 1)/n_i over τ."),
    Term("Cell variance", "v_τ,γ", "cell_variance", "Variance that each cell of γ gets from one "
         "unit of noise variance on τ."),
    Term("Sum, sub, center, smear", "1ᵀ, S, S⁺, 1/n", "axes.sum …", "The four in-axis operations. "
         "Add the slices; subtract the first from the others; undo that around a mean of zero; "
         "spread one slice evenly."),
    Term("Decompose, reconstruct", "", "decompose, reconstruct", "From a marginal to a residual "
         "(sum and sub), and back to its part (smear and center)."),
    Term("V_τ", "V_τ", "", "Covariance of a residual's noise for σ² = 1: variance 2 along one "
         "attribute, covariance 1, since all entries share the first slice's noise."),
    Term("ResidualPlanner", "", "ResidualPlanner", "Plans the precision of every residual at once, "
         "from sizes alone, and measures once. Its error is known in advance."),
    Term("CRP", "", "plan", "Conditional ResidualPlanner: plans one round's precisions, given what "
         "earlier rounds have bought. Water filling."),
    Term("Isotropic noise", "", "noise=\"iid\"", "The same noise on every cell of a marginal. When "
         "nothing is known yet, CRP's optimum is exactly that."),
    Term("GReM", "", "grem", "Combines all measurements into the most likely marginals that agree "
         "with each other."),
    Term("Maximum entropy", "", "completion", "Completes what was never measured: the most even "
         "table that agrees with what is known. The default; as published, it counts as zero."),
    Term("Lazy update", "", "update=\"lazy\"", "Rewriting only the marginals that hold a measured "
         "residual. The numbers are those of a full update."),
    Term("AIM", "", "AimGrem", "Adaptive iterative mechanism: select a badly known marginal, "
         "measure it, update, repeat."),
    Term("Score", "q_γ", "score", "How wrong an answer is, less the error that measuring would "
         "leave anyway; times the weight. It is private."),
    Term("Exponential mechanism", "", "select", "Chooses with chances that grow as exp(ε q / 2Δ). "
         "Even the best candidate is not always taken; that is what makes it private."),
    Term("Sensitivity", "Δ", "", "How far one record can move a number. A record moves one cell of "
         "a marginal by 1, so a marginal's is 1; a score's is its weight."),
    Term("Annealing", "", "annealed", "When a round brought no more than noise, the next ones get "
         "four times the budget: σ halves."),
    Term("Ledger", "", "Ledger", "The list of everything spent, in exact fractions, charged before "
         "the noise is drawn."),
    Term("Negative count", "", "", "An honest noisy count below zero. Noise goes both ways; "
         "cutting it off biases every sum."),
    Term("Released, public, not private", "● ■ ▲", "", "May be published; known before any record "
         "was read; computed from the records and never released."),
)  # fmt: skip


def found(search: str) -> list[Term]:
    """Terms that hold the text anywhere, all of them for none."""
    wanted = search.strip().lower()
    return [t for t in GLOSSARY if wanted in f"{t.term} {t.letter} {t.code} {t.meaning}".lower()]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the quiz; ``right`` is the position of the right answer."""

    text: str
    answers: tuple[str, ...]
    right: int
    why: str


QUIZ = (
    Question(
        "You raise ε from 1 to 10. What happens to the noise?",
        ("It grows", "It shrinks", "It stays; only the promise changes"), 1,
        "A larger ε is a larger budget: more precision, so less noise, and a weaker promise.",
    ),
    Question(
        "You give the table “age × income” twice the weight of the others. It becomes …",
        ("more accurate", "more private", "both"), 0,
        "Weights say where accuracy matters. Privacy is the same for every table: it comes from "
        "the whole budget.",
    ),
    Question(
        "Nothing has been measured yet. How does CRP's plan for one marginal differ from equal "
        "(isotropic) noise?",
        ("It has less error", "Not at all", "It measures only the largest residual"), 1,
        "With nothing known the optimum is exactly isotropic noise. CRP gains from what is already "
        "known.",
    ),
    Question(
        "A released count is −3.2. What should a careful analyst do before adding it up?",
        ("Set it to zero", "Ask for another draw", "Keep it"), 2,
        "Noise goes both ways and cancels in sums. Cutting it off makes every sum too large; "
        "another draw would spend again.",
    ),
    Question(
        "Why does a round not always select the marginal with the highest score?",
        ("To save time", "Because that choice would tell about the records", "It is a bug"), 1,
        "Scores come from the records. The exponential mechanism draws among them, so that no one "
        "record decides.",
    ),
    Question(
        "The residual over {sex} is measured. Which tables change by the lazy update?",
        ("Only the table over sex", "Every table that holds sex", "All tables"), 1,
        "A residual is a part of every marginal that holds its attributes, and of no other.",
    ),
    Question(
        "A round moved its answer less far than noise alone would. What now?",
        ("Stop", "The next rounds get four times the budget", "The round is drawn again"), 1,
        "At this noise level there is nothing more to see. σ halves and ε of the selection "
        "doubles: annealing.",
    ),
    Question(
        "Sixteen two-valued attributes and ε = 10: which is likely best?",
        ("AIM+GReM, as published", "ResidualPlanner", "A uniform guess"), 1,
        "With few cells and much budget everything is worth measuring, so planning it all at once "
        "wins. Selecting pays in large domains with small budgets.",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Beat:
    """One part of the lecture; ``section`` is one of the Learn page's, ``page`` another page."""

    minutes: str
    title: str
    what: str
    ask: str = ""
    section: str = ""
    page: str = ""


LECTURE = (
    Beat("0–5", "Start", "Everybody opens the same run: same table, same seed, same noise.",
         "How many of you are in a public table of counts?", page="start"),
    Beat("5–12", "One marginal", "Change a cell of the 2 × 3 table and watch its four residuals.",
         "Which residuals move when I change one cell?", section="apart"),
    Beat("12–17", "Below zero", "A count of −3 appears. Vote first, then show the sums.",
         "Bug or feature?", section="negative"),
    Beat("17–22", "Choosing", "Move ε of the exponential mechanism from tiny to large.",
         "At which ε is the worst table chosen every second time?", section="choose"),
    Beat("22–32", "Rounds", "Step through Titanic with predict-then-reveal on.",
         "Which table is next?", page="rounds"),
    Beat("32–38", "Water", "Raise what is known and see the budget run elsewhere.",
         "Where does the water go if the total is known well?", section="water"),
    Beat("38–43", "What if", "ε doubled, ten times the rows: which helps more?",
         "Twice the ε or ten times the people?", page="what_if"),
    Beat("43–48", "Compare", "One case AIM+GReM wins and one it loses, with bands.",
         "Who wins on Berkeley? On Adult?", page="compare"),
    Beat("48–50", "Quiz", "Eight questions; everybody keeps the score.", section="quiz"),
)  # fmt: skip


def handout() -> str:
    """The lecture on paper: plan, glossary and quiz, with nothing from any table."""
    import html

    rows = "".join(
        f"<tr><td>{b.minutes}</td><td><b>{html.escape(b.title)}</b></td>"
        f"<td>{html.escape(b.what)}</td><td><i>{html.escape(b.ask)}</i></td></tr>"
        for b in LECTURE
    )
    terms = "".join(
        f"<dt>{html.escape(t.term)} <small>{html.escape(t.letter)}</small></dt>"
        f"<dd>{html.escape(t.meaning)}</dd>"
        for t in GLOSSARY
    )
    asked = "".join(
        f"<li>{html.escape(q.text)}<br>"
        + " &nbsp; ".join(f"☐ {html.escape(a)}" for a in q.answers)
        + "</li>"
        for q in QUIZ
    )
    key = ", ".join(f"{k}: {html.escape(q.answers[q.right])}" for k, q in enumerate(QUIZ, 1))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Private tables: handout'
        "</title><style>body{font:15px/1.45 Georgia,serif;max-width:46rem;margin:2rem auto;"
        "padding:0 1rem}td{vertical-align:top;padding:.25rem .6rem .25rem 0}dt{font-weight:bold}"
        "dd{margin:0 0 .4rem}li{margin-bottom:.6rem}h2{break-after:avoid}</style>"
        f"<h1>Private tables, one round at a time</h1><h2>Plan</h2><table>{rows}</table>"
        f"<h2>Glossary</h2><dl>{terms}</dl><h2>Quiz</h2><ol>{asked}</ol>"
        f'<p style="break-before:page"><small>Answers. {key}.</small></p></html>'
    )
