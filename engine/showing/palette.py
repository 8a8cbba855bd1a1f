"""Colours of all pictures: Okabe and Ito's, so that no reading rests on telling red from green.

Shapes, heights or dashes repeat what colour says.
"""

BLUE, SKY, ORANGE, GREEN, RED, PINK = (
    "#1F82C4", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7",
)  # fmt: skip
GREY = "#808080"
"""Readable on white and on near-black alike."""
DIVERGING = ("#1B4F9C", "#6FA3D8", "#F2F0EB", "#F0A860", "#B35806")
"""Blue to orange; its middle stands for zero."""
