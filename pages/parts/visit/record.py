"""The run that Start shows, kept in ``sample_data``.

``python -m pages.parts.visit.record`` makes it again. It is the run that the pages begin
with, so that "Step it yourself" shows the same one.
"""

from __future__ import annotations

from dataclasses import asdict

from engine.demonstrating import recorded
from engine.mechanisms import catalogue
from pages.parts.visit import study

NAME = study.FIRST
LOOKED_AT = 2
"""Attributes of the table that is shown closely: the first ones."""


def fresh() -> recorded.Recorded:
    """Run it now."""
    settings = study.usual(NAME)
    return recorded.record(
        NAME,
        catalogue.find(settings.mechanism).make(),
        attributes=settings.attributes,
        degree=settings.degree,
        look=settings.attributes[:LOOKED_AT],
        settings=asdict(settings),
    )


if __name__ == "__main__":
    recorded.write(fresh(), recorded.path(NAME))
