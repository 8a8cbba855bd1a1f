"""The editor of one attribute: how its column is read, its values, what missing and odd cells do.

Every widget shows the attribute being declared and changes it through a callback.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine import ingest
from engine.attributes import PARTS, Part
from engine.domain import Attribute, Domain, Missing
from engine.errors import EngineError
from pages.parts.drawing.text import plain
from pages.parts.entry.upload import Drafted, Upload, index

_READINGS = {
    "categorical": "categories",
    "ordinal": "categories in order",
    "yes/no": "yes or no",
    "integer": "whole numbers",
    "numeric": "numbers in bins",
    "date": "dates",
    "identifier": "an identifier",
    "text": "free text",
    "constant": "always the same",
    "empty": "empty",
}
_OUTSIDE = {
    "refuse": "stops the table from being used",
    "clamp": "counts as the nearest bound",
    "other": "counts as “Other”",
}
_MISSING = {
    "category": "count as a value of their own",
    "drop": "leave the row out",
    "replace": "count as the value below",
    "none": "stop the table from being used",
}
_PARTS: dict[Part, str] = {
    "values": "its values",
    "lowest": "the smallest",
    "highest": "the largest",
    "edges": "the bins",
    "missing": "whether cells are missing",
}
_MOST_BARS = 60


def reading_name(reading: str) -> str:
    """Name a reading for people."""
    return _READINGS.get(reading, reading)


def draw(upload: Upload, label: str) -> None:
    """Draw the editor of one column's attribute."""
    assert upload.preview is not None
    proposal = upload.preview.attributes(label)[0]
    drafted = upload.draft(label)
    key = f"{upload.version}_{proposal.column}"
    left, right = st.columns([3, 2], gap="large")
    with left:
        _reading(upload, label, proposal, drafted, key)
        if drafted.attribute is not None and drafted.reading == "date":
            st.caption("Its values are the parts of its dates.")
        elif drafted.attribute is not None:
            _values(upload, label, drafted, key)
        else:
            _list_of_values(upload, label, None, key)
        if drafted.split:
            st.caption(f"Split into {len(drafted.split)} attributes, yes or no, one an answer.")
        if drafted.problem:
            st.error(plain(drafted.problem, longest=600), icon=":material/error:")
        if drafted.attribute is not None:
            _rules(upload, label, drafted.attribute, proposal, key)
    with right:
        _picture(upload, label, drafted)


# -- how the column is read ---------------------------------------------------------------------


def _reading(
    upload: Upload, label: str, proposal: ingest.Proposal, drafted: Drafted, key: str
) -> None:
    options = [proposal.kind, *proposal.alternatives]
    if drafted.reading not in options:
        options.insert(0, drafted.reading)

    def changed() -> None:
        upload.redraft(label, st.session_state[f"reading_{key}"], drafted.part)
        upload.version += 1
        upload.used = None

    st.selectbox(
        "Read this column as",
        options,
        index(options, drafted.reading),
        format_func=reading_name,
        key=f"reading_{key}",
        on_change=changed,
        help="The first one is proposed; any other is one click away.",
    )
    examples = ", ".join(f"“{plain(example, longest=40)}”" for example in proposal.examples)
    st.caption(
        f"{plain(proposal.reason)} Examples: {examples or 'none'}. :orange-badge[not private]"
    )
    if drafted.reading == "date":
        _date_part(upload, label, drafted, key)
        if proposal.ambiguous:
            st.warning(
                "Nothing in these dates tells whether the day or the month stands first; the day "
                "was "
                "taken. Prefer the year, or write dates as 2024-01-31 in the file.",
                icon=":material/help:",
            )


def _date_part(upload: Upload, label: str, drafted: Drafted, key: str) -> None:
    parts = list(ingest.DATE_PARTS)

    def changed() -> None:
        upload.redraft(label, "date", st.session_state[f"part_{key}"])
        upload.version += 1
        upload.used = None

    st.selectbox(
        "Keep its", parts, index(parts, drafted.part), key=f"part_{key}", on_change=changed
    )


# -- its values ---------------------------------------------------------------------------------


def _values(upload: Upload, label: str, drafted: Drafted, key: str) -> None:
    attribute = drafted.attribute
    assert attribute is not None
    if attribute.kind == "integer":
        _whole_bounds(upload, label, attribute, key)
    elif attribute.kind == "numeric":
        _bins(upload, label, attribute, key)
    else:
        _list_of_values(upload, label, attribute, key)


def _on(change: Callable[..., None], key: str, field: str, make: Callable[[Any], Any]) -> Any:
    def changed() -> None:
        change(**{field: make(st.session_state[key])})

    return changed


