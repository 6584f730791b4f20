"""The memory model of one LoRA job on one card: what takes how many GB, before any safety factor or floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

from flashtui.domain.gpu import UnsupportedGpuError, get_gpu_info

# What a need beyond every card is cut to, so that arithmetic on floats cannot fail.
ABSURD_GB = 1_000_000_000
DEFAULT_RANK = 32
DEFAULT_GROUP = 8
# The worker's own micro-batch on one card: used when none is set, and never exceeded.
MICRO_BATCH = 4
DEFAULT_LENGTH = 1024
_BYTES_PER_PARAM: dict[str, float] = {"bf16": 2.0, "fp16": 2.0, "4bit-qlora": 0.55}
_RUNTIME_GB = 4.0
_VOCABULARY = 152_000
_KV_LIMIT_GB = 8.0
_LOGITS_LIMIT_GB = 6.0
# A 9.7B model holds 5,000 tokens on its floor; the room shrinks with the size.
_FLOOR_TOKENS_TIMES_B = 48_500.0
_UNKNOWN_CARD_GB = 32


class EstimateKnobs(TypedDict, total=False):
    """Keywords of :func:`estimate_vram_gb`, which explains them."""

    seq_len: int
    max_tokens: int | None
    lora_rank: int
    batch_size: int
    group_size: int
    thinking: bool
    use_vllm: bool


@dataclass(frozen=True, slots=True)
class SizingPart:
    """One summand of a memory estimate, GB."""

    label: str
    gb: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A memory estimate and its summands, GB."""

    gb: float
    parts: tuple[SizingPart, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a job fits a card, by the bare estimate."""

    verdict: Literal["fits", "tight", "too_big", "unknown"]
    est_gb: float | None
    gpu_gb: int


def is_grpo(algorithm: str | None) -> bool:
    """Whether the name means GRPO; everything else is sized as SFT."""
    return (algorithm or "").strip().lower() in {"grpo", "rl"}


def estimate_vram_gb(
    params_b: float, algorithm: str, quant: str = "bf16", **knobs: Unpack[EstimateKnobs]
) -> float:
    """Peak memory of a LoRA job on one card in GB.

    Args:
        params_b: parameters in billions.
        algorithm: ``grpo`` or ``rl``; everything else is SFT.
        quant: ``bf16``, ``fp16`` or ``4bit-qlora``; anything else counts as two bytes a parameter.
        **knobs: ``seq_len`` (1024) tokens; ``max_tokens`` of one completion (None: the smaller of sequence and 1024);
            ``lora_rank`` (32); ``batch_size`` (1; SFT, at most 4 counts); ``group_size`` (8; GRPO); ``thinking``;
            ``use_vllm`` (True: the rollout holds a second copy of the weights).
    """
    return estimate(params_b, quant, knobs, grpo=is_grpo(algorithm)).gb


def grpo_seq_escalation_gb(params_b: float | None, seq_len: int) -> int:
    """GB that a long GRPO context adds to a floor: none up to 48,500 / billions of parameters tokens."""
    if params_b is None or not is_positive(params_b):
        return 0
    threshold = _FLOOR_TOKENS_TIMES_B / params_b
    if seq_len <= threshold:
        return 0
    return whole_gb(0.9 * params_b * (seq_len / threshold - 1))


def check_fit(params_b: float | None, algorithm: str, gpu: str, quant: str = "bf16") -> Fit:
    """Whether the bare estimate fits a card: above 1.15 of it too big, above 0.85 tight; unknown size: unknown."""
    try:
        card_gb = get_gpu_info(gpu).vram_gb
    except UnsupportedGpuError:
        card_gb = _UNKNOWN_CARD_GB
    if params_b is None or not is_positive(params_b):
        return Fit("unknown", None, card_gb)
    needed = estimate_vram_gb(params_b, algorithm, quant)
    if needed > 1.15 * card_gb:
        return Fit("too_big", needed, card_gb)
    return Fit("tight" if needed > 0.85 * card_gb else "fits", needed, card_gb)


def is_positive(value: float) -> bool:
    """Whether a number is finite and above zero."""
    return math.isfinite(value) and value > 0


def whole_gb(gb: float) -> int:
    """GB rounded up; what no float can hold is cut."""
    return math.ceil(gb) if gb < ABSURD_GB else ABSURD_GB


def estimate(params_b: float, quant: str, knobs: EstimateKnobs, *, grpo: bool) -> Estimate:
    """The estimate of :func:`estimate_vram_gb` with its summands."""
    rank = knobs.get("lora_rank", DEFAULT_RANK)
    weights = params_b * _BYTES_PER_PARAM.get(quant, 2.0)
    adapter = rank / 16.0 * (0.3 + 0.04 * params_b)
    base = (
        SizingPart(f"weights ({params_b:g}B parameters, {quant})", weights),
        SizingPart("CUDA context and framework", _RUNTIME_GB),
        SizingPart(f"adapter and its optimizer (rank {rank})", adapter),
    )
    peak = _grpo_peak(params_b, weights, knobs) if grpo else _sft_peak(params_b, knobs)
    total = (weights + _RUNTIME_GB + adapter) + sum(part.gb for part in peak)
    return Estimate(total, base + peak)


def _sft_peak(params_b: float, knobs: EstimateKnobs) -> tuple[SizingPart, ...]:
    seq_len = knobs.get("seq_len", DEFAULT_LENGTH)
    batch = min(max(1, knobs.get("batch_size", 1)), MICRO_BATCH)
    activations = 0.12 * batch * (seq_len / 1024.0) * _width(params_b)
    return (SizingPart(f"activations (micro-batch {batch}, {seq_len} tokens)", activations),)


def _grpo_peak(params_b: float, weights: float, knobs: EstimateKnobs) -> tuple[SizingPart, ...]:
    """The larger of the two phases: rollout and training take turns on the card."""
    rollout = _rollout_phase(params_b, weights, knobs) if knobs.get("use_vllm", True) else ()
    training = _training_phase(params_b, knobs)
    return max(rollout, training, key=lambda phase: sum(part.gb for part in phase))


def _rollout_phase(params_b: float, weights: float, knobs: EstimateKnobs) -> tuple[SizingPart, ...]:
    seq_len = knobs.get("seq_len", DEFAULT_LENGTH)
    cache = min(2.0 * (seq_len / 1024.0) * _width(params_b), _KV_LIMIT_GB)
    return (
        SizingPart("second copy of the weights while rolling out", weights),
        SizingPart(f"KV cache ({seq_len} tokens)", cache),
    )


def _training_phase(params_b: float, knobs: EstimateKnobs) -> tuple[SizingPart, ...]:
    seq_len = knobs.get("seq_len", DEFAULT_LENGTH)
    group = knobs.get("group_size", DEFAULT_GROUP)
    spread = max(1.0, math.sqrt(max(1, group) / 4.0))
    thinking = 1.3 if knobs.get("thinking", False) else 1.0
    activations = 0.27 * (seq_len / 1024.0) * _width(params_b) * spread * thinking
    completion = knobs.get("max_tokens") or min(seq_len, 1024)
    logits = min(float(completion) * _VOCABULARY * 4 / 1e9, _LOGITS_LIMIT_GB)
    return (
        SizingPart(f"activations (group of {group}, {seq_len} tokens)", activations),
        SizingPart(f"logits ({completion} tokens)", logits),
    )


def _width(params_b: float) -> float:
    return math.sqrt(max(params_b, 0.1))
