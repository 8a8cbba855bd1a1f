"""Everything a change is checked with, in the order of how fast it fails."""

import subprocess
import sys

CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("mypy",),
    ("pytest", "-q"),
)

for check in CHECKS:
    print("==", *check, flush=True)
    code = subprocess.run([sys.executable, "-m", *check], check=False).returncode
    if code:
        sys.exit(code)
