"""The explorer in a notebook: the same engine, the same charts, with widgets around them.

``explore`` plays a run, ``setup`` starts one, ``compare`` sets mechanisms side by side, and
``learn.decompose`` takes a small table apart. Nothing here computes while a slider moves, and no
setting of a widget ever holds a record or an exact count. Views that are not private are off until
they are asked for. They are marked, and ``strip`` removes them from a notebook.
"""

from engine.widgets import learn
from engine.widgets.form import Setup, setup
from engine.widgets.player import Explorer, explore
from engine.widgets.sampling import sample
from engine.widgets.stripping import strip
from engine.widgets.trials import Trials, compare

__all__ = [
    "Explorer",
    "Setup",
    "Trials",
    "compare",
    "explore",
    "learn",
    "sample",
    "setup",
    "strip",
]
