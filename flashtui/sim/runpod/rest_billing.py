"""REST v2 billing: what the ledger says, in the provider's buckets.

Source: docs openapi.json listBilling, listPodBilling, listServerlessBilling,
listNetworkVolumeBilling, listEndpointBilling (Public Endpoints, a different product: always empty),
listClusterBilling (none simulated). Amounts are exact here; the live service closes an hour late.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.route import Route
from flashtui.sim.runpod.words import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtui.sim.runpod.rest import Call

_SIZES = ("hour", "day", "week", "month", "year")
_MOST_BUCKETS = 2000
_QUERY = ("startTime", "endTime", "bucketSize", "lastN")


def _floor(moment: datetime, size: str) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    return {
        "hour": hour,
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "year": day.replace(month=1, day=1),
    }[size]


def _next(start: datetime, size: str) -> datetime:
    if size == "month":
        return (start + timedelta(days=32)).replace(day=1)
    if size == "year":
        return start.replace(year=start.year + 1)
    return (
        start + {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(7)}[size]
    )


def _window(call: Call) -> tuple[datetime, datetime, str]:
    size = call.param("bucketSize") or "day"
    if size not in _SIZES:
        raise ProblemError(422, "Request validation failed.", [f"bucketSize: unknown {size}"])
    start_text, end_text, last = (call.param(name) for name in ("startTime", "endTime", "lastN"))
    if last is not None and (start_text or end_text):
        raise ProblemError(400, "lastN is mutually exclusive with startTime/endTime")
    now = datetime.fromtimestamp(call.now, UTC)
    if last is not None:
        start = _floor(now, size)
        for _ in range(min(int(last), _MOST_BUCKETS) - 1):
            start = _floor(start - timedelta(seconds=1), size)
        return start, _next(_floor(now, size), size), size
    start = _time(start_text) if start_text else now - timedelta(days=30)
    end = _time(end_text) if end_text else now
    aligned = _floor(end, size)
    return _floor(start, size), aligned if aligned == end else _next(aligned, size), size


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError as error:
        raise ProblemError(422, "Request validation failed.", [f"not a time: {text}"]) from error


def _buckets(start: datetime, end: datetime, size: str) -> Iterator[tuple[datetime, datetime]]:
    for _ in range(_MOST_BUCKETS):
        if start >= end:
            return
        after = _next(start, size)
        yield start, after
        start = after


def _amounts(call: Call, kind: str, wanted: str | None) -> Iterator[dict[str, Any]]:
    """One record per resource and bucket that cost anything: totals by part."""
    start, end, size = _window(call)
    books = call.state.books
    for begin, after in _buckets(start, end, size):
        for resource_id, parts in books.between(kind, begin.timestamp(), after.timestamp()):
            if wanted is not None and resource_id != wanted:
                continue
            yield {
                "startTime": rfc3339(begin.timestamp()),
                "endTime": rfc3339(after.timestamp()),
                "resource": resource_id,
                "parts": parts,
            }


def _money(value: Decimal) -> float:
    return float(round(value, 8))


def _record(row: dict[str, Any], id_field: str, fields: dict[str, set[str]]) -> dict[str, Any]:
    parts: dict[str, Decimal] = row["parts"]
    record: dict[str, Any] = {"startTime": row["startTime"], "endTime": row["endTime"]}
    record[id_field] = row["resource"]
    record["totalAmount"] = _money(sum(parts.values(), Decimal(0)))
    for field, names in fields.items():
        record[field] = _money(sum((parts.get(name, Decimal(0)) for name in names), Decimal(0)))
    return record


def _answer(
    call: Call, records: list[dict[str, Any]], fields: list[str], id_field: str | None = None
) -> Response:
    start, end, size = _window(call)
    query: dict[str, Any] = {
        "startTime": rfc3339(start.timestamp()),
        "endTime": rfc3339(end.timestamp()),
        "bucketSize": size,
    }
    metadata: dict[str, Any] = {
        "query": query,
        "recordCount": len(records),
        "totals": {
            field: _money(sum((Decimal(str(row[field])) for row in records), Decimal(0)))
            for field in fields
        },
    }
    if id_field is not None:
        wanted = call.param(id_field)
        if wanted is not None:
            query[id_field] = wanted
        name = f"unique{id_field[0].upper()}{id_field[1:].removesuffix('Id')}Count"
        metadata[name] = len({row[id_field] for row in records})
    return json_response(200, {"records": records, "metadata": metadata})


_SERVERLESS_PARTS = {
    "gpuAmount": {"start", "execution", "idle", "rounding"},
    "cpuAmount": set[str](),
    "diskAmount": {"disk"},
    "feeAmount": set[str](),
}
_POD_PARTS = {"gpuAmount": {"gpu"}, "cpuAmount": set[str](), "diskAmount": {"storage"}}
_VOLUME_PARTS = {"standardAmount": {"storage"}, "highPerformanceAmount": set[str]()}


def serverless(call: Call) -> Response:
    """Cost per endpoint and bucket; survives the endpoint's deletion."""
    wanted = call.param("serverlessId")
    records = [
        _record(row, "serverlessId", _SERVERLESS_PARTS)
        for row in _amounts(call, "endpoint", wanted)
    ]
    return _answer(call, records, ["totalAmount", *_SERVERLESS_PARTS], "serverlessId")


