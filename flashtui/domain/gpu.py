"""GPU classes: the shared table, names and aliases, and which market offer is which class.

The 21 classes, their facts and the matching rules are those of the seeds' contract; identities by provider are one mapping,
so that another provider adds names without adding a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from flashtui.domain.errors import ConfigError, FlashtuiError
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEFAULT_MIN_CUDA = "12.8"
# Boards report less memory than their nominal size (L4: 23034 MB, A40: 46068 MB). 3.5 GB is safe because
# names shared by two sizes are 40 GB apart (A100 SXM4).
VRAM_MATCH_TOLERANCE_GB = 3.5
_MB_PER_GB = 1024


@dataclass(frozen=True, slots=True)
class GpuClass:
    """One managed GPU class: a friendly name, its facts and its identity with each provider.

    Attributes:
        name: canonical friendly name, as used in job files.
        enum_member: RunPod Flash ``GpuType`` member; None: not on RunPod.
        vram_gb: nominal memory of one card, GB.
        short: token that is safe in an endpoint name.
        sm: CUDA architecture.
        hourly_usd: static price of one card, US dollars per hour (snapshot of 2026-06-11): RunPod secure on-demand pod,
            or a Vast verified-datacenter price for classes that RunPod does not have.
        validated_on: providers on which a train and eval smoke has passed.
        min_cuda_modern: least host CUDA; None: 12.8.
        vast_name: Vast's ``gpu_name``; None: not on Vast.
    """

    name: str
    enum_member: str | None
    vram_gb: int
    short: str
    sm: str
    hourly_usd: float
    validated_on: tuple[str, ...] = ()
    min_cuda_modern: str | None = None
    vast_name: str | None = None

    @property
    def validated(self) -> bool:
        """Whether it is validated on any provider."""
        return bool(self.validated_on)

    @property
    def native(self) -> Mapping[str, str]:
        """Provider name to that provider's own name of this class."""
        names = {"runpod": self.enum_member, "vast": self.vast_name}
        return MappingProxyType({p: n for p, n in names.items() if n is not None})


GPU_CLASSES: tuple[GpuClass, ...] = (
    GpuClass("RTX 4090", "NVIDIA_GEFORCE_RTX_4090", 24, "4090", "sm89", 0.69, ("runpod",), None, "RTX 4090"),
    GpuClass("RTX 5090", "NVIDIA_GEFORCE_RTX_5090", 32, "5090", "sm120", 0.99, ("runpod", "vast"), "13.0", "RTX 5090"),
    GpuClass("RTX A4000", "NVIDIA_RTX_A4000", 16, "a4000", "sm86", 0.25, (), None, "RTX A4000"),
    GpuClass("RTX 2000 Ada", "NVIDIA_RTX_2000_ADA_GENERATION", 16, "2000ada", "sm89", 0.24, (), None, "RTX 2000Ada"),
    GpuClass("RTX A4500", "NVIDIA_RTX_A4500", 20, "a4500", "sm86", 0.25, (), None, "RTX A4500"),
    GpuClass("RTX 4000 Ada", "NVIDIA_RTX_4000_ADA_GENERATION", 20, "4000ada", "sm89", 0.26, (), None, "RTX 4000Ada"),
    GpuClass("RTX A5000", "NVIDIA_RTX_A5000", 24, "a5000", "sm86", 0.27, ("runpod",), None, "RTX A5000"),
    GpuClass("RTX 3090", "NVIDIA_GEFORCE_RTX_3090", 24, "3090", "sm86", 0.46, ("vast",), None, "RTX 3090"),
    GpuClass("L4", "NVIDIA_L4", 24, "l4", "sm89", 0.39, (), None, "L4"),
    GpuClass("RTX Pro 4000", None, 24, "pro4000", "sm120", 0.34, ("vast",), "13.0", "RTX PRO 4000"),
    GpuClass("RTX A6000", "NVIDIA_RTX_A6000", 48, "a6000", "sm86", 0.49, (), None, "RTX A6000"),
    GpuClass("A40", "NVIDIA_A40", 48, "a40", "sm86", 0.44, (), None, "A40"),
    GpuClass("RTX 6000 Ada", "NVIDIA_RTX_6000_ADA_GENERATION", 48, "6000ada", "sm89", 0.77, (), None, "RTX 6000Ada"),
    GpuClass("L40S", None, 48, "l40s", "sm89", 0.87, (), None, "L40S"),
    GpuClass("A100 SXM 40GB", None, 40, "a100sxm40", "sm80", 0.89, (), None, "A100 SXM4"),
    GpuClass("A100 PCIe", "NVIDIA_A100_80GB_PCIe", 80, "a100pcie", "sm80", 1.39, ("runpod",), None, "A100 PCIE"),
    GpuClass("A100 SXM", "NVIDIA_A100_SXM4_80GB", 80, "a100sxm", "sm80", 1.49, (), None, "A100 SXM4"),
    GpuClass("H100", "NVIDIA_H100_80GB_HBM3", 80, "h100", "sm90", 3.29, (), None, "H100 SXM"),
    GpuClass("H100 NVL", None, 94, "h100nvl", "sm90", 2.39, ("vast",), None, "H100 NVL"),
    GpuClass("RTX Pro 6000", "NVIDIA_RTX_PRO_6000_BLACKWELL_SERVER_EDITION", 96, "pro6000", "sm120", 2.09, (), "13.0", None),
    GpuClass("RTX Pro 6000 WK", "NVIDIA_RTX_PRO_6000_BLACKWELL_WORKSTATION_EDITION", 96, "pro6000wk", "sm120", 1.79,
             ("runpod", "vast"), "13.0", "RTX PRO 6000"),
)  # fmt: skip

