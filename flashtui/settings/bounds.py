"""Values from variables and from the file, checked: a senseless one is replaced, with a sentence that says by what."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from flashtui.domain.text import clean
from flashtui.settings.specs import DEFAULT_HEADROOM, SettingValue, Spec

if TYPE_CHECKING:
    from collections.abc import Mapping

_ON = frozenset({"1", "true", "yes", "on", "y"})
_OFF = frozenset({"0", "false", "no", "off", "n"})
_GREATEST_HEADROOM = 10.0


def vram_headroom(env: Mapping[str, str] | None = None) -> float:
    """The sizing factor of ``FLASH_VRAM_HEADROOM``; 1.1 when unset or senseless.

    Args:
        env: environment to read; None: that of the process.
    """
    raw = (os.environ if env is None else env).get("FLASH_VRAM_HEADROOM", "")
    value = number(raw)
    return value if value is not None and is_headroom(value) else DEFAULT_HEADROOM


def is_headroom(value: float) -> bool:
    """Whether a number can be a sizing factor."""
    return 0.0 < value <= _GREATEST_HEADROOM


def number(raw: object) -> float | None:
    """A finite number from text or from TOML; None when it is none (a boolean is not a number)."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def from_env(spec: Spec, raw: str, warnings: list[str]) -> SettingValue:
    """The value of a variable; warns and falls back when it makes no sense."""
    name = spec.env or spec.key
    if spec.kind == "flag":
        return _flag(spec, name, raw, warnings)
    if spec.kind in {"number", "integer"}:
        return bounded(spec, name, raw.strip(), warnings)
    return raw.strip()


def bounded(spec: Spec, name: str, raw: object, warnings: list[str]) -> float | int:
    """A number within the bounds of its setting; a senseless one becomes the default, a far one the limit."""
    value = number(raw)
    default = spec.default
    assert isinstance(default, float | int)  # noqa: S101 - a fault in the table, not in the input
    if value is None or (spec.name == "vram_headroom" and not is_headroom(value)):
        warnings.append(f"{name}={clean(raw, 40)!r} is not usable; using the default {default:g}")
        return default
    limited = min(max(value, _or(spec.low, value)), _or(spec.high, value))
    if limited != value:
        warnings.append(f"{name}={clean(raw, 40)!r} is out of bounds; using the limit {limited:g}")
    return int(limited) if spec.kind == "integer" else limited


def _or(limit: float | None, value: float) -> float:
    return value if limit is None else limit


def _flag(spec: Spec, name: str, raw: str, warnings: list[str]) -> bool:
    if name == "NO_COLOR":
        return True  # any value but an empty one, by its own convention
    word = raw.strip().lower()
    if word in _OFF:
        return False
    if word not in _ON:
        warnings.append(f"{name}={clean(raw, 40)!r} is neither on nor off; taken as on")
    return True
