"""What the providers would have billed, to the second: the truth that shown costs are compared with."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

_HOUR = Decimal(3600)
_CENT_MILLIONTH = Decimal("0.00000001")
_KEPT_STRETCHES = 512


class _Stretch(NamedTuple):
    """What one part cost between two moments at one rate; a one-off has equal moments."""

    begin: Decimal
    end: Decimal
    usd: Decimal

    def within(self, begin: Decimal, end: Decimal) -> Decimal:
        """The share of it that falls into a span."""
        if self.begin == self.end:
            return self.usd if begin <= self.begin < end else Decimal(0)
        overlap = min(self.end, end) - max(self.begin, begin)
        return self.usd * overlap / (self.end - self.begin) if overlap > 0 else Decimal(0)


@dataclass(slots=True)
class _Meter:
    """One billed part of a resource: a sum so far and the rate since a moment."""

    accrued: Decimal = Decimal(0)
    rate: Decimal = Decimal(0)
    since: Decimal = Decimal(0)
    past: deque[_Stretch] = field(default_factory=lambda: deque(maxlen=_KEPT_STRETCHES))

    def at(self, moment: Decimal) -> Decimal:
        elapsed = moment - self.since
        return self.accrued + (self.rate * elapsed / _HOUR if elapsed > 0 else Decimal(0))

    def settle(self, moment: Decimal) -> None:
        if moment <= self.since:
            return
        usd = self.rate * (moment - self.since) / _HOUR
        if usd:
            self.past.append(_Stretch(self.since, moment, usd))
        self.accrued += usd
        self.since = moment

    def add(self, usd: Decimal, moment: Decimal) -> None:
        self.accrued += usd
        self.past.append(_Stretch(moment, moment, usd))

    def between(self, begin: Decimal, end: Decimal) -> Decimal:
        running = (
            self.rate * (end - max(self.since, begin)) / _HOUR
            if end > max(self.since, begin)
            else Decimal(0)
        )
        return sum((stretch.within(begin, end) for stretch in self.past), running)


@dataclass(slots=True)
class _Account:
    """Everything billed for one resource."""

    provider: str
    resource_id: str
    kind: str
    label: str
    gpu: str
    opened_at: float
    closed_at: float | None = None
    meters: dict[str, _Meter] = field(default_factory=dict)

    def billed(self, moment: Decimal) -> Decimal:
        return sum((meter.at(moment) for meter in self.meters.values()), Decimal(0))

    def rate(self) -> Decimal:
        return sum((meter.rate for meter in self.meters.values()), Decimal(0))


class Ledger:
    """Integrates rate over time per resource and part, exactly, in decimal dollars.

    Parts are free names: "gpu", "storage", "bandwidth", "worker". A closed resource keeps its sum for ever.
    """

    def __init__(self) -> None:
        self._accounts: dict[tuple[str, str], _Account] = {}

    def open(
        self, provider: str, resource_id: str, *, kind: str, label: str, gpu: str, at: float
    ) -> None:
        """Begin a resource; nothing is billed until a rate is set.

        Raises:
            ValueError: the provider already has a resource of this id.
        """
        key = (provider, resource_id)
        if key in self._accounts:
            msg = f"{provider} resource {resource_id} is already in the ledger"
            raise ValueError(msg)
        self._accounts[key] = _Account(provider, resource_id, kind, label, gpu, at)

    def has(self, provider: str, resource_id: str) -> bool:
        """Whether a resource was ever opened."""
        return (provider, resource_id) in self._accounts

    def relabel(self, provider: str, resource_id: str, label: str) -> None:
        """Follow a change of name."""
        self._accounts[provider, resource_id].label = label

    def set_rate(
        self, provider: str, resource_id: str, part: str, usd_per_hour: float | Decimal, at: float
    ) -> None:
        """From `at` on this part costs so much; the time before keeps its own rate.

        Raises:
            ValueError: the resource is closed.
        """
        account = self._open_account(provider, resource_id)
        moment = _exact(at)
        meter = account.meters.setdefault(part, _Meter(since=moment))
        meter.settle(moment)
        meter.rate = _exact(usd_per_hour)

    def charge(
        self, provider: str, resource_id: str, part: str, usd: float | Decimal, at: float
    ) -> None:
        """Add a one-off amount, for example for bytes moved.

        Raises:
            ValueError: the resource is closed.
        """
        account = self._open_account(provider, resource_id)
        meter = account.meters.setdefault(part, _Meter(since=_exact(at)))
        meter.add(_exact(usd), _exact(at))

    def close(self, provider: str, resource_id: str, at: float) -> None:
        """Stop all billing; closing twice changes nothing."""
        account = self._accounts[provider, resource_id]
        if account.closed_at is not None:
            return
        account.closed_at = at
        moment = _exact(at)
        for meter in account.meters.values():
            meter.settle(moment)
            meter.rate = Decimal(0)

    def rate(self, provider: str, resource_id: str, part: str | None = None) -> Decimal:
        """Current dollars per hour of one part, or of all parts together."""
        account = self._accounts[provider, resource_id]
        if part is None:
            return account.rate()
        meter = account.meters.get(part)
        return meter.rate if meter else Decimal(0)

    def billed(self, provider: str, resource_id: str, now: float) -> Decimal:
        """Dollars billed for one resource until `now`."""
        return self._accounts[provider, resource_id].billed(_exact(now))

    def parts(self, provider: str, resource_id: str) -> list[str]:
        """Names of the parts that a resource has been billed for."""
        return list(self._accounts[provider, resource_id].meters)

    def between(
        self, provider: str, resource_id: str, part: str, begin: float, end: float
    ) -> Decimal:
        """Dollars billed for one part between two moments, for providers' day-by-day charges.

        Exact for the newest 512 changes of rate of that part.
        """
        meter = self._accounts[provider, resource_id].meters.get(part)
        return meter.between(_exact(begin), _exact(end)) if meter else Decimal(0)

    def provider_billed(self, provider: str, now: float) -> Decimal:
        """Dollars billed for all resources of a provider until `now`."""
        moment = _exact(now)
        mine = (a.billed(moment) for a in self._accounts.values() if a.provider == provider)
        return sum(mine, Decimal(0))

    def provider_rate(self, provider: str) -> Decimal:
        """Dollars per hour that a provider's resources cost together now."""
        mine = (a.rate() for a in self._accounts.values() if a.provider == provider)
        return sum(mine, Decimal(0))

    def total(self, now: float) -> float:
        """Dollars billed for everything until `now`."""
        moment = _exact(now)
        return _number(sum((a.billed(moment) for a in self._accounts.values()), Decimal(0)))

    def rows(self, now: float) -> list[dict[str, object]]:
        """One plain row per resource, in the order they were opened."""
        moment = _exact(now)
        return [_row(account, moment) for account in self._accounts.values()]

    def _open_account(self, provider: str, resource_id: str) -> _Account:
        account = self._accounts[provider, resource_id]
        if account.closed_at is not None:
            msg = f"{provider} resource {resource_id} is closed in the ledger"
            raise ValueError(msg)
        return account


def _row(account: _Account, moment: Decimal) -> dict[str, object]:
    return {
        "provider": account.provider,
        "id": account.resource_id,
        "kind": account.kind,
        "label": account.label,
        "gpu": account.gpu,
        "opened_at": account.opened_at,
        "closed_at": account.closed_at,
        "billing": account.rate() > 0,
        "rate_usd_per_hour": _number(account.rate()),
        "billed_usd": _number(account.billed(moment)),
        "parts": {name: _number(meter.at(moment)) for name, meter in account.meters.items()},
    }


def _exact(value: float | Decimal) -> Decimal:
    """A decimal equal to the shortest text of the float, so 0.36 stays 0.36."""
    return value if isinstance(value, Decimal) else Decimal(repr(float(value)))


def _number(value: Decimal) -> float:
    return float(value.quantize(_CENT_MILLIONTH))
