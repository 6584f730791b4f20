"""Operations a person asks for and a service drives to proof, and the audit trail they leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

OperationKind = Literal["cancel", "destroy"]
# pending: inside the undo grace; driving: asked or about to be; verifying: accepted, waiting for proof.
Phase = Literal[
    "pending", "driving", "verifying", "confirmed", "unconfirmed", "withdrawn", "refused"
]
OPEN_PHASES: frozenset[Phase] = frozenset({"pending", "driving", "verifying", "unconfirmed"})


@dataclass(frozen=True, slots=True)
class Target:
    """Exactly one billable resource, frozen when the person pressed the key.

    Attributes:
        run_id: None for a foreign resource.
        label: as it was when frozen; a different label at the live re-read refuses the operation.
    """

    provider: str
    resource_id: str
    run_id: str | None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One cancel or destroy, from intent to proof.

    Attributes:
        actor: ``"tui"``, ``"cli"``, ``"recovery"`` …
        not_before: end of the undo grace; None: at once.
        attempts: how often the provider has been asked.
        last_answer: the provider's last words, cleaned; shown as they are.
    """

    op_id: str
    kind: OperationKind
    target: Target
    actor: str
    phase: Phase
    requested_at: datetime
    not_before: datetime | None
    updated_at: datetime
    attempts: int
    last_answer: str

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done or proven."""
        return self.phase in OPEN_PHASES


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the append-only trail: who, what, when, and what came of it."""

    at: datetime
    op_id: str | None
    actor: str
    action: str
    subject: str
    detail: str
