"""The job in focus as fields that can be changed in place; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from flashtui.domain.gpu import KNOWN, UnsupportedGpuError, canonical_gpu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashtui.services.plan import PlanJob

MAX_TOKENS = 10_000_000
MAX_DISK_GB = 100_000
ANY = "any"
AUTO = "auto"


class FieldError(ValueError):
    """What was typed cannot be that field; the message says why."""


@dataclass(frozen=True, slots=True)
class PlanField:
    """One field of the job.

    Attributes:
        kind: ``"text"`` is typed, ``"choice"`` goes through a list.
        show: its value, as words.
        edit: what to begin with when it is typed anew.
        put: the job with another value.
        choices: the values of a choice, given the providers of the session.
    """

    id: str
    label: str
    kind: Literal["text", "choice"]
    show: Callable[[PlanJob], str]
    put: Callable[[PlanJob, str], PlanJob]
    edit: Callable[[PlanJob], str] = lambda _job: ""
    choices: Callable[[Sequence[str]], Sequence[str]] = lambda _providers: ()


def _model(job: PlanJob, text: str) -> PlanJob:
    if not text:
        msg = "a model needs a name, e.g. Qwen/Qwen3.5-4B"
        raise FieldError(msg)
    return replace(job, model=text)


def _whole(text: str, most: int, what: str) -> int:
    try:
        number = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if not 1 <= number <= most:
        msg = f"{what} is a whole number from 1 to {most:,}, not {text!r}"
        raise FieldError(msg)
    return number


def _length(job: PlanJob, text: str) -> PlanJob:
    if text in {"", AUTO}:
        return replace(job, max_length=None)
    return replace(job, max_length=_whole(text, MAX_TOKENS, "the length in tokens"))


def _disk(job: PlanJob, text: str) -> PlanJob:
    return replace(job, disk_gb=_whole(text, MAX_DISK_GB, "the disk in GB"))


def _pin(job: PlanJob, text: str) -> PlanJob:
    if text in {"", ANY}:
        return replace(job, pin=None)
    try:
        return replace(job, pin=canonical_gpu(text))
    except UnsupportedGpuError as error:
        msg = f"{text!r} is not a managed class"
        raise FieldError(msg) from error


PLAN_FIELDS: tuple[PlanField, ...] = (
    PlanField("model", "model", "text", lambda j: j.model, _model, lambda j: j.model),
    PlanField(
        "algorithm", "algo", "choice", lambda j: j.algorithm,
        lambda j, v: replace(j, algorithm=v), choices=lambda _: ("sft", "grpo"),
    ),
    PlanField(
        "length", "length", "text", lambda j: AUTO if j.max_length is None else str(j.max_length),
        _length, lambda j: "" if j.max_length is None else str(j.max_length),
    ),
    PlanField(
        "thinking", "thinking", "choice", lambda j: "on" if j.thinking else "off",
        lambda j, v: replace(j, thinking=v == "on"), choices=lambda _: ("off", "on"),
    ),
    PlanField("pin", "pin", "choice", lambda j: j.pin or ANY, _pin, choices=lambda _: (ANY, *KNOWN)),
    PlanField(
        "provider", "provider", "choice", lambda j: j.provider,
        lambda j, v: replace(j, provider=v), choices=lambda providers: (AUTO, *providers),
    ),
    PlanField("disk", "disk GB", "text", lambda j: str(j.disk_gb), _disk, lambda j: str(j.disk_gb)),
    PlanField(
        "unvalidated", "unvalidated", "choice",
        lambda j: "allowed" if j.allow_unvalidated else "no",
        lambda j, v: replace(j, allow_unvalidated=v == "allowed"),
        choices=lambda _: ("no", "allowed"),
    ),
)  # fmt: skip


def stepped(job: PlanJob, field: PlanField, step: int, providers: Sequence[str]) -> PlanJob:
    """The job with the next or previous value of a choice; a field that is typed stays as it is."""
    values = list(field.choices(providers))
    if not values:
        return job
    shown = field.show(job)
    at = values.index(shown) + step if shown in values else 0
    return field.put(job, values[at % len(values)])
