"""A world for services: one provider, one store file, a clock that moves when told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes_services import World

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
