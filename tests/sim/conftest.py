"""One simulator per test module for the tests of the core and of Vast; every test begins it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sim.vast_sim import Sim

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def _module_sim() -> Iterator[Sim]:
    running = Sim()
    yield running
    running.close()


@pytest.fixture
def vast(_module_sim: Sim) -> Sim:
    """A simulator at its start, with a market and nothing rented."""
    _module_sim.start_over()
    return _module_sim
