"""What several pages share, in packages; imports between them go down this list only.

- ``rounds``, ``comparing``, ``learning``, ``entry``, ``releasing``: the parts of one page each: a
  run round by round, who wins, lessons, a table of one's own, a private release.
- ``setup``: which tables are asked for and what may be spent, on Setup and before a release.
- ``navigation``: the frame of every page: menu, strip, addresses, style, what the host allows.
- ``drawing``: how a page shows things: figures, forms, messages, code, a lecture's larger words.
- ``visit``: what a visitor's session holds: the study, the run, the tables, long work.
"""
