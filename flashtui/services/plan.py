"""The job that the allocation preview follows, as it is being edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashtui.domain.allocation import AllocationRequest

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PlanJob:
    """A job in the making; every field can be changed in place.

    Attributes:
        pin: a GPU class, or None for the cheapest that fits.
        max_length: sequence length in tokens; None: the algorithm's default.
        knobs: further ``[train]`` values.
    """

    model: str = "Qwen/Qwen3.5-4B"
    algorithm: str = "sft"
    max_length: int | None = None
    thinking: bool = False
    pin: str | None = None
    provider: str = "auto"
    disk_gb: int = 60
    hours: float | None = None
    allow_unvalidated: bool = False
    min_vram_gb: int | None = None
    knobs: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> AllocationRequest:
        """The allocation request this job makes."""
        train = dict(self.knobs)
        if self.max_length is not None:
            train["max_length"] = self.max_length
        return AllocationRequest(
            model_id=self.model,
            algorithm=self.algorithm,
            gpu=self.pin,
            provider=self.provider,
            disk_gb=self.disk_gb,
            allow_unvalidated=self.allow_unvalidated or None,
            train=train or None,
            thinking=self.thinking,
            min_vram_gb=self.min_vram_gb,
            hours=self.hours,
        )
