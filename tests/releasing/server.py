"""A PostgreSQL of our own for tests: from Debian's package, on a socket in a temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest


def programs() -> Path:
    """The folder of initdb and postgres; skips where there is none, and says so."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        pytest.skip("no PostgreSQL on this machine (Debian: apt install postgresql)")
    return (found[-1] if found else Path(str(on_path))).parent


class Server:
    """A server that can be stopped at once, and started again."""

    def __init__(self) -> None:
        self.bin = programs()
        # In memory where there is such a folder: tested is what is left when the server crashes,
        # not the machine. A socket's path must be short. PostgreSQL never runs as root.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
        self.folder = Path(tempfile.mkdtemp(prefix="pg", dir=memory))
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.user = {"user": "postgres", "group": "postgres"}
            shutil.chown(self.folder, "postgres", "postgres")
        self._process: subprocess.Popen[bytes] | None = None
        self._must("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync", "-N")
        self.start()

    @property
    def data(self) -> str:
        """Where it keeps everything."""
        return str(self.folder / "data")

    def address(self, database: str) -> str:
        """Where a database is to be found."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [str(self.bin / "postgres"), "-D", self.data, "-k", str(self.folder)]
        self._process = subprocess.Popen(
            [*command, "-c", "listen_addresses=", "-c", "shared_buffers=16MB"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **self.user,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while self._run("pg_isready", "-q", "-h", str(self.folder)).returncode:
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.skip("PostgreSQL is installed and does not start here")
            time.sleep(0.05)

    def new(self, database: str) -> str:
        """Make a database, and return its address."""
        self._must("createdb", "-h", str(self.folder), "-U", "postgres", database)
        return self.address(database)

    def crash(self) -> None:
        """Stop it without a word: every connection is lost, nothing is written any more."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(30)

    def remove(self) -> None:
        """Stop it, and take its folder away."""
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *args: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [str(self.bin / name), *args], capture_output=True, check=False, cwd="/", **self.user
        )

    def _must(self, name: str, *args: str) -> None:
        done = self._run(name, *args)
        if done.returncode:
            pytest.skip(f"PostgreSQL's {name} fails here: {done.stderr.decode()[-200:]}")
