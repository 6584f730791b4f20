"""Burn, balances and the moment at which the money ends; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.market import Freshness, freshness
from flashtui.domain.money import ZERO_RATE, format_rate, format_usd
from flashtui.ui.cells import Line, Span, duration_text, line

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.market import Account
    from flashtui.domain.money import HourlyRate, Usd
    from flashtui.services.board import Burn, Snapshot

WARN_BELOW_H = 6.0
CRITICAL_BELOW_H = 1.0
_DISAGREE = 0.05


@dataclass(frozen=True, slots=True)
class Horizon:
    """When the money with one provider ends.

    Attributes:
        hours: None: nothing is being spent, or it cannot be known.
        rate: what it was computed with: the higher one of what is seen running and what the provider says.
        disagreement: the provider's own figure, when it is another one.
    """

    provider: str
    balance: Usd | None
    hours: float | None
    rate: HourlyRate
    disagreement: HourlyRate | None

    @property
    def urgent(self) -> str:
        """``""``, ``"warn"`` or ``"bad"``."""
        if self.balance is not None and self.balance.micros < 0:
            return "bad"
        if self.hours is None or self.hours >= WARN_BELOW_H:
            return ""
        return "bad" if self.hours < CRITICAL_BELOW_H else "warn"


def horizons(snapshot: Snapshot, now: datetime) -> list[Horizon]:
    """One for every account; a balance that is too old to be believed is unknown."""
    return [_horizon(account, snapshot, now) for account in snapshot.accounts]


def _horizon(account: Account, snapshot: Snapshot, now: datetime) -> Horizon:
    age_s = (now - account.observed_at).total_seconds()
    believed = freshness(age_s, snapshot.poll_interval_s) is not Freshness.UNKNOWN
    balance = account.balance if believed else None
    seen = ZERO_RATE
    for row in snapshot.runs:
        if row.may_bill and row.provider == account.provider and row.rate is not None:
            seen += row.rate
    said = account.spend if believed else None
    rate = max(seen, said) if said is not None else seen
    apart = said is not None and abs(said.micros - seen.micros) > _DISAGREE * max(rate.micros, 1)
    hours = None
    if balance is not None and rate:
        hours = max(0.0, balance.micros / rate.micros)
    return Horizon(account.provider, balance, hours, rate, said if apart else None)


def horizon_line(horizon: Horizon, *, brief: bool) -> Line:
    """``vast $9.05 = 3h02m !``."""
    equals = "=" if brief else " = "
    ends = "" if horizon.hours is None else f"{equals}{duration_text(horizon.hours * 3600)}"
    alarm = " !" if horizon.urgent else ""
    said = ""
    if horizon.disagreement is not None and not brief:
        said = f" (they say {format_rate(horizon.disagreement)}/h)"
    return line(
        f"{horizon.provider} ",
        Span(f"{format_usd(horizon.balance)}{ends}{alarm}", horizon.urgent or "price"),
        Span(said, "dim"),
    )


def burn_line(burn: Burn, *, brief: bool, counted: bool = True) -> Line:
    """``now $6.07/h (0.69 not ours, 1 unknown)``; before anybody has counted it is unknown."""
    if not counted:
        return line("" if brief else "now ", Span("$?/h", "warn"))
    extra = []
    if burn.foreign and not brief:
        extra.append(f"{format_rate(burn.foreign)} not ours")
    if burn.unknown:
        extra.append(f"{burn.unknown} unknown")
    plus = f" ({', '.join(extra)})" if extra and not brief else "+?" if burn.unknown else ""
    label = "" if brief else "now "
    return line(label, Span(f"${format_rate(burn.now)}/h", "price"), Span(plus, "warn"))


def today_line(burn: Burn) -> Line:
    """``today $38.12``."""
    return line("today ", Span(format_usd(burn.today), "price"))
