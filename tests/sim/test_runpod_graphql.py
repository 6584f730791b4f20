"""RunPod's GraphQL: operations, keys, endpoints, templates, pods, and how it says no."""

from __future__ import annotations

from typing import Any

from tests.sim.runpod_sim import Sim, running

_SAVE = """mutation($input: EndpointInput!) {
  saveEndpoint(input: $input) { id name gpuIds workersMin workersMax idleTimeout scalerValue templateId } }"""


def _inline(**changes: Any) -> dict[str, Any]:
    wanted = {
        "name": "flash-4090-abc",
        "gpuIds": "ADA_24",
        "workersMin": 0,
        "workersMax": 1,
        "idleTimeout": 60,
        "scalerType": "QUEUE_DELAY",
        "scalerValue": 9,
        "template": {
            "name": "flash-4090-abc__template",
            "imageName": "acme/worker:1",
            "containerDiskInGb": 64,
            "dockerArgs": "",
            "env": [{"key": "HF_TOKEN", "value": "hf_x"}],
        },
    }
    return {**wanted, **changes}


def _save(sim: Sim, **changes: Any) -> dict[str, Any]:
    answer: dict[str, Any] = sim.graphql(_SAVE, {"input": _inline(**changes)}).json
    return answer


def _message(answer: dict[str, Any]) -> str:
    return str(answer["errors"][0]["message"])


