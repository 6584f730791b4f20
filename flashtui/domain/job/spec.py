"""The job as a value: the fields of the seeds' JobSpec, and what a run of one's own command needs beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from flashtui.domain.allocation import AllocationRequest
from flashtui.domain.catalogue import CATALOGUE, DEFAULT_MODEL
from flashtui.domain.gpu import POLICY_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_WALL_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """The training environment; ``id`` is ``owner/name``, empty for a job with a command of its own."""

    id: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    pip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """The training knobs; None: the recipe decides."""

    steps: int | None = None
    epochs: int | None = None
    lora_rank: int = 32
    lora_alpha: int = 64
    seeds: tuple[int, ...] = (0,)
    init_from_adapter: str = ""
    hf_repo: str = ""
    learning_rate: float | None = None
    batch_size: int | None = None
    max_length: int | None = None
    save_every: int | None = None
    group_size: int | None = None
    max_tokens: int | None = None
    max_steps: int | None = None
    max_examples: int | None = None
    eval_every_steps: int | None = None
    eval_examples: int | None = None
    temperature: float | None = None
    kl_penalty_coef: float | None = None
    advantage_clip: float | None = None
    thinking_length_penalty_coef: float | None = None
    stop_sequences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GpuSpec:
    """What the job asks of a provider.

    Attributes:
        type: a class; provisional when a policy word was asked for, until the allocator decides.
        requested: what the person wrote; a policy word is allocated anew at submit, anything else is a pin.
        min_vram_gb: overrides the sizing.
        max_wall_seconds: from launch.
    """

    type: str = "RTX 5090"
    requested: str = ""
    provider: str = "auto"
    allow_unvalidated: bool | None = None
    disk_gb: int = 60
    max_wall_seconds: int = MAX_WALL_SECONDS
    max_retries: int = 2
    network_volume: str | None = None
    network_volume_gb: int = 100
    datacenter: str | None = None
    min_vram_gb: int | None = None

    @property
    def pin(self) -> str | None:
        """The class that was asked for by name; None: the cheapest that fits."""
        wanted = (self.requested or self.type).strip()
        return None if wanted.lower() in POLICY_NAMES else self.type


@dataclass(frozen=True, slots=True)
class WorkSpec:
    """A command of one's own.

    Attributes:
        image: container image; empty: the worker's own.
        command: shell command; empty: the training worker.
        env: variables; ``$NAME`` stands for the operator's own variable of that name, which is read at submit.
        code: folder that is uploaded and fetched on the machine; empty: none.
        hours: expected length; None: not said.
    """

    image: str = ""
    command: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    hours: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A whole job.

    Attributes:
        thinking: whether the model reasons before it answers.
        notes: what a person should know, one sentence each; not stored.
    """

    model: str = DEFAULT_MODEL
    algorithm: str = "grpo"
    model_policy: str = "catalog"
    thinking: bool = False
    run_id: str = "local"
    environment: EnvironmentSpec = field(default_factory=EnvironmentSpec)
    train: TrainSpec = field(default_factory=TrainSpec)
    gpu: GpuSpec = field(default_factory=GpuSpec)
    job: WorkSpec = field(default_factory=WorkSpec)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def phase(self) -> str:
        """Folder of its artifacts in the hub: ``rl`` for GRPO, else the algorithm."""
        return "rl" if self.algorithm == "grpo" else self.algorithm

    def request(self) -> AllocationRequest:
        """What it asks of the allocator."""
        model = CATALOGUE.get(self.model)
        return AllocationRequest(
            model_id=self.model,
            algorithm=self.algorithm,
            gpu=self.gpu.pin,
            provider=self.gpu.provider,
            disk_gb=max(self.gpu.disk_gb, model.min_disk_gb if model else 0),
            allow_unvalidated=self.gpu.allow_unvalidated,
            train=self.train,
            thinking=self.thinking,
            min_vram_gb=self.gpu.min_vram_gb,
            hours=self.job.hours,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, for the store and for the worker; holds no secret (``[job] env`` cannot)."""
        plain = asdict(self)
        del plain["notes"]
        plain["environment"]["params"] = dict(self.environment.params)
        return {key: _plain(value) for key, value in plain.items()}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> JobSpec:
        """The reverse of :meth:`to_dict`; unknown keys, and values that another version has broken, are passed over."""
        from flashtui.domain.job.parsing import stored_job

        return stored_job(d)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple | list) else value
