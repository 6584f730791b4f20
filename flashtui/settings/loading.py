"""Loading: walks the table of settings, environment before file before default, and finds the directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtui.domain.rules import Rules
from flashtui.settings.bounds import bounded, from_env
from flashtui.settings.configfile import ConfigFile, read_config
from flashtui.settings.specs import SPECS, SettingValue, Spec
from flashtui.settings.urls import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

_BASE_URLS = (
    "vast_url",
    "runpod_graphql_url",
    "runpod_rest_url",
    "runpod_jobs_url",
    "hf_endpoint",
)
_APP = "flashtui"


def load_values(env: Mapping[str, str], home: Path | None) -> tuple[dict[str, Any], ConfigFile]:
    """Every field of :class:`~flashtui.settings.Settings` but the keys, and the file they partly came from.

    Raises:
        ConfigError: the file cannot be read or understood.
    """
    values: dict[str, Any] = _paths(env, home)
    config = read_config(values["config_file"])
    warnings: list[str] = []
    sources: dict[str, str] = {}
    found: dict[str, SettingValue] = {}
    for spec in SPECS:
        found[spec.name], sources[spec.name] = _value(spec, env, config, warnings)
    values.update((name, value) for name, value in found.items() if "." not in name)
    values["rules"] = Rules(**_below("rules.", found))
    values["clock_url"] = _clock_url(env, values, warnings)
    values["skip_net"] = bool(env.get("FLASH_SKIP_NET"))
    values["plugins"] = {
        name: {key: value for key, value in table.items() if key != "api_key"}
        for name, table in config.plugins.items()
    }
    values["sources"] = sources
    values["warnings"] = tuple(warnings)
    return values, config


def _value(
    spec: Spec, env: Mapping[str, str], config: ConfigFile, warnings: list[str]
) -> tuple[SettingValue, str]:
    raw = env.get(spec.env, "") if spec.env else ""
    if raw.strip():
        return from_env(spec, raw, warnings), spec.env or ""
    if spec.key in config.values:
        return _from_file(spec, config.values[spec.key], warnings), "config.toml"
    return spec.default, "default"


def _from_file(spec: Spec, value: Any, warnings: list[str]) -> SettingValue:
    if spec.kind in {"number", "integer"}:
        return bounded(spec, spec.key, value, warnings)
    if spec.kind == "texts":
        return tuple(dict.fromkeys(item.strip().lower() for item in value if item.strip()))
    return value.strip() if isinstance(value, str) else bool(value)


def _below(prefix: str, found: Mapping[str, SettingValue]) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)
    }


def _clock_url(
    env: Mapping[str, str], values: Mapping[str, Any], warnings: list[str]
) -> str | None:
    """The simulator's clock, only while nothing real can be reached: a foreign clock would falsify every cost."""
    url = env.get("FLASHTUI_CLOCK_URL", "").strip()
    if not url:
        return None
    real = [name for name in _BASE_URLS if not is_loopback(values[name])]
    if not is_loopback(url):
        real.append("FLASHTUI_CLOCK_URL itself")
    if real:
        warnings.append(f"FLASHTUI_CLOCK_URL is ignored: not on loopback: {', '.join(real)}")
        return None
    return url


def _paths(env: Mapping[str, str], home: Path | None) -> dict[str, Path]:
    root = env.get("FLASHTUI_HOME", "").strip()
    one = Path(root).expanduser() if root else home
    if one is not None:
        one = one.absolute()
        return _files(config=one, state=one, log=one)
    import platformdirs

    return _files(
        config=Path(platformdirs.user_config_dir(_APP, appauthor=False)),
        state=Path(platformdirs.user_state_dir(_APP, appauthor=False)),
        log=Path(platformdirs.user_log_dir(_APP, appauthor=False)),
    )


def _files(*, config: Path, state: Path, log: Path) -> dict[str, Path]:
    return {
        "home": state,
        "state_dir": state,
        "config_file": config / "config.toml",
        "db_file": state / "flashtui.db",
        "log_file": log / "flashtui.log",
    }