def _list_of_values(upload: Upload, label: str, attribute: Attribute | None, key: str) -> None:
    def changed() -> None:
        values = ingest.pasted_values(st.session_state[f"values_{key}"])
        if attribute is None:
            upload.change(label, values=values, outside="other")
        else:
            upload.declare(label, "values", values=values)
        upload.version += 1

    held = "\n".join(attribute.values or ()) if attribute is not None else ""
    st.text_area(
        "Its values, one a line, in order", held, key=f"values_{key}", height=180,
        on_change=changed, placeholder="Paste a list that is publicly known.",
        help="Paste a whole list; blank lines and repetitions go. Ctrl+Enter takes it over.",
    )  # fmt: skip
    if attribute is not None:
        st.toggle(
            "Count everything that is not on the list as “Other”",
            attribute.outside == "other",
            key=f"other_{key}",
            on_change=_on(
                lambda **f: upload.change(label, **f), f"other_{key}", "outside",
                lambda on: "other" if on else "refuse",
            ),
        )  # fmt: skip


def _typed_parts(before: tuple[float, float], now: tuple[float, float]) -> tuple[Part, ...]:
    """Return the bounds that were typed anew: only these are known without the rows."""
    ends: tuple[Part, Part] = ("lowest", "highest")
    return tuple(part for part, a, b in zip(ends, before, now, strict=True) if a != b)


def _whole_bounds(upload: Upload, label: str, attribute: Attribute, key: str) -> None:
    low, high = attribute.bounds or (0, 1)

    def changed() -> None:
        bounds = (int(st.session_state[f"low_{key}"]), int(st.session_state[f"high_{key}"]))
        upload.declare(label, *_typed_parts((low, high), bounds), bounds=bounds)
        upload.version += 1

    first, last = st.columns(2)
    first.number_input("Smallest", value=low, step=1, key=f"low_{key}", on_change=changed)
    last.number_input("Largest", value=high, step=1, key=f"high_{key}", on_change=changed)


def _bins(upload: Upload, label: str, attribute: Attribute, key: str) -> None:
    edges = attribute.edges or (0.0, 1.0)
    widths = np.diff(np.array(edges))
    even = bool(np.allclose(widths, widths[0]))
    how = st.segmented_control(
        "Bins", ["Equal width", "Typed edges"], required=True, key=f"how_{key}",
        default="Equal width" if even else "Typed edges",
    )  # fmt: skip
    if how == "Typed edges":
        _typed_edges(upload, label, edges, key)
    else:
        _equal_width(upload, label, edges, key)


def _typed_edges(upload: Upload, label: str, edges: tuple[float, ...], key: str) -> None:
    decimal = str(upload.choices.get("decimal") or ".")

    def typed() -> None:
        try:
            made = ingest.typed_edges(st.session_state[f"edges_{key}"], decimal)
        except EngineError as error:
            upload.draft(label).problem = str(error)
            return
        upload.declare(label, "lowest", "highest", "edges", edges=made)
        upload.version += 1

    st.text_input(
        "Edges, in order",
        " ".join(f"{edge:.10g}" for edge in edges),
        key=f"edges_{key}",
        on_change=typed,
        help="Numbers set apart by blanks. Each bin holds its left edge, the last one both.",
    )


def _equal_width(upload: Upload, label: str, edges: tuple[float, ...], key: str) -> None:
    def equal() -> None:
        low, high = st.session_state[f"low_{key}"], st.session_state[f"high_{key}"]
        number = int(st.session_state[f"bins_{key}"])
        try:
            made = ingest.equal_width(low, high, number)
        except EngineError as error:
            upload.draft(label).problem = str(error)
            return
        parts = _typed_parts((edges[0], edges[-1]), (made[0], made[-1]))
        if number != len(edges) - 1:
            parts = (*parts, "edges")
        upload.declare(label, *(parts or ("edges",)), edges=made)
        upload.version += 1

    first, last, number = st.columns(3)
    first.number_input("From", value=float(edges[0]), key=f"low_{key}", on_change=equal)
    last.number_input("To", value=float(edges[-1]), key=f"high_{key}", on_change=equal)
    number.number_input("Bins", 1, 1000, len(edges) - 1, key=f"bins_{key}", on_change=equal)


# -- its rules ----------------------------------------------------------------------------------


def _rules(
    upload: Upload, label: str, attribute: Attribute, proposal: ingest.Proposal, key: str
) -> None:
    def change(**fields: Any) -> None:
        upload.change(label, **fields)

    if attribute.kind in ("integer", "numeric"):
        rules = list(_OUTSIDE)
        st.selectbox(
            "A value outside",
            rules,
            index(rules, attribute.outside),
            format_func=_OUTSIDE.__getitem__,
            key=f"outside_{key}",
            on_change=_on(change, f"outside_{key}", "outside", str),
        )
    _missing(upload, label, attribute, proposal, key)
    _known(upload, label, attribute, key)


