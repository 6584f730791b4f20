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
    script = f"{code}\nimport sys\nprint('\\n'.join(sorted({{m.partition('.')[0] for m in sys.modules}})), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


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
    # Rich is loaded by httpx itself, for a command line of its own.
    assert "textual" not in modules_loaded_by(code)


def test_status_needs_neither_network_nor_models_nor_the_sql_library() -> None:
    """One line from the store alone, fast enough for a tmux status bar."""
    code = "import flashtui.cli; flashtui.cli.main(['status'])"
    assert modules_loaded_by(code).isdisjoint(
        {"textual", "rich", "httpx", "pydantic", "sqlite_utils"}
    )


def test_the_readme_has_exactly_the_two_commands_that_ci_runs() -> None:
    """A newcomer and the gate go the same way."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    top = readme.partition("## What it is")[0]
    commands = [line for line in top.splitlines() if line.startswith("python3 ")]
    assert commands == ["python3 .ci/setup.py demo", "python3 .ci/setup.py test"]
    assert "python3 .ci/setup.py test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readme_lists_every_command_and_key() -> None:
    """What is documented is what is there."""
    from flashtui.cli.app import COMMANDS
    from tests.make_screenshots import readme_with_keys

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"flashtui {name}" not in readme] == []
    assert readme_with_keys(readme) == readme


def test_nothing_of_this_machine_or_of_a_registry_is_written_down() -> None:
    """A lock or a script with an address in it works in one place only."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    text_files = [ROOT / name for name in listed.split() if not name.endswith((".png", ".svg"))]
    forbidden = ("index-url", "/simple/", str(ROOT) + "/")
    found = [
        f"{file.name}: {word}"
        for file in text_files
        if file.name != Path(__file__).name
        for word in forbidden
        if word in file.read_text(encoding="utf-8", errors="replace")
    ]
    assert found == []
