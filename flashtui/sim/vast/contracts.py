"""All rentals of the simulated Vast account: their life in time, their money, and the account's credit.

Nothing runs in the background: `advance` carries out, in order, everything that was due since it was last called.
"""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from typing import TYPE_CHECKING

from flashtui.sim import market
from flashtui.sim.vast import contract as life
from flashtui.sim.vast import seeded
from flashtui.sim.vast.contract import Contract, Phase
from flashtui.sim.vast.events import Strike, strikes
from flashtui.sim.vast.real_work import RealWork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashtui.sim.faults import Fault
    from flashtui.sim.vast.offers import Market, Offer
    from flashtui.sim.world import World

PROVIDER = "vast"
_DELETED_AFTER_EXPIRY_S = 48 * 3600.0
_FIRST_ID = 28_450_000
_KEPT_GONE = 500
_MOST_TICKS = 50_000
# A tenth of a micro-dollar: below what a moment in floating-point seconds can resolve.
_NOTHING = Decimal("1e-7")


class Contracts:
    """The rentals and the credit of one account."""

    def __init__(self, world: World, offers: Market, *, credit_usd: float, has_card: bool) -> None:
        self._world = world
        self._market = offers
        self._has_card = has_card
        self._work = RealWork(world)
        self._credit = Decimal(repr(credit_usd))
        self._spent_before: Decimal | None = None
        self._next_id = _FIRST_ID
        self._at = world.start
        self._is_broke = False
        self._due: float | None = None
        self.live: dict[int, Contract] = {}
        self.gone: deque[Contract] = deque(maxlen=_KEPT_GONE)
        self._on_contract: dict[str, Callable[[Contract, Fault, float], None]] = {
            "price_rise": self._price_rises,
            "host_withdrawal": self._host_withdraws,
            "host_offline": self._host_goes_offline,
            "outbid": self._is_outbid,
            "container_exits": self._container_exits,
        }

    def start_account(self) -> None:
        """Count spending from now on; what earlier contracts cost is already off the credit."""
        self._spent_before = self._world.ledger.provider_billed(PROVIDER, self._at)
        self._plan_next()

    def credit(self, now: float) -> float:
        """Dollars left; negative once storage has gone on billing past zero."""
        return float(self._credit_left(now))

    def set_credit(self, usd: float, now: float) -> None:
        """Put the credit to an amount, for a fault or a payment."""
        self._credit += Decimal(repr(usd)) - self._credit_left(now)
        self._is_broke = False
        self._plan_next()

    # -- renting -------------------------------------------------------------------------------------------------

    def rent(
        self, offer: Offer, asked: dict[str, object], now: float, *, boot_s: float, lag_s: float
    ) -> Contract:
        """Make a contract out of an offer; it is billed from this moment on."""
        label, price, disk = asked.get("label"), asked.get("price"), asked.get("disk")
        bid = float(price) if isinstance(price, (int, float)) else None
        contract = Contract(
            contract_id=self._new_id(),
            offer=offer,
            created_at=now,
            label=None if label is None else str(label),
            asked=asked,
            disk_gb=float(disk) if isinstance(disk, (int, float)) else 10.0,
            dph_base=offer.dph_base if bid is None else min(bid, offer.dph_base),
            api_key=f"{self._world.rng('vast', 'key', self._next_id).getrandbits(256):064x}",
            end_date=offer.end_date,
            bid=bid,
            visible_at=now + lag_s,
            boot_s=boot_s,
        )
        self._market.take(offer)
        self.enter(contract)
        return contract

    def enter(self, contract: Contract) -> None:
        """Put a contract into the account and its ledger."""
        self._next_id = max(self._next_id, contract.contract_id) + 1
        self.live[contract.contract_id] = contract
        self._world.ledger.open(
            PROVIDER,
            str(contract.contract_id),
            kind="instance",
            label=contract.label or "",
            gpu=contract.machine.board.gpu_name,
            at=contract.created_at,
        )
        self.replan(contract)

    def _new_id(self) -> int:
        return self._next_id + 1 + self._world.rng("vast", "id", self._next_id).randrange(40)

    # -- ending --------------------------------------------------------------------------------------------------

    def destroy(self, contract: Contract, now: float) -> None:
        """End a contract and its billing; the GPUs go back on the market under new ids."""
        contract.destroyed_at = now
        self._work.end(contract)
        del self.live[contract.contract_id]
        self.gone.append(contract)
        self._world.ledger.close(PROVIDER, str(contract.contract_id), now)
        self._market.give_back(contract.offer)
        self._plan_next()

    def linger(self, contract: Contract, until: float) -> None:
        """Destroy a contract later: it stays, and bills, until then."""
        contract.gone_at = until
        self._plan_next()

    def replan(self, contract: Contract) -> None:
        """A contract's plan has changed: follow what is already due and look for what comes next."""
        self._follow(contract, max(self._at, contract.created_at))
        self._plan_next()

    def raise_price(self, contract: Contract, factor: float, at: float) -> None:
        """A running contract costs more from a moment on."""
        contract.dph_base = round(contract.dph_base * factor, 6)
        self._bill(contract, contract.phase(at), at)
        self._plan_next()

    def change_bid(self, contract: Contract, bid: float, now: float) -> None:
        """Another bid for the whole slice."""
        contract.bid = bid
        contract.dph_base = min(bid, contract.offer.dph_base)
        self._bill(contract, contract.phase(now), now)
        self._plan_next()

    # -- time ----------------------------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Carry out everything that is due until now, in order of time."""
        if now < self._at:
            return
        self._advance(now)
        if self._world.work is None:
            return
        for contract in list(self.live.values()):
            code = self._work.exit_code(contract)
            if code is not None and contract.phase(now).actual == "running":
                self._exit(contract, str(code), now)

    def _advance(self, now: float) -> None:
        pending = deque(
            sorted(strikes(self._world.faults, self.live, self._at, now), key=lambda s: s.at)
        )
        while True:
            due = self._due if self._due is not None and self._due <= now else None
            outbid = self._outbid_at(min(now, due if due is not None else now))
            strike = pending[0].at if pending else None
            moments = [
                moment for moment in (due, strike, outbid and outbid[0]) if moment is not None
            ]
            if not moments:
                break
            self._at = max(self._at, min(moments))
            if outbid is not None and outbid[0] <= self._at:
                self._stop_by_provider(outbid[1], self._at)
            elif strike is not None and strike <= self._at:
                self._strike(pending.popleft())
            else:
                self._happen(self._at)
        self._at = now

    def _happen(self, moment: float) -> None:
        for contract in list(self.live.values()):
            self._follow(contract, moment)
            if contract.gone_at is not None and contract.gone_at <= moment:
                self.destroy(contract, moment)
            elif not contract.is_expired and contract.end_date <= moment:
                contract.is_expired = True
                contract.gone_at = moment + _DELETED_AFTER_EXPIRY_S
                self._stop_by_provider(contract, moment)
        if not self._is_broke and self._credit_left(moment) <= _NOTHING:
            self._run_dry(moment)
        self._plan_next()

    def _run_dry(self, moment: float) -> None:
        """No credit: all instances are stopped; without a card they are destroyed (vast 3.7)."""
        self._is_broke = True
        for contract in list(self.live.values()):
            if not self._has_card:
                self.destroy(contract, moment)
            elif contract.phase(moment).intended == "running":
                self._stop_by_provider(contract, moment)

    def _stop_by_provider(self, contract: Contract, moment: float) -> None:
        contract.plan(moment, *life.cut_off(moment, contract.phase(moment).message))
        self._follow(contract, moment)
        self._plan_next()

    def _strike(self, strike: Strike) -> None:
        at, fault = self._at, strike.fault
        if fault.name == "balance_out":
            self.set_credit(fault.number_arg("usd", 0.0), at)
        elif fault.name == "foreign_instance":
            row = {"label": "unknown", **fault.args}
            self.enter(seeded.contract_from(self._world, row, at))
        elif contract := self.live.get(strike.contract_id):
            self._on_contract[fault.name](contract, fault, at)

    def _price_rises(self, contract: Contract, fault: Fault, at: float) -> None:
        self.raise_price(contract, fault.number_arg("factor", 1.25), at)

    def _host_withdraws(self, contract: Contract, fault: Fault, at: float) -> None:
        contract.end_date = at + fault.number_arg("notice_s", 0.0)
        self._market.withdraw(contract.machine, float("inf"))
        self._plan_next()

    def _is_outbid(self, contract: Contract, _fault: Fault, at: float) -> None:
        self._stop_by_provider(contract, at)

    def _container_exits(self, contract: Contract, fault: Fault, at: float) -> None:
        self._exit(contract, fault.text_arg("code", "1"), at)

    def _exit(self, contract: Contract, code: str, at: float) -> None:
        contract.plan(at, Phase(at, "exited", message=f"container exited with code {code}\n"))
        self.replan(contract)

    def _host_goes_offline(self, contract: Contract, fault: Fault, at: float) -> None:
        self._lose_host(contract, at, fault.number_arg("seconds", 300.0))

    def _lose_host(self, contract: Contract, at: float, seconds: float) -> None:
        before = contract.phase(at)
        later = [phase for phase in contract.phases if phase.at > at]
        back = _moved_to(before, at + seconds)
        moved = [_moved_to(phase, phase.at + seconds) for phase in later]
        contract.plan(at, before._replace(at=at, actual="offline"), back, *moved)
        self._market.withdraw(contract.machine, at + seconds)
        self.replan(contract)

    def _outbid_at(self, until: float) -> tuple[float, Contract] | None:
        """The first running bid contract that the market has outgrown since the last look."""
        bids = [c for c in self.live.values() if c.bid is not None]
        if not bids:
            return None
        first, last = market.tick_of(self._at) + 1, market.tick_of(until)
        for tick in range(max(first, last - _MOST_TICKS), last + 1):
            moment = tick * market.TICK_S
            for contract in bids:
                floor = contract.machine.bid_floor_per_gpu(moment) * contract.part.size
                if (
                    contract.bid is not None
                    and floor > contract.bid
                    and contract.phase(moment).intended == "running"
                ):
                    return moment, contract
        return None

    # -- money ---------------------------------------------------------------------------------------------------

    def _follow(self, contract: Contract, moment: float) -> None:
        while (at := contract.next_phase_at()) is not None and at <= moment:
            phase = contract.phases[contract.applied]
            contract.applied += 1
            self._bill(contract, phase, at)
            self._work.follow(contract, phase)

    def _bill(self, contract: Contract, phase: Phase, at: float) -> None:
        ledger, name = self._world.ledger, str(contract.contract_id)
        gpu = contract.dph_base if phase.actual in life.GPU_BILLED else 0.0
        disk = 0.0 if phase.actual in life.STORAGE_FREE else contract.disk_per_hour
        ledger.set_rate(PROVIDER, name, "gpu", gpu, at)
        ledger.set_rate(PROVIDER, name, "storage", disk, at)
        if phase.actual == "running" and contract.pull_gb:
            cost = contract.machine.traits["inet_down_cost"]
            usd = contract.pull_gb * (cost if isinstance(cost, float) else 0.0)
            ledger.charge(PROVIDER, name, "bandwidth", usd, at)
            contract.billed_kb += contract.pull_gb * 1e6
            contract.pull_gb = 0.0

    def _credit_left(self, now: float) -> Decimal:
        if self._spent_before is None:
            return self._credit
        return self._credit - (
            self._world.ledger.provider_billed(PROVIDER, now) - self._spent_before
        )

    def _plan_next(self) -> None:
        """Find the next moment at which anything is due."""
        moments = list(self._dated())
        rate = self._world.ledger.provider_rate(PROVIDER)
        left = self._credit_left(self._at)
        if not self._is_broke and self._spent_before is not None and (rate > 0 or left <= 0):
            wait = left / rate * 3600 if rate > 0 else Decimal(0)
            moments.append(self._at + max(float(wait), 0.0))
        self._due = min(moments, default=None)

    def _dated(self) -> Iterator[float]:
        for contract in self.live.values():
            planned = contract.next_phase_at()
            if planned is not None:
                yield planned
            if contract.gone_at is not None:
                yield contract.gone_at
            if not contract.is_expired:
                yield contract.end_date


def _moved_to(phase: Phase, at: float) -> Phase:
    """The same state from another moment on."""
    return phase._replace(at=at)
