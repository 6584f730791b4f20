"""The six themes: colours for Textual's own parts, and what each role of the dashboard looks like."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_THEME = "flash-dark"
ANSI_THEME = "ansi-dark"


def _roles(
    *,
    text: str,
    dim: str,
    key: str,
    frame: str,
    focus: str,
    cursor: str,
    idle_cursor: str,
    good: str,
    warn: str,
    bad: str,
    alarm: str,
    tag: str,
    price: str,
) -> Mapping[str, str]:
    return MappingProxyType(
        {
            "": text,
            "dim": dim,
            "bold": "bold",
            "head": dim,
            "head.sort": f"bold {key}",
            "title": dim,
            "title.focus": f"bold {key}",
            "frame": frame,
            "frame.focus": focus,
            "cursor": cursor,
            "cursor.idle": idle_cursor,
            "key": f"bold {key}",
            "price": price,
            "estimate": f"italic {dim}",
            "good": good,
            "warn": warn,
            "bad": f"bold {bad}",
            "alarm": alarm,
            "tag": tag,
            "mark": f"bold {key}",
            "button": "reverse",
            "field": f"bold {key}",
        }
    )


ROLES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "flash-dark": _roles(
            text="#c9d1d9 on #0d1117",
            dim="#8b949e",
            key="#79c0ff",
            frame="#30363d",
            focus="#58a6ff",
            cursor="bold #f0f6fc on #1f4b7d",
            idle_cursor="#c9d1d9 on #21262d",
            good="#56d364",
            warn="#e3b341",
            bad="#ff7b72",
            alarm="bold #0d1117 on #ff7b72",
            tag="bold #0d1117 on #e3b341",
            price="bold #e6edf3",
        ),
        "flash-light": _roles(
            text="#24292f on #ffffff",
            dim="#57606a",
            key="#0550ae",
            frame="#d0d7de",
            focus="#0969da",
            cursor="bold #ffffff on #0550ae",
            idle_cursor="#24292f on #d8dee4",
            good="#116329",
            warn="#7d4e00",
            bad="#a40e26",
            alarm="bold #ffffff on #a40e26",
            tag="bold #ffffff on #7d4e00",
            price="bold #1f2328",
        ),
        "contrast": _roles(
            text="#ffffff on #000000",
            dim="#d0d0d0",
            key="#00ffff",
            frame="#a0a0a0",
            focus="#ffffff",
            cursor="bold #000000 on #ffff00",
            idle_cursor="bold #ffffff on #444444",
            good="#7fff7f",
            warn="#ffff00",
            bad="#ff9f9f",
            alarm="bold #000000 on #ff9f9f",
            tag="bold #000000 on #ffff00",
            price="bold #ffffff",
        ),
        # The axis of good and bad is blue and orange: the two that the common colour blindnesses keep apart.
        "deuter": _roles(
            text="#d6e0ec on #10131a",
            dim="#8d99ae",
            key="#8ecae6",
            frame="#33415c",
            focus="#8ecae6",
            cursor="bold #ffffff on #274c77",
            idle_cursor="#d6e0ec on #1b263b",
            good="#6cb6ff",
            warn="#ffd166",
            bad="#ff9f1c",
            alarm="bold #10131a on #ff9f1c",
            tag="bold #10131a on #ffd166",
            price="bold #edf2f4",
        ),
        "ansi-dark": _roles(
            text="none",
            dim="dim",
            key="cyan",
            frame="dim",
            focus="cyan",
            cursor="bold reverse",
            idle_cursor="underline",
            good="green",
            warn="yellow",
            bad="red",
            alarm="bold reverse red",
            tag="bold reverse yellow",
            price="bold",
        ),
        "ansi-light": _roles(
            text="none",
            dim="dim",
            key="blue",
            frame="dim",
            focus="blue",
            cursor="bold reverse",
            idle_cursor="underline",
            good="green",
            warn="magenta",
            bad="red",
            alarm="bold reverse red",
            tag="bold reverse magenta",
            price="bold",
        ),
        "plain": _roles(
            text="none",
            dim="dim",
            key="bold",
            frame="none",
            focus="bold",
            cursor="bold reverse",
            idle_cursor="underline",
            good="none",
            warn="bold",
            bad="bold",
            alarm="bold reverse",
            tag="bold reverse",
            price="bold",
        ),
    }
)

_QUIET_INPUT = MappingProxyType(
    {"input-cursor-text-style": "reverse", "block-hover-background": "transparent"}
)


def _rgb(
    name: str, *, dark: bool, background: str, foreground: str, primary: str, frame: str
) -> Theme:
    return Theme(
        name=name,
        primary=primary,
        foreground=foreground,
        background=background,
        surface=background,
        panel=background,
        dark=dark,
        variables={**_QUIET_INPUT, "frame": frame, "frame-focus": primary},
    )


def _ansi(name: str, *, dark: bool, primary: str) -> Theme:
    return Theme(
        name=name,
        ansi=True,
        primary=primary,
        secondary="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        accent=primary,
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        dark=dark,
        variables={
            "frame": "ansi_default",
            "frame-focus": primary,
            "ansi-background": "ansi_black" if dark else "ansi_white",
            "ansi-foreground": "ansi_white" if dark else "ansi_black",
            "input-cursor-background": "ansi_default",
            "input-cursor-foreground": "ansi_default",
            "input-cursor-text-style": "reverse",
            "input-selection-background": "ansi_cyan",
            "input-selection-foreground": "ansi_black",
        },
    )


THEMES: Mapping[str, Theme] = MappingProxyType(
    {
        theme.name: theme
        for theme in (
            _rgb(
                "flash-dark",
                dark=True,
                background="#0d1117",
                foreground="#c9d1d9",
                primary="#58a6ff",
                frame="#30363d",
            ),
            _rgb(
                "flash-light",
                dark=False,
                background="#ffffff",
                foreground="#24292f",
                primary="#0969da",
                frame="#d0d7de",
            ),
            _rgb(
                "contrast",
                dark=True,
                background="#000000",
                foreground="#ffffff",
                primary="#00ffff",
                frame="#a0a0a0",
            ),
            _rgb(
                "deuter",
                dark=True,
                background="#10131a",
                foreground="#d6e0ec",
                primary="#8ecae6",
                frame="#33415c",
            ),
            _ansi("ansi-dark", dark=True, primary="ansi_cyan"),
            _ansi("ansi-light", dark=False, primary="ansi_blue"),
        )
    }
)


def theme_after(name: str, *, ansi_only: bool = False) -> str:
    """The next theme in the cycle; without colours only those that send none."""
    names = [n for n, theme in THEMES.items() if theme.ansi or not ansi_only]
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]
