"""What is missing before Vast can be used, as sentences a person can act on; nothing is asked over the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.providers.vast.auth import KEY_VARIABLE, NAME, key_of

if TYPE_CHECKING:
    from flashtui.providers.base import Context


def problems(context: Context, *, require_hf: bool = True) -> list[str]:
    """One sentence per problem; empty: ready.

    Args:
        context: settings and tokens.
        require_hf: runs will need the hub, for code, heartbeats and artifacts.
    """
    found: list[str] = []
    if context.settings.skip_net:
        found.append(
            "FLASH_SKIP_NET is set: offline, so nothing can be rented; unset it to use Vast"
        )
    if key_of(context) is None:
        why = context.settings.key_problem(NAME)
        found.append(
            f"{KEY_VARIABLE}: {why}"
            if why
            else f"{KEY_VARIABLE} is not set: prices can be read, but nothing can be rented; set it"
        )
    if require_hf and context.hf_token is None:
        found.append(
            "HF_TOKEN is not set: runs keep code, heartbeats and artifacts on the hub; set it"
        )
    return found
