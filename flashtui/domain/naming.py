"""Names by which rented things are found again: run ids, Vast labels, RunPod endpoint names, and whose they are.

Ownership is decided at the boundary of a name, never by a bare prefix: run ``flash-100`` does not own what belongs to
``flash-1000``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flashtui.domain.gpu import gpu_short

if TYPE_CHECKING:
    from datetime import datetime

PREFIX = "flash-"
_PATH_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]")
_LONGEST_SUFFIX = 24
# A provider that cuts longer labels would cut the part that says whose they are.
_LONGEST_LABEL_PREFIX = 48
_HASH_LENGTH = 8
_LABEL = re.compile(r"(?P<prefix>.+)-s(?P<seed>\d+)-a(?P<attempt>\d+)")
# RunPod shows an endpoint with what its tools put around the name.
_LIVE = "live-"
_FLASH_BOOT = "-fb"
_ENDPOINT = re.compile(r"flash-(?P<short>[a-z0-9]+)-(?P<suffix>[a-z0-9]+)")


class Bits(Protocol):
    """A source of random bits, as ``random.Random`` is."""

    def getrandbits(self, k: int, /) -> int:
        """``k`` random bits as a whole number."""
        ...


@dataclass(frozen=True, slots=True)
class Label:
    """A Vast label taken apart."""

    prefix: str
    seed: int
    attempt: int


def new_run_id(now: datetime, rng: Bits) -> str:
    """A fresh run id: ``flash-<unix seconds>-<8 hex digits>``."""
    return f"{PREFIX}{int(now.timestamp())}-{rng.getrandbits(32):08x}"


def is_path_safe(run_id: str) -> bool:
    """Whether a run id can be part of a path and of a name: 1 to 128 letters, digits, ``.``, ``_``, ``-``."""
    return _PATH_SAFE.fullmatch(run_id) is not None


def run_suffix(run_id: str, attempt: int = 0) -> str:
    """What a RunPod endpoint name carries of a run: readable end, hash of the whole, attempt from the second on."""
    readable = _NOT_ALPHANUMERIC.sub("", run_id.lower())[-12:]
    again = f"r{attempt}" if attempt > 0 else ""
    return f"{readable}{_short_hash(run_id)}{again}"[:_LONGEST_SUFFIX]


def endpoint_name(gpu: str, run_id: str, attempt: int = 0) -> str:
    """Name of the RunPod endpoint of one attempt; ``gpu`` is the class that is rented, in any accepted spelling.

    Raises:
        UnsupportedGpuError: not a managed class.
    """
    return f"{PREFIX}{gpu_short(gpu)}-{run_suffix(run_id, attempt)}"


def canonical_endpoint(name: str) -> str:
    """The name an endpoint was given, without what RunPod's own tools put before and after it."""
    return name.removeprefix(_LIVE).removesuffix(_FLASH_BOOT).rstrip()


def endpoint_owned_by(name: str, run_id: str) -> bool:
    """Whether an endpoint, under the name RunPod shows, is of this run (any class, any attempt)."""
    found = _ENDPOINT.fullmatch(canonical_endpoint(name))
    if found is None or not run_id:
        return False
    first = re.escape(run_suffix(run_id))
    return re.fullmatch(rf"{first}(r\d+)?", found["suffix"]) is not None


def label_prefix(run_id: str) -> str:
    """What every Vast label of a run begins with: the run id after ``flash-``, cut to 48 characters with a hash."""
    prefix = run_id if run_id.startswith(PREFIX) else f"{PREFIX}{run_id}"
    if len(prefix) <= _LONGEST_LABEL_PREFIX:
        return prefix
    return f"{prefix[: _LONGEST_LABEL_PREFIX - _HASH_LENGTH - 1]}-{_short_hash(run_id)}"


def vast_label(run_id: str, seed: int, attempt: int) -> str:
    """The label of one attempt's instance."""
    return f"{label_prefix(run_id)}-s{seed}-a{attempt}"


def parse_label(label: str) -> Label | None:
    """A label of our making, taken apart; None for any other text."""
    found = _LABEL.fullmatch(label)
    if found is None or not found["prefix"].startswith(PREFIX):
        return None
    return Label(found["prefix"], int(found["seed"]), int(found["attempt"]))


def label_owned_by(label: str, run_id: str) -> bool:
    """Whether a label is the run's own: its prefix alone, or the prefix with seed and attempt."""
    if not run_id:
        return False
    prefix = label_prefix(run_id)
    parsed = parse_label(label)
    return label == prefix or (parsed is not None and parsed.prefix == prefix)


def is_flash_like(name: str) -> bool:
    """Whether a label or endpoint name looks like one of this program or of its relatives."""
    return canonical_endpoint(name).startswith(PREFIX)


def _short_hash(text: str) -> str:
    digest = hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest()[:_HASH_LENGTH]
