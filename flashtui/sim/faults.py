"""Ordered failures: which fault happens to which request or resource, how often, and when.

A fault is ordered by name from the command line, a scenario file or the admin route. Three stages:

- "before": the request is answered (or dropped) without being carried out;
- "after": the request is carried out, then its reply is changed, delayed or lost;
- "meaning": the provider itself misbehaves; its surface asks for these by name with `take` or `due`.

What replies look like is in `fault_replies`; this module only decides.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from flashtui.sim import fault_replies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flashtui.sim.http import Request, Response

MEANING: dict[str, str] = {
    "reply_before_commit": "a create or destroy answers success, and nothing of it is carried out",
    "stale_listing": "a list is served as it was args.age_s ago (default 60)",
    "lingering_destroy": "a destroyed resource stays, and bills, args.seconds more (default 40)",
    "missing_from_list": "one live resource (args.id, else the newest) is left out of a list",
    "failing_second_page": "every page after the first answers 500",
    "null_detail": "the detail of a live resource says it does not exist",
    "price_rise": "a running contract costs args.factor times as much (default 1.25)",
    "host_withdrawal": "the host ends its listing: the contract expires at once",
    "host_offline": "the host loses its connection for args.seconds (default 300)",
    "outbid": "a higher bid stops an interruptible contract",
    "balance_out": "the account's money drops to args.usd (default 0)",
    "stuck_created": "a new container never starts; the status text carries the docker error",
    "container_exits": "a running container ends with args.code (default 1)",
    "offer_taken": "somebody else rents the offer first",
    "error_with_contract": "a create answers an error together with the id of what it created",
    "queued_start": "a start is queued because the GPU is taken",
    "insufficient_credit": "a create is refused for lack of money",
    "spend_rate_limit": "a create is refused by the limit on new accounts",
    "search_quota": "search answers that the day's quota on returned rows is used up",
    "foreign_instance": "a machine nobody here asked for appears, with args.label",
    "graphql_errors": "GraphQL answers 200 with errors and no data",
    "graphql_partial": "GraphQL answers 200 with errors and half of the data",
    "throttled_workers": "an endpoint's workers stay throttled: the host's GPUs are taken",
    "stock_out": "a GPU type (args.gpu) has no stock",
    "job_lost": "a job vanishes from the runtime",
    "worker_unhealthy": "a worker reports itself unhealthy and takes no job",
    "graphql_validation": "GraphQL answers 400 with GRAPHQL_VALIDATION_FAILED",
    "graphql_empty_errors": "GraphQL answers 200 with an empty list of errors and no data",
    "no_instances": "a create is refused with 400: no instances are available",
    "worker_quota": "an endpoint create is refused by the workers quota (args.quota, default 30)",
    "mig_substitution": "workers land on a slice of a card (args.gpu) instead of the type asked for",
    "new_gpu_id": "the lists show a type, a pool and a price that no client can know",
    "job_retried": "a running job fails on its worker and is queued again by the platform",
    "progress_race": "a finished job stays IN_PROGRESS until it is forgotten",
    "stuck_starting": "a new worker or pod never gets beyond starting, and bills",
}
EVENTS = frozenset(
    {"price_rise", "host_withdrawal", "host_offline", "outbid", "balance_out", "container_exits",
     "foreign_instance", "job_lost", "worker_unhealthy", "job_retried"}
)  # fmt: skip
# Events of the account as a whole; their `id` argument, if any, says what appears, not what is hit.
_OF_ACCOUNT = frozenset({"balance_out", "foreign_instance"})
_FIELDS = {"name", "surface", "route", "count", "probability", "seed", "args", "after_s", "for_s"}


@dataclass(slots=True)
class Fault:
    """One ordered fault.

    Attributes:
        route: pattern on "METHOD /path", or for events on the resource's "ID LABEL".
        count: how often it may still be ordered to fire in all, or None for ever.
        after_s: seconds of simulated time before it becomes active.
        for_s: seconds it stays active, or None for ever.
        decided: resources about which a dated event has already been drawn.
    """

    number: int
    name: str
    since: float
    surface: str = "*"
    route: str = "*"
    count: int | None = None
    probability: float = 1.0
    seed: int = 0
    args: dict[str, object] = field(default_factory=dict)
    after_s: float = 0.0
    for_s: float | None = None
    fired: int = 0
    decided: set[str] = field(default_factory=set)
    random: random.Random = field(default_factory=random.Random)

    def is_active(self, now: float) -> bool:
        """Whether it may fire at this moment."""
        begins = self.since + self.after_s
        over = self.for_s is not None and now >= begins + self.for_s
        spent = self.count is not None and self.fired >= self.count
        return now >= begins and not over and not spent

    def number_arg(self, name: str, default: float) -> float:
        """A numeric argument, or the default when it is absent or no number."""
        value = self.args.get(name, default)
        return float(value) if isinstance(value, (int, float)) else default

    def text_arg(self, name: str, default: str = "") -> str:
        """An argument as text."""
        return str(self.args.get(name, default))

    def row(self, now: float) -> dict[str, object]:
        """Plain form for the admin route."""
        return {
            "number": self.number, "name": self.name, "surface": self.surface, "route": self.route,
            "count": self.count, "probability": self.probability, "seed": self.seed,
            "args": self.args, "after_s": self.after_s, "for_s": self.for_s,
            "active": self.is_active(now), "fired": self.fired,
        }  # fmt: skip


def catalogue() -> dict[str, str]:
    """Every fault by name, with what it does."""
    return {**fault_replies.BEFORE, **fault_replies.AFTER, **MEANING}


class Faults:
    """The ordered faults of one world, first ordered first asked."""

    def __init__(self, now: Callable[[], float], ordered: Iterable[Mapping[str, object]]) -> None:
        self._now = now
        self._faults: list[Fault] = []
        self._next_number = 1
        self.fired: Counter[str] = Counter()
        for spec in ordered:
            self.add(spec)

    def add(self, spec: Mapping[str, object]) -> Fault:
        """Order a fault; its seconds count from now.

        Raises:
            ValueError: unknown name or field, or a value out of range.
        """
        fault = _fault_from(spec, self._next_number, self._now())
        self._next_number += 1
        self._faults.append(fault)
        return fault

    def remove(self, which: object = None) -> int:
        """Withdraw faults by number or name, or all; returns how many."""
        kept = [f for f in self._faults if which is not None and which not in {f.number, f.name}]
        gone = len(self._faults) - len(kept)
        self._faults = kept
        return gone

    def rows(self) -> list[dict[str, object]]:
        """The ordered faults, with how often each has fired."""
        now = self._now()
        return [fault.row(now) for fault in self._faults]

    def take(self, name: str, surface: str, route: str) -> Fault | None:
        """The fault of this name that fires now for this request, or None."""
        for fault in self._matching({name}, surface, route):
            if self._draws(fault):
                return fault
        return None

    def due(self, name: str, surface: str, resource_id: str, label: str = "") -> Fault | None:
        """The event of this name that now happens to this resource, or None; drawn once per resource."""
        for fault in self._matching({name}, surface, f"{resource_id} {label}"):
            wanted = None if name in _OF_ACCOUNT else fault.args.get("id")
            if resource_id in fault.decided or (wanted is not None and str(wanted) != resource_id):
                continue
            fault.decided.add(resource_id)
            if self._draws(fault):
                return fault
        return None

    def has_events(self) -> bool:
        """Whether any dated event may strike now."""
        now = self._now()
        return any(fault.name in EVENTS and fault.is_active(now) for fault in self._faults)

    def around(self, request: Request, proceed: Callable[[], Response]) -> Response:
        """Carry out a request with whatever was ordered for it."""
        before = fault_replies.BEFORE.keys()
        for fault in self._matching(before, request.surface, request.route):
            if self._draws(fault):
                return fault_replies.instead(fault, request, self._now())
        response = proceed()
        after = fault_replies.AFTER.keys()
        for fault in self._matching(after, request.surface, request.route):
            if self._draws(fault):
                response = fault_replies.changed(fault, response)
        return response

    def _matching(self, names: Iterable[str], surface: str, route: str) -> Iterator[Fault]:
        now = self._now()
        wanted = names if isinstance(names, (set, dict)) else set(names)
        for fault in self._faults:
            if fault.name not in wanted or not fault.is_active(now):
                continue
            if fnmatchcase(surface, fault.surface) and fnmatchcase(route, fault.route):
                yield fault

    def _draws(self, fault: Fault) -> bool:
        if fault.probability < 1 and fault.random.random() >= fault.probability:
            return False
        fault.fired += 1
        self.fired[fault.name] += 1
        return True


def _fault_from(spec: Mapping[str, object], number: int, now: float) -> Fault:
    unknown = set(spec) - _FIELDS
    if unknown:
        msg = f"fault has unknown fields {sorted(unknown)}; known: {sorted(_FIELDS)}"
        raise ValueError(msg)
    name = spec.get("name")
    if not isinstance(name, str) or name not in catalogue():
        msg = f"no fault is named {name!r}; known: {', '.join(sorted(catalogue()))}"
        raise ValueError(msg)
    args = spec.get("args") or {}
    if not isinstance(args, dict):
        msg = f"args of fault {name} must be a table"
        raise ValueError(msg)
    seed = int(_number(spec, "seed", 0))
    fault = Fault(
        number=number,
        name=name,
        since=now,
        surface=str(spec.get("surface") or "*"),
        route=str(spec.get("route") or "*"),
        count=None if spec.get("count") is None else int(_number(spec, "count", 1)),
        probability=_number(spec, "probability", 1.0),
        seed=seed,
        args={str(key): value for key, value in args.items()},
        after_s=_number(spec, "after_s", 0.0),
        for_s=None if spec.get("for_s") is None else _number(spec, "for_s", 0.0),
        random=random.Random(f"{seed}/{number}/{name}"),
    )
    if not 0 <= fault.probability <= 1:
        msg = f"probability of fault {name} must be between 0 and 1"
        raise ValueError(msg)
    if fault.count is None and name in EVENTS and fault.probability == 1:
        fault.count = 1
    return fault


def _number(spec: Mapping[str, object], name: str, default: float) -> float:
    value = spec.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"{name} of a fault must be a number, not {value!r}"
        raise ValueError(msg)
    return float(value)
