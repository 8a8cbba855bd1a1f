"""Where the shared data lie, if this machine has them."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared_data() -> Path:
    """Return ``shared/data`` beside one of the folders above; skip the test without it."""
    for folder in Path(__file__).resolve().parents:
        for found in (folder / "shared" / "data", folder / "work" / "shared" / "data"):
            if found.is_dir():
                return found
    pytest.skip("the shared data are not on this machine")
