"""Names that carry ownership: run ids, Vast labels, RunPod endpoint names, and whose a name is."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from flashtui.domain.gpu import gpu_short

if TYPE_CHECKING:
    from datetime import datetime
    from random import Random  # noqa: TID251 - the type only

_PREFIX = "flash-"
_SUFFIX_LENGTH = 24
_TAIL_LENGTH = 12
_DIGEST_LENGTH = 8
_LONGEST_PREFIX = 48
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LABEL_END = re.compile(r"-s\d+-a\d+\Z")


def new_run_id(now: datetime, rng: Random) -> str:
    """``flash-<unix seconds>-<8 hex digits>``."""
    return f"{_PREFIX}{int(now.timestamp())}-{rng.getrandbits(32):08x}"


def is_run_id(text: str) -> bool:
    """Whether a text can be a run id: safe as a path and in a label."""
    return _RUN_ID.fullmatch(text) is not None


def _digest(text: str) -> str:
    # A short name, not a signature: the seeds' names have to come out the same.
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:_DIGEST_LENGTH]


def run_suffix(run_id: str, attempt: int = 0) -> str:
    """The part of an endpoint name that belongs to one attempt of one run."""
    tail = "".join(c for c in run_id.lower() if c.isascii() and c.isalnum())[-_TAIL_LENGTH:]
    retry = f"r{attempt}" if attempt > 0 else ""
    return f"{tail}{_digest(run_id)}{retry}"[:_SUFFIX_LENGTH]


def endpoint_name(gpu: str, run_id: str, attempt: int = 0) -> str:
    """RunPod endpoint name of an attempt on the class that is really rented."""
    return f"{_PREFIX}{gpu_short(gpu)}-{run_suffix(run_id, attempt)}"


def canonical_endpoint_name(name: str) -> str:
    """A name as we gave it: without the SDK's ``live-`` in front and ``-fb`` behind."""
    bare = name.strip().removeprefix("live-")
    for ending in (" -fb", "-fb"):
        bare = bare.removesuffix(ending)
    return bare


def label_prefix(run_id: str) -> str:
    """What every label of a run begins with; bounded, since a provider that cuts names breaks ownership."""
    prefix = run_id if run_id.startswith(_PREFIX) else f"{_PREFIX}{run_id}"
    if len(prefix) <= _LONGEST_PREFIX:
        return prefix
    return f"{prefix[: _LONGEST_PREFIX - _DIGEST_LENGTH - 1]}-{_digest(prefix)}"


def instance_label(run_id: str, seed: int, attempt: int) -> str:
    """Vast label of one attempt."""
    return f"{label_prefix(run_id)}-s{seed}-a{attempt}"


def label_has_prefix(label: str, prefix: str) -> bool:
    """Whether a label belongs to a prefix, at the label boundary: run 100 does not own run 1000."""
    return label == prefix or label.startswith(f"{prefix}-s")


def label_owned_by(label: str, run_id: str) -> bool:
    """Whether a Vast label belongs to a run."""
    return label_has_prefix(label, label_prefix(run_id))


def endpoint_owned_by(name: str, run_id: str) -> bool:
    """Whether a RunPod endpoint name belongs to a run, whichever class or attempt it was made for."""
    bare = canonical_endpoint_name(name)
    suffix = run_suffix(run_id)
    _, _, tail = bare.removeprefix(_PREFIX).partition("-")
    return (
        bare.startswith(_PREFIX) and re.fullmatch(rf"{re.escape(suffix)}(r\d+)?", tail) is not None
    )


def is_ours_like(label: str) -> bool:
    """Whether a name looks like one of a flash system, this store's or another's."""
    return canonical_endpoint_name(label).startswith(_PREFIX)


def prefix_of_label(label: str) -> str:
    """A label without its seed and attempt."""
    return _LABEL_END.sub("", label)
