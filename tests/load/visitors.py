"""Visitors of a running explorer: what a browser sends and waits for, without drawing anything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

LIMIT = 120.0
"""Seconds after which a visitor gives up: the load is bounded whatever the server does."""


class RefusedError(RuntimeError):
    """The server showed an exception, or did not answer in time."""


@dataclass(slots=True)
class Visitor:
    """One browser tab: a web socket, and the buttons of the page that it shows.

    Args:
        socket: The open web socket.
        host: ``127.0.0.1:port``, for uploads.
        buttons: Widget id and fragment of each button, by its key.
        seconds: How long each answer took.
    """

    socket: Any
    host: str
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)
    uploaders: dict[str, tuple[str, str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    received: int = 0
    session: str = ""

    async def open(self, page: str, query: str = "") -> float:
        """Open a page by its address; returns the seconds until it has come whole."""
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        self.buttons.clear()
        self.texts.clear()
        return await self._ask(message)

    async def press(self, key: str) -> float:
        """Press a button, in its fragment; returns the seconds until the answer has come whole."""
        button, fragment = self.buttons[key]
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = button, True
        message.rerun_script.fragment_id = fragment
        return await self._ask(message)

    async def _ask(self, message: BackMsg) -> float:
        start = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(LIMIT):
            while not self._take(await self.socket.recv()):
                pass
        taken = time.perf_counter() - start
        self.seconds.append(taken)
        return taken

    def _take(self, data: bytes) -> bool:
        """Take one message in; says whether the script has ended."""
        self.received += len(data)
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._element(message.delta)
        if kind != "script_finished":
            return False
        # A run that is cut short is followed by the one that a rerun asked for.
        return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN

    def _element(self, delta: Any) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RefusedError(element.exception.message)
        if kind == "button":
            key = element.button.id.rsplit("-", 1)[-1]
            self.buttons[key] = (element.button.id, delta.fragment_id)
        if kind == "file_uploader":
            key = element.file_uploader.id.rsplit("-", 1)[-1]
            self.uploaders[key] = (element.file_uploader.id, delta.fragment_id)
        if kind == "markdown":
            self.texts.append(element.markdown.body)


@asynccontextmanager
async def visitor(host: str) -> AsyncIterator[Visitor]:
    """Open a tab on a server at ``127.0.0.1:port``."""
    async with websockets.connect(
        f"ws://{host}/_stcore/stream", subprotocols=["streamlit"], max_size=None,
        open_timeout=LIMIT, ping_timeout=None,
    ) as socket:  # fmt: skip
        yield Visitor(socket, host)


def middle(values: Iterable[float]) -> float:
    """Return the median."""
    held = sorted(values)
    return held[len(held) // 2] if held else float("nan")
