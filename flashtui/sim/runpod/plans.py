"""What will become of a job: from the scenario's tables, else a plain seeded run that completes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod.records import Endpoint, JobPlan

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

_PLAN_KEYS = frozenset(
    {"run_s", "outcome", "output", "error", "steps", "retries", "lost_after_s", "chunks"}
)


class Plans:
    """The `[[runpod.plans]]` tables: the first whose `endpoint` pattern matches the name counts.

    Beside the fields of a job plan a table may say `starve = true` (no machine is ever found) and
    `substitute = "<GPU id>"` (workers land on another type than asked for).
    """

    def __init__(
        self,
        tables: Sequence[Mapping[str, Any]],
        *,
        run_s: tuple[float, float],
        sync_run_s: tuple[float, float],
        rng: Callable[..., random.Random],
    ) -> None:
        self._tables = tables
        self._run_s = run_s
        self._sync_run_s = sync_run_s
        self._rng = rng

    def plan(self, endpoint: Endpoint, job_id: str, *, is_sync: bool) -> JobPlan:
        """Decide a job's future."""
        table = self._table(endpoint) or {}
        return self.from_table(table, job_id, is_sync=is_sync)

    def from_table(
        self, table: Mapping[str, Any], job_id: str, *, is_sync: bool = False
    ) -> JobPlan:
        """A plan from literal scenario values; what is missing is drawn from the seed."""
        low, high = self._sync_run_s if is_sync else self._run_s
        draw = self._rng("runpod", "job", job_id)
        wanted = {key: value for key, value in table.items() if key in _PLAN_KEYS}
        run_s = max(0.001, float(wanted.pop("run_s", draw.uniform(low, high))))
        steps = int(wanted.pop("steps", 0 if is_sync else draw.randrange(100, 600, 20)))
        chunks = tuple(wanted.pop("chunks", ()))
        wanted.setdefault("output", {"ok": True, "steps": steps} if not is_sync else {"ok": True})
        if wanted.get("outcome", "COMPLETED") != "COMPLETED":
            wanted["output"] = None
        return JobPlan(run_s=run_s, steps=steps, chunks=chunks, **wanted)

    def is_starved(self, endpoint: Endpoint) -> bool:
        """Whether the scenario says that this endpoint never gets a machine."""
        return bool((self._table(endpoint) or {}).get("starve", False))

    def substitute(self, endpoint: Endpoint) -> str | None:
        """The type the scenario puts workers on instead of the one asked for."""
        found = (self._table(endpoint) or {}).get("substitute")
        return None if found is None else str(found)

    def _table(self, endpoint: Endpoint) -> Mapping[str, Any] | None:
        name = endpoint.name.removeprefix("live-")
        for table in self._tables:
            if fnmatchcase(name, str(table.get("endpoint", "*"))):
                return table
        return None
