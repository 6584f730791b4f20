"""A secret shows itself nowhere."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from flashtui.domain.secret import Secret

VALUE = "rpa_CANARY0123456789"


def test_it_is_never_shown() -> None:
    secret = Secret(VALUE)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>40}", f"{[secret]}", f"{secret!r}"]
    assert not any("CANARY" in text for text in shown)
    assert secret.reveal() == VALUE


@pytest.mark.parametrize("write", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps])
def test_it_cannot_be_written(write: object) -> None:
    assert callable(write)
    with pytest.raises(TypeError):
        write(Secret(VALUE))


def test_equal_values_are_equal_and_hash_alike() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert len({Secret(VALUE), Secret(VALUE), Secret("other")}) == 2
    assert Secret(VALUE) != VALUE


def test_the_tail_tells_keys_apart_only_when_they_are_long_enough() -> None:
    assert Secret(VALUE).tail() == "6789"
    assert Secret("short").tail() == ""


def test_the_fingerprint_is_stable_and_tells_nothing() -> None:
    assert Secret(VALUE).fingerprint() == Secret(VALUE).fingerprint() != Secret("x").fingerprint()
    assert "CANARY" not in Secret(VALUE).fingerprint()


def test_an_empty_one_is_false() -> None:
    assert not Secret("")
    assert Secret("x")
