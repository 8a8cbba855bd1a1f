"""How a visitor's file was read: what there is to check, with answers, and every choice."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine import ingest
from engine.ingest import dialect
from engine.ingest.notes import counted
from pages.parts.drawing.text import plain
from pages.parts.entry import upload
from pages.parts.entry.upload import Upload

SHOWN_ROWS, SHOWN_COLUMNS = 50, 30
_LONG_ROWS = {
    "refuse": "stop and name the line",
    "skip": "leave those rows out",
    "widen": "keep the extra cells in columns of their own",
}
_QUOTES = {'"': 'double quotes "', "'": "single quotes '", "": "none: quotes are plain text"}


def checks(here: Upload) -> None:
    """Say what there is to check, each with its answers as buttons."""
    notes = here.questions()
    if not notes:
        return
    number = len(notes)
    lines = [f"- {plain(note.sentence, longest=600)}" for note in notes if not note.offers]
    heading = f"**{number} {'thing' if number == 1 else 'things'} to check**"
    st.warning("\n".join([heading, "", *lines]).strip(), icon=":material/checklist:")
    for place, note in enumerate(notes):
        if note.offers:
            _question(here, note, place)


def _question(here: Upload, note: ingest.Note, place: int) -> None:
    with st.container(border=True):
        assert here.preview is not None
        labels = [here.preview.labels[int(column[1:])] for column in note.columns]
        named = ", ".join(f"**{plain(label, longest=40)}**" for label in labels if label.strip())
        sentence = plain(note.sentence, longest=600)
        st.markdown(f"{named}: {sentence}" if named else sentence)
        if note.code == "W_VARIANTS":
            _variants(here, note)
        with st.container(horizontal=True):
            for i, offer in enumerate(note.offers):
                st.button(
                    plain(offer.label, longest=80),
                    key=f"offer_{note.code}_{place}_{i}_{here.version}",
                    on_click=here.answer,
                    args=(note, offer),
                )


def _variants(here: Upload, note: ingest.Note) -> None:
    assert here.preview is not None
    label = here.preview.labels[int(note.columns[0][1:])]
    groups = here.preview.attributes(label)[0].variants[:5]
    shown = "; ".join(", ".join(f"“{plain(v, longest=30)}”" for v in group) for group in groups)
    st.caption(f"{shown} :orange-badge[not private]")


def how_it_was_read(here: Upload) -> None:
    """Show every choice of reading, each of which can be changed."""
    preview = here.preview
    with st.expander(
        "How it was read", expanded=preview is None, icon=":material/tune:", key="how_read"
    ):  # with a key it stays open while a choice in it is changed
        if preview is not None and preview.first_lines:
            st.caption("The first lines as they are, before any guess:")
            st.code("\n".join(preview.first_lines[:8]), language=None, wrap_lines=False)
        st.caption(
            "Each choice was found from the content. Change one, and the file is read again."
        )
        _choices(here)


def _choices(here: Upload) -> None:
    preview = here.preview
    found = dict(preview.choices) if preview is not None else {"format": "text"}
    others = dict(preview.alternatives) if preview is not None else {}
    # Row by row: on a narrow screen the columns stand below each other.
    text, lined = found.get("format") == "text", found.get("format") != "parquet"
    if text:
        _text_choices(here, found, others)
    first, second, third = st.columns(3)
    if found.get("format") == "excel":
        sheets = list(others.get("sheet", ()))
        _choice(here, first, "sheet", "Sheet", sheets, found.get("sheet"), str)
    elif text:
        rows = list(_LONG_ROWS)
        now = here.choices.get("long_rows", "refuse")
        _choice(here, first, "long_rows", "Rows with too many cells", rows, now, _LONG_ROWS.get)
    if lined:
        _line(here, second, "header_line", "Header on line (0: none)", found, 0)
        _line(here, third, "last_line", "Last data line", found, 1)
        _line(here, second, "first_line", "First data line", found, 1)
    first, second, third = st.columns(3, vertical_alignment="bottom")
    _choice(
        here, first, "decimal", "Decimal mark", [".", ","], found.get("decimal"),
        {".": "point", ",": "comma"}.get,
    )  # fmt: skip
    _missing_codes(here, second, found, others)
    third.toggle(
        "Remove blanks around cells",
        bool(here.choices.get("trim", True)),
        key=f"trim_{here.version}",
        on_change=_reread,
        args=(here, "trim", f"trim_{here.version}"),
    )
    if here.choices and st.button("Back to what was found", key=f"found_{here.version}"):
        here.choices.clear()
        here.read()
        st.rerun()


def _text_choices(here: Upload, found: dict[str, Any], others: dict[str, tuple[Any, ...]]) -> None:
    first, second, third = st.columns(3)
    encodings = list(dict.fromkeys([found.get("encoding"), *others.get("encoding", ())]))
    encodings = [name for name in encodings if name] or ["utf-8", "cp1252", "utf-16-le"]
    _choice(here, first, "encoding", "Encoding", encodings, found.get("encoding"), str)
    marks = list(dict.fromkeys([*others.get("separator", ()), *dialect.STRONG, " ", ""]))
    if found.get("separator") is not None and found["separator"] not in marks:
        marks.insert(0, found["separator"])
    _choice(
        here, second, "separator", "Separator", marks, found.get("separator"),
        lambda mark: dialect.NAMES.get(mark, repr(mark)),
    )  # fmt: skip
    quotes = list(_QUOTES)
    _choice(here, third, "quoting", "Quotes", quotes, found.get("quoting"), _QUOTES.__getitem__)


def _choice(
    here: Upload, where: Any, name: str, label: str, options: list[Any], now: Any, shown: Any
) -> None:
    key = f"{name}_{here.version}"
    where.selectbox(
        label,
        options,
        upload.index(options, here.choices.get(name, now)),
        format_func=lambda option: str(shown(option)),
        key=key,
        on_change=_reread,
        args=(here, name, key),
    )


def _line(
    here: Upload, where: Any, name: str, label: str, found: dict[str, Any], least: int
) -> None:
    key = f"{name}_{here.version}"
    where.number_input(
        label,
        min_value=least,
        value=here.choices.get(name, found.get(name)),
        step=1,
        key=key,
        on_change=_reread,
        args=(here, name, key),
        placeholder="found from the content",
    )


def _missing_codes(
    here: Upload, where: Any, found: dict[str, Any], others: dict[str, tuple[Any, ...]]
) -> None:
    key = f"missing_{here.version}"
    now = [str(code) for code in found.get("missing", ())]
    options = list(dict.fromkeys([*now, *others.get("missing", ())]))
    where.multiselect(
        "Cells that mean missing, everywhere",
        options,
        now,
        key=key,
        on_change=_reread,
        args=(here, "missing", key),
        accept_new_options=True,
        placeholder="besides empty ones",
    )


def _reread(here: Upload, name: str, key: str) -> None:
    value = st.session_state[key]
    here.choices[name] = tuple(value) if name == "missing" else value
    if value is None:
        del here.choices[name]
    if name in ("header_line", "separator", "sheet", "quoting", "encoding"):
        # What was found under the old choice says nothing under the new one.
        here.choices.pop("last_line", None)
        here.choices.pop("first_line", None)
    before = here.version
    here.read()
    if here.version == before:
        here.version += 1


# -- what came of it ------------------------------------------------------------------------------


def loaded(here: Upload) -> None:
    """Say which file is loaded, and offer another."""
    left, right = st.columns([5, 1], vertical_alignment="center")
    what = ""
    if here.preview is not None:
        rows, columns = here.preview.frame.shape
        what = f": {counted(rows, 'row')}, {counted(columns, 'column')}"
        if here.preview.schema_only:
            what = f": {counted(columns, 'column')} and no rows (enough to plan with)"
    left.markdown(f"Loaded **{plain(here.name, longest=80)}**{what} :orange-badge[not private]")
    if right.button("Replace", key="replace", help="Forget this table and choose another file."):
        upload.keep(None)
        st.rerun()


def look(preview: ingest.Preview) -> None:
    """Show the first rows as texts."""
    if preview.schema_only:
        return
    labels = list(preview.labels[:SHOWN_COLUMNS])
    part = preview.frame.iloc[:SHOWN_ROWS, :SHOWN_COLUMNS].astype(object)
    # Widths and menus go by position; the person's names are only shown.
    config = {
        column: st.column_config.TextColumn(label if label.strip() else column)
        for column, label in zip(part.columns, labels, strict=True)
    }
    st.dataframe(
        part, hide_index=True, height=260, column_config=config, alt="The first rows as text"
    )
    rows, columns = preview.frame.shape
    if rows > SHOWN_ROWS or columns > SHOWN_COLUMNS:
        st.caption(
            f"The first {min(rows, SHOWN_ROWS):,} of {rows:,} rows, "
            f"{min(columns, SHOWN_COLUMNS):,} of {columns:,} columns. Not private."
        )
