"""The allocation preview: what the job in focus would get from the present sheets, made again when any of them changes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.allocation import book_from_sheet, plan
from flashtui.services.board import PlanState
from flashtui.services.plan import PlanJob

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.allocation import AllocationReport
    from flashtui.domain.market import PriceSheet
    from flashtui.providers.base import Plugin
    from flashtui.settings import Settings

# Made again at least so often: offers grow stale by themselves.
_AGE = timedelta(seconds=15)
_NO_PRICES = "no prices have arrived yet"


class Preview:
    """Plans one job, and remembers since when the same candidate has been winning."""

    def __init__(self, settings: Settings) -> None:
        self.job = PlanJob(disk_gb=settings.rules.disk_gb)
        self._settings = settings
        self._state = PlanState(self.job, None, _NO_PRICES, None, None)
        self._made_from: tuple[object, ...] = ()

    def state(
        self,
        sheets: Sequence[PriceSheet],
        plugins: Mapping[str, Plugin],
        reasons: Mapping[str, str],
        now: datetime,
    ) -> PlanState:
        """The plan of :attr:`job`.

        Args:
            sheets: what is known of prices.
            plugins: everything installed.
            reasons: providers that are not asked, and why.
            now: the present.
        """
        if not any(sheet.quotes or sheet.offers for sheet in sheets):
            self._state = PlanState(self.job, None, _NO_PRICES, None, None)
            return self._state
        made_from = (self.job, *(part for s in sheets for part in (s.quotes, s.offers, s.error)))
        if self._is_current(made_from, now):
            return self._state
        self._made_from = made_from
        report = self._report(sheets, plugins, reasons, now)
        before = self._state
        same = before.report is not None and _winner(before.report) == _winner(report)
        since = before.winner_since if same else now
        self._state = PlanState(self.job, report, "", now, since)
        return self._state

    def _is_current(self, made_from: tuple[object, ...], now: datetime) -> bool:
        computed_at = self._state.computed_at
        if computed_at is None or not computed_at <= now < computed_at + _AGE:
            return False
        # The same objects: comparing thousands of offers one by one costs more than planning.
        return len(made_from) == len(self._made_from) and all(
            new is old for new, old in zip(made_from, self._made_from, strict=True)
        )

    def _report(
        self,
        sheets: Sequence[PriceSheet],
        plugins: Mapping[str, Plugin],
        reasons: Mapping[str, str],
        now: datetime,
    ) -> AllocationReport:
        by_name = {sheet.provider: sheet for sheet in sheets}
        books = [
            book_from_sheet(
                name,
                by_name.get(name),
                configured=plugin.provider.is_configured() and name not in reasons,
                why_not=reasons.get(name, ""),
            )
            for name, plugin in plugins.items()
        ]
        settings = self._settings
        return plan(
            self.job.request(),
            books,
            headroom=settings.vram_headroom,
            now=now,
            interval_s=settings.poll_seconds,
            preference=settings.preference,
            rules=settings.rules,
        )


def _winner(report: AllocationReport) -> tuple[str, str, str] | None:
    winner = report.winner
    return None if winner is None else (winner.provider, winner.gpu, winner.product)
