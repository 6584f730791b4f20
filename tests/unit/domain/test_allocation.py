"""Ranking, exclusions, freshness, prices with the job's disk, and what helps when nothing fits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.allocation import (
    AllocationReport,
    AllocationRequest,
    NothingFitsError,
    ProviderBook,
    SearchFailed,
    SoldOut,
    allocate_from,
    allocation_summary,
    book_from_sheet,
    cheapest_class,
    plan,
)
from flashtui.domain.errors import ConfigError, NothingFits, ProviderError
from flashtui.domain.gpu import GPU_CLASSES, GPU_INFO, GpuClass
from flashtui.domain.market import Offer, Quote, ReasonCode
from flashtui.domain.money import HourlyRate
from tests.build import ago, feed_error, offer, quote, rate, sheet
from tests.fakes import T0

SMALL = AllocationRequest("Qwen/Qwen3.5-0.8B", "grpo")


def _offer(number: int, gpu: str = "RTX 3090", dollars: float = 0.25, **more: Any) -> Offer:
    plain = {"gpu_rate": None, "storage_rate": None, "vram_gb": GPU_INFO[gpu].vram_gb}
    return offer(number, gpu, dollars, **{"gpu_raw": gpu, **plain, **more})


def _quote(gpu: str = "RTX A5000", dollars: float | None = 0.69, **more: Any) -> Quote:
    return quote(gpu, dollars, "runpod", **{"vram_gb": GPU_INFO[gpu].vram_gb, **more})


def _vast(*offers: Offer, **more: Any) -> ProviderBook:
    return ProviderBook("vast", offers=offers, **more)


def _runpod(*quotes: Quote, **more: Any) -> ProviderBook:
    return ProviderBook("runpod", quotes=quotes, **more)


def _plan(request: AllocationRequest, *books: ProviderBook, **more: Any) -> AllocationReport:
    return plan(request, books, headroom=1.1, now=T0, interval_s=45.0, **more)


def _why(report: AllocationReport, gpu: str, provider: str = "vast") -> dict[ReasonCode, str]:
    return {
        line.reason: line.detail
        for line in report.excluded
        if (line.provider, line.gpu) == (provider, gpu)
    }


def test_the_summary_names_choice_need_offer_and_runner_up() -> None:
    report = _plan(SMALL, _runpod(_quote()), _vast(_offer(1, region="CZ")))
    assert report.summary == (
        "RTX 3090 @ vast $0.25/h for 24 GB (offer 900001, CZ); next RTX A5000 @ runpod $0.69/h"
    )
    alone = allocate_from(SMALL, [_runpod(_quote())], headroom=1.1, now=T0, interval_s=45.0)
    assert allocation_summary(alone) == "RTX A5000 @ runpod $0.69/h for 24 GB"


def test_an_offer_without_a_region_is_named_by_its_id() -> None:
    report = _plan(SMALL, _vast(_offer(1, region=None)))
    assert report.summary.endswith("(offer 900001)")


def test_a_stale_price_never_wins_and_says_how_old_it_is() -> None:
    report = _plan(
        SMALL,
        _runpod(_quote(observed_at=ago(91))),
        _vast(_offer(1, observed_at=ago(600)), _offer(2, dollars=0.9)),
    )
    assert report.winner is not None
    assert report.winner.hourly_usd == 0.9
    assert _why(report, "RTX 3090") == {"stale": "1 of 2: seen 10 min ago, too old to decide on"}
    assert _why(report, "RTX A5000", "runpod") == {
        "stale": "serverless at $0.69/h was seen 2 min ago"
    }


def test_last_good_rows_of_a_silent_provider_win_while_they_are_fresh() -> None:
    report = _plan(SMALL, _vast(_offer(1), failed=True, why_not="vast: HTTP 503"))
    assert report.winner is not None
    assert report.could_not_ask == ("vast",)
    assert report.warnings == ("could not ask vast: vast: HTTP 503",)


def test_a_price_that_is_not_known_cannot_win() -> None:
    report = _plan(SMALL, _runpod(_quote(dollars=None)), _vast(_offer(1, rate=None)))
    assert report.winner is None
    assert set(_why(report, "RTX 3090")) == {"price_unknown"}
    assert set(_why(report, "RTX A5000", "runpod")) == {"price_unknown"}


@pytest.mark.parametrize("gone", [{"available": 0}, {"stock": "none"}])
def test_a_class_that_is_out_of_stock_cannot_win(gone: dict[str, Any]) -> None:
    report = _plan(SMALL, _runpod(_quote(**gone)))
    assert report.failure == "sold_out"
    assert "sold_out" in _why(report, "RTX A5000", "runpod")


def test_a_class_without_any_offer_is_sold_out() -> None:
    report = _plan(SMALL, _vast(_offer(1)))
    assert _why(report, "RTX 5090") == {"sold_out": "fits, but vast has no RTX 5090 on offer now"}


def test_a_list_price_cannot_beat_a_class_that_is_on_offer() -> None:
    """C029: the 4090's list price is lower, but nobody offers one."""
    listed = _quote("RTX 4090", 0.69, source="static", rentable=False)
    report = _plan(SMALL, _runpod(listed), _vast(_offer(1, "RTX 5090", 0.85)))
    assert report.winner is not None
    assert (report.winner.gpu, report.winner.hourly_usd) == ("RTX 5090", 0.85)
    assert "stale" in _why(report, "RTX 4090", "runpod")


