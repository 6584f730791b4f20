"""Set up flashtui in .venv beside this checkout, then open the demo dashboard or run the tests.

usage: python3 .ci/setup.py demo [flashtui options]
       python3 .ci/setup.py test [pytest options]
       python3 .ci/setup.py install

Written so that old interpreters can read it far enough to say what is missing. Standard library only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
FLASHTUI = VENV / "bin" / "flashtui"
LOCK = ROOT / "requirements.lock"
STAMP = VENV / "made-from.sha256"
WANTED = (3, 11)
NEWER = ("python3.13", "python3.12", "python3.11")


def interpreter():
    """This interpreter, or a newer one on PATH; leaves with one sentence when there is none."""
    if sys.version_info >= WANTED:
        return sys.executable
    found = next((path for path in map(shutil.which, NEWER) if path), None)
    if found is None:
        sys.exit(
            f"flashtui needs Python 3.11 or newer and found only {sys.version.split()[0]}; "
            "`uv tool install .` brings a newer Python along."
        )
    return found


def up_to_date():
    """Whether .venv exists and was made from this very lock."""
    if not PYTHON.exists() or not STAMP.exists():
        return False
    return STAMP.read_text().strip() == hashlib.sha256(LOCK.read_bytes()).hexdigest()


def run(*command):
    """Run one step; its failure is this program's failure."""
    code = subprocess.call([str(word) for word in command], cwd=str(ROOT))
    if code:
        sys.exit(code if code > 0 else 128 - code)


def pip(*options):
    """Install into .venv."""
    run(PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "-q", *options)


def install():
    """Make .venv from the lock when it is missing or out of date, and put this checkout into it."""
    if not up_to_date():
        print("setting up .venv (once; about half a minute) ...", file=sys.stderr)
        if subprocess.call([interpreter(), "-m", "venv", "--clear", str(VENV)]):
            sys.exit(
                "no virtual environment could be made; on Debian and Ubuntu: apt install python3-venv"
            )
        pip("--require-hashes", "-r", LOCK)
        STAMP.write_text(hashlib.sha256(LOCK.read_bytes()).hexdigest())
    pip("--no-deps", "--no-build-isolation", "--force-reinstall", ROOT)


def test(options):
    """The whole suite; the installed command first, since a broken one makes the rest moot."""
    if options:
        run(PYTHON, "-m", "pytest", *options)
        return
    run(PYTHON, "-m", "pytest", "-q", "-m", "e2e")
    run(PYTHON, "-m", "coverage", "erase")
    run(PYTHON, "-m", "coverage", "run", "-m", "pytest", "-q", "-m", "not e2e")
    run(PYTHON, "-m", "coverage", "report", "--skip-covered", "--skip-empty")


def main():
    """Dispatch."""
    what, options = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if what not in ("demo", "test", "install"):
        sys.exit(__doc__)
    install()
    if what == "demo":
        os.execv(str(FLASHTUI), [str(FLASHTUI), "--demo", *options])
    if what == "test":
        test(options)


if __name__ == "__main__":
    main()
