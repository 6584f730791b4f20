"""Places that rent GPUs, behind one contract; installed ones are found by entry point.

``get_provider(name)`` is the one instance of the default registry; ``PROVIDER_NAMES`` lists what is installed, in the
order that breaks ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.providers.base import Provider

    PROVIDER_NAMES: tuple[str, ...]

__all__ = ["PROVIDER_NAMES", "available_providers", "configured_providers", "get_provider"]


def get_provider(name: str) -> Provider:
    """The one provider of that name (case and outer blanks do not matter).

    Raises:
        KeyError: not installed, or it cannot be loaded.
    """
    from flashtui.providers.registry import default_provider

    return default_provider(name)


def available_providers() -> tuple[str, ...]:
    """Names that an allocation can count on now: configured, or with a built-in price list to rank by."""
    from flashtui.providers.registry import default_registry

    return default_registry().available()


def configured_providers() -> list[Provider]:
    """The providers behind :func:`available_providers`."""
    return [get_provider(name) for name in available_providers()]


def __getattr__(name: str) -> object:
    if name == "PROVIDER_NAMES":
        from flashtui.providers.registry import default_registry

        return default_registry().names
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