def test_list_prices_rank_when_nobody_can_be_asked() -> None:
    listed = [_quote("RTX 4090", 1.116, source="static", rentable=False)]
    pods = [_quote("RTX A5000", 0.27, source="static", rentable=False, product="pod")]
    book = _runpod(*listed, *pods, available=True, why_not="no key", static_may_win=True)
    report = _plan(SMALL, book)
    assert report.winner is not None
    assert (report.winner.gpu, report.winner.source) == ("RTX 4090", "static")
    assert report.warnings == ("list price: nobody was asked what is on offer now",)
    assert "not_rentable" in _why(report, "RTX A5000", "runpod")


def test_list_prices_do_not_compete_with_live_ones() -> None:
    listed = _quote("RTX A5000", 0.1, source="static", rentable=False)
    report = _plan(SMALL, _runpod(listed, static_may_win=True), _vast(_offer(1)))
    assert report.winner is not None
    assert report.winner.provider == "vast"
    assert "list price of 2026-08-07" in _why(report, "RTX A5000", "runpod")["not_asked"]


def test_a_product_that_cannot_be_rented_is_shown_and_never_wins() -> None:
    pod = _quote("RTX 4090", 0.3, product="pod", rentable=False)
    report = _plan(SMALL, _runpod(pod, _quote("RTX 4090", 1.1)))
    assert report.winner is not None
    assert report.winner.product == "serverless"
    assert _why(report, "RTX 4090", "runpod") == {
        "not_rentable": (
            "pod at $0.30/h is shown for comparison; this product cannot be rented from here"
        )
    }


def test_naming_a_product_leaves_the_other_out() -> None:
    request = replace(SMALL, product="pod")
    report = _plan(request, _runpod(_quote("RTX 4090", 1.1), _quote("RTX 5090", 1.2)))
    assert report.winner is None
    assert _why(report, "RTX 4090", "runpod") == {
        "not_asked": "serverless at $1.10/h: only pod was asked for"
    }
    assert "leave the product open: RTX 4090 @ runpod $1.10/h" in report.remedies


