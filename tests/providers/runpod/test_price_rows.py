"""Which of RunPod's figures is a price, and for what."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.money import HourlyRate
from flashtui.providers.runpod.price_rows import (
    catalog_pod_quotes,
    live_serverless_rates,
    pod_quotes,
    serverless_quotes,
    unmanaged,
)
from flashtui.providers.runpod.wire import CatalogGpu
from flashtui.providers.runpod.wire_graphql import GpuType, Place
from flashtui.providers.runpod.wire_types import rows
from tests.providers.runpod.rig import catalog_gpu, gpu_type

if TYPE_CHECKING:
    from flashtui.domain.market import Quote

AT = datetime(2026, 8, 20, 12, tzinfo=UTC)


def _pods(*types: dict[str, object], places: object = (), whole: bool = True) -> dict[str, Quote]:
    read, _ = rows(GpuType, list(types))
    centres, _ = rows(Place, places)
    return {q.gpu: q for q in pod_quotes(read, centres, AT, whole=whole)}


def _serverless(*items: dict[str, object], may_write: bool = True) -> dict[str, Quote]:
    read, _ = rows(CatalogGpu, list(items))
    return {q.gpu: q for q in serverless_quotes(read, AT, may_write=may_write)}


def _usd(quote: Quote) -> float | None:
    return None if quote.rate is None else float(quote.rate)


def test_the_pod_price_is_the_secure_one_even_where_community_is_cheaper() -> None:
    quote = _pods(gpu_type(securePrice=1.52, communityPrice=0.98))["RTX 4090"]
    assert (_usd(quote), quote.product, quote.source, quote.observed_at) == (
        1.52,
        "pod",
        "live",
        AT,
    )
    assert not quote.rentable


def test_the_price_of_what_only_community_cloud_has_says_so() -> None:
    quote = _pods(
        gpu_type(secureCloud=False, securePrice=0, communityPrice=0.17, lowestPrice=None)
    )["RTX 4090"]
    assert (_usd(quote), quote.regions) == (0.17, ("community cloud",))


@pytest.mark.parametrize("placeholder", [0, 0.5, 0.41])
def test_a_figure_of_a_cloud_that_does_not_offer_the_type_is_no_price(placeholder: float) -> None:
    off = gpu_type(
        secureCloud=False, communityCloud=False, securePrice=placeholder, communityPrice=placeholder
    )
    assert _pods(off)["RTX 4090"].rate is None


def test_a_missing_flag_is_not_a_true_one() -> None:
    assert _pods({"id": "NVIDIA L4", "securePrice": 0.43})["L4"].rate is None


@pytest.mark.parametrize("price", [None, 0, -1, "free", True])
def test_zero_and_nonsense_are_not_prices(price: object) -> None:
    assert _pods(gpu_type(securePrice=price))["RTX 4090"].rate is None


def test_the_sentinel_type_has_no_row() -> None:
    assert _pods(gpu_type("unknown"), gpu_type("Unknown")) == {}


@pytest.mark.parametrize(
    "lowest", [None, {}, {"uninterruptablePrice": None, "stockStatus": None, "minVcpu": None}]
)
def test_a_lowest_price_of_nothing_is_nothing_free(lowest: object) -> None:
    quote = _pods(gpu_type(lowestPrice=lowest))["RTX 4090"]
    assert (quote.stock, quote.rate, quote.available) == ("none", None, 0)


def test_in_an_answer_with_errors_a_null_says_nothing_about_stock() -> None:
    quote = _pods(gpu_type(lowestPrice=None), whole=False)["RTX 4090"]
    assert (quote.stock, _usd(quote), quote.available) == ("unknown", 0.74, None)


def test_a_type_without_the_stock_member_has_unknown_stock() -> None:
    told = gpu_type()
    del told["lowestPrice"]
    assert _pods(told)["RTX 4090"].stock == "unknown"


def test_stock_words_are_read_in_any_case_and_unknown_ones_are_unknown() -> None:
    for word, stock in (("HIGH", "high"), ("low", "low"), ("Scarce", "unknown")):
        told = gpu_type(lowestPrice={"uninterruptablePrice": 0.74, "stockStatus": word})
        assert _pods(told)["RTX 4090"].stock == stock


def test_regions_are_the_data_centres_with_stock() -> None:
    places = [
        {"id": "EU-RO-1", "gpuAvailability": [{"gpuTypeId": "NVIDIA L4", "stockStatus": "Low"}]},
        {"id": "US-IL-1", "gpuAvailability": [{"gpuTypeId": "NVIDIA L4", "stockStatus": None}]},
        {"id": None, "gpuAvailability": [{"gpuTypeId": "NVIDIA L4", "stockStatus": "High"}]},
        {"id": "EU-SE-1", "gpuAvailability": None},
        {
            "id": "US-TX-3",
            "gpuAvailability": [{"gpuTypeId": "NVIDIA L4", "stockStatus": "High"}, 5],
        },
    ]
    assert _pods(gpu_type("NVIDIA L4"), places=places)["L4"].regions == ("EU-RO-1", "US-TX-3")


def test_an_unmanaged_type_has_a_row_under_its_own_name_and_is_counted() -> None:
    quotes = _pods(gpu_type("NVIDIA B200", memoryInGb=180, securePrice=6.39))
    quote = quotes["NVIDIA B200"]
    assert (quote.managed, quote.validated, quote.vram_gb, _usd(quote)) == (False, False, 180, 6.39)
    assert unmanaged(quotes.values()) == {"NVIDIA B200": 1}


def test_a_type_listed_under_two_spellings_has_one_row() -> None:
    quotes = _pods(gpu_type("NVIDIA RTX A4500"), gpu_type("NVIDIA  RTX A4500", securePrice=0.01))
    assert {name: _usd(q) for name, q in quotes.items()} == {"RTX A4500": 0.74}


def test_float_noise_is_rounded_to_the_micro_dollar() -> None:
    quote = _pods(gpu_type(securePrice=1.9679999999999997))["RTX 4090"]
    assert quote.rate == HourlyRate(1_968_000)


def test_the_serverless_rate_is_the_pools_with_its_stock_and_places() -> None:
    quote = _serverless(catalog_gpu())["RTX 4090"]
    assert (quote.product, _usd(quote), quote.stock) == ("serverless", 1.116, "high")
    assert (quote.regions, quote.rentable, quote.available) == (("EU-RO-1",), True, None)


def test_what_is_in_no_pool_is_not_rentable_whatever_its_availability_says() -> None:
    quote = _serverless(catalog_gpu(pool=None))["RTX 4090"]
    assert (quote.rate, quote.rentable, quote.stock, quote.regions) == (None, False, "none", ())


def test_an_unmanaged_type_in_no_pool_has_no_serverless_row() -> None:
    mig = catalog_gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", pool=None)
    assert _serverless(mig) == {}


def test_a_pool_without_an_announced_rate_has_an_unknown_price() -> None:
    quote = _serverless(catalog_gpu(price={"secure": 0.99, "community": 0.69}))["RTX 4090"]
    assert (quote.rate, quote.rentable) == (None, True)


def test_a_key_that_may_only_read_rents_nothing() -> None:
    assert not _serverless(catalog_gpu(), may_write=False)["RTX 4090"].rentable


def test_without_graphql_pod_prices_come_from_the_catalogue_without_stock() -> None:
    read, _ = rows(
        CatalogGpu,
        [
            catalog_gpu(),
            catalog_gpu("NVIDIA L4", secure=False),
            catalog_gpu("unknown"),
            catalog_gpu("NVIDIA A40", price="?"),
        ],
    )
    found = {q.gpu: (_usd(q), q.stock) for q in catalog_pod_quotes(read, AT)}
    assert found == {
        "RTX 4090": (0.74, "unknown"),
        "L4": (None, "unknown"),
        "A40": (None, "unknown"),
    }


def test_the_rates_that_are_remembered_are_live_managed_serverless_ones() -> None:
    serverless = _serverless(catalog_gpu(), catalog_gpu("NVIDIA B200", pool="BLACKWELL_180"))
    pods = _pods(gpu_type())
    rates = live_serverless_rates([*serverless.values(), *pods.values()])
    assert rates == {"RTX 4090": HourlyRate.of("1.116")}
