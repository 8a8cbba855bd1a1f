"""A bundle for a lesson: what was released beside the truth. Not private, and marked in every file.

It takes the values that refuse to be saved, one by one and by name, and writes their numbers as
text: only for tables that everybody may see.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence

from engine.completing.release import Release
from engine.demonstrating.evaluation import Comparison, Evaluation
from engine.errors import OptionError
from engine.exporting import bundle as export
from engine.exporting.drawn import bars, label
from engine.exporting.report import facts, figure, gallery, page, table
from engine.exporting.report_page import filled
from engine.trace import Event

MARK = "TEACHING - not private"
WHY = f"{MARK}. True counts and errors of the records are in here. For public sample tables only."
CONTENTS = {
    "README.txt": "what this is, and why it must not be taken for a release",
    "report.html": "released and true counts side by side, and the true errors",
    "true_marginals/": "one CSV a marginal: released, true, difference, noise's std if known",
    "true_errors.csv": "L1 and L2 error of every marginal",
    "notebook.ipynb": "replays the recorded run, round by round",
    "release.json": "every residual estimate with its precision",
    "trace.json": "every round: what was chosen, measured and paid",
}


def teaching_bundle(
    release: Release,
    events: Sequence[Event],
    *,
    evaluation: Evaluation,
    comparisons: Sequence[Comparison],
) -> bytes:
    """Return a zip archive that shows what a release never shows. NOT PRIVATE.

    Args:
        release: What was released.
        events: How it came about.
        evaluation: Its true errors.
        comparisons: The marginals to show beside the truth.

    Raises:
        DataError: If the events are not those of the release.
        OptionError: If a comparison is of another domain.
    """
    export.check_belongs(release, events)
    if any(compared.domain != release.domain for compared in comparisons):
        raise OptionError("A comparison is of another domain. Compare estimates of this release.")
    contents = sorted(_files(release, events, evaluation, comparisons))
    return export.archive((f"{_folder()}/{name}", text) for name, text in contents)


def _folder() -> str:
    return MARK.replace(" ", "_")


def _files(
    release: Release,
    events: Sequence[Event],
    evaluation: Evaluation,
    comparisons: Sequence[Comparison],
) -> Iterator[tuple[str, str]]:
    yield "README.txt", _readme(release, evaluation)
    yield "release.json", export.as_json({"mark": WHY} | release.to_dict())
    yield "trace.json", export.as_json({"mark": WHY} | export.trace(events))
    yield "notebook.ipynb", _notebook(release)
    yield "report.html", _report(release, events, evaluation, comparisons)
    yield "true_errors.csv", _errors(release, evaluation)
    for number, compared in enumerate(comparisons, start=1):
        name = export.file_name(release.domain.label(compared.attrs))
        yield f"true_marginals/{number:05d}_{name}.csv", _marginal(compared)


def _readme(release: Release, evaluation: Evaluation) -> str:
    return (
        f"{WHY}\n\nMean L1 error over the workload: {evaluation.mean_l1:,.1f} of "
        f"{evaluation.records:,} records.\n\nFiles\n"
        + "".join(f"  {name:<16} {what}\n" for name, what in CONTENTS.items())
        + f"\nWhat would be released of it, and what it would promise:\n\n{export.readme(release)}"
    )


def _notebook(release: Release) -> str:
    content = json.loads(export.notebook(release))
    content["metadata"]["mark"] = WHY
    content["cells"][0]["source"].append(f"\n\n**{WHY}**")
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _errors(release: Release, evaluation: Evaluation) -> str:
    lines: list[list[object]] = [["marginal", "l1_error", "l2_error", MARK]]
    lines += [
        [export.cell(release.domain.label(attrs)), repr(error.l1), repr(error.l2), ""]
        for attrs, error in evaluation.per_marginal.items()
    ]
    return export.as_csv(lines)


def _marginal(compared: Comparison) -> str:
    attributes = [compared.domain[i] for i in compared.attrs]
    cells = itertools.product(*(map(export.cell, a.labels) for a in attributes))
    columns = (compared.released, compared.exact, compared.difference)
    numbers = zip(*(map(repr, values.ravel().tolist()) for values in columns), strict=True)
    sure = "" if compared.std is None else repr(compared.std)
    header = [export.cell(a.name) for a in attributes] + ["released", "true", "difference", "std"]
    rows = ([*c, *n, sure, ""] for c, n in zip(cells, numbers, strict=True))
    return export.as_csv([[*header, MARK], *rows])


def _report(
    release: Release,
    events: Sequence[Event],
    evaluation: Evaluation,
    comparisons: Sequence[Comparison],
) -> str:
    header = ["marginal", "L1 error (records)", "L1 error ÷ N"]
    worst = sorted(evaluation.per_marginal.items(), key=lambda item: -item[1].l1)
    whole = max(evaluation.records, 1)
    rows = [
        [label(release.domain.label(attrs)), f"{error.l1:,.0f}", f"{error.l1 / whole:.3g}"]
        for attrs, error in worst
    ]
    drawn = [
        figure(bars(release.estimate(*c.attrs), c.exact), release.domain, c.attrs)
        for c in comparisons
        if len(c.attrs) == 1
    ]
    singles = gallery("Released and true (diamonds)", drawn)
    errors = filled("titled", title="True errors, worst first", body=table(header, rows, numbers=2))
    return page(f"{MARK}: a run beside the truth", [WHY], [facts(release, events), singles, errors])
