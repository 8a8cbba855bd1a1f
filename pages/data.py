"""Which table do we protect, and which values may it hold?"""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from engine.domain import Domain
from engine.errors import EngineError
from engine.ingest import Choices, Preview
from engine.ingest.notes import counted
from pages.parts.drawing.text import plain
from pages.parts.entry import domain_editor, overview, reading, upload
from pages.parts.entry.upload import Upload
from pages.parts.navigation import host
from pages.parts.navigation.frame import through_app
from pages.parts.releasing import only
from pages.parts.visit import samples, session, study

LISTED = 200
_KINDS = {"sample": "An example", "own": "My own table", "names": "Names only, no rows"}


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
        overview.attributes(domain)
    questions = [f"- {plain(question)}" for question in card.questions[:4]]
    if questions:
        st.markdown("**What it can answer**\n\n" + "\n".join(questions))


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
    overview.attributes(domain)
    overview.size_meter(domain)
    if st.button("Plan with these names", type="primary", key="use_names"):
        upload.put(None, domain, name="Typed domain", source="declared")


# -- one's own table ----------------------------------------------------------------------------


def own_table() -> None:
    """Upload a table, look at how it was read, declare its domain, use it."""
    if host.is_class():
        st.info(host.UPLOADS_OFF, icon=":material/school:")
        return
    here = upload.current()
    if not only.may_show(None if here is None else here.data):
        return
    if here is None:
        _uploader()
        return
    only.shown(here.data)
    reading.loaded(here)
    if here.problem is not None:
        st.error(plain(here.problem, longest=900), icon=":material/error:")
    if here.preview is not None:
        reading.checks(here)
    reading.how_it_was_read(here)
    if here.preview is None:
        return
    reading.look(here.preview)
    _columns(here, here.preview)
    if here.chosen:
        _domain(here)


def _uploader() -> None:
    st.markdown(
        "Any CSV, Excel or Parquet file up to 50 MB, compressed with gzip or not, or a file of "
        "SPSS, Stata or SAS. It stays in this session's memory on this computer and is written "
        "nowhere."
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
    if not only.may_show(here.data):
        return
    bar = st.progress(0.0, text="Reading …")
    here.read(lambda share: bar.progress(min(1.0, share), text="Reading …"))
    upload.keep(here)
    st.rerun()


# -- columns and domain -------------------------------------------------------------------------


def _columns(here: Upload, preview: Preview) -> None:
    st.header("Which columns become attributes?", divider="gray")
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
    st.header("Which values may they hold?", divider="gray")
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
    overview.attributes(domain)
    overview.size_meter(domain)
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


def _exchange(here: Upload, domain: Domain | None) -> None:
    with st.expander("Domain as a file (JSON)", icon=":material/data_object:"):
        if domain is not None:
            st.download_button(
                "Save this domain",
                lambda: json.dumps(here.saved(), ensure_ascii=False, indent=1),
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
        found = json.loads(content)
        domain = Domain.from_dict(found)
        here.take_reading(Choices.from_dict(found.get("reading", {})))
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
        read = [attribute.name for attribute in domain if attribute.read_from_data]
        shown = ", ".join(plain(name, longest=30) for name in read[:6])
        more = f" and {len(read) - 6} more" if len(read) > 6 else ""
        st.info(
            f"Parts of {shown}{more} were read from your data: what follows is a demonstration and "
            "no private release. Say what you know without looking at the rows to change that.",
            icon=":material/school:",
        )
    with st.container(horizontal=True):
        use = st.button("Use this table", type="primary", key="use_table")
        rows = here.preview is not None and not here.preview.schema_only
        watch = rows and st.button("Use it and watch a run", key="use_and_watch")
    if use or watch:
        with st.spinner("Encoding …"):
            used = here.use()
        if used and watch:
            _watch(here)
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


def _watch(here: Upload) -> None:
    """Start a run of the study on the table just taken over, and go to its rounds."""
    try:
        with st.spinner("Counting …"):
            session.start(study.settings())
    except EngineError as error:
        here.refused = str(error)
        return
    st.switch_page("pages/rounds.py")


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
    here = upload.current()
    stale = here is not None and here.handed and here.used is None and kind == "own"
    if stale:
        st.warning(
            f"In use now: {plain(title, longest=80)}, as it was before your last changes on this "
            "page. “Use this table” takes them over.",
            icon=":material/sync_problem:",
        )
    else:
        st.caption(f"In use now: {plain(title, longest=80)}.")
    with st.container(horizontal=True):
        st.page_link("pages/plan.py", label="Plan it", icon=":material/tune:")
        st.page_link("pages/rounds.py", label="Watch a run", icon=":material/replay:")


through_app()
page()
