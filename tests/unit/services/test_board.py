"""The board: readers always get the newest, and nobody queues up old ones."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.services.board import Board
from flashtui.services.plan import PlanJob
from tests import build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from flashtui.services.board import Snapshot

FIRST = build.snapshot()


async def newer(changes: AsyncIterator[Snapshot]) -> int:
    async with asyncio.timeout(5):
        return (await anext(changes)).revision


async def test_a_reader_gets_what_is_there_and_then_what_is_newer() -> None:
    board = Board(FIRST)
    changes = board.changes()
    assert await newer(changes) == 0
    waiting = asyncio.ensure_future(newer(changes))
    await asyncio.sleep(0)
    board.put(replace(FIRST, revision=1))
    assert await waiting == 1


async def test_a_slow_reader_skips_what_came_between() -> None:
    board = Board(FIRST)
    changes = board.changes()
    await newer(changes)
    for revision in (1, 2, 3):
        board.put(replace(FIRST, revision=revision))
    assert await newer(changes) == 3
    assert board.snapshot.revision == 3


def test_a_job_in_the_making_is_an_allocation_request() -> None:
    job = PlanJob(max_length=4096, knobs={"lora_rank": 8}, allow_unvalidated=True, pin="H100")
    request = job.request()
    assert request.train == {"lora_rank": 8, "max_length": 4096}
    assert (request.gpu, request.allow_unvalidated, PlanJob().request().train) == (
        "H100",
        True,
        None,
    )
