"""A store file, and the tables of one transaction on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flashtui.store.db import Db
from flashtui.store.store import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "flashtui.db"


@pytest.fixture
def db(path: Path) -> Iterator[Db]:
    database = Db(path, timeout_s=0.05)
    yield database
    database.close()


@pytest.fixture
def tables(db: Db) -> Iterator[Tables]:
    """All tables, inside one write transaction."""
    with db.writing() as connection:
        yield Tables(connection)
