"""Opening the store: private files, one schema, and a sentence of its own for everything that can be wrong."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import StoreError
from flashtui.store import Store, Tables, paths, reading, schema
from flashtui.store.db import Db
from flashtui.store.failures import sentence
from tests import build

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 65534


def raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def fill(path: Path, *names: str) -> None:
    db = Db(path, timeout_s=1.0)
    with db.writing() as connection:
        for name in names or ("flash-1",):
            Tables(connection).runs.add(build.run(name, resources=(build.rented(name, name),)))
    db.close()


def open_now(path: Path) -> str:
    """What opening (and a first read) says; empty: nothing is wrong."""
    db = Db(path, timeout_s=0.05)
    try:
        with db.reading() as connection:
            Tables(connection).runs.list()
    except StoreError as error:
        return str(error)
    finally:
        db.close()
    return ""


def test_directory_and_files_are_private(path: Path) -> None:
    db = Db(path, timeout_s=1.0)
    with db.writing() as connection:
        Tables(connection).runs.add(build.run())
        files = list(path.parent.iterdir())
        modes = {f.name: f.stat().st_mode & 0o777 for f in files}
    db.close()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert modes == {"flashtui.db": 0o600, "flashtui.db-wal": 0o600, "flashtui.db-shm": 0o600}


def test_tables_are_strict_and_the_journal_is_a_wal(path: Path) -> None:
    fill(path)
    with closing(raw(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        ours = connection.execute(
            "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'"
        )
        strict = {name: flag for name, flag in ours if not name.startswith(("sqlite_", "_sqlite_"))}
        assert set(strict.values()) == {1}
        assert {"runs", "resources", "operations", "audit"} <= set(strict)
        done = connection.execute("SELECT migration_set, name FROM _sqlite_migrations").fetchall()
        assert done == [("flashtui", "0001_first")]


def test_text_in_place_of_a_database(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("not a database\n" * 100)
    assert "no SQLite file" in open_now(path)
    assert str(path) in open_now(path)
    assert path.read_text() == "not a database\n" * 100


def test_another_programs_database(path: Path) -> None:
    path.parent.mkdir()
    with closing(raw(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    assert "of another program" in open_now(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_left_alone(path: Path) -> None:
    """C118: the check comes before any write."""
    fill(path)
    with closing(raw(path)) as connection:
        connection.execute("ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT 'x'")
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    assert "written by a newer flashtui" in open_now(path)
    assert path.read_bytes() == before


def test_a_file_that_is_upgraded_while_open_is_not_written_any_more(path: Path, db: Db) -> None:
    with db.writing() as connection:
        Tables(connection).runs.add(build.run())
    with closing(raw(path)) as other:
        other.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(StoreError, match="newer flashtui"), db.writing() as connection:
        Tables(connection).runs.add(build.run("flash-2"))
    with closing(raw(path)) as other:
        assert other.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_a_damaged_page_is_told_and_nothing_is_changed(path: Path) -> None:
    """C114: 4 KiB of zeros in the middle."""
    fill(path, *(f"flash-{n}" for n in range(200)))
    with closing(raw(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
        ).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))
    before = path.read_bytes()
    assert "is damaged" in open_now(path)
    assert path.read_bytes() == before


def test_a_directory_in_its_place(path: Path) -> None:
    path.mkdir(parents=True)
    assert "is not a file" in open_now(path)


def test_a_file_in_place_of_its_directory(path: Path) -> None:
    path.parent.write_text("x")
    assert "Not a directory" in open_now(path)


def test_a_lock_that_is_held_is_named_and_reading_goes_on(path: Path) -> None:
    fill(path)
    db = Db(path, timeout_s=0.01)
    with closing(raw(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with (
            pytest.raises(StoreError, match=r"locked by another program for 0\.01 s"),
            db.writing(),
        ):
            pass
        with db.reading() as connection:
            assert len(Tables(connection).runs.list()) == 1
        other.execute("ROLLBACK")
    with db.writing() as connection:
        assert Tables(connection).runs.add(build.run("flash-2"))
    db.close()


def as_nobody(path: Path) -> list[str]:
    """What a user without rights on the file is told on reading and on writing; skipped where nobody can be played."""
    if os.geteuid() != 0:
        pytest.skip("needs to become another user")
    receiving, sending = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forking with threads: the child runs none of them
        child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.write(sending, "\n".join(_look_and_write(path)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(sending)
    with os.fdopen(receiving) as answers:
        return answers.read().splitlines()


def _look_and_write(path: Path) -> list[str]:
    said = []
    db = Db(path, timeout_s=0.1)
    for use in (db.reading, db.writing):
        try:
            with use() as connection:
                if use == db.writing:
                    connection.execute("DELETE FROM events")
                Tables(connection).runs.list()
            said.append("fine")
        except StoreError as error:
            said.append(str(error))
    return said


@pytest.fixture
def open_to_all(tmp_path: Path, path: Path) -> Path:
    fill(path)
    for folder in (path.parent, *path.parent.parents):
        if folder == tmp_path.parent.parent.parent:
            break
        folder.chmod(0o777)
    return path


def test_a_read_only_file_can_be_read_but_not_written(open_to_all: Path) -> None:
    open_to_all.chmod(0o444)
    reading_says, writing_says = as_nobody(open_to_all)
    assert reading_says == "fine"
    assert "is read-only" in writing_says


def test_a_file_without_permission_is_told(open_to_all: Path) -> None:
    open_to_all.chmod(0o000)
    told = as_nobody(open_to_all)
    assert len(told) == 2
    assert all("check" in line and str(open_to_all) in line for line in told)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_READONLY, "is read-only"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_PROTOCOL, "network drive"),
        (sqlite3.SQLITE_IOERR_LOCK, "network drive"),
        (sqlite3.SQLITE_IOERR_READ, "disk error"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "locked by another program"),
        (sqlite3.SQLITE_CONSTRAINT, "could not be used: boom"),
        (None, "could not be used: boom"),
    ],
)
def test_every_failure_has_its_own_sentence(path: Path, code: int | None, words: str) -> None:
    error = sqlite3.OperationalError("boom")
    if code is not None:
        error.sqlite_errorcode = code
    told = sentence(path, error, 3.0)
    assert words in told
    assert told.startswith(str(path))


def test_a_network_drive_is_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    home = tmp_path / "my home"
    mounts.write_text(
        f"short\n/dev/sda1 / ext4 rw 0 0\nnas:/x {str(home).replace(' ', chr(92) + '040')} nfs4 rw 0 0\n"
    )
    with pytest.raises(StoreError, match=r"network drive \(nfs4\)"):
        paths.prepare(home / "flashtui.db", mounts=mounts)
    assert paths.network_filesystem(tmp_path / "elsewhere", mounts) is None
    assert paths.network_filesystem(tmp_path, tmp_path / "no such file") is None


def test_a_file_that_has_been_replaced_is_opened_anew(path: Path, db: Db) -> None:
    with db.writing() as connection:
        Tables(connection).runs.add(build.run("old"))
    before = db.token()
    other = path.parent / "other.db"
    fill(other, "new")
    other.rename(path)
    assert db.token() != before
    with db.reading() as connection:
        assert [run.run_id for run in Tables(connection).runs.list()] == ["new"]


def test_a_file_that_has_been_removed_is_not_silently_made_anew(path: Path, db: Db) -> None:
    with db.writing() as connection:
        Tables(connection).runs.add(build.run())
    path.unlink()
    with pytest.raises(StoreError, match="has been removed"), db.writing():
        pass
    assert not path.exists()


def test_another_process_that_does_not_finish_its_migration_is_named(path: Path) -> None:
    with schema._turn(path.parent.parent / "x", 1.0):
        path = path.parent.parent / "flashtui.db"
        assert "being prepared by another flashtui" in open_now(path)


def test_a_migration_that_fails_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_FIRST", (*schema._FIRST, "NO SUCH STATEMENT"))
    assert "syntax error" in open_now(path)
    monkeypatch.undo()
    assert open_now(path) == ""


async def test_opening_says_at_once_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a file"):
        await Store.open(tmp_path)


class TestLooking:
    """The synchronous look of a status line: it makes nothing and changes nothing."""

    def test_without_a_store_there_is_nothing(self, path: Path) -> None:
        with reading(path) as tables:
            assert tables is None
        assert not path.parent.exists()

    def test_an_empty_file_is_no_store_yet(self, path: Path) -> None:
        path.parent.mkdir()
        path.touch()
        with reading(path) as tables:
            assert tables is None
        assert path.stat().st_size == 0

    def test_it_reads(self, path: Path) -> None:
        fill(path)
        with reading(path) as tables:
            assert tables is not None
            assert [run.run_id for run in tables.runs.list()] == ["flash-1"]

    def test_it_says_what_is_wrong(self, path: Path) -> None:
        path.parent.mkdir()
        path.write_text("x" * 5000)
        with pytest.raises(StoreError, match="no SQLite file"), reading(path):
            pass

    def test_it_needs_no_sqlite_utils(self, path: Path) -> None:
        fill(path)
        script = (
            "import sys; from pathlib import Path; from flashtui.store import reading\n"
            f"with reading(Path({str(path)!r})) as tables: tables.runs.list()\n"
            "print(sorted({'sqlite_utils', 'pydantic', 'httpx', 'textual'} & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


def test_a_file_in_place_of_a_folder_above(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert "cannot be made" in open_now(tmp_path / "x" / "state" / "flashtui.db")
