"""Reads a job file: every problem at once, with its key and line; and reads back what the store has kept."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from flashtui.domain.allocation import cheapest_class
from flashtui.domain.catalogue import CATALOGUE
from flashtui.domain.gpu import GPU_INFO, POLICY_NAMES, UnsupportedGpuError
from flashtui.domain.job.fields import TABLES, TOP, Unfit
from flashtui.domain.job.problems import JobFileError, JobProblem
from flashtui.domain.job.spec import (
    EnvironmentSpec,
    GpuSpec,
    JobSpec,
    TrainSpec,
    WorkSpec,
)
from flashtui.domain.money import HourlyRate
from flashtui.domain.sizing import model_required_vram_gb
from flashtui.domain.text import clean
from flashtui.domain.toml_source import TomlSyntaxError, key_lines, line_of, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flashtui.domain.catalogue import CatalogModel
    from flashtui.domain.job.fields import Check

PROVIDERS: tuple[str, ...] = ("runpod", "vast")
_MAX_SHOWN = 60


def parse_job(
    text: str,
    *,
    providers: Sequence[str] = PROVIDERS,
    catalogue: Mapping[str, CatalogModel] = CATALOGUE,
) -> JobSpec:
    """The job that a TOML text describes.

    Args:
        text: content of the file.
        providers: names that ``gpu.provider`` may have beside ``auto``.
        catalogue: the models that are known by name.

    Raises:
        JobFileError: it is not TOML (line and column), or something in it cannot be; all of it is listed.
    """
    try:
        document = parse_toml(text)
    except TomlSyntaxError as error:
        problem = JobProblem("", f"not TOML: {clean(error)}", error.line, error.column)
        raise JobFileError([problem]) from error
    found: list[tuple[str, str]] = []
    spec = _spec(_values(document, found))
    model = catalogue.get(spec.model)
    wrong = _contradictions(spec, document, providers, model)
    found += [problem for problem in wrong if _is_new(problem, found)]
    if found:
        lines = key_lines(text)
        raise JobFileError(
            [JobProblem(clean(key, 80), what, line_of(lines, key)) for key, what in found]
        )
    return replace(spec, notes=tuple(_notes(spec, model)))


def stored_job(d: Mapping[str, Any]) -> JobSpec:
    """A job as it was stored; what this version does not know or cannot hold is passed over."""
    values = _values({key: value for key, value in d.items() if value is not None}, [])
    gpu = d.get("gpu")
    if isinstance(gpu, dict) and isinstance(gpu.get("requested"), str):
        values.setdefault("gpu", {})["requested"] = gpu["requested"]
    return _spec(values)


def _values(document: Mapping[str, Any], problems: list[tuple[str, str]]) -> dict[str, Any]:
    """The fields that can be used; what cannot goes to ``problems``."""
    top = {key: value for key, value in document.items() if key not in TABLES}
    values: dict[str, Any] = _checked(top, TOP, "", problems, also=tuple(TABLES))
    for name, checks in TABLES.items():
        inner = document.get(name, {})
        if isinstance(inner, dict):
            values[name] = _checked(inner, checks, f"{name}.", problems)
        else:
            problems.append((name, f"must be a table ([{name}])"))
    return values


def _checked(
    given: Mapping[str, Any],
    checks: Mapping[str, Check],
    prefix: str,
    problems: list[tuple[str, str]],
    also: tuple[str, ...] = (),
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in given.items():
        dotted = f"{prefix}{key}"
        if key not in checks:
            problems.append((dotted, _unknown(key, [*checks, *also])))
            continue
        try:
            values[key] = checks[key](value)
        except Unfit as error:
            problems.append((dotted, f"{error}{_shown(value, str(error))}"))
    return values


def _unknown(key: str, known: Sequence[str]) -> str:
    near = get_close_matches(key, known, n=1)
    return f"unknown key; did you mean {near[0]!r}?" if near else "unknown key"


def _shown(value: object, sentence: str) -> str:
    """The value, when it is short and plain; a table may hold what should not be repeated."""
    if not isinstance(value, str | int | float):
        return ""
    shown = clean(repr(value), _MAX_SHOWN)
    named = isinstance(value, str) and shown in sentence
    return "" if named else f", not {shown}"


def _spec(values: Mapping[str, Any]) -> JobSpec:
    top = {key: value for key, value in values.items() if key not in TABLES}
    gpu = dict(values.get("gpu", {}))
    wanted = gpu.get("type", "auto")
    gpu.setdefault("requested", wanted)
    spec = JobSpec(
        **top,
        environment=EnvironmentSpec(**values.get("environment", {})),
        train=TrainSpec(**values.get("train", {})),
        gpu=GpuSpec(**{**gpu, "type": wanted}),
        job=WorkSpec(**values.get("job", {})),
    )
    return _with_class(spec) if wanted in POLICY_NAMES else spec


def _with_class(spec: JobSpec) -> JobSpec:
    """A policy word resolved for the time being, by the static table; the allocator decides again at submit."""
    need = spec.gpu.min_vram_gb or model_required_vram_gb(
        spec.model, spec.algorithm, train=spec.train, thinking=spec.thinking
    )
    rates = {name: HourlyRate.of(info.hourly_usd) for name, info in GPU_INFO.items()}
    try:
        name = cheapest_class(
            need, include_unvalidated=spec.gpu.allow_unvalidated is True, rates=rates
        )
    except UnsupportedGpuError:
        name = GpuSpec().type
    return replace(spec, gpu=replace(spec.gpu, type=name))


def _is_new(problem: tuple[str, str], found: Sequence[tuple[str, str]]) -> bool:
    return all(problem[0] != key for key, _ in found)


def _contradictions(
    spec: JobSpec,
    document: Mapping[str, Any],
    providers: Sequence[str],
    model: CatalogModel | None,
) -> Iterator[tuple[str, str]]:
    """What is missing, and what does not go together."""
    if "model" not in document:
        yield "model", "required"
    if not spec.train.hf_repo:
        yield (
            "train.hf_repo",
            'required: "owner/name" of the dataset repository that takes the results',
        )
    if not spec.environment.id and "job" not in document:
        yield "environment.id", 'required: "owner/name", or a [job] with a command of its own'
    if spec.job.code and not spec.job.command:
        yield "job.code", "needs job.command, which runs it"
    if model is not None:
        yield from _model_contradictions(spec, model)
    elif "model" in document and spec.model_policy == "catalog" and not _is_sized(spec, document):
        known = ", ".join(CATALOGUE)
        yield (
            "model",
            f'not catalogued ({known}); set model_policy = "allow", or gpu.min_vram_gb',
        )
    yield from _gpu_contradictions(spec, providers)


def _is_sized(spec: JobSpec, document: Mapping[str, Any]) -> bool:
    return "job" in document or spec.gpu.min_vram_gb is not None


def _model_contradictions(spec: JobSpec, model: CatalogModel) -> Iterator[tuple[str, str]]:
    if spec.algorithm not in model.algorithms:
        yield "algorithm", f"{spec.model} can do {', '.join(model.algorithms)}"
    if spec.thinking and model.thinking == "none":
        yield "thinking", f"{spec.model} cannot think"
    if not spec.thinking and model.thinking == "always":
        yield "thinking", f"{spec.model} always thinks; set thinking = true"


def _notes(spec: JobSpec, model: CatalogModel | None) -> Iterator[str]:
    if model is None and spec.thinking:
        yield f"whether {clean(spec.model, 80)} can think is not known"
    if model is not None and spec.gpu.disk_gb < model.min_disk_gb:
        yield f"disk raised to {model.min_disk_gb} GB, which {spec.model} needs"


def _gpu_contradictions(spec: JobSpec, providers: Sequence[str]) -> Iterator[tuple[str, str]]:
    provider, pin = spec.gpu.provider, spec.gpu.pin
    if provider not in {"auto", *providers}:
        yield "gpu.provider", f"must be one of auto, {', '.join(providers)}"
    elif pin is not None:
        info = GPU_INFO[pin]
        where = info.native if provider == "auto" else {provider: info.native.get(provider)}
        if None in where.values() and provider in PROVIDERS:
            yield "gpu.type", f"{provider} does not rent {pin}; {', '.join(info.native)} does"
        elif spec.gpu.allow_unvalidated is not True and not set(where) & set(info.validated_on):
            known = ", ".join(info.validated_on) or "no provider yet"
            yield (
                "gpu.type",
                (
                    f"{pin} is not validated on {', '.join(where)} (validated on: {known}); "
                    "set gpu.allow_unvalidated = true to use it all the same"
                ),
            )
    volume = spec.gpu.network_volume or spec.gpu.datacenter
    if volume is not None and provider not in {"auto", "runpod"}:
        yield "gpu.network_volume", "only RunPod has network volumes and named data centres"
