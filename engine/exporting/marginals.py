"""Marginals as files: a CSV each, and an index that says how sure each is.

What is said of accuracy follows the answer at hand: the noise's standard deviation stands where it
is known, in the index as in the marginal's own file, and nowhere else.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.completing.consistency import consistent
from engine.completing.projection import clip, simplex
from engine.completing.release import Release
from engine.errors import OptionError
from engine.grem import noise_of
from engine.released import Estimate

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0")


class Answers(Protocol):
    """What answers marginals: a release, or what was made of one."""

    def estimate(self, *attributes: str | int) -> Estimate:
        """Answer any marginal of the workload's closure."""
        ...

    def estimates(self) -> Iterator[Estimate]:
        """Answer the workload's marginals, in order."""
        ...


@dataclass(frozen=True, slots=True)
class _EachAlone:
    """A release whose tables are changed one by one."""

    release: Release
    change: Callable[[Estimate], Estimate]

    def estimate(self, *attributes: str | int) -> Estimate:
        return self.change(self.release.estimate(*attributes))

    def estimates(self) -> Iterator[Estimate]:
        return map(self.change, self.release.estimates())


POSTPROCESS: dict[str, Callable[[Release], Answers]] = {
    "none": lambda release: release,
    "clip": lambda release: _EachAlone(release, clip),
    "simplex": lambda release: _EachAlone(release, simplex),
    "consistent": consistent,
    "consistent-nonnegative": lambda release: consistent(release, nonnegative=True),
}
"""Ways to answer: as estimated, without negative cells, or so that all tables agree.

Free: they see released values only.
"""


def check_post(post: str) -> None:
    """Refuse a way to answer that is none.

    Raises:
        OptionError: With those there are.
    """
    if post not in POSTPROCESS:
        raise OptionError(f"post is {post!r}; it must be one of {', '.join(POSTPROCESS)}.")


def noise_is_known(release: Release, post: str) -> bool:
    """Whether the noise of what is answered follows from what was measured, cell by cell."""
    return post == "none" and release.completion is None


def may_be_negative(release: Release, post: str) -> bool:
    """Whether an answer may hold counts below zero."""
    return noise_is_known(release, post) or post == "consistent"


def answers(release: Release, *, post: str = "none") -> Iterator[tuple[str, Estimate]]:
    """Yield a file name and the answer for each marginal of the workload, in order.

    Raises:
        OptionError: If ``post`` is none of ``POSTPROCESS``.
    """
    check_post(post)
    for number, estimate in enumerate(POSTPROCESS[post](release).estimates(), start=1):
        yield marginal_file(number, estimate.label), estimate


def marginal_file(number: int, label: str) -> str:
    """Return the file's name of the workload's marginal of this number."""
    return f"{number:05d}_{file_name(label)}.csv"


def index_csv(release: Release, *, post: str = "none") -> str:
    """Return one line a marginal: its file, and how sure it is.

    ``std`` is what the marginal's own file says. Residuals never measured add an error that it does
    not hold.
    """
    check_post(post)
    domain, known = release.domain, noise_is_known(release, post)
    lines: list[Sequence[object]] = [
        ["file", "marginal", "cells", "std", "residuals_never_measured"]
    ]
    for number, attrs in enumerate(release.workload.weights, start=1):
        variance, unmeasured = noise_of(release.beliefs, domain, attrs)
        sure = repr(math.sqrt(variance)) if known else ""
        name = marginal_file(number, domain.label(attrs))
        row = [name, cell(domain.label(attrs)), domain.cells(attrs), sure, len(unmeasured)]
        lines.append(row)
    return as_csv(lines)


def marginal_csv(estimate: Estimate) -> str:
    """Return one marginal in long form: a line a cell, with the noise's standard deviation.

    Where that is not known (``Estimate.std``) the column is empty.
    """
    names = [cell(estimate.domain[i].name) for i in estimate.attrs]
    header = as_csv([[*names, estimate.column("count"), estimate.column("std")]])
    # Every text is quoted once; millions of lines are then joined without looking at them again.
    labels = [[f"{_quoted(t)}," for t in estimate.domain[i].labels] for i in estimate.attrs]
    counts = map(repr, estimate.values.ravel().tolist())
    end = f",{std(estimate)}\n"
    rows = zip(map("".join, itertools.product(*labels)), counts, strict=True)
    return header + "".join([f"{texts}{count}{end}" for texts, count in rows])


def _quoted(text: str) -> str:
    return as_csv([[cell(text), ""]])[:-2]  # without the comma and the line's end


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """Write lines of cells; the texts among them are made harmless by ``cell`` before."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def std(estimate: Estimate) -> str:
    """Write the noise's standard deviation; empty where it is not known."""
    return "" if estimate.std is None else repr(estimate.std)


def cell(text: str) -> str:
    """Keep a spreadsheet from taking a user's text for a formula (SECURITY row 34)."""
    return "'" + text if text[:1] in _FORMULA else text


def file_name(label: str) -> str:
    """Return a label's letters and digits, short: a name that is harmless on every system."""
    return re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")[:80] or "marginal"
