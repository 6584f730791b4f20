"""What GraphQL sends: GPU types with pod prices, stock by data centre, the account's money.

Source: RunPod's GraphQL specification and the queries of its official command line (`runpodctl`, `internal/api/gpu.go`).
Introspection is off on the live service, so the schema cannot be fetched.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from flashtui.providers.runpod.wire_types import (
    Amount,
    Count,
    Flag,
    GpuId,
    Line,
    Price,
    Section,
    Wire,
)

GPU_TYPES_QUERY = """\
query Prices {
  gpuTypes {
    id displayName memoryInGb secureCloud communityCloud securePrice communityPrice
    lowestPrice(input: {gpuCount: 1, secureCloud: true}) { uninterruptablePrice stockStatus }
  }
  dataCenters { id gpuAvailability { gpuTypeId stockStatus } }
}"""
MYSELF_QUERY = "query Money { myself { clientBalance currentSpendPerHr spendLimit } }"


class LowestPrice(Wire):
    """`lowestPrice` of a GPU type, for one card in secure cloud; every member is null when nothing is free."""

    uninterruptable_price: Price = Field(default=None, alias="uninterruptablePrice")
    stock_status: Line = Field(default=None, alias="stockStatus")


class GpuType(Wire):
    """`gpuTypes`: prices are USD per hour for one GPU, and mean something only where the same cloud's flag is true."""

    id: GpuId
    display_name: Line = Field(default=None, alias="displayName")
    memory_gb: Count = Field(default=None, alias="memoryInGb")
    secure_cloud: Flag = Field(default=None, alias="secureCloud")
    community_cloud: Flag = Field(default=None, alias="communityCloud")
    secure_price: Price = Field(default=None, alias="securePrice")
    community_price: Price = Field(default=None, alias="communityPrice")
    lowest_price: Annotated[LowestPrice | None, Section] = Field(default=None, alias="lowestPrice")


class GpuStock(Wire):
    """`dataCenters.gpuAvailability`: stock of one type in one place (High, Medium, Low or null)."""

    gpu_type_id: Line = Field(default=None, alias="gpuTypeId")
    stock_status: Line = Field(default=None, alias="stockStatus")


class Place(Wire):
    """`dataCenters`."""

    id: Line = None
    gpu_availability: object = Field(default=None, alias="gpuAvailability")


class Myself(Wire):
    """`myself`: the account's money; the only place where RunPod tells a balance."""

    client_balance: Amount = Field(default=None, alias="clientBalance")
    current_spend_per_hr: Price = Field(default=None, alias="currentSpendPerHr")
    spend_limit: Price = Field(default=None, alias="spendLimit")


class GraphqlProblem(Wire):
    """One entry of ``errors``: answered with status 200 or 400, with or without data beside it."""

    message: Line = None
    extensions: object = None

    @property
    def code(self) -> str:
        """``extensions.code`` in upper case; empty when absent."""
        value = self.extensions.get("code") if isinstance(self.extensions, dict) else None
        return value.upper() if isinstance(value, str) else ""
