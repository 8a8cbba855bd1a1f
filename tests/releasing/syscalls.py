"""What happens at one call of the operating system: a kill before it, or an error instead of it.

``strace`` does it from outside, so what runs is what always runs: SQLite's own writes and flushes.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Callable

import pytest

_ANY_TRACER = (0x59616D61, ctypes.c_ulong(-1))
"""``PR_SET_PTRACER`` and its widest argument: where Yama asks for it."""
WRITES = ("pwrite64", "fdatasync", "unlink")
"""How SQLite changes a file: its journal and itself, the flushes between, the journal's end."""


def possible() -> bool:
    """Whether calls can be watched here."""
    return shutil.which("strace") is not None


def require() -> None:
    """Skip where they cannot, and say so."""
    if not possible():
        pytest.skip("no strace on this machine (Debian: apt install strace)")


def happening(what: str, work: Callable[[], int], trace: str = "") -> tuple[int, str]:
    """Run in a forked process under ``strace --inject=what``; its exit code, and what was traced.

    Args:
        what: A call, and what happens at it.
        work: What runs.
        trace: Which calls are told: that one, if nothing is said.

    Raises:
        RuntimeError: If strace cannot attach.
    """
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        code = 99
        try:
            ctypes.CDLL(None).prctl(*_ANY_TRACER, 0, 0, 0)
            os.read(ready, 1)  # until strace has attached
            code = work()
        finally:
            os._exit(code)
    os.close(ready)
    told = trace or what.split(":", 1)[0]
    command = ["strace", "-f", "-e", f"trace={told}", "-p", str(child)]
    if not trace:
        command[2:2] = ["-e", f"inject={what}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        first = tracer.stderr.readline()
        if "attached" not in first:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise RuntimeError(f"strace cannot attach: {first}")
        os.write(go, b"x")
        os.close(go)
        said = tracer.stderr.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said
