"""Everything a change is checked with, in the order of how fast it fails."""

import subprocess
import sys

CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("mypy",),
    # Of the browser tests the journey; all of them: pytest -m browser tests/browser.
    ("pytest", "-q", "-m", "not browser or journey"),
)

for check in CHECKS:
    print("==", *check, flush=True)
    code = subprocess.run([sys.executable, "-m", *check], check=False).returncode
    if code:
        sys.exit(code)
