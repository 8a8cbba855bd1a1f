from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # as `streamlit run app.py` does

from pages.parts.releasing import only  # noqa: E402


def knows_the_frame() -> None:
    """Let each run go through app.py, as on a server that has called ``st.navigation`` once.

    ``AppTest`` forgets that before each run, and would then run the page's file alone.
    """
    made = PagesManager.__init__

    def knowing(self: PagesManager, *args: Any, **more: Any) -> None:
        made(self, *args, **more)
        PagesManager.uses_pages_directory = False

    PagesManager.__init__ = knowing  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def every_page_has_its_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests of pages see what a visitor sees."""
    monkeypatch.setattr(PagesManager, "__init__", PagesManager.__init__)  # as it was, afterwards
    knows_the_frame()


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)


@pytest.fixture
def app_again() -> AppTest:
    """The same app in another tab."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)


@pytest.fixture(autouse=True)
def no_file_is_known_yet() -> Iterator[None]:
    """A server remembers which files were shown or released; tests share them."""
    yield
    for known in only._FILES.values():
        known.clear()


@pytest.fixture
def rounds(app: AppTest) -> AppTest:
    app.switch_page("pages/rounds.py").run()
    assert not app.exception
    return app


def badges(app: AppTest) -> list[str]:
    """The badge of every chart on the page."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    return [spec["title"]["subtitle"].split(" ", 1)[1] for spec in specs]


def texts(app: AppTest) -> str:
    """Everything a reader can read outside of charts."""
    kinds: list[Any] = [
        app.markdown,
        app.caption,
        app.error,
        app.warning,
        app.info,
        app.title,
        app.header,
    ]
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def drawn(app: AppTest, title: str, source: int = 0) -> list[dict[str, Any]]:
    """The records behind the chart with this title, as the browser gets them."""
    import pyarrow as pa

    for chart in app.get("vega_lite_chart"):
        if " ".join(json.loads(chart.proto.spec)["title"]["text"]) == title:
            content = chart.proto.datasets[source].data.data
            frame = pa.ipc.open_stream(content).read_pandas()
            return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]
    raise AssertionError(f"no chart is called {title!r}")
