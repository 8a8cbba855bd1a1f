"""A table as it was understood, every choice of which can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from engine.attributes import Attribute
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest.kinds import Proposal, propose
from engine.ingest.notes import Note, counted


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Preview(Exact):
    """A table as it was understood. Its rows are private: it prints no cell.

    Args:
        frame: Cells as texts, one record a row; columns ``c0``, ``c1``, ... An empty text is a
            missing cell.
        labels: The columns' names as a person sees them, in order, all different.
        warnings: What was noticed, each with a stable code and a sentence.
        choices: What was decided; ``read(source, **preview.choices)`` decides the same again.
        alternatives: Other values that some of the choices could take.
        first_lines: The first lines as decoded, before any guess.
        lines: The line of the file that each record begins on.
        name: The file's name, for people.
        missing_codes: Texts that mean missing in one column, as the file declares, by label.
        declared: Attributes that the file itself declares (a survey's file), by label.
    """

    frame: pd.DataFrame
    labels: tuple[str, ...]
    warnings: tuple[Note, ...]
    choices: Mapping[str, Any]
    alternatives: Mapping[str, tuple[Any, ...]]
    first_lines: tuple[str, ...] = ()
    lines: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    name: str = ""
    declared: Mapping[str, Attribute] = field(default_factory=dict)
    missing_codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _proposals: dict[str, Proposal] = field(default_factory=dict)

    @property
    def schema_only(self) -> bool:
        """Whether there are columns and no records, which is enough to plan with."""
        return len(self.frame) == 0

    def column(self, label: str) -> str:
        """Return the id (``c0`` ...) of the column with this label.

        Raises:
            DataError: If no column has it (``E_COLUMN``).
        """
        if label not in self.labels:
            raise DataError(
                f"The table has no column {label!r}; it has {counted(len(self.labels), 'column')}. "
                "Name one of them.",
                code="E_COLUMN",
            )
        return f"c{self.labels.index(label)}"

    def texts(self, column: str) -> pa.ChunkedArray:
        """Return a column's cells as an Arrow array of texts."""
        return as_arrow(self.frame[column])

    def attributes(self, *labels: str) -> tuple[Proposal, ...]:
        """Propose how each column may be read, with the reason; columns are named by label.

        Identifiers, constants, empty columns and free text are offered for leaving out
        (``proposal.keep`` is False); nothing is left out or made an attribute in silence.
        """
        wanted = [self.column(label) for label in labels] or list(self.frame.columns)
        for column in wanted:
            if column not in self._proposals:
                label = self.labels[int(column[1:])]
                self._proposals[column] = self.proposal(label)
        return tuple(self._proposals[column] for column in wanted)

    def proposal(self, label: str, *, missing: tuple[str, ...] = ()) -> Proposal:
        """Propose a reading for one column in which these codes mean missing."""
        column = self.column(label)
        return propose(
            self.texts(column),
            column=column,
            label=label,
            choices=self.choices,
            columns=self.labels,
            declared=self.declared.get(label),
            missing=tuple(dict.fromkeys((*self.missing_codes.get(label, ()), *missing))),
        )

    def __repr__(self) -> str:
        return (
            f"Preview({self.name!r}, {len(self.labels)} columns, {len(self.warnings)} warnings; "
            "the records are private)"
        )


def as_arrow(column: pd.Series[str]) -> pa.ChunkedArray:
    """Return a text column as an Arrow array, without copying where pandas keeps it as one."""
    return pa.chunked_array(pa.array(column, type=pa.large_string(), from_pandas=True))
