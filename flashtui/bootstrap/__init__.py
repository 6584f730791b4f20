"""The composition root: builds clock, randomness, HTTP, registry, store and services, and hands them in."""

from __future__ import annotations

from flashtui.bootstrap.session import Session, look_at_runs, open_session
from flashtui.bootstrap.tools import Tools, open_tools

__all__ = ["Session", "Tools", "look_at_runs", "open_session", "open_tools"]
