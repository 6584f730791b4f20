"""``config.toml``: read whole or refused in one sentence per problem; never written, never repaired."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import ConfigError
from flashtui.domain.text import clean
from flashtui.domain.toml_source import TomlSyntaxError, key_lines, line_of, parse_toml
from flashtui.settings.specs import PLUGIN_TABLE, SECRET_KEYS, SPECS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_WANTED: Mapping[Kind, str] = {
    "number": "a number",
    "integer": "a whole number",
    "flag": "true or false",
    "text": "a text",
    "texts": "a list of texts",
}
_KINDS: Mapping[str, Kind] = {spec.key: spec.kind for spec in SPECS} | dict.fromkeys(
    SECRET_KEYS, "text"
)
_TABLES = frozenset(key.partition(".")[0] for key in _KINDS if "." in key)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What the file says.

    Attributes:
        values: by dotted key, secrets among them.
        plugins: tables of providers that are not built in.
        private: nobody but the owner may read the file.
    """

    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    private: bool = True


def read_config(path: Path) -> ConfigFile:
    """The file's values; no file is an empty one.

    Raises:
        ConfigError: it cannot be read or has keys or values that are not known; every problem is named.
    """
    try:
        raw = path.read_bytes()
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ConfigFile()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise ConfigError(msg) from error
    text = _text(path, raw)
    document = _document(path, text)
    problems = list(_problems(document))
    if problems:
        lines = key_lines(text)
        msg = "\n".join(_sentence(path, lines, key, what) for key, what in problems)
        raise ConfigError(msg)
    flat = dict(_flat(document))
    return ConfigFile(flat, document.get(PLUGIN_TABLE, {}), private=mode & 0o077 == 0)


def _text(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        msg = f"{path} line {line}: not UTF-8 text; write it anew or remove it"
        raise ConfigError(msg) from error


def _document(path: Path, text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except TomlSyntaxError as error:
        # Only the position: the reason may quote the line, and the line may hold a key.
        reason = clean(error).partition(":")[0]
        msg = f"{path} line {error.line}, column {error.column}: {reason}"
        raise ConfigError(msg) from error


def _sentence(path: Path, lines: dict[str, int], key: str, what: str) -> str:
    line = line_of(lines, key)
    place = f"{path} line {line}" if line is not None else str(path)
    return f"{place}: {clean(key, 80)} {what}"


def _problems(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in document.items():
        if key == PLUGIN_TABLE:
            yield from _plugin_problems(value)
        elif key not in _TABLES:
            yield from _value_problems(key, value)
        elif not isinstance(value, dict):
            yield key, f"must be a table ([{key}]), not {_kind_of(value)}"
        else:
            for name, inner in value.items():
                yield from _value_problems(f"{key}.{name}", inner)


def _plugin_problems(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield PLUGIN_TABLE, f"must hold tables ([{PLUGIN_TABLE}.NAME]), not {_kind_of(value)}"
        return
    for name, table in value.items():
        if not isinstance(table, dict):
            yield f"{PLUGIN_TABLE}.{name}", f"must be a table, not {_kind_of(table)}"


def _value_problems(key: str, value: object) -> Iterator[tuple[str, str]]:
    kind = _KINDS.get(key)
    if kind is None:
        yield key, "is not a known setting (`flashtui doctor --config` lists them)"
    elif not _fits(kind, value):
        yield key, f"must be {_WANTED[kind]}, not {_kind_of(value)}"


def _fits(kind: Kind, value: object) -> bool:
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "text":
        return isinstance(value, str)
    if kind == "texts":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind_of(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    return {**names, list: "a list", dict: "a table"}.get(type(value), "a date or time")


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if key in _TABLES:
            yield from ((f"{key}.{name}", inner) for name, inner in value.items())
        elif key != PLUGIN_TABLE:
            yield key, value
