"""Names of endpoints and pods as RunPod shows them, and what they tell of ours."""

from __future__ import annotations

import re

from flashtui.domain.naming import PREFIX, canonical_endpoint, endpoint_owned_by, label_owned_by
from flashtui.domain.text import clean

_OURS = re.compile(r"flash-(?P<short>[a-z0-9]+)-[a-z0-9]+")


def canonical_name(shown: str | None) -> str:
    """The name that was asked for, without what RunPod puts around it (``live-`` before, ``-fb`` or `` -fb`` after)."""
    text = clean(shown, limit=200)
    return canonical_endpoint(text).strip() or text


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


def belongs(name: str, label: str) -> bool:
    """Whether a name on the account belongs to the run of a label.

    Args:
        name: of an endpoint or pod, canonical.
        label: a run id, with or without ``flash-`` in front, or a whole name.
    """
    bare = label.removeprefix(PREFIX)
    return name == label or any(
        endpoint_owned_by(name, run_id) or label_owned_by(name, run_id)
        for run_id in (label, bare, PREFIX + bare)
        if bare
    )
