r"""Any table a person has: bytes -> a preview of what was understood -> typed columns -> a table.

>>> from engine import ingest
>>> preview = ingest.read(b"age,city\n31,Oslo\n4,Rome\n50,Oslo\n")
>>> domain = ingest.draft_domain(preview, "city")
>>> ingest.encode(preview, domain).domain["city"].labels
('Oslo', 'Rome')
"""

from engine.attributes import DATE_PARTS
from engine.ingest.choices import Choices
from engine.ingest.domains import (
    draft_domain,
    equal_width,
    folded_attribute,
    pasted_values,
    proposed_attribute,
    split_answers,
    top_list,
    typed_edges,
)
from engine.ingest.encode import Encoded, PrivateCounts, encode, encode_counted
from engine.ingest.frames import read_frame
from engine.ingest.kinds import READINGS, Proposal, Reading
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, Offer
from engine.ingest.preview import Preview
from engine.ingest.reading import read

__all__ = [
    "DATE_PARTS",
    "READINGS",
    "Choices",
    "Encoded",
    "Limits",
    "Note",
    "Offer",
    "Preview",
    "PrivateCounts",
    "Proposal",
    "Reading",
    "draft_domain",
    "encode",
    "encode_counted",
    "equal_width",
    "folded_attribute",
    "pasted_values",
    "proposed_attribute",
    "read",
    "read_frame",
    "split_answers",
    "top_list",
    "typed_edges",
]
