"""A session either shows true values of a visitor's own table, or releases it: never both.

Rows that a session shows are seen by whoever then decides what to release; rows shown afterwards
undo the promise. A sentence that says why the table is public lifts both.
"""

from __future__ import annotations

import streamlit as st

from engine.errors import DataError
from engine.odometer import Odometer
from pages.parts.drawing import text

_SHOWN, _RELEASED, _PUBLIC = "own_rows_shown", "own_table_released", "own_table_public"
_SHOWN_BEFORE = (
    "This session has shown rows of a table of your own, so it makes no private release of one. "
    "Open the app in a new tab: a session that begins on this page shows none."
)
_RELEASED_BEFORE = (
    "A table of your own was released in this session, so no rows of one are shown in it: not "
    "here, and on no other page. The examples stay open to all pages."
)


def shown() -> None:
    """Remember that rows of a visitor's own table were shown."""
    st.session_state[_SHOWN] = True


def released() -> None:
    """Remember that one is being released."""
    st.session_state[_RELEASED] = True


def statement() -> str | None:
    """Why the table is public, in the visitor's words; None if they have not said so."""
    found = st.session_state.get(_PUBLIC)
    return found if isinstance(found, str) else None


def may_release() -> bool:
    """Whether a table of one's own may be released; otherwise says why not, and what helps."""
    return _allowed(_SHOWN, _SHOWN_BEFORE)


def may_show() -> bool:
    """Whether rows of one may be shown; otherwise says why not, and what helps."""
    return _allowed(_RELEASED, _RELEASED_BEFORE)


def _allowed(what: str, why_not: str) -> bool:
    if not st.session_state.get(what) or statement() is not None:
        return True
    st.warning(why_not, icon=":material/visibility_off:")
    with st.form("say_public", border=False):
        said = st.text_input(
            "If the table is public, say so in words", key="public_words",
            placeholder="published by the census office in 1994",
        )  # fmt: skip
        if st.form_submit_button("It is public"):
            _take(said)
    return False


def _take(said: str) -> None:
    try:
        Odometer().declare_public(said)  # the engine decides whether these are words
    except DataError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        return
    st.session_state[_PUBLIC] = said
    st.rerun()
