"""What several pages share, in packages; imports between them go down this list only.

- ``rounds``, ``setup``, ``comparing``, ``learning``, ``entry``: the parts of one page each, or of
  one question: a run round by round, what is asked and spent, who wins, lessons, a table of
  one's own.
- ``navigation``: the frame of every page: menu, strip, addresses, style, what the host allows.
- ``drawing``: how a page shows things: figures, forms, messages, code, a lecture's larger words.
- ``visit``: what a visitor's session holds: the study, the run, the tables, long work.
"""
