"""What a person can set: environment, then ``config.toml``, then defaults, each value with where it came from.

The environment is read here and nowhere else.
"""

from __future__ import annotations

from flashtui.domain.rules import Rules
from flashtui.settings.bounds import vram_headroom
from flashtui.settings.keys import KeyFinding
from flashtui.settings.model import Settings
from flashtui.settings.specs import SPECS, Spec
from flashtui.settings.urls import is_loopback

__all__ = ["SPECS", "KeyFinding", "Rules", "Settings", "Spec", "is_loopback", "vram_headroom"]
