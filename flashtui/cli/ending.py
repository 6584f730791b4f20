"""What ``cancel`` and ``destroy`` share: find the targets, look once more, ask, act, and say what was proven."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashtui.cli.exit_codes import ExitCode
from flashtui.domain.errors import StoreError
from flashtui.domain.operation import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashtui.bootstrap.session import Session
    from flashtui.bootstrap.tools import Tools
    from flashtui.domain.operation import Operation, OperationKind
    from flashtui.domain.run import Run
    from flashtui.services.control import LiveCheck

Outcome = Literal["done", "already", "refused", "unconfirmed"]
# A provider module spends up to two minutes on proof; an operation that says nothing for longer is unconfirmed.
_PATIENCE_S = 180.0


@dataclass(frozen=True, slots=True)
class Ending:
    """What came of one target, as it was given on the command line."""

    target: str
    run_id: str | None
    outcome: Outcome
    message: str
    evidence: str = ""
    cost_usd: float | None = None
    unknown: bool = False

    def item(self) -> dict[str, Any]:
        """``flashtui.result/1``."""
        return {
            "target": self.target,
            "run_id": self.run_id,
            "outcome": self.outcome,
            "evidence": self.evidence or None,
            "cost_usd": self.cost_usd,
            "message": self.message,
        }


async def end_targets(
    tools: Tools, kind: OperationKind, targets: Sequence[str], *, yes: bool, as_json: bool
) -> int:
    """Cancel or destroy everything that was named; returns the exit code."""
    from flashtui.bootstrap.session import open_session
    from flashtui.cli.documents import document
    from flashtui.cli.output import print_json, say

    endings: list[Ending] = []
    async with open_session(tools) as session:
        for name in targets:
            endings += await _end(session, tools, kind, name, yes=yes)
        now = tools.clock.now()
    if as_json:
        print_json(document("result", now, [ending.item() for ending in endings], []))
    else:
        for ending in endings:
            say(f"{ending.target}: {ending.outcome}: {ending.message}")
    return _exit_code(endings)


def _exit_code(endings: Iterable[Ending]) -> ExitCode:
    outcomes = {ending.outcome for ending in endings}
    if "unconfirmed" in outcomes:
        return ExitCode.UNCONFIRMED
    if any(ending.unknown for ending in endings):
        return ExitCode.NO
    return ExitCode.USAGE if "refused" in outcomes else ExitCode.OK


async def _end(
    session: Session, tools: Tools, kind: OperationKind, name: str, *, yes: bool
) -> list[Ending]:
    provider, separator, resource_id = name.partition(":")
    by_id = bool(separator) and provider.lower() in tools.registry.names
    runs = await _recorded(session, required=not by_id)
    if by_id:
        found = [_resource_target(runs, provider.lower(), resource_id)]
    else:
        run = next((run for run in runs if run.run_id == name), None)
        if run is None:
            return [
                Ending(
                    name,
                    None,
                    "refused",
                    "no such run; `flashtui runs --all` lists them",
                    unknown=True,
                )
            ]
        found = [
            Target(r.provider, r.resource_id, run.run_id, r.label)
            for r in run.resources
            if r.may_bill
        ]
        if not found:
            return [
                Ending(
                    name,
                    run.run_id,
                    "already",
                    "nothing of it bills any more",
                    cost_usd=_cost(run, tools),
                )
            ]
    return [await _end_one(session, tools, kind, name, target, yes=yes) for target in found]


async def _recorded(session: Session, *, required: bool) -> tuple[Run, ...]:
    """What the store knows; a broken one must not keep a machine that was named by its id from being destroyed."""
    try:
        return await session.runs()
    except StoreError as error:
        if required:
            raise
        from flashtui.cli.output import warn

        warn(f"flashtui: {error}")
        return ()


def _resource_target(runs: Iterable[Run], provider: str, resource_id: str) -> Target:
    for run in runs:
        for resource in run.resources:
            if (resource.provider, resource.resource_id) == (provider, resource_id):
                return Target(provider, resource_id, run.run_id, resource.label)
    return Target(provider, resource_id, None)


async def _end_one(
    session: Session, tools: Tools, kind: OperationKind, name: str, target: Target, *, yes: bool
) -> Ending:
    check = await session.control.reread(target)
    if check.status == "changed" and not yes:
        return Ending(name, target.run_id, "refused", check.message)
    if check.status == "absent" and target.run_id is None:
        return Ending(name, None, "already", check.message)
    if not yes and not _agreed(kind, target, check):
        return Ending(
            name,
            target.run_id,
            "refused",
            "not confirmed; nothing was sent (`--yes` answers for scripts)",
        )
    ask = session.control.destroy if kind == "destroy" else session.control.cancel
    operation = await ask(target, actor="cli")
    over = await session.control.wait(operation.op_id, _PATIENCE_S)
    return await _ending(session, tools, name, over or operation)


async def _ending(session: Session, tools: Tools, name: str, operation: Operation) -> Ending:
    run_id = operation.target.run_id
    runs = await _recorded(session, required=False)
    run = next((run for run in runs if run.run_id == run_id), None)
    cost = None if run is None else _cost(run, tools)
    said = operation.last_answer
    if operation.phase == "confirmed":
        words = (
            "gone, proven"
            if operation.kind == "destroy"
            else "stopped; what is rented bills on until it is destroyed"
        )
        return Ending(name, run_id, "done", words, evidence=said, cost_usd=cost)
    words = "it may still bill" if operation.kind == "destroy" else "not confirmed"
    return Ending(
        name,
        run_id,
        "unconfirmed",
        f"{words}: {said or 'no answer yet'}; an open dashboard goes on trying",
        said,
        cost,
    )


def _cost(run: Run, tools: Tools) -> float | None:
    from flashtui.domain.cost import run_cost

    total = run_cost(run, tools.clock.now()).total
    return None if total is None else float(total)


def _agreed(kind: OperationKind, target: Target, check: LiveCheck) -> bool:
    """Whether a person at the terminal typed the last four characters of the id; without a terminal: no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    from flashtui.cli.output import warn

    resource = check.resource
    seen = check.message if check.status == "found" else f"COULD NOT VERIFY: {check.message}"
    warn(
        f"{kind} {target.provider} {target.resource_id} ({target.run_id or target.label or 'of no run here'}): {seen}"
    )
    if resource is not None:
        from flashtui.domain.money import format_rate

        warn(
            f"  {resource.gpu or '?'} x{resource.num_gpus}, ${format_rate(resource.rate)}/h, label {resource.label!r}"
        )
    wanted = target.resource_id[-4:]
    warn(
        f"Type the last {len(wanted)} characters of the id to {kind} it, anything else to leave it:"
    )
    return sys.stdin.readline().strip() == wanted
