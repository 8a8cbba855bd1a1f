"""A session either shows true values of a visitor's own table, or releases it: never both.

Rows that a session shows are seen by whoever then decides what to release; rows shown afterwards
undo the promise. A sentence that says why the table is public lifts both.

The server keeps a hash, under a key of its own, of files that were shown or released. So another
tab does not show what one has released, and a release says so if another tab has shown it.
"""

from __future__ import annotations

import hashlib
import os

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
_RELEASED_ELSEWHERE = (
    "This very file was released by this app, perhaps in another tab, so its rows are not shown."
)


_KEY = os.urandom(32)
_FILES: dict[str, set[bytes]] = {_SHOWN: set(), _RELEASED: set()}


def mark(data: bytes) -> bytes:
    """A hash of a file, which says nothing outside of this process and is written nowhere."""
    return hashlib.blake2b(data, key=_KEY).digest()


def shown(data: bytes) -> None:
    """Remember that rows of a visitor's own table are shown."""
    st.session_state[_SHOWN] = True
    _FILES[_SHOWN].add(mark(data))


def released(marked: bytes) -> None:
    """Remember that one is being released."""
    st.session_state[_RELEASED] = True
    _FILES[_RELEASED].add(marked)


def was_shown(marked: bytes) -> bool:
    """Whether any session of this server has shown a file."""
    return marked in _FILES[_SHOWN]


def statement() -> str | None:
    """Why the table is public, in the visitor's words; None if they have not said so."""
    found = st.session_state.get(_PUBLIC)
    return found if isinstance(found, str) else None


def may_release() -> bool:
    """Whether a table of one's own may be released; otherwise says why not, and what helps."""
    return _allowed(st.session_state.get(_SHOWN), _SHOWN_BEFORE)


def may_show(data: bytes | None = None) -> bool:
    """Whether rows of one, or of this file, may be shown; otherwise says why not."""
    if data is not None and mark(data) in _FILES[_RELEASED]:
        return _allowed(True, _RELEASED_ELSEWHERE)
    return _allowed(st.session_state.get(_RELEASED), _RELEASED_BEFORE)


def _allowed(happened: object, why_not: str) -> bool:
    if not happened or statement() is not None:
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
