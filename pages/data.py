"""Which table do we protect, and which values may it hold?"""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import streamlit as st

from engine.domain import Domain
from engine.errors import EngineError
from engine.ingest import Preview, dialect
from engine.ingest.notes import counted
from pages.parts import domain_editor, host, samples, study, upload
from pages.parts.frame import through_app
from pages.parts.text import plain
from pages.parts.upload import Upload

SHOWN_ROWS, SHOWN_COLUMNS, LISTED = 50, 30, 200
_KINDS = {"sample": "An example", "own": "My own table", "names": "Names only, no rows"}
_LONG_ROWS = {
    "refuse": "stop and name the line",
    "skip": "leave those rows out",
    "widen": "keep the extra cells in columns of their own",
}
_QUOTES = {'"': 'double quotes "', "'": "single quotes '", "": "none: quotes are plain text"}


# -- examples -----------------------------------------------------------------------------------


def choose_sample() -> None:
    """Pick one of the tables that come with the explorer."""
    cards = samples.cards()
    names = list(cards)
    name = st.selectbox(
        "Example",
        names,
        upload.index(names, upload.setting("sample", study.here().sample)),
        format_func=lambda n: cards[n].title,
        key="data_sample",
        on_change=upload.remember,
        args=("sample", "data_sample"),
    )
    card, domain = cards[name], samples.domain(name)
    about = f"{card.rows:,} rows; one row is {card.row_is}. {card.origin}. Licence: {card.licence}."
    st.caption(plain(about, longest=600))
    if st.button("Use this example", type="primary", key="use_sample"):
        source = upload.source_of(domain)
        table = samples.shipped_table(name)
        upload.put(table, domain, name=card.title, source=source, sample=name)
    with st.expander("Its attributes and values"):
        _overview(domain)
    questions = [f"- {plain(question)}" for question in card.questions[:4]]
    if questions:
        st.markdown("**What it can answer**\n\n" + "\n".join(questions))


def _overview(domain: Domain) -> None:
    rows = [
        {
            "attribute": attribute.name,
            "kind": attribute.kind,
            "values": attribute.size,
            "such as": ", ".join(list(attribute.labels[:4])),
            "missing": attribute.missing.rule if attribute.missing else "",
            "from": attribute.source,
        }
        for attribute in domain
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="The attributes and their values")


# -- names only ---------------------------------------------------------------------------------


def type_names() -> None:
    """Declare a domain by hand, for planning without any row."""
    st.text_area(
        "Attributes, one a line",
        upload.setting("typed", "sex: f, m\nage: 0..99\nregion: 16"),
        key="data_typed",
        on_change=upload.remember,
        args=("typed", "data_typed"),
        height=160,
        help="name: value, value … or name: first..last or name: number of values",
    )
    try:
        domain = upload.typed_domain(upload.setting("typed", ""))
    except EngineError as error:
        st.error(plain(error, longest=600), icon=":material/error:")
        return
    _overview(domain)
    size_meter(domain)
    if st.button("Plan with these names", type="primary", key="use_names"):
        upload.put(None, domain, name="Typed domain", source="declared")


# -- one's own table ----------------------------------------------------------------------------


def own_table() -> None:
    """Upload a table, look at how it was read, declare its domain, use it."""
    if host.is_class():
        st.info(host.UPLOADS_OFF, icon=":material/school:")
        return
    here = upload.current()
    if here is None:
        _uploader()
        return
    _loaded(here)
    if here.problem is not None:
        st.error(plain(here.problem, longest=900), icon=":material/error:")
    if here.preview is not None:
        _warnings(here.preview)
    _how_it_was_read(here)
    if here.preview is None:
        return
    _look(here, here.preview)
    _columns(here, here.preview)
    if here.chosen:
        _domain(here)


def _uploader() -> None:
    st.markdown(
        "Any CSV, Excel or Parquet file up to 50 MB, compressed with gzip or not. It stays in this "
        "session's memory on this computer and is written nowhere."
    )
    number = st.session_state.get("upload_number", 0)
    file = st.file_uploader(
        "Your table",
        key=f"file_{number}",
        max_upload_size=upload.UPLOAD_MB,
        help="Told apart by its content; the file's name decides nothing.",
    )
    if file is None:
        return
    here = Upload(file.name, file.getvalue())
    bar = st.progress(0.0, text="Reading …")
    here.read(lambda share: bar.progress(min(1.0, share), text="Reading …"))
    upload.keep(here)
    st.rerun()


