"""The loopback mount: four listeners on 127.0.0.1 in front of one world, where sockets can really break."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from flashtui.sim import scenario as scenarios
from flashtui.sim.http import Request, Response
from flashtui.sim.simtime import SimTime
from flashtui.sim.work import Work
from flashtui.sim.world import SURFACES, World

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HOST = "127.0.0.1"
VAST_KEY, RUNPOD_KEY, HUB_TOKEN = (
    "vast-demo-key",
    "rpa_DEMOKEY",
    "hf_demo",
)  # fixed fakes, worth nothing
_BODY_LIMIT = 256 * 1024 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_DRIP_STEP_S = 0.02
_WORK_TICK_S = 0.1
_HOLD_STEP_S = 0.02


class Running:
    """Four listeners that serve one world until closed."""

    def __init__(self, world: World, listeners: dict[str, _Listener]) -> None:
        self.world = world
        self._listeners = listeners
        self._threads = [
            threading.Thread(
                target=listener.serve_forever, args=(0.05,), name=f"sim-{name}", daemon=True
            )
            for name, listener in listeners.items()
        ]
        self._ended = threading.Event()
        if world.work is not None:
            self._threads.append(threading.Thread(target=self._tick, name="sim-work", daemon=True))
        for thread in self._threads:
            thread.start()

    def url(self, surface: str) -> str:
        """Base address of one surface, without a trailing slash."""
        return self._listeners[surface].url

    @property
    def admin_url(self) -> str:
        """Address of the control routes."""
        return f"{self.url('hub')}/_sim"

    def exports(self) -> dict[str, str]:
        """Environment that points flashtui and the official tools at this simulator."""
        vast, runpod, jobs, hub = (self.url(name) for name in SURFACES)
        return {
            "FLASHTUI_VAST_URL": vast,
            "FLASHTUI_RUNPOD_GRAPHQL_URL": f"{runpod}/graphql",
            "FLASHTUI_RUNPOD_REST_URL": f"{runpod}/v2",
            "FLASHTUI_RUNPOD_JOBS_URL": f"{jobs}/v2",
            "FLASHTUI_CLOCK_URL": f"{hub}/_sim/time",
            "HF_ENDPOINT": hub,
            "HF_TOKEN": HUB_TOKEN,
            "VAST_API_KEY": VAST_KEY,
            "RUNPOD_API_KEY": RUNPOD_KEY,
            "VAST_URL": vast,
            "RUNPOD_API_BASE_URL": runpod,
            "RUNPOD_ENDPOINT_BASE_URL": f"{jobs}/v2",
        }

    def close(self) -> None:
        """Stop listening, end open connections, and return when the listeners are down."""
        self._ended.set()
        stops = [threading.Thread(target=one.shutdown) for one in self._listeners.values()]
        for stop in stops:
            stop.start()
        for thread in [*stops, *self._threads]:
            thread.join()
        for listener in self._listeners.values():
            listener.server_close()
        if self.world.work is not None:
            self.world.work.close()

    def _tick(self) -> None:
        """Real processes start and end between requests too."""
        while not self._ended.wait(_WORK_TICK_S):
            with self.world.lock:
                self.world.advance()


def serve(world: World, port: int = 0, *, host: str = HOST) -> Running:
    """Mount a world on four ports: `port` to `port + 3`, or free ones for 0.

    Raises:
        ValueError: a host other than 127.0.0.1.
        OSError: a port is taken.
    """
    if host != HOST:
        msg = f"the simulator serves {HOST} only, not {host}"
        raise ValueError(msg)
    listeners: dict[str, _Listener] = {}
    try:
        for offset, name in enumerate(SURFACES):
            listeners[name] = _Listener(world, name, port + offset if port else 0)
    except OSError:
        for listener in listeners.values():
            listener.server_close()
        raise
    world.mounted({name: listener.url for name, listener in listeners.items()})
    return Running(world, listeners)


def build_world(
    scenario: str = "demo",
    seed: int = 7,
    speed: float = 1.0,
    *,
    start: float | None = None,
    faults: Iterable[Mapping[str, object]] = (),
    work: bool = False,
) -> World:
    """A world of a named scenario on real time, begun now unless the scenario or `start` says when.

    Raises:
        ValueError: no such scenario, or a fault that does not exist.
    """
    chosen = scenarios.load(scenario)
    begin = start if start is not None else chosen.start
    epoch = float(round(time.time())) if begin is None else begin
    time_source = SimTime(epoch, speed, time.monotonic)
    world = World(chosen, seed, time_source, work=Work() if work or chosen.work else None)
    for spec in faults:
        world.faults.add(spec)
    return world


def start_in_thread(
    scenario: str = "demo",
    seed: int = 7,
    speed: float = 1.0,
    port: int = 0,
    *,
    start: float | None = None,
    faults: Iterable[Mapping[str, object]] = (),
    work: bool = False,
) -> Running:
    """A simulator beside the caller, listening when this returns."""
    return serve(build_world(scenario, seed, speed, start=start, faults=faults, work=work), port)


class _Listener(ThreadingHTTPServer):
    """One listener; knows its surface and ends its connections when closed."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, world: World, surface: str, port: int) -> None:
        self.world = world
        self.surface = surface
        self.closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__((HOST, port), _Handler)
        self.url = f"http://{HOST}:{self.server_port}"

    def server_bind(self) -> None:
        """Bind without the reverse look-up of the host name that the parent does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: socket.socket, client_address: tuple[str, int]) -> None:  # type: ignore[override]
        """Remember the connection so that closing the listener ends it."""
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        """Forget the connection."""
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close the listener and every open connection."""
        self.closing.set()
        super().server_close()
        with self._open_lock:
            left = list(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away in the middle are ordinary; anything else is printed by the parent."""
        import sys

        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """Turns one HTTP/1.1 connection into calls of `World.handle`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def _serve(self) -> None:
        body = self._body()
        if body is None:
            return
        request = self._request(body)
        response = self.server.world.handle(request)
        while response.hold is not None:
            if self.server.closing.wait(_HOLD_STEP_S):
                self.close_connection = True
                return
            self.server.world.held(response)
        if response.delay_s > 0 and self.server.closing.wait(response.delay_s):
            self.close_connection = True
            return
        self._deliver(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815

    def _request(self, body: bytes) -> Request:
        raw_path, _, query = self.path.partition("?")
        return Request(
            surface=self.server.surface,
            method=self.command,
            path=unquote(raw_path),
            raw_path=self.path,
            query=parse_qs(query, keep_blank_values=True),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            client=f"{self.client_address[0]}",
            base_url=self.server.url,
        )

    def _body(self) -> bytes | None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunks()
        length = int(self.headers.get("Content-Length") or 0)
        if length > _BODY_LIMIT:
            self.send_error(413)
            self.close_connection = True
            return None
        return self.rfile.read(length) if length else b""

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue
        return b"".join(parts)

    def _deliver(self, response: Response) -> None:
        if response.hang:
            self._wait_for_client_to_leave()
        if response.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        if response.hang or response.reset or response.lost:
            self._break()
            return
        head = self._head(response)
        body = b"" if self.command == "HEAD" else response.body
        if response.cut_after is not None:
            self.wfile.write(head + body[: response.cut_after])
            self._break()
        elif response.drip_bytes_per_s is not None:
            self.wfile.write(head)
            self._drip(body, response.drip_bytes_per_s)
        else:
            self.wfile.write(head + body)

    def _break(self) -> None:
        """Close the socket now; a later goodbye from the server class would undo a reset."""
        self.close_connection = True
        self.connection.close()

    def _head(self, response: Response) -> bytes:
        reason = self.responses.get(response.status, ("", ""))[0]
        headers = {"Content-Length": str(len(response.body)), **response.headers}
        lines = [f"HTTP/1.1 {response.status} {reason}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if self.close_connection:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _drip(self, body: bytes, bytes_per_s: float) -> None:
        size = max(int(bytes_per_s * _DRIP_STEP_S), 1)
        for offset in range(0, len(body), size):
            self.wfile.write(body[offset : offset + size])
            if self.server.closing.wait(size / bytes_per_s):
                self.close_connection = True
                return

    def _wait_for_client_to_leave(self) -> None:
        while not self.server.closing.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.1)
            if readable and not self.connection.recv(4096, socket.MSG_PEEK):
                return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing; the request counter is the log."""
