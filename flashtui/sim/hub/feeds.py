"""Runs of a scenario that report to the hub: heartbeats, results and markers as a function of time.

`[[hub.reports]]` of a scenario: repo, run_id, phase (`sft` or `rl`), seed, began_at (seconds relative to
the start), setup_s, steps, step_s, stalls_at_step (it goes silent there), fails_at_step, reward (start and
end), model. File names and fields are those the training product writes into its dataset repository:
`<phase>/<run_id>/seed<N>/heartbeat.json`, `metrics.json`, `DONE`, `error_<phase>.txt`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashtui.sim.hub.repos import Blob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.sim.hub.surface import Hub

_EVERY_S = 60.0
"""Steps are reported at most this often, other stages at once."""
_TOKENS_PER_STEP = 18_400


@dataclass(frozen=True, slots=True)
class _Report:
    """One run's life as it shows in its repository."""

    repo: str
    run_id: str
    phase: str
    seed: int
    began: float
    setup_s: float
    steps: int
    step_s: float
    silent_after: int
    fails_at: int | None
    reward: tuple[float, float]
    model: str

    @property
    def prefix(self) -> str:
        return f"{self.phase}/{self.run_id}/seed{self.seed}"

    def stages(self) -> list[tuple[float, str]]:
        """Moments and names of the stages before the first step."""
        share = self.setup_s / 10
        names = ("boot", "model_prefetched", f"{self.phase}_start", f"{self.phase}_model_load")
        times = (0.02, 0.45, 0.5, 0.55)
        stages = [
            (self.began + self.setup_s * at, name) for at, name in zip(times, names, strict=True)
        ]
        return [*stages, (self.began + 10 * share, f"{self.phase}_train_start")]

    def step_at(self, now: float) -> int:
        """The last step finished by now."""
        done = int((now - self.began - self.setup_s) // self.step_s)
        last = self.steps if self.fails_at is None else self.fails_at
        return max(0, min(done, last, self.silent_after))

    def ends_at(self) -> float:
        """When it has written its last word."""
        last = self.steps if self.fails_at is None else self.fails_at
        return self.began + self.setup_s + last * self.step_s + 5

    def is_over(self, now: float) -> bool:
        """Whether DONE or the error has been written."""
        last = self.steps if self.fails_at is None else self.fails_at
        return self.silent_after >= last and now >= self.ends_at()


class Feeds:
    """Writes the files of every reporting run up to now, in at most one commit each per look."""

    def __init__(self, hub: Hub, table: Mapping[str, Any]) -> None:
        self._hub = hub
        start = hub.world.time.start
        self._reports = [_report(row, start) for row in table.get("reports", ())]
        self._written: dict[str, str] = {}
        for row in table.get("repos", ()):
            hub.make(row["id"], row.get("kind", "dataset"), is_private=True, at=start)
        self.advance(start)

    def advance(self, now: float) -> None:
        """Commit what has changed since the last look."""
        for report in self._reports:
            files = _files(report, now)
            mark = json.dumps(files, sort_keys=True)
            if not files or self._written.get(report.prefix) == mark:
                continue
            self._written[report.prefix] = mark
            repo = self._hub.make(report.repo, "dataset", is_private=True, at=report.began)
            head = repo.find("main")
            tree = dict(head.files) if head else {}
            for name, text in files.items():
                tree[f"{report.prefix}/{name}"] = Blob(text.encode())
            repo.commit("main", f"{report.run_id}: report", tree, now)


def _report(row: Mapping[str, Any], start: float) -> _Report:
    phase = str(row.get("phase", "sft"))
    low, high = row.get("reward", (0.1, 0.7))
    fails = row.get("fails_at_step")
    return _Report(
        repo=row["repo"],
        run_id=row["run_id"],
        phase=phase,
        seed=int(row.get("seed", 0)),
        began=start + float(row["began_at"]),
        setup_s=float(row.get("setup_s", 180.0)),
        steps=int(row["steps"]),
        step_s=float(row["step_s"]),
        silent_after=int(row.get("stalls_at_step", 1 << 30)),
        fails_at=None if fails is None else int(fails),
        reward=(float(low), float(high)),
        model=str(row.get("model", "Qwen/Qwen3.5-4B")),
    )


def _files(report: _Report, now: float) -> dict[str, str]:
    if now < report.stages()[0][0]:
        return {}
    files = {"heartbeat.json": json.dumps(_heartbeat(report, now))}
    if not report.is_over(now):
        return files
    ended = report.ends_at()
    if report.fails_at is not None:
        files[f"error_{report.phase}.txt"] = (
            "Traceback (most recent call last):\nRuntimeError: CUDA out of memory\n"
        )
        return files
    wall = ended - report.began
    files["metrics.json"] = json.dumps(
        {
            "arm": "flash",
            "phase": report.phase,
            "seed": report.seed,
            "model_id": report.model,
            "wall_seconds": round(wall, 1),
            "setup_seconds": report.setup_s,
            "train_throughput_toks_per_s": round(_TOKENS_PER_STEP / report.step_s, 1),
            "train_tokens": report.steps * _TOKENS_PER_STEP,
            "generated_tokens": 0,
            "notes": {},
        }
    )
    files["DONE"] = f"{ended:.3f}"
    return files


def _heartbeat(report: _Report, now: float) -> dict[str, Any]:
    common = {"run_id": report.run_id, "mode": report.phase, "seed": report.seed}
    if report.is_over(now):
        stage = "done" if report.fails_at is None else f"error_{report.phase}"
        return {
            "stage": stage,
            "ts": round(report.ends_at(), 3),
            **common,
            **_progress(report, report.ends_at()),
        }
    begun = report.began + report.setup_s
    if now < begun:
        at, stage = next(pair for pair in reversed(report.stages()) if now >= pair[0])
        return {"stage": stage, "ts": round(at, 3), **common, "model": report.model}
    # The newest report: on the minute, unless training had not reached one yet.
    moment = max(begun, begun + (now - begun) // _EVERY_S * _EVERY_S)
    last_spoken = begun + report.silent_after * report.step_s
    moment = min(moment, last_spoken)
    return {
        "stage": f"{report.phase}_step",
        "ts": round(moment, 3),
        **common,
        **_progress(report, moment),
    }


def _progress(report: _Report, at: float) -> dict[str, Any]:
    step = report.step_at(at)
    low, high = report.reward
    curve = [
        round(low + (high - low) * (1 - 0.5 ** (6 * index / max(report.steps, 1))), 4)
        for index in range(max(0, step - 7), step + 1)
    ]
    answer: dict[str, Any] = {
        "step": step,
        "train_wall": round(max(0.0, at - report.began - report.setup_s), 1),
        "train_tokens": step * _TOKENS_PER_STEP,
        "setup_seconds": report.setup_s,
    }
    if report.phase == "rl":
        answer |= {"reward": curve[-1], "reward_last": curve, "generated_tokens": step * 9200}
    return answer
