"""API keys of RunPod: which one to use for what, whose resource is whose, and what each key may do as far as answers told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from flashtui.domain.errors import AuthRejected, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashtui.domain.secret import Secret

VARIABLE = "RUNPOD_API_KEY"
FINGERPRINT = "key_fingerprint"
"""Name of the owner's fingerprint in a handle's data."""


class Access(StrEnum):
    """What a key may do, learnt from answers."""

    UNKNOWN = "unknown"
    BAD = "bad"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Key:
    """One account's key.

    Attributes:
        fingerprint: stays the same for the same key and cannot be turned back into it; kept in handles.
    """

    secret: Secret
    fingerprint: str

    @property
    def name(self) -> str:
        """How to name it to a person: its last four characters, or part of its fingerprint."""
        tail = self.secret.tail()
        return f"...{tail}" if tail else f"#{self.fingerprint[:4]}"


class KeyRing:
    """The keys of ``RUNPOD_API_KEY`` (a comma list), in order; an empty ring is no key.

    Remembers in this process which key showed which resource, for handles that do not say it themselves.
    """

    def __init__(self, secrets: Iterable[Secret]) -> None:
        self.keys = tuple(Key(secret, secret.fingerprint()) for secret in secrets)
        self._access: dict[str, Access] = {}
        self._owners: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.keys)

    @property
    def first(self) -> Key:
        """The key for prices and the account.

        Raises:
            AuthRejected: there is none.
        """
        if not self.keys:
            raise no_key()
        return self.keys[0]

    def named(self, key: Key) -> str:
        """`` ...abcd`` for messages where there are several keys; empty where there is one."""
        return f" {key.name}" if len(self.keys) > 1 else ""

    def owner_of(self, data: Mapping[str, object], resource_id: str) -> str | None:
        """Fingerprint of the key that a resource belongs to; None: not known."""
        told = data.get(FINGERPRINT)
        return told if isinstance(told, str) and told else self._owners.get(resource_id)

    def for_resource(self, data: Mapping[str, object], resource_id: str) -> tuple[Key, ...]:
        """The owner's key; every key where the owner is not known.

        Raises:
            AuthRejected: the owner's key is not among those that are set.
        """
        if not self.keys:
            raise no_key()
        owner = self.owner_of(data, resource_id)
        if owner is None:
            return self.keys
        found = tuple(key for key in self.keys if key.fingerprint == owner)
        if not found:
            msg = (
                f"runpod: {resource_id} belongs to an API key (#{owner[:4]}) that is not set any more, so it cannot be "
                f"checked or ended from here; put that key back into {VARIABLE}"
            )
            raise AuthRejected(msg, provider="runpod", operation="choose key")
        return found

    def saw(self, key: Key, resource_ids: Iterable[str]) -> None:
        """Note that a key's listing shows these."""
        for resource_id in resource_ids:
            self._owners.setdefault(resource_id, key.fingerprint)

    def access(self, key: Key) -> Access:
        """What the key is known to be good for."""
        return self._access.get(key.fingerprint, Access.UNKNOWN)

    def worked(self, key: Key, *, writing: bool) -> None:
        """Note that a request was accepted."""
        if writing:
            self._access[key.fingerprint] = Access.WRITE
        elif self.access(key) is Access.BAD:
            del self._access[key.fingerprint]

    def refused(self, key: Key, error: ProviderError, *, writing: bool) -> None:
        """Note that a request was refused, where that says something about the key."""
        if error.kind == "auth":
            self._access[key.fingerprint] = Access.BAD
        elif error.kind == "scope" and writing:
            self._access[key.fingerprint] = Access.READ


def no_key() -> AuthRejected:
    """The error for having no key at all; its kind says so."""
    error = AuthRejected(
        f"runpod: no API key; set {VARIABLE} (several keys: separated by commas)",
        provider="runpod",
        operation="choose key",
    )
    error.kind = "no_key"
    return error
