"""Run the tests chosen for a fault on a copy of the tree.

A process imports the libraries once and forks for each fault, so that a fault costs little more
than its tests. Nothing compiled may be stale: byte code is only read, and belongs to the time of
the file it was made from; a file with a fault gets another time, and its own back afterwards.
"""

from __future__ import annotations

import compileall
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.fault import ROOT, Fault

SECONDS = 600
"""A test that takes longer with a fault than this has met it: it would never pass."""
COPIED = ("engine", "pages", "tests", "sample_data", "app.py", "pyproject.toml", "README.md",
          ".streamlit", ".ci", ".github", "LICENSE")  # fmt: skip
CAUGHT, SURVIVED, BROKEN = "caught", "SURVIVED", "BROKEN"
_OPTIONS = (
    "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=line",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # what is imported once, before
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of a fault: caught, survived, or broken (the list is wrong)."""

    fault: Fault
    verdict: str
    seconds: float
    told: str


class Copy:
    """A copy of the tree in which faults are planted, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.log = folder / "log"
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                skipped = shutil.ignore_patterns("__pycache__", "*.egg-info", "figures")
                shutil.copytree(source, self.root / name, ignore=skipped)
            elif source.exists():
                self.root.mkdir(exist_ok=True)
                shutil.copy2(source, self.root / name)
        compileall.compile_dir(str(self.root / "engine"), quiet=2)
        self.cache = folder / "numba"

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """Hold the fault in the tree for a while."""
        path = self.root / fault.path
        text, times = path.read_text("utf-8"), path.stat()
        path.write_text(fault.planted(text), encoding="utf-8")
        os.utime(path, (times.st_atime, times.st_mtime + 10))
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self, tests: Sequence[str], *, plain: bool) -> int:
        """Run tests in a process of their own; returns pytest's exit code, or -1 for no end."""
        child = os.fork()
        if child == 0:
            self._child(tests, plain=plain)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return -1

    def _child(self, tests: Sequence[str], *, plain: bool) -> None:
        code = 70
        try:
            os.setpgid(0, 0)
            with self.log.open("w") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            os.chdir(self.root)
            os.environ["NUMBA_CACHE_DIR"] = str(self.cache)
            os.environ["PYTHONPATH"] = str(self.root)
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            os.environ["HYPOTHESIS_PROFILE"] = "faults"  # nothing is shrunk
            sys.dont_write_bytecode = True
            import numba

            numba.config.CACHE_DIR = str(self.cache)
            numba.config.DISABLE_JIT = int(plain)
            for name in [n for n in sys.modules if n.partition(".")[0] in ("tests", "engine")]:
                del sys.modules[name]
            sys.path[:] = [str(self.root), *(p for p in sys.path if p not in ("", str(ROOT)))]
            import pytest

            code = int(pytest.main([*_OPTIONS, *tests]))
        except BaseException:  # noqa: BLE001 - a forked process must end here, and say why
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def told(self) -> str:
        """The last thing pytest said."""
        lines = self.log.read_text("utf-8", errors="replace").splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        return (failed or [line for line in lines if line.strip()] or ["nothing"])[-1][:160]


def prepared() -> None:
    """Import once what nearly every test needs, none of it of this project."""
    import hypothesis.extra.numpy
    import mpmath
    import numba
    import pandas
    import pytest
    import scipy.stats

    assert all((hypothesis.extra.numpy, mpmath, numba, pandas, pytest, scipy.stats))


def clean(faults: Sequence[Fault], copy: Copy) -> Iterator[str]:
    """Yield what fails without any fault: such tests would catch nothing."""
    for plain in (False, True):
        tests = sorted({t for f in faults if f.plain == plain for t in f.tests})
        # An id within a file that is run as a whole anyway would run twice.
        whole = {t for t in tests if "::" not in t}
        chosen = [t for t in tests if "::" not in t or t.partition("::")[0] not in whole]
        if chosen and copy.run(chosen, plain=plain) != 0:
            mode = "as plain Python" if plain else "compiled"
            yield f"without a fault, {mode}: {copy.told()}"


def outcome(fault: Fault, copy: Copy) -> Outcome:
    """Plant one fault, run its tests, and take it out again."""
    start, fault = time.monotonic(), fault.found(copy.root)
    occurrences = fault.occurrences(copy.root)
    if occurrences != 1:
        told = f"its text before occurs {occurrences} times in {fault.path}"
        return Outcome(fault, BROKEN, 0.0, told)
    with copy.planted(fault):
        code = copy.run(fault.tests, plain=fault.plain)
    # 1: tests failed; 2, 4: they cannot even be imported; 3: pytest itself fell over it.
    verdict = SURVIVED if code == 0 else CAUGHT if code in (1, 2, 3, 4, -1) else BROKEN
    return Outcome(fault, verdict, time.monotonic() - start, copy.told())


def outcomes(faults: Sequence[Fault], copy: Copy) -> Iterator[Outcome]:
    """Go through faults, one after the other."""
    return (outcome(fault, copy) for fault in faults)


def in_two(faults: Sequence[Fault], jobs: int) -> Iterator[list[Fault]]:
    """Share faults out among so many processes."""
    return ([*faults[k::jobs]] for k in range(jobs) if faults[k::jobs])


def folder() -> tempfile.TemporaryDirectory[str]:
    """Where copies live."""
    return tempfile.TemporaryDirectory(prefix="faults-")
