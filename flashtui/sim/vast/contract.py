"""One rental on simulated Vast: its plan of states over time, and what it bills in each.

Source: vast 3.5 (status fields and the normal path), 3.7 (what is billed in which state).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random

    from flashtui.sim.vast.machines import Machine, Slice
    from flashtui.sim.vast.offers import Offer

# GPU time is billed while the contract holds the GPU (vast 3.7); storage in every state but offline.
GPU_BILLED = frozenset({"running", "frozen", "rebooting", "recycling", "unknown"})
STORAGE_FREE = frozenset({"offline"})
OCI_ERROR = (
    "Error response from daemon: failed to create task for container: failed to create shim task: : "
    "OCI runtime create failed: runc create failed: unable to start container process: error during container "
    "init: error running hook #0: failed to inject CDI devices: unresolvable CDI devices nvidia.com/gpu=all\n"
)


class Phase(NamedTuple):
    """What the status fields say from a moment on; `actual` is None until the host has answered."""

    at: float
    actual: str | None
    intended: str = "running"
    cur: str = "running"
    following: str = "running"
    message: str | None = None


@dataclass(slots=True)
class Contract:
    """One rental.

    Attributes:
        asked: the create request's body.
        bid: dollars per hour for the whole slice, or None on demand.
        dph_base: what the GPUs cost now; a bid contract pays at most its bid.
        phases: past, present and planned states, in order of time.
        applied: how many of them the ledger has followed.
        visible_at: when it first appears in lists and details.
        gone_at: when a lingering destroy will have taken effect, or None.
        boot_s: seconds from creation to running.
        pull_gb: gigabytes of image still to be billed as bandwidth when it runs.
        billed_kb: the counter of bytes billed so far.
    """

    contract_id: int
    offer: Offer
    created_at: float
    label: str | None
    asked: dict[str, object]
    disk_gb: float
    dph_base: float
    api_key: str
    end_date: float
    bid: float | None = None
    phases: list[Phase] = field(default_factory=list)
    applied: int = 0
    visible_at: float = 0.0
    gone_at: float | None = None
    destroyed_at: float | None = None
    is_expired: bool = False
    boot_s: float = 30.0
    pull_gb: float = 0.0
    billed_kb: float = 0.0

    @property
    def machine(self) -> Machine:
        """Its host."""
        return self.offer.machine

    @property
    def part(self) -> Slice:
        """Its GPUs on that host."""
        return self.offer.part

    @property
    def disk_per_hour(self) -> float:
        """Dollars per hour for its storage (vast 2.4)."""
        return self.machine.storage_cost * self.disk_gb / 720

    @property
    def image(self) -> str:
        """The image asked for."""
        return str(self.asked.get("image") or "vastai/base-image:@vastai-automatic-tag")

    @property
    def runtype(self) -> str:
        """The run type asked for, in Vast's own spelling."""
        return str(self.asked.get("runtype") or "ssh_proxy")

    def phase(self, at: float) -> Phase:
        """What the status fields say at a moment."""
        index = bisect_right(self.phases, at, key=lambda phase: phase.at) - 1
        return self.phases[max(index, 0)]

    def next_phase_at(self) -> float | None:
        """Moment of the first planned state the ledger has not followed yet."""
        return self.phases[self.applied].at if self.applied < len(self.phases) else None

    def running_since(self, at: float) -> float | None:
        """When the container that runs at a moment began to, or None if none does."""
        since: float | None = None
        for phase in self.phases:
            if phase.at > at:
                break
            since = (
                (since if since is not None else phase.at) if phase.actual == "running" else None
            )
        return since

    def plan(self, at: float, *phases: Phase) -> None:
        """Replace everything planned after a moment."""
        self.phases = [phase for phase in self.phases if phase.at <= at] + list(phases)
        self.applied = min(self.applied, len(self.phases) - len(phases))

    def existed(self, at: float) -> bool:
        """Whether lists showed it at a moment."""
        return self.visible_at <= at and (self.destroyed_at is None or at < self.destroyed_at)

    def success_message(self) -> str:
        """What the host reports when the container runs."""
        return f"success, running {self.image.replace(':', '_')}/{self.runtype.split()[0]}\n"


def boot(contract: Contract, at: float, rng: random.Random) -> list[Phase]:
    """The normal path: null for 1-3 s, created, loading while the image is pulled, running."""
    answered = at + rng.uniform(1.0, 3.0)
    loading = answered + rng.uniform(0.05, 0.15) * contract.boot_s
    running = max(at + contract.boot_s, loading + 1.0)
    return [
        Phase(at, None, cur="loading"),
        Phase(answered, "created", cur="loading"),
        Phase(loading, "loading", cur="loading"),
        Phase(running, "running", message=contract.success_message()),
    ]


def stuck(at: float, rng: random.Random) -> list[Phase]:
    """A container that never starts: it stays created, and only the status text says why (vast 3.5)."""
    answered = at + rng.uniform(1.0, 3.0)
    return [
        Phase(at, None, cur="loading"),
        Phase(answered, "created", cur="loading"),
        Phase(answered + 5.0, "created", cur="loading", message=OCI_ERROR),
    ]


def restart(contract: Contract, at: float) -> list[Phase]:
    """Start of a stopped contract whose GPU is still free: seconds, the image is on the disk."""
    return [
        Phase(at, "created", cur="loading"),
        Phase(at + 2.0, "loading", cur="loading"),
        Phase(at + 8.0, "running", message=contract.success_message()),
    ]


def bounce(contract: Contract, at: float, word: str) -> list[Phase]:
    """Reboot or recycle: the container ends and comes back on the same GPU."""
    return [
        Phase(at, word),
        Phase(at + 6.0, "running", message=contract.success_message()),
    ]


def stopping(
    contract: Contract, at: float, *, ended: str = "exited", seconds: float = 3.0
) -> list[Phase]:
    """A stop: what is intended changes at once, the container ends a moment later."""
    now = contract.phase(at)
    return [
        Phase(at, now.actual, "stopped", now.cur, "stopped", now.message),
        Phase(at + seconds, ended, "stopped", "stopped", "stopped", now.message),
    ]


def cut_off(at: float, message: str | None = None) -> list[Phase]:
    """Stopped by the provider (outbid, no credit, expiry): all three states say stopped (vast 3.5)."""
    return [Phase(at, "stopped", "stopped", "stopped", "stopped", message)]


def pull_message(contract: Contract, at: float) -> str | None:
    """The docker pull line that is shown at a moment of loading."""
    phase = contract.phase(at)
    if phase.actual != "loading":
        return phase.message
    following = next((p.at for p in contract.phases if p.at > at), at + 30.0)
    done = (at - phase.at) / max(following - phase.at, 0.001)
    layer = f"{(contract.contract_id * 2654435761 + int(done * 12) * 97) & 0xFFFFFFFFFFFF:012x}"
    step = ("Pulling fs layer", "Downloading", "Verifying Checksum", "Download complete", "Extracting",
            "Pull complete")[int(done * 60) % 6]  # fmt: skip
    return f"{layer}: {step}\n"
