"""The reference of ``config.toml``, printed from the same table that loading walks."""

from __future__ import annotations

from flashtui.settings.specs import SECRET_KEYS, SPECS, SettingValue, Spec


def config_reference() -> str:
    """A commented ``config.toml`` with every key at its default."""
    tables: dict[str, list[str]] = {"": []}
    for spec in SPECS:
        table, _, key = spec.key.rpartition(".")
        tables.setdefault(table, []).extend(_entry(key, spec))
    for dotted in SECRET_KEYS:
        table, _, key = dotted.rpartition(".")
        tables.setdefault(table, []).extend(
            [
                "# A key; accepted only while nobody else may read this file (mode 0600).",
                f'# {key} = "..."',
                "",
            ]
        )
    lines = [
        "# flashtui configuration. Everything is optional; an environment variable wins over this file.",
        "",
    ]
    lines += tables.pop("")
    for table, entries in tables.items():
        lines += [f"[{table}]", *entries]
    return "\n".join(lines)


def _entry(key: str, spec: Spec) -> list[str]:
    bounds = "" if spec.low is None else f" ({spec.low:g} to {spec.high:g})"
    variable = f" Variable: {spec.env}." if spec.env else ""
    return [f"# {spec.doc}{bounds}{variable}", f"# {key} = {_toml(spec.default)}", ""]


def _toml(value: SettingValue) -> str:
    if value is None:
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"
