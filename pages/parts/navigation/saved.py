"""Sessions as files: the settings of a run and where it was looked at, never data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import engine
from engine.exporting import bundle as export
from pages.parts.navigation import links
from pages.parts.visit import samples, session

FORMAT = "aim-grem-session/1"
MOST_BYTES = 256 * 1024
_OWN = (samples.OWN, "a table of my own")  # the second in files of version 1


@dataclass(frozen=True, slots=True)
class OwnTable:
    """The settings of a session on a visitor's own table, which is to be chosen again."""

    attributes: tuple[str, ...]
    degree: int
    epsilon: float
    delta: float
    mechanism: str


def text(run: session.Watched, view: int) -> str:
    """Write the session; of a visitor's own table without its name and without a seed."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "engine_version": engine.__version__,
        "sample": run.settings.sample,
        "attributes": list(run.settings.attributes),
        "degree": run.settings.degree,
        "epsilon": run.settings.epsilon,
        "delta": run.settings.delta,
        "mechanism": run.settings.mechanism,
        "seed": run.settings.seed,
        "round": view,
        "rounds": run.rounds,
    }
    if run.settings.marginals:
        content["marginals"] = links.tables_text(run.settings)
    if not links.is_public(run):
        del content["seed"]
    return export.as_json(content)


def read(packed: bytes) -> links.Wanted | OwnTable:
    """Read a session file.

    Raises:
        engine.DataError: If it is none, with what is wrong (``E_FORMAT``).
    """
    content = _content(packed)
    own = content.get("sample") in _OWN
    hidden = ("sample", "attributes", "seed", "marginals") if own else ()
    said = {name: value for name, value in content.items() if name not in hidden}
    for name in ("attributes", "degree", "epsilon", "delta", "mechanism", "round", "rounds"):
        if name not in content:
            raise _refused(f'"{name}" is missing.')
    wanted, notes = links.read(said if not own else said | {"degree": 1})
    if notes:
        raise _refused(notes[0].partition(";")[0] + ".")
    if not own:
        return wanted
    names, degree = content["attributes"], content["degree"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _refused("The attributes are no list of names.")
    if not isinstance(degree, int) or isinstance(degree, bool) or not 1 <= degree <= 4:
        raise _refused("The degree in it cannot be used.")
    kept = wanted.settings
    return OwnTable(tuple(names), degree, kept.epsilon, kept.delta, kept.mechanism)


def _content(packed: bytes) -> dict[str, Any]:
    if len(packed) > MOST_BYTES:
        raise _refused(f"It has {len(packed):,} bytes; a session has a few hundred.")
    try:
        content = json.loads(packed.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _refused("It is no JSON text.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _refused(f'Its "format" is not "{FORMAT}".')
    return content


def _refused(why: str) -> engine.DataError:
    return engine.DataError(
        f"This is no session that can be reloaded. {why} Choose a file saved on this page.",
        code="E_FORMAT",
    )
