"""When the dashboard ends on a fault: a report without secrets, two lines, an honest exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flashtui.ui.app import CRASHED, FlashApp
from flashtui.ui.crash import write_report
from tests.fakes import T0
from tests.ui.host import dashboard
from tests.ui.session import ScriptedSession

if TYPE_CHECKING:
    from pathlib import Path

KEY = "rpa_CANARY0123456789"


def redact(text: str) -> str:
    return text.replace(KEY, "[secret]")


def reports_in(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.glob("crash-*.txt")]


def fail() -> None:
    api_key = KEY  # a local that a careless report would show
    message = f"request with {api_key} failed"
    raise RuntimeError(message)


def caught() -> RuntimeError:
    with pytest.raises(RuntimeError) as found:
        fail()
    return found.value


def test_the_report_has_the_place_and_no_secret(tmp_path: Path) -> None:
    said, path = write_report(caught(), tmp_path, T0, redact)
    assert path is not None
    report = path.read_text(encoding="utf-8")
    assert "in fail" in report
    assert "RuntimeError" in report
    assert KEY not in report + said.plain
    assert path.stat().st_mode & 0o077 == 0
    assert str(path) in said.plain
    assert len(said.plain.splitlines()) == 2


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    said, path = write_report(caught(), tmp_path / "missing", T0, redact)
    assert path is None
    assert "no report could be written" in said.plain


async def test_a_fault_that_nobody_contained_ends_with_a_report_and_a_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = ScriptedSession()

    async def crash() -> None:
        async with dashboard(session, report_dir=tmp_path, redact=redact) as board:
            board.app.call_later(fail)
            await board.press()

    with pytest.raises(RuntimeError):
        await crash()
    reports = reports_in(tmp_path)
    assert len(reports) == 1
    assert KEY not in reports[0]
    assert KEY not in capsys.readouterr().err


async def test_the_exit_code_after_a_fault_is_not_zero(tmp_path: Path) -> None:
    app = FlashApp(ScriptedSession(), tick_s=None, report_dir=tmp_path)
    with pytest.raises(RuntimeError):  # noqa: PT012 - the pilot re-raises when its block ends
        async with app.run_test() as pilot:
            app.call_later(fail)
            await pilot.pause()
    assert app.return_code == CRASHED


async def test_faults_after_the_end_are_not_piled_up() -> None:
    async with dashboard(ScriptedSession()) as board:
        app: Any = board.app
        app.exit(return_code=0)
        app._handle_exception(RuntimeError("late"))
        assert app.return_code == 0


async def test_a_feed_that_raises_in_the_screen_does_not_end_it() -> None:
    """A fault in an action is the dashboard's own; the next key works."""
    session = ScriptedSession()

    def broken() -> None:
        message = "refresh is broken"
        raise RuntimeError(message)

    session.refresh = broken  # type: ignore[method-assign]
    async with dashboard(session) as board:
        await board.press("R")
        assert board.app.is_running
        await board.press("2")
        assert board.screen.active == "runs"
        assert board.app.kit.faults.newest is not None
