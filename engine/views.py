"""Tidy frames of runs and releases under one name; ``engine.showing`` makes them."""

from engine.showing.views import *  # noqa: F403
