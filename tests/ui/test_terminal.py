"""Which terminal gets what: refused, which characters, which colours, which switches."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flashtui.ui.terminal import needs_ascii, prepare, refusal, theme_for


def test_without_a_terminal_the_dashboard_is_refused_with_a_way_out() -> None:
    for stdin, stderr in ((False, True), (True, False)):
        reason = refusal({"TERM": "xterm"}, stdin_tty=stdin, stderr_tty=stderr)
        assert "--once" in reason


def test_a_dumb_terminal_is_refused_and_others_are_not() -> None:
    assert "TERM=dumb" in refusal({"TERM": "dumb"}, stdin_tty=True, stderr_tty=True)
    for term in ("xterm", "vt100", "linux", "screen", "tmux-256color", ""):
        assert refusal({"TERM": term}, stdin_tty=True, stderr_tty=True) == ""


def test_textual_is_told_to_be_quiet_and_a_persons_own_values_stand() -> None:
    env = {"TEXTUAL_FPS": "5"}
    prepare(env, no_color=False)
    assert env["TEXTUAL_ANIMATIONS"] == "none"
    assert env["TEXTUAL_FPS"] == "5"
    assert "TEXTUAL_DISABLE_KITTY_KEY" not in env
    assert "NO_COLOR" not in env


@pytest.mark.parametrize("name", ["SSH_TTY", "SSH_CONNECTION", "TMUX"])
def test_the_kitty_protocol_stays_off_on_a_remote_terminal(name: str) -> None:
    env = {name: "x"}
    prepare(env, no_color=True)
    assert env["TEXTUAL_DISABLE_KITTY_KEY"] == "1"
    assert env["NO_COLOR"] == "1"


@pytest.mark.parametrize(
    ("env", "encoding", "ascii_only"),
    [
        ({"LANG": "en_US.UTF-8"}, "utf-8", False),
        ({"LC_ALL": "xx_XX.UTF-8"}, "utf-8", False),
        ({"LANG": "en_US.ISO-8859-1"}, "iso-8859-1", True),
        ({"LC_ALL": "C"}, "ascii", True),
        ({"LC_ALL": "C"}, "utf-8", True),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, "utf-8", True),
        ({}, "utf-8", False),
        ({}, "ascii", True),
        ({}, None, True),
    ],
)
def test_the_locale_decides_on_the_characters(
    env: dict[str, str], encoding: str | None, *, ascii_only: bool
) -> None:
    assert needs_ascii(env, encoding) is ascii_only


@pytest.mark.parametrize(
    ("env", "theme"),
    [
        ({"TERM": "xterm-256color"}, "flash-dark"),
        ({"TERM": "tmux-256color"}, "flash-dark"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "flash-dark"),
        ({"TERM": "xterm-kitty"}, "flash-dark"),
        ({"TERM": "vt100"}, "ansi-dark"),
        ({"TERM": "linux"}, "ansi-dark"),
        ({"TERM": "screen"}, "ansi-dark"),
        ({}, "ansi-dark"),
    ],
)
def test_the_terminal_decides_on_the_theme(env: dict[str, str], theme: str) -> None:
    assert theme_for(env, None, no_color=False) == theme
    assert theme_for(env, "contrast", no_color=False) == "contrast"
    assert theme_for(env, None, no_color=True) == "ansi-dark"


def test_the_way_to_the_dashboard_does_not_import_textual_before_it_is_needed() -> None:
    code = "import sys, flashtui.ui.run; print('textual' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
