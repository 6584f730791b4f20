"""Container logs and small commands, fetched through a `result_url` that needs no key. Source: vast 3.4."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.sim.http import Request, Response
from flashtui.sim.vast.real_work import RealWork
from flashtui.sim.vast.replies import json_object, refusal, success

if TYPE_CHECKING:
    from flashtui.sim.vast.contract import Contract
    from flashtui.sim.vast.contracts import Contracts
    from flashtui.sim.world import World

_KEPT = 200
_NOT_READY_READS = 2
_READY_AFTER_S = 3.0
_COMMANDS = {"ls", "rm", "du"}
_COMMAND_LIMIT = 512
_MOST_LINES = 2000
_STEP_S = 4.0


@dataclass(slots=True)
class _File:
    text: str
    ready_at: float
    reads: int = 0


class Logs:
    """Uploads that become readable a little after they are asked for."""

    def __init__(self, world: World, contracts: Contracts) -> None:
        self._world = world
        self._contracts = contracts
        self._work = RealWork(world)
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._count = 0

    def request_logs(self, request: Request, instance_id: int) -> Response:
        """`PUT /api/v0/instances/request_logs/{id}/` `{"tail", "filter", "daemon_logs"}`."""
        body = json_object(request.body) or {}
        for name in set(body) - {"tail", "filter", "daemon_logs"}:
            self._world.strict.record("vast", "unknown_field", f"request_logs: {name}")
        contract = self._contracts.live.get(instance_id)
        if contract is None:
            return refusal(404, "invalid_id", f"error 404/3601: invalid_id {instance_id}")
        if str(body.get("daemon_logs", "")).lower() == "true":
            lines = daemon_lines(contract, self._world.time.now())
        else:
            lines = self._container_lines(contract)
        wanted = body.get("filter")
        if isinstance(wanted, str) and wanted:
            lines = [line for line in lines if wanted in line]
        return self._upload(request, "\n".join(lines[-_tail(body.get("tail")) :]) + "\n")

    def command(self, request: Request, instance_id: int) -> Response:
        """`PUT /api/v0/instances/command/{id}/`: only ls, rm and du; works on stopped instances too."""
        command = (json_object(request.body) or {}).get("command")
        if instance_id not in self._contracts.live:
            return refusal(404, "invalid_id", f"error 404/3601: invalid_id {instance_id}")
        words = command.split() if isinstance(command, str) else []
        if not words or words[0] not in _COMMANDS or len(str(command)) > _COMMAND_LIMIT:
            return refusal(
                400, "invalid_args", "error 400/3467: only ls, rm and du, at most 512 characters"
            )
        text = {
            "ls": "total 8\n-rw-r--r-- 1 root root 512 onstart.sh\n",
            "du": "12K\t/workspace\n",
        }.get(words[0], "")
        return self._upload(request, text, writeable_path="/workspace")

    def read(self, request: Request, name: str) -> Response:
        """`GET result_url`: 404 until the host has uploaded the file."""
        file = self._files.get(name)
        if file is None:
            return Response(
                404, b"<Error><Code>NoSuchKey</Code></Error>", {"Content-Type": "application/xml"}
            )
        file.reads += 1
        if file.reads <= _NOT_READY_READS and self._world.time.now() < file.ready_at:
            return Response(
                404, b"<Error><Code>NoSuchKey</Code></Error>", {"Content-Type": "application/xml"}
            )
        return Response(200, file.text.encode(), {"Content-Type": "binary/octet-stream"})

    def _container_lines(self, contract: Contract) -> list[str]:
        real = self._work.lines(contract)
        return container_lines(contract, self._world.time.now()) if real is None else real

    def _upload(self, request: Request, text: str, **extra: str) -> Response:
        self._count += 1
        name = f"{self._world.rng('vast', 'upload', self._count).getrandbits(96):024x}.log"
        self._files[name] = _File(text, self._world.time.now() + _READY_AFTER_S)
        if len(self._files) > _KEPT:
            self._files.popitem(last=False)
        url = f"{request.base_url}/s3/vast.ai/instance_logs/{name}"
        return success(result_url=url, msg=f"file will be available at {url}", **extra)


def container_lines(contract: Contract, now: float) -> list[str]:
    """What a training container has printed until now; progress bars bring carriage returns and colours."""
    since = contract.running_since(now)
    if since is None:
        return []
    steps = int((now - since) / _STEP_S)
    lines = [
        f"==> {contract.image}",
        "\x1b[32mINFO\x1b[0m loading model",
        "Loading weights:  50%\rLoading weights: 100%",
    ]
    first = max(steps - _MOST_LINES, 0)
    for step in range(first, steps):
        loss = 0.4 + 2.1 / (1 + step / 40) + ((step * 2654435761) % 97) / 1200
        lines.append(f"step {step} loss {loss:.4f} tok/s {2100 + (step * 7919) % 300}")
    return lines


def daemon_lines(contract: Contract, now: float) -> list[str]:
    """What the host's own daemon has noted about the contract."""
    noted = [phase for phase in contract.phases if phase.at <= now]
    return [
        f"{phase.at:.0f} {phase.actual or 'scheduling'} {(phase.message or '').strip()}".rstrip()
        for phase in noted
    ]


def _tail(value: object) -> int:
    try:
        return max(int(str(value)), 1) if value is not None else 1000
    except ValueError:
        return 1000
