"""What the import contracts cannot see: deferral, entry points, and that every provider has its modules."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {c["name"]: c for c in PYPROJECT["tool"]["importlinter"]["contracts"]}
FIXED_MODULES = ("api", "auth", "pricing", "gpus", "jobs", "train", "preflight", "wire", "provider")
HEAVY = ("textual", "rich", "httpx", "pydantic", "sqlite_utils", "graphql")


def modules_loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after running ``code``."""
    script = f"{code}\nimport sys\nprint('\\n'.join(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_every_provider_entry_point_is_named_in_the_independence_contract() -> None:
    """A provider added without a contract would be free to import another one."""
    named = set(CONTRACTS["providers do not know each other"]["modules"])
    declared = {e.value.partition(":")[0] for e in entry_points(group="flashtui.providers")}
    assert declared == named


def test_entry_points_of_the_installed_package_are_those_of_the_checkout() -> None:
    """A stale installation would hide a provider from the tests."""
    declared = PYPROJECT["project"]["entry-points"]["flashtui.providers"]
    assert {e.name: e.value for e in entry_points(group="flashtui.providers")} == declared


@pytest.mark.parametrize("provider", ["runpod", "vast"])
def test_every_provider_has_the_fixed_modules(provider: str) -> None:
    """The same file set under every provider is what makes one readable after the other."""
    folder = ROOT / "flashtui" / "providers" / provider
    assert [
        m for m in FIXED_MODULES if not (folder / f"{m}.py").exists() and not (folder / m).is_dir()
    ] == []


def test_the_command_line_loads_nothing_heavy_at_import() -> None:
    """`flashtui --version` must not pay for the dashboard."""
    loaded = modules_loaded_by("import flashtui.cli; flashtui.cli.main(['--version'])")
    assert loaded.isdisjoint(HEAVY)


def test_help_of_every_command_loads_nothing_heavy() -> None:
    """Help is read on a slow link, too."""
    code = (
        "import flashtui.cli\nfrom flashtui.cli.app import COMMANDS\n"
        "for name in COMMANDS: assert flashtui.cli.main([name, '--help']) == 0, name"
    )
    assert modules_loaded_by(code).isdisjoint(HEAVY)


def test_prices_does_not_load_textual() -> None:
    """One-shot commands are for scripts and bastions."""
    code = "import flashtui.cli; assert flashtui.cli.main(['prices', '--demo', '--json']) == 0"
    assert modules_loaded_by(code).isdisjoint({"textual", "rich"})


def test_status_needs_neither_network_nor_models_nor_the_sql_library() -> None:
    """One line from the store alone, fast enough for a tmux status bar."""
    code = "import flashtui.cli; flashtui.cli.main(['status'])"
    assert modules_loaded_by(code).isdisjoint(
        {"textual", "rich", "httpx", "pydantic", "sqlite_utils"}
    )