def _known(upload: Upload, label: str, attribute: Attribute, key: str) -> None:
    """Ask which parts are known without looking at the rows; only that declares them."""
    if attribute.source == "public default":
        st.caption("Its values are a standard list, not read from the rows.")
        return
    parts = [part for part in PARTS[attribute.kind] if part in _PARTS]
    held = [part for part in parts if part not in attribute.read_from_data]

    def changed() -> None:
        said = tuple(st.session_state[f"known_{key}"] or ())
        upload.change(label, source="data", declared=said)
        upload.version += 1

    st.pills(
        "We know this without looking at the rows",
        parts,
        selection_mode="multi",
        default=held,
        format_func=_PARTS.__getitem__,
        key=f"known_{key}",
        on_change=changed,
        help="What is not chosen came from your rows and gives them away: a release with it is a "
        "demonstration. What you type is known; what missing cells do has to be said here.",
    )


def _missing(
    upload: Upload, label: str, attribute: Attribute, proposal: ingest.Proposal, key: str
) -> None:
    now = attribute.missing

    def changed() -> None:
        rule = st.session_state[f"missing_{key}"]
        codes = tuple(st.session_state.get(f"codes_{key}", now.codes if now else ()))
        value = st.session_state.get(f"instead_{key}") or attribute.labels[0]
        made = None
        if rule != "none":
            label_ = now.label if now is not None else "(missing)"
            made = Missing(codes, rule, label_, value if rule == "replace" else None)
        upload.change(label, missing=made)

    rules = list(_MISSING)
    left, right = st.columns(2)
    left.selectbox(
        "Missing cells",
        rules,
        index(rules, now.rule if now is not None else "none"),
        format_func=_MISSING.__getitem__,
        key=f"missing_{key}",
        on_change=changed,
    )
    held = list(now.codes) if now is not None else []
    offered = (*proposal.missing_codes, *proposal.may_be_missing)
    options = list(dict.fromkeys([*held, *offered]))
    right.multiselect(
        "Besides empty cells, these mean missing",
        options,
        held,
        key=f"codes_{key}",
        on_change=changed,
        accept_new_options=True,
        disabled=now is None,
        placeholder="such as ? or NA",
    )
    if now is not None and now.rule == "replace":
        st.text_input("Replace them by", now.value or "", key=f"instead_{key}", on_change=changed)


# -- what it gives ------------------------------------------------------------------------------


def _encoded(preview: ingest.Preview, drafted: Drafted, attribute: Attribute) -> ingest.Encoded:
    """Encode one column, once for each state of its attribute: a script runs at every click."""
    if drafted.counted is None or drafted.counted[0] != attribute:
        drafted.counted = attribute, ingest.encode_counted(preview, Domain((attribute,)))
    return drafted.counted[1]


def _picture(upload: Upload, label: str, drafted: Drafted) -> None:
    """Show how many rows each value would hold: counts from the rows, never released."""
    attribute, preview = drafted.attribute, upload.preview
    if attribute is None or preview is None:
        return
    st.markdown(f"**{attribute.size:,} values** :orange-badge[not private]")
    if preview.schema_only:
        rows = pd.DataFrame({"value": list(attribute.labels[:_MOST_BARS])})
        st.dataframe(rows, hide_index=True, height=320)
        return
    try:
        encoded = _encoded(preview, drafted, attribute)
    except EngineError as error:
        st.info(plain(error, longest=600), icon=":material/info:")
        return
    counts = np.bincount(encoded.table.codes[0], minlength=attribute.size)
    rows = pd.DataFrame({"value": list(attribute.labels[:_MOST_BARS]), "rows": counts[:_MOST_BARS]})
    most = int(max(1, counts.max())) if len(counts) else 1
    st.dataframe(
        rows,
        hide_index=True,
        height=min(420, 38 + 35 * len(rows)),
        column_config={
            "value": st.column_config.TextColumn("value"),
            "rows": st.column_config.ProgressColumn(
                "rows", format="%d", min_value=0, max_value=most
            ),
        },
        alt="How many rows each value holds",
    )
    outside = encoded.counts.outside[attribute.name]
    said = [f"{outside:,} cells are outside" if outside else ""]
    said.append(f"{encoded.counts.dropped:,} rows are left out" if encoded.counts.dropped else "")
    if attribute.size > _MOST_BARS:
        said.append(f"{attribute.size - _MOST_BARS:,} more values are not shown")
    if any(said):
        st.caption("; ".join(filter(None, said)) + ". These counts are not private.")
