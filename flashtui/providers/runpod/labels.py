"""Endpoint names as RunPod shows them, and the name that was asked for.

Seen in the field: a prefix ``live-``, and a suffix ``-fb`` or `` -fb`` for endpoints with fast boot.
"""

from __future__ import annotations

import re

from flashtui.domain.text import clean

_DECORATED = re.compile(r"(?:live-)?(?P<name>.*?)(?: ?-fb)?", re.DOTALL)
_OURS = re.compile(r"flash-(?P<short>[a-z0-9]+)-(?P<suffix>[a-z0-9]+)")


def canonical_name(shown: str | None) -> str:
    """The name without what RunPod puts around it, cleaned."""
    text = clean(shown, limit=200)
    match = _DECORATED.fullmatch(text)
    return match["name"] if match and match["name"] else text


def same_name(shown: str | None, wanted: str | None) -> bool:
    """Whether two names are of one endpoint; an empty name is like no other."""
    name = canonical_name(shown)
    return bool(name) and name == canonical_name(wanted)


def is_ours_like(shown: str | None) -> bool:
    """Whether a name has the form that this program gives: ``flash-<gpu>-<suffix>``."""
    return _OURS.fullmatch(canonical_name(shown)) is not None


def short_of(shown: str | None) -> str:
    """The GPU token in a name of ours; empty for any other."""
    match = _OURS.fullmatch(canonical_name(shown))
    return match["short"] if match else ""


def suffix_of(shown: str | None) -> str:
    """The run's part of a name of ours; empty for any other."""
    match = _OURS.fullmatch(canonical_name(shown))
    return match["suffix"] if match else ""
