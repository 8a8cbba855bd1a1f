"""A finished run on a public sample, kept in a file: shown at once, with no computing before it.

The file holds what the run released, and beside it the true errors and one true table of the
sample. Those come from records, so they are marked; only public samples are recorded.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.completing.release import Release
from engine.demonstrating.evaluation import Comparison, NotReleased, compare
from engine.demonstrating.watching import tell
from engine.errors import DataError
from engine.mechanisms.base import Run
from engine.mechanisms.protocols import Mechanism
from engine.samples import load_sample, sample_folder
from engine.tables import Private
from engine.trace import event_from_dict, event_to_dict
from engine.types import AttributeSet, FloatArray, frozen
from engine.workload import Workload

FORMAT = "aim-grem-recorded/1"
NOT_PRIVATE = "errors and truth were computed from the records of a public sample; not private"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recorded(NotReleased):
    """A finished run on a public sample.

    Args:
        sample: The sample's name.
        settings: What the run was started with, by names of the page that shows it.
        run: Its events and its release: released values.
        errors: Mean L1 error before the first round and after each, records. Not private.
        records: The number of records. Not private.
        look: The marginal that is shown closely.
        truth: Its true counts, shape (n_i for i in look). Not private.
    """

    sample: str
    settings: Mapping[str, Any]
    run: Run
    errors: tuple[float, ...]
    records: int
    look: AttributeSet
    truth: FloatArray

    def comparison(self, at: int) -> Comparison:
        """The marginal ``look`` after a round, beside the truth. Not private."""
        answer = self.run.at(at).estimate(*self.look)
        return Comparison(answer.domain, self.look, self.truth, answer.values, answer.std)


def record(
    sample: str,
    mechanism: Mechanism[Any],
    *,
    attributes: tuple[str, ...],
    degree: int,
    look: tuple[str, ...],
    settings: Mapping[str, Any],
) -> Recorded:
    """Run a mechanism on a sample and keep what a page shows of it.

    Args:
        sample: The sample's name.
        mechanism: What to run.
        attributes: The attributes of the table.
        degree: All marginals over so many of them are asked for.
        look: One or two attributes, whose table is shown closely.
        settings: ``epsilon``, ``delta`` and ``seed``, and whatever else the page keeps.
    """
    private = Private(load_sample(sample, *attributes))
    workload = Workload.all_kway(private.domain, degree)
    told = tell(
        mechanism, private, workload,
        epsilon=settings["epsilon"], delta=settings["delta"], seed=settings["seed"],
    )  # fmt: skip
    shown = compare(told.run.release.estimate(*look), private)
    return Recorded(
        sample, settings, told.run, told.errors, int(private.marginal(()).values), shown.attrs,
        frozen(shown.exact),
    )  # fmt: skip


def path(name: str) -> Path:
    """Where the recorded run of this name is kept."""
    return sample_folder() / f"{name}.run.json.gz"


def write(recorded: Recorded, to: Path) -> None:
    """Keep a recorded run in a file, the same bytes for the same run."""
    content = {
        "format": FORMAT,
        "not_private": NOT_PRIVATE,
        "sample": recorded.sample,
        "settings": dict(recorded.settings),
        "release": recorded.run.release.to_dict(),
        "events": [event_to_dict(event) for event in recorded.run.events],
        "errors": list(recorded.errors),
        "records": recorded.records,
        "look": list(recorded.look),
        "truth": recorded.truth.tolist(),
    }
    packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 9, mtime=0)
    to.write_bytes(packed)


def read(source: Path) -> Recorded:
    """Read what ``write`` kept.

    Raises:
        DataError: If the file is none (``E_FORMAT``).
    """
    try:
        content = json.loads(gzip.decompress(source.read_bytes()))
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        events = tuple(event_from_dict(event) for event in content["events"])
        return Recorded(
            content["sample"],
            content["settings"],
            Run.of(events, Release.from_dict(content["release"])),
            tuple(content["errors"]),
            content["records"],
            tuple(content["look"]),
            frozen(np.array(content["truth"], dtype=np.float64)),
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"There is no recorded run in {source.name!r} ({type(error).__name__}). Make it with "
            "`python -m pages.parts.visit.record`.",
            code="E_FORMAT",
        ) from None
