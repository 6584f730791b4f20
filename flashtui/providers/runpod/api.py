"""One coroutine per route of RunPod that this program uses: bytes in, wire models out, refusals as typed errors.

Control plane over REST v2, pod prices and balance over GraphQL (nowhere else to be had), jobs over the runtime. REST v1 has
been retired and is never called. Keys travel in the header only, to the configured hosts only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flashtui.domain.errors import (
    Ambiguous,
    NotFound,
    ProviderError,
    Unavailable,
)
from flashtui.net.pace import Budget
from flashtui.providers.runpod.replies import (
    NAME,
    collection_missing,
    graphql_data,
    listed,
    model_of,
    require_ok,
)
from flashtui.providers.runpod.wire import CatalogGpu, Endpoint, Pod, Worker
from flashtui.providers.runpod.wire_graphql import GPU_TYPES_QUERY, MYSELF_QUERY
from flashtui.providers.runpod.wire_jobs import Health, JobStatus

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.net.exchange import Http, Reply
    from flashtui.providers.runpod.auth import Key, KeyRing
    from flashtui.providers.runpod.wire import NewEndpoint
    from flashtui.providers.runpod.wire_jobs import RunJob
    from flashtui.settings import Settings

# RunPod announces 60 requests a minute for REST v2; half of that leaves room for other tools of the same account.
V2_READS = Budget(30, 60.0)
_READ_S = 20.0
_WRITE_S = 30.0
_CANCEL_S = 10.0


class RunpodApi:
    """The routes, over one shared exchange layer."""

    def __init__(self, settings: Settings, http: Http, keys: KeyRing) -> None:
        self._graphql_url = settings.runpod_graphql_url
        self._rest_url = settings.runpod_rest_url.rstrip("/")
        self._jobs_url = settings.runpod_jobs_url.rstrip("/")
        self._http = http
        self._keys = keys

    async def gpu_types(self) -> tuple[dict[str, object], ProviderError | None, datetime]:
        """Pod prices and stock by place: public, so no key is sent.

        Returns:
            ``data`` of the answer, what was wrong beside it, and when it arrived.
        """
        return await self._graphql("read pod prices", GPU_TYPES_QUERY, None)

    async def myself(self, key: Key) -> tuple[dict[str, object], ProviderError | None, datetime]:
        """The account's money."""
        return await self._graphql("read the account", MYSELF_QUERY, key)

    async def catalog(self, key: Key) -> tuple[tuple[CatalogGpu, ...], datetime]:
        """GPU types with pool, serverless rate and serverless stock by place."""
        operation = "read serverless prices"
        params = {"include": "AVAILABILITY", "product": "SERVERLESS"}
        reply = await self._collection("/catalog/gpus", operation, key, params=params)
        return listed(CatalogGpu, reply, "gpus", operation, strict=False), reply.received_at

    async def endpoints(self, key: Key) -> tuple[Endpoint, ...]:
        """Every serverless endpoint of the account: whole, or an error."""
        operation = "list endpoints"
        reply = await self._collection("/serverless", operation, key)
        return listed(Endpoint, reply, "endpoints", operation, strict=True)

    async def pods(self, key: Key) -> tuple[Pod, ...]:
        """Every pod of the account, those of clusters included: whole, or an error."""
        operation = "list pods"
        params = {"includeClusterPods": "true"}
        reply = await self._collection("/pods", operation, key, params=params)
        return listed(Pod, reply, "pods", operation, strict=True)

    async def workers(self, key: Key, endpoint_id: str) -> tuple[Worker, ...]:
        """The workers of an endpoint that are up or coming up."""
        operation = "list workers"
        reply = await self._read(f"/serverless/{_segment(endpoint_id)}/workers", operation, key)
        return listed(Worker, reply, "workers", operation, strict=False)

    async def create_endpoint(self, key: Key, new: NewEndpoint) -> Endpoint:
        """Create an endpoint; sent once.

        Raises:
            NotSent: nothing was sent.
            Rejected: refused; nothing was made.
            Ambiguous: it may have been made.
            MalformedReply: accepted, but the answer does not say what was made.
        """
        operation = "create endpoint"
        reply = await self._write(
            "POST", self._rest_url + "/serverless", operation, key, new.body()
        )
        return model_of(Endpoint, reply, operation)

    async def delete_endpoint(self, key: Key, endpoint_id: str) -> int:
        """Delete an endpoint with its workers and jobs; the status of the answer proves nothing by itself."""
        url = f"{self._rest_url}/serverless/{_segment(endpoint_id)}"
        return (await self._write("DELETE", url, "delete endpoint", key)).status

    async def delete_pod(self, key: Key, pod_id: str) -> int:
        """Terminate a pod."""
        url = f"{self._rest_url}/pods/{_segment(pod_id)}"
        return (await self._write("DELETE", url, "delete pod", key)).status

    async def run(self, key: Key, endpoint_id: str, job: RunJob) -> JobStatus:
        """Queue a job; sent once, because the runtime would queue it twice."""
        operation = "queue job"
        url = f"{self._jobs_url}/{_segment(endpoint_id)}/run"
        reply = await self._write("POST", url, operation, key, job.body())
        return model_of(JobStatus, reply, operation)

    async def status(self, key: Key, endpoint_id: str, job_id: str) -> JobStatus:
        """Where a job is; one try, because whoever follows a job has its own rhythm for failures."""
        operation = "read job status"
        url = f"{self._jobs_url}/{_segment(endpoint_id)}/status/{_segment(job_id)}"
        return model_of(JobStatus, await self._look(url, operation, key), operation)

    async def health(self, key: Key, endpoint_id: str) -> Health:
        """Counts of an endpoint's jobs and workers; one try."""
        operation = "read endpoint health"
        url = f"{self._jobs_url}/{_segment(endpoint_id)}/health"
        return model_of(Health, await self._look(url, operation, key), operation)

    async def cancel(self, key: Key, endpoint_id: str, job_id: str) -> int:
        """Ask for a job's end; the body of the answer is not documented, so only its status is handed on."""
        url = f"{self._jobs_url}/{_segment(endpoint_id)}/cancel/{_segment(job_id)}"
        reply = await self._write("POST", url, "cancel job", key, timeout_s=_CANCEL_S)
        return reply.status

    async def _graphql(
        self, operation: str, query: str, key: Key | None
    ) -> tuple[dict[str, object], ProviderError | None, datetime]:
        reply = await self._http.fetch(
            "POST",
            self._graphql_url,
            provider=NAME,
            operation=operation,
            secret=key.secret if key else None,
            json={"query": query},
            timeout_s=_READ_S,
            pace_key=f"{NAME}:graphql:{key.fingerprint if key else 'public'}",
        )
        data, trouble = graphql_data(reply, operation, self._http.redactor.clean)
        return data, trouble, reply.received_at

    async def _collection(
        self, path: str, operation: str, key: Key, *, params: Mapping[str, str] | None = None
    ) -> Reply:
        try:
            return await self._read(path, operation, key, params=params)
        except NotFound as error:
            raise collection_missing(error) from error

    async def _read(
        self, path: str, operation: str, key: Key, *, params: Mapping[str, str] | None = None
    ) -> Reply:
        reply = await self._http.fetch(
            "GET",
            self._rest_url + path,
            provider=NAME,
            operation=operation,
            secret=key.secret,
            params=params,
            timeout_s=_READ_S,
            pace_key=self._lane(key),
            budget=V2_READS,
        )
        self._require_ok(reply, operation, key, writing=False)
        return reply

    async def _look(self, url: str, operation: str, key: Key) -> Reply:
        try:
            reply = await self._http.send(
                "GET",
                url,
                provider=NAME,
                operation=operation,
                secret=key.secret,
                timeout_s=_READ_S,
                pace_key=f"{NAME}:jobs:{key.fingerprint}",
            )
            self._require_ok(reply, operation, key, writing=False)
        except Ambiguous as error:
            passing = Unavailable(
                str(error), provider=NAME, operation=operation, status=error.status, body=error.body
            )
            passing.kind = error.kind
            raise passing from error
        return reply

    async def _write(
        self,
        method: str,
        url: str,
        operation: str,
        key: Key,
        json: dict[str, Any] | None = None,
        *,
        timeout_s: float = _WRITE_S,
    ) -> Reply:
        is_job = url.startswith(self._jobs_url + "/")
        reply = await self._http.send(
            method,
            url,
            provider=NAME,
            operation=operation,
            secret=key.secret,
            json=json,
            timeout_s=timeout_s,
            pace_key=f"{NAME}:jobs:{key.fingerprint}" if is_job else self._lane(key),
        )
        self._require_ok(reply, operation, key, writing=True)
        return reply

    def _require_ok(self, reply: Reply, operation: str, key: Key, *, writing: bool) -> None:
        try:
            require_ok(reply, operation, self._http.redactor.clean, key=self._keys.named(key))
        except ProviderError as error:
            self._keys.refused(key, error, writing=writing)
            raise
        self._keys.worked(key, writing=writing)

    @staticmethod
    def _lane(key: Key) -> str:
        return f"{NAME}:v2:{key.fingerprint}"


def _segment(text: str) -> str:
    return quote(text, safe="")