@pytest.mark.parametrize(
    ("reason", "more", "words"),
    [
        ("disk", {"disk_gb": 120.0}, "disk 500 GB (largest found 120 GB)"),
        ("cuda", {"reasons": ("cuda",), "cuda": 12.4}, "host CUDA 12.8 (newest found 12.4)"),
        (
            "reliability",
            {"reasons": ("reliability",), "reliability": 0.99},
            "reliability 0.995 (best found 0.99)",
        ),
        (
            "bandwidth",
            {"reasons": ("bandwidth",), "inet_down_mbps": None},
            "download 200 Mbit/s (best found ?)",
        ),
        ("not_verified", {"reasons": ("not_verified",)}, "machine not verified"),
        ("not_datacenter", {"reasons": ("not_datacenter",)}, "not in a data centre"),
        ("sold_out", {"reasons": ("sold_out",)}, "sold out"),
        ("too_small", {"reasons": ("too_small",)}, "24 GB; the job needs 24 GB"),
        ("not_validated", {"reasons": ("not_validated",)}, "not validated"),
        ("not_asked", {"reasons": ("not_asked",)}, "not asked for"),
        ("pin", {"reasons": ("pin",)}, "another class is pinned"),
        ("price_unknown", {"rate": None}, "no usable price"),
        ("excluded_machine", {"machine_id": "7"}, "on excluded machine 7"),
        ("not_rentable", {"product": "interruptible"}, "interruptible, which cannot be rented"),
        ("not_rentable", {"reasons": ("not_rentable",)}, "rented, offline or withdrawn"),
        (
            "too_dear",
            {"rate": HourlyRate.of(2)},
            "above the limit of $1.50/h with 500 GB disk (cheapest $2.000/h)",
        ),
    ],
)
def test_every_rejected_offer_says_why_with_numbers(
    reason: ReasonCode, more: dict[str, Any], words: str
) -> None:
    request = replace(
        SMALL, disk_gb=500, exclude_machine_ids=frozenset({"7"}), max_usd_per_hour=1.5
    )
    good: dict[str, Any] = {"disk_gb": 900.0, "region": "CZ"}
    report = _plan(request, _vast(_offer(1, **{**good, **more}), _offer(2, dollars=0.9, **good)))
    assert report.winner is not None
    assert report.winner.hourly_usd == 0.9
    told = _why(report, "RTX 3090")
    assert set(told) == {reason}
    assert told[reason].startswith(f"1 of 2: {words}")


def test_many_excluded_machines_are_cut_short() -> None:
    machines = [str(number) for number in range(1, 8)]
    request = replace(SMALL, exclude_machine_ids=frozenset(machines))
    report = _plan(request, _vast(*(_offer(int(m), machine_id=m) for m in machines)))
    assert _why(report, "RTX 3090")["excluded_machine"].endswith("1, 2, 3, 4, 5 and more")
    assert "let in excluded machines: RTX 3090 @ vast $0.25/h" in report.remedies


def test_an_offer_that_ends_before_the_job_does_is_passed_over() -> None:
    """C028: six hours and twenty minutes of start-up do not fit into six hours and five minutes."""
    ends = [7200, 21_900, 2_592_000]
    prices = [0.35, 0.40, 0.52]
    offers = [
        _offer(n, "RTX 5090", usd, available_until=T0 + timedelta(seconds=s))
        for n, (s, usd) in enumerate(zip(ends, prices, strict=True))
    ]
    report = _plan(replace(SMALL, hours=6), _vast(*offers))
    assert report.winner is not None
    assert report.winner.hourly_usd == 0.52
    assert _why(report, "RTX 5090")["ends_too_soon"] == (
        "2 of 3: ends before 6 h and 20 min of start-up are over "
        "(the longest is there for another 6.1 h)"
    )


def test_an_offer_that_is_over_cannot_be_rented() -> None:
    report = _plan(SMALL, _vast(_offer(1, available_until=ago(1200))))
    assert _why(report, "RTX 3090") == {
        "ends_too_soon": "1 of 1: ends too soon (the longest is there for another 0 s)"
    }
    unsaid = _plan(SMALL, _vast(_offer(1, reasons=("ends_too_soon",))))
    assert _why(unsaid, "RTX 3090") == {"ends_too_soon": "1 of 1: ends too soon"}


def test_the_price_counts_the_disk_of_this_job() -> None:
    """C011: with 100 GB the offer costs 0.327 an hour, above the limit that 8 GB would have kept."""
    cheap = _offer(
        1,
        "RTX 5090",
        0.3022,
        gpu_rate=rate(0.3),
        storage_rate=HourlyRate(2222),
        priced_disk_gb=8,
        disk_gb=400.0,
    )
    request = replace(SMALL, disk_gb=100)
    report = _plan(request, _vast(cheap))
    assert report.winner is not None
    assert report.winner.hourly_usd == pytest.approx(0.3278, abs=0.0001)
    capped = _plan(replace(request, max_usd_per_hour=0.32), _vast(cheap))
    assert _why(capped, "RTX 5090")["too_dear"].endswith("(cheapest $0.328/h)")
    assert capped.remedies[0] == "raise the price limit: RTX 5090 @ vast $0.33/h"


