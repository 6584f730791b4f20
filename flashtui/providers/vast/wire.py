"""What is sent to Vast and what comes back, as models; a row that cannot be read is counted and hurts no other.

Keys that hold secrets (``jupyter_token``, ``extra_env``, ``onstart``, ``instance_api_key``, ``image_login``,
``api_key``) are deliberately in no model of an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from flashtui.providers.vast import fields

if TYPE_CHECKING:
    from collections.abc import Iterable

Operator = Literal["eq", "neq", "gt", "gte", "lt", "lte", "in", "notin"]
FilterValue = bool | int | float | str | tuple[str, ...]


class Row(BaseModel):
    """A frozen record of an answer; keys it does not name are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


RowT = TypeVar("RowT", bound=Row)


def read_rows(model: type[RowT], rows: Iterable[object]) -> tuple[tuple[RowT, ...], int]:
    """Read each entry by itself; the count is of those that cannot be read."""
    good: list[RowT] = []
    bad = 0
    for row in rows:
        try:
            good.append(model.model_validate(row))
        except ValidationError:
            bad += 1
    return tuple(good), bad


def _positive(value: object) -> int:
    count = fields.whole(value)
    if not count:
        msg = "not a count"
        raise ValueError(msg)
    return count


def _named(value: object) -> str:
    name = fields.text(value)
    if name is None:
        msg = "no name"
        raise ValueError(msg)
    return name


def _memory_mb(value: object) -> float:
    memory = fields.quantity(value)
    if not memory:
        msg = "no memory size"
        raise ValueError(msg)
    return memory


class OfferRow(Row):
    """One offer of a search.

    Without id, GPU name, board memory or number of GPUs a row says nothing that could be shown or rented.

    Source: Vast API reference, "search offers" (response fields); prices: section "Pricing" of the guides
    (``dph_total`` is for all GPUs of the offer, ``storage_cost`` per GB and month of 720 hours).
    """

    id: fields.Id
    machine_id: fields.OptionalId = None
    num_gpus: Annotated[int, BeforeValidator(_positive)]
    gpu_name: Annotated[str, BeforeValidator(_named)]
    gpu_ram: Annotated[float, BeforeValidator(_memory_mb)]
    dph_base: fields.Price = None
    dph_total: fields.Price = None
    storage_cost: fields.Price = None
    min_bid: fields.Price = None
    inet_down_cost: fields.Price = None
    inet_up_cost: fields.Price = None
    inet_down: fields.Quantity = None
    inet_up: fields.Quantity = None
    disk_space: fields.Quantity = None
    cuda_max_good: fields.Quantity = None
    reliability: fields.Quantity = None
    reliability2: fields.Quantity = None
    verification: fields.Text = None
    vericode: fields.Whole = None
    hosting_type: fields.Whole = None
    rentable: fields.Flag = None
    rented: fields.Flag = None
    geolocation: fields.Text = None
    end_date: fields.Moment = None


class CostRow(Row):
    """The ``instance`` block of an instance: what it costs in its present state.

    Source: Vast API reference, "show instances" (``instance.gpuCostPerHour``, ``diskHour``, ``totalHour``).
    """

    totalHour: fields.Price = None  # noqa: N815 - Vast's spelling
    diskHour: fields.Price = None  # noqa: N815 - Vast's spelling


def _cost(value: object) -> object:
    return value if isinstance(value, dict) else {}


class InstanceRow(Row):
    """One instance of the account, without its secrets.

    Source: Vast API reference, "show instances" v1 and "show instance" (same fields); states: guides,
    "Manage instances".
    """

    id: fields.Id
    machine_id: fields.OptionalId = None
    label: fields.Text = None
    actual_status: fields.Text = None
    intended_status: fields.Text = None
    cur_state: fields.Text = None
    next_state: fields.Text = None
    status_msg: fields.Text = None
    gpu_name: fields.Text = None
    gpu_ram: fields.Quantity = None
    num_gpus: fields.Whole = None
    dph_base: fields.Price = None
    dph_total: fields.Price = None
    storage_cost: fields.Price = None
    storage_total_cost: fields.Price = None
    disk_space: fields.Quantity = None
    is_bid: fields.Flag = None
    start_date: fields.Moment = None
    end_date: fields.Moment = None
    instance: Annotated[CostRow, BeforeValidator(_cost)] = CostRow()


class UserRow(Row):
    """The account behind the key; ``credit`` is the prepaid money.

    Source: Vast API reference, "show user"; ``credit`` as read by the official command line.
    """

    id: fields.OptionalId = None
    credit: fields.Amount = None
    balance: fields.Amount = None


class ChargeRow(Row):
    """One line of the bill.

    Source: Vast API reference, "show charges" (``source`` is ``instance-<id>``).
    """

    start: fields.Moment = None
    end: fields.Moment = None
    source: fields.Text = None
    description: fields.Text = None
    amount: fields.Amount = None


class Query(BaseModel):
    """A search: filters beside order, type, limit and the disk that prices include.

    Source: Vast API reference, "search offers" (request body); ``gpu_ram`` in MB per GPU, names with blanks.
    """

    model_config = ConfigDict(frozen=True)

    filters: dict[str, dict[Operator, FilterValue]]
    order: tuple[tuple[str, Literal["asc", "desc"]], ...] = (("dph_total", "asc"),)
    type: Literal["on-demand", "bid"] = "on-demand"
    limit: int = Field(ge=1)
    allocated_storage: float = Field(ge=0)

    def body(self) -> dict[str, Any]:
        """As it is sent."""
        sent = self.model_dump(mode="json")
        return {**sent.pop("filters"), **sent}

    def beyond(self, usd_per_hour: float, *, skip_equal: bool = False) -> Query:
        """The same search from a price on, for the next page."""
        operator: Operator = "gt" if skip_equal else "gte"
        cursor: dict[Operator, FilterValue] = {operator: usd_per_hour}
        return self.model_copy(update={"filters": {**self.filters, "dph_total": cursor}})


class CreateBody(BaseModel):
    """What renting an offer takes.

    ``price`` None is on demand. ``cancel_unavail`` makes Vast refuse at once instead of leaving a stopped instance
    that waits for its GPU and bills storage.

    Source: Vast API reference, "create instance"; ``env`` is an object (ports are keys such as ``"-p 22:22"``).
    """

    model_config = ConfigDict(frozen=True)

    client_id: Literal["me"] = "me"
    image: str = Field(min_length=1, max_length=1024)
    disk: float = Field(ge=8)
    label: str = Field(min_length=1, max_length=256)
    runtype: Literal["args", "ssh"] = "args"
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    onstart: str | None = Field(default=None, repr=False)
    price: float | None = Field(default=None, ge=0.001, le=128)
    target_state: Literal["running"] = "running"
    cancel_unavail: Literal[True] = True

    def body(self) -> dict[str, Any]:
        """As it is sent; keys without a value are left out, but ``price`` is always said."""
        return self.model_dump(mode="json", exclude_none=True) | {"price": self.price}