def _loaded(here: Upload) -> None:
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


def _warnings(preview: Preview) -> None:
    if not preview.warnings:
        return
    said = "\n".join(f"- {plain(note.sentence, longest=600)}" for note in preview.warnings)
    number = len(preview.warnings)
    st.warning(
        f"**{number} {'thing' if number == 1 else 'things'} to check**\n\n{said}",
        icon=":material/checklist:",
    )


def _how_it_was_read(here: Upload) -> None:
    preview = here.preview
    with st.expander("How it was read", expanded=preview is None, icon=":material/tune:"):
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
    before = here.version
    here.read()
    if here.version == before:
        here.version += 1


def _look(here: Upload, preview: Preview) -> None:
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


# -- columns and domain -------------------------------------------------------------------------


def _columns(here: Upload, preview: Preview) -> None:
    st.subheader("Which columns become attributes?", divider="gray")
    options = list(preview.labels)
    if len(options) > LISTED:
        text = st.text_input(
            f"Search among {len(options):,} columns",
            upload.setting("search", ""),
            key="data_search",
            on_change=upload.remember,
            args=("search", "data_search"),
        )
        matching = [label for label in options if text.casefold() in label.casefold()]
        options = list(dict.fromkeys([*here.chosen, *matching[:LISTED]]))
    key = f"chosen_{here.version}"

    def changed() -> None:
        here.chosen = list(st.session_state[key])
        here.used = None

    st.multiselect(
        f"Attributes, at most {upload.MOST_ATTRIBUTES}",
        options,
        here.chosen,
        key=key,
        on_change=changed,
        max_selections=upload.MOST_ATTRIBUTES,
        format_func=_short,
    )
    _left_out(here, preview)


def _short(label: str) -> str:
    return label if len(label) <= 60 else label[:59] + "…"