@pytest.mark.parametrize(("cap", "fits"), [(2.97, True), (2.96, False), (1e9, True), (-1.0, False)])
def test_limits_are_compared_exactly(cap: float, fits: bool) -> None:
    """C034: 2.97 is not more than 2.97."""
    report = _plan(replace(SMALL, max_usd_per_hour=cap), _runpod(_quote("A100 PCIe", 2.97)))
    assert (report.winner is not None) is fits
    if not fits:
        assert "too_dear" in _why(report, "A100 PCIe", "runpod")


def test_several_cards_together_do_not_help_one_process() -> None:
    """C025: the pair is cheaper and together larger, but one process uses one card."""
    pair = _offer(1, "RTX A6000", 0.8, num_gpus=2)
    single = _offer(2, "A100 PCIe", 1.49)
    request = AllocationRequest("acme/big", "sft", min_vram_gb=40, allow_unvalidated=True)
    report = _plan(request, _vast(pair, single))
    assert report.winner is not None
    assert report.winner.gpu == "A100 PCIe"
    assert _why(report, "RTX A6000")["not_rentable"] == (
        "1 of 1: only 2 cards together ($0.80/h for all, 48 GB each); one process uses one card"
    )


def test_unmanaged_boards_are_counted_by_name() -> None:
    boards = [replace(_offer(n), gpu=None, gpu_raw="Tesla T4") for n in range(3)]
    report = _plan(SMALL, _vast(_offer(9), *boards))
    assert _why(report, "Tesla T4") == {"not_rentable": "3 x Tesla T4 (24 GB): not a managed class"}
    unsized = replace(_offer(1), gpu=None, gpu_raw="A100", vram_gb=0)
    assert "memory size not known" in _why(_plan(SMALL, _vast(unsized)), "A100")["not_rentable"]
    quoted = _plan(SMALL, _runpod(_quote(), quote("MI300X", 2.0, "runpod", managed=False)))
    assert _why(quoted, "MI300X", "runpod") == {"not_rentable": "MI300X: not a managed class"}


def test_an_offer_seen_twice_counts_once_as_it_was_seen_last() -> None:
    old, new = _offer(1, dollars=0.2, observed_at=ago(40)), _offer(1, dollars=0.3)
    for order in ([old, new], [new, old]):
        report = _plan(SMALL, _vast(*order))
        assert [found.rate for found in report.provider_offers] == [rate(0.3)]


def test_a_pin_that_cannot_hold_the_job_is_given_up_with_a_word() -> None:
    request = AllocationRequest("Qwen/Qwen3.5-4B", "grpo", gpu="rtx4090")
    report = _plan(request, _runpod(_quote("RTX 4090"), _quote("A100 PCIe", 2.7)))
    assert report.escalated_from == "RTX 4090"
    assert report.warnings[0] == (
        "RTX 4090 cannot be had for this job (35 GB): A100 PCIe @ runpod $2.70/h instead"
    )
    assert set(_why(report, "RTX 4090", "runpod")) == {"too_small"}


def test_other_classes_than_the_pin_say_which_it_is() -> None:
    report = _plan(replace(SMALL, gpu="a5000"), _runpod(_quote(), _quote("RTX 4090", 1.1)))
    assert report.escalated_from is None
    assert _why(report, "RTX 4090", "runpod") == {"pin": "the job is pinned to RTX A5000"}


def test_a_provider_that_was_not_asked_says_so_for_every_class() -> None:
    report = _plan(replace(SMALL, provider=" RunPod "), _runpod(_quote()), _vast(_offer(1)))
    lines = [line for line in report.excluded if line.provider == "vast"]
    assert {line.reason for line in lines} == {"not_asked"}
    assert len(lines) == sum("vast" in gpu.native for gpu in GPU_CLASSES)
    assert lines[0].detail == "only runpod was asked"


def test_without_a_key_the_comparison_says_who_is_missing() -> None:
    """C153: never the cheapest of both when only one was asked."""
    missing = ProviderBook("runpod", available=False, why_not="runpod has no key")
    report = _plan(SMALL, missing, _vast(_offer(1)))
    assert report.warnings == ("compared without runpod: runpod has no key",)
    bare = _plan(SMALL, ProviderBook("runpod", available=False), _vast(_offer(1)))
    assert bare.warnings == ("compared without runpod: not configured",)


