"""``app``: start the app, from a checkout or from an installed package alike."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import engine

_ENGINE = Path(__file__).parents[1]
PLACES = (_ENGINE.parent, _ENGINE / "_app")
"""Where the app can be: beside the engine in a checkout, inside it once installed."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("app", help="start the app in a browser", description=__doc__)
    parser.add_argument("--port", type=int, help="of the web server")
    parser.add_argument("--headless", action="store_true", help="open no browser")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Run the app until it is stopped; returns Streamlit's exit code."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    if options.port is not None:
        command += ["--server.port", str(options.port)]
    if options.headless:
        command += ["--server.headless", "true"]
    known = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, (str(_ENGINE.parent), known)))
    # Streamlit reads its settings from the folder it is started in.
    done = subprocess.run(
        command, cwd=app_folder(), env={**os.environ, "PYTHONPATH": paths}, check=False
    )
    return done.returncode


def app_folder() -> Path:
    """Return the folder with ``app.py``, its pages and its settings.

    Raises:
        DataError: If it is nowhere.
    """
    for folder in PLACES:
        if (folder / "app.py").is_file() and (folder / "pages").is_dir():
            return folder
    raise engine.DataError("The app is not beside this engine. Install the package again.")
