"""Destroy, and the proof of it: two complete listings, at least two seconds apart, that both lack the instance.

The answer to a DELETE proves nothing, and neither does a null detail, which healthy instances give too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.clock import Deadline
from flashtui.domain.errors import (
    AuthRejected,
    DestroyUnconfirmed,
    NotFound,
    ProviderError,
    RateLimited,
    ScopeRejected,
)
from flashtui.net.retry import backoff_s
from flashtui.providers.vast.auth import KEY_VARIABLE, NAME, key_of
from flashtui.providers.vast.handles import target_of
from flashtui.providers.vast.inventory import refuse_without_key

if TYPE_CHECKING:
    from flashtui.domain.run import JobHandle
    from flashtui.providers.base import Context
    from flashtui.providers.vast.api import VastApi
    from flashtui.providers.vast.handles import Target

PROOF_SPACING_S = 2.0
# The listing lags behind a create by a moment; an instance younger than this that was never asked about
# successfully may just not be listed yet.
_YOUNG_S = 30.0
# What was accepted may linger in listings; after this long it is asked for again.
_LINGER_S = 20.0
_FIRST_PAUSE_S = 4.5
_LEAST_PAUSE_S = 3.0
_LONGEST_PAUSE_S = 20.0
_EVIDENCE_LINES = 40


@dataclass(frozen=True, slots=True)
class Teardown:
    """What a teardown works with."""

    context: Context
    api: VastApi

    async def destroy(self, handle: JobHandle) -> None:
        """Delete the instance and return once it is proven gone; gone already is fine.

        Raises:
            DestroyUnconfirmed: asked, but nothing proves that it stopped billing.
            ProviderError: could not ask: the handle names nothing, or there is no key or network.
        """
        target = target_of(handle)
        refuse_without_key(self.context, f"destroy instance {target.instance_id}")
        await _Drive(target, self.context, self.api).to_proof()


class _Drive:
    """One drive to proof, with its deadline and its evidence."""

    def __init__(self, target: Target, context: Context, api: VastApi) -> None:
        self._target = target
        self._api = api
        self._clock = context.clock
        self._rng = context.rng
        self._within_s = context.confirm_within_s
        self._deadline = Deadline.after(context.clock, context.confirm_within_s)
        self._evidence: list[str] = []
        self._error: ProviderError | None = None
        key = key_of(context)
        # A listing under another account's key lacks everything.
        self._is_owner = not target.owner or (key is not None and key.fingerprint() == target.owner)
        self._accepted_at: float | None = None

    async def to_proof(self) -> None:
        """Ask and look, again and again, until the proof is there or the time is up."""
        tries = 0
        while True:
            tries += 1
            self._error = None
            if self._should_ask():
                await self._ask()
            if await self._is_absent() and await self._is_still_absent():
                return
            pause_s = self._pause_s(tries)
            if pause_s >= self._deadline.remaining_s(self._clock):
                raise self._unconfirmed()
            await self._clock.sleep(pause_s)

    def _should_ask(self) -> bool:
        if self._accepted_at is None:
            return True
        return self._clock.monotonic() - self._accepted_at >= _LINGER_S

    async def _ask(self) -> None:
        try:
            said = await self._api.destroy(self._target.instance_id)
        except NotFound as error:
            self._note(f"DELETE: {error}")
        except (AuthRejected, ScopeRejected) as error:
            raise self._refused(error) from error
        except ProviderError as error:
            self._error = error
            self._note(f"DELETE: {error}")
        else:
            self._accepted_at = self._clock.monotonic()
            self._is_owner = True
            self._note(said)

    async def _is_absent(self) -> bool:
        """Whether one complete listing of the owner lacks the instance."""
        try:
            listing = await self._api.instances()
        except (AuthRejected, ScopeRejected) as error:
            raise self._refused(error) from error
        except ProviderError as error:
            self._error = error
            self._note(f"listing: {error}")
            return False
        count = len(listing.rows)
        if listing.has(self._target.instance_id):
            self._is_owner = True
            self._note(f"a complete listing of {count} instances still has it")
            return False
        if listing.skipped:
            self._note(f"a listing with {listing.skipped} unreadable entries lacks it")
            return False
        if not self._is_owner:
            self._note("a listing lacks it, but it was rented with another key")
            return False
        self._note(f"a complete listing of {count} instances lacks it")
        return True

    async def _is_still_absent(self) -> bool:
        await self._clock.sleep(self._spacing_s())
        return await self._is_absent()

    def _spacing_s(self) -> float:
        launched_at = self._target.launched_at
        if self._accepted_at is not None or launched_at is None:
            return PROOF_SPACING_S
        age_s = (self._clock.now() - launched_at).total_seconds()
        return max(PROOF_SPACING_S, _YOUNG_S - age_s) if age_s >= 0 else PROOF_SPACING_S

    def _pause_s(self, tries: int) -> float:
        if self._error is None and self._accepted_at is not None:
            return _LEAST_PAUSE_S
        backoff = backoff_s(tries, self._rng, base_s=_FIRST_PAUSE_S, cap_s=_LONGEST_PAUSE_S)
        asked = self._error.retry_after_s if isinstance(self._error, RateLimited) else None
        return max(_LEAST_PAUSE_S, backoff, asked or 0.0)

    def _note(self, what: str) -> None:
        self._evidence.append(f"{self._clock.now():%H:%M:%S} {what}")
        del self._evidence[:-_EVIDENCE_LINES]

    def _refused(self, error: ProviderError) -> DestroyUnconfirmed:
        self._note(str(error))
        msg = (
            f"{NAME}: destroy of instance {self._target.instance_id} not confirmed: {error}; it may still bill; "
            f"set a {KEY_VARIABLE} that may list and destroy, or end it in the provider's console"
        )
        return self._typed(msg, error)

    def _unconfirmed(self) -> DestroyUnconfirmed:
        last = self._evidence[-1].partition(" ")[2] if self._evidence else "no answer"
        hint = (
            ""
            if self._is_owner
            else f"; it was rented with another key, set that one as {KEY_VARIABLE}"
        )
        msg = (
            f"{NAME}: destroy of instance {self._target.instance_id} not confirmed after {self._within_s:.0f} s "
            f"(last answer: {last}); it may still bill{hint}"
        )
        return self._typed(msg, self._error)

    def _typed(self, msg: str, error: ProviderError | None) -> DestroyUnconfirmed:
        unproven = DestroyUnconfirmed(
            msg,
            evidence=tuple(self._evidence),
            provider=NAME,
            status=error.status if error is not None else None,
            body=error.body if error is not None else "",
        )
        if error is not None:
            unproven.kind = error.kind
        return unproven
