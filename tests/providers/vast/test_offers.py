"""One row of a search as an offer: its price, its parts, its place, and what speaks against it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from flashtui.domain.market import Offer
from flashtui.domain.money import HourlyRate, Usd
from flashtui.domain.rules import Rules
from flashtui.providers.vast.offers import (
    country_of,
    interruptible_rate,
    offer_from_row,
    region_of,
)
from flashtui.providers.vast.wire import OfferRow
from tests.fakes import T0
from tests.providers.vast.rig import T0_S, offer_row


def normalised(row: dict[str, Any], *, disk_gb: int = 60, rules: Rules | None = None) -> Offer:
    return offer_from_row(OfferRow.model_validate(row), rules or Rules(), disk_gb, T0)


def test_the_price_is_for_the_chosen_disk_with_its_parts() -> None:
    """The quoted total is for the disk of the search, which the server may have chosen itself."""
    offer = normalised(offer_row(dph_base=0.3, storage_cost=0.2, dph_total=0.3022), disk_gb=100)
    assert offer.gpu_rate == HourlyRate.of("0.3")
    assert offer.storage_rate == HourlyRate.of("0.027778")
    assert offer.rate == HourlyRate.of("0.327778")
    assert offer.priced_disk_gb == 100


def test_the_price_is_rounded_once() -> None:
    offer = normalised(offer_row(dph_base=0.3412345, storage_cost=0.0000011), disk_gb=60)
    assert offer.rate == HourlyRate(341_235)


def test_without_parts_the_total_is_the_price() -> None:
    offer = normalised(
        {"id": 1, "num_gpus": 1, "gpu_name": "L4", "gpu_ram": 23034, "dph_total": 0.4}
    )
    assert (offer.rate, offer.gpu_rate, offer.storage_rate) == (HourlyRate.of("0.4"), None, None)


def test_with_one_part_the_other_is_the_rest() -> None:
    row = {
        "id": 1,
        "num_gpus": 1,
        "gpu_name": "L4",
        "gpu_ram": 23034,
        "dph_base": 0.3,
        "dph_total": 0.4,
    }
    offer = normalised(row)
    assert (offer.gpu_rate, offer.storage_rate) == (HourlyRate.of("0.3"), HourlyRate.of("0.1"))


@pytest.mark.parametrize("price", [None, 0, -1, "free", float("nan"), 1e9])
def test_a_price_that_cannot_be_one_is_unknown_and_not_usable(price: object) -> None:
    offer = normalised(offer_row(dph_base=price, dph_total=price))
    assert offer.rate is None
    assert offer.rate_per_gpu is None
    assert offer.reasons == ("price_unknown",)


def test_a_commitment_discount_is_not_the_price() -> None:
    row = offer_row(dph_base=0.8, dph_total=0.8021, discounted_dph_total=0.64, storage_cost=None)
    assert normalised(row).rate == HourlyRate.of("0.8021")


def test_the_lowest_bid_is_not_the_price() -> None:
    offer = normalised(offer_row(dph_base=0.308, min_bid=0.12, storage_cost=0.024))
    assert offer.rate == HourlyRate.of("0.31")
    assert interruptible_rate(offer) == HourlyRate.of("0.122")


@pytest.mark.parametrize("min_bid", [0, None, -1])
def test_no_bid_is_taken_where_none_is_named(min_bid: object) -> None:
    assert interruptible_rate(normalised(offer_row(min_bid=min_bid))) is None


def test_several_cards_have_a_price_each_and_cannot_be_rented_singly() -> None:
    offer = normalised(offer_row(num_gpus=4, dph_base=1.6, storage_cost=0))
    assert offer.rate == HourlyRate.of("1.6")
    assert offer.rate_per_gpu == HourlyRate.of("0.4")
    assert offer.reasons == ("not_rentable",)


def test_transfer_is_apart() -> None:
    offer = normalised(offer_row(inet_down_cost=0.003, inet_up_cost=None))
    assert offer.down_usd_per_gb == Usd.of("0.003")
    assert offer.up_usd_per_gb is None


@pytest.mark.parametrize(
    ("name", "ram_mb", "gpu", "vram_gb"),
    [
        ("A100 SXM4", 40960, "A100 SXM 40GB", 40),
        ("A100 SXM4", 81920, "A100 SXM", 80),
        ("L4", 23034, "L4", 24),
        ("RTX 4090", 49140, "RTX 4090", 24),
        ("RTX_4090", 24564, None, 24),
        ("B200", 183359, None, 179),
    ],
)
def test_the_class_of_a_board(name: str, ram_mb: int, gpu: str | None, vram_gb: int) -> None:
    offer = normalised(offer_row(gpu_name=name, gpu_ram=ram_mb))
    assert (offer.gpu, offer.gpu_raw, offer.vram_gb) == (gpu, name, vram_gb)


@pytest.mark.parametrize(
    ("geolocation", "region", "country"),
    [
        ("Stockholm, SE", "Stockholm, SE", "SE"),
        (", US", "US", "US"),
        ("US", "US", "US"),
        ("Norway, NO", "Norway, NO", "NO"),
        ("Île-de-France, FR", "Île-de-France, FR", "FR"),
        ("Somewhere", "Somewhere", "Somewhere"),
        ("", None, None),
        (" , ", None, None),
        (None, None, None),
    ],
)
def test_a_place(geolocation: str | None, region: str | None, country: str | None) -> None:
    assert region_of(geolocation) == region
    assert country_of(region) == country
    assert normalised(offer_row(geolocation=geolocation)).region == region


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"verification": "unverified"}, "not_verified"),
        ({"verification": "deverified", "vericode": 1}, "not_verified"),
        ({"verification": None, "vericode": None}, "not_verified"),
        ({"hosting_type": 0}, "not_datacenter"),
        ({"hosting_type": None}, "not_datacenter"),
        ({"reliability2": 0.994}, "reliability"),
        ({"reliability2": None, "reliability": "x"}, "reliability"),
        ({"inet_down": 199.9}, "bandwidth"),
        ({"disk_space": 59.9}, "disk"),
        ({"cuda_max_good": 12.7}, "cuda"),
        ({"rentable": False}, "not_rentable"),
        ({"rented": True}, "not_rentable"),
        ({"end_date": T0_S - 1}, "not_rentable"),
        ({"num_gpus": 2}, "not_rentable"),
    ],
)
def test_what_speaks_against_an_offer(changes: dict[str, Any], reason: str) -> None:
    assert normalised(offer_row(**changes)).reasons == (reason,)


def test_every_objection_is_named() -> None:
    row = offer_row(rentable=False, hosting_type=0, inet_down=1, disk_space=1, cuda_max_good=11)
    reasons = normalised(row).reasons
    assert set(reasons) == {"not_rentable", "not_datacenter", "bandwidth", "disk", "cuda"}


def test_a_good_offer_is_usable() -> None:
    assert normalised(offer_row()).usable


def test_a_class_can_need_a_newer_cuda() -> None:
    row = offer_row(gpu_name="RTX 5090", gpu_ram=32607, cuda_max_good=12.8)
    assert normalised(row).reasons == ("cuda",)
    assert normalised({**row, "cuda_max_good": "13.0"}).usable


def test_the_rules_decide() -> None:
    row = offer_row(reliability2=0.9, hosting_type=0, verification="unverified", inet_down=50)
    lax = Rules(reliability=0.9, inet_down_mbps=50, verified=False, datacenter=False)
    assert normalised(row, rules=lax).usable


def test_a_larger_disk_than_the_offer_has_speaks_against_it() -> None:
    assert normalised(offer_row(disk_space=100), disk_gb=200).reasons == ("disk",)


def test_what_the_answer_does_not_tell_at_all_is_not_held_against_it() -> None:
    """The search asked for it; only a value that contradicts is an objection."""
    bare = {"id": 1, "num_gpus": 1, "gpu_name": "RTX 4090", "gpu_ram": 24564, "dph_total": 0.45}
    offer = normalised(bare)
    assert offer.usable
    assert (offer.verified, offer.datacenter, offer.reliability, offer.region) == (None,) * 4


def test_names_from_outside_are_clean() -> None:
    offer = normalised(offer_row(gpu_name="RTX\x1b[2J 9999\n", geolocation="Os\x00lo, NO"))
    assert (offer.gpu_raw, offer.region) == ("RTX 9999", "Oslo, NO")


def test_the_end_of_its_listing_is_known() -> None:
    end = T0 + timedelta(days=3)
    assert normalised(offer_row(end_date=end.timestamp())).available_until == end
