"""What a market offer must have to be rented, and what every job is given beside its memory."""

from __future__ import annotations

from dataclasses import dataclass

# No job gets a smaller disk than this, and no price is quoted without it.
LEAST_DISK_GB = 60
# From renting to the first step: image, packages, weights.
STARTUP_S = 20 * 60


@dataclass(frozen=True, slots=True)
class Rules:
    """What a Vast offer must have to be rented.

    Attributes:
        reliability: least, 0 to 1.
        inet_down_mbps: least, Mbit/s.
        disk_gb: least, GB; also the disk that prices include.
        verified: only verified machines.
        datacenter: only machines in data centres.
    """

    reliability: float = 0.995
    inet_down_mbps: float = 200.0
    disk_gb: int = LEAST_DISK_GB
    verified: bool = True
    datacenter: bool = True
