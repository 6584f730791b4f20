"""A run on Vast from renting to its end: the walk over offers, the one create, its unknown outcomes, cancel.

A create is sent once per offer, and the next offer is tried only when the last one was refused in so many words. Whatever was
made is handed over before anything else happens to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.errors import (
    Ambiguous,
    DestroyUnconfirmed,
    NoCapacity,
    NotFound,
    NotSent,
    OfferTaken,
    ProviderError,
    Rejected,
)
from flashtui.domain.gpu import canonical_gpu
from flashtui.domain.run import JobHandle
from flashtui.net.retry import backoff_s
from flashtui.providers.vast.auth import FINGERPRINT, NAME, key_of
from flashtui.providers.vast.handles import epoch, target_of
from flashtui.providers.vast.inventory import refuse_without_key
from flashtui.providers.vast.states import whole_rate
from flashtui.providers.vast.train import body_for, disk_of, rate_with_disk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from flashtui.domain.job import JobSpec
    from flashtui.domain.market import Offer
    from flashtui.domain.run import Observation, PollResult
    from flashtui.providers.base import Context
    from flashtui.providers.vast.api import Created, VastApi
    from flashtui.providers.vast.follow import Follower
    from flashtui.providers.vast.pricing import VastPrices
    from flashtui.providers.vast.teardown import Teardown
    from flashtui.providers.vast.wire import CreateBody, InstanceRow

MOST_OFFERS = 5
_NOT_SENT_TRIES = 3
# The listing is eventually consistent: seconds between the looks for a label after an unknown outcome.
_LOOKS_S = (2.0, 4.0, 8.0, 16.0, 30.0)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What one attempt rents with."""

    spec: JobSpec
    seed: int
    number: int
    body: CreateBody
    on_handle: Callable[[JobHandle], Awaitable[None]] | None


