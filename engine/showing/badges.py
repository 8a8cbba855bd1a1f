"""Badges: who may see what a picture shows."""

from __future__ import annotations

from typing import Literal

Badge = Literal["released", "public", "not private (never released)"]
NOT_PRIVATE: Badge = "not private (never released)"
MARKS = {"released": "●", "public": "■", NOT_PRIVATE: "▲"}
