"""The composition root: builds clock, randomness, HTTP, registry, store and services, and hands them in."""

from __future__ import annotations

from flashtui.bootstrap.tools import Tools, open_tools

__all__ = ["Tools", "open_tools"]
