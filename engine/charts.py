"""Every chart of the explorer under one name; ``engine.showing`` makes them."""

from engine.showing.charts import *  # noqa: F403
from engine.showing.sheets import Sheet as Sheet
from engine.showing.sheets import filmstrip as filmstrip
from engine.showing.sheets import round as round
