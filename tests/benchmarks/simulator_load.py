"""Load on the simulator: N clients at one request a second each; prints the spread and fails on any error.

`python -m tests.benchmarks.simulator_load --clients 50 --seconds 60 --scenario calm`: exit 0 when no request failed,
the slowest of a hundred took under 50 ms, and memory stayed flat.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

P99_BAR_MS = 50.0
GROWTH_BAR_MB = 24.0
WARM_UP_S = 5.0
SEARCH = {
    "verified": {"eq": True}, "rentable": {"eq": True}, "num_gpus": {"eq": 1}, "reliability2": {"gte": 0.995},
    "type": "ask", "order": [["dph_total", "asc"]], "limit": 64, "allocated_storage": 60,
}  # fmt: skip
TYPES = "{ gpuTypes { id displayName memoryInGb lowestPrice(input: {gpuCount: 1}) { uninterruptablePrice stockStatus } } }"


@dataclass
class Tally:
    """What all clients together have seen."""

    latencies_ms: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def percentile(self, share: float) -> float:
        """Latency below which this share of the requests stayed."""
        ordered = sorted(self.latencies_ms)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


def requests_of(exports: dict[str, str], number: int) -> list[tuple[str, str, str, object, str]]:
    """The requests a client goes round, as (address, method, path, body, key)."""
    vast, graphql = exports["FLASHTUI_VAST_URL"], exports["FLASHTUI_RUNPOD_GRAPHQL_URL"]
    key, runpod_key = exports["VAST_API_KEY"], exports["RUNPOD_API_KEY"]
    disk = (60, 80, 100)[number % 3]
    return [
        (vast, "POST", "/api/v0/bundles/", {**SEARCH, "allocated_storage": disk}, key),
        (vast, "GET", "/api/v1/instances/", None, key),
        (graphql, "POST", "/graphql", {"query": TYPES}, runpod_key),
        (vast, "GET", "/api/v0/users/current/", None, key),
        (vast, "GET", "/api/v0/instances/28431207/", None, key),
    ]


def client(
    exports: dict[str, str], number: int, until: float, interval_s: float, tally: Tally
) -> None:
    """One client: a request, then a pause, on connections that are kept."""
    rng = random.Random(number)
    kept: dict[str, http.client.HTTPConnection] = {}
    time.sleep(rng.random() * interval_s)
    turn = number
    while time.monotonic() < until:
        todo = requests_of(exports, number)
        address, method, path, body, key = todo[turn % len(todo)]
        turn += 1
        host = urlsplit(address)
        connection = kept.setdefault(
            host.netloc, http.client.HTTPConnection(str(host.hostname), host.port, timeout=30)
        )
        began = time.perf_counter()
        problem = _exchange(connection, method, path, body, key)
        took = (time.perf_counter() - began) * 1000
        with tally.lock:
            tally.latencies_ms.append(took)
            if problem:
                tally.errors.append(f"{method} {path}: {problem}")
        time.sleep(max(interval_s - took / 1000, 0.0))
    for connection in kept.values():
        connection.close()


def _exchange(
    connection: http.client.HTTPConnection, method: str, path: str, body: object, key: str
) -> str | None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = connection.getresponse()
        text = reply.read()
        json.loads(text)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return repr(error)
    return None if reply.status == 200 else f"status {reply.status} {text[:80]!r}"


def run(exports: dict[str, str], *, clients: int, seconds: float, interval_s: float = 1.0) -> Tally:
    """Let so many clients loose for so long."""
    tally = Tally()
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=client, args=(exports, number, until, interval_s, tally))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def resident_mb(pid: int) -> float:
    """Memory of a process, or 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> int:
    """Start a simulator, load it, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--scenario", default="calm")
    options = parser.parse_args()
    command = [sys.executable, "-m", "flashtui.sim", "--scenario", options.scenario]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as simulator:
        assert simulator.stdout is not None
        lines = [simulator.stdout.readline() for _ in range(12)]
        exports = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines)
        run(exports, clients=options.clients, seconds=WARM_UP_S)
        before = resident_mb(simulator.pid)
        tally = run(exports, clients=options.clients, seconds=options.seconds)
        grown = resident_mb(simulator.pid) - before
        simulator.terminate()
    p50, p99 = tally.percentile(0.5), tally.percentile(0.99)
    report = [
        f"{len(tally.latencies_ms)} requests, {len(tally.errors)} errors, p50 {p50:.1f} ms, p99 {p99:.1f} ms",
        f"memory {before:.0f} MB, grown by {grown:.1f} MB",
        *tally.errors[:5],
    ]
    sys.stdout.write("\n".join(report) + "\n")
    return 0 if not tally.errors and p99 < P99_BAR_MS and grown < GROWTH_BAR_MB else 1


if __name__ == "__main__":
    raise SystemExit(main())
