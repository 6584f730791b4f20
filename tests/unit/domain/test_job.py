"""The job file: read whole, or every problem at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.catalogue import CatalogModel
from flashtui.domain.errors import ConfigError
from flashtui.domain.job import JobFileError, JobProblem, JobSpec, TrainSpec, parse_job
from flashtui.domain.job.fields import TABLES, TOP

GOOD = """
model = "Qwen/Qwen3.5-4B"
algorithm = "SFT"
[train]
hf_repo = "acme/runs"
max_length = 4096
[gpu]
type = "cheapest"
provider = "Auto"
disk_gb = 60
max_wall_seconds = 7200
[job]
image = "pytorch/pytorch:latest"
command = "python train.py"
env = { WANDB_API_KEY = "$WANDB_API_KEY", MODE = "fast" }
code = "./src"
hours = 1.5
label = "ablation-3"
"""


def _problems(text: str) -> dict[str, str]:
    with pytest.raises(JobFileError) as caught:
        parse_job(text)
    return {problem.key: problem.message for problem in caught.value.problems}


def _with(line: str, table: str = "train") -> str:
    return GOOD.replace(f"[{table}]", f"[{table}]\n{line}")


def test_a_whole_file() -> None:
    spec = parse_job(GOOD)
    assert (spec.model, spec.algorithm, spec.phase) == ("Qwen/Qwen3.5-4B", "sft", "sft")
    assert spec.train == TrainSpec(hf_repo="acme/runs", max_length=4096)
    assert (spec.gpu.requested, spec.gpu.pin, spec.gpu.type) == ("cheapest", None, "RTX A5000")
    assert spec.job.hours == 1.5
    request = spec.request()
    assert (request.gpu, request.provider, request.hours) == (None, "auto", 1.5)
    assert request.train is spec.train


def test_a_pin_is_canonical_and_kept() -> None:
    spec = parse_job(_with('type = "rtx4090"', "gpu").replace('type = "cheapest"\n', ""))
    assert (spec.gpu.type, spec.gpu.pin) == ("RTX 4090", "RTX 4090")
    assert spec.request().gpu == "RTX 4090"


def test_an_omitted_type_is_the_cheapest_that_fits() -> None:
    spec = parse_job(GOOD.replace('type = "cheapest"\n', "").replace('"SFT"', '"grpo"'))
    assert (spec.gpu.pin, spec.gpu.type, spec.phase) == (None, "A100 PCIe", "rl")


def test_a_need_that_no_card_meets_still_parses_for_the_allocator_to_refuse() -> None:
    assert parse_job(_with("min_vram_gb = 500", "gpu")).gpu.type == "RTX 5090"


def test_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    assert parse_job("\ufeff" + GOOD.replace("\n", "\r\n")) == parse_job(GOOD)


def test_every_problem_is_listed_with_key_and_line() -> None:
    text = 'modell = "x"\n[train]\nlora_rank = 0\nsteps = true\n[gpu]\ntype = "GTX 1080"\n[foo]\n'
    with pytest.raises(JobFileError) as caught:
        parse_job(text)
    found = {(problem.key, problem.line) for problem in caught.value.problems}
    assert found == {
        ("modell", 1),
        ("model", None),
        ("train.lora_rank", 3),
        ("train.steps", 4),
        ("train.hf_repo", 2),
        ("gpu.type", 6),
        ("foo", 7),
        ("environment.id", None),
    }
    assert "line 1: modell: unknown key; did you mean 'model'?" in str(caught.value).split("\n")
    assert isinstance(caught.value, ConfigError)


def test_a_text_that_is_not_toml_has_line_and_column() -> None:
    with pytest.raises(JobFileError) as caught:
        parse_job('model = "x"\nalgorithm = \n')
    assert caught.value.problems == (JobProblem("", "not TOML: Invalid value", 2, 13),)
    assert str(caught.value) == "line 2, column 13: not TOML: Invalid value"


@pytest.mark.parametrize(
    ("line", "table", "key", "words"),
    [
        ("steps = 1.5", "train", "train.steps", "must be a whole number, not 1.5"),
        ("steps = nan", "train", "train.steps", "must be a whole number, not nan"),
        ('steps = "3"', "train", "train.steps", "must be a whole number, not '3'"),
        ("epochs = 0", "train", "train.epochs", "must be at least 1, not 0"),
        ("seeds = []", "train", "train.seeds", "must be a list with a number in it"),
        ("seeds = [true]", "train", "train.seeds", "must be a whole number"),
        ("learning_rate = 0", "train", "train.learning_rate", "must be greater than 0, not 0"),
        ("learning_rate = inf", "train", "train.learning_rate", "must be a finite number"),
        ("learning_rate = true", "train", "train.learning_rate", "must be a number, not True"),
        ("temperature = -1", "train", "train.temperature", "must be at least 0, not -1"),
        (
            "thinking_length_penalty_coef = 2",
            "train",
            "train.thinking_length_penalty_coef",
            "must be between 0 and 1, not 2",
        ),
        ("stop_sequences = [1]", "train", "train.stop_sequences", "must be a list of texts"),
        ("allow_unvalidated = 1", "gpu", "gpu.allow_unvalidated", "must be true or false, not 1"),
        ('datacenter = ""', "gpu", "gpu.datacenter", "must not be empty"),
        ("max_wall_seconds = 59", "gpu", "gpu.max_wall_seconds", "must be at least 60"),
        ('label = ["a"]', "job", "job.label", "must be a text"),
    ],
)
def test_a_value_that_does_not_fit_says_what_is_due(
    line: str, table: str, key: str, words: str
) -> None:
    name = line.partition(" ")[0]
    text = "\n".join(row for row in GOOD.split("\n") if not row.startswith(f"{name} ="))
    assert _problems(text.replace(f"[{table}]", f"[{table}]\n{line}"))[key].startswith(words)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('"SFT"', '"opd"', "algorithm", "must be one of sft, grpo, not 'opd'"),
        ('"acme/runs"', '"acme"', "train.hf_repo", 'must be "owner/name"'),
        ('"acme/runs"', '"a/b/c"', "train.hf_repo", 'must be "owner/name"'),
        ('"Auto"', '"lambda"', "gpu.provider", "must be one of auto, runpod, vast"),
        ('"cheapest"', '"A40"', "gpu.type", "A40 is not validated on runpod, vast"),
        ("./src", "", "job.code", "must not be empty"),
        ('command = "python train.py"\n', "", "job.code", "needs job.command"),
        ('MODE = "fast"', "MODE = 1", "job.env", "MODE must be a text"),
        ("MODE =", '"my mode" =', "job.env", "'my mode' cannot name a variable"),
        ('"$WANDB_API_KEY"', '"abc"', "job.env", "WANDB_API_KEY looks like a secret"),
        ("[train]", "[[train]]", "train", "must be a table ([train])"),
        ('"Qwen/Qwen3.5-4B"', '"acme/x"\nrun_id = "a/b"', "run_id", "must be 1 to 128 letters"),
    ],
)
def test_what_cannot_be_is_refused(old: str, new: str, key: str, words: str) -> None:
    assert words in _problems(GOOD.replace(old, new))[key]


def test_a_secret_that_is_written_down_is_not_repeated() -> None:
    text = GOOD.replace('"$WANDB_API_KEY"', '"canary-0123456789"')
    assert "canary" not in " ".join(_problems(text).values())


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('type = "L40S"\nprovider = "runpod"', "runpod does not rent L40S; vast does"),
        ('type = "RTX 3090"\nprovider = "runpod"', "RTX 3090 is not validated on runpod"),
    ],
)
def test_a_pin_must_exist_and_be_validated_where_it_is_asked_for(lines: str, words: str) -> None:
    text = GOOD.replace('type = "cheapest"\nprovider = "Auto"', lines)
    assert words in _problems(text)["gpu.type"]


def test_an_unvalidated_pin_with_the_flag_is_fine() -> None:
    spec = parse_job(GOOD.replace('"cheapest"', '"A40"\nallow_unvalidated = true'))
    assert spec.request().allow_unvalidated is True


def test_network_volumes_are_runpods() -> None:
    text = GOOD.replace('"Auto"', '"vast"\nnetwork_volume = "v"')
    assert "only RunPod" in _problems(text)["gpu.network_volume"]


def test_another_installed_provider_may_be_named() -> None:
    text = GOOD.replace('"Auto"', '"lambda"').replace('"cheapest"', '"A40"')
    with pytest.raises(JobFileError, match="not validated on lambda"):
        parse_job(text, providers=("lambda",))
    allowed = text.replace('"A40"', '"A40"\nallow_unvalidated = true')
    assert parse_job(allowed, providers=("lambda",)).gpu.provider == "lambda"


def test_without_job_the_environment_is_required() -> None:
    bare = 'model = "Qwen/Qwen3.5-4B"\n[train]\nhf_repo = "a/b"\n'
    assert set(_problems(bare)) == {"environment.id"}
    spec = parse_job(
        bare + '[environment]\nid = "o/n"\npip = ["x"]\n[environment.params]\na = [1]\n'
    )
    assert (spec.environment.id, spec.environment.params) == ("o/n", {"a": [1]})


@pytest.mark.parametrize(
    "line", ["eval_env = 1", "path = 1", 'eval_env_id = "x"', "eval_env_id = 1"]
)
def test_parameters_may_not_change_the_environment(line: str) -> None:
    text = GOOD + f'[environment]\nid = "o/n"\n[environment.params]\n{line}\n'
    assert "environment.params" in _problems(text)
    parse_job(GOOD + '[environment]\nid = "o/n"\n[environment.params]\neval_env_id = "a/b"\n')


def test_a_model_outside_the_catalogue_needs_a_policy_or_a_size() -> None:
    bare = 'model = "acme/x"\n[train]\nhf_repo = "a/b"\n[environment]\nid = "o/n"\n'
    assert "not catalogued" in _problems(bare)["model"]
    assert parse_job('model_policy = "allow"\n' + bare).request().min_vram_gb is None
    assert parse_job(bare + "[gpu]\nmin_vram_gb = 40\n").request().min_vram_gb == 40


def test_what_is_not_known_is_noted() -> None:
    text = GOOD.replace('"Qwen/Qwen3.5-4B"', '"acme/x"\nthinking = true')
    assert parse_job(text).notes == ("whether acme/x can think is not known",)


@pytest.mark.parametrize(
    ("model", "line", "key"),
    [
        ({"algorithms": ("grpo",)}, "", "algorithm"),
        ({"thinking": "none"}, "thinking = true", "thinking"),
        ({"thinking": "always"}, "", "thinking"),
    ],
)
def test_what_the_model_cannot_do_is_refused(model: dict[str, Any], line: str, key: str) -> None:
    known = {"acme/x": CatalogModel("acme/x", "1B", "bf16", 8, "L4", **model)}
    with pytest.raises(JobFileError) as caught:
        parse_job(GOOD.replace('"Qwen/Qwen3.5-4B"', f'"acme/x"\n{line}'), catalogue=known)
    assert [problem.key for problem in caught.value.problems] == [key]


def test_a_disk_that_the_model_outgrows_is_raised_with_a_word() -> None:
    known = {"acme/x": CatalogModel("acme/x", "1B", "bf16", 8, "L4", min_disk_gb=120)}
    spec = parse_job(GOOD.replace("Qwen/Qwen3.5-4B", "acme/x"), catalogue=known)
    assert spec.notes == ("disk raised to 120 GB, which acme/x needs",)


def test_a_single_stop_sequence_is_one_item_and_empty_ones_are_dropped() -> None:
    assert parse_job(_with('stop_sequences = "END"')).train.stop_sequences == ("END",)
    assert parse_job(_with('stop_sequences = ["", " "]')).train.stop_sequences == (" ",)


def test_a_job_survives_the_store() -> None:
    spec = parse_job(GOOD)
    assert JobSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert JobSpec.from_dict(JobSpec().to_dict()).model == JobSpec().model


def test_what_another_version_stored_is_read_as_far_as_it_can_be() -> None:
    stored: dict[str, Any] = {
        **parse_job(GOOD).to_dict(),
        "from_the_future": 1,
        "algorithm": None,
        "environment": "broken",
    }
    stored["train"] = {**stored["train"], "lora_rank": "many", "new": 2}
    spec = JobSpec.from_dict(stored)
    assert (spec.algorithm, spec.train.lora_rank, spec.train.max_length) == ("grpo", 32, 4096)


LEAVES = st.one_of(
    st.booleans(),
    st.integers(-5, 10**6),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["o/n", "auto", "RTX 4090", "vast", "sft"]),
    st.lists(st.integers(), max_size=2),
)
KEYS = sorted({key for table in [TOP, *TABLES.values()] for key in table} | set(TABLES))
DOCUMENTS = st.dictionaries(
    st.sampled_from(KEYS),
    st.one_of(LEAVES, st.dictionaries(st.sampled_from(KEYS), LEAVES, max_size=4)),
    max_size=6,
)


@given(DOCUMENTS)
def test_any_document_is_a_job_or_a_list_of_problems(document: dict[str, Any]) -> None:
    _parse_or_refuse(_toml(document))
    assert isinstance(JobSpec.from_dict(document), JobSpec)


@given(st.text())
def test_any_text_is_a_job_or_a_list_of_problems(text: str) -> None:
    _parse_or_refuse(text)


def _parse_or_refuse(text: str) -> None:
    try:
        found: object = parse_job(text)
    except JobFileError as error:
        found = error.problems
    assert found


def _toml(document: dict[str, Any]) -> str:
    """Leaves first, then tables; JSON's texts, numbers and lists are TOML's."""
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    lines = [f"{key} = {_leaf(value)}" for key, value in document.items() if key not in tables]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {_leaf(value)}" for key, value in table.items())]
    return "\n".join(lines)


def _leaf(value: object) -> str:
    return json.dumps(value).replace("Infinity", "inf").replace("NaN", "nan")
