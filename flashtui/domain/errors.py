"""The exception tree.

::

    FlashtuiError
    ├─ ConfigError                 the person must change something
    ├─ StoreError                  our own disk
    ├─ NothingFits                 no class or offer fits the job (UnsupportedGpuError is its relative for names)
    └─ ProviderError               carries provider, operation, status, and a short safe body
       ├─ NotSent                  nothing reached them: safe to retry
       ├─ Rejected                 they said no: safe to try elsewhere
       │  ├─ AuthRejected          the key is wrong, missing or expired
       │  ├─ ScopeRejected         the key is right but may not do this
       │  ├─ RateLimited           too often; says how long to wait when they said so
       │  ├─ OfferTaken            the offer is gone
       │  ├─ NoCapacity            they have nothing of this kind now
       │  ├─ AccountProblem        credit, billing or spend limit: walking on to other offers is useless
       │  ├─ NotFound              an owner-authenticated "there is no such thing"
       │  └─ ApiGone               the route has been retired
       ├─ Unavailable              5xx or a proxy's page on a request that changes nothing: ask again later
       ├─ Ambiguous                it may have happened: reconcile, never repeat a create
       ├─ MalformedReply           they answered something else than documented
       ├─ IncompleteListing        a listing that proves nothing
       ├─ DestroyUnconfirmed       may still bill
       └─ SweepRefused             asked to sweep without knowing what is active
"""

from __future__ import annotations

from typing import Literal

ErrorKind = Literal[
    "no_key",
    "auth",
    "scope",
    "rate_limited",
    "timeout",
    "network",
    "malformed",
    "api_gone",
    "incomplete",
    "not_applicable",
]


class FlashtuiError(Exception):
    """Anything this program raises on purpose; ``str()`` of it is a sentence for a person."""


class ConfigError(FlashtuiError):
    """Something a person must change: a key, a file, a variable."""


class StoreError(FlashtuiError):
    """Our own file could not be read or written."""


class NothingFits(FlashtuiError):
    """No class or offer fits the job; the message says what would help."""


class ProviderError(FlashtuiError):
    """A provider did not do what was asked.

    Args:
        message: a whole sentence, without secrets.
        provider: registry name.
        operation: what was being done, e.g. ``"search offers"``.
        status: HTTP status, when there was an answer.
        body: a short, cleaned, redacted part of the answer, for the log and the audit row.
    """

    kind: ErrorKind = "network"

    def __init__(
        self,
        message: str,
        *,
        provider: str = "",
        operation: str = "",
        status: int | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.operation = operation
        self.status = status
        self.body = body


class NotSent(ProviderError):
    """Nothing reached the provider (no connection): safe to retry, even a create."""

    kind: ErrorKind = "network"


class Rejected(ProviderError):
    """The provider said no, in so many words."""

    kind: ErrorKind = "malformed"


class AuthRejected(Rejected):
    """The key is wrong, missing or expired."""

    kind: ErrorKind = "auth"


class ScopeRejected(Rejected):
    """The key is known but may not do this."""

    kind: ErrorKind = "scope"


class RateLimited(Rejected):
    """Asked too often.

    Args:
        retry_after_s: seconds the provider asked to wait; None when it did not say.
    """

    kind: ErrorKind = "rate_limited"

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        provider: str = "",
        operation: str = "",
        status: int | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message, provider=provider, operation=operation, status=status, body=body)
        self.retry_after_s = retry_after_s


class OfferTaken(Rejected):
    """The offer is no longer there to be rented."""


class NoCapacity(Rejected):
    """The provider has nothing of this kind now."""


class AccountProblem(Rejected):
    """Credit, billing or a spend limit stands in the way."""


class NotFound(Rejected):
    """No such thing, said to the owner's own key."""


class ApiGone(Rejected):
    """The route has been retired by the provider."""

    kind: ErrorKind = "api_gone"


class Unavailable(ProviderError):
    """A passing failure of the provider on a request that changes nothing."""

    kind: ErrorKind = "network"


class Ambiguous(ProviderError):
    """The request may have been carried out: find out, never repeat a create."""

    kind: ErrorKind = "timeout"


class MalformedReply(ProviderError):
    """An answer that is not what the provider documents."""

    kind: ErrorKind = "malformed"


class IncompleteListing(ProviderError):
    """A listing that stopped half-way; it proves nothing gone."""

    kind: ErrorKind = "incomplete"


class DestroyUnconfirmed(ProviderError):
    """A teardown was asked for, but nothing proves that billing has stopped.

    ``str()`` of it says what the last answer was; ``evidence`` is the list of what was asked and answered.
    """

    kind: ErrorKind = "incomplete"

    def __init__(
        self,
        message: str,
        *,
        evidence: tuple[str, ...] = (),
        provider: str = "",
        operation: str = "destroy",
        status: int | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message, provider=provider, operation=operation, status=status, body=body)
        self.evidence = evidence


class SweepRefused(ProviderError):
    """A sweep was asked for without a set of active runs: nothing was destroyed."""

    kind: ErrorKind = "incomplete"
