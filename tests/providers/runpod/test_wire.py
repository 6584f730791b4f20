"""What comes over the wire is read whatever it is: a bad value is missing, a bad item is left out and counted."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from flashtui.providers.runpod.wire import (
    CatalogGpu,
    Endpoint,
    NewEndpoint,
    NewGpu,
    Pod,
    Problem,
    Worker,
)
from flashtui.providers.runpod.wire_graphql import GpuType, Myself, Place
from flashtui.providers.runpod.wire_jobs import Health, JobStatus, Policy, WorkerCounts
from flashtui.providers.runpod.wire_types import Wire, is_resource_id, moment, rows

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.decimals(allow_nan=True)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
RECEIVED: tuple[type[Wire], ...] = (
    CatalogGpu,
    Endpoint,
    Pod,
    Worker,
    Problem,
    GpuType,
    Myself,
    Place,
    Health,
    JobStatus,
)


def _names(model: type[Wire]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize("model", RECEIVED)
@given(data=st.data())
def test_any_json_gives_rows_and_a_count_of_what_could_not_be_read(
    model: type[Wire], data: st.DataObject
) -> None:
    shaped = st.dictionaries(st.sampled_from(_names(model)), JSON, max_size=12)
    value = data.draw(st.lists(JSON | shaped, max_size=5) | JSON)
    found, unreadable = rows(model, value)
    assert len(found) + unreadable == (len(value) if isinstance(value, list) else 1)


@given(st.dictionaries(st.sampled_from(_names(GpuType)), JSON))
def test_a_gpu_type_with_an_id_is_never_lost_for_the_sake_of_another_field(
    fields: dict[str, object],
) -> None:
    (read,), unreadable = rows(GpuType, [{**fields, "id": "NVIDIA L4"}])
    assert (read.id, unreadable) == ("NVIDIA L4", 0)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (Decimal("0.74"), Decimal("0.74")),
        ("5.96", Decimal("5.96")),
        (0, Decimal(0)),
        (-1, None),
        (True, None),
        ("free", None),
        (float("nan"), None),
        (Decimal("Infinity"), None),
        (10**9, None),
        ({"usd": 1}, None),
        (None, None),
    ],
)
def test_a_price_is_a_number_of_dollars_from_zero_up_or_it_is_missing(
    sent: object, read: Decimal | None
) -> None:
    assert Pod.model_validate({"id": "p1", "cost": sent}).cost == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-03-13T20:00:00Z", datetime(2026, 3, 13, 20, tzinfo=UTC)),
        ("2026-03-13T22:00:00.123456789+02:00", datetime(2026, 3, 13, 20, 0, 0, 123456, UTC)),
        ("2026-08-20 06:16:19.436 +0000 UTC", datetime(2026, 8, 20, 6, 16, 19, 436000, UTC)),
        ("2026-03-13T20:00:00", None),
        ("1970-01-01T00:00:00Z", None),
        ("Rented by User", None),
        (1_700_000_000, None),
    ],
)
def test_a_moment_is_aware_and_real_or_it_is_missing(text: object, read: datetime | None) -> None:
    assert moment(text) == read


@pytest.mark.parametrize(
    "text", ["", "../pods/x", "a/b", "a b", "a?b", "é", "-a", "x" * 200, None, 7]
)
def test_an_id_that_would_change_the_address_it_goes_into_is_no_id(text: object) -> None:
    assert not is_resource_id(text)
    assert rows(Endpoint, [{"id": text}]) == ((), 1)


def test_names_lose_their_control_characters() -> None:
    assert Endpoint.model_validate({"id": "e1", "name": "a\x1b[31mb\nc"}).name == "ab c"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("boom", "boom"),
        ('{"error_type": "ValueError", "error_message": "bad"}', "ValueError: bad"),
        ({"error_message": "bad"}, "bad"),
        ({"code": 7}, '{"code": 7}'),
        ("{cut off", "{cut off"),
        (["a"], '["a"]'),
        (None, ""),
    ],
)
def test_a_job_error_is_text_json_text_or_an_object(error: object, text: str) -> None:
    assert JobStatus.model_validate({"status": "FAILED", "error": error}).error_text == text


def test_an_unknown_job_state_is_kept_as_text_and_means_nothing() -> None:
    status = JobStatus.model_validate({"id": "j", "status": "RUNNING"})
    assert (status.state, status.status) == ("UNKNOWN", "RUNNING")


def test_worker_output_comes_without_exact_decimals() -> None:
    output = JobStatus.model_validate({"output": {"loss": [Decimal("0.5")]}}).output
    assert output == {"loss": [0.5]}
    assert type(output["loss"][0]) is float


@pytest.mark.parametrize(
    ("counts", "billed"),
    [
        (
            {
                "running": 1,
                "initializing": 1,
                "idle": 1,
                "ready": 1,
                "throttled": 3,
                "unhealthy": 2,
            },
            3,
        ),
        ({"running": 1, "ready": 1}, 2),
        ({"throttled": 2}, 0),
        ({}, 0),
    ],
)
def test_workers_cost_money_from_start_to_stop_but_not_while_throttled(
    counts: dict[str, int], billed: int
) -> None:
    assert WorkerCounts.model_validate(counts).billed == billed


def test_a_missing_health_section_is_not_zero() -> None:
    health = Health.model_validate({"jobs": "?"})
    assert health.workers is None
    assert health.jobs is None


def test_what_is_sent_has_the_wire_names_and_nothing_else() -> None:
    new = NewEndpoint(
        name="flash-4090-abc",
        gpu=NewGpu(pools=("ADA_24",), excluded_types=("X",), min_cuda_version="12.8"),
        image="acme/worker:1",
        disk=60,
        timeout_ms=60_000,
    )
    assert new.body() == {
        "name": "flash-4090-abc",
        "type": "QUEUE",
        "gpu": {"pools": ["ADA_24"], "excludedTypes": ["X"], "count": 1, "minCudaVersion": "12.8"},
        "image": "acme/worker:1",
        "env": {},
        "disk": 60,
        "workers": {"min": 0, "max": 1, "idleTimeout": 5},
        "scaling": {"type": "QUEUE_DELAY", "queueDelay": 1.0},
        "timeout": 60_000,
        "flashboot": "OFF",
    }


def test_a_name_that_runpod_would_cut_is_not_sent() -> None:
    with pytest.raises(ValidationError):
        NewEndpoint(name="x" * 61, gpu=NewGpu(pools=("A",)), image="i", disk=20, timeout_ms=1000)


def test_limits_outside_the_documented_range_are_not_sent() -> None:
    with pytest.raises(ValidationError):
        Policy(execution_timeout_ms=1000, ttl_ms=10_000)


def test_secrets_in_an_environment_are_not_read_from_answers() -> None:
    endpoint = Endpoint.model_validate({"id": "e1", "env": {"RUNPOD_API_KEY": "rpa_TESTKEY000"}})
    assert "rpa_TESTKEY000" not in repr(endpoint)


def test_secrets_in_an_environment_do_not_show_in_what_is_sent() -> None:
    new = NewEndpoint(
        name="flash-4090-abc",
        gpu=NewGpu(pools=("A",)),
        image="i",
        env={"HF_TOKEN": "hf_FAKETOKEN000"},
        disk=20,
        timeout_ms=1000,
    )
    assert "hf_FAKETOKEN000" not in repr(new)
