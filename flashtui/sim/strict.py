"""Records every request that the providers' documentation does not cover, so a test can fail on it."""

from __future__ import annotations

from collections import deque

_KEPT = 1000


class Strict:
    """A bounded list of violations: unknown routes, methods, fields, filters, repeated creates."""

    def __init__(self) -> None:
        self._rows: deque[dict[str, object]] = deque(maxlen=_KEPT)
        self.total = 0

    def record(self, surface: str, kind: str, detail: str) -> None:
        """Note one violation, for example ("vast", "unknown_filter", "gpu_nmae")."""
        self.total += 1
        self._rows.append(
            {"number": self.total, "surface": surface, "kind": kind, "detail": detail[:500]}
        )

    def rows(self) -> list[dict[str, object]]:
        """The newest violations, oldest first."""
        return list(self._rows)

    def clear(self) -> None:
        """Forget all."""
        self._rows.clear()
        self.total = 0
