"""Colours of all pictures: Okabe and Ito's, so that no reading rests on telling red from green.

Shapes, heights or dashes repeat what colour says.
"""

from engine.showing.badges import NOT_PRIVATE, PUBLIC, RELEASED

BLUE, SKY, ORANGE, GREEN, RED, PINK = (
    "#1F82C4", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7",
)  # fmt: skip
PURPLE = "#8E44C9"
"""Beside the others where lines are many."""
GREY = "#808080"
"""Readable on white and on near-black alike."""
TEXT = "#767676"
"""Words of a picture that does not know what it stands on: 4.5 to 1 on white, 4.2 on near-black."""
STEEL = "#A0A0A0"
"""Filled areas that stand back."""
INK = "#1a1a1a"
"""Text on light tiles, whatever the page's colour."""
DIVERGING = ("#1B4F9C", "#6FA3D8", "#F2F0EB", "#F0A860", "#B35806")
"""Blue to orange; its middle stands for zero."""
BADGES = {RELEASED: GREEN, PUBLIC: "#2E86C1", NOT_PRIVATE: RED}
