"""How a round's budget was shared out, on one screen: each residual as a vessel.

A vessel is filled, on a log scale, with the precision from before (grey) and what the round poured
in (blue). The square beside it is as large as the residual's share of the round's privacy cost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from engine.showing.figure import Figure
from engine.showing.lattice import lattice
from engine.showing.palette import BLUE, GREY
from engine.showing.texts import safe

if TYPE_CHECKING:
    import pandas as pd

DEEP = 0.19
"""Half a vessel's height, in levels."""
WIDE = 44
"""Its width, in pixels."""
LARGEST = 620.0
"""Square pixels of the square of a whole round."""


def poured(frame: pd.DataFrame, *, ink: str, height: int, brief: bool = False) -> Figure:
    """Draw ``views.allocation`` as vessels.

    Args:
        frame: One row a residual.
        ink: Colour of the words, which must be read on the page's background.
        height: In pixels.
        brief: Whether the noise itself is left to the tooltip, which makes room for larger names.
    """
    nodes = _nodes(frame)
    bought = frame[frame["added"] > 0].sort_values("share", ascending=False)
    most = ", ".join(
        f"{100 * share:.0f} % to {label}"
        for label, share in zip(bought["label"].head(3), bought["share"].head(3), strict=True)
    )
    sentence = (
        f"Of the round's privacy cost went {most or 'nothing to any residual'}. Vessels: precision "
        "before (grey) and poured in now (blue), on a log scale; squares: share of the cost."
    )
    like = lattice(frame)  # the same table stands behind both
    base, title = like.form(), "Where the noise goes"
    heading = {**base["title"], "text": [title]}
    spec = _spec(int(frame["degree"].max()), ink, height, brief=brief)
    framed = {name: base[name] for name in _FRAME if name in base} | spec | {"title": heading}
    sources = {"nodes": _columns(nodes), "edges": _columns(_edges(frame, nodes))}
    return Figure(title, framed, sentence, like.badge, lambda: like.frame, sources)


_FRAME = ("$schema", "autosize", "padding", "config", "usermeta")
"""What every picture has alike."""


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _nodes(frame: pd.DataFrame) -> list[dict[str, Any]]:
    letters = int(frame["degree"].max()) > 3
    longest = max(frame["names"], key=len)
    keys = {name: chr(ord("A") + k) for k, name in enumerate(longest)} if letters else {}
    known, after = frame["known"].tolist(), frame["after"].tolist()
    level = _levels([*known, *after])
    nodes = []
    for k, row in enumerate(frame.to_dict("records")):
        degree = int(row["degree"])
        bottom = degree + DEEP
        nodes.append(
            {
                "x": (row["place"] + 0.5) / row["places"],
                "degree": degree, "top": degree - DEEP, "bottom": bottom,
                "grey": bottom - 2 * DEEP * level(known[k]),
                "blue": bottom - 2 * DEEP * level(after[k]),
                "name": _name(row["names"], keys), "full": safe(row["label"], longest=60),
                "said": _said(row), "area": LARGEST * row["share"],
                "share": f"{100 * row['share']:.0f} %" if row["added"] > 0 else "",
            }
        )  # fmt: skip
    return nodes


def _edges(frame: pd.DataFrame, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines between residuals where one holds the other and one attribute more."""
    sets = [frozenset(names) for names in frame["names"]]
    return [
        {"x": small["x"], "bottom": small["degree"], "x2": large["x"], "y2": large["degree"]}
        for small, inner in zip(nodes, sets, strict=True)
        for large, outer in zip(nodes, sets, strict=True)
        if inner < outer and len(outer) == len(inner) + 1
    ]


def _levels(precisions: list[float]) -> Any:
    positive = [p for p in precisions if p > 0]
    low, high = (math.log(min(positive)), math.log(max(positive))) if positive else (0.0, 1.0)
    span = max(high - low, 1e-9)

    def level(precision: float) -> float:
        return 0.12 + 0.88 * (math.log(precision) - low) / span if precision > 0 else 0.0

    return level


def _name(names: tuple[str, ...], keys: dict[str, str]) -> str:
    if not names:
        return "total"
    if keys:
        return "·".join(keys[name] for name in names)
    short = [safe(name, longest=14) for name in names]
    return (" ×\n" if len(short) == 2 else " × ").join(short)


def _said(row: dict[Any, Any]) -> str:
    before, now = _sigma(row["sigma_before"]), _sigma(row["sigma_now"])
    if row["added"] > 0:
        return f"σ {before} → {now}" if before != "∞" else f"σ {now}"
    return "not measured" if now == "∞" else f"σ {now}"


def _sigma(sigma: float) -> str:
    return f"{sigma:,.3g}" if math.isfinite(sigma) else "∞"


def _spec(top: int, ink: str, height: int, *, brief: bool) -> dict[str, Any]:
    # Long: one picture, layer by layer.
    wide = 0.7 * WIDE if brief else WIDE
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1]}}
    tooltip = [
        {"field": "full", "type": "nominal", "title": "residual"},
        {"field": "said", "type": "nominal", "title": "noise"},
        {"field": "share", "type": "nominal", "title": "of the round's cost"},
    ]
    scale = {"domain": [-0.42, top + 0.5], "reverse": True, "nice": False}

    def y(field: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "axis": None, "scale": scale}

    def vessel(low: str, high: str, colour: str, opacity: float = 1.0) -> dict[str, Any]:
        mark = {"type": "rule", "strokeWidth": wide, "color": colour, "opacity": opacity}
        ends = {"x": x, "y": y(low), "y2": {"field": high}}
        return {"mark": mark, "encoding": {**ends, "tooltip": tooltip}}

    def words(field: str, dy: int, size: float, **more: Any) -> dict[str, Any]:
        mark = {"type": "text", "dy": dy, "color": ink, "fontSize": size, "lineHeight": 13, **more}
        return {"mark": mark, "encoding": {"x": x, "y": y("degree"), "text": {"field": field}}}

    unit, beside = height / (top + 0.92), wide / 2 + (12 if brief else 16)
    half = DEEP * unit
    square = {
        "mark": {"type": "point", "shape": "square", "filled": True, "color": BLUE, "opacity": 1,
                 "xOffset": beside},
        "encoding": {"x": x, "y": y("degree"),
                     "size": {"field": "area", "type": "quantitative", "scale": None}},
        "transform": [{"filter": "datum.area > 0"}],
    }  # fmt: skip
    layers = (
        vessel("bottom", "top", GREY, 0.22), vessel("bottom", "blue", BLUE),
        vessel("bottom", "grey", "#9A9A9A"), square,
        words("name", round(half) + 4, 12.5 if brief else 12, baseline="top", fontWeight=600,
              lineBreak="\n"),
        *(() if brief else (words("said", -round(half) - 4, 12, baseline="bottom"),)),
        words("share", 0, 13, align="left", dx=beside + (11 if brief else 16), fontWeight=600),
    )  # fmt: skip
    lines = {
        "data": {"name": "edges"},
        "mark": {"type": "rule", "color": GREY, "opacity": 0.3},
        "encoding": {"x": x, "x2": {"field": "x2"}, "y": y("bottom"), "y2": {"field": "y2"}},
    }
    nodes_on_top = [{"data": {"name": "nodes"}, **layer} for layer in layers]
    return {"height": height, "layer": [lines, *nodes_on_top]}
