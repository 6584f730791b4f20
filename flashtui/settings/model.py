"""The settings of one session as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flashtui.settings.keys import HF, KeyFinding, find_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from flashtui.domain.rules import Rules
    from flashtui.domain.secret import Secret


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a person has set, without keys.

    Attributes:
        home: the one directory of this program's files, or the state directory where the platform has several.
        clock_url: where time comes from in a simulated session; None: the machine's clock.
        skip_net: offline by ``FLASH_SKIP_NET``.
        theme: None: chosen for the terminal.
        warnings: a sentence for every value that was replaced.
        sources: setting name to where its value came from (``"default"``, a variable, the file, ``"command line"``).
    """

    home: Path
    state_dir: Path
    config_file: Path
    db_file: Path
    log_file: Path
    vast_url: str
    runpod_graphql_url: str
    runpod_rest_url: str
    runpod_jobs_url: str
    hf_endpoint: str
    clock_url: str | None
    skip_net: bool
    vram_headroom: float
    poll_seconds: float
    db_timeout_s: float
    theme: str | None
    ascii: bool
    no_color: bool
    read_only: bool
    mouse: bool
    preference: tuple[str, ...]
    rules: Rules
    warnings: tuple[str, ...]
    sources: Mapping[str, str]
    plugins: Mapping[str, Mapping[str, Any]] = field(repr=False)
    _find: Callable[[str], KeyFinding] = field(repr=False, compare=False)

    @classmethod
    def load(cls, env: Mapping[str, str], *, home: Path | None = None) -> Settings:
        """Read environment and file.

        Args:
            env: the environment; the caller's own, or a made-up one.
            home: stands for ``FLASHTUI_HOME`` when that is not set.

        Raises:
            ConfigError: ``config.toml`` cannot be read or understood; every problem is named with its line.
        """
        from flashtui.settings.loading import load_values

        values, config = load_values(env, home)
        path: Path = values["config_file"]
        official = values["clock_url"] is None
        frozen = dict(env)

        def find(provider: str) -> KeyFinding:
            return find_keys(provider, frozen, config, path, official=official)

        return cls(**values, _find=find)

    @property
    def simulated(self) -> bool:
        """Whether time, prices and machines are a simulator's."""
        return self.clock_url is not None

    def api_keys(self, provider: str) -> tuple[Secret, ...]:
        """The provider's keys, normalised; empty: none that can be used."""
        return self._find(provider).keys

    def key_source(self, provider: str) -> str:
        """Where the keys come from: a variable, ``config.toml`` or a path; empty: nowhere."""
        return self._find(provider).source

    def key_problem(self, provider: str) -> str:
        """A sentence when something was found that cannot be a key; empty otherwise."""
        return self._find(provider).problem

    def hf_token(self) -> Secret | None:
        """The token for the hub; None: none."""
        found = self._find(HF).keys
        return found[0] if found else None

    def source(self, name: str) -> str:
        """Where a setting's value came from."""
        return self.sources.get(name, "default")

    def with_options(self, **options: Any) -> Settings:
        """The same with values from the command line; None means that an option was not given."""
        given = {name: value for name, value in options.items() if value is not None}
        sources = {**self.sources, **dict.fromkeys(given, "command line")}
        return replace(self, **given, sources=sources)
