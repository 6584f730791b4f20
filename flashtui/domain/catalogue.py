"""Models that are known by name: their size and the floors that experience has put under their memory need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Thinking = Literal["none", "hybrid", "always"]
Quant = Literal["bf16", "fp16", "4bit-qlora"]

DEFAULT_MODEL = "Qwen/Qwen3.5-4B"
ALGORITHMS: tuple[str, ...] = ("sft", "grpo")
_BILLIONS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*B")
_SIZE_WHEN_UNREADABLE_B = 4.0


def params_b_from_str(text: str | None) -> float | None:
    """Parameters in billions: the first number that a capital ``B`` follows; None when there is none."""
    found = _BILLIONS.search(text) if text else None
    return float(found.group(1)) if found else None


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One catalogued model.

    Attributes:
        params: its size in words; the first number counts.
        min_vram_gb: floor of a quantised model, GB.
        grpo_min_vram_gb: curated floor for GRPO, GB; 0: none.
        min_disk_gb: least disk, GB; 0: no particular need.
    """

    model_id: str
    params: str
    quant: Quant
    min_vram_gb: int
    recommended_gpu: str
    grpo_min_vram_gb: int = 0
    min_disk_gb: int = 0
    thinking: Thinking = "hybrid"
    algorithms: tuple[str, ...] = ALGORITHMS

    @property
    def params_b(self) -> float:
        """Parameters in billions; 4.0 when the words cannot be read."""
        return params_b_from_str(self.params) or _SIZE_WHEN_UNREADABLE_B


_MODELS: tuple[CatalogModel, ...] = (
    CatalogModel("openbmb/MiniCPM5-1B", "1.2B dense (Llama arch)", "bf16", 12, "RTX 4090"),
    CatalogModel("Qwen/Qwen3.5-0.8B", "0.9B (text-only fine-tune)", "bf16", 12, "RTX 4090"),
    CatalogModel("Qwen/Qwen3.5-2B", "2.3B (text-only fine-tune)", "bf16", 16, "RTX 4090"),
    CatalogModel("Qwen/Qwen3.5-4B", "4.7B (text-only fine-tune)", "bf16", 32, "RTX 5090"),
    CatalogModel("Qwen/Qwen3.5-9B", "9.7B (text-only fine-tune)", "4bit-qlora", 16, "RTX 5090"),
)
CATALOGUE: Mapping[str, CatalogModel] = MappingProxyType({m.model_id: m for m in _MODELS})