def test_the_account_needs_a_key_and_says_so_with_status_200() -> None:
    with running() as sim:
        reply = sim.graphql("{ myself { id } gpuTypes { id } }", key=None)
    assert reply.status == 200
    assert reply.json["data"]["myself"] is None
    assert len(reply.json["data"]["gpuTypes"]) == 46
    assert reply.json["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


def test_a_wrong_key_is_401_with_an_empty_body() -> None:
    with running() as sim:
        reply = sim.graphql("{ myself { id } }", key="rpa_WRONG")
    assert (reply.status, reply.body) == (401, b"")


def test_the_key_may_also_stand_in_the_address() -> None:
    with running() as sim:
        body = {"query": "{ myself { id } }"}
        reply = sim.call("runpod", "POST", "/graphql?api_key=rpa_DEMOKEY", body, key=None)
    assert reply.json["data"]["myself"]["id"] == "user_demo"


def test_a_read_only_key_reads_but_does_not_write() -> None:
    with running() as sim:
        read = sim.graphql("{ myself { clientBalance } }", key="rpa_DEMOREADONLY").json
        answer = sim.graphql(_SAVE, {"input": _inline()}, key="rpa_DEMOREADONLY").json
    assert read["data"]["myself"]["clientBalance"] > 0
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"


def test_an_unknown_field_is_a_400_and_a_recorded_violation() -> None:
    with running() as sim:
        reply = sim.graphql("{ myself { idd } }")
        kinds = sim.violations()
    assert reply.status == 400
    assert reply.json["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert kinds == ["graphql"]


def test_introspection_is_off() -> None:
    with running() as sim:
        assert sim.graphql("{ __schema { types { name } } }").status == 400


def test_named_operations_are_chosen_by_name() -> None:
    query = "query A { countryCodes } query B { dataCenters { id } }"
    with running() as sim:
        body = {"query": query, "operationName": "B"}
        data = sim.call("runpod", "POST", "/graphql", body, key=None).json["data"]
    assert list(data) == ["dataCenters"]


def test_an_endpoint_is_created_with_its_template_inline() -> None:
    with running() as sim:
        saved = _save(sim)["data"]["saveEndpoint"]
        query = "{ myself { endpoints { id name workersMax env { key value } pods { id } } } }"
        listed = sim.graphql(query).json["data"]["myself"]["endpoints"]
    assert [row["id"] for row in listed] == [saved["id"]]
    assert listed[0]["env"] == [{"key": "HF_TOKEN", "value": "hf_x"}]


def test_an_update_that_leaves_fields_out_resets_them() -> None:
    with running() as sim:
        first = _save(sim)["data"]["saveEndpoint"]
        sparse = {
            "id": first["id"],
            "name": first["name"],
            "gpuIds": "ADA_24",
            "templateId": first["templateId"],
        }
        second = sim.graphql(_SAVE, {"input": sparse}).json["data"]["saveEndpoint"]
    assert (second["workersMax"], second["idleTimeout"], second["scalerValue"]) == (3, 10, 4)
    assert second["id"] == first["id"]


def test_a_template_and_a_template_id_together_are_refused() -> None:
    with running() as sim:
        assert "both" in _message(_save(sim, templateId="x"))


def test_a_delete_wants_zero_workers_first() -> None:
    with running() as sim:
        saved = _save(sim)["data"]["saveEndpoint"]
        delete = f'mutation {{ deleteEndpoint(id: "{saved["id"]}") }}'
        refused = sim.graphql(delete).json
        assert "0 min and max workers" in _message(refused)
        _save(sim, id=saved["id"], workersMin=0, workersMax=0)
        assert sim.graphql(delete).json == {"data": {"deleteEndpoint": None}}
        assert (
            sim.graphql("{ myself { endpoints { id } } }").json["data"]["myself"]["endpoints"] == []
        )


def test_the_worker_quota_spans_all_endpoints() -> None:
    with running("[runpod]\nworker_quota = 2\n") as sim:
        _save(sim)
        _save(sim, name="flash-l4-def", gpuIds="AMPERE_24")
        third = _save(sim, name="flash-a100-ghi", gpuIds="AMPERE_80")
    assert "must not exceed your workers quota (2)" in _message(third)
    assert third["data"] == {"saveEndpoint": None}


def test_a_template_is_held_by_its_endpoint_and_for_two_minutes_after() -> None:
    save = """mutation { saveTemplate(input: {name: "t", imageName: "i", dockerArgs: "",
      containerDiskInGb: 10, volumeInGb: 0, env: [], isServerless: true}) { id } }"""
    delete = 'mutation { deleteTemplate(templateName: "t") }'
    with running() as sim:
        template = sim.graphql(save).json["data"]["saveTemplate"]["id"]
        saved = _save(sim, template=None, templateId=template)["data"]["saveEndpoint"]
        assert "in use" in _message(sim.graphql(delete).json)
        sim.rest("DELETE", f"/serverless/{saved['id']}")
        assert "in use" in _message(sim.graphql(delete).json)
        sim.step(121)
        assert sim.graphql(delete).json == {"data": {"deleteTemplate": None}}


def test_a_template_name_is_unique() -> None:
    save = """mutation { saveTemplate(input: {name: "t", imageName: "i", dockerArgs: "",
      containerDiskInGb: 10, volumeInGb: 0, env: []}) { id } }"""
    with running() as sim:
        sim.graphql(save)
        assert "unique" in _message(sim.graphql(save).json)


def test_pools_name_their_members() -> None:
    with running() as sim:
        rows = sim.graphql("{ serverlessGpuPools { id gpuTypeIds } }").json["data"][
            "serverlessGpuPools"
        ]
    pools = {row["id"]: row["gpuTypeIds"] for row in rows}
    assert "NVIDIA H100 NVL" in pools["ADA_80_PRO"]


def test_a_pod_is_rented_stopped_resumed_and_ended() -> None:
    rent = """mutation { podFindAndDeployOnDemand(input: {cloudType: SECURE, gpuCount: 1, name: "p",
      gpuTypeId: "NVIDIA RTX A6000", imageName: "i", volumeInGb: 20, containerDiskInGb: 20, dataCenterId: null,
      env: [{key: "A", value: "1"}]}) { id env machineId machine { podHostId } } }"""
    query = "{ myself { pods { id desiredStatus costPerHr runtime { uptimeInSeconds } } } }"
    with running() as sim:
        pod = sim.graphql(rent).json["data"]["podFindAndDeployOnDemand"]
        assert pod["env"] == ["A=1"]
        booting = sim.graphql(query).json["data"]["myself"]["pods"][0]
        assert (booting["desiredStatus"], booting["runtime"]) == ("RUNNING", None)
        sim.step(200)
        assert (
            sim.graphql(query).json["data"]["myself"]["pods"][0]["runtime"]["uptimeInSeconds"] > 0
        )
        stop = f'mutation {{ podStop(input: {{podId: "{pod["id"]}"}}) {{ id desiredStatus }} }}'
        assert sim.graphql(stop).json["data"]["podStop"]["desiredStatus"] == "EXITED"
        resume = f'mutation {{ podResume(input: {{podId: "{pod["id"]}", gpuCount: 1}}) {{ desiredStatus }} }}'
        assert sim.graphql(resume).json["data"]["podResume"]["desiredStatus"] == "RUNNING"
        end = f'mutation {{ podTerminate(input: {{podId: "{pod["id"]}"}}) }}'
        assert sim.graphql(end).json == {"data": {"podTerminate": None}}
        assert sim.graphql(query).json["data"]["myself"]["pods"] == []


def test_a_bid_below_the_floor_rents_nothing() -> None:
    rent = """mutation($bid: Float) { podRentInterruptable(input: {bidPerGpu: $bid, cloudType: SECURE,
      gpuCount: 1, name: "spot", gpuTypeId: "NVIDIA RTX A6000", imageName: "i"}) { id podType } }"""
    with running() as sim:
        assert "no longer any instances" in _message(sim.graphql(rent, {"bid": 0.01}).json)
        pod = sim.graphql(rent, {"bid": 0.45}).json["data"]["podRentInterruptable"]
    assert pod["podType"] == "INTERRUPTABLE"
