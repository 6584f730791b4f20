"""What a scenario orders the market to do: classes that sell out, prices that move."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Closure:
    """A class of GPU that is sold out from `begin` on for `length_s`, and again every `every_s`."""

    gpu_name: str
    begin: float
    length_s: float
    every_s: float

    @classmethod
    def from_row(cls, row: dict[str, object], start: float) -> Closure:
        """One from a `[[market.sold_out]]` row, whose seconds count from the start."""
        return cls(
            str(row["gpu_name"]),
            start + _float(row["from_s"]),
            _float(row["for_s"]),
            _float(row.get("every_s", 0)),
        )

    def covers(self, at: float) -> bool:
        """Whether nothing of the class is on offer at a moment."""
        since = at - self.begin
        if since < 0:
            return False
        return (since % self.every_s if self.every_s else since) < self.length_s


@dataclass(frozen=True, slots=True)
class Move:
    """A price that is `factor` times as high from `begin` on for `length_s`."""

    gpu_name: str
    begin: float
    length_s: float
    factor: float

    @classmethod
    def from_row(cls, row: dict[str, object], start: float) -> Move:
        """One from a `[[market.moves]]` row, whose seconds count from the start."""
        return cls(
            str(row["gpu_name"]),
            start + _float(row["from_s"]),
            _float(row["for_s"]),
            _float(row["factor"]),
        )

    def factor_at(self, at: float) -> float:
        """What the price is multiplied with at a moment."""
        return self.factor if 0 <= at - self.begin < self.length_s else 1.0


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"a market table needs a number, not {value!r}"
        raise ValueError(msg)
    return float(value)
