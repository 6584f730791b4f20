"""What a run's worker leaves in its repository: heartbeat, terminal marker, DONE, metrics; of this very attempt only.

Files of earlier attempts lie under the same names, so an attempt number that differs, or a time before the launch, makes a
file somebody else's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from flashtui.domain.text import clean
from flashtui.providers.vast import fields

if TYPE_CHECKING:
    from flashtui.net.hub import HubFiles

# The machine's clock may be behind ours.
SKEW = timedelta(seconds=120)
_ERROR_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Beat:
    """One heartbeat.

    Attributes:
        at: the worker's own time; None: not in it.
        step: None before training.
    """

    stage: str
    at: datetime | None
    step: int | None

    @property
    def progress(self) -> str:
        """In a few words."""
        return self.stage if self.step is None else f"{self.stage} {self.step}"


@dataclass(frozen=True, slots=True)
class Marker:
    """The last word of an attempt."""

    ok: bool
    error: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the worker of one attempt leaves its files.

    Attributes:
        folder: ``<phase>/<run id>/seed<N>``.
    """

    repo: str
    folder: str
    attempt: int
    launched_at: datetime | None

    def is_ours(self, attempt: object, at: datetime | None) -> bool:
        """Whether a file is of this attempt, by what it says of itself."""
        told = fields.whole(attempt)
        if told is not None and told != self.attempt:
            return False
        if at is None or self.launched_at is None:
            return True
        return at >= self.launched_at - SKEW


class Signals:
    """Reads one attempt's files."""

    def __init__(self, files: HubFiles, place: Place) -> None:
        self._files = files
        self._place = place

    async def heartbeat(self) -> Beat | None:
        """The newest; None: none of this attempt yet.

        Raises:
            ProviderError: could not be read.
        """
        content = await self._object("heartbeat.json")
        if content is None:
            return None
        at = fields.moment(content.get("ts"))
        stage = fields.text(content.get("stage"))
        if stage is None or not self._place.is_ours(content.get("attempt"), at):
            return None
        return Beat(stage, at, fields.whole(content.get("step")))

    async def marker(self) -> Marker | None:
        """The attempt's last word; None: not yet, or not readable.

        Raises:
            ProviderError: could not be read.
        """
        content = await self._object(f"vast_attempt{self._place.attempt}.json")
        if content is None or not isinstance(content.get("ok"), bool):
            return None
        if not self._place.is_ours(content.get("attempt"), fields.moment(content.get("ts"))):
            return None
        said = content.get("error")
        return Marker(content["ok"], clean(said, limit=_ERROR_CHARS) if said else "")

    async def done_at(self) -> datetime | None:
        """When the work was done, by DONE; None: not (of this launch).

        Raises:
            ProviderError: could not be read.
        """
        raw = await self._read("DONE")
        at = fields.moment(raw.decode("utf-8", "replace")) if raw is not None else None
        return at if at is not None and self._place.is_ours(None, at) else None

    async def metrics(self) -> dict[str, Any] | None:
        """The result; None: not there, or not readable.

        Raises:
            ProviderError: could not be read.
        """
        return await self._object("metrics.json")

    async def _object(self, name: str) -> dict[str, Any] | None:
        raw = await self._read(name)
        if raw is None:
            return None
        try:
            content = json.loads(raw.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            return None
        return cast("dict[str, Any]", content) if isinstance(content, dict) else None

    async def _read(self, name: str) -> bytes | None:
        return await self._files.read(self._place.repo, f"{self._place.folder}/{name}")
