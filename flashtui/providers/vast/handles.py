"""The handle of a Vast instance: what is stored of it, and what can be read out of one that somebody else stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from flashtui.domain.errors import Rejected
from flashtui.domain.money import HourlyRate
from flashtui.domain.run import JobHandle
from flashtui.providers.vast import fields
from flashtui.providers.vast.auth import FINGERPRINT, NAME

if TYPE_CHECKING:
    from flashtui.net.secret import Secret
    from flashtui.providers.vast.wire import InstanceRow


@dataclass(frozen=True, slots=True)
class Target:
    """What a handle names.

    Attributes:
        launched_at: None: not stored, or not a moment.
        rate: accepted, of the whole instance; None: not known.
        owner: fingerprint of the key that rented or listed it; empty: not stored.
    """

    instance_id: int
    offer_id: int | None
    label: str
    gpu: str
    rate: HourlyRate | None
    attempt: int
    launched_at: datetime | None
    owner: str


def target_of(handle: JobHandle) -> Target:
    """Read a handle, of this program or of the tool it descends from.

    Raises:
        Rejected: it names no instance.
    """
    data = handle.data
    instance_id = fields.optional_identity(data.get("instance_id"))
    if instance_id is None:
        msg = f"{NAME}: this handle names no instance; look for it with `flashtui sweep`"
        raise Rejected(msg, provider=NAME, operation="read handle")
    price = fields.price(data.get("hourly_usd"))
    return Target(
        instance_id=instance_id,
        offer_id=fields.optional_identity(data.get("offer_id")),
        label=fields.text(data.get("label")) or "",
        gpu=fields.text(data.get("gpu")) or "",
        rate=HourlyRate.of(price) if price is not None else None,
        attempt=fields.whole(data.get("attempt")) or 0,
        launched_at=fields.moment(data.get("started_ts")),
        owner=fields.text(data.get(FINGERPRINT)) or "",
    )


def handle_of_row(row: InstanceRow, gpu: str | None, key: Secret | None) -> JobHandle:
    """The handle of an instance found in the account's own listing."""
    return JobHandle(
        NAME,
        {
            "instance_id": row.id,
            "machine_id": row.machine_id,
            "label": row.label or "",
            "gpu": gpu or row.gpu_name or "",
            "gpu_count": row.num_gpus or 1,
            "hourly_usd": float(row.dph_total) if row.dph_total is not None else None,
            "started_ts": row.start_date.timestamp() if row.start_date is not None else None,
            FINGERPRINT: key.fingerprint() if key is not None else "",
        },
    )


def epoch(moment: datetime) -> float:
    """Epoch seconds, as stored."""
    return moment.astimezone(UTC).timestamp()