def _left_out(here: Upload, preview: Preview) -> None:
    rest = [label for label in preview.labels[:LISTED] if label not in here.chosen]
    proposals = preview.attributes(*rest) if rest else ()
    reasons = [p for p in proposals if not p.keep]
    if not rest:
        return
    with st.expander(f"Left out: {counted(len(preview.labels) - len(here.chosen), 'column')}"):
        if reasons:
            st.caption("Identifiers, constants, empty columns and free text make no marginals.")
        rows = [
            {"column": p.label, "read as": domain_editor.reading_name(p.kind), "why": p.reason}
            for p in proposals
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Columns that are left out, and why")


def _domain(here: Upload) -> None:
    st.subheader("Which values may they hold?", divider="gray")
    st.caption(
        "The domain must come from public knowledge, never from the rows: whatever is read from "
        "the "
        "rows is given away with the release. What is drafted from your data is marked so."
    )
    key = f"edited_{here.version}"
    edited = upload.setting("edited", here.chosen[0])
    if edited not in here.chosen:
        edited = here.chosen[0]
    label = st.selectbox(
        "Attribute to edit",
        here.chosen,
        upload.index(here.chosen, edited),
        key=key,
        on_change=upload.remember,
        args=("edited", key),
        format_func=_short,
    )
    with st.container(border=True):
        domain_editor.draw(here, label)
    _people(here)
    try:
        domain = here.domain()
    except EngineError as error:
        st.error(plain(error, longest=600), icon=":material/error:")
        _exchange(here, None)
        return
    _overview(domain)
    size_meter(domain)
    _exchange(here, domain)
    _use(here, domain)


def _people(here: Upload) -> None:
    left, middle, right = st.columns(3)
    # Fixed while drawing: another widget's callback may begin a new version before this one runs.
    row, rows, person = (f"{name}_{here.version}" for name in ("row", "rows", "person"))

    def changed() -> None:
        here.row = st.session_state.get(row) or "one person"
        here.rows_per_person = int(st.session_state.get(rows) or 1)
        here.person = st.session_state.get(person)
        here.used = None

    left.text_input("One row is", here.row, key=row, on_change=changed)
    middle.number_input(
        "Most rows a person may have",
        1,
        1_000_000,
        here.rows_per_person,
        key=rows,
        on_change=changed,
        help="k rows a person cost k² times as much: the ledger charges it.",
    )
    assert here.preview is not None
    people = list(here.preview.labels[:LISTED])
    right.selectbox(
        "Whose row it is (keeps at most so many)",
        people,
        people.index(here.person) if here.person in people else None,
        key=person,
        on_change=changed,
        placeholder="no such column",
        format_func=_short,
    )
    if here.rows_per_person > 1:
        st.caption(
            f"Up to {here.rows_per_person:,} rows a person: the privacy cost is "
            f"{here.rows_per_person**2:,} times that of one row."
        )


def size_meter(domain: Domain) -> None:
    """Say how large what could be asked for is, before anything runs; from the domain alone."""
    cells = upload.sizes(domain)
    one, two, three, everything = st.columns(4)
    one.metric("Cells, one attribute", _amount(cells["one"]))
    two.metric("Cells, all pairs", _amount(cells["two"]))
    three.metric("Cells, all triples", _amount(cells["three"]))
    everything.metric("Possible records", _amount(cells["all"]))
    if cells["two"] > 30_000_000:
        st.warning(
            "All pairs together are too large to hold on a page. Use coarser bins, or fewer "
            "attributes.",
            icon=":material/data_usage:",
        )


def _amount(number: int) -> str:
    if number < 100_000:
        return f"{number:,}"
    if number < 10**15:
        return f"{number:.3g}" if number >= 10**9 else f"{number / 1e6:,.3g} M"
    return f"10^{math.floor(math.log10(number))}"


def _exchange(here: Upload, domain: Domain | None) -> None:
    with st.expander("Domain as a file (JSON)", icon=":material/data_object:"):
        if domain is not None:
            st.download_button(
                "Save this domain",
                lambda: json.dumps(domain.to_dict(), ensure_ascii=False, indent=1),
                file_name="table.domain.json",
                mime="application/json",
                on_click="ignore",
                key="save_domain",
            )
            st.caption(f"Its hash, which a release carries: {domain.hash[:16]}…")
        file = st.file_uploader(
            "Take a domain over", key=f"domain_{here.version}", max_upload_size=5
        )
        if file is not None:
            _take_domain(here, file.getvalue())
        said = st.session_state.pop("domain_taken", None)
        if said:
            st.info(said, icon=":material/info:")


def _take_domain(here: Upload, content: bytes) -> None:
    try:
        domain = Domain.from_dict(json.loads(content))
    except EngineError as error:
        st.error(plain(error, longest=600), icon=":material/error:")
        return
    except (ValueError, RecursionError):
        st.error("This file is no JSON. Take one that was saved here.", icon=":material/error:")
        return
    unknown = here.take(domain)
    said = f"Took over {len(domain) - len(unknown)} of {len(domain)} attributes."
    if unknown:
        names = ", ".join(plain(name, longest=40) for name in unknown[:5])
        said += f" No column is called: {names}."
    st.session_state["domain_taken"] = said
    st.rerun()


def _use(here: Upload, domain: Domain) -> None:
    if domain.read_from_data:
        st.info(
            "Some values were read from your data: what follows is a demonstration and no private "
            "release. Declare them to change that.",
            icon=":material/school:",
        )
    if st.button("Use this table", type="primary", key="use_table"):
        with st.spinner("Encoding …"):
            here.use()
    if here.refused:
        st.error(plain(here.refused, longest=900), icon=":material/error:")
    if here.used is not None:
        parts = []
        outside = sum(here.used.outside.values())
        if outside:
            parts.append(f"{outside:,} cells outside followed their rule")
        if here.used.dropped:
            parts.append(f"{here.used.dropped:,} rows left out")
        counts = f" {'; '.join(parts)} (not private)." if parts else ""
        st.success(f"Ready: the other pages use this table now.{counts}", icon=":material/check:")


def page() -> None:
    """Lay out the page."""
    st.title("Data")
    st.markdown("Which table do we protect, and which values may it hold?")
    kinds = list(_KINDS)
    kind = st.segmented_control(
        "Start from",
        kinds,
        default=upload.setting("kind", "sample"),
        required=True,
        format_func=_KINDS.__getitem__,
        key="data_kind",
        on_change=upload.remember,
        args=("kind", "data_kind"),
        label_visibility="collapsed",
    )
    {"sample": choose_sample, "own": own_table, "names": type_names}[kind or "sample"]()
    title = samples.choices()[study.here().sample].title
    st.caption(f"In use now: {plain(title, longest=80)}.")
    with st.container(horizontal=True):
        st.page_link("pages/plan.py", label="Plan it", icon=":material/tune:")
        st.page_link("pages/rounds.py", label="Watch a run", icon=":material/replay:")


through_app()
page()
