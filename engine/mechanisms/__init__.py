"""One file for each complete mechanism, and the catalogue that lists them.

A mechanism draws no noise itself; ``measure`` and ``selection`` do.
"""