def test_not_asked_not_on_offer_and_too_large_are_different_answers() -> None:
    silent = _runpod(failed=True, why_not="runpod: HTTP 503")
    nobody = _plan(SMALL, silent, _vast(failed=True))
    assert (nobody.failure, nobody.remedies) == ("search_failed", ())
    sold_out = _plan(SMALL, silent, _vast())
    assert sold_out.failure == "sold_out"
    assert "could not ask runpod: runpod: HTTP 503" in sold_out.summary
    assert "ask runpod again: runpod: HTTP 503" in sold_out.remedies
    too_large = _plan(AllocationRequest("x", "sft", min_vram_gb=97), _vast(_offer(1)))
    assert too_large.failure == "nothing_fits"
    assert "more than every managed class has (96 GB)" in too_large.remedies[0]
    answered = _plan(SMALL, _runpod(_quote("RTX A5000", None)))
    assert (answered.failure, answered.could_not_ask) == ("sold_out", ())
    everything = AllocationRequest("x", "sft", min_vram_gb=97, allow_unvalidated=True)
    assert len(_plan(everything, _vast(_offer(1))).remedies) == 1
    no_one = _plan(SMALL, ProviderBook("vast", available=False))
    assert no_one.failure == "nothing_fits"
    assert no_one.remedies == ("add a provider: vast",)


@pytest.mark.parametrize(
    ("books", "error", "kind"),
    [
        ([_vast(failed=True)], SearchFailed, ProviderError),
        ([_vast()], SoldOut, NothingFits),
        ([_vast(_offer(1, disk_gb=10.0))], NothingFitsError, NothingFits),
    ],
)
def test_a_refusal_ends_a_command_with_the_right_kind_of_error(
    books: list[ProviderBook], error: type[Exception], kind: type[Exception]
) -> None:
    request = AllocationRequest("x", "sft", gpu="3090", min_vram_gb=20, provider="vast")
    with pytest.raises(error) as caught:
        allocate_from(request, books, headroom=1.1, now=T0, interval_s=45.0)
    assert isinstance(caught.value, kind)


def test_unknown_names_are_things_to_change() -> None:
    for request in (replace(SMALL, gpu="GTX 1080"), replace(SMALL, provider="lambda")):
        with pytest.raises(ConfigError):
            allocate_from(request, [_vast()], headroom=1.1, now=T0, interval_s=45.0)


def test_a_named_provider_without_a_key_says_who_is_available() -> None:
    book = ProviderBook("vast", available=False)
    report = _plan(replace(SMALL, provider="vast"), book)
    assert report.failure == "provider_not_available"
    assert report.summary == "vast is not configured (available: none)"


def test_what_to_relax_names_what_the_job_would_then_get() -> None:
    offers = [
        _offer(1, "A40", 0.4),
        _offer(2, reasons=("reliability",)),
        _offer(3, reasons=("not_datacenter",), dollars=0.2),
        _offer(4, available_until=T0 + timedelta(hours=1), dollars=0.3),
    ]
    request = replace(SMALL, provider="vast", hours=6)
    report = _plan(request, _vast(*offers), _runpod(_quote()))
    assert report.remedies == (
        "allow classes that are not validated: A40 @ vast $0.40/h",
        "ask every provider: RTX A5000 @ runpod $0.69/h",
        "plan fewer hours: RTX 3090 @ vast $0.30/h",
        "relax the rule on reliability: RTX 3090 @ vast $0.25/h",
        "let in machines outside data centres: RTX 3090 @ vast $0.20/h",
    )


def test_less_disk_is_proposed_only_down_to_the_floor() -> None:
    """C037: twelve offers, all with too small a disk."""
    offers = [_offer(n, disk_gb=120.0) for n in range(12)]
    report = _plan(replace(SMALL, disk_gb=500), _vast(*offers))
    told = _why(report, "RTX 3090")
    assert told == {"disk": "12 of 12: disk 500 GB (largest found 120 GB)"}
    assert "ask for less disk than 500 GB: RTX 3090 @ vast $0.25/h" in report.remedies
    assert not any("disk" in r for r in _plan(SMALL, _vast(_offer(1, disk_gb=59.0))).remedies)


