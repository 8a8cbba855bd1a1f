r"""Any table a person has: bytes -> a preview of what was understood -> typed columns -> a table.

>>> from engine import ingest
>>> preview = ingest.read(b"age,city\n31,Oslo\n4,Rome\n50,Oslo\n")
>>> domain = ingest.draft_domain(preview, "city")
>>> ingest.encode(preview, domain).domain["city"].labels
('Oslo', 'Rome')
"""

from engine.ingest.choices import Choices
from engine.ingest.domains import (
    DATE_PARTS,
    draft_domain,
    equal_width,
    pasted_values,
    proposed_attribute,
    top_list,
    typed_edges,
)
from engine.ingest.encode import Encoded, PrivateCounts, encode, encode_counted
from engine.ingest.kinds import READINGS, Proposal, Reading
from engine.ingest.limits import Limits
from engine.ingest.notes import Note
from engine.ingest.preview import Preview
from engine.ingest.reading import read

__all__ = [
    "DATE_PARTS",
    "READINGS",
    "Choices",
    "Encoded",
    "Limits",
    "Note",
    "Preview",
    "PrivateCounts",
    "Proposal",
    "Reading",
    "draft_domain",
    "encode",
    "encode_counted",
    "equal_width",
    "pasted_values",
    "proposed_attribute",
    "read",
    "top_list",
    "typed_edges",
]
