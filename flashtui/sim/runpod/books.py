"""RunPod's own view of the ledger: the same entries, kept by time so that they can be bucketed."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtui.sim.ledger import Ledger

PROVIDER = "runpod"
_HOUR = Decimal(3600)


@dataclass(slots=True)
class _Line:
    kind: str
    rates: dict[str, list[tuple[float, Decimal]]] = field(default_factory=dict)
    charges: dict[str, list[tuple[float, Decimal]]] = field(default_factory=dict)


class Books:
    """Writes to the world's ledger and remembers when."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lines: dict[str, _Line] = {}
        self._now = 0.0

    def seen(self, now: float) -> None:
        """Tell how far time has got; nothing later is billed yet."""
        self._now = max(self._now, now)

    def open(self, resource_id: str, *, kind: str, label: str, gpu: str, at: float) -> None:
        """Begin a resource."""
        self._lines[resource_id] = _Line(kind)
        self._ledger.open(PROVIDER, resource_id, kind=kind, label=label, gpu=gpu, at=at)

    def relabel(self, resource_id: str, label: str) -> None:
        """Follow a change of name."""
        self._ledger.relabel(PROVIDER, resource_id, label)

    def set_rate(self, resource_id: str, part: str, usd_per_hour: float, at: float) -> None:
        """From `at` on this part costs so much."""
        rate = Decimal(repr(round(usd_per_hour, 9)))
        self._lines[resource_id].rates.setdefault(part, []).append((at, rate))
        self._ledger.set_rate(PROVIDER, resource_id, part, rate, at)

    def charge(self, resource_id: str, part: str, usd: float, at: float) -> None:
        """Add a one-off amount."""
        amount = Decimal(repr(round(usd, 9)))
        self._lines[resource_id].charges.setdefault(part, []).append((at, amount))
        self._ledger.charge(PROVIDER, resource_id, part, amount, at)

    def close(self, resource_id: str, at: float) -> None:
        """Stop all billing."""
        for changes in self._lines[resource_id].rates.values():
            changes.append((at, Decimal(0)))
        self._ledger.close(PROVIDER, resource_id, at)

    def between(
        self, kind: str, start: float, end: float
    ) -> Iterator[tuple[str, dict[str, Decimal]]]:
        """What every resource of a kind cost in a span of time, by part; free ones are left out."""
        for resource_id, line in self._lines.items():
            if line.kind != kind:
                continue
            parts = {
                part: spent
                for part in {*line.rates, *line.charges}
                if (spent := self._spent(line, part, start, min(end, self._now)))
            }
            if parts:
                yield resource_id, parts

    @staticmethod
    def _spent(line: _Line, part: str, start: float, end: float) -> Decimal:
        total = Decimal(0)
        changes = line.rates.get(part, [])
        for index, (since, rate) in enumerate(changes):
            until = changes[index + 1][0] if index + 1 < len(changes) else end
            overlap = min(until, end) - max(since, start)
            if overlap > 0:
                total += rate * Decimal(repr(overlap)) / _HOUR
        for moment, amount in line.charges.get(part, []):
            if start <= moment < end:
                total += amount
        return total