def test_a_provider_outside_the_table_competes_with_what_it_mentions() -> None:
    other = quote("RTX 4090", 0.2, "lambda", vram_gb=24, product="instance", available=None)
    report = _plan(SMALL, _runpod(_quote()), ProviderBook("lambda", quotes=(other,)))
    assert report.winner is not None
    assert (report.winner.provider, report.winner.validated) == ("lambda", True)
    left_out = _plan(
        replace(SMALL, provider="runpod"),
        _runpod(_quote()),
        ProviderBook("lambda", quotes=(other,)),
    )
    assert set(_why(left_out, "RTX 4090", "lambda")) == {"not_asked"}


def test_classes_can_be_added() -> None:
    h200 = GpuClass("H200", "NVIDIA_H200", 141, "h200", "sm90", 4.39)
    classes = {**GPU_INFO, "H200": h200}
    request = AllocationRequest("x", "sft", gpu=" h200 ", min_vram_gb=100, allow_unvalidated=True)
    book = _runpod(quote("H200", 5.58, "runpod", vram_gb=141, validated=False))
    report = _plan(request, book, classes=classes)
    assert report.winner is not None
    assert report.winner.gpu == "H200"


GPUS = st.sampled_from(["RTX 3090", "RTX 5090", "RTX Pro 4000", "H100 NVL"])
OFFERS = st.lists(
    st.builds(
        _offer,
        st.integers(0, 30),
        GPUS,
        st.sampled_from([0.2, 0.25, 0.3]),
        disk_gb=st.sampled_from([50.0, 100.0]),
    ),
    max_size=12,
    unique_by=lambda found: found.offer_id,
)
QUOTES = st.lists(
    st.builds(
        _quote, st.sampled_from(["RTX A5000", "RTX 4090", "RTX 5090"]), st.sampled_from([0.2, 0.3])
    ),
    max_size=4,
    unique_by=lambda found: found.gpu,
)


@given(offers=OFFERS, quotes=QUOTES, data=st.data())
def test_the_ranking_does_not_depend_on_the_order_of_anything(
    offers: list[Offer], quotes: list[Quote], data: st.DataObject
) -> None:
    report = _plan(SMALL, _runpod(*quotes), _vast(*offers))
    shuffled = [
        _runpod(*data.draw(st.permutations(quotes))),
        _vast(*data.draw(st.permutations(offers))),
    ]
    again = _plan(SMALL, *data.draw(st.permutations(shuffled)))
    assert again.candidates == report.candidates
    assert again.provider_offers == report.provider_offers
    prices = [found.hourly_usd for found in report.candidates]
    assert prices == sorted(prices)
    if offers and not report.candidates:
        assert all(found.disk_gb == 50.0 for found in offers)


def test_equal_price_and_size_goes_to_the_preferred_provider_then_by_name() -> None:
    others = [ProviderBook(n, quotes=(quote("RTX 5090", 0.9, n, vram_gb=32),)) for n in ("b", "a")]
    books = [*others, _vast(_offer(1, "RTX 5090", 0.9)), _runpod(_quote("RTX 5090", 0.9))]
    names = [c.provider for c in _plan(SMALL, *books).candidates]
    assert names == ["runpod", "vast", "a", "b"]
    turned = _plan(SMALL, *books, preference=("vast", "runpod"))
    assert [c.provider for c in turned.candidates] == ["vast", "runpod", "a", "b"]


def test_a_book_from_a_sheet_says_what_the_provider_is_worth_now() -> None:
    live, listed = _quote(), _quote("RTX 4090", source="static", rentable=False)
    both = sheet(live, listed, provider="runpod")
    without_key = book_from_sheet("runpod", both, configured=False, why_not="no key")
    assert (without_key.available, without_key.quotes) == (True, (listed,))
    assert without_key.static_may_win
    nothing = book_from_sheet("vast", None, configured=False)
    assert (nothing.available, nothing.why_not) == (False, "vast is not configured")
    waiting = book_from_sheet("vast", None, configured=True)
    assert (waiting.failed, waiting.why_not) == (True, "vast has not answered yet")
    down = book_from_sheet("vast", sheet(error=feed_error(message="HTTP 503")), configured=True)
    assert (down.failed, down.why_not) == (True, "HTTP 503")
    well = book_from_sheet("vast", sheet(offers=(_offer(1),)), configured=True)
    assert (well.failed, len(well.offers)) == (False, 1)


def test_cheapest_class_needs_a_rate() -> None:
    with pytest.raises(NothingFitsError, match="no known runpod class has 1 GB"):
        cheapest_class(1, include_unvalidated=True, rates={})
