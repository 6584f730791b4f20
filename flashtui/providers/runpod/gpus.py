"""RunPod's GPU ids and our classes.

The id (``NVIDIA GeForce RTX 4090``) is the key everywhere; display names move from card to card and are never used as one.
Ids that are not in the table are types that are not managed; they are shown by their own name.

Source: the enumeration ``GpuType`` of the published package runpod-flash 1.21.0, whose member names our classes carry.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from flashtui.domain.gpu import GPU_CLASSES, GpuClass
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashtui.domain.market import Stock
    from flashtui.providers.runpod.wire import CatalogGpu

SENTINEL = "unknown"
"""RunPod lists a type of this id, with 0 GB and price 0; it is nothing."""

ENUM_MEMBERS: Mapping[str, str] = MappingProxyType(
    {
        "NVIDIA_RTX_A4000": "NVIDIA RTX A4000",
        "NVIDIA_RTX_A4500": "NVIDIA RTX A4500",
        "NVIDIA_RTX_4000_ADA_GENERATION": "NVIDIA RTX 4000 Ada Generation",
        "NVIDIA_RTX_2000_ADA_GENERATION": "NVIDIA RTX 2000 Ada Generation",
        "NVIDIA_RTX_A5000": "NVIDIA RTX A5000",
        "NVIDIA_L4": "NVIDIA L4",
        "NVIDIA_GEFORCE_RTX_3090": "NVIDIA GeForce RTX 3090",
        "NVIDIA_GEFORCE_RTX_4090": "NVIDIA GeForce RTX 4090",
        "NVIDIA_GEFORCE_RTX_5090": "NVIDIA GeForce RTX 5090",
        "NVIDIA_A40": "NVIDIA A40",
        "NVIDIA_RTX_A6000": "NVIDIA RTX A6000",
        "NVIDIA_RTX_6000_ADA_GENERATION": "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA_A100_80GB_PCIe": "NVIDIA A100 80GB PCIe",
        "NVIDIA_A100_SXM4_80GB": "NVIDIA A100-SXM4-80GB",
        "NVIDIA_H100_80GB_HBM3": "NVIDIA H100 80GB HBM3",
        "NVIDIA_RTX_PRO_6000_BLACKWELL_SERVER_EDITION": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "NVIDIA_RTX_PRO_6000_BLACKWELL_WORKSTATION_EDITION": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
        "NVIDIA_RTX_PRO_6000_BLACKWELL_MAX_Q_WORKSTATION_EDITION": "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "NVIDIA_H200": "NVIDIA H200",
        "NVIDIA_B200": "NVIDIA B200",
    }
)

CLASSES: tuple[GpuClass, ...] = tuple(g for g in GPU_CLASSES if g.enum_member in ENUM_MEMBERS)
"""The managed classes that RunPod has."""

NATIVE: Mapping[str, str] = MappingProxyType(
    {g.name: ENUM_MEMBERS[g.enum_member] for g in CLASSES if g.enum_member}
)
"""Class name to RunPod's id."""

_CLASS_OF_ID: Mapping[str, GpuClass] = MappingProxyType(
    {NATIVE[g.name].lower(): g for g in CLASSES}
)
_CLASS_OF_SHORT: Mapping[str, GpuClass] = MappingProxyType({g.short: g for g in CLASSES})
_STOCK: Mapping[str, Stock] = MappingProxyType(
    {"high": "high", "medium": "medium", "low": "low", "none": "none", "out": "none"}
)


def class_of_id(gpu_id: str | None) -> GpuClass | None:
    """The managed class of a RunPod id; None for a type that is not managed.

    Case and doubled blanks do not matter (RunPod's own pages have had ``NVIDIA  RTX A4500``).
    """
    return _CLASS_OF_ID.get(" ".join((gpu_id or "").split()).lower())


def class_of_short(token: str) -> GpuClass | None:
    """The class behind the token in an endpoint name, e.g. ``"4090"``."""
    return _CLASS_OF_SHORT.get(token)


def shown_name(gpu_id: str | None) -> str | None:
    """Our class name for an id, else RunPod's own words, cleaned; None where there is no id."""
    found = class_of_id(gpu_id)
    return found.name if found is not None else clean(gpu_id, limit=60) or None


def stock_from_text(text: str | None, *, when_missing: Stock = "unknown") -> Stock:
    """Stock from the words of either API, in any case; words that are not known are ``"unknown"``."""
    return when_missing if text is None else _STOCK.get(text.strip().lower(), "unknown")


def pool_of(catalog: Iterable[CatalogGpu], gpu_id: str) -> str | None:
    """The serverless pool that a type is in now; None: it cannot be used for a serverless endpoint."""
    return next((item.pool for item in catalog if item.id == gpu_id), None)


def others_in_pool(catalog: Iterable[CatalogGpu], pool: str, gpu_id: str) -> tuple[str, ...]:
    """Every other type of a pool, as listed now: what an endpoint that must get ``gpu_id`` has to exclude.

    A fixed list would let in types that joined the pool later, slices of larger cards among them.
    """
    found = {item.id for item in catalog if item.pool == pool and item.id != gpu_id}
    return tuple(sorted(found, key=str.lower))
