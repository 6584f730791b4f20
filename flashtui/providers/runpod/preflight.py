"""What is missing before RunPod can be used, as sentences a person can act on; nothing is asked over the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.providers.runpod.auth import VARIABLE, Access

if TYPE_CHECKING:
    from flashtui.providers.base import Context
    from flashtui.providers.runpod.auth import Key, KeyRing


def problems(context: Context, keys: KeyRing, *, require_hf: bool = True) -> list[str]:
    """One sentence per problem; empty: ready.

    Args:
        context: settings and tokens.
        keys: with what answers have told about them so far.
        require_hf: runs will need the hub, for code, heartbeats and artifacts.
    """
    found: list[str] = []
    if context.settings.skip_net:
        found.append(
            "FLASH_SKIP_NET is set: offline, so nothing can be rented; unset it to use RunPod"
        )
    if not keys:
        why = context.settings.key_problem("runpod")
        found.append(
            f"{VARIABLE}: {why}"
            if why
            else f"{VARIABLE} is not set: RunPod needs an API key; set it"
        )
    found += [sentence for key in keys.keys if (sentence := _about(key, keys))]
    if require_hf and context.hf_token is None:
        found.append(
            "HF_TOKEN is not set: runs keep code, heartbeats and artifacts on the hub; set it"
        )
    return found


def _about(key: Key, keys: KeyRing) -> str:
    access = keys.access(key)
    if access is Access.BAD:
        return f"{VARIABLE}: the key {key.name} is not accepted by RunPod; replace it"
    if access is Access.READ:
        return f"{VARIABLE}: the key {key.name} may only read, so nothing can be rented or destroyed with it"
    return ""
