"""Hand-made stand-ins for the world: a virtual clock, a scripted transport, a scripted server on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import httpx

from flashtui.net.exchange import Http
from flashtui.net.pace import Pacer
from flashtui.net.secret import Redactor
from flashtui.net.transport import Client, build_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

T0 = datetime(2026, 8, 7, 12, 0, tzinfo=UTC)
# How many turns of the loop everything else gets before a sleeping task moves the clock.
_IDLE_TURNS = 25


class FakeClock:
    """Virtual time that moves when somebody sleeps.

    With ``auto`` (the default) a sleeper lets everything else run for some turns of the loop and then, if it is the
    one to wake first, moves the clock to its own moment; sleeps of several tasks overlap as they would in reality.
    Without ``auto`` only :meth:`advance` moves it.
    """

    def __init__(self, start: datetime = T0, *, auto: bool = True) -> None:
        self.start = start
        self.auto = auto
        self.elapsed_s = 0.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.elapsed_s)

    def monotonic(self) -> float:
        return 1000.0 + self.elapsed_s

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (self.elapsed_s + seconds, next(self._numbers), woken)
        heapq.heappush(self._sleepers, entry)
        try:
            if not self.auto:
                await woken
                return
            while not woken.done():
                for _ in range(_IDLE_TURNS):
                    await asyncio.sleep(0)
                if self._sleepers and self._sleepers[0] is entry:
                    self._wake_until(entry[0])
        finally:
            if entry in self._sleepers:
                self._sleepers.remove(entry)
                heapq.heapify(self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Move the clock, waking sleepers in order and letting them run."""
        until = self.elapsed_s + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            self._wake_until(self._sleepers[0][0])
            for _ in range(_IDLE_TURNS):
                await asyncio.sleep(0)
        self.elapsed_s = max(self.elapsed_s, until)
        for _ in range(_IDLE_TURNS):
            await asyncio.sleep(0)

    def _wake_until(self, moment: float) -> None:
        self.elapsed_s = max(self.elapsed_s, moment)
        while self._sleepers and self._sleepers[0][0] <= self.elapsed_s:
            _, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    Attributes:
        body: bytes and text go out as they are; anything else as JSON.
        cut_to: send only this many bytes of it, then drop the connection (scripted server only).
    """

    body: object = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_to: int | None = None

    @property
    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body).encode()

    @property
    def content_type(self) -> str:
        return "text/plain" if isinstance(self.body, bytes | str) else "application/json"


@dataclass(frozen=True)
class Sent:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float = 0.0

    @property
    def json(self) -> object:
        return json.loads(self.body) if self.body else None

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


Step: TypeAlias = "Answer | Exception | Callable[[Sent], Answer | Exception]"


class ScriptedHttp(httpx.AsyncBaseTransport):
    """Answers from a script, per method and path, and remembers what was asked.

    Answers of a route are used in order; the last one stays. A route that is not in the script fails the test.
    """

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.requests: list[Sent] = []
        self._script: dict[str, list[Step]] = {}

    def on(self, route: str, *steps: Step) -> ScriptedHttp:
        """Script a route such as ``"GET /api/v1/instances/"``; a later call for the same route replaces it."""
        self._script[route] = list(steps)
        return self

    def sent(self, route: str) -> list[Sent]:
        """The requests that went to a route."""
        return [s for s in self.requests if s.line == route]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        sent = Sent(
            request.method,
            request.url.path,
            dict(parse_qsl(request.url.query.decode(), keep_blank_values=True)),
            {k.lower(): v for k, v in request.headers.items()},
            await request.aread(),
            self.clock.monotonic(),
        )
        self.requests.append(sent)
        steps = self._script.get(sent.line)
        if not steps:
            msg = f"not in the script: {sent.line} {sent.query}"
            raise AssertionError(msg)
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        outcome = step if isinstance(step, Answer | Exception) else step(sent)
        if isinstance(outcome, Exception):
            raise outcome
        headers = {"content-type": outcome.content_type, **outcome.headers}
        return httpx.Response(outcome.status, headers=headers, content=outcome.content)

    def http(self, *, redactor: Redactor | None = None, seed: int = 1) -> Http:
        """The exchange layer over this script and its clock."""
        client = httpx.AsyncClient(transport=self, follow_redirects=False)
        return Http(
            client,
            self.clock,
            random.Random(seed),
            Pacer(self.clock),
            redactor or Redactor(),
        )


@contextlib.asynccontextmanager
async def open_http(
    clock: FakeClock | None = None, *, env: Mapping[str, str] | None = None
) -> AsyncIterator[Http]:
    """The exchange layer over real sockets; with ``env`` as for the world outside, else for loopback."""
    clock = clock or FakeClock()
    async with contextlib.AsyncExitStack() as stack:
        clients: list[Client] = []

        def client() -> Client:
            if not clients:
                clients.append(build_client(loopback=env is None, env=env))
                stack.push_async_callback(clients[0].aclose)
            return clients[0]

        yield Http(client, clock, random.Random(1), Pacer(clock), Redactor())


@dataclass(frozen=True)
class Raw:
    """Bytes for the scripted server to put on the wire, piece by piece.

    Attributes:
        every_s: real seconds between pieces.
        then: ``"close"``, ``"reset"`` or ``"hang"`` afterwards.
    """

    pieces: tuple[bytes, ...] = ()
    every_s: float = 0.0
    then: str = "close"


@dataclass
class ScriptedServer:
    """A real HTTP/1.1 server on 127.0.0.1 that answers what it is told, in order; the last answer stays."""

    base_url: str
    requests: list[Sent] = field(default_factory=list)
    steps: list[Answer | Raw] = field(default_factory=list)
    connections: int = 0
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                self.requests.append(await _read_request(reader))
                step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
                if not await self._answer(step, writer):
                    break

    async def _answer(self, step: Answer | Raw, writer: asyncio.StreamWriter) -> bool:
        if isinstance(step, Raw):
            for piece in step.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(step.every_s)
            if step.then == "hang":
                await self.closing.wait()
            if step.then == "reset":
                writer.transport.abort()
            return False
        headers = {"content-type": step.content_type, "content-length": str(len(step.content))}
        headers.update(step.headers)
        head = f"HTTP/1.1 {step.status} X\r\n" + "".join(
            f"{k}: {v}\r\n" for k, v in headers.items()
        )
        writer.write(head.encode() + b"\r\n" + step.content[: step.cut_to])
        await writer.drain()
        return step.cut_to is None


@contextlib.asynccontextmanager
async def scripted_server(*steps: Answer | Raw) -> AsyncIterator[ScriptedServer]:
    """Run a scripted server on a free port of 127.0.0.1."""
    script = ScriptedServer("", steps=list(steps))
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        # This is the whole of the task: a cancelled one that raised would be reported by the loop as unhandled.
        with contextlib.suppress(asyncio.CancelledError):
            await script.serve(reader, writer)
        writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    script.base_url = f"http://127.0.0.1:{port}"
    try:
        yield script
    finally:
        server.close()
        script.closing.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Sent:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    return Sent(method, parts.path, query, headers, body)
