"""Several threads and processes on one file: no lock errors, nothing lost, changes noticed."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import StoreError
from flashtui.store import Store, Tables
from flashtui.store.db import Db
from flashtui.store.thread import StoreThread
from tests import build

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import sys
from pathlib import Path
from flashtui.store import Tables
from flashtui.store.db import Db
from tests import build
db = Db(Path(sys.argv[1]), timeout_s=20.0)
for number in range(int(sys.argv[3])):
    with db.writing() as connection:
        tables = Tables(connection)
        # Read first: a deferred transaction would fail here as soon as another process has written.
        tables.runs.list()
        tables.runs.add(build.run(f"{sys.argv[2]}-{number}", resources=()))
    with db.reading() as connection:
        Tables(connection).runs.list()
db.close()
"""


def start(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*processes: subprocess.Popen[str]) -> list[str]:
    return [process.communicate(timeout=60)[1] for process in processes]


def count(path: Path) -> int:
    db = Db(path, timeout_s=5.0)
    with db.reading() as connection:
        number = len(Tables(connection).runs.list())
    db.close()
    return number


def test_two_processes_write_200_times_each_without_a_lock_error(path: Path) -> None:
    assert finish(start(path, "a", 200), start(path, "b", 200)) == ["", ""]
    assert count(path) == 400


def test_two_threads_write_200_times_each_without_a_lock_error(path: Path) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        db = Db(path, timeout_s=20.0)
        try:
            for number in range(200):
                with db.writing() as connection:
                    Tables(connection).runs.list()
                    Tables(connection).runs.add(build.run(f"{name}-{number}", resources=()))
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)
        finally:
            db.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert count(path) == 400


def test_twelve_processes_make_a_fresh_file_at_once(path: Path) -> None:
    """C111: the switch to WAL and the first migration happen once, and nobody fails."""
    assert finish(*(start(path, f"p{n}", 1) for n in range(12))) == [""] * 12
    assert count(path) == 12


def test_the_token_moves_for_every_writer_and_only_then(path: Path, db: Db) -> None:
    first = db.token()
    assert db.token() == first
    with db.writing() as connection:
        Tables(connection).runs.add(build.run())
    second = db.token()
    assert second != first
    other = Db(path, timeout_s=1.0)
    with other.writing() as connection:
        Tables(connection).runs.add(build.run("flash-2", resources=()))
    other.close()
    assert db.token() != second


def test_a_transaction_that_fails_leaves_nothing(db: Db) -> None:
    with contextlib.suppress(ZeroDivisionError), db.writing() as connection:
        Tables(connection).runs.add(build.run())
        raise ZeroDivisionError
    with db.reading() as connection:
        assert Tables(connection).runs.list() == ()


def test_the_journal_stays_bounded_under_a_reader_and_a_writer(path: Path) -> None:
    """C120: readers end their transactions, so that the journal starts over."""
    writer, reader = Db(path, timeout_s=5.0), Db(path, timeout_s=5.0)
    largest = 0
    for number in range(1500):
        with writer.writing() as connection:
            Tables(connection).prices.sample(
                build.sheet(build.quote(observed_at=build.ago(number)))
            )
        with reader.reading() as connection:
            Tables(connection).runs.list()
        largest = max(largest, path.with_name("flashtui.db-wal").stat().st_size)
    writer.close()
    reader.close()
    assert largest < 16_000_000


class TestOwner:
    async def test_work_is_done_one_after_the_other_on_one_thread(self) -> None:
        owner = StoreThread()
        done: list[tuple[int, int]] = []

        def work(number: int) -> int:
            done.append((number, threading.get_ident()))
            return number

        results = await asyncio.gather(*(owner.run(lambda n=n: work(n)) for n in range(20)))  # type: ignore[misc]
        await owner.close(lambda: done.append((99, threading.get_ident())))
        assert results == list(range(20))
        assert [number for number, _ in done] == [*range(20), 99]
        assert len({thread for _, thread in done}) == 1
        assert threading.get_ident() not in {thread for _, thread in done}

    async def test_a_failure_reaches_who_asked_and_nobody_else(self) -> None:
        owner = StoreThread()
        with pytest.raises(ZeroDivisionError):
            await owner.run(lambda: 1 // 0)
        assert await owner.run(lambda: 7) == 7
        await owner.close(lambda: None)

    async def test_work_that_is_no_longer_wanted_is_not_begun(self) -> None:
        owner, gate, done = StoreThread(), threading.Event(), []
        first = asyncio.ensure_future(owner.run(gate.wait))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(owner.run(lambda: done.append(1)))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await first
        await owner.close(lambda: None)
        assert done == []

    async def test_after_closing_nothing_is_taken(self) -> None:
        owner = StoreThread()
        await owner.close(lambda: None)
        await owner.close(lambda: None)
        with pytest.raises(StoreError, match="closed"):
            await owner.run(lambda: 1)


async def test_a_store_reads_writes_and_closes(path: Path) -> None:
    store = await Store.open(path)
    before = await store.token()
    assert await store.write(lambda tables: tables.runs.add(build.run()))
    assert await store.token() != before
    runs = await store.run(lambda tables: tables.runs.list())
    assert [run.run_id for run in runs] == ["flash-1"]
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.token()
