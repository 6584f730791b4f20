"""Whatever a server sends, there are rows or a typed error; and the limits of the documentation are kept."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flashtui.domain.errors import ProviderError
from flashtui.domain.rules import Rules
from flashtui.domain.run import Resource
from flashtui.providers.vast.offers import offer_from_row
from flashtui.providers.vast.states import current_rate, note_of, state_of
from flashtui.providers.vast.wire import InstanceRow, OfferRow
from flashtui.sim.scenario import from_toml
from tests.fakes import T0, Answer
from tests.providers.vast.rig import (
    LIST,
    SEARCH,
    instance_row,
    job,
    offer_row,
    scripted,
    simulated,
)
from tests.providers.vast.test_fields import ANYTHING

if TYPE_CHECKING:
    from flashtui.domain.run import JobHandle

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def bodies(key: str, row: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Bodies that look nearly right, and some that do not."""
    odd_row = st.dictionaries(st.sampled_from(sorted(row)), JSON).map(lambda odd: {**row, **odd})
    rows = st.lists(odd_row | JSON, max_size=4)
    nearly = st.fixed_dictionaries(
        {key: rows | JSON}, optional={"next_token": JSON, "success": JSON}
    )
    return nearly | JSON


@given(st.dictionaries(st.sampled_from(sorted(OfferRow.model_fields)), ANYTHING))
def test_any_offer_that_can_be_read_can_be_shown_and_never_has_a_made_up_price(
    odd: dict[str, Any],
) -> None:
    try:
        row = OfferRow.model_validate({**offer_row(), **odd})
    except ValueError:
        return
    offer = offer_from_row(row, Rules(), 60, T0)
    assert offer.rate is None or offer.rate.micros >= 0
    assert offer.rate is not None or "price_unknown" in offer.reasons
    assert offer.gpu_raw.isprintable()


@given(st.dictionaries(st.sampled_from(sorted(InstanceRow.model_fields)), ANYTHING))
def test_any_instance_has_a_state_and_a_known_or_unknown_rate(odd: dict[str, Any]) -> None:
    row = InstanceRow.model_validate({**instance_row(), **odd, "id": 5})
    rate = current_rate(row)
    assert rate is None or rate.micros >= 0
    assert state_of(row)
    assert note_of(row).isprintable()


@settings(max_examples=60)
@given(bodies("offers", offer_row()))
def test_any_answer_to_a_search_is_a_sheet_or_a_typed_error(body: Any) -> None:
    with tempfile.TemporaryDirectory() as home:
        rig = scripted(Path(home))
        rig.script.on(SEARCH, Answer(json.dumps(body).encode()))
        try:
            sheet = asyncio.run(rig.prices.sheet())
        except ProviderError:
            return
    live = [quote for quote in sheet.quotes if quote.rate is not None]
    assert all(quote.rate is not None and quote.rate.micros > 0 for quote in live)
    entries = body["offers"] if isinstance(body["offers"], list) else [body["offers"]]
    assert len(sheet.offers) + sheet.skipped <= len(entries)


@settings(max_examples=60)
@given(bodies("instances", instance_row()))
def test_any_answer_to_a_listing_is_an_inventory_or_a_typed_error(body: Any) -> None:
    with tempfile.TemporaryDirectory() as home:
        rig = scripted(Path(home))
        rig.script.on(LIST, Answer(json.dumps(body).encode()))
        try:
            listed = asyncio.run(rig.inventory())
        except ProviderError:
            return
    assert all(isinstance(resource, Resource) for resource in listed.resources)
    # What could not be read must never pass for a complete listing.
    readable = [row for row in body["instances"] if isinstance(row, dict) and "id" in row]
    assert not listed.complete or len(readable) == len(body["instances"])


LIMITED = """
about = "An account whose limits are enforced."
[vast]
credit_usd = 50.0
rate_limits = true
[runpod]
balance = 50.0
"""


async def test_the_documented_intervals_are_kept_over_a_run_s_life(tmp_path: Path) -> None:
    """With the simulator refusing everything that comes too soon, nothing is refused."""
    async with simulated(tmp_path, from_toml("own", LIMITED)) as (rig, sim):
        kept: list[JobHandle] = []

        async def keep(found: JobHandle) -> None:
            kept.append(found)

        spec = job(train={"hf_repo": ""}, gpu={"type": "RTX 3090", "max_wall_seconds": 60})
        for attempt in range(3):
            await rig.provider.submit_run(spec, 0, on_handle=keep, attempt=attempt)
            await rig.prices.sheet()
            await rig.inventory()
        for found in kept:
            await rig.provider.cancel(found)
            await rig.provider.destroy(found)
        await rig.provider.sweep_orphans(set())
        surface: Any = sim.world.surfaces["vast"]
        assert surface._limits.refused == 0
        assert (await rig.inventory()).resources == ()
        assert sim.violations() == []
