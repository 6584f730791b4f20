"""Data centres of the simulated RunPod and the countries of its community cloud.

Source: docs `references/data-centers` and the endpoint enum of the retired REST v1; storage and
compliance are plausible fillings. The list is open: a client must not close it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """One data centre of the secure cloud."""

    place_id: str
    country: str
    region: str
    """REST v2's continental region."""
    location: str
    """GraphQL's free text."""
    has_storage: bool
    is_global: bool


_REGIONS = {
    "US": ("NORTH_AMERICA", "United States"),
    "CA": ("NORTH_AMERICA", "Canada"),
    "CZ": ("EUROPE", "Czech Republic"),
    "FR": ("EUROPE", "France"),
    "NL": ("EUROPE", "Netherlands"),
    "RO": ("EUROPE", "Romania"),
    "SE": ("EUROPE", "Sweden"),
    "IS": ("EUROPE", "Iceland"),
    "NO": ("EUROPE", "Norway"),
    "AU": ("OCEANIA", "Australia"),
    "JP": ("ASIA", "Japan"),
    "IN": ("ASIA", "India"),
}
_STORAGE = frozenset(
    [
        "US-CA-2",
        "US-IL-1",
        "US-KS-2",
        "US-MO-1",
        "US-MO-2",
        "US-NC-2",
        "US-NE-1",
        "US-WA-1",
        "EU-CZ-1",
        "EU-RO-1",
        "EUR-NO-1",
    ]
)
_IDS = [
    "US-TX-1",
    "US-TX-3",
    "US-TX-4",
    "US-KS-2",
    "US-KS-3",
    "US-GA-1",
    "US-GA-2",
    "US-WA-1",
    "US-CA-2",
    "US-NC-1",
    "US-NC-2",
    "US-IL-1",
    "US-DE-1",
    "US-MO-1",
    "US-MO-2",
    "US-NE-1",
    "CA-MTL-1",
    "CA-MTL-2",
    "CA-MTL-3",
    "EU-RO-1",
    "EU-SE-1",
    "EU-CZ-1",
    "EU-NL-1",
    "EU-FR-1",
    "EUR-IS-1",
    "EUR-IS-2",
    "EUR-IS-3",
    "EUR-NO-1",
    "AP-JP-1",
    "AP-IN-1",
    "OC-AU-1",
]


def _country(place_id: str) -> str:
    head, middle, _ = place_id.split("-")
    return head if head in {"US", "CA"} else middle


def _place(place_id: str) -> Place:
    region, location = _REGIONS[_country(place_id)]
    return Place(
        place_id=place_id,
        country=_country(place_id),
        region=region,
        location=location,
        has_storage=place_id in _STORAGE,
        is_global=place_id.startswith(("US-", "EU-")),
    )


PLACES: tuple[Place, ...] = tuple(_place(place_id) for place_id in _IDS)
PLACE_BY_ID: dict[str, Place] = {place.place_id: place for place in PLACES}

COMMUNITY_COUNTRIES: tuple[str, ...] = ("US", "CA", "SE", "NO", "CZ", "BG", "PL", "FR", "DE", "GB")
"""Where community hosts stand; the live list also carries a null entry."""
