"""What is sent, and what of the answers is kept."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from flashtui.domain.money import HourlyRate
from flashtui.net.secret import Secret
from flashtui.providers.vast.train import body_for, disk_of, rate_with_disk
from flashtui.providers.vast.wire import (
    CreateBody,
    InstanceRow,
    OfferRow,
    Query,
    UserRow,
    read_rows,
)
from tests.providers.vast.rig import INSTANCE, OFFER, job, offer_row
from tests.providers.vast.test_offers import normalised

SECRET_KEYS = {"jupyter_token", "extra_env", "onstart", "image_args", "instance_api_key", "api_key"}


def test_the_documented_offer_is_read_whole() -> None:
    (row,), bad = read_rows(OfferRow, [OFFER])
    assert bad == 0
    assert (row.id, row.machine_id, row.num_gpus, row.gpu_name) == (27154403, 38861, 1, "RTX 4090")
    assert (str(row.dph_base), str(row.storage_cost), str(row.min_bid)) == (
        "0.36",
        "0.15",
        "0.1734",
    )
    assert (row.hosting_type, row.verification, row.rentable) == (1, "verified", True)


def test_the_documented_instance_is_read_without_its_secrets() -> None:
    (row,), _ = read_rows(InstanceRow, [INSTANCE])
    kept = repr(row) + row.model_dump_json()
    assert (row.id, row.actual_status, row.label) == (28450117, "running", "run-7f3a-a1")
    assert INSTANCE["jupyter_token"] not in kept
    assert INSTANCE["onstart"] not in kept
    assert "RUN_ID" not in kept


@pytest.mark.parametrize("model", [OfferRow, InstanceRow, UserRow])
def test_no_model_has_a_field_for_a_secret(model: type[OfferRow]) -> None:
    assert SECRET_KEYS.isdisjoint(model.model_fields)


def test_a_query_has_its_filters_beside_order_type_and_limit() -> None:
    query = Query(filters={"num_gpus": {"eq": 1}}, limit=64, allocated_storage=60)
    assert query.body() == {
        "num_gpus": {"eq": 1},
        "order": [["dph_total", "asc"]],
        "type": "on-demand",
        "limit": 64,
        "allocated_storage": 60.0,
    }


def test_the_next_page_begins_at_the_last_price() -> None:
    query = Query(filters={"num_gpus": {"eq": 1}}, limit=64, allocated_storage=60)
    assert query.beyond(0.5).body()["dph_total"] == {"gte": 0.5}
    assert query.beyond(0.5, skip_equal=True).body()["dph_total"] == {"gt": 0.5}
    assert "dph_total" not in query.body()


def test_a_create_is_on_demand_and_refuses_to_queue() -> None:
    body = body_for(job(), 3, 2, hf_token=None).body()
    assert body["price"] is None
    assert body["cancel_unavail"] is True
    assert body["target_state"] == "running"
    assert body["client_id"] == "me"
    assert (body["label"], body["disk"], body["runtype"]) == ("flash-100-s3-a2", 60.0, "args")
    assert body["args"][:2] == ["bash", "-c"]


def test_the_environment_is_an_object_with_what_the_worker_needs_and_no_key_of_ours() -> None:
    spec = job(job={"image": "acme/train:1", "command": "python train.py", "env": {"A": "b"}})
    body = body_for(spec, 1, 0, hf_token=Secret("hf_TOKEN0000")).body()
    assert body["image"] == "acme/train:1"
    assert body["args"] == ["bash", "-c", "python train.py"]
    assert body["env"]["A"] == "b"
    assert body["env"]["HF_TOKEN"] == "hf_TOKEN0000"
    assert body["env"]["FLASHTUI_SEED"] == "1"
    assert json.loads(body["env"]["FLASHTUI_JOB_SPEC"])["run_id"] == "flash-100"


def test_a_create_does_not_show_its_environment() -> None:
    assert "hf_TOKEN0000" not in repr(body_for(job(), 0, 0, hf_token=Secret("hf_TOKEN0000")))


def test_a_job_never_gets_less_than_sixty_gigabytes() -> None:
    assert disk_of(job(gpu={"disk_gb": 10})) == 60
    assert disk_of(job(gpu={"disk_gb": 200})) == 200


@pytest.mark.parametrize(
    "wrong", [{"disk": 7}, {"label": ""}, {"label": "x" * 257}, {"price": 0.0}]
)
def test_what_vast_would_refuse_is_not_sent(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CreateBody.model_validate({"image": "a", "disk": 60, "label": "x", **wrong})


def test_a_larger_disk_costs_its_own_storage() -> None:
    offer = normalised(offer_row(dph_base=0.3, storage_cost=0.2))
    assert rate_with_disk(offer, 60) == offer.rate
    larger = rate_with_disk(offer, 120)
    assert larger is not None
    assert float(larger) == pytest.approx(0.333333, abs=2e-6)


def test_a_price_without_parts_stays_as_it_is() -> None:
    offer = normalised(
        {"id": 1, "num_gpus": 1, "gpu_name": "L4", "gpu_ram": 23034, "dph_total": 0.4}
    )
    assert rate_with_disk(offer, 500) == HourlyRate.of("0.4")
