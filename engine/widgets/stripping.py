"""Taking out of a saved notebook what was shown in it, before it is shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.errors import DataError


def strip(path: str | Path, to: str | Path | None = None) -> Path:
    """Remove all outputs and the state of all widgets from a notebook; code and prose stay.

    Args:
        path: The saved notebook.
        to: Where to write the stripped one; by default in its place.

    Returns:
        The file written.

    Raises:
        DataError: If the file is no notebook.
    """
    try:
        content: Any = json.loads(Path(path).read_text("utf-8"))
        cells: list[dict[str, Any]] = content["cells"]
        metadata: dict[str, Any] = content["metadata"]
    except OSError as error:
        raise DataError(
            f"The notebook cannot be read ({error.strerror}). Give the path of an .ipynb file."
        ) from None
    except (ValueError, KeyError, TypeError):
        raise DataError(
            "This is no notebook of format 4. Open and save it in Jupyter first.", code="E_FORMAT"
        ) from None
    metadata.pop("widgets", None)
    for cell in cells:
        cell.pop("attachments", None)
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
            # When a cell ran says how long it took, which may depend on the records.
            cell.get("metadata", {}).pop("execution", None)
    target = Path(to) if to is not None else Path(path)
    text = json.dumps(content, ensure_ascii=False, indent=1)
    target.write_text(text + "\n", encoding="utf-8")
    return target
