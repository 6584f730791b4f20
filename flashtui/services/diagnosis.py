"""What is configured, reachable and wrong: the checks behind ``flashtui doctor``."""

from __future__ import annotations

import asyncio
import stat
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui import __version__
from flashtui.domain.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from flashtui.domain.clock import Clock
    from flashtui.providers.base import Plugin
    from flashtui.providers.registry import Registry
    from flashtui.settings import Settings

_DEADLINE_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One check.

    Attributes:
        message: the fact, in a sentence.
        fix: what to do about it; empty when there is nothing to do.
    """

    check: str
    ok: bool
    message: str
    fix: str = ""


async def diagnose(settings: Settings, registry: Registry, clock: Clock) -> list[Finding]:
    """Every check; providers are asked all at once, each within a deadline."""
    findings = [_versions(), *_files(settings), *_settings(settings)]
    plugins = registry.plugins()
    findings += [
        Finding(f"plugin {n}", ok=False, message=why, fix="reinstall it, or remove it")
        for n, why in registry.failures.items()
    ]
    if not plugins:
        findings.append(
            Finding(
                "providers",
                ok=False,
                message="no provider is installed",
                fix="install flashtui (pip install .)",
            )
        )
    for found in await asyncio.gather(
        *(_provider(n, p, settings, clock) for n, p in plugins.items())
    ):
        findings += found
    return findings


def _versions() -> Finding:
    python = ".".join(str(part) for part in sys.version_info[:3])
    return Finding(
        "version", ok=True, message=f"flashtui {__version__} on Python {python}, {sys.platform}"
    )


def _files(settings: Settings) -> list[Finding]:
    config = settings.config_file
    told = f"{config} is read" if config.exists() else f"none at {config}; defaults are used"
    return [
        Finding("configuration", ok=True, message=told),
        _private(settings.state_dir, "state directory"),
        _private(settings.db_file, "store"),
    ]


def _private(path: Path, check: str) -> Finding:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return Finding(
            check,
            ok=True,
            message=f"{path} does not exist yet; it is made when something is recorded",
        )
    except OSError as error:
        return Finding(
            check,
            ok=False,
            message=f"{path} cannot be read: {error.strerror}",
            fix=f"check who owns {path.parent}",
        )
    if mode & 0o077:
        wanted = "700" if path.is_dir() else "600"
        return Finding(
            check,
            ok=False,
            message=f"{path} can be read by others (mode {mode:o})",
            fix=f"chmod {wanted} {path}",
        )
    return Finding(check, ok=True, message=f"{path} (mode {mode:o})")


def _settings(settings: Settings) -> list[Finding]:
    findings = [
        Finding("setting", ok=False, message=warning, fix="correct or unset it")
        for warning in settings.warnings
    ]
    if settings.skip_net:
        findings.append(
            Finding(
                "network",
                ok=True,
                message="offline: FLASH_SKIP_NET is set; RunPod from the built-in list, Vast unavailable",
            )
        )
    if settings.simulated:
        findings.append(
            Finding(
                "simulated",
                ok=True,
                message=f"prices, machines and time come from the simulator at {settings.clock_url}",
            )
        )
    return findings


async def _provider(name: str, plugin: Plugin, settings: Settings, clock: Clock) -> list[Finding]:
    findings = [_key(name, settings)]
    findings += [
        Finding(
            f"{name} preflight", ok=False, message=problem, fix="see `flashtui doctor --config`"
        )
        for problem in _problems(name, plugin, settings)
    ]
    if settings.skip_net:
        return findings
    if plugin.prices is not None:
        findings.append(await _reach(f"{name} prices", plugin.prices.sheet(), clock))
    if plugin.provider.is_configured():
        if plugin.inventory is not None:
            findings.append(await _reach(f"{name} machines", plugin.inventory.inventory(), clock))
        if plugin.account is not None:
            findings.append(await _reach(f"{name} account", plugin.account.account(), clock))
    return findings


def _problems(name: str, plugin: Plugin, settings: Settings) -> list[str]:
    """Preflight sentences of a provider that somebody has begun to configure; one provider is enough."""
    if not settings.api_keys(name):
        return []
    return plugin.provider.preflight(require_hf=False)


def _key(name: str, settings: Settings) -> Finding:
    problem = settings.key_problem(name)
    if problem:
        return Finding(f"{name} key", ok=False, message=problem, fix="correct the key")
    keys = settings.api_keys(name)
    if not keys:
        from flashtui.settings.keys import key_variable

        others = "prices can still be read" if not settings.skip_net else "nothing is asked"
        return Finding(
            f"{name} key",
            ok=True,
            message=f"no key (set {key_variable(name)} to see and manage what you rent); {others}",
        )
    tails = ", ".join(f"...{key.tail()}" if key.tail() else "(short)" for key in keys)
    return Finding(
        f"{name} key", ok=True, message=f"from {settings.key_source(name)}, ending {tails}"
    )


async def _reach(check: str, question: Awaitable[object], clock: Clock) -> Finding:
    started = clock.monotonic()
    try:
        async with asyncio.timeout(_DEADLINE_S):
            await question
    except TimeoutError:
        return Finding(
            check,
            ok=False,
            message=f"no answer within {_DEADLINE_S:.0f} s",
            fix="check the network and proxy variables",
        )
    except ProviderError as error:
        return Finding(
            check,
            ok=False,
            message=str(error),
            fix=_FIXES.get(error.kind, "try again; the provider may be down"),
        )
    return Finding(check, ok=True, message=f"answered in {clock.monotonic() - started:.1f} s")


_FIXES = {
    "auth": "make a new key in the provider's console and set it",
    "scope": "give the key the missing permission, or live without this part",
    "network": "check the network, proxy variables and the base URL",
    "timeout": "check the network and proxy variables",
    "api_gone": "this flashtui is too old for the provider; upgrade",
    "rate_limited": "wait; something else uses the same key or address",
}
