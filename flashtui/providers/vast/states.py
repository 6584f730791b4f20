"""What an instance's fields mean: its state, what it costs at this moment, and a sentence where something is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.money import HourlyRate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from flashtui.domain.run import ResourceState
    from flashtui.providers.vast.wire import InstanceRow

_HOURS_PER_MONTH = 720
_STOPPED = "stopped"
# What Vast reports of the container. Anything else, and nothing at all, is never taken for running.
_STATES: Mapping[str, ResourceState] = {
    "created": "starting",
    "loading": "starting",
    "scheduling": "starting",
    "rebooting": "starting",
    "recycling": "starting",
    "running": "running",
    "stopped": "stopped",
    "exited": "stopped",
    "deleted": "destroying",
    "destroyed": "destroying",
}
# GPU time is billed in these, also when nothing runs.
_BILLS_GPU = frozenset({"running", "frozen", "rebooting", "recycling", "unknown"})
_FAILED_START = (
    "oci runtime create failed",
    "failed to inject cdi",
    "failed to pull",
    "pull access denied",
    "manifest unknown",
    "no such image",
    "error response from daemon",
)


def state_of(row: InstanceRow) -> ResourceState:
    """The state in our words; the provider's own word stays beside it."""
    if is_stopped_by_vast(row):
        return "stopped"
    if row.actual_status is None:
        return "starting"
    return _STATES.get(row.actual_status, "unknown")


def raw_status(row: InstanceRow) -> str:
    """The provider's own word; ``provisioning`` while it says nothing."""
    return row.actual_status or "provisioning"


def is_stopped_by_vast(row: InstanceRow) -> bool:
    """Outbid, expired or out of credit: all three of its states are ``stopped``, whatever the container says."""
    return row.cur_state == row.intended_status == row.next_state == _STOPPED


def start_failure(row: InstanceRow) -> str | None:
    """Why the container cannot start, in Docker's words; such an instance stays ``created`` for ever."""
    if row.actual_status not in {"created", "loading"} or row.status_msg is None:
        return None
    said = row.status_msg.lower()
    return row.status_msg if any(phrase in said for phrase in _FAILED_START) else None


def current_rate(row: InstanceRow) -> HourlyRate | None:
    """What the instance costs per hour at this moment; None: not known.

    Vast's own figure for the present where it is given. Otherwise GPU and storage while the GPU is billed, storage
    alone while it is not (stopped, or still loading), and the whole where nobody can tell.
    """
    if row.instance.totalHour is not None:
        return HourlyRate.of(row.instance.totalHour)
    storage = _storage_per_hour(row)
    bills_gpu = row.actual_status in _BILLS_GPU and not is_stopped_by_vast(row)
    if bills_gpu or state_of(row) == "unknown" or storage is None:
        whole = None if _is_idle(row) else row.dph_total
        return None if whole is None else HourlyRate.of(whole)
    return HourlyRate.of(storage)


def whole_rate(row: InstanceRow) -> HourlyRate | None:
    """GPU and storage per hour, as while it runs; None: not known."""
    return None if row.dph_total is None else HourlyRate.of(row.dph_total)


def note_of(row: InstanceRow) -> str:
    """One sentence where the state alone would mislead; empty otherwise."""
    failure = start_failure(row)
    if failure is not None:
        return f"its container cannot start: {failure}"
    if is_stopped_by_vast(row):
        return "stopped; its storage is still billed"
    return _NOTES.get(row.actual_status or "", "")


_NOTES: Mapping[str, str] = {
    "frozen": "paused by its host; still billed in full",
    "offline": "its host does not answer",
    "unknown": "its host has not reported lately",
    "exited": "its container has ended; the instance is still billed",
    "stopped": "stopped; its storage is still billed",
}


def _is_idle(row: InstanceRow) -> bool:
    """Whether the GPU is certainly not billed, so that the whole rate would be wrong."""
    return is_stopped_by_vast(row) or row.actual_status == _STOPPED


def _storage_per_hour(row: InstanceRow) -> Decimal | None:
    if row.instance.diskHour is not None:
        return row.instance.diskHour
    if row.storage_total_cost is not None:
        return row.storage_total_cost
    if row.storage_cost is not None and row.disk_space is not None:
        return row.storage_cost * round(row.disk_space) / _HOURS_PER_MONTH
    if row.dph_total is not None and row.dph_base is not None and row.dph_total >= row.dph_base:
        return row.dph_total - row.dph_base
    return None