GPU_INFO: dict[str, GpuClass] = {g.name: g for g in GPU_CLASSES}
KNOWN: tuple[str, ...] = tuple(GPU_INFO)
SUPPORTED: tuple[str, ...] = tuple(g.name for g in GPU_CLASSES if g.validated)
POLICY_NAMES: tuple[str, ...] = ("cheapest", "auto")

# Marketing names that the generic rules do not produce: what nvidia-smi and the RunPod API print.
_MARKETING_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "nvidia geforce rtx 4090": "RTX 4090",
        "nvidia geforce rtx 5090": "RTX 5090",
        "nvidia geforce rtx 3090": "RTX 3090",
        "nvidia rtx 6000 ada generation": "RTX 6000 Ada",
        "rtx 6000 ada generation": "RTX 6000 Ada",
        "nvidia rtx 4000 ada generation": "RTX 4000 Ada",
        "nvidia rtx 2000 ada generation": "RTX 2000 Ada",
        "nvidia a100 80gb pcie": "A100 PCIe",
        "a100 80gb pcie": "A100 PCIe",
        "a100-80g-pcie": "A100 PCIe",
        "nvidia a100-sxm4-80gb": "A100 SXM",
        "a100-sxm4-80gb": "A100 SXM",
        "a100": "A100 PCIe",
        "nvidia h100 80gb hbm3": "H100",
        "h100 80gb hbm3": "H100",
        "rtx pro 6000 blackwell": "RTX Pro 6000",
        "nvidia rtx pro 6000 blackwell server edition": "RTX Pro 6000",
    }
)


class UnsupportedGpuError(FlashtuiError, ValueError):
    """A GPU name, a provider name or a need that no managed class answers."""


class UnknownGpuError(UnsupportedGpuError, ConfigError):
    """A name that is no managed class."""


def alias_keys(name: str) -> set[str]:
    """Every accepted spelling of a friendly name, in lower case."""
    base = name.lower()
    keys = {base, f"nvidia {base}"} | {base.replace(" ", joiner) for joiner in ("", "_", "-")}
    if base.startswith("rtx "):
        tail = base.removeprefix("rtx ")
        keys |= {tail, tail.replace(" ", ""), tail.replace(" ", "_")}
    return keys


def _alias_table(classes: Iterable[GpuClass]) -> dict[str, str]:
    table = {key: gpu.name for gpu in classes for key in alias_keys(gpu.name)}
    table.update(_MARKETING_NAMES)
    return table


_ALIASES = _alias_table(GPU_CLASSES)


def canonical_gpu(name: str) -> str:
    """The canonical name for any accepted spelling (case and outer blanks do not matter).

    Raises:
        UnsupportedGpuError: not a managed class; the message lists them.
    """
    found = _ALIASES.get((name or "").strip().lower())
    if found is None:
        msg = (
            f"unsupported gpu {clean(name, 60)!r}; managed classes are {', '.join(KNOWN)} "
            '(or gpu.type = "cheapest")'
        )
        raise UnknownGpuError(msg)
    return found


def get_gpu_info(name: str) -> GpuClass:
    """The class behind any accepted spelling; raises like :func:`canonical_gpu`."""
    return GPU_INFO[canonical_gpu(name)]


def is_validated(name: str, provider: str | None = None) -> bool:
    """Whether a class is validated on ``provider``; on any, when it is None or ``"auto"``."""
    info = get_gpu_info(name)
    if provider is None or provider == "auto":
        return info.validated
    return provider in info.validated_on


def providers_for(name: str) -> tuple[str, ...]:
    """Names of the providers that know this class, in preference order."""
    return tuple(get_gpu_info(name).native)


def vast_gpu_for_offer(gpu_name: str, gpu_ram_mb: float) -> str | None:
    """Map a Vast offer to a managed class.

    Args:
        gpu_name: Vast's spelling, case-sensitive, e.g. ``"A100 SXM4"`` (covers a 40 and an 80 GB board).
        gpu_ram_mb: memory of one board in MB, as reported.

    Returns:
        The largest class the board can be; None for silicon that is not managed.
    """
    ceiling_gb = gpu_ram_mb / _MB_PER_GB + VRAM_MATCH_TOLERANCE_GB
    fitting = [g for g in GPU_CLASSES if g.vast_name == gpu_name and g.vram_gb <= ceiling_gb]
    return max(fitting, key=lambda g: g.vram_gb).name if fitting else None


def unvalidated_allowed(explicit: bool | None = None) -> bool:  # noqa: FBT001 - the seeds' signature
    """Whether a class without a passed smoke may be used: only an explicit True counts."""
    return explicit is True


def gpu_short(name: str) -> str:
    """Token of a class that is safe in an endpoint name, e.g. ``"4090"``."""
    return get_gpu_info(name).short


def min_cuda_modern(name: str) -> str:
    """Least host CUDA version of a class, e.g. ``"12.8"``."""
    return get_gpu_info(name).min_cuda_modern or DEFAULT_MIN_CUDA
