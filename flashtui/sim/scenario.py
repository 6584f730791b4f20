"""Scenario files: the world a simulator starts with, in the providers' own numbers.

A scenario is TOML. `[vast]`, `[runpod]`, `[hub]` and `[market]` belong to the part of that name; `[[runs]]` are the
runs a client's store should hold at the start; `[[faults]]` are ordered when the world begins. Times are seconds
relative to that moment: `-7200.0` is two hours before it. `extends = "calm"` starts from another scenario: tables
of the same name are merged, arrays of tables, runs and faults are added.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

_FOLDER = Path(__file__).parent / "scenarios"
_PARTS = ("vast", "runpod", "hub", "market")
_TABLES = {"about", "extends", "start", "work", "runs", "faults", *_PARTS}
_RUN_DEFAULTS: dict[str, object] = {
    "ended_at": None, "cost_usd": None, "cost_is_estimate": False, "progress": None, "heartbeat_age_s": None,
    "last_error": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario.

    Attributes:
        start: epoch seconds at which the world begins, or None for the moment it is started.
        work: whether rented machines run the client's command as a local process.
        tables: the parts' own tables, as parsed.
    """

    name: str
    about: str = ""
    start: float | None = None
    work: bool = False
    tables: dict[str, dict[str, object]] = field(default_factory=dict)
    runs: tuple[dict[str, object], ...] = ()
    faults: tuple[dict[str, object], ...] = ()

    def table(self, name: str) -> dict[str, object]:
        """Table of one part ("vast", "runpod", "hub", "market"); empty when the file has none."""
        return self.tables.get(name, {})

    def rows(self, table: str, name: str) -> list[dict[str, object]]:
        """Array of tables inside a part, for example `[[vast.instances]]`."""
        found = self.table(table).get(name, [])
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            msg = f"scenario {self.name}: [[{table}.{name}]] must be an array of tables"
            raise ValueError(msg)
        return found


def names() -> list[str]:
    """Names of the scenarios that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load(which: str) -> Scenario:
    """A scenario by name, or by the path of a TOML file.

    Raises:
        ValueError: no such scenario, or the file has unknown tables.
    """
    path = Path(which) if which.endswith(".toml") else _FOLDER / f"{which}.toml"
    if not path.is_file():
        msg = f"no scenario {which!r}; known: {', '.join(names())}, or a path to a .toml file"
        raise ValueError(msg)
    return from_toml(path.stem, path.read_text(encoding="utf-8"))


def from_toml(name: str, text: str) -> Scenario:
    """A scenario from its text.

    Raises:
        ValueError: the text is no TOML, or has unknown tables.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"scenario {name} is no valid TOML: {error}"
        raise ValueError(msg) from error
    unknown = set(raw) - _TABLES
    if unknown:
        msg = f"scenario {name} has unknown tables {sorted(unknown)}"
        raise ValueError(msg)
    below = load(str(raw["extends"])) if "extends" in raw else Scenario(name)
    start = raw.get("start", below.start)
    parts = {
        part: _merged(below.table(part), raw.get(part, {}))
        for part in _PARTS
        if part in raw or part in below.tables
    }
    return Scenario(
        name=name,
        about=str(raw.get("about", "")),
        start=None if start is None else float(start),
        work=bool(raw.get("work", below.work)),
        tables=parts,
        runs=(*below.runs, *raw.get("runs", ())),
        faults=(*below.faults, *raw.get("faults", ())),
    )


def _merged(below: dict[str, object], own: dict[str, object]) -> dict[str, object]:
    merged = {**below, **own}
    for name, value in own.items():
        inherited = below.get(name)
        if isinstance(value, list) and isinstance(inherited, list) and _are_tables(value):
            merged[name] = [*inherited, *value]
    return merged


def _are_tables(rows: list[object]) -> bool:
    return bool(rows) and all(isinstance(row, dict) for row in rows)


def run_at(run: dict[str, object], start: float) -> dict[str, object]:
    """A scenario's run with its relative times made absolute.

    Keys ending in `_at` become ISO-8601 UTC text, keys ending in `_ts` epoch seconds.
    """
    return {**_RUN_DEFAULTS, **_at(run, start)}


def _at(table: dict[str, object], start: float) -> dict[str, object]:
    return {key: _absolute(key, value, start) for key, value in table.items()}


def _absolute(key: str, value: object, start: float) -> object:
    if isinstance(value, dict):
        return _at(value, start)
    if isinstance(value, list):
        return [_absolute(key, item, start) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if key.endswith("_at"):
        return iso(start + value)
    return start + value if key.endswith("_ts") else value


def iso(epoch: float) -> str:
    """ISO-8601 UTC text of epoch seconds, for example 2026-12-01T01:46:40Z."""
    return datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")
