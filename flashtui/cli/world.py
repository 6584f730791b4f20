"""Opens the world a command runs in: the real one from the environment, or the demo."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flashtui.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from flashtui.bootstrap.tools import Tools
    from flashtui.settings import Settings

T = TypeVar("T")
F = TypeVar("F", bound="Callable[..., Any]")


def json_option(command: F) -> F:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(
        command
    )


def demo_option(command: F) -> F:
    """``--demo``, also accepted before the command."""
    return click.option(
        "--demo", is_flag=True, help="Simulated market and machines; no key, no network."
    )(command)


def provider_option(command: F) -> F:
    """``--provider``."""
    return click.option("--provider", metavar="P", help="Only this provider.")(command)


def gpu_option(command: F) -> F:
    """``--gpu``."""
    return click.option("--gpu", metavar="NAME", help="Only this GPU class (any spelling).")(
        command
    )


def root_options() -> Mapping[str, Any]:
    """Options given before the command."""
    options: Mapping[str, Any] = click.get_current_context().find_root().obj or {}
    return options


@contextmanager
def environment(*, demo: bool, own_process: bool = False) -> Iterator[Mapping[str, str]]:
    """The environment to load settings from; with ``demo``, the simulator's, which lives as long as the block."""
    options = root_options()
    if not (demo or options.get("demo")):
        yield dict(os.environ)
        return
    import asyncio

    from flashtui.bootstrap.demo import demo_world
    from flashtui.bootstrap.seeding import seed_store

    seed, speed = options.get("seed", 7), options.get("speed", 1.0)
    with demo_world(dict(os.environ), seed=seed, speed=speed, own_process=own_process) as world:
        if world.fresh:
            asyncio.run(seed_store(world.env, world.runs()))
        yield world.env


def settings_from(env: Mapping[str, str]) -> Settings:
    """Settings of this invocation, with what was given on the command line; warnings go to stderr once."""
    from flashtui.cli.output import warn
    from flashtui.settings import Settings

    options = root_options()
    settings = Settings.load(env).with_options(read_only=True if options.get("read_only") else None)
    for warning in settings.warnings:
        warn(f"flashtui: {warning}")
    return settings


def run_with_tools(work: Callable[[Tools], Awaitable[T]], *, demo: bool) -> T:
    """Open the world, run one coroutine in it, close it."""

    async def inside(settings: Settings, env: Mapping[str, str]) -> T:
        from flashtui.bootstrap.tools import open_tools

        async with open_tools(settings, env) as tools:
            return await work(tools)

    import asyncio

    with environment(demo=demo) as env:
        return asyncio.run(inside(settings_from(env), env))


def chosen_providers(tools: Tools, provider: str | None) -> tuple[str, ...]:
    """The providers a command asks: all that can be loaded, or the one that was named.

    One that cannot be loaded is named on stderr and does not stop the others.

    Raises:
        ConfigError: no such provider, or the one that was named cannot be loaded.
    """
    loaded = tuple(tools.registry.plugins())
    failures = tools.registry.failures
    if provider is None:
        from flashtui.cli.output import warn

        for why in failures.values():
            warn(f"flashtui: {why}")
        return loaded
    name = provider.strip().lower()
    if name in loaded:
        return (name,)
    known = ", ".join(tools.registry.names) or "none is installed"
    msg = failures.get(name, f"unknown provider {provider!r} (known: {known})")
    raise ConfigError(msg)


def gpu_class(name: str | None) -> str | None:
    """The canonical name of ``--gpu``; None stays None.

    Raises:
        click.BadParameter: not a managed class.
    """
    from flashtui.domain.gpu import UnsupportedGpuError, canonical_gpu

    try:
        return canonical_gpu(name) if name else None
    except UnsupportedGpuError as error:
        raise click.BadParameter(str(error), param_hint="--gpu") from error
