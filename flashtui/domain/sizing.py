"""How much GPU memory a job needs: the estimate, a safety factor, and floors that experience has put under it.

Sizing comes before validation, so it takes whatever is in ``[train]`` and never raises: a knob that makes no sense
counts as not set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flashtui.domain.catalogue import CATALOGUE, CatalogModel, params_b_from_str
from flashtui.domain.vram import (
    ABSURD_GB,
    DEFAULT_GROUP,
    DEFAULT_LENGTH,
    DEFAULT_RANK,
    MICRO_BATCH,
    EstimateKnobs,
    Fit,
    SizingPart,
    check_fit,
    estimate,
    estimate_vram_gb,
    grpo_seq_escalation_gb,
    is_grpo,
    is_positive,
    whole_gb,
)

__all__ = [
    "DEFAULT_HEADROOM",
    "Fit",
    "Sizing",
    "SizingPart",
    "check_fit",
    "estimate_vram_gb",
    "grpo_seq_escalation_gb",
    "model_required_vram_gb",
    "params_b_from_str",
    "size_job",
]

DEFAULT_HEADROOM = 1.1
UNKNOWN_SIZE_GB = 24
_GRPO_PROMPT = 2048
_COMPLETION = 320
_COMPLETION_THINKING = 1536

Train = Mapping[str, Any] | object | None


@dataclass(frozen=True, slots=True)
class Sizing:
    """How the needed memory came about.

    Attributes:
        need_gb: what the allocation asks for.
        estimate_gb: before headroom and floors; None where there is no estimate.
        source: ``"catalogue"``, ``"published size"``, ``"default"`` (size unknown) or ``"given"``.
        notes: floors and escalations that applied, one sentence each.
    """

    need_gb: int
    estimate_gb: float | None
    headroom: float
    source: str
    parts: tuple[SizingPart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    """What a job does to memory, defaults filled in."""

    grpo: bool
    thinking: bool
    seq_len: int
    max_tokens: int | None
    lora_rank: int
    batch_size: int
    group_size: int

    @property
    def knobs(self) -> EstimateKnobs:
        return {
            "seq_len": self.seq_len,
            "max_tokens": self.max_tokens,
            "lora_rank": self.lora_rank,
            "batch_size": self.batch_size,
            "group_size": self.group_size,
            "thinking": self.thinking,
        }


def model_required_vram_gb(
    model_id: str,
    algorithm: str,
    *,
    train: Train = None,
    thinking: bool = False,
    headroom: float = DEFAULT_HEADROOM,
    params_b: float | None = None,
) -> int:
    """GB of one card that a job needs.

    Args:
        model_id: a catalogued model, or any other.
        algorithm: ``grpo`` or ``rl`` in any case; everything else is sized as SFT.
        train: the ``[train]`` knobs; a mapping or an object with attributes.
        thinking: whether the model reasons before it answers.
        headroom: factor on the estimate; a senseless one counts as 1.1.
        params_b: parameters in billions of a model that is not catalogued; None: not known, 24 GB.
    """
    return size_job(
        model_id, algorithm, train=train, thinking=thinking, headroom=headroom, params_b=params_b
    ).need_gb


def size_job(
    model_id: str,
    algorithm: str,
    *,
    train: Train = None,
    thinking: bool = False,
    headroom: float = DEFAULT_HEADROOM,
    params_b: float | None = None,
    min_vram_gb: int | None = None,
) -> Sizing:
    """The need of :func:`model_required_vram_gb` with how it came about; ``min_vram_gb`` overrides it."""
    factor = headroom if is_positive(headroom) else DEFAULT_HEADROOM
    if min_vram_gb is not None:
        return Sizing(
            min_vram_gb, None, factor, "given", notes=("given by hand instead of an estimate",)
        )
    run = _run(train, grpo=is_grpo(algorithm), thinking=thinking)
    model = CATALOGUE.get(model_id)
    if model is not None:
        return _catalogued(model, run, factor)
    if params_b is None or not is_positive(params_b):
        note = (
            f"{model_id or 'the model'} is not catalogued and its size is not known: "
            f"{UNKNOWN_SIZE_GB} GB assumed; give the memory (--min-vram) if you know better"
        )
        return Sizing(UNKNOWN_SIZE_GB, None, factor, "default", notes=(note,))
    return _published(params_b, run, factor)


def _catalogued(model: CatalogModel, run: _Run, headroom: float) -> Sizing:
    size = model.params_b
    estimated = estimate(size, model.quant, run.knobs, grpo=run.grpo)
    need = whole_gb(estimated.gb * headroom)
    notes: list[str] = []
    floors = [(_curated_floor(model, run, notes), "floor of the model")]
    if run.grpo:
        floors.append((24 if size <= 1.0 else 28, "floor for training and rollout on one card"))
    for gb, name in floors:
        if gb > need:
            need = gb
            notes.append(f"raised to {gb} GB: {name}")
    return Sizing(need, estimated.gb, headroom, "catalogue", estimated.parts, tuple(notes))


def _curated_floor(model: CatalogModel, run: _Run, notes: list[str]) -> int:
    floor = model.grpo_min_vram_gb if run.grpo else 0
    if model.quant == "4bit-qlora":
        floor = floor or model.min_vram_gb
    longer = grpo_seq_escalation_gb(model.params_b, run.seq_len) if run.grpo and floor else 0
    if longer:
        notes.append(f"floor of {floor} GB raised by {longer} GB for {run.seq_len} tokens")
    return min(floor + longer, ABSURD_GB)


def _published(params_b: float, run: _Run, headroom: float) -> Sizing:
    """A model that is known by its size alone is sized as GRPO, which is the larger, whatever it is for."""
    estimated = estimate(params_b, "bf16", run.knobs, grpo=True)
    notes = ["not catalogued: sized by its published parameters, with the GRPO formula"]
    longer = grpo_seq_escalation_gb(params_b, run.seq_len) if run.grpo else 0
    if longer:
        notes.append(f"{longer} GB more for a context of {run.seq_len} tokens")
    return Sizing(
        min(whole_gb(estimated.gb * headroom) + longer, ABSURD_GB),
        estimated.gb,
        headroom,
        "published size",
        estimated.parts,
        tuple(notes),
    )


def _run(train: Train, *, grpo: bool, thinking: bool) -> _Run:
    max_tokens = _whole(train, "max_tokens")
    completion = max_tokens or (_COMPLETION_THINKING if thinking else _COMPLETION)
    usual_length = max(DEFAULT_LENGTH, _GRPO_PROMPT + completion) if grpo else DEFAULT_LENGTH
    return _Run(
        grpo=grpo,
        thinking=thinking,
        seq_len=_whole(train, "max_length") or usual_length,
        max_tokens=max_tokens,
        lora_rank=_whole(train, "lora_rank") or DEFAULT_RANK,
        batch_size=_whole(train, "batch_size") or MICRO_BATCH,
        group_size=_whole(train, "group_size") or DEFAULT_GROUP,
    )


def _whole(train: Train, name: str) -> int | None:
    """A knob as a whole number of at least 1, fractions cut off; None when it is nothing of the kind."""
    value = train.get(name) if isinstance(train, Mapping) else getattr(train, name, None)
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if math.isfinite(number) and number >= 1 else None
