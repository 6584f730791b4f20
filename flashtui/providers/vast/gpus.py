"""Which of our GPU classes Vast rents, and which class a board on its market is."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from flashtui.domain.gpu import GPU_CLASSES, GpuClass, min_cuda_modern, vast_gpu_for_offer
from flashtui.providers.vast.auth import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSES: tuple[GpuClass, ...] = tuple(g for g in GPU_CLASSES if NAME in g.native)
NATIVE: Mapping[str, str] = MappingProxyType({g.name: g.native[NAME] for g in CLASSES})

_MB_PER_GB = 1024
# Boards report up to 8 % less memory than their nominal size (RTX 5090: 32607 MB, L4: 23034 MB).
_REPORTED_SHARE = 0.92
SMALLEST_VRAM_GB = min(g.vram_gb for g in CLASSES)


def class_of(gpu_name: str, gpu_ram_mb: float) -> str | None:
    """The class of a board, by name and memory (one name can stand for two sizes); None: not managed."""
    return vast_gpu_for_offer(gpu_name, gpu_ram_mb)


def least_reported_mb(vram_gb: float) -> int:
    """What a board of this nominal size reports at least, in MB: the floor for a search."""
    return int(vram_gb * _MB_PER_GB * _REPORTED_SHARE)


def nominal_gb(gpu_ram_mb: float) -> int:
    """Reported memory of a board that is not managed, in whole GB."""
    return max(1, round(gpu_ram_mb / _MB_PER_GB))


def least_cuda(gpu: str) -> float:
    """Least CUDA version that a host of this class must support."""
    return float(min_cuda_modern(gpu))
