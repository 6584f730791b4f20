"""Where simulated Vast hosts stand and what else is in their machines."""

from __future__ import annotations

# Every documented form of `geolocation`: "City, CC", "Region, CC", ", CC", "CC", non-ASCII letters (vast 5.2 quirk 10).
PLACES: tuple[str, ...] = (
    "Stockholm, SE", "Quebec, CA", "Texas, US", "California, US", "Oregon, US", "Germany, DE", "Hessen, DE",
    "Bulgaria, BG", "Czechia, CZ", "Hungary, HU", "South Korea, KR", "Île-de-France, FR", "Norway, NO", ", US",
    "Japan, JP", "Taiwan, TW", "US", "Poland, PL", "Spain, ES", "United Kingdom, GB", "Vietnam, VN", "Iceland, IS",
    "Utah, US", "Finland, FI", "São Paulo, BR",
)  # fmt: skip

# (name, threads of the whole machine, GHz, board)
SERVER_CPUS: tuple[tuple[str, int, float, str], ...] = (
    ("AMD EPYC 7543 32-Core Processor", 128, 2.8, "ROME2D32GM-2T"),
    ("AMD EPYC 9354 32-Core Processor", 128, 3.25, "GENOA2D24G-2L+"),
    ("AMD EPYC 7742 64-Core Processor", 256, 2.25, "H11DSi-NT"),
    ("Xeon® Platinum 8480+", 224, 2.0, "X13DEG-OAD"),
)
HOME_CPUS: tuple[tuple[str, int, float, str], ...] = (
    ("AMD Ryzen 9 5950X 16-Core Processor", 32, 3.4, "X570S AERO G"),
    ("AMD Ryzen Threadripper 3970X 32-Core Processor", 64, 3.7, "TRX40 AORUS MASTER"),
    ("Core™ i9-13900K", 32, 3.0, "PRIME Z790-P"),
    ("Xeon® E5-2697 v4", 72, 2.3, "X10DRG-Q"),
)
DISKS: tuple[tuple[str, float], ...] = (
    ("SAMSUNG MZQL23T8HCLS-00A07", 3104.0),
    ("Micron_7450_MTFDKCC3T8TFR", 4021.0),
    ("WD_BLACK SN850X 4000GB", 5210.0),
    ("KINGSTON SA400S3", 480.0),
)

# (driver text, the same padded to three digits a part, highest CUDA it supports)
NEW_DRIVERS: tuple[tuple[str, int, float], ...] = (
    ("580.95.05", 580095005, 13.0),
    ("580.105.08", 580105008, 13.0),
    ("590.44.01", 590044001, 13.1),
)
MIDDLE_DRIVERS: tuple[tuple[str, int, float], ...] = (
    ("570.133.20", 570133020, 12.8),
    ("575.57.08", 575057008, 12.9),
)
OLD_DRIVERS: tuple[tuple[str, int, float], ...] = (
    ("535.183.01", 535183001, 12.2),
    ("550.90.07", 550090007, 12.4),
    ("560.35.03", 560035003, 12.6),
)


def country_of(geolocation: object) -> str | None:
    """Two-letter country of a `geolocation` text, or None."""
    if not isinstance(geolocation, str):
        return None
    code = geolocation.rpartition(",")[2].strip()
    return code if len(code) == 2 else None