class Jobs:
    """Submits, follows and cancels."""

    def __init__(
        self,
        context: Context,
        api: VastApi,
        prices: VastPrices,
        follower: Follower,
        teardown: Teardown,
    ) -> None:
        self._context = context
        self._clock = context.clock
        self._api = api
        self._prices = prices
        self._follower = follower
        self._teardown = teardown

    async def submit(
        self,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None,
        on_handle: Callable[[JobHandle], Awaitable[None]] | None,
        attempt: int,
        offers: Sequence[Offer] | None,
        exclude_machine_ids: AbstractSet[str],
    ) -> PollResult:
        """Rent the first offer that can be had, hand over the handle, follow.

        Args:
            spec: the job.
            seed: of this run of it.
            log: gets every look.
            on_handle: keeps the handle; awaited before anything else happens.
            attempt: from 0; part of the label.
            offers: to be tried in this order; None: the market is asked for the job's class.
            exclude_machine_ids: machines that are not rented, however cheap.

        Raises:
            NoCapacity: nothing that the rules would rent could be had; nothing was rented.
            Rejected: refused for another reason (``AccountProblem``, ``AuthRejected`` …), and nothing rents.
            NotSent: no connection; nothing was rented.
            Ambiguous: an instance may have been rented, and none of its label is listed (yet).
            DestroyUnconfirmed: something was rented that cannot be used, and it is not proven gone.
        """
        refuse_without_key(self._context, "rent")
        trial = _Attempt(
            spec,
            seed,
            attempt,
            body_for(spec, seed, attempt, hf_token=self._context.hf_token),
            on_handle,
        )
        handle = await self._rented(trial, offers, frozenset(exclude_machine_ids))
        return await self._follower.follow(handle, spec, seed, log=log)

    async def cancel(self, handle: JobHandle) -> None:
        """Stop the instance; its storage goes on billing until it is destroyed. Not there is fine.

        Raises:
            ProviderError: could not ask, or refused.
        """
        target = target_of(handle)
        refuse_without_key(self._context, f"stop instance {target.instance_id}")
        try:
            await self._api.set_state(target.instance_id, "stopped")
        except NotFound:
            return

    async def _rented(
        self, trial: _Attempt, offers: Sequence[Offer] | None, excluded: frozenset[str]
    ) -> JobHandle:
        classes = _classes(offers, trial.spec)
        disk_gb = disk_of(trial.spec)
        chosen = offers or await self._prices.usable_offers(classes, disk_gb)
        tried: set[str] = set()
        machines = set(excluded)
        refusals: list[str] = []
        for is_refresh in (False, True):
            if is_refresh:
                chosen = await self._prices.usable_offers(classes, disk_gb)
            for offer in _worth_trying(chosen, tried, machines):
                tried.add(offer.offer_id)
                try:
                    return await self._rent(offer, trial)
                except (OfferTaken, NoCapacity, NotFound) as error:
                    if offer.machine_id is not None:
                        machines.add(offer.machine_id)
                    refusals.append(str(error))
        raise _nothing_left(len(tried), refusals)

    async def _rent(self, offer: Offer, trial: _Attempt) -> JobHandle:
        """Send the create for one offer, and settle whatever comes of it."""
        sent_at = self._clock.now()
        try:
            created = await self._create(int(offer.offer_id), trial.body)
        except Ambiguous as error:
            row = await self._reconciled(trial, error)
            handle = await self._adopted(row, offer, trial, sent_at)
        else:
            handle = self._handle(created.instance_id, offer, trial, sent_at)
            if created.complaint is not None:
                await self._take_back(handle, trial, created.complaint)
        await self._hand_over(handle, trial)
        return handle

    async def _create(self, offer_id: int, body: CreateBody) -> Created:
        for tries in range(1, _NOT_SENT_TRIES):
            try:
                return await self._api.create(offer_id, body)
            except NotSent:
                # Nothing has left this machine, so this is not a repeated create.
                await self._clock.sleep(backoff_s(tries, self._context.rng))
        return await self._api.create(offer_id, body)

    async def _reconciled(self, trial: _Attempt, lost: Ambiguous) -> InstanceRow:
        """The instance that a create with an unknown outcome made, found by its exact label.

        Raises:
            Ambiguous: it may still appear, or nobody can look.
        """
        label = trial.body.label
        trouble = ""
        looked = 0
        for pause_s in _LOOKS_S:
            await self._clock.sleep(pause_s)
            try:
                listing = await self._api.instances()
            except ProviderError as error:
                trouble = f"; the instances could not always be listed: {error}"
                continue
            looked += 1
            found = listing.labelled(label)
            if found:
                return found[0]
        fact = (
            f"none is listed under the label {label} after {looked} complete listings{trouble}; "
            "one may still appear and bill"
        )
        msg = f"{lost}; {fact}"
        raise Ambiguous(msg, provider=NAME, operation="rent", status=lost.status) from lost

    async def _adopted(
        self, row: InstanceRow, offer: Offer, trial: _Attempt, sent_at: datetime
    ) -> JobHandle:
        """The handle of an instance found by its label, with the provider's own start and rate.

        Raises:
            Rejected: its start is not told, so that its cost could not be known; it is proven gone.
        """
        rate = whole_rate(row)
        if row.start_date is None:
            handle = self._handle(row.id, offer, trial, sent_at)
            msg = (
                f"{NAME}: instance {row.id} was found by its label, but not since when it is rented"
            )
            await self._take_back(handle, trial, Rejected(msg, provider=NAME, operation="adopt"))
        handle = self._handle(row.id, offer, trial, row.start_date or sent_at)
        handle.data["machine_id"] = row.machine_id or handle.data["machine_id"]
        if rate is not None:
            handle.data["hourly_usd"] = float(rate)
        return handle

    def _handle(
        self, instance_id: int, offer: Offer, trial: _Attempt, launched_at: datetime
    ) -> JobHandle:
        rate = rate_with_disk(offer, disk_of(trial.spec))
        key = key_of(self._context)
        return JobHandle(
            NAME,
            {
                "instance_id": instance_id,
                "offer_id": int(offer.offer_id),
                "machine_id": offer.machine_id,
                "label": trial.body.label,
                "gpu": offer.gpu or offer.gpu_raw,
                "gpu_count": offer.num_gpus,
                "hourly_usd": float(rate) if rate is not None else None,
                "run_id": trial.spec.run_id,
                "seed": trial.seed,
                "attempt": trial.number,
                "started_ts": epoch(launched_at),
                "allocated_gpu": offer.gpu or offer.gpu_raw,
                FINGERPRINT: key.fingerprint() if key is not None else "",
            },
        )

    async def _hand_over(self, handle: JobHandle, trial: _Attempt) -> None:
        if trial.on_handle is None:
            return
        try:
            await trial.on_handle(JobHandle(handle.provider, dict(handle.data)))
        except Exception:
            # Nobody keeps the handle, so nobody would ever end what it names.
            await self._teardown.destroy(handle)
            raise

    async def _take_back(self, handle: JobHandle, trial: _Attempt, why: ProviderError) -> None:
        """Record what must not stay, destroy it with proof, and raise why.

        Raises:
            Rejected: it is proven gone.
            DestroyUnconfirmed: it may still bill.
        """
        await self._hand_over(handle, trial)
        instance_id = handle.data["instance_id"]
        try:
            await self._teardown.destroy(handle)
        except DestroyUnconfirmed as error:
            msg = f"{NAME}: rented, but of no use ({why}); then: {error}"
            unproven = DestroyUnconfirmed(
                msg, evidence=error.evidence, provider=NAME, status=error.status, body=error.body
            )
            unproven.kind = error.kind
            raise unproven from error
        msg = f"{NAME}: instance {instance_id} was rented but of no use ({why}); it is proven gone"
        raise Rejected(
            msg, provider=NAME, operation="rent", status=why.status, body=why.body
        ) from why


def _classes(offers: Sequence[Offer] | None, spec: JobSpec) -> frozenset[str]:
    named = frozenset(offer.gpu for offer in offers or () if offer.gpu is not None)
    return named or frozenset({canonical_gpu(spec.gpu.type)})


def _worth_trying(
    offers: Iterable[Offer], tried: AbstractSet[str], machines: AbstractSet[str]
) -> list[Offer]:
    """The first few offers that the rules allow, on machines that have not been tried."""
    fit = [
        offer
        for offer in offers
        if offer.provider == NAME
        and offer.usable
        and offer.offer_id not in tried
        and offer.machine_id not in machines
    ]
    return fit[:MOST_OFFERS]


def _nothing_left(tried: int, refusals: Sequence[str]) -> NoCapacity:
    last = f"; the last answer: {refusals[-1]}" if refusals else ""
    msg = f"{NAME}: none of {tried} offers could be rented, and the market has no other{last}; try another class, or later"
    return NoCapacity(msg, provider=NAME, operation="rent")
