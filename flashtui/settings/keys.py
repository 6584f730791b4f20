"""Where API keys are found: the environment, then ``config.toml``, then the official tools' own files (read only).

What is found is trimmed once, here; a value that cannot be a key is reported and not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashtui.domain.secret import Secret
from flashtui.domain.toml_source import TomlSyntaxError, parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flashtui.settings.configfile import ConfigFile

HF = "hf"
_BUILT_IN: Mapping[str, tuple[str, str]] = {
    "vast": ("VAST_API_KEY", "vast.api_key"),
    "runpod": ("RUNPOD_API_KEY", "runpod.api_key"),
    HF: ("HF_TOKEN", "hf.token"),
}
_LARGEST_KEY_FILE = 65_536


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """What was found for one provider.

    Attributes:
        keys: normalised; empty: none.
        source: where they come from, in words; empty: nowhere.
        problem: a sentence when something was found that cannot be used.
    """

    keys: tuple[Secret, ...] = ()
    source: str = ""
    problem: str = ""


def key_variable(provider: str) -> str:
    """The variable that holds a provider's key."""
    if provider in _BUILT_IN:
        return _BUILT_IN[provider][0]
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def find_keys(
    provider: str, env: Mapping[str, str], config: ConfigFile, config_path: Path, *, official: bool
) -> KeyFinding:
    """The first place that has something, and what it has.

    ``official`` says whether the official tools' files may be read: not in a simulated session.
    """
    variable = key_variable(provider)
    for source, raw in _places(provider, variable, env, official=official, config=config):
        parts = raw.split(",") if provider == "runpod" else [raw]
        values = [part.strip() for part in parts if part.strip()]
        if not values:
            continue
        if source == "config.toml" and not config.private:
            problem = (
                f"the key in {config_path} is not used: others may read the file "
                f"(chmod 600 {config_path}); or set {variable}"
            )
            return KeyFinding(source="config.toml", problem=problem)
        return _checked(values, source)
    return KeyFinding()


def _checked(values: list[str], source: str) -> KeyFinding:
    for value in values:
        if not (value.isascii() and value.isprintable()) or " " in value:
            tail = value[-4:] if len(value) >= 12 and value[-4:].isalnum() else ""
            ending = f" (it ends in ...{tail})" if tail.isascii() and tail else ""
            problem = f"the key from {source}{ending} has a character that is not allowed in a key"
            return KeyFinding(source=source, problem=problem)
    return KeyFinding(tuple(Secret(value) for value in dict.fromkeys(values)), source)


def _places(
    provider: str, variable: str, env: Mapping[str, str], *, official: bool, config: ConfigFile
) -> Iterator[tuple[str, str]]:
    yield variable, env.get(variable, "")
    yield "config.toml", _from_config(provider, config)
    if official and provider in _OFFICIAL:
        yield from _OFFICIAL[provider](env)


def _from_config(provider: str, config: ConfigFile) -> str:
    if provider in _BUILT_IN:
        value = config.values.get(_BUILT_IN[provider][1], "")
    else:
        value = config.plugins.get(provider, {}).get("api_key", "")
    return value if isinstance(value, str) else ""


def _vast_files(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    folder = _folder(env, "XDG_CONFIG_HOME", ".config")
    home = _home(env)
    paths = (
        [folder / "vastai" / name for name in ("vast_tfa_key", "vast_api_key")] if folder else []
    )
    yield from _whole(paths if home is None else [*paths, home / ".vast_api_key"])


def _hf_files(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if env.get("HF_TOKEN_PATH"):
        yield from _whole([Path(env["HF_TOKEN_PATH"])])
    cache = _folder(env, "XDG_CACHE_HOME", ".cache")
    if env.get("HF_HOME"):
        yield from _whole([Path(env["HF_HOME"]) / "token"])
    elif cache is not None:
        yield from _whole([cache / "huggingface" / "token"])


def _runpod_files(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    home = _home(env)
    if home is None:
        return
    path = home / ".runpod" / "config.toml"
    try:
        document = parse_toml(_read(path))
    except TomlSyntaxError:
        return  # the official tool's file is its own business; without it there is no key, which doctor says
    table = document.get("default")
    inner = table.get("api_key") if isinstance(table, dict) else None
    for value in (inner, document.get("apikey"), document.get("apiKey")):
        if isinstance(value, str):
            yield str(path), value


_OFFICIAL: Mapping[str, Callable[[Mapping[str, str]], Iterator[tuple[str, str]]]] = {
    "vast": _vast_files,
    "runpod": _runpod_files,
    HF: _hf_files,
}


def _whole(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        yield str(path), _read(path)


def _read(path: Path) -> str:
    """The file's text; empty when it is not there, not readable, or not a key file by its size."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_KEY_FILE + 1)
    except OSError:
        return ""
    return raw.decode("utf-8", "replace") if len(raw) <= _LARGEST_KEY_FILE else ""


def _home(env: Mapping[str, str]) -> Path | None:
    return Path(env["HOME"]) if env.get("HOME") else None


def _folder(env: Mapping[str, str], variable: str, below_home: str) -> Path | None:
    if env.get(variable):
        return Path(env[variable])
    home = _home(env)
    return None if home is None else home / below_home
