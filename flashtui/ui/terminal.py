"""What kind of terminal this is, decided before Textual is imported: usable at all, which characters, which colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

# Looked at by Textual when it is imported; a person's own values stand.
_QUIET = {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_FPS": "30", "TEXTUAL_SMOOTH_SCROLL": "0"}
_REMOTE = ("SSH_TTY", "SSH_CONNECTION", "TMUX")
_RICH_TERMS = ("256color", "direct", "kitty", "alacritty", "ghostty", "foot", "wezterm")
_TRUE_COLOURS = {"truecolor", "24bit"}


def refusal(env: Mapping[str, str], *, stdin_tty: bool, stderr_tty: bool) -> str:
    """Why no dashboard can be opened here, with what to do instead; empty: it can."""
    instead = "use `flashtui --once` for one frame as text, or `flashtui prices --json`"
    if not (stdin_tty and stderr_tty):
        return f"flashtui: the dashboard needs a terminal on standard input and standard error; {instead}"
    if env.get("TERM", "") == "dumb":
        return f"flashtui: TERM=dumb cannot show a dashboard; {instead}"
    return ""


def prepare(env: MutableMapping[str, str], *, no_color: bool) -> None:
    """Set what Textual reads from the environment at import."""
    for name, value in _QUIET.items():
        env.setdefault(name, value)
    if any(env.get(name) for name in _REMOTE):
        # The protocol stays switched on in the person's terminal when a link drops.
        env.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")
    if no_color:
        env.setdefault("NO_COLOR", "1")


def needs_ascii(env: Mapping[str, str], encoding: str | None) -> bool:
    """Whether the terminal can take ASCII only, by the locale of its session.

    Args:
        env: the environment.
        encoding: of standard error, as Python sees it.
    """
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    if "utf" in locale.lower():
        return False
    if locale and locale.upper() not in {"C", "POSIX"}:
        return True
    return "utf" not in (encoding or "").lower() or bool(env.get("LC_ALL"))


def theme_for(env: Mapping[str, str], wanted: str | None, *, no_color: bool) -> str:
    """The theme to start with: as wished, else the one for this terminal's colours."""
    if wanted is not None:
        return wanted
    term = env.get("TERM", "")
    colourful = env.get("COLORTERM", "").lower() in _TRUE_COLOURS or any(
        word in term for word in _RICH_TERMS
    )
    return "flash-dark" if colourful and not no_color else "ansi-dark"