def pods(call: Call) -> Response:
    """Cost per pod and bucket."""
    rows = _amounts(call, "pod", call.param("podId"))
    records = [_record(row, "podId", _POD_PARTS) for row in rows]
    return _answer(call, records, ["totalAmount", *_POD_PARTS], "podId")


def volumes(call: Call) -> Response:
    """Cost per network volume and bucket."""
    rows = _amounts(call, "volume", call.param("networkVolumeId"))
    records = [_record(row, "networkVolumeId", _VOLUME_PARTS) for row in rows]
    return _answer(call, records, ["totalAmount", *_VOLUME_PARTS], "networkVolumeId")


def nothing(call: Call) -> Response:
    """Public endpoints and clusters: no such spending here."""
    return _answer(call, [], ["totalAmount"])


_ALL = {
    "podGpuAmount": ("pod", {"gpu"}),
    "podCpuAmount": ("pod", set[str]()),
    "podDiskAmount": ("pod", {"storage"}),
    "serverlessGpuAmount": ("endpoint", _SERVERLESS_PARTS["gpuAmount"]),
    "serverlessCpuAmount": ("endpoint", set[str]()),
    "serverlessDiskAmount": ("endpoint", {"disk"}),
    "serverlessFeeAmount": ("endpoint", set[str]()),
    "storageStandardAmount": ("volume", {"storage"}),
    "storageHighPerformanceAmount": ("volume", set[str]()),
    "endpointAmount": ("", set[str]()),
    "clusterGpuAmount": ("", set[str]()),
    "clusterDiskAmount": ("", set[str]()),
    "clusterNetworkingAmount": ("", set[str]()),
}


def everything(call: Call) -> Response:
    """All spending per bucket, each component by itself."""
    sums: dict[str, dict[str, Any]] = {}
    for kind in ("pod", "endpoint", "volume"):
        for row in _amounts(call, kind, None):
            record = sums.setdefault(
                row["startTime"],
                {
                    "startTime": row["startTime"],
                    "endTime": row["endTime"],
                    "totalAmount": Decimal(0),
                }
                | dict.fromkeys(_ALL, Decimal(0)),
            )
            for field, (of_kind, names) in _ALL.items():
                if of_kind == kind:
                    spent = (row["parts"].get(name, Decimal(0)) for name in names)
                    record[field] += sum(spent, Decimal(0))
            record["totalAmount"] += sum(row["parts"].values(), Decimal(0))
    records = [
        {key: _money(value) if isinstance(value, Decimal) else value for key, value in row.items()}
        for _, row in sorted(sums.items())
    ]
    return _answer(call, records, ["totalAmount", *_ALL])


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v2/billing", everything, "listBilling", _QUERY),
    Route("GET", "/v2/billing/pods", pods, "listPodBilling", (*_QUERY, "podId")),
    Route(
        "GET",
        "/v2/billing/serverless",
        serverless,
        "listServerlessBilling",
        (*_QUERY, "serverlessId"),
    ),
    Route(
        "GET",
        "/v2/billing/network-volumes",
        volumes,
        "listNetworkVolumeBilling",
        (*_QUERY, "networkVolumeId"),
    ),
    Route("GET", "/v2/billing/endpoints", nothing, "listEndpointBilling", _QUERY),
    Route("GET", "/v2/billing/clusters", nothing, "listClusterBilling", (*_QUERY, "clusterId")),
)
