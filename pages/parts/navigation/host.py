"""What the server does for all its visitors: compiling ahead, and a host for a class.

Set ``EXPLORER_CLASS_HOST=1`` in the environment before the server starts: uploads are off then, and
demonstration runs are made once for everybody.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit import runtime

import engine
from pages.parts.visit.worker import Job

VARIABLE = "EXPLORER_CLASS_HOST"
UPLOADS_OFF = (
    "This server is set up for a class: tables cannot be uploaded here. Choose an example, or run "
    "the explorer on your own machine, where your table stays."
)


def is_class() -> bool:
    """Whether this server is a class host."""
    return os.environ.get(VARIABLE, "").strip().lower() not in ("", "0", "false", "no", "off")


@st.cache_resource(show_spinner=False)
def compile_ahead() -> subprocess.Popen[bytes] | None:
    """Compile what large tables need, once on a machine, beside the server and behind visitors.

    A process of its own: compiling in this one would hold the interpreter lock.
    """
    if not runtime.exists():  # a test, or a script that imports a page
        return None
    root = os.path.dirname(os.path.dirname(engine.__file__))
    command = [sys.executable, "-m", "engine", "prepare", "--quiet"]
    behind = ["nice", "-n", "19", *command] if os.name == "posix" else command
    try:
        return subprocess.Popen(behind, cwd=root, stdin=subprocess.DEVNULL)
    except OSError:  # nothing is lost: whoever needs a loop compiles it
        return None


_FROZEN = 0
_SWITCH = 0.0005


def settle() -> None:
    """Keep what no script will ever free out of garbage collection, and let clicks go first.

    Streamlit collects everything after each run of a script. With the libraries loaded that takes
    longer than most pages: what stands when a module has come is set aside, so that only what
    scripts made is looked at. And work in a thread, which holds the interpreter for as long as this
    interval, is asked ten times as often to make room for a click.
    """
    global _FROZEN
    if not runtime.exists() or len(sys.modules) == _FROZEN:
        return
    sys.setswitchinterval(_SWITCH)
    gc.collect()
    gc.freeze()
    _FROZEN = len(sys.modules)


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
