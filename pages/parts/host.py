"""A server for a class: uploads off, demonstration runs made once for everybody.

Set ``EXPLORER_CLASS_HOST=1`` in the environment before the server starts.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.worker import Job

VARIABLE = "EXPLORER_CLASS_HOST"
UPLOADS_OFF = (
    "This server is set up for a class: tables cannot be uploaded here. Choose an example, or run "
    "the explorer on your own machine, where your table stays."
)


def is_class() -> bool:
    """Whether this server is a class host."""
    return os.environ.get(VARIABLE, "").strip().lower() not in ("", "0", "false", "no", "off")


@st.cache_resource(show_spinner=False)
def _shared() -> tuple[threading.Lock, dict[Any, Job[Any]]]:
    return threading.Lock(), {}


def shared(key: Any, start: Callable[[], Job[Any]]) -> Job[Any]:
    """Return the demonstration with this key, started by whoever asks first.

    Only for tables that come with the explorer: everybody on this server sees it.
    """
    lock, jobs = _shared()
    with lock:
        if key not in jobs or jobs[key].error is not None:
            jobs[key] = start()
        return jobs[key]
