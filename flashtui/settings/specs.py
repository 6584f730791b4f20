"""The table of settings: name, key in ``config.toml``, variable, default, bounds, and what it does.

``flashtui doctor --config`` prints it; loading walks it; nothing is configurable that is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "integer", "flag", "text", "texts"]
SettingValue = float | int | bool | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Spec:
    """One setting.

    Attributes:
        name: field of :class:`~flashtui.settings.Settings`; ``rules.x`` is field ``x`` of its rules.
        key: dotted key in ``config.toml``.
        env: environment variable; None: only the file.
        low: least value; a lower one is raised to it, with a warning.
        high: greatest value, likewise.
    """

    name: str
    key: str
    kind: Kind
    default: SettingValue
    doc: str
    env: str | None = None
    low: float | None = None
    high: float | None = None


DEFAULT_HEADROOM = 1.1


def _flag(name: str, doc: str, *, env: str | None = None, default: bool = False) -> Spec:
    return Spec(name, name, "flag", default, doc, env)


SPECS: tuple[Spec, ...] = (
    Spec("vast_url", "vast.url", "text", "https://console.vast.ai", "Base URL of Vast.", "FLASHTUI_VAST_URL"),
    Spec("runpod_graphql_url", "runpod.graphql_url", "text", "https://api.runpod.io/graphql",
         "RunPod GraphQL: pod prices, balance.", "FLASHTUI_RUNPOD_GRAPHQL_URL"),
    Spec("runpod_rest_url", "runpod.rest_url", "text", "https://api.runpod.io/v2",
         "RunPod REST: catalogue, endpoints, pods.", "FLASHTUI_RUNPOD_REST_URL"),
    Spec("runpod_jobs_url", "runpod.jobs_url", "text", "https://api.runpod.ai/v2", "RunPod job runtime.",
         "FLASHTUI_RUNPOD_JOBS_URL"),
    Spec("hf_endpoint", "hf.endpoint", "text", "https://huggingface.co", "Hub that holds artifacts and heartbeats.",
         "HF_ENDPOINT"),
    Spec("vram_headroom", "vram_headroom", "number", DEFAULT_HEADROOM,
         "Factor on the memory estimate of catalogued and published models.", "FLASH_VRAM_HEADROOM"),
    Spec("poll_seconds", "poll_seconds", "number", 45.0, "Seconds between two price refreshes.",
         "FLASHTUI_POLL_SECONDS", 5.0, 3600.0),
    Spec("db_timeout_s", "db_timeout_s", "number", 10.0, "Seconds to wait for a locked store.", "FLASHTUI_DB_TIMEOUT",
         0.1, 300.0),
    Spec("theme", "theme", "text", None, "Colour theme of the dashboard; unset: chosen for the terminal.",
         "FLASHTUI_THEME"),
    _flag("ascii", "Draw with ASCII characters only.", env="FLASHTUI_ASCII"),
    _flag("no_color", "No colours.", env="NO_COLOR"),
    _flag("read_only", "Show only; nothing can be rented, cancelled or destroyed.", env="FLASHTUI_READ_ONLY"),
    _flag("mouse", "Let the dashboard use the mouse."),
    Spec("preference", "preference", "texts", ("runpod", "vast"),
         "Which provider wins at equal price; others follow by name."),
    Spec("rules.reliability", "rules.reliability", "number", 0.995, "Least reliability of a Vast offer, 0 to 1.",
         None, 0.0, 1.0),
    Spec("rules.inet_down_mbps", "rules.inet_down_mbps", "number", 200.0,
         "Least download speed of a Vast offer, Mbit/s.", None, 0.0, 1_000_000.0),
    Spec("rules.disk_gb", "rules.disk_gb", "integer", 60, "Least disk of a Vast offer, GB, and the disk it is priced with.",
         None, 1, 100_000),
    _flag("rules.verified", "Only verified Vast machines.", default=True),
    _flag("rules.datacenter", "Only Vast machines in data centres.", default=True),
)  # fmt: skip

# Keys of the file that are secrets; they never become fields.
SECRET_KEYS: tuple[str, ...] = ("vast.api_key", "runpod.api_key", "hf.token")
# Tables of providers that are installed beside the two built-in ones: ``[plugins.<name>]``.
PLUGIN_TABLE = "plugins"
