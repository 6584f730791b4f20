"""Real work: what a rented machine would run, as a local process that lives and dies with the machine.

Off by default. A surface asks `World.work`, and where it is not None hands over the command and the environment that
the client sent; nothing else of the host's environment is passed on but where programs are found. The process gets a
folder of its own as home and working directory, and a process group of its own, so that the machine's end takes
everything it started with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LOG_BYTES = 256_000
_CONSOLE = "console.log"


@dataclass(slots=True)
class _Machine:
    process: subprocess.Popen[bytes]
    folder: Path


class Work:
    """Local processes by machine.

    Args:
        network: variables every process gets beside the client's own: the simulated addresses (for example
            `HF_ENDPOINT`), so that nothing it does leaves the loopback.
    """

    def __init__(self, network: Mapping[str, str] | None = None) -> None:
        self.network = dict(network or {})
        self._machines: dict[str, _Machine] = {}
        self._root = Path(tempfile.mkdtemp(prefix="flashtui-work-"))

    def start(self, machine_id: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Start a machine's command; a machine that already runs is left alone.

        A command that cannot be started leaves its reason in the log and counts as ended with code 127.

        Args:
            machine_id: any text; the key for everything else here.
            command: program and arguments, as the container would get them.
            env: what the client sent; it wins over the simulated network.
        """
        if machine_id in self._machines:
            return
        folder = Path(tempfile.mkdtemp(dir=self._root))
        command = list(command)
        if shutil.which(command[0], path=_search_path()) is None:
            message = f"{command[0]}: not found"
            command = [sys.executable, "-c", f"import sys; print({message!r}); sys.exit(127)"]
        with (folder / _CONSOLE).open("wb") as console:
            process = subprocess.Popen(  # noqa: S603 - running what the client sent is the purpose, and opt-in
                command,
                cwd=folder,
                env=self._environment(folder, env),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._machines[machine_id] = _Machine(process, folder)

    def _environment(self, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        base = {
            "PATH": _search_path(),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
        }
        return {**base, **self.network, **{str(key): str(value) for key, value in env.items()}}

    def is_running(self, machine_id: str) -> bool:
        """Whether the machine has a process that has not ended."""
        return machine_id in self._machines and self.exit_code(machine_id) is None

    def exit_code(self, machine_id: str) -> int | None:
        """How the process ended; None while it runs, and for a machine that has none."""
        machine = self._machines.get(machine_id)
        return None if machine is None else machine.process.poll()

    def output(self, machine_id: str) -> str:
        """The newest part of what the process has printed; empty for a machine that has none."""
        machine = self._machines.get(machine_id)
        if machine is None:
            return ""
        path = machine.folder / _CONSOLE
        with path.open("rb") as console:
            console.seek(max(0, path.stat().st_size - _LOG_BYTES))
            return console.read().decode("utf-8", "replace")

    def kill(self, machine_id: str) -> None:
        """End a machine with everything it started, and forget it; without a process this does nothing."""
        machine = self._machines.pop(machine_id, None)
        if machine is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(machine.process.pid, signal.SIGKILL)
        machine.process.wait()
        shutil.rmtree(machine.folder, ignore_errors=True)

    def kill_all(self) -> None:
        """End every machine."""
        for machine_id in list(self._machines):
            self.kill(machine_id)

    def close(self) -> None:
        """End every machine and remove all folders."""
        self.kill_all()
        shutil.rmtree(self._root, ignore_errors=True)


def _search_path() -> str:
    """Where programs are found: this interpreter first, so that `python` in a command is one that exists."""
    return os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
