"""Money as integers: micro-dollars for amounts and for hourly rates.

Sums of floats drift and a price that drifted is a wrong price, so every amount inside the program is an
integer count of micro-dollars. Rounding happens once, at the edge, half up.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

MICROS_PER_USD = 1_000_000
_SECONDS_PER_HOUR = 3600
# Larger than any machine on any market; a rate above it is a parsing accident, not a price.
MAX_USD_PER_HOUR = Decimal(100_000)


def micros_from_usd(usd: Decimal | float | str) -> int:
    """Convert US dollars to micro-dollars, half up.

    A float goes through its shortest decimal form, so ``0.1`` is exactly 100,000.

    Raises:
        ValueError: not a finite number.
    """
    if isinstance(usd, bool):
        msg = f"not an amount of money: {usd!r}"
        raise ValueError(msg)
    try:
        amount = usd if isinstance(usd, Decimal) else Decimal(str(usd))
    except InvalidOperation as error:
        msg = f"not an amount of money: {usd!r}"
        raise ValueError(msg) from error
    if not amount.is_finite():
        msg = f"not an amount of money: {usd!r}"
        raise ValueError(msg)
    return int((amount * MICROS_PER_USD).quantize(Decimal(1), rounding=ROUND_HALF_UP))


@dataclass(frozen=True, slots=True, order=True)
class Usd:
    """An amount of US dollars, in micro-dollars; may be negative (a balance can be)."""

    micros: int

    @classmethod
    def of(cls, usd: Decimal | float | str) -> Usd:
        """An amount from a number of dollars, rounded half up to the micro-dollar."""
        return cls(micros_from_usd(usd))

    def __add__(self, other: Usd) -> Usd:
        return Usd(self.micros + other.micros)

    def __sub__(self, other: Usd) -> Usd:
        return Usd(self.micros - other.micros)

    def __float__(self) -> float:
        """Dollars; exact to six decimals, for JSON."""
        return self.micros / MICROS_PER_USD

    def __bool__(self) -> bool:
        return self.micros != 0


ZERO_USD = Usd(0)


@dataclass(frozen=True, slots=True, order=True)
class HourlyRate:
    """A price per hour in micro-dollars; of one GPU or of a whole machine, as the field that holds it says."""

    micros: int

    @classmethod
    def of(cls, usd_per_hour: Decimal | float | str) -> HourlyRate:
        """A rate from dollars per hour, rounded half up to the micro-dollar.

        Raises:
            ValueError: not finite, negative, or beyond any real price.
        """
        micros = micros_from_usd(usd_per_hour)
        if not 0 <= micros <= int(MAX_USD_PER_HOUR) * MICROS_PER_USD:
            msg = f"not a price per hour: {usd_per_hour!r}"
            raise ValueError(msg)
        return cls(micros)

    def times(self, count: int) -> HourlyRate:
        """The rate of ``count`` of these (the one place where per-GPU becomes per-machine)."""
        return HourlyRate(self.micros * count)

    def per(self, count: int) -> HourlyRate:
        """The share of one out of ``count``, half up (the one place where per-machine becomes per-GPU)."""
        return HourlyRate((2 * self.micros + count) // (2 * count))

    def cost_over(self, seconds: float) -> Usd:
        """What this rate costs over a duration, half up; a negative duration costs nothing."""
        if seconds <= 0:
            return ZERO_USD
        exact = Decimal(self.micros) * Decimal(str(seconds)) / _SECONDS_PER_HOUR
        return Usd(int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP)))

    def __add__(self, other: HourlyRate) -> HourlyRate:
        return HourlyRate(self.micros + other.micros)

    def __float__(self) -> float:
        """Dollars per hour; exact to six decimals, for JSON."""
        return self.micros / MICROS_PER_USD

    def __bool__(self) -> bool:
        return self.micros != 0


ZERO_RATE = HourlyRate(0)


def format_usd(amount: Usd | None, *, decimals: int = 2) -> str:
    """``$6.07``, ``-$0.40``; ``?`` when unknown, never a made-up zero."""
    if amount is None:
        return "?"
    sign = "-" if amount.micros < 0 else ""
    return f"{sign}${_fixed(abs(amount.micros), decimals)}"


def format_rate(rate: HourlyRate | None, *, decimals: int = 2) -> str:
    """``1.89`` without sign or unit (columns carry those in their heading); ``?`` when unknown."""
    return "?" if rate is None else _fixed(rate.micros, decimals)


def _fixed(micros: int, decimals: int) -> str:
    quantum = Decimal(1).scaleb(-decimals)
    return str((Decimal(micros) / MICROS_PER_USD).quantize(quantum, rounding=ROUND_HALF_UP))
