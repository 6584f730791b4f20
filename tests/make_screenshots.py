"""Makes ``screenshots/`` from seeded simulator worlds, and the key table of the README; ``--check`` says what is out of date.

The simulator's clock stands still, so that the same code gives the same picture.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from flashtui.bootstrap.seeding import import_items
from flashtui.bootstrap.session import open_session
from flashtui.bootstrap.tools import open_tools
from flashtui.settings import Settings
from flashtui.sim.server import start_in_thread
from flashtui.ui.app import FlashApp
from flashtui.ui.keys import KEYS
from flashtui.ui.terminal import prepare

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "screenshots"
README = ROOT / "README.md"
START = 1_796_126_400.0  # 2026-12-01 12:00 UTC
STARTED, ENDED = "<!-- keys:start -->\n", "<!-- keys:end -->"
_DEADLINE_S = 60.0


@dataclass(frozen=True)
class Shot:
    """One picture: size, and the keys that lead to it."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()


SHOTS = (
    Shot("dashboard-200x60", (200, 60)),
    Shot("dashboard-120x40", (120, 40)),
    Shot("dashboard-80x24", (80, 24)),
    Shot("plan-120x40", (120, 40), ("3", "plus", "e")),
    Shot("destroy-120x40", (120, 40), ("2", "j", "j", "j", "D")),
    Shot("help-120x40", (120, 40), ("question_mark",)),
)


async def svg_of(shot: Shot) -> str:
    """The picture of one dashboard on the calm market."""
    running = start_in_thread("calm", 7, 0.0, 0, start=START)
    try:
        with tempfile.TemporaryDirectory() as folder:
            env = {**running.exports(), "FLASHTUI_HOME": folder, "HOME": folder}
            settings = Settings.load(env)
            async with open_tools(settings, env) as tools:
                await import_items(settings, running.world.seed_runs(), tools.clock.now())
                async with open_session(tools) as session:
                    session.start_feeds()
                    async with asyncio.timeout(_DEADLINE_S):
                        while not _is_complete(session):  # noqa: ASYNC110 - a script; the board wakes nobody here
                            await asyncio.sleep(0.01)
                    app = FlashApp(session, theme="flash-dark", tick_s=None)
                    async with app.run_test(size=shot.size) as pilot:
                        await pilot.pause()
                        await pilot.press(*shot.keys)
                        await pilot.pause(0.5)
                        return tidy(app.export_screenshot(title="flashtui"))
    finally:
        running.close()


def _is_complete(session: object) -> bool:
    snapshot = session.board.snapshot  # type: ignore[attr-defined]
    health = [h for h in snapshot.health if h.provider]
    return (
        bool(health) and all(h.state == "ok" for h in health) and snapshot.plan.report is not None
    )


def tidy(svg: str) -> str:
    """Without fonts from elsewhere and without the number that differs from run to run."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    return svg.replace("Fira Code", "DejaVu Sans Mono, Fira Code")


def png_of(svg: str) -> bytes:
    """The same picture as PNG, for places that show no SVG."""
    import cairosvg

    narrowed = svg.replace("DejaVu Sans Mono, Fira Code", "DejaVu Sans Mono")
    # A cell is 12.2 wide and this font's letters are 0.602 of their size: at this size they fill cells exactly, and
    # nothing has to be stretched, which the renderer does unevenly. The scale makes a cell 13 whole pixels.
    narrowed = narrowed.replace("font-size: 20px", "font-size: 20.2658px")
    narrowed = re.sub(r' textLength="[^"]*"', "", narrowed)
    image: bytes = cairosvg.svg2png(bytestring=narrowed.encode(), scale=13 / 12.2)
    return image


def key_table() -> str:
    """The README's key table, from the one table of keys."""
    return "".join(f"| `{key.caption}` | {key.help} |\n" for key in KEYS if key.help).replace(
        "`|`", "`\\|`"
    )


def readme_with_keys(text: str) -> str:
    """The README with the table of keys as it is now."""
    before, _, rest = text.partition(STARTED)
    _, _, after = rest.partition(ENDED)
    return f"{before}{STARTED}{key_table()}{ENDED}{after}"


def stale() -> list[str]:
    """What does not show the program as it is."""
    wrong = (
        []
        if readme_with_keys(README.read_text("utf-8")) == README.read_text("utf-8")
        else ["README.md (keys)"]
    )
    for shot in SHOTS:
        file = FOLDER / f"{shot.name}.svg"
        now = asyncio.run(svg_of(shot))
        if not file.exists() or file.read_text("utf-8") != now:
            wrong.append(file.name)
        elif digest_file(shot).read_text("utf-8").strip() != digest(now):
            wrong.append(f"{shot.name}.png")
    return wrong


def digest(svg: str) -> str:
    """Which drawing a PNG was made from; its own bytes depend on the fonts of the machine."""
    return hashlib.sha256(svg.encode()).hexdigest()


def digest_file(shot: Shot) -> Path:
    """Where that is kept."""
    return FOLDER / f"{shot.name}.png.from"


def make() -> None:
    """Write everything anew."""
    FOLDER.mkdir(exist_ok=True)
    for shot in SHOTS:
        svg = asyncio.run(svg_of(shot))
        (FOLDER / f"{shot.name}.svg").write_text(svg, "utf-8")
        (FOLDER / f"{shot.name}.png").write_bytes(png_of(svg))
        digest_file(shot).write_text(digest(svg) + "\n", "utf-8")
    README.write_text(readme_with_keys(README.read_text("utf-8")), "utf-8")


def main() -> int:
    """Make, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only say what is out of date; exit 1 when anything is"
    )
    options = parser.parse_args()
    for name in [
        n for n in os.environ if n.startswith("TEXTUAL_") or n in {"NO_COLOR", "FORCE_COLOR"}
    ]:
        del os.environ[name]
    prepare(os.environ, no_color=False)
    if not options.check:
        make()
        return 0
    wrong = stale()
    for name in wrong:
        print(
            f"out of date: {name}; run `python -m tests.make_screenshots` and look at the pictures",
            file=sys.stderr,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
