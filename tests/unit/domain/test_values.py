"""Small values of the domain: freshness, deadlines, handles, operations, errors."""

from __future__ import annotations

import pytest

from flashtui.domain.clock import Deadline
from flashtui.domain.errors import ConfigError, DestroyUnconfirmed, ProviderError, RateLimited
from flashtui.domain.market import Freshness, freshness
from flashtui.domain.run import JobHandle
from tests.build import offer, operation, rate, rented, run
from tests.fakes import FakeClock


@pytest.mark.parametrize(
    ("age_s", "state"),
    [
        (-5.0, Freshness.FRESH),
        (0.0, Freshness.FRESH),
        (90.0, Freshness.FRESH),
        (90.1, Freshness.STALE),
        (450.0, Freshness.STALE),
        (450.1, Freshness.UNKNOWN),
        (None, Freshness.UNKNOWN),
    ],
)
def test_freshness_is_two_and_ten_intervals(age_s: float | None, state: Freshness) -> None:
    assert freshness(age_s, 45.0) is state


async def test_a_deadline_is_a_moment_and_does_not_restart() -> None:
    clock = FakeClock()
    deadline = Deadline.after(clock, 10)
    await clock.sleep(4)
    assert deadline.remaining_s(clock) == 6
    assert not deadline.passed(clock)
    await clock.sleep(7)
    assert deadline.remaining_s(clock) == 0
    assert deadline.passed(clock)


def test_a_handle_survives_storage_and_an_old_one_is_runpods() -> None:
    made = JobHandle("vast", {"instance_id": "7"})
    assert JobHandle.from_dict(made.to_dict()) == made
    assert JobHandle.from_dict({"endpoint_id": "e"}).provider == "runpod"


def test_an_offer_knows_its_price_per_card() -> None:
    assert offer(dollars=1.6, num_gpus=4).rate_per_gpu == rate(0.4)
    assert offer(rate=None).rate_per_gpu is None
    assert offer(num_gpus=0).rate_per_gpu is None
    assert offer().usable
    assert not offer(reasons=("disk",)).usable


def test_a_run_may_bill_until_every_resource_is_proven_gone() -> None:
    gone = rented("2", confirmed_gone_at=rented().launched_at)
    assert run(resources=(gone, rented())).may_bill
    assert not run(resources=(gone,)).may_bill


def test_an_operation_is_open_until_it_is_over() -> None:
    assert operation(phase="unconfirmed").is_open
    assert not operation(phase="confirmed").is_open


def test_errors_carry_what_a_log_needs() -> None:
    limited = RateLimited("slow down", retry_after_s=3, provider="vast", status=429)
    assert (limited.retry_after_s, limited.provider, limited.status) == (3, "vast", 429)
    lost = DestroyUnconfirmed("may still bill", evidence=("DELETE 500",), provider="vast")
    assert (lost.evidence, lost.operation) == (("DELETE 500",), "destroy")
    assert isinstance(lost, ProviderError)
    assert not isinstance(lost, ConfigError)
