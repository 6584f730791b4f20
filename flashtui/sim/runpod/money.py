"""The account's balance: what it is, when it runs out, and what it allows.

Sources: docs accounts-billing/billing (deducted continuously, checked every five minutes; at zero
pods stop), serverless/workers/overview (worker quota by balance).
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from flashtui.sim.runpod.books import PROVIDER

if TYPE_CHECKING:
    from flashtui.sim.ledger import Ledger

SPEND_LIMIT = 80
"""Default limit in dollars per hour over everything."""
_BILLING_RUN_S = 300.0
_QUOTA_BY_BALANCE = ((900, 60), (700, 50), (500, 40), (300, 30), (200, 20), (100, 10))
_DEFAULT_QUOTA = 5


class Money:
    """A prepaid balance over the ledger."""

    def __init__(self, ledger: Ledger, usd: float) -> None:
        self._ledger = ledger
        self._deposit = Decimal(repr(usd))
        self.is_out = False

    def begin(self, now: float) -> None:
        """What was billed until now is already taken off the opening balance."""
        self._deposit += self._ledger.provider_billed(PROVIDER, now)

    def balance(self, now: float) -> Decimal:
        """Dollars left."""
        return self._deposit - self._ledger.provider_billed(PROVIDER, now)

    def set_balance(self, usd: float, now: float) -> None:
        """Make the balance this much now: a top-up, or a drain."""
        self._deposit += Decimal(repr(usd)) - self.balance(now)
        self.is_out = False

    def rate(self) -> Decimal:
        """Dollars per hour going out now."""
        return self._ledger.provider_rate(PROVIDER)

    def next_look(self, now: float) -> float:
        """When the balance has to be looked at again: at its end, or in five minutes."""
        rate, balance = self.rate(), self.balance(now)
        if self.is_out or rate <= 0 or balance <= 0:
            return now + _BILLING_RUN_S
        return now + min(_BILLING_RUN_S, max(0.01, float(balance / rate) * 3600))

    def runs_out(self, now: float) -> bool:
        """Whether the money has just come to an end."""
        if self.is_out or self.balance(now) > Decimal("0.000001"):
            return False
        self.is_out = True
        return True

    def worker_quota(self, now: float) -> int:
        """How many workers all endpoints together may have."""
        balance = self.balance(now)
        return next((q for floor, q in _QUOTA_BY_BALANCE if balance >= floor), _DEFAULT_QUOTA)
