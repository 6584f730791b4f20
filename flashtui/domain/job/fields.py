"""Which keys a job has and what each may hold: checks that turn a TOML value into a field, or say what is due."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from flashtui.domain.catalogue import ALGORITHMS
from flashtui.domain.gpu import POLICY_NAMES, UnsupportedGpuError, canonical_gpu
from flashtui.domain.naming import is_path_safe
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Check = Callable[[Any], Any]

_OWNER_NAME = re.compile(r"[^/\s]+/[^/\s]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)|APIKEY")
_LARGEST_WHOLE = 2**53


class Unfit(ValueError):
    """A value that a field cannot hold; ``str()`` says what is due."""


def text(value: Any) -> str:
    """Any text, trimmed."""
    _require(isinstance(value, str), "must be a text")
    found: str = value.strip()
    return found


def one_of(*words: str) -> Check:
    """One of a few words, in any case."""

    def check(value: Any) -> str:
        word = text(value).lower()
        _require(word in words, f"must be one of {', '.join(words)}")
        return word

    return check


def flag(value: Any) -> bool:
    """A real boolean."""
    _require(isinstance(value, bool), "must be true or false")
    return bool(value)


def whole(least: int) -> Check:
    """A whole finite number, no boolean, at least ``least``."""

    def check(value: Any) -> int:
        is_whole = _is_number(value) and abs(value) <= _LARGEST_WHOLE and float(value).is_integer()
        _require(is_whole, "must be a whole number")
        _require(value >= least, f"must be at least {least}")
        return int(value)

    return check


def number(
    *, above: float | None = None, least: float = -math.inf, most: float = math.inf
) -> Check:
    """A finite number within bounds."""
    bounds = f"between {least:g} and {most:g}" if most < math.inf else f"at least {least:g}"

    def check(value: Any) -> float:
        _require(_is_number(value), "must be a number")
        _require(abs(value) <= _LARGEST_WHOLE, "must be a finite number")
        _require(above is None or value > above, f"must be greater than {above or 0:g}")
        _require(least <= value <= most, f"must be {bounds}")
        return float(value)

    return check


def owner_name(value: Any) -> str:
    """``owner/name`` with exactly one slash."""
    name = text(value)
    _require(_OWNER_NAME.fullmatch(name) is not None, 'must be "owner/name"')
    return name


def filled(value: Any) -> str:
    """A text that is not empty."""
    found = text(value)
    _require(bool(found), "must not be empty")
    return found


def provider_name(value: Any) -> str:
    """The name of a provider, or ``auto``; which there are is not known here."""
    return filled(value).lower()


def run_id(value: Any) -> str:
    """A run id that can be part of a path."""
    found = text(value)
    due = "must be 1 to 128 letters, digits, '.', '_' or '-', and begin with a letter or digit"
    _require(is_path_safe(found), due)
    return found


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts."""
    is_list = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    _require(is_list, "must be a list of texts")
    return tuple(value)


def stop_sequences(value: Any) -> tuple[str, ...]:
    """A list of texts, or one text; empty ones are dropped. Blanks count: they may be what stops."""
    return tuple(item for item in texts([value] if isinstance(value, str) else value) if item)


def seeds(value: Any) -> tuple[int, ...]:
    """A list of whole numbers that is not empty."""
    _require(isinstance(value, list | tuple) and bool(value), "must be a list with a number in it")
    return tuple(whole(-_LARGEST_WHOLE)(item) for item in value)


def table(value: Any) -> dict[str, Any]:
    """A table."""
    _require(isinstance(value, dict), "must be a table")
    return dict(value)


def environment_params(value: Any) -> dict[str, Any]:
    """Parameters of the environment, less those that would change which environment it is."""
    params = table(value)
    for refused in ("eval_env", "path"):
        _require(refused not in params, f"must not have {refused!r}")
    other = params.get("eval_env_id", "owner/name")
    is_name = isinstance(other, str) and _OWNER_NAME.fullmatch(other.strip()) is not None
    _require(is_name, 'eval_env_id must be "owner/name"')
    return params


def variables(value: Any) -> dict[str, str]:
    """Environment variables; a secret must be named (``"$NAME"``), not written down."""
    found = table(value)
    for name, content in found.items():
        shown = clean(name, 40)
        _require(_VARIABLE.fullmatch(name) is not None, f"{shown!r} cannot name a variable")
        _require(isinstance(content, str), f"{shown} must be a text")
        is_open_secret = bool(_SECRET_NAME.search(name.upper())) and not _is_reference(content)
        due = f'{shown} looks like a secret: write "${shown}" and set it in your own environment'
        _require(not is_open_secret, due)
    return found


def gpu_type(value: Any) -> str:
    """A managed class, in any accepted spelling, or a policy word."""
    name = text(value) or "auto"
    if name.lower() in POLICY_NAMES:
        return name.lower()
    try:
        return canonical_gpu(name)
    except UnsupportedGpuError as error:
        raise Unfit(str(error)) from error


def _require(holds: bool, due: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise Unfit(due)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_reference(content: str) -> bool:
    return content.startswith("$") and _VARIABLE.fullmatch(content[1:]) is not None


TOP: Mapping[str, Check] = {
    "model": filled,
    "algorithm": one_of(*ALGORITHMS),
    "model_policy": one_of("catalog", "allow"),
    "thinking": flag,
    "run_id": run_id,
}
ENVIRONMENT: Mapping[str, Check] = {
    "id": owner_name,
    "params": environment_params,
    "pip": texts,
}
TRAIN: Mapping[str, Check] = {
    "steps": whole(1),
    "epochs": whole(1),
    "lora_rank": whole(1),
    "lora_alpha": whole(1),
    "seeds": seeds,
    "init_from_adapter": text,
    "hf_repo": owner_name,
    "learning_rate": number(above=0),
    "batch_size": whole(1),
    "max_length": whole(1),
    "save_every": whole(1),
    "group_size": whole(1),
    "max_tokens": whole(1),
    "max_steps": whole(0),
    "max_examples": whole(0),
    "eval_every_steps": whole(0),
    "eval_examples": whole(0),
    "temperature": number(least=0),
    "kl_penalty_coef": number(least=0),
    "advantage_clip": number(least=0),
    "thinking_length_penalty_coef": number(least=0, most=1),
    "stop_sequences": stop_sequences,
}
GPU: Mapping[str, Check] = {
    "type": gpu_type,
    "provider": provider_name,
    "allow_unvalidated": flag,
    "disk_gb": whole(1),
    "max_wall_seconds": whole(60),
    "max_retries": whole(0),
    "network_volume": filled,
    "network_volume_gb": whole(1),
    "datacenter": filled,
    "min_vram_gb": whole(1),
}
JOB: Mapping[str, Check] = {
    "image": filled,
    "command": filled,
    "env": variables,
    "code": filled,
    "hours": number(above=0),
    "label": text,
}
TABLES: Mapping[str, Mapping[str, Check]] = {
    "environment": ENVIRONMENT,
    "train": TRAIN,
    "gpu": GPU,
    "job": JOB,
}
