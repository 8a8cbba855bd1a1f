"""Known answers, each with its source and tolerance."""

from __future__ import annotations

from fractions import Fraction

# -- MATH section 12: a marginal over sizes (4, 3), worked by hand; exact ------------------------

MARGINAL = [[10, 20, 5], [30, 40, 15], [25, 60, 45], [50, 20, 10]]
RESIDUALS = {
    (): 330,
    (0,): [50, 95, 45],
    (1,): [25, -40],
    (0, 1): [[0, -10], [25, 25], [-40, -35]],
}
PART_0_ROWS = [-15.8333, 0.8333, 15.8333, -0.8333]
PART_01_FIRST_ROW = [-2.9167, 0.8333, 2.0833]
PART_TOLERANCE = 5e-5  # four printed decimals

# -- MATH section 12: rho_from(epsilon, delta); checked there against 60 digits -------------------

RHO = {
    (0.1, 1e-9): 0.000177138447,
    (0.5, 1e-9): 0.003953191141,
    (1.0, 1e-9): 0.014973057674,
    (2.0, 1e-9): 0.056130501797,
    (10.0, 1e-9): 1.090785704397,
    (1.0, 1e-6): 0.024355970360,
    (10.0, 1e-6): 1.539278763867,
}
RHO_TOLERANCE = 5e-13  # twelve printed decimals

# -- SECURITY section 4.3: epsilon at delta = 1e-9, optimal conversion in 60 digits ---------------

EPSILON = {
    1e-4: 0.0743627931141362,
    1e-3: 0.245119253871951,
    0.01: 0.810174467867534,
    0.1: 2.7154818867305,
    0.5: 6.47407002072649,
    1.0: 9.52146367179223,
    2.0: 14.1501475538746,
    5.0: 24.4059875575594,
    10.0: 37.6374535779133,
}
EPSILON_TOLERANCE = 1e-13  # relative: about fifteen printed digits

# -- MATH section 12: sizes (4, 3, 2), subsets in order ∅, 0, 1, 2, 01, 02, 12, 012 ---------------

SIZES = (4, 3, 2)
PRIVACY_COST = [Fraction(x) for x in ("1", "3/4", "2/3", "1/2", "1/2", "3/8", "1/3", "1/4")]
CELL_VARIANCE = [
    Fraction(x) for x in ("1/576", "1/48", "1/96", "1/288", "1/8", "1/24", "1/48", "1/4")
]
PLAN_FRESH = [Fraction(x) for x in ("1/24", "1/6", "1/8", "1/12", "1/2", "1/3", "1/4", "1")]
OBJECTIVE_FRESH = 1.0
KNOWN = [2.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
PLAN_KNOWN = [0.0, 0.0, 0.0, 0.0, 0.70588235, 0.47058824, 0.35294118, 1.41176471]
OBJECTIVE_KNOWN = 0.572048611
PLAN_TOLERANCE = 5e-9  # eight printed decimals
OBJECTIVE_TOLERANCE = 5e-10

# -- MATH section 12: ResidualPlanner, sizes (2, 3, 4), all 2-way, C = 1 --------------------------

PLANNER_SIZES = (2, 3, 4)
PLANNER_VARIANCE = {
    (): 11.64479,
    (0,): 6.601975,
    (1,): 4.753965,
    (2,): 3.905781,
    (0, 1): 2.911197,
    (0, 2): 2.521171,
    (1, 2): 2.058527,
}
PLANNER_TOTAL = 50.850421
PLANNER_TOLERANCE = 5e-7  # relative: seven printed digits

# -- MATH section 12: Adult as in the paper; exact ------------------------------------------------

ADULT_RECORDS = 45_222
ADULT_SIZES = (74, 7, 16, 16, 7, 14, 6, 5, 2, 97, 96, 41, 2)
ADULT_CELLS = {1: 383, 2: 60_016, 3: 5_020_010}
ADULT_MARGINALS = {1: 13, 2: 78, 3: 286}

# -- Issue 2, check 3: Adult, all 3-way, delta = 1e-9, mean L1 / N; seeds 0 to 2 ------------------

AIM_PAPER = {0.1: (1.96, 0.12), 1.0: (1.40, 0.11), 10.0: (0.78, 0.06)}
AIM_SIMPLEX = {0.1: 1.00, 1.0: 0.65, 10.0: 0.26}
AIM_SIMPLEX_TOLERANCE = 0.15  # relative: "about" in the issue
PLANNER = {0.1: 140.0, 1.0: 15.2, 10.0: 1.78}
PLANNER_ERROR_TOLERANCE = 0.02  # relative
PREDICTION_TOLERANCE = 0.03  # relative
