"""The writer: a stuck or vanished terminal never blocks whoever draws."""

from __future__ import annotations

import io
import os
import pty
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from flashtui.ui.writer import DroppingWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

HANG_S = 20.0


class Fd(io.StringIO):
    """A file with nothing but a descriptor."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self.fd = fd

    def fileno(self) -> int:
        return self.fd


@contextmanager
def writer(fd: int, encoding: str = "utf-8") -> Iterator[tuple[DroppingWriter, threading.Event]]:
    drained = threading.Event()
    made = DroppingWriter(cast("IO[str]", Fd(fd)), encoding=encoding, on_drain=drained.set)
    made.start()
    try:
        yield made, drained
    finally:
        made.hang_up()
        made.stop()


def read_until(fd: int, end: bytes) -> bytes:
    got = b""
    while end not in got:
        got += os.read(fd, 65536)
    return got


def test_what_is_written_arrives_in_order() -> None:
    master, slave = pty.openpty()
    with writer(slave) as (made, _):
        for n in range(20):
            made.write(f"<{n}>")
        assert read_until(master, b"<19>") == b"".join(b"<%d>" % n for n in range(20))
    os.close(master)
    os.close(slave)


def test_a_stuck_terminal_costs_frames_not_the_writer_and_asks_for_one_repaint() -> None:
    """Nobody reads; a thousand frames are handed over at once; then somebody reads again."""
    master, slave = pty.openpty()
    with writer(slave) as (made, drained):
        for _ in range(1_000):
            made.write("x" * 2_000)
        assert made.dropped > 0
        assert not drained.is_set()
        os.set_blocking(master, True)
        reader = threading.Thread(target=lambda: read_until(master, b"END"), daemon=True)
        reader.start()
        assert drained.wait(HANG_S)
        assert made.dropped == 0
        made.write("END")
        reader.join(HANG_S)
        assert not reader.is_alive()
    os.close(master)
    os.close(slave)


def test_a_vanished_terminal_is_not_written_to_again() -> None:
    master, slave = pty.openpty()
    os.close(master)
    with writer(slave) as (made, _):
        made.write("into the void")
        made.join(0)
        for _ in range(1_000):
            made.write("x")
        made.stop()
        assert made.gone
        assert not made.is_alive()
    os.close(slave)


def test_what_the_terminal_cannot_say_becomes_a_question_mark() -> None:
    master, slave = pty.openpty()
    with writer(slave, "ascii") as (made, _):
        made.write("a\u2502b\ud800c.")
        assert read_until(master, b".") == b"a?b?c."
    os.close(master)
    os.close(slave)


def test_the_end_gets_through_although_frames_wait() -> None:
    master, slave = pty.openpty()
    with writer(slave) as (made, _):
        for _ in range(200):
            made.write("x" * 4_000)
        made.make_room()
        made.write("RESTORED")
        reader: list[bytes] = []
        thread = threading.Thread(
            target=lambda: reader.append(read_until(master, b"RESTORED")), daemon=True
        )
        thread.start()
        made.stop()
        thread.join(HANG_S)
        assert reader
    os.close(master)
    os.close(slave)
