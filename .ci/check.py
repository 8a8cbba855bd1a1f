"""Everything a change is checked with, in the order of how fast it fails."""

import subprocess
import sys

CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("mypy",),
    # Browser tests have a command of their own: pytest -m browser.
    ("pytest", "-q", "-m", "not browser"),
)

for check in CHECKS:
    print("==", *check, flush=True)
    code = subprocess.run([sys.executable, "-m", *check], check=False).returncode
    if code:
        sys.exit(code)
