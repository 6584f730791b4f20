"""Which providers are installed, and how one gets at them: names, one, or all.

Providers arrive through the entry points ``flashtui.providers`` and are imported on use. One that cannot be
imported is reported and does not stop the others. Entry points exist only in an installed package.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from flashtui.domain.gpu import GPU_CLASSES
from flashtui.domain.money import HourlyRate
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flashtui.providers.base import Context, Plugin, Provider

GROUP = "flashtui.providers"
DEFAULT_PREFERENCE: tuple[str, ...] = ("runpod", "vast")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


class EntryPointLike(Protocol):
    """What the registry needs of an entry point."""

    @property
    def name(self) -> str:
        """Provider name."""
        ...

    @property
    def value(self) -> str:
        """Where it points, e.g. ``"package.module:plugin"``."""
        ...

    def load(self) -> Callable[[Context], Plugin]:
        """Import the plugin function."""
        ...


class Registry:
    """The installed providers of one session.

    Args:
        context_for: makes what a plugin is handed; called when the plugin is first used.
        entry_points: what is installed; None: ask the installation.
        preference: names in the order that breaks ties; others follow by name.
    """

    def __init__(
        self,
        context_for: Callable[[str], Context],
        *,
        entry_points: Iterable[EntryPointLike] | None = None,
        preference: tuple[str, ...] = DEFAULT_PREFERENCE,
    ) -> None:
        self._context_for = context_for
        self._given = None if entry_points is None else tuple(entry_points)
        self._preference = preference
        self._found: dict[str, EntryPointLike] | None = None
        self._plugins: dict[str, Plugin] = {}
        self._failures: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of everything installed, in preference order; imports no provider."""
        return tuple(self._entries())

    @property
    def failures(self) -> Mapping[str, str]:
        """Providers that could not be loaded so far, and why, in a sentence."""
        return dict(self._failures)

    def plugin(self, name: str) -> Plugin:
        """One provider with its optional sources, imported and built on first use, then the same one.

        Raises:
            KeyError: not installed, or it cannot be loaded; the message says which.
        """
        key = normal_name(name)
        if key in self._plugins:
            return self._plugins[key]
        if key not in self._failures:
            entry = self._entries().get(key)
            if entry is None:
                raise KeyError(self._unknown(name))
            self._load(key, entry)
        if key in self._failures:
            raise KeyError(self._failures[key])
        return self._plugins[key]

    def plugins(self) -> dict[str, Plugin]:
        """Every provider that loads, by name, in preference order; the others are in :attr:`failures`."""
        for name, entry in self._entries().items():
            if name not in self._plugins and name not in self._failures:
                self._load(name, entry)
        return {name: self._plugins[name] for name in self._entries() if name in self._plugins}

    def available(self) -> tuple[str, ...]:
        """Names that an allocation can count on now: configured, or with a built-in list to rank by."""
        return tuple(name for name, plugin in self.plugins().items() if _is_available(plugin))

    def _entries(self) -> dict[str, EntryPointLike]:
        if self._found is None:
            entries = _installed() if self._given is None else self._given
            self._found = self._sorted(entries)
        return self._found

    def _sorted(self, entries: Iterable[EntryPointLike]) -> dict[str, EntryPointLike]:
        found: dict[str, EntryPointLike] = {}
        # Ours first, so that another distribution cannot take the place of a built-in provider.
        for entry in sorted(entries, key=lambda e: (not e.value.startswith("flashtui."), e.value)):
            name = normal_name(entry.name)
            if not _NAME.fullmatch(name):
                shown = clean(entry.name, 40)
                self._failures[shown] = f"a provider cannot be named {shown!r} ({entry.value})"
            elif name not in found:
                found[name] = entry
            elif found[name].value != entry.value:
                key = f"{name} ({clean(entry.value, 80)})"
                self._failures[key] = f"{key} is not used: {found[name].value} has that name"
        rank = {name: place for place, name in enumerate(self._preference)}
        return dict(sorted(found.items(), key=lambda item: (rank.get(item[0], len(rank)), item[0])))

    def _load(self, name: str, entry: EntryPointLike) -> None:
        try:
            plugin = entry.load()(self._context_for(name))
        except Exception as error:  # noqa: BLE001 - foreign code: whatever it raises is a reason, not our end
            reason = clean(error, 160) or "no message"
            self._failures[name] = (
                f"provider {name} could not be loaded: {type(error).__name__}: {reason}"
            )
            return
        problem = _contract_problem(name, plugin)
        if problem:
            self._failures[name] = f"provider {name} could not be loaded: {problem}"
        else:
            self._plugins[name] = plugin

    def _unknown(self, name: str) -> str:
        known = ", ".join(self.names)
        if not known:
            return "no provider is installed: entry points exist only in an installed package (pip install .)"
        return f"unknown provider {clean(name, 40)!r} (known: {known})"


def normal_name(name: str) -> str:
    """A provider name as it is looked up: trimmed, lower case."""
    return (name or "").strip().lower()


def _installed() -> Iterable[EntryPointLike]:
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _contract_problem(name: str, plugin: object) -> str:
    from flashtui.providers.base import Plugin, Provider

    if not isinstance(plugin, Plugin):
        return f"it returned {type(plugin).__name__} where a Plugin is due"
    provider: object = plugin.provider
    if not isinstance(provider, Provider):
        missing = [n for n in _methods(Provider) if not hasattr(provider, n)]
        return f"its provider lacks {', '.join(missing)}"
    return "" if provider.name == name else f"it calls itself {clean(provider.name, 40)!r}"


def _methods(protocol: type) -> tuple[str, ...]:
    return tuple(name for name in vars(protocol) if not name.startswith("_"))


def _is_available(plugin: Plugin) -> bool:
    if plugin.provider.is_configured():
        return True
    return plugin.prices is not None and bool(plugin.prices.static_sheet().quotes)


# The last live rates that a price source saw in this process, by provider: the synchronous functions of the
# seeds' contract (``cheapest_gpu``, ``resolve_gpu_policy``) have nobody to be handed them by.
_LAST_RATES: dict[str, dict[str, HourlyRate]] = {}


def remember_rates(provider: str, rates: Mapping[str, HourlyRate]) -> None:
    """Keep the live rates (per card, by canonical class) of a refresh for :func:`cached_rates`."""
    _LAST_RATES[provider] = dict(rates)


def forget_rates() -> None:
    """Go back to the static tables."""
    _LAST_RATES.clear()


def cached_rates(provider: str) -> Mapping[str, HourlyRate]:
    """Rate of one card by class: the last live one where there was one, else the static one."""
    static = {g.name: HourlyRate.of(g.hourly_usd) for g in GPU_CLASSES if provider in g.native}
    return static | _LAST_RATES.get(provider, {})


def default_registry() -> Registry:
    """The registry of the process's own environment, for use as a library; built on first use.

    Raises:
        ConfigError: ``config.toml`` cannot be read.
    """
    from flashtui.providers.library import library

    return library().registry


def default_plugin(name: str) -> Plugin:
    """One plugin of the default registry; raises like :meth:`Registry.plugin`."""
    return default_registry().plugin(name)


def default_provider(name: str) -> Provider:
    """One provider of the default registry; raises like :meth:`Registry.plugin`."""
    return default_plugin(name).provider
